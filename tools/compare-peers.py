#!/usr/bin/env python3
"""Measures our kernel against what Python has for the same work, interleaved, on this machine, in one run.

    tools/compare-peers.py [--attnscope PATH] [--only WORD ...] [--rounds 3] [--threads 2] [--json]

Every case of `attnscope bench` that a peer can compute is measured in rounds: ours, then each peer, each in a process of
its own, then the next round, so that clocks and neighbours that come and go meet all of them. A figure is the median over
rounds of medians of at least five samples. Peers are given their best layout (heads outermost, contiguous). `ahead` is the
fastest peer's time over ours; `noisy` says that other processes were in the way.

Peers, of those that are installed (needs Linux, and Python 3.9 or later):

    torch        scaled_dot_product_attention, and its gradients     pip install torch numpy
    onnxruntime  MultiHeadAttention and GroupQueryAttention          pip install onnxruntime onnx numpy
"""
import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import time

NEEDS = {"torch": ["torch", "numpy"], "onnxruntime": ["onnxruntime", "onnx", "numpy"]}
SAMPLES, TRIES, SAMPLE_S, CLEAN = 5, 9, 0.15, 0.08


class Case:
    """A case's sizes and kind, read from its name."""

    def __init__(self, name):
        word = lambda pattern: re.search(rf"(?:^|\s){pattern}(?:\s|$)", name)
        self.name, self.type = name, name.split()[0]
        heads = word(r"h(\d+)(?:/(\d+))?")
        self.heads, self.kv_heads = int(heads[1]), int(heads[2] or heads[1])
        self.dim = int(word(r"d(\d+)")[1])
        packed, length, cache = word(r"packed(\d+)x(\d+)"), word(r"n(\d+)"), word(r"kv(\d+)")
        self.batch, self.q_len = (int(packed[1]), int(packed[2])) if packed else (1, int(length[1]) if length else 1)
        self.kv_len = int(cache[1]) if cache else self.q_len
        self.causal, self.backward = "causal" in name, "fwd+bwd" in name
        window = word(r"window(\d+)")
        self.window = int(window[1]) if window else None
        self.observed = "stats" in name

    @property
    def shapes(self):
        """(batch, heads, len, dim) of q and of k and v."""
        return (self.batch, self.heads, self.q_len, self.dim), (self.batch, self.kv_heads, self.kv_len, self.dim)


def accounts():
    """(seconds that everybody used, that this process used) of the processors."""
    ticks = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    own = os.times()
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), own.user + own.system


def measure(once):
    """Median milliseconds of `once`, and whether others were in the way too often."""
    once()
    begun = time.perf_counter()
    once()
    repeats = max(1, int(SAMPLE_S / max(time.perf_counter() - begun, 1e-7)))
    samples = []
    while len(samples) < TRIES and sum(others < CLEAN for _, others in samples) < SAMPLES:
        before, started = accounts(), time.perf_counter()
        for _ in range(repeats):
            once()
        seconds, after = time.perf_counter() - started, accounts()
        others = (after[0] - before[0] - after[1] + before[1]) / (seconds * os.cpu_count())
        samples.append((seconds / repeats * 1e3, others))
    clean = [ms for ms, others in samples if others < CLEAN]
    return {"ms": statistics.median(clean if len(clean) >= 3 else [ms for ms, _ in samples]), "noisy": len(clean) < 3}


def torch_once(case, threads):
    """The case as a function that runs it once, and how it is computed; None where torch cannot."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[case.type]
    q_shape, kv_shape = case.shapes
    q, k, v = (torch.randn(shape).to(kind).requires_grad_(case.backward) for shape in (q_shape, kv_shape, kv_shape))
    options = {"is_causal": case.causal and case.q_len > 1, "enable_gqa": case.heads != case.kv_heads}
    how = "scaled_dot_product_attention"
    if case.window:
        at = torch.arange(case.q_len)
        behind = at[:, None] - at[None, :]
        options = {"attn_mask": (behind >= 0) & (behind < case.window)}
        how += ", boolean mask"
    if case.backward:
        d_out = torch.randn(q_shape)
        return lambda: torch.autograd.grad(attention(q, k, v, **options), (q, k, v), d_out), how + " and its gradients"

    def once():
        with torch.inference_mode():
            attention(q, k, v, **options)

    return once, how


def onnxruntime_once(case, threads):
    """Likewise by the operators of onnxruntime's own domain."""
    import numpy
    import onnxruntime
    from onnx import TensorProto, helper

    if case.backward or case.window or case.type == "bf16":
        return None
    number, kind = {"f32": (numpy.float32, TensorProto.FLOAT), "f16": (numpy.float16, TensorProto.FLOAT16)}[case.type]
    random = numpy.random.default_rng(0)
    make = lambda *shape: random.standard_normal(shape, dtype=numpy.float32).astype(number)
    width, kv_width = case.heads * case.dim, case.kv_heads * case.dim
    feeds = {"q": make(case.batch, case.q_len, width)}
    if case.heads == case.kv_heads:
        operator, options = "MultiHeadAttention", {"num_heads": case.heads, "unidirectional": int(case.causal)}
        feeds.update(k=make(case.batch, case.kv_len, kv_width), v=make(case.batch, case.kv_len, kv_width))
        outputs = ["out"]
    else:
        operator, options = "GroupQueryAttention", {"num_heads": case.heads, "kv_num_heads": case.kv_heads}
        past = (case.batch, case.kv_heads, case.kv_len - case.q_len, case.dim)
        feeds.update(k=make(case.batch, case.q_len, kv_width), v=make(case.batch, case.q_len, kv_width))
        feeds.update(past_k=make(*past), past_v=make(*past))
        feeds["before_last"] = numpy.full(case.batch, case.kv_len - 1, numpy.int32)
        feeds["total"] = numpy.array(case.kv_len, numpy.int32)
        outputs = ["out", "present_k", "present_v"]
    of = lambda x: TensorProto.INT32 if x.dtype == numpy.int32 else kind
    node = helper.make_node(operator, list(feeds), outputs, domain="com.microsoft", **options)
    inputs = [helper.make_tensor_value_info(name, of(x), list(x.shape)) for name, x in feeds.items()]
    graph = helper.make_graph([node], "case", inputs, [helper.make_tensor_value_info(o, kind, None) for o in outputs])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads, settings.log_severity_level = threads, 1, 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), settings, ["CPUExecutionProvider"])
    except Exception:  # whatever it raises, it has no such kernel
        return None
    how = operator + (", which copies the cache" if case.kv_len > case.q_len else "")
    return lambda: session.run(None, feeds), how


