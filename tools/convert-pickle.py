#!/usr/bin/env python3
r"""Turn a PyTorch pickle into a Hugging Face folder that attnscope opens.

    VENV/bin/python tools/convert-pickle.py FOLDER OUT [--split EXPRESSION]

FOLDER has config.json and pytorch_model.bin, in one file or in shards with pytorch_model.bin.index.json; a single .bin,
.pt, .pth or .ckpt works too, with its config.json beside it. OUT, which must not exist yet, gets model.safetensors,
config.json and tokenizer.json. A pickle can run any program when it is loaded: torch is told to read tensors and nothing else
(weights_only).

A tokenizer.json is copied, or made of vocab.txt: WordPiece as BERT cuts it, or, with --split, a word for each match of
EXPRESSION, where what matches nowhere is dropped. Where there is neither, that is said, and the folder opens only after
one was put there.

rxnmapper's ALBERT, which maps the atoms of chemical reactions, is in the Python package of that name and reads SMILES:

    pip download --no-deps rxnmapper==0.4.3 && unzip rxnmapper-0.4.3-*.whl
    VENV/bin/python tools/convert-pickle.py rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k \
        models/rxnmapper --split '\[[^\]]+\]|Br?|Cl?|[NOSPFIbcnosp().=#+\\/:~@?*$-]|>>?|%[0-9]{2}|[0-9]'

Needs torch, safetensors and (for vocab.txt) tokenizers: pip install torch safetensors tokenizers.
Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

PICKLES = (".bin", ".pt", ".pth", ".ckpt")
# Beside the weights, taken along where it is there.
COMPANIONS = ["generation_config.json", "special_tokens_map.json", "tokenizer_config.json", "chat_template.jinja"]


class Failure(Exception):
    """What went wrong, in one line, with what to do."""


def pickles(source):
    """The folder of a checkpoint and the files that hold its weights."""
    if source.is_file():
        return source.parent, [source]
    index = source / "pytorch_model.bin.index.json"
    if index.is_file():
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        if any(Path(name).name != name for name in names):
            raise Failure(f"{index} names a file outside of its folder")
        return source, [source / name for name in names]
    single = source / "pytorch_model.bin"
    if single.is_file():
        return source, [single]
    found = sorted(path for path in source.glob("*") if path.suffix in PICKLES)
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise Failure(f"{source} has no pytorch_model.bin; give one of its files (there are: {names})")
    return source, found


def tensors(files):
    """Every tensor by name, each with memory of its own: safetensors keeps no two that share it."""
    try:
        import torch
    except ImportError:
        raise Failure(f"{sys.executable} has no torch: pip install torch safetensors") from None
    found = {}
    for file in files:
        state = torch.load(file, map_location="cpu", weights_only=True)
        # Training scripts wrap the weights.
        for wrapper in ("state_dict", "model_state_dict", "model"):
            if isinstance(state.get(wrapper), dict):
                state = state[wrapper]
        for name, tensor in state.items():
            if isinstance(tensor, torch.Tensor):
                found[name] = tensor.detach().clone().contiguous()
    if not found:
        raise Failure(f"{files[0]} holds no tensors by name")
    return found


def tokenizer(folder, split):
    """The tokenizer.json that belongs to a folder, as text; none where none can be made."""
    there = folder / "tokenizer.json"
    if there.is_file() and split is None:
        return there.read_text(encoding="utf-8")
    vocab = folder / "vocab.txt"
    if not vocab.is_file():
        return None
    try:
        from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    except ImportError:
        raise Failure(f"{sys.executable} has no tokenizers: pip install tokenizers") from None
    words = {word: at for at, word in enumerate(vocab.read_text(encoding="utf-8").splitlines())}
    if split is not None:
        made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.Split(Regex(split), "removed", invert=True)
    else:
        settings = folder / "tokenizer_config.json"
        lower = json.loads(settings.read_text()).get("do_lower_case", True) if settings.is_file() else True
        made = Tokenizer(models.WordPiece(words, unk_token="[UNK]", max_input_chars_per_word=100))
        made.normalizer = normalizers.BertNormalizer(lowercase=lower)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.WordPiece()
    made.add_special_tokens([word for word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if word in words])
    if "[CLS]" in words and "[SEP]" in words:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(word, words[word]) for word in ("[CLS]", "[SEP]")],
        )
    return made.to_str()


def convert(source, out, split):
    folder, files = pickles(source)
    config = folder / "config.json"
    if not config.is_file():
        raise Failure(f"{folder} has no config.json: put the model's own beside its weights")
    if out.exists():
        raise Failure(f"{out} exists already; give a folder that does not")
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".converting-", dir=out.parent))
    try:
        found = tensors(files)
        from safetensors.torch import save_file

        save_file(found, made / "model.safetensors", metadata={"format": "pt"})
        shutil.copyfile(config, made / "config.json")
        for name in COMPANIONS:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, made / name)
        words = tokenizer(folder, split)
        if words is None:
            print(
                f"SKIPPED: no tokenizer.json: {folder} has neither that nor vocab.txt; "
                f"put the model's own into {out} before it is opened",
                file=sys.stderr,
            )
        else:
            (made / "tokenizer.json").write_text(words, encoding="utf-8")
        made.chmod(0o755)
        for path in made.iterdir():
            path.chmod(0o644)
        made.rename(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    size = sum(tensor.numel() for tensor in found.values())
    print(f"{out}: {len(found)} tensors, {size:,} numbers")


def main():
    parser = argparse.ArgumentParser(
        prog="convert-pickle", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, metavar="FOLDER")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--split", metavar="EXPRESSION", help="cut texts at the matches of a regular expression")
    given = parser.parse_args()
    if not given.source.exists():
        sys.exit(f"convert-pickle: {given.source}: no such file or folder")
    try:
        convert(given.source, given.out, given.split)
    except Failure as failure:
        sys.exit(f"convert-pickle: {failure}")
    except Exception as error:  # torch has many kinds of its own
        sys.exit(f"convert-pickle: {given.source} does not convert: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
