#!/usr/bin/env python3
"""Measures what looking costs: a trace of every head against our own forward and against transformers, in one run.

    tools/compare-transformers.py [--model models/smollm2-135m-instruct.Q4_1.gguf] [--tokens 2048] [--rounds 5] [--threads 2] [--json]

Both sides run the same f32 weights: a GGUF file is dequantised once by transformers into a folder, which both open. Times
are taken in rounds, one after another: our forward without a trace, our trace of every head of every layer,
transformers' forward with sdpa (which gives no weights); a figure is the median over rounds. All compute the vectors after
the last layer and no logits. Memory is what a process took at most, less what it had once its weights were there; for
transformers, with sdpa and with eager and its weights (`output_attentions=True`), each in a process of its own.

Needs Linux, `cargo build --release --example side -p attnscope-models`, and pip install torch transformers gguf.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Linux counts memory in units of 1,024 bytes; here it is in MB.
KB = 1.024e-3
LIMITS = {"trace_over_forward": 1.15, "trace_over_sdpa": 1.0, "extra_memory_over_eager": 0.1}


def memory(what):
    """What Linux says of this process's memory, in MB."""
    return int(re.search(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * KB


def peer(folder, attention, ids):
    """Transformers' side, in a process of its own: answers each line on standard input with one line of JSON."""
    import torch
    from transformers import AutoModel

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention).eval()
    ids = torch.tensor([ids])
    print(json.dumps({"loaded_mb": memory("VmRSS")}), flush=True)
    for _ in sys.stdin:
        begun = time.perf_counter()
        with torch.no_grad():
            model(ids, use_cache=False, output_attentions=attention == "eager")
        print(json.dumps({"seconds": time.perf_counter() - begun, "peak_mb": memory("VmHWM")}), flush=True)


class Side:
    """A process that measures when it is told to."""

    def __init__(self, command, threads):
        names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"]
        env = {**os.environ, **{name: str(threads) for name in names}, "TRANSFORMERS_VERBOSITY": "error"}
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
        self.loaded = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("a side ended early; what it said stands above")
        answer = json.loads(line)
        return {name.replace("_kb", "_mb"): value * (KB if name.endswith("_kb") else 1) for name, value in answer.items()}

    def ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def folder_of(model, place):
    """The model as a folder of f32 weights; a GGUF file is dequantised into `place`."""
    if model.is_dir():
        return model
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    load = {"pretrained_model_name_or_path": model.parent, "gguf_file": model.name}
    loaded = AutoModelForCausalLM.from_pretrained(**load, dtype=torch.float32)
    # A head that is the embedding is kept once.
    tensors = {name: tensor.contiguous() for name, tensor in loaded.state_dict().items() if name != "lm_head.weight"}
    save_file(tensors, Path(place) / "model.safetensors", {"format": "pt"})
    config = loaded.config.to_dict()
    config.pop("quantization_config", None)
    (Path(place) / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": True}))
    AutoTokenizer.from_pretrained(**load).save_pretrained(place)
    return Path(place)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "models/smollm2-135m-instruct.Q4_1.gguf")
    parser.add_argument("--side", type=Path, default=ROOT / "target/release/examples/side")
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    # Text would read the same: what a run costs does not depend on its words.
    ids = [1 + (7919 * i) % 30_000 for i in range(args.tokens)]
    if args.peer:
        return peer(*args.peer, ids)
    with tempfile.TemporaryDirectory() as place:
        folder = folder_of(args.model, place)
        ours = [args.side, folder, ",".join(map(str, ids))]
        theirs = lambda attention: [
            sys.executable, __file__, "--tokens", str(args.tokens), "--peer", folder, attention]
        # Memory first, each in a process that does nothing else.
        extra = {}
        for name, command, word in [
            ("forward", ours, "forward"), ("trace", ours, "trace"), ("sdpa", theirs("sdpa"), "forward"),
            ("eager", theirs("eager"), "forward"),
        ]:
            side = Side(command, args.threads)
            extra[name] = side.ask(word)["peak_mb"] - side.loaded["loaded_mb"]
            if name == "trace":
                weights, opened = side.loaded["loaded_mb"], side.loaded["peak_mb"]
            side.close()
        us, sdpa = Side(ours, args.threads), Side(theirs("sdpa"), args.threads)
        turns = [("forward", us, "forward"), ("trace", us, "trace"), ("sdpa", sdpa, "forward")]
        times = {name: [] for name, _, _ in turns}
        for round_ in range(args.rounds + 1):
            for name, side, word in turns:
                seconds = side.ask(word)["seconds"]
                # The first round warms up.
                if round_:
                    times[name].append(seconds)
        us.close(), sdpa.close()
    median = {name: statistics.median(all_) for name, all_ in times.items()}
    result = {
        "tokens": args.tokens, "threads": args.threads, "seconds": median, "samples": times, "extra_mb": extra,
        "opened_mb": {"resident": weights, "peak": opened},
        "trace_over_forward": median["trace"] / median["forward"],
        "trace_over_sdpa": median["trace"] / median["sdpa"],
        "extra_memory_over_eager": extra["trace"] / extra["eager"],
    }
    if args.json:
        return print(json.dumps(result, indent=2))
    for name, seconds in median.items():
        print(f"{name:>8}  {seconds:7.3f} s   {extra[name]:8.0f} MB beside its weights")
    print(f"{'eager':>8}  {'':9}   {extra['eager']:8.0f} MB beside its weights")
    print(f"opening took {opened:.0f} MB at most, {weights:.0f} MB once it was done")
    for name, limit in LIMITS.items():
        print(f"{name.replace('_', ' '):>24}  {result[name]:.3f}   (at most {limit:g}: {'yes' if result[name] <= limit else 'NO'})")


if __name__ == "__main__":
    main()
