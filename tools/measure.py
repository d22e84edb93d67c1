#!/usr/bin/env python3
"""Measures what the README claims of the command line, on this machine, in one run.

    tools/measure.py [ATTNSCOPE] [MODEL]

- a cell of a 16-token text from cold, against generating one token on the same text (medians of 5, interleaved)
- statistics and proof of every head of 2,048 tokens: seconds, peak memory, the largest proof errors
Needs nothing but Python 3.8 or later, on Linux or macOS; defaults are target/release/attnscope and SmolLM2 in models/.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import time

ATTNSCOPE = sys.argv[1] if len(sys.argv) > 1 else "target/release/attnscope"
MODEL = sys.argv[2] if len(sys.argv) > 2 else "models/smollm2-135m-instruct.Q4_1.gguf"
TEXT = "When Mary and John went to the store, John gave a drink to Mary."


def run(*arguments):
    """(seconds, peak memory in MiB, standard output) of one command."""
    begun = time.perf_counter()
    child = subprocess.Popen([ATTNSCOPE, *arguments], stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{arguments[0]} failed")
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return time.perf_counter() - begun, usage.ru_maxrss / scale, output


def main():
    cell = ["cell", MODEL, "--text", TEXT, "--layer", "5", "--head", "4", "--query", "9", "--key", "3", "--json"]
    generate = ["generate", MODEL, "--prompt", TEXT, "--max-tokens", "1"]
    run(*cell)  # the file into the page cache
    cells, generated = zip(*((run(*cell)[0], run(*generate)[0]) for _ in range(5)))
    a, b = statistics.median(cells), statistics.median(generated)
    print(f"a cell from cold          {a:.3f} s, {a / b:.2f} x generating one token ({b:.3f} s)")

    random.seed(0)
    ids = ",".join(str(random.randrange(20, 49_000)) for _ in range(2048))
    seconds, memory, output = run("heads", MODEL, "--ids", ids, "--json")
    heads = json.loads(output)
    worst = {name: max(head["proof"][name] for head in heads) for name in ("row_sum_error", "output_error")}
    print(f"every head, 2,048 tokens  {seconds:.1f} s, {memory:.0f} MiB at most, {len(heads)} heads, {worst}")


if __name__ == "__main__":
    main()
