#!/usr/bin/env python3
r"""Make tiny checkpoints of the encoder and encoder-decoder families, and what transformers makes of them.

Run once by hand when a family or a variant is added; the result is committed and small, so that neither users nor CI need
torch (see tools/expected-values.py for the packages). It writes crates/models/tests/tiny/FAMILY-VARIANT/:

    config.json, model.safetensors, tokenizer.json     the checkpoint, as transformers saves one
    cases.json                                         what is read: ids, types, real (false is padding), decoder_ids
    expected.safetensors                               CASE.hidden, CASE.logits, and CASE.SITE.LAYER, (heads, queries, keys)

    VENV/bin/python tools/tiny/encoders.py [VARIANT...]

Weights are random and large: some row of every head has a weight above 0.5, so that what shapes the scores shows. Of each
variant the first seed is taken with which that is so and float32 is enough: transformers' own float32 maps are within 1.5e-6
of its float64 ones, which are those written. Weights are rounded to the type in which they are stored before anything is
computed, with transformers' "eager" attention, the one that forms the whole map.
"""

import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    AlbertModel,
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertModel,
    ModernBertConfig,
    ModernBertForMaskedLM,
    ModernBertModel,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

TINY = Path(__file__).resolve().parent.parent.parent / "crates" / "models" / "tests" / "tiny"

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = (
    "the robot carried patient because it was tired keys to cabinet are here and moon walked on of in he she they we you "
    "that this with for not have from or one had by word but what some is there can out other were all your when up use "
    "how said an each which do their time if will way about many then them would write like so these her long make thing "
    "see him two has look more day could go come did number sound no most people my over know water than call first who"
).split()
TEXT = "The robot carried the patient because it was tired, and the keys to the cabinet were here."
SHORT = "He said that the moon was out."
SECOND = "They would know."
# For tokenizers that know few words.
BYTES_TEXT = "The robot: the tired 🤖."
BYTES_SHORT = "It was as the"


def word_piece(lower=True):
    """A WordPiece as BERT has one: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4."""
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*marks, *",.;!?", *LETTERS, *("##" + letter for letter in LETTERS), *WORDS]
    vocab = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    return tokenizer


def byte_bpe():
    """A byte BPE as RoBERTa and BART have one: <s> 0, <pad> 1, </s> 2, <unk> 3, then <mask> last."""
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("e", "r"), ("a", "s"), ("Ġ", "w"), ("Ġw", "as"), ("i", "e")]
    pieces = [*marks, *letters, *("".join(merge) for merge in merges), "<mask>"]
    tokenizer = Tokenizer(models.BPE({piece: index for index, piece in enumerate(pieces)}, merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in [*marks, "<mask>"]])
    return tokenizer


def unigram(marks, unk, single, pair):
    """A SentencePiece unigram as T5 and ALBERT have one."""
    scored = [(mark, 0.0) for mark in marks] + [("▁", -3.0)]
    scored += [(character, -6.0) for character in LETTERS + ",.;!?"] + [("▁" + word, -2.0) for word in WORDS]
    scored += [("▁" + letter, -5.0) for letter in LETTERS if "▁" + letter not in dict(scored)]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=marks.index(unk), byte_fallback=False))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(mark, index) for index, mark in enumerate(marks)]
    )
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    return tokenizer


def albert_pieces():
    return unigram(
        ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], "<unk>", "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
    )


def t5_pieces():
    return unigram(["<pad>", "</s>", "<unk>"], "<unk>", "$A:0 </s>:0", "$A:0 </s>:0 $B:0 </s>:0")


def randomise(model, seed, dtype, sharp):
    """Fills every parameter, and rounds it to `dtype`. `sharp` is how much the weights of q and k are."""
    generator = torch.Generator().manual_seed(seed)
    numbers = list(model.named_parameters())
    numbers += [(name, buffer) for name, buffer in model.named_buffers() if name == "final_logits_bias"]
    with torch.no_grad():
        for name, parameter in numbers:
            noise = torch.randn(parameter.shape, generator=generator)
            lower = name.lower()
            if "norm" in lower:
                filled = 0.2 * noise + (0.0 if name.endswith("bias") else 1.0)
            elif "relative_attention_bias" in lower:
                filled = 2.0 * noise
            elif name.endswith("bias"):
                filled = 0.3 * noise
            elif ("embed" in lower and "mapping" not in lower) or "shared" in lower:
                filled = noise
            else:
                inward = parameter.shape[-1] ** -0.5
                asks = any(part in lower for part in ["query", "key", "q_lin", "k_lin", "q_proj", "k_proj", "wqkv", ".q.", ".k."])
                filled = noise * inward * (sharp if asks else 0.8)
            parameter.copy_(filled.to(dtype).to(parameter.dtype))


def left(ids, count, pad):
    return {"ids": [pad] * count + ids, "real": [False] * count + [True] * len(ids)}


