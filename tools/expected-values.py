#!/usr/bin/env python3
r"""Make the expected values that the tests of `crates/models` compare with, from trained models.

Run once by hand when a model or a value is added; the result is committed and small, so that neither users nor CI need
torch. It reads models/ (see tools/fetch-models, and the environment variable ATTNSCOPE_MODELS) and writes
crates/models/tests/expected/*.json:

    python3 -m venv VENV && VENV/bin/pip install torch==2.15.0 transformers==5.24.0 tokenizers==0.23.3 \
        safetensors==0.8.0 accelerate==1.15.0 gguf==0.19.0 numpy==2.4.6 regex==2026.11.19
    VENV/bin/python tools/expected-values.py [smollm2] [minilm] [rxnmapper]

Python 3.11 or later; torch is several gigabytes. Everything is computed on the CPU in float32 with transformers'
"eager" attention, the one that forms the whole attention map. Numbers are written with 7 significant digits. They are
to be compared with a tolerance: against a float64 computation of the same, written separately, they were off by at most
1.5e-6 in a map, 1.6e-5 of 19 in SmolLM2's final hidden state, 2.2e-5 of 18 in its logits, 2.9e-6 of 5.6 in MiniLM's
hidden states; the float64 computation chose the same greedy tokens and the same top 50.

What is there and why:

  attention       whole maps, near the input, in the middle and at the end of the stack. The first layer fails when
                  embedding, projection or position is wrong, a later one when something between is; for SmolLM2 one
                  query head of each key-value group, so that a wrong grouping shows
  final_hidden    after the last normalisation: everything but the output matrix
  logits          the top 50 and an even sample of the vocabulary: the output matrix, all of it
  next, greedy    what a person would see: the five likeliest next tokens, and a continuation. `margins` says by how
                  much each greedy token won, that is how far rounding is from changing it
  hidden, pairs   MiniLM's output for each token, and its use: the cosine between mean-pooled, normalised sentences
  *-tokens.json   the token ids of texts that tokenizers get wrong. SmolLM2's are made by two implementations (the
                  `tokenizers` library and one below in plain Python) that must agree
"""

import argparse
import hashlib
import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np
import regex
import tokenizers
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

REPO = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("ATTNSCOPE_MODELS") or REPO / "models")
EXPECTED = REPO / "crates" / "models" / "tests" / "expected"

# (name, text): what the name says, and what it catches.
TRICKY_TEXTS = [
    ("empty", ""),
    ("one space", " "),
    ("digits", "On 2024-01-31 it cost $1,234,567.89, about 3.14159% of 1e10; call 555 0199."),
    ("other numerals", "½ x² Ⅷ ٣٤ ৫ ① 42nd x86_64 一二三"),
    ("runs of spaces", "a  b   c    d 7  8"),
    ("leading and trailing spaces", "   leading and trailing   "),
    ("unusual spaces", "a\u00a0b\u3000c\u2009 d\u200be\ufefff"),
    ("newlines and tabs", "one\n\ntwo\n \n\tthree\t\tfour\r\nfive\r\n\r\n  six\n"),
    ("emoji", "👨‍👩‍👧‍👦 🏳️‍🌈 🇪🇹🇯🇵 👍🏽 ❤️ ok😀😀"),
    ("Amharic", "ሰላም ለዓለም። አማርኛ፣ ፳፬"),
    ("Arabic", "مرحبا بالعالم، كَتَبَ ١٢٣"),
    ("Chinese, Japanese, Korean", "你好，世界！今天是2024年。 こんにちは ガ 안녕하세요"),
    ("combining marks", "café cafe\u0301 Za\u0328\u0351\u036blgo x\u0302\u0323 \u0301 नमस्ते ﬁ"),
    ("contractions", "I'm sure they'll say it's what we've got; DON'T, y'all'd, 'tis, rock'n'roll, I’m"),
    ("letter case", "ΟΔΟΣ İstanbul STRASSE Straße ǅ MacBook"),
    ("code", "fn main() {\n    let x: Vec<u8> = vec![0x1F; 1_000];\n\tif x[0] != b'\\n' { println!(\"{x:?}\"); }\n}"),
    ("special tokens", "<|im_start|>user\nHi [SEP] there<|im_end|>\n<|endoftext|>[CLS][MASK] [UNK]<file_sep>[PAD]"),
    ("almost special tokens", "<|im_start |> <|IM_END|> [sep] [ SEP ] </s> <s> ##ing"),
    ("control characters", "a\u0000b\u0004c\u0007d\u007fe\u0085f\ufffdg"),
    ("long words", "Donaudampfschifffahrtsgesellschaftskapitän " + "ab" * 50 + " " + "ab" * 50 + "c"),
]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rounded(values):
    """Numbers or nested lists of numbers, each to 7 significant digits."""
    if isinstance(values, (torch.Tensor, np.ndarray)):
        values = values.tolist()
    if isinstance(values, list):
        return [rounded(value) for value in values]
    return float(f"{values:.7g}")