def worker(peer, name, threads):
    """One peer at one case, as JSON; null where it cannot."""
    made = {"torch": torch_once, "onnxruntime": onnxruntime_once}[peer](Case(name), threads)
    print(json.dumps(made and {**measure(made[0]), "how": made[1]}))


def answer(command):
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if child.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(child.stdout)


def ours(attnscope, case, threads):
    found = answer([attnscope, "bench", "--quick", "--json", "--threads", str(threads), "--only", case])
    [case] = [measured for measured in found["cases"] if measured["case"] == case]
    return {"ms": case["median_ms"], "noisy": case.get("noisy", False)}


def names(attnscope):
    """All cases: those that the refusal of one that does not exist lists."""
    refused = subprocess.run([attnscope, "bench", "--only", "no such case"], capture_output=True, text=True)
    listed = refused.stderr.partition("there are: ")[2].strip().split(", ")
    cases = [name for name in listed if re.match(r"(f32|f16|bf16) ", name)]
    return cases or sys.exit(f"{attnscope} bench did not name its cases: {refused.stderr.strip()}")


def compared(case, attnscope, peers, rounds, threads):
    """One row: medians over the rounds."""
    found = {"ours": []}
    for _ in range(rounds):
        found["ours"].append(ours(attnscope, case, threads))
        for peer in list(peers):
            one = answer([sys.executable, __file__, "--worker", peer, case, "--threads", str(threads)])
            if one:
                found.setdefault(peer, []).append(one)
    row = {"case": case, "noisy": any(one["noisy"] for all in found.values() for one in all), "peers": {}}
    for who, all in found.items():
        ms = statistics.median(one["ms"] for one in all)
        if who == "ours":
            row["ours_ms"] = ms
        else:
            row["peers"][who] = {"ms": ms, "how": all[0]["how"]}
    if row["peers"]:
        row["ahead"] = min(peer["ms"] for peer in row["peers"].values()) / row["ours_ms"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attnscope", default="target/release/attnscope")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="cases whose name holds this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        return worker(*asked.worker, asked.threads)

    missing = {p: [m for m in needs if not importlib.util.find_spec(m)] for p, needs in NEEDS.items()}
    peers = [peer for peer, lacks in missing.items() if not lacks]
    missing = {peer: lacks for peer, lacks in missing.items() if lacks}
    for peer, lacks in missing.items():
        print(f"MISSING PEER: {peer} is not compared with; {sys.executable} -m pip install {' '.join(lacks)}", file=sys.stderr)
    if not peers:
        sys.exit("there is no peer to compare with")
    if not os.path.exists(asked.attnscope):
        sys.exit(f"{asked.attnscope} is not there: cargo build --release --locked, or name it by --attnscope")

    # What nobody else leaves behind has no peer.
    cases = [name for name in names(asked.attnscope) if not Case(name).observed]
    cases = [name for name in cases if not asked.only or any(word in name for word in asked.only)]
    rows = []
    if not asked.json:
        print(f"{'case':<36}{'ours ms':>10}" + "".join(f"{peer + ' ms':>16}" for peer in peers) + f"{'ahead':>8}")
    for case in cases:
        print(f"{case} ...", end="\r", file=sys.stderr)
        row = compared(case, asked.attnscope, peers, asked.rounds, asked.threads)
        rows.append(row)
        if not asked.json:
            of = lambda peer: f"{row['peers'][peer]['ms']:.3f}" if peer in row["peers"] else "-"
            ahead = f"{row['ahead']:.2f}x" if "ahead" in row else "-"
            mark = "  noisy" if row["noisy"] else ""
            cells = "".join(f"{of(peer):>16}" for peer in peers)
            print(f"{case:<36}{row['ours_ms']:>10.3f}{cells}{ahead:>8}{mark}", flush=True)
    if asked.json:
        from importlib.metadata import version

        versions = {peer: version(peer) for peer in peers}
        report = {"threads": asked.threads, "rounds": asked.rounds, "peers": versions, "missing": missing, "cases": rows}
        print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