def right(ids, count, pad):
    return {"ids": ids + [pad] * count, "real": [True] * len(ids) + [False] * count}


def texts(tokenizer):
    """A long text and the ids of a short one."""
    by_bytes = isinstance(tokenizer.model, models.BPE)
    return (BYTES_TEXT if by_bytes else TEXT), tokenizer.encode(BYTES_SHORT if by_bytes else SHORT).ids


def encoder_cases(tokenizer, pad, types):
    """Texts for an encoder: a long one, one padded on either side, and a pair where there are token types."""
    text, short = texts(tokenizer)
    cases = {
        "text": {"text": text, "ids": tokenizer.encode(text).ids},
        "left": left(short, 3, pad),
        "right": right(short, 3, pad),
    }
    if types:
        pair = tokenizer.encode(SHORT, SECOND)
        cases["pair"] = {"text": SHORT, "second": SECOND, "ids": pair.ids, "types": pair.type_ids}
    return cases


def seq2seq_cases(tokenizer, pad, start):
    """A source text with a target, and one padded on either side."""
    (text, short), target = texts(tokenizer), "She walked on the moon with them, and they had not said how."
    target = target[:20] if text == BYTES_TEXT else target
    # As labels are read in training: shifted right, so without their end mark.
    target_ids = [start, *tokenizer.encode(target).ids[:-1]]
    return {
        "text": {"text": text, "ids": tokenizer.encode(text).ids, "target": target, "decoder_ids": target_ids},
        "left": left(short, 3, pad) | {"decoder_ids": target_ids[:8]},
        "right": right(short, 4, pad) | {"decoder_ids": target_ids[:6]},
    }


SMALL = dict(vocab_size=0, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=48)
BART = dict(
    d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=2,
    encoder_ffn_dim=48, decoder_ffn_dim=40, max_position_embeddings=40, vocab_size=0,
)
T5 = dict(
    vocab_size=0, d_model=32, d_kv=12, d_ff=48, num_layers=2, num_decoder_layers=3, num_heads=3, decoder_start_token_id=0,
    relative_attention_num_buckets=8, relative_attention_max_distance=12, pad_token_id=0, eos_token_id=1,
)
DISTIL = dict(vocab_size=0, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=48, pad_token_id=0)
MODERN = dict(SMALL, num_hidden_layers=3, local_attention=8, pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3)

# Every head has a weight above this.
FLATTEST = 0.52
# transformers itself is off by less in float32: what is compared is no accident of rounding.
ROUNDING = 1.5e-6

# What is made: (model, configuration, tokenizer, pad, stored type, sharpness of q and k).
VARIANTS = {
    "bert-base": (BertModel, BertConfig(**SMALL, type_vocab_size=3), word_piece, 0, torch.float32, 1.5),
    "bert-mlm": (BertForMaskedLM, BertConfig(**SMALL, hidden_act="gelu_new"), word_piece, 0, torch.bfloat16, 1.5),
    "distilbert-base": (DistilBertModel, DistilBertConfig(**DISTIL, activation="relu"), word_piece, 0, torch.float16, 1.5),
    "distilbert-mlm": (DistilBertForMaskedLM, DistilBertConfig(**DISTIL), word_piece, 0, torch.float16, 1.5),
    "roberta-mlm": (
        RobertaForMaskedLM,
        RobertaConfig(**dict(SMALL, max_position_embeddings=66), type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5),
        byte_bpe, 1, torch.float16, 1.5,
    ),
    "albert-groups": (
        AlbertModel,
        AlbertConfig(**dict(SMALL, num_hidden_layers=4), embedding_size=16, num_hidden_groups=2, inner_group_num=1),
        albert_pieces, 0, torch.float16, 2.2,
    ),
    "albert-mlm": (
        AlbertForMaskedLM,
        AlbertConfig(**dict(SMALL, num_hidden_layers=2), embedding_size=16, num_hidden_groups=1, inner_group_num=2, hidden_act="gelu"),
        albert_pieces, 0, torch.float16, 2.2,
    ),
    "modernbert-base": (
        ModernBertModel,
        ModernBertConfig(**MODERN, rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 500.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
        }),
        word_piece, 0, torch.float16, 1.35,
    ),
    "modernbert-mlm": (
        ModernBertForMaskedLM,
        ModernBertConfig(
            **MODERN, attention_bias=True, mlp_bias=True, norm_bias=True, classifier_bias=True,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        ),
        word_piece, 0, torch.float16, 1.35,
    ),
    "t5-relu": (T5ForConditionalGeneration, T5Config(**T5), t5_pieces, 0, torch.float16, 0.75),
    "t5-gated": (
        T5ForConditionalGeneration, T5Config(**dict(T5, num_decoder_layers=None), feed_forward_proj="gated-gelu", tie_word_embeddings=False),
        t5_pieces, 0, torch.float16, 0.75,
    ),
    "bart-lm": (BartForConditionalGeneration, BartConfig(**BART, scale_embedding=True), byte_bpe, 1, torch.float16, 1.5),
    "bart-base": (BartModel, BartConfig(**dict(BART, decoder_layers=1), activation_function="relu"), byte_bpe, 1, torch.float16, 1.5),
}


