#!/usr/bin/env python3
"""Opens a trace file with numpy and the safetensors package alone, and brings a weight back from it.

    open-trace.py FILE [LAYER HEAD QUERY KEY]   prints the weight of one cell
    open-trace.py --check ATTNSCOPE             compares every cell of the worked example with `attnscope row`

A trace keeps q, k, v, out and lse of each layer, never the weights: A_ij = exp(scale * q_i . k_j - lse_i).
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors import safe_open


def weight(path, layer, head, query, key):
    """The weight of one cell; 0 where the mask hides it."""
    with safe_open(path, framework="np") as file:
        about = json.loads(file.metadata()["attnscope"])
        site = next(s for s in about["sites"] if s["site"] == "self" and s["layer"] == layer)
        q, k, lse = (file.get_tensor(f"blocks.{layer}.self.{part}") for part in ("q", "k", "lse"))
    kv_head = head // (q.shape[1] // k.shape[1])
    position = k.shape[0] - q.shape[0] + query
    window = site["window"]
    hidden = site["causal"] and key > position
    if window is not None:
        hidden |= not position - window["left"] <= key <= position + window["right"]
    score = np.float64(site["scale"]) * np.dot(q[query, head].astype(np.float64), k[key, kv_head].astype(np.float64))
    return 0.0 if hidden else float(np.exp(score - lse[head, query]))


def check(attnscope):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "example.safetensors"
        subprocess.run([attnscope, "trace", "example", "--causal", "-o", file], check=True, stdout=subprocess.DEVNULL)
        for query in range(10):
            command = [attnscope, "row", file, "--query", str(query), "--json"]
            row = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            ours = [weight(file, 0, 0, query, key) for key in range(10)]
            np.testing.assert_allclose(ours, row["weights"], rtol=0, atol=1e-6)
            assert [w == 0 for w in ours] == [m is not None for m in row["mask"]]
    print("every cell of the worked example comes back in numpy")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--check", attnscope]:
            check(attnscope)
        case [path]:
            with safe_open(path, framework="np") as file:
                about = json.loads(file.metadata()["attnscope"])
                print(about["model"]["name"], [token["text"] for token in about["tokens"]])
                for name in file.keys():
                    print(name, file.get_slice(name).get_dtype(), file.get_slice(name).get_shape())
        case [path, *place] if len(place) == 4:
            print(weight(path, *map(int, place)))
        case _:
            sys.exit(__doc__)
