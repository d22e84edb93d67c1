#!/usr/bin/env python3
r"""Make tiny checkpoints of the decoder families, and what transformers makes of them.

Run once by hand when a family or a variant is added; the result is committed and small, so that neither users nor CI need
torch (see tools/expected-values.py for the packages). It writes crates/models/tests/tiny/FAMILY-VARIANT/:

    config.json, model.safetensors, tokenizer.json     the checkpoint, as transformers saves one
    cases.json                                         what is read: text, ids, and the positions whose logits are kept
    expected.safetensors                               text.logits, (positions, vocab); text.self.LAYER, (heads, queries, keys)

    VENV/bin/python tools/tiny/decoders.py [VARIANT...]

Weights are random, with a seed for each variant, and large: beyond the first rows, which have few keys, some row of every
head has a weight above 0.5, so that what shapes the scores shows. The text is longer than every window and than the context
before every rotary scaling. All is computed in float64 with transformers' "eager" attention, the one that forms the whole
map (its norms and rotary angles stay float32), from weights that were rounded to the type in which they are stored. How far
the same in float32 is from that is printed: the tests allow 5e-6 of a weight and 2e-5 of the largest logit.

Where the rotary frequencies depend on the length of the text, `cached.logits` are those of each position as transformers
gives them token by token with a cache, which keeps every key as it was turned when it was read.
"""

import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import tokenizers
import torch
import transformers as hf
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

TINY = Path(__file__).resolve().parent.parent.parent / "crates" / "models" / "tests" / "tiny"
END = "<|end|>"
VOCAB = 160
TEXT = "The robot carried the patient because it was tired, and the keys to the cabinet were here; it was 1969."
# What the tokenizer's merges are learned from.
LEARNED = "the robot carried the patient because it was tired and the keys to the cabinet were here. " * 3
# The first rows see too few keys to say anything of a head.
FEW = 8


