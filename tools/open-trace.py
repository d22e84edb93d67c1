#!/usr/bin/env python3
"""Opens a trace file with numpy and the safetensors package alone, and brings a weight back from it.

    open-trace.py FILE                                prints whose it is, its tokens and its tensors
    open-trace.py FILE [SITE] LAYER HEAD QUERY KEY    prints the weight of one cell; SITE is self, cross or encoder, and
                                                      self where it is left out
    open-trace.py --check ATTNSCOPE                   compares every cell of the worked example with `attnscope row`, as it
                                                      is and with every term and mask that a trace may have; and every cell
                                                      of two encoder-decoders with `attnscope show`

A trace keeps q, k, v, out and lse of each layer, never the weights: A_ij = exp(s_ij - lse_i), where
s_ij = softcap(scale * q_i . k_j) + ALiBi + relative bias + bias, of those that the site's entry has.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

FORMAT = 1
SITES = ("self", "cross", "encoder")
TINY = Path(__file__).resolve().parent.parent / "crates/models/tests/tiny"
# What a site's entry may have. One that is not here would change the weights in a way that is not known here.
KNOWN = {
    "site", "layer", "scale", "causal", "window", "softcap", "alibi_slopes", "relative_bias", "sinks", "segments",
    "real_keys", "knockouts",
}


class Site:
    """One attention of a trace: `self`, or of an encoder-decoder `encoder` (its encoder's) or `cross` (its decoder's, whose
    keys are the encoder's tokens)."""

    def __init__(self, path, layer, site="self"):
        with safe_open(path, framework="np") as file:
            about = json.loads(file.metadata()["attnscope"])
            if about["format"] != FORMAT:
                sys.exit(f"{path}: trace format {about['format']}, but this script reads format {FORMAT}")
            found = [s for s in about["sites"] if s["site"] == site and s["layer"] == layer]
            if not found:
                there = ", ".join(f"{s['site']} {s['layer']}" for s in about["sites"])
                sys.exit(f"{path}: there is no {site} attention of layer {layer}; there are {there or 'none at all'}")
            self.entry = found[0]
            unknown = sorted(set(self.entry) - KNOWN)
            if unknown:
                sys.exit(f"{path}: {site} layer {layer} has {', '.join(unknown)}, which this script does not apply")
            name = f"blocks.{layer}.{site}."
            self.q, self.k, self.lse = (file.get_tensor(name + part) for part in ("q", "k", "lse"))
            self.bias = file.get_tensor(name + "bias") if name + "bias" in file.keys() else None

    def around(self, query):
        """The queries and keys of the packed text around a query, as two (first, one after the last)."""
        segments = self.entry.get("segments")
        if segments is None:
            return (0, self.q.shape[0]), (0, self.k.shape[0])
        at = max(i for i, first in enumerate(segments["q"][:-1]) if first <= query)
        return segments["q"][at : at + 2], segments["kv"][at : at + 2]

    def position(self, query):
        """The key position at which a query stands: masks are aligned at the ends of the text."""
        queries, keys = self.around(query)
        return keys[1] - queries[1] + query

    def hidden(self, head, query, key):
        entry, position, (_, keys) = self.entry, self.position(query), self.around(query)
        window, real = entry["window"], entry.get("real_keys")

        def cut_out(rule):
            place = {"head": head, "query": query, "key": key}
            return all(rule.get(name) in (None, index) for name, index in place.items())

        return (
            not keys[0] <= key < keys[1]
            or (entry["causal"] and key > position)
            or (window is not None and not position - window["left"] <= key <= position + window["right"])
            or (real is not None and not real[key])
            or any(cut_out(rule) for rule in entry.get("knockouts", []))
        )

    def score(self, head, query, key):
        """What the mask does not change."""
        entry, ahead = self.entry, key - self.position(query)
        kv_head = head // (self.q.shape[1] // self.k.shape[1])
        q, k = self.q[query, head].astype(np.float64), self.k[key, kv_head].astype(np.float64)
        score = float(np.float64(entry["scale"]) * np.dot(q, k))
        if entry.get("softcap") is not None:
            score = entry["softcap"] * math.tanh(score / entry["softcap"])
        if entry.get("alibi_slopes") is not None:
            score -= entry["alibi_slopes"][head] * abs(ahead)
        if entry.get("relative_bias") is not None:
            bias = entry["relative_bias"]
            heads = len(bias["table"]) // bias["buckets"]
            score += bias["table"][bucket(bias, ahead) * heads + head]
        if self.bias is not None:
            score += float(self.bias[0, min(head, self.bias.shape[1] - 1), query, key])
        return score

    def weight(self, head, query, key):
        """The weight of one cell; 0 where the mask hides it."""
        if self.hidden(head, query, key):
            return 0.0
        return math.exp(self.score(head, query, key) - self.lse[head, query])


def bucket(bias, ahead):
    """T5's bucket of a distance, in f32 like the checkpoints' own code."""
    buckets, first, distance = bias["buckets"], 0, max(-ahead, 0)
    if bias["bidirectional"]:
        buckets //= 2
        first, distance = buckets if ahead > 0 else 0, abs(ahead)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    f32 = np.float32
    grown = np.log(f32(distance) / f32(exact)) / np.log(f32(bias["max_distance"]) / f32(exact))
    return first + min(exact + int(grown * f32(buckets - exact)), buckets - 1)


def with_everything(path, to):
    """The same run with every term and mask; its lse is summed up anew, here."""
    with safe_open(path, framework="np") as file:
        about = json.loads(file.metadata()["attnscope"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    n = len(about["tokens"])
    about["sites"][0] |= {
        "causal": True,
        "window": {"left": 6, "right": 0},
        "softcap": 1.5,
        "alibi_slopes": [0.25],
        "relative_bias": {"table": [i / 8 for i in range(8)], "buckets": 8, "max_distance": 16, "bidirectional": True},
        "sinks": [0.5],
        "segments": {"q": [0, 3, n], "kv": [0, 3, n]},
        "real_keys": [key != 4 for key in range(n)],
        "knockouts": [{"head": 0, "query": 8, "key": 7}, {"head": None, "query": None, "key": 5}],
    }
    tensors["blocks.0.self.bias"] = np.linspace(-1, 1, n * n, dtype=np.float32).reshape(1, 1, n, n)

    def save():
        save_file(tensors, to, metadata={"attnscope": json.dumps(about)})

    save()
    site = Site(to, 0)
    for query in range(n):
        seen = [site.score(0, query, key) for key in range(n) if not site.hidden(0, query, key)]
        tensors["blocks.0.self.lse"][0, query] = math.log(sum(map(math.exp, [*seen, *site.entry["sinks"]])))
    save()


def compare(attnscope, file):
    site = Site(file, 0)
    for query in range(10):
        command = [attnscope, "row", file, "--query", str(query), "--json"]
        row = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        ours = [site.weight(0, query, key) for key in range(10)]
        np.testing.assert_allclose(ours, row["weights"], rtol=0, atol=1e-6)
        assert [w == 0 for w in ours] == [m is not None for m in row["mask"]]
        np.testing.assert_allclose(sum(ours) + (row["sink"] or 0), 1, rtol=0, atol=1e-6)


def compare_halves(attnscope, file):
    """Every cell of every head of an encoder-decoder; how many heads that are, by site."""
    heads = dict.fromkeys(SITES, 0)
    with safe_open(file, framework="np") as opened:
        about = json.loads(opened.metadata()["attnscope"])
    for entry in about["sites"]:
        site = Site(file, entry["layer"], entry["site"])
        keys = about["tokens"] if entry["site"] == "self" else about["encoder"]["tokens"]
        assert site.k.shape[0] == len(keys)
        for head in range(site.q.shape[1]):
            place = ["--site", entry["site"], "--layer", str(entry["layer"]), "--head", str(head)]
            shown = subprocess.run([attnscope, "show", file, *place, "--json"], check=True, capture_output=True).stdout
            # Hidden cells are null.
            theirs = [[weight or 0.0 for weight in row] for row in json.loads(shown)["weights"]]
            ours = [[site.weight(head, q, k) for k in range(site.k.shape[0])] for q in range(site.q.shape[0])]
            # Their scores are many times those of the example, and come in f32 from the program but in f64 from here.
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=5e-6)
            np.testing.assert_allclose(np.sum(ours, axis=1), 1, rtol=0, atol=5e-6)
            heads[entry["site"]] += 1
    assert all(heads.values()), heads


def check(attnscope):
    with tempfile.TemporaryDirectory() as folder:
        file, every = Path(folder) / "example.safetensors", Path(folder) / "every.safetensors"
        subprocess.run([attnscope, "trace", "example", "--causal", "-o", file], check=True, stdout=subprocess.DEVNULL)
        with_everything(file, every)
        compare(attnscope, file)
        compare(attnscope, every)
        for model in ("t5-relu", "bart-lm"):
            texts = ["--text", "The robot was tired.", "--target", "She walked on the moon"]
            halves = Path(folder) / f"{model}.safetensors"
            subprocess.run(
                [attnscope, "trace", TINY / model, *texts, "-o", halves], check=True, stdout=subprocess.DEVNULL
            )
            compare_halves(attnscope, halves)
    print("every cell of the worked example comes back in numpy, with and without every term and mask")
    print("every cell of encoder, decoder and cross-attention of T5 and BART comes back in numpy")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--check", attnscope]:
            check(attnscope)
        case [path]:
            with safe_open(path, framework="np") as file:
                about = json.loads(file.metadata()["attnscope"])
                print(about["model"]["name"], [token["text"] for token in about["tokens"]])
                if about.get("encoder") is not None:
                    print("encoder", [token["text"] for token in about["encoder"]["tokens"]])
                for name in file.keys():
                    print(name, file.get_slice(name).get_dtype(), file.get_slice(name).get_shape())
        case [path, *place] if len(place) == 4 or (len(place) == 5 and place[0] in SITES):
            kind = place.pop(0) if len(place) == 5 else "self"
            layer, *cell = map(int, place)
            site = Site(path, layer, kind)
            there = (site.q.shape[1], site.q.shape[0], site.k.shape[0])
            for what, index, count in zip(("head", "query", "key"), cell, there):
                if not 0 <= index < count:
                    sys.exit(f"{path}: {what} {index} is out of range: {kind} layer {layer} has 0 to {count - 1}")
            print(site.weight(*cell))
        case _:
            sys.exit(__doc__)
