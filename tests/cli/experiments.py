#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Experiment files, their published JSON Schema and the reader of tailor sweep: every file that ships is valid and is read;
# and the two agree about files that were changed in a place, drawn at random: what one refuses the other refuses. Rules that
# a schema cannot say are left out of the draw. One TAP line each.
#
#   experiments.py TAILOR SOURCE_DIR
import copy
import json
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TAILOR, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
CHANGES = 160
# A whole file: every key that the schema has, each with a value that both take.
WHOLE = {
    "$schema": "../data/schemas/experiment.json", "question": "q?",
    "claim": {"text": "t", "metric": "traffic_reduction_of_kernels", "threshold": 1.5},
    "models": [str(SOURCE / "data/models/softmax_fwd_f32_4096x1024.hlo")], "devices": ["h200"],
    "strategies": ["unfused", "tailor"], "baseline": "unfused", "cost_model": "sol", "calibration": "uncalibrated",
    "plans": {"max_per_group": 9, "axes": {"vector": [4], "homes": ["registers"], "index_cache": [True]}},
    "shortlist": 2, "compile": False, "check": {"top": 1, "seeds": 2, "blocks": 8, "shape": "small"},
    "profile": {"top": 1, "random": 1, "cache": ["cold", "warm"], "stop": "quick", "counters": "0", "graph": True, "checks": 2},
    "arch": "sm_90", "seed": 3, "database": "x.db", "report": "pages", "$from": {}, "grid": {"plans.axes.unroll": [[1], [2]]}}
STRANGE = [None, True, 0, -1, 1, 3, 2.5, 10001, 10**12, "", "word", [], ["word"], [1], {}, {"word": 1}]
# Names that only tables know, and rules between keys: the schema takes any word there.
OPEN = {("models",), ("models", 0), ("devices",), ("devices", 0), ("strategies",), ("strategies", 0), ("strategies", 1),
        ("baseline",), ("calibration",), ("profile", "stop"), ("profile", "counters"), ("plans", "axes", "vector"),
        ("plans", "axes", "vector", 0), ("plans", "axes", "homes"), ("plans", "axes", "homes", 0),
        ("plans", "axes", "index_cache"), ("plans", "axes", "index_cache", 0), ("grid", "plans.axes.unroll"), ("grid", "plans.axes.unroll", 0),
        ("grid", "plans.axes.unroll", 0, 0), ("grid", "plans.axes.unroll", 1), ("grid", "plans.axes.unroll", 1, 0)}


def ways(node, way=()):
    """The ways to all values of a document."""
    if way:
        yield way
    for key, value in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
        yield from ways(value, (*way, key))


def changed(draw):
    """The whole file with one value replaced, one key gone, or one added; and what was done."""
    document = copy.deepcopy(WHOLE)
    way = draw.choice([way for way in ways(document) if way not in OPEN])
    at = document
    for key in way[:-1]:
        at = at[key]
    act = draw.choice(["replace", "replace", "remove", "add"])
    if act == "remove" and isinstance(at, dict):
        del at[way[-1]]
    elif act == "add" and isinstance(at, dict) and way[:-1] != ("plans", "axes"):
        at["another"] = 1
    else:
        act, at[way[-1]] = "replace", draw.choice(STRANGE)
        return document, f"{'.'.join(map(str, way))} is {at[way[-1]]!r}"
    return document, f"{act} at {'.'.join(map(str, way))}"


def read(document, folder, number):
    """Whether tailor takes the file."""
    path = Path(folder) / f"{number}.json"
    path.write_text(json.dumps(document))
    done = subprocess.run([TAILOR, "sweep", path, "--show-effective"], capture_output=True, text=True, cwd=folder, timeout=60)
    if done.returncode not in (0, 2):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.returncode == 0, done.stderr.strip()


def main():
    try:
        import jsonschema
    except ImportError:
        print("1..1\nok 1 - experiments against their schema # SKIP Python has no jsonschema on this machine")
        return
    schema = json.loads((SOURCE / "data/schemas/experiment.json").read_text(encoding="utf-8"))
    schema.pop("$id", None)  # Debian 12's jsonschema looks for references at that name
    jsonschema.Draft7Validator.check_schema(schema)
    valid = jsonschema.Draft7Validator(schema)
    number = 0

    def verdict(what, fault):
        nonlocal number
        number += 1
        print(f"{'not ok' if fault else 'ok'} {number} - {what}")
        if fault:
            print("# " + fault.replace("\n", "\n# "))

    for path in sorted((SOURCE / "experiments").glob("*.json")):
        faults = [fault.message for fault in valid.iter_errors(json.loads(path.read_text(encoding="utf-8")))]
        done = subprocess.run([TAILOR, "sweep", path, "--show-effective"], capture_output=True, text=True, timeout=60)
        verdict(f"{path.name} is valid and read", "\n".join(faults) or (done.stderr if done.returncode else None))
        if done.returncode == 0:
            again = [fault.message for fault in valid.iter_errors(json.loads(done.stdout))]
            verdict(f"{path.name} as it is taken is valid", "\n".join(again))
    unused = [key for key in schema["properties"] if key not in WHOLE]
    verdict("the file that is changed has every key", f"it lacks {unused}" if unused else None)
    with tempfile.TemporaryDirectory() as folder:
        taken, why = read(WHOLE, folder, "whole")
        verdict("a file with every key is valid and read",
                why if not taken else "\n".join(fault.message for fault in valid.iter_errors(WHOLE)))
        draws = [changed(random.Random(seed)) for seed in range(CHANGES)]
        with ThreadPoolExecutor(max_workers=2) as pool:
            answers = list(pool.map(lambda one: read(one[1][0], folder, one[0]), enumerate(draws)))
    apart, refused = [], 0
    for (document, act), (taken, why) in zip(draws, answers):
        refused += not taken
        if taken != valid.is_valid(document):
            apart.append(f"{act}: the reader {'takes it' if taken else 'says ' + why.splitlines()[0]}, the schema does not")
    verdict(f"reader and schema agree about {CHANGES} changed files", "\n".join(apart))
    verdict("many of these are refused, and not all", None if CHANGES / 4 < refused < CHANGES else f"{refused} of {CHANGES}")
    print(f"1..{number}")


main()