def byte_bpe():
    """A byte BPE of the characters that can be typed, as GPT-2 has one of all bytes."""
    letters = [chr(code) for code in range(0x21, 0x7F)] + ["Ġ", "Ċ"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCAB - 1, initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator([LEARNED, LEARNED.title()], trainer)
    tokenizer.add_special_tokens([AddedToken(END, special=True)])
    return tokenizer


SMALL = dict(
    vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    intermediate_size=40, max_position_embeddings=64, bos_token_id=None, eos_token_id=VOCAB - 1, pad_token_id=None,
)
THREE = dict(SMALL, num_hidden_layers=3)
GPT2 = dict(
    vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=None, eos_token_id=VOCAB - 1,
)
NEOX = dict((key, value) for key, value in SMALL.items() if key != "num_key_value_heads")
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16


def rope(kind, **more):
    return dict(rope_type=kind, rope_theta=more.pop("theta", 500.0), **more)


# What is made: (model, configuration, stored type, sharpness of q and k).
VARIANTS = {
    "gpt2-lm": (hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2, n_inner=48), F32, 2.0),
    "gpt2-base": (
        hf.GPT2Model,
        hf.GPT2Config(
            **dict(GPT2, n_layer=3, n_inner=40), activation_function="relu", scale_attn_weights=False,
            scale_attn_by_inverse_layer_idx=True,
        ),
        F32, 1.3,
    ),
    "llama-tied": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(**SMALL, tie_word_embeddings=True, attention_bias=True, mlp_bias=True, hidden_act="gelu"),
        F32, 2.0,
    ),
    "llama-base": (hf.LlamaModel, hf.LlamaConfig(**dict(SMALL, num_key_value_heads=4)), F16, 2.0),
    "llama-linear": (
        hf.LlamaForCausalLM, hf.LlamaConfig(**SMALL, head_dim=12, rope_parameters=rope("linear", factor=4.0)), BF16, 2.0,
    ),
    "llama-dynamic": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(
            **dict(SMALL, max_position_embeddings=16), tie_word_embeddings=True,
            rope_parameters=rope("dynamic", factor=4.0),
        ),
        F32, 2.0,
    ),
    "llama-yarn": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(
            **SMALL, tie_word_embeddings=True,
            rope_parameters=rope(
                "yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=1.2, beta_slow=0.3, mscale=1.0,
                mscale_all_dim=0.5, truncate=False,
            ),
        ),
        F32, 2.0,
    ),
    "llama-llama3": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(
            **SMALL, tie_word_embeddings=True,
            rope_parameters=rope(
                "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16,
                theta=50.0,
            ),
        ),
        F32, 2.0,
    ),
    "mistral-window": (
        hf.MistralForCausalLM,
        hf.MistralConfig(**SMALL, head_dim=16, sliding_window=7, tie_word_embeddings=True), F32, 2.0,
    ),
    "qwen2-windows": (
        hf.Qwen2ForCausalLM,
        hf.Qwen2Config(
            **THREE, use_sliding_window=True, sliding_window=6, max_window_layers=1, tie_word_embeddings=True,
            rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=16),
        ),
        F32, 2.0,
    ),
    "qwen3-windows": (
        hf.Qwen3ForCausalLM,
        hf.Qwen3Config(
            **THREE, head_dim=12, attention_bias=True, use_sliding_window=True, sliding_window=9,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"], tie_word_embeddings=True,
        ),
        F32, 2.0,
    ),
    "qwen3-plain": (hf.Qwen3ForCausalLM, hf.Qwen3Config(**SMALL, head_dim=16), F32, 2.0),
    "smollm3-nope": (
        hf.SmolLM3ForCausalLM,
        hf.SmolLM3Config(
            **THREE, no_rope_layers=[1, 0, 1], use_sliding_window=True, sliding_window=8, attention_bias=True, mlp_bias=True,
        ),
        F32, 2.0,
    ),
    "smollm3-base": (hf.SmolLM3Model, hf.SmolLM3Config(**SMALL, no_rope_layer_interval=2), F32, 2.0),
    "phi3-window": (
        hf.Phi3ForCausalLM,
        hf.Phi3Config(**SMALL, sliding_window=9, rope_parameters=rope("default", partial_rotary_factor=0.5)), F32, 2.0,
    ),
    "phi3-longrope": (
        hf.Phi3ForCausalLM,
        hf.Phi3Config(
            **SMALL, tie_word_embeddings=True, original_max_position_embeddings=16,
            rope_parameters=rope(
                "longrope", short_factor=[1.0, 1.1, 1.25, 1.5], long_factor=[1.5, 2.5, 4.0, 6.0],
                original_max_position_embeddings=16,
            ),
        ),
        F32, 2.0,
    ),
    "gemma2-lm": (
        hf.Gemma2ForCausalLM,
        hf.Gemma2Config(
            **THREE, head_dim=12, sliding_window=7, query_pre_attn_scalar=20, attn_logit_softcapping=8.0,
            final_logit_softcapping=5.0,
        ),
        F32, 3.0,
    ),
    "gemma3-lm": (
        hf.Gemma3ForCausalLM,
        hf.Gemma3TextConfig(
            **THREE, head_dim=12, sliding_window=7, query_pre_attn_scalar=10, final_logit_softcapping=6.0,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters={
                "full_attention": rope("linear", factor=4.0, theta=5000.0),
                "sliding_attention": rope("default", theta=50.0),
            },
        ),
        F32, 2.0,
    ),
    "gemma3-base": (
        hf.Gemma3TextModel, hf.Gemma3TextConfig(**SMALL, head_dim=8, sliding_window=7, query_pre_attn_scalar=6, sliding_window_pattern=2),
        F32, 2.0,
    ),
    "gpt_neox-parallel": (
        hf.GPTNeoXForCausalLM,
        hf.GPTNeoXConfig(**NEOX, rope_parameters=rope("default", partial_rotary_factor=0.5)), F32, 2.0,
    ),
    "gpt_neox-serial": (
        hf.GPTNeoXForCausalLM,
        hf.GPTNeoXConfig(
            **NEOX, use_parallel_residual=False, attention_bias=False, hidden_act="gelu_fast",
            rope_parameters=rope("linear", factor=4.0, partial_rotary_factor=1.0),
        ),
        F32, 2.0,
    ),
}