def to_json(value, indent=""):
    """JSON with every innermost list on one line: short enough, and a change shows as the lines it changes."""
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {to_json(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(inner + to_json(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def header(path):
    """Which file the values were made from, and with what."""
    return {
        "file": path.relative_to(MODELS).as_posix(),
        "sha256": sha256(path),
        "made_with": {
            package.__name__: package.__version__.partition("+")[0] for package in (torch, transformers, tokenizers)
        },
    }


def attention_maps(attentions, layers, heads):
    """The chosen maps of the only sequence of a batch, each checked to be one: rows that sum to 1."""
    maps = []
    for layer in layers:
        for head in heads:
            weights = attentions[layer][0, head]
            assert (weights.sum(-1) - 1).abs().max() < 1e-5, f"layer {layer} head {head}: rows do not sum to 1"
            maps.append({"layer": layer, "head": head, "map": rounded(weights)})
    return maps


# SmolLM2: a Llama-family decoder in a GGUF file ----------------------------------------------------------------------


def llama_from_gguf(path):
    """(fields, model): the GGUF's metadata, and its weights dequantised to float32 in transformers' Llama.

    Done here rather than by transformers' own GGUF loading so that every step is seen; the two are checked to agree.
    """
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    assert fields["general.architecture"] == "llama" and "llama.rope.scaling.type" not in fields
    heads, kv_heads = fields["llama.attention.head_count"], fields["llama.attention.head_count_kv"]
    config = transformers.LlamaConfig(
        vocab_size=fields["llama.vocab_size"],
        hidden_size=fields["llama.embedding_length"],
        intermediate_size=fields["llama.feed_forward_length"],
        num_hidden_layers=fields["llama.block_count"],
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=fields["llama.rope.dimension_count"],
        max_position_embeddings=fields["llama.context_length"],
        rms_norm_eps=fields["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": fields["llama.rope.freq_base"]},
        bos_token_id=fields["tokenizer.ggml.bos_token_id"],
        eos_token_id=fields["tokenizer.ggml.eos_token_id"],
        tie_word_embeddings=True,
        attn_implementation="eager",
        dtype=torch.float32,
    )
    model = transformers.LlamaForCausalLM(config).float().eval()

    def rotary_halves(weight, heads):
        # GGUF keeps the two members of a rotated pair in neighbouring rows, transformers half a head apart.
        rows, columns = weight.shape
        return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)

    names = {
        "attn_norm": "input_layernorm",
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_norm": "post_attention_layernorm",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "token_embd": "embed_tokens",
        "output_norm": "norm",
    }
    state = {}
    for tensor in reader.tensors:
        weight = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        *block, name, _ = tensor.name.split(".")
        if name in ("attn_q", "attn_k"):
            weight = rotary_halves(weight, heads if name == "attn_q" else kv_heads)
        place = f"layers.{block[1]}.{names[name]}" if block else names[name]
        state[f"model.{place}.weight"] = torch.from_numpy(weight.copy())
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert missing == ["lm_head.weight"] and not unexpected, (missing, unexpected)
    model.tie_weights()

    loaded = transformers.LlamaForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    theirs = loaded.state_dict()
    for name, weight in model.state_dict().items():
        assert weight.dtype == torch.float32 and torch.equal(weight, theirs[name]), f"{name}: two readings differ"
    for key in ("rope_parameters", "rms_norm_eps", "head_dim", "num_key_value_heads", "hidden_act", "attention_bias"):
        ours, other = getattr(config, key), getattr(loaded.config, key)
        if ours != other:
            print(f"note: transformers reads {key} as {other}, here {ours}", file=sys.stderr)
    return fields, model


def smollm_tokenizer(fields):
    """The byte BPE of a GGUF with `tokenizer.ggml.pre = smollm`, built from its tokens, token types and merges."""
    assert (fields["tokenizer.ggml.model"], fields["tokenizer.ggml.pre"]) == ("gpt2", "smollm")
    tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: id for id, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [token for token, kind in zip(tokens, types) if kind == gguf.TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    assert tokenizer.get_vocab_size() == len(tokens)
    return tokenizer


class PlainByteBpe:
    """The same tokenizer written out in plain Python, sharing nothing with the `tokenizers` library."""

    NUMERALS = regex.compile(r"\p{N}|\P{N}+")
    WORDS = regex.compile(
        r"'(?:s|t|re|ve|m|ll|d)"  # English contractions
        r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"  # letters, numerals or others, with the space before them
        r"|\s+(?!\S)|\s+"  # white space, leaving its last character to the word that follows
    )

    def __init__(self, fields):
        tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
        self.ids = {token: id for id, token in enumerate(tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(fields["tokenizer.ggml.merges"])}
        self.special = {token for token, kind in zip(tokens, types) if kind == gguf.TokenType.CONTROL}
        self.splitter = regex.compile("(" + "|".join(regex.escape(token) for token in self.special) + ")")
        # A byte is written as the Latin-1 character of its value where that can be seen, else as one from U+0100 on.
        seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        unseen = [byte for byte in range(256) if byte not in seen]
        self.letters = {byte: chr(byte) for byte in seen} | {byte: chr(256 + n) for n, byte in enumerate(unseen)}

    def encode(self, text):
        ids = []
        for part in self.splitter.split(text):
            if part in self.special:
                ids.append(self.ids[part])
                continue
            for piece in self.NUMERALS.findall(part):
                for word in self.WORDS.findall(piece):
                    ids += self.merge(word)
        return ids

    def merge(self, word):
        # A byte that is no token (there are 21 such in SmolLM2) is left out.
        parts = [letter for letter in map(self.letters.get, word.encode()) if letter in self.ids]
        while True:
            pairs = [(self.ranks[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in self.ranks]
            if not pairs:
                return [self.ids[part] for part in parts]
            _, at = min(pairs)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]


def smollm2():
    path = MODELS / "smollm2-135m-instruct.Q4_1.gguf"
    fields, model = llama_from_gguf(path)
    assert fields["tokenizer.ggml.add_bos_token"] is False
    tokenizer, plain = smollm_tokenizer(fields), PlainByteBpe(fields)

    texts = []
    for label, text in TRICKY_TEXTS:
        ids = tokenizer.encode(text).ids
        assert ids == plain.encode(text), f"{label}: two tokenizers differ: {ids} and {plain.encode(text)}"
        if label != "control characters":
            assert tokenizer.decode(ids, skip_special_tokens=False) == text, f"{label}: does not come back"
        texts.append({"name": label, "text": text, "ids": ids})

    text = "When Mary and John went to the store, John gave a drink to Mary."
    ids = tokenizer.encode(text).ids
    assert len(ids) == 16
    output = model(torch.tensor([ids]), output_attentions=True)
    hidden = model.model(torch.tensor([ids])).last_hidden_state[0, -1]
    logits = output.logits[0, -1]
    top = logits.topk(50).indices.tolist()
    sample = list(range(0, len(logits), 997))

    prompt = "The capital of France is"
    prompt_ids = tokenizer.encode(prompt).ids
    next_logits = model(torch.tensor([prompt_ids])).logits[0, -1]
    likeliest = next_logits.topk(5).indices.tolist()
    assert tokenizer.decode(likeliest[:1]) == " Paris"

    continued, margins = list(prompt_ids), []
    for _ in range(12):
        best = model(torch.tensor([continued])).logits[0, -1].topk(2)
        continued.append(best.indices[0].item())
        margins.append((best.values[0] - best.values[1]).item())
    cached = model.generate(
        torch.tensor([prompt_ids]),
        do_sample=False,
        max_new_tokens=12,
        eos_token_id=None,
        pad_token_id=fields["tokenizer.ggml.padding_token_id"],
    )
    assert cached[0].tolist() == continued, "greedy decoding with and without a cache differ"

    values = header(path) | {
        "text": text,
        "ids": ids,
        "attention": attention_maps(output.attentions, layers=(0, 5, 14, 29), heads=(0, 4, 8)),
        "final_hidden": rounded(hidden),
        "logits": {
            "max_abs": rounded(logits.abs().max().item()),
            "top": {"ids": top, "logits": rounded(logits[top])},
            "sample": {"ids": sample, "logits": rounded(logits[sample])},
        },
        "next": {
            "prompt": prompt,
            "prompt_ids": prompt_ids,
            "ids": likeliest,
            "tokens": [tokenizer.decode([id]) for id in likeliest],
            "logits": rounded(next_logits[likeliest]),
        },
        "greedy": {
            "prompt": prompt,
            "prompt_ids": prompt_ids,
            "ids": continued[len(prompt_ids) :],
            "text": tokenizer.decode(continued[len(prompt_ids) :], skip_special_tokens=False),
            "margins": rounded(margins),
        },
    }
    return {"smollm2.json": values, "smollm2-tokens.json": header(path) | {"texts": texts}}


# MiniLM: a BERT-family encoder in a Hugging Face folder --------------------------------------------------------------


def minilm():
    folder = MODELS / "all-minilm-l6-v2"
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file pads every text to 128 tokens and cuts it there, which is a setting of its use, not of the model.
    tokenizer.no_padding()
    tokenizer.no_truncation()

    text = "The keys to the old cabinet are on the table by the door."
    ids = tokenizer.encode(text).ids
    assert len(ids) == 16
    output = model(torch.tensor([ids]), output_attentions=True)

    def embedding(text):
        hidden = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        return torch.nn.functional.normalize(hidden.mean(0), dim=0)

    pairs = []
    for kind, a, b in (
        ("paraphrase", "A man is playing a guitar on stage.", "Someone performs guitar music for an audience."),
        ("unrelated", "A man is playing a guitar on stage.", "The central bank raised interest rates."),
    ):
        cosine = torch.dot(embedding(a), embedding(b)).item()
        pairs.append({"kind": kind, "a": a, "b": b, "cosine": rounded(cosine)})
    assert pairs[0]["cosine"] > 0.5 and pairs[1]["cosine"] < 0.2, pairs

    values = header(folder / "model.safetensors") | {
        "text": text,
        "ids": ids,
        "attention": attention_maps(output.attentions, layers=(0, 3, 5), heads=(0, 5, 11)),
        "hidden": rounded(output.last_hidden_state[0]),
        "pairs": pairs,
    }
    texts = [{"name": label, "text": text, "ids": tokenizer.encode(text).ids} for label, text in TRICKY_TEXTS]
    tokens = header(folder / "tokenizer.json") | {"texts": texts}
    return {"minilm.json": values, "minilm-tokens.json": tokens}


# rxnmapper: an ALBERT that reads chemical reactions -------------------------------------------------------------------


def rxnmapper():
    """Head 5 of layer 10 looks from an atom of the product at the atom that it was before. (Schwaller et al. 2021)"""
    folder = MODELS / "rxnmapper"
    if not folder.is_dir():
        sys.exit(f"expected-values: no folder {folder}; tools/convert-pickle.py --help says how to make it")
    model = transformers.AlbertForMaskedLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # 2-chloropropanoic acid and methanol: the ester keeps the oxygen of the alcohol.
    text = "CC(Cl)C(=O)O.CO>>CC(Cl)C(=O)OC"
    encoding = tokenizer.encode(text)
    attentions = model.eval()(torch.tensor([encoding.ids]), output_attentions=True).attentions
    values = header(folder / "model.safetensors") | {
        "text": text,
        "ids": encoding.ids,
        "tokens": encoding.tokens,
        "attention": attention_maps(attentions, layers=(0, 5, 10), heads=(0, 5, 7)),
    }
    return {"rxnmapper.json": values}


# ---------------------------------------------------------------------------------------------------------------------

MAKERS = {"smollm2": smollm2, "minilm": minilm, "rxnmapper": rxnmapper}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help=f"of {', '.join(MAKERS)}; all when none is named")
    chosen = parser.parse_args().model or list(MAKERS)
    for name in chosen:
        if name not in MAKERS:
            parser.error(f"no model {name!r}; there are {', '.join(MAKERS)}")
    if not MODELS.is_dir():
        sys.exit(f"expected-values: no folder {MODELS}; run tools/fetch-models first")
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    EXPECTED.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        for file, values in MAKERS[name]().items():
            (EXPECTED / file).write_text(to_json(values) + "\n")
            print(f"{file}: {(EXPECTED / file).stat().st_size} bytes")


if __name__ == "__main__":
    main()
