# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# What the baselines share: cases, the line that holds one result, how long to go on. Every sample is the time of one call,
# cold: as many sets of inputs as three times L2 holds take turns, and each call leaves its outputs where no other does.
# With --flush there is one set, and before each call L2 is overwritten and then filled with other clean data.
# A line is one JSON object:
#   format "tailor.baseline/1" · baseline, variant, versions · case, op, shape, dtype · launch "stream" or "graph"
#   timed_by "events", "activity" or "host" · cache "sets in turn" or "clean flush" · bytes (moved at least) · sets · samples_s · gpu · error (instead of samples)
import argparse
import json
import sys
import time

WARM_SECONDS = 0.2
REPLAYS = 15
DTYPE_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def options(what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--flush", action="store_true",
                        help="one call a sample, after 2 x L2 was written and another 2 x L2 read, as tailor does")
    parser.add_argument("--on-host", action="store_true", help="without a GPU, small: only to see that it runs")
    return parser.parse_args()


def cases(chosen):
    """Those of the file; small ones for a look without a GPU."""
    with open(chosen.cases, encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        if chosen.on_host:
            row["shape"] = [min(extent, 40 + 8 * place) for place, extent in enumerate(row["shape"])]
        yield row


# Of each operation: tensors it reads beside x of the whole shape ("row": one value per column), and tensors it writes.
OPERANDS = {
    "softmax": ([], "whole"), "layernorm": (["row", "row"], "whole"), "rmsnorm": (["row"], "whole"),
    "bias_residual_layernorm": (["row", "whole", "row", "row"], "two"), "gelu": ([], "whole"), "bias_gelu": (["row"], "whole"),
    "row_sum": ([], "rows"), "column_sum": ([], "row"), "transpose": ([], "whole"), "copy": ([], "whole"),
}


def operand_shapes(case):
    rows, columns = case["shape"]
    return [[rows, columns]] + [[columns] if kind == "row" else [rows, columns] for kind in OPERANDS[case["op"]][0]]


def bytes_moved(case):
    rows, columns = case["shape"]
    written = {"whole": rows * columns, "two": 2 * rows * columns, "rows": rows, "row": columns}[OPERANDS[case["op"]][1]]
    read = sum(shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in operand_shapes(case))
    return (read + written) * DTYPE_BYTES[case["dtype"]]


def sets_of(case, l2_bytes):
    return max(2, min(256, -(-3 * l2_bytes // bytes_moved(case))))


class Budget:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def is_used_up(self):
        return time.monotonic() > self.end


def emit(case, **fields):
    line = {"format": "tailor.baseline/1", **{key: case[key] for key in ("case", "op", "shape", "dtype")},
            "bytes": bytes_moved(case), **fields}
    print(json.dumps(line), flush=True)


def absent(what, why):
    print(f"error: {what} is not usable here: {why}", file=sys.stderr)
    sys.exit(3)