def asking(name, parameter, config):
    """The rows of a fused or single projection that make queries and keys, as a mask; none where it makes neither."""
    kind, out = config.model_type, parameter.shape[0]
    if kind == "gpt2" and "attn.c_attn.weight" in name:
        return (torch.arange(parameter.shape[1]) < 2 * config.n_embd)[None, :]
    if kind == "gpt_neox" and "query_key_value.weight" in name:
        head_dim = config.hidden_size // config.num_attention_heads
        return (torch.arange(out) // head_dim % 3 < 2)[:, None]
    if "qkv_proj" in name:
        head_dim = config.hidden_size // config.num_attention_heads
        return (torch.arange(out) < head_dim * (config.num_attention_heads + config.num_key_value_heads))[:, None]
    if "q_proj.weight" in name or "k_proj.weight" in name:
        return torch.ones(out, 1, dtype=torch.bool)
    return None


def randomise(model, seed, dtype, sharp):
    """Fills every parameter, and rounds it to `dtype`. `sharp` is how much larger q and k are."""
    generator = torch.Generator().manual_seed(seed)
    config = model.config
    # Gemma's norms hold by how much they differ from 1.
    one = 0.0 if config.model_type.startswith("gemma") else 1.0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            lower = name.lower()
            if "q_norm" in lower or "k_norm" in lower:
                filled = 0.2 * noise + one + 0.8
            elif "norm" in lower or ".ln_" in lower or lower.startswith("ln_"):
                filled = 0.2 * noise + (0.0 if name.endswith("bias") else one)
            elif name.endswith("bias"):
                filled = 0.3 * noise
            elif "embed" in lower or "wte" in lower or "wpe" in lower or "lm_head" in lower:
                filled = noise
            else:
                inward = parameter.shape[0] if config.model_type == "gpt2" else parameter.shape[1]
                filled = 0.7 * noise * inward**-0.5
                rows = asking(name, parameter, config)
                if rows is not None:
                    filled = torch.where(rows, filled / 0.7 * sharp**0.5 * 1.2, filled)
            parameter.copy_(filled.to(dtype).to(parameter.dtype))


def read(model, ids):
    """(logits or None, [attention of each layer]) of one text."""
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), use_cache=False, output_attentions=True)
    logits = getattr(out, "logits", None)
    return (None if logits is None else logits[0]), [weights[0] for weights in out.attentions]


def read_cached(model, ids):
    """The logits of every position, token by token with a cache."""
    past, logits = None, []
    with torch.no_grad():
        for token in ids:
            out = model(input_ids=torch.tensor([[token]]), cache=past, use_cache=True)
            past = out.cache
            logits.append(out.logits[0, -1])
    return torch.stack(logits)


def make(name, out):
    kind, config, dtype, sharp = VARIANTS[name]
    tokenizer = byte_bpe()
    assert tokenizer.get_vocab_size() == VOCAB, tokenizer.get_vocab_size()
    ids = tokenizer.encode(TEXT).ids
    assert tokenizer.decode(ids) == TEXT and 36 <= len(ids) <= 48, len(ids)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomise(model, sorted(VARIANTS).index(name) + 1, dtype, sharp)
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)

    model.float()
    rough_logits, rough = read(model, ids)
    model.double()
    logits, maps = read(model, ids)
    positions = list(range(3, len(ids), 9)) + [len(ids) - 1]
    case, expected = {"text": TEXT, "ids": ids}, {}
    off = f"weights {max((a - b).abs().max().item() for a, b in zip(rough, maps)):.1e}"
    if logits is not None:
        case["logit_positions"] = positions
        expected["text.logits"] = logits[positions].float().contiguous()
        off += f", logits {((rough_logits - logits).abs().max() / logits.abs().max()).item():.1e}"
        scaling = getattr(config, "rope_parameters", None) or {}
        if scaling.get("rope_type") in ("dynamic", "longrope"):
            expected["cached.logits"] = read_cached(model, ids).float()
    peaks = []
    for layer, weights in enumerate(maps):
        assert (weights.sum(-1) - 1).abs().max() < 1e-5, (name, layer)
        late = weights[:, FEW:].amax((1, 2)).tolist()
        assert min(late) > 0.5, f"{name}, layer {layer}: no weight above 0.5 in some head of {late}"
        peaks += late
        expected[f"text.self.{layer}"] = weights.float().contiguous()
    save_file(expected, folder / "expected.safetensors")
    (folder / "cases.json").write_text(json.dumps({"text": case}, ensure_ascii=False) + "\n", encoding="utf-8")
    model.to(dtype).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    for path in folder.iterdir():
        path.chmod(0o644)
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    size = sum(sizes.values())
    print(f"{name}: {len(ids)} tokens, {size} bytes ({sizes['expected.safetensors']} expected), float32 is off by {off}, "
          f"sharpest head {max(peaks):.3f}, flattest {min(peaks):.3f}")
    return size


def main(names=(), out=TINY):
    """Makes the named variants, or all."""
    print({package.__name__: package.__version__.partition("+")[0] for package in (torch, hf, tokenizers)})
    print(f"{sum(make(name, out) for name in names or VARIANTS)} bytes in all")


if __name__ == "__main__":
    main(sys.argv[1:])