def read(model, case):
    """What the model makes of one case: tensors by name."""
    batch = {"input_ids": torch.tensor([case["ids"]]), "attention_mask": torch.tensor([case.get("real", [1] * len(case["ids"]))]).long()}
    if "types" in case:
        batch["token_type_ids"] = torch.tensor([case["types"]])
    if "decoder_ids" in case:
        batch["decoder_input_ids"] = torch.tensor([case["decoder_ids"]])
        batch["use_cache"] = False
    base = getattr(model, model.base_model_prefix, model)
    kept = {}
    hook = (base.decoder if "decoder_ids" in case and hasattr(base, "decoder") else base)
    last = []
    handle = hook.register_forward_hook(lambda module, args, output: last.append(output[0]))
    with torch.no_grad():
        out = model(**batch, output_attentions=True)
    handle.remove()
    kept["hidden"] = last[-1][0]
    if getattr(out, "logits", None) is not None:
        kept["logits"] = out.logits[0]
    sites = {"self": getattr(out, "attentions", None)}
    if "decoder_ids" in case:
        sites = {"encoder": out.encoder_attentions, "self": out.decoder_attentions, "cross": out.cross_attentions}
        kept["memory"] = out.encoder_last_hidden_state[0]
    for site, maps in sites.items():
        for layer, weights in enumerate(maps):
            kept[f"{site}.{layer}"] = weights[0]
    return kept


def sharp_and_sound(model, seed, dtype, sharp, cases):
    """Fills the model and reads every case: what is expected, the sharpest weight of each head, the rounding of float32."""
    model.float()
    randomise(model, seed, dtype, sharp)
    single = {case: read(model, given) for case, given in cases.items()}
    model.double()
    expected, peaks, rounding = {}, {}, 0.0
    for case, given in cases.items():
        for key, tensor in read(model, given).items():
            site = key.partition(".")[0]
            if site in ("self", "encoder", "cross"):
                queries = given["decoder_ids"] if "decoder_ids" in given and site != "encoder" else given["ids"]
                assert tensor.shape[1] == len(queries), (case, key, tensor.shape)
                assert (tensor.sum(-1) - 1).abs().max() < 1e-5, (case, key)
                rounding = max(rounding, (tensor - single[case][key]).abs().max().item())
                for head, peak in enumerate(tensor.amax((1, 2)).tolist()):
                    peaks[key, head] = max(peak, peaks.get((key, head), 0))
            expected[f"{case}.{key}"] = tensor.float().contiguous()
    return expected, peaks, rounding


def make(name, out):
    kind, config, pieces, pad, dtype, sharp = VARIANTS[name]
    tokenizer = pieces()
    config.vocab_size = tokenizer.get_vocab_size()
    config._attn_implementation = "eager"
    untied = name == "t5-gated"
    model = kind(config).eval()
    if untied:
        # transformers ties them whatever the configuration says; the checkpoints of T5 1.1 are not.
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    if config.is_encoder_decoder:
        cases = seq2seq_cases(tokenizer, pad, config.decoder_start_token_id)
    else:
        cases = encoder_cases(tokenizer, pad, getattr(config, "type_vocab_size", 1) > 1)
    for seed in range(1, 200):
        expected, peaks, rounding = sharp_and_sound(model, seed, dtype, sharp, cases)
        if min(peaks.values()) > FLATTEST and rounding < ROUNDING:
            break
    else:
        sys.exit(f"{name}: no seed leaves every head a weight above {FLATTEST} and rounding below {ROUNDING}")
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    save_file(expected, folder / "expected.safetensors")
    (folder / "cases.json").write_text(
        json.dumps(cases, ensure_ascii=False).replace('}, "', '},\n "') + "\n", encoding="utf-8"
    )
    model.to(dtype).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if untied:
        path = folder / "config.json"
        saved = json.loads(path.read_text()) | {"tie_word_embeddings": False}
        path.write_text(json.dumps(saved, indent=2) + "\n")
    for path in folder.iterdir():
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in folder.iterdir())
    heads = f"sharpest head {max(peaks.values()):.3f}, flattest {min(peaks.values()):.3f}"
    print(f"{name}: seed {seed}, {size} bytes, {heads}, float32 off by {rounding:.1e}")
    return size


def main(names=(), out=TINY):
    """Makes the named variants, or all."""
    versions = {package.__name__: package.__version__.partition("+")[0] for package in (torch, transformers, tokenizers)}
    print(versions)
    total = sum(make(name, out) for name in names or VARIANTS)
    print(f"{total} bytes in all")


if __name__ == "__main__":
    main(sys.argv[1:])
