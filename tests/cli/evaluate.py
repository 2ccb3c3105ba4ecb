#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# `tailor evaluate` and `tailor check --inputs/--expect` against an oracle of their own: arrays are written and read here byte
# by byte, and results are computed in Python's double arithmetic from the definition of each operation. One TAP line per
# property. What needs a compiled kernel is skipped where there is no NVRTC.
#
#   evaluate.py TAILOR
import ast
import math
import random
import struct
import sys

from tap import Test

CODES = {"<f4": "f", "<f8": "d", "<f2": "e", "<i4": "i", "|i1": "b", "|b1": "?", "|u1": "B", "<i8": "q"}

MODEL = """HloModule several
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
larger { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
ENTRY e {
  x = f32[5,7] parameter(0)
  w = f32[7,3] parameter(1)
  i = s32[5,7] parameter(2)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  top = f32[5] reduce(x, low), dimensions={1}, to_apply=larger
  tops = f32[5,7] broadcast(top), dimensions={0}
  less = f32[5,7] subtract(x, tops)
  powers = f32[5,7] exponential(less)
  sum = f32[5] reduce(powers, zero), dimensions={1}, to_apply=add
  sums = f32[5,7] broadcast(sum), dimensions={0}
  softmax = f32[5,7] divide(powers, sums)
  product = f32[5,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  squares = s32[5,7] multiply(i, i)
  ROOT t = (f32[5,7], f32[5,3], s32[5,7], f32[5,7]) tuple(softmax, product, squares, softmax)
}
"""

SAME = """HloModule same
ENTRY main {
  x = f32[2] parameter(0)
  a = f32[2] exponential(x)
  b = f32[2] exponential(x)
  c = f32[2] negate(x)
  ROOT t = (f32[2], f32[2], f32[2]) tuple(a, b, c)
}
"""

NARROW = """HloModule narrow
ENTRY e {
  a = bf16[4] parameter(0)
  b = f8e4m3fn[4] parameter(1)
  c = bf16[4] convert(b)
  s = bf16[4] add(a, c)
  ROOT t = (bf16[4], f8e4m3fn[4]) tuple(s, b)
}
"""

HOLLOW = """HloModule hollow
ENTRY e {
  x = f32[3,4] parameter(0)
  c = f32[3,4] constant({...})
  ROOT y = f32[3,4] add(x, c)
}
"""

ROWS = """HloModule rows
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  squares = f32[64,128] multiply(x, x)
  sum = f32[64] reduce(squares, zero), dimensions={1}, to_apply=add
  sums = f32[64,128] broadcast(sum), dimensions={0}
  ROOT y = f32[64,128] divide(x, sums)
}
"""


# A sort of rounded numbers has no rule for its bound. Of the result the first `known` elements have one.
IN_PART = """HloModule part
less {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY e {{
  x = f32[64] parameter(0)
  powers = f32[64] exponential(x)
  sorted = f32[64] sort(powers), dimensions={{0}}, to_apply=less
  first = f32[{known}] slice(x), slice={{[0:{known}]}}
  ROOT y = f32[{all}] concatenate(first, sorted), dimensions={{0}}
}}
"""

ROWS_AND_SORT = ROWS.replace("ENTRY e {", """less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e {""").replace("  ROOT y = f32[64,128] divide(x, sums)", """  y = f32[64,128] divide(x, sums)
  z = f32[64] sort(sum), dimensions={0}, to_apply=less
  ROOT t = (f32[64,128], f32[64]) tuple(y, z)""")


def write(path, descr, shape, values):
    """A .npy file of version 1, as NumPy's NEP 1 has it."""
    head = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    body = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{CODES[descr]}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)


def read(path):
    """Word of the type, shape, values (bytes where Python has no such type)."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    body = data[10 + length:]
    code = CODES.get(head["descr"])
    values = list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)) if code else body
    return head["descr"], head["shape"], values


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def close(found, expected, ulps):
    return all(abs(a - b) <= ulps * 2.0**-23 * max(abs(b), 2.0**-126) for a, b in zip(found, expected)) and len(found) == len(expected)


def several(folder, seed):
    """The model with arrays; what its three results are, by number."""
    draw = random.Random(seed)
    x, w = ([f32(draw.uniform(-3, 3)) for _ in range(n)] for n in (35, 21))
    i = [draw.randrange(-100, 100) for _ in range(35)]
    (folder / "m.hlo").write_text(MODEL, encoding="utf-8")
    (folder / "in").mkdir()
    write(folder / "in/x.npy", "<f4", (5, 7), x)
    write(folder / "in/w.npy", "<f4", (7, 3), w)
    write(folder / "in/i.npy", "<i4", (5, 7), i)
    softmax = []
    for row in range(5):
        powers = [math.exp(v - max(x[row * 7:row * 7 + 7])) for v in x[row * 7:row * 7 + 7]]
        softmax += [p / math.fsum(powers) for p in powers]
    product = [math.fsum(x[r * 7 + k] * w[k * 3 + c] for k in range(7)) for r in range(5) for c in range(3)]
    return softmax, product, [v * v for v in i]


def results_by_name(folder):
    return {path.stem: read(path) for path in (folder / "out/outputs").iterdir()}


def evaluates(test, folder):
    softmax, product, squares = several(folder, 7)
    rows = test.records("evaluate", folder / "m.hlo", "--inputs", folder / "in", "--folder", folder / "out")["results"]
    found = results_by_name(folder)
    assert sorted(found) == ["product", "softmax", "squares"], sorted(found)  # the tuple holds softmax twice
    assert found["softmax"][:2] == ("<f4", (5, 7)) and close(found["softmax"][2], softmax, 16), found["softmax"]
    scale = max(map(abs, product))
    assert found["product"][:2] == ("<f4", (5, 3)), found["product"]
    assert all(abs(a - b) < 16 * 2.0**-23 * scale for a, b in zip(found["product"][2], product))
    assert found["squares"] == ("<i4", (5, 7), squares), found["squares"]
    row = next(row for row in rows if row["array"] == "squares")
    values = (row["least"], row["most"], row["not_finite"], row["array_use"], row["array_number"])
    assert values == (min(squares), max(squares), 0, "result", 2), row
    assert abs(row["mean"] - sum(squares) / 35) < 1e-9 * max(squares), row


def draws(test, folder):
    (folder / "m.hlo").write_text(MODEL, encoding="utf-8")
    for seed, out in ((5, "a"), (5, "b"), (6, "c")):
        test.run("evaluate", folder / "m.hlo", "--seed", seed, "--folder", folder / out)
    files = [{p.relative_to(folder / out): p.read_bytes() for p in (folder / out).rglob("*.npy")} for out in "abc"]
    assert len(files[0]) == 6 and files[0] == files[1], sorted(map(str, files[0]))
    assert all(files[0][name] != files[2][name] for name in files[0] if name.parts[0] == "inputs")
    test.run("evaluate", folder / "m.hlo", "--inputs", folder / "a/inputs", "--expect", folder / "a/outputs")
    test.run("evaluate", folder / "m.hlo", "--inputs", folder / "c/inputs", "--expect", folder / "a/outputs", wanted=1)


def holds(test, folder):
    softmax, product, squares = several(folder, 8)
    softmax[11] += 1e-4
    write(folder / "softmax.npy", "<f4", (5, 7), [f32(v) for v in softmax])
    write(folder / "squares.npy", "<i4", (5, 7), squares)
    words = ["evaluate", folder / "m.hlo", "--inputs", folder / "in", "--expect", f"0={folder}/softmax.npy,squares={folder}/squares.npy"]
    said = test.run(*words, wanted=1)
    assert said.stdout.startswith("1 of 3 results matches the reference, 2 differ\n"), said.stdout  # one of them twice
    rows = [row for row in test.records(*words, wanted=1)["results"] if row["array_use"] == "result"]
    assert [(row["array"], row["outcome"]) for row in rows if row["array_number"] in (0, 3)] == [("softmax", "differs")] * 2, rows
    by_name = {row["array"]: row for row in rows}
    assert (by_name["softmax"]["outcome"], by_name["softmax"]["wrong"]) == ("differs", 1), by_name["softmax"]
    assert "[1,4]" in by_name["softmax"]["reason"] and by_name["softmax"]["worst"] > 1, by_name["softmax"]
    assert (by_name["squares"]["outcome"], by_name["squares"]["worst"]) == ("matches", 0), by_name["squares"]
    assert by_name["product"]["outcome"] is None, by_name["product"]
    softmax[11] -= 1e-4
    write(folder / "softmax.npy", "<f4", (5, 7), [f32(v) for v in softmax])
    test.run(*words)


def counts_places_of_the_tuple(test, folder):
    # Two results that normalising finds to be the same keep their numbers, and leave the others theirs.
    (folder / "s.hlo").write_text(SAME, encoding="utf-8")
    write(folder / "x.npy", "<f4", (2,), [0.0, 1.0])
    write(folder / "exp.npy", "<f4", (2,), [1.0, f32(math.e)])
    write(folder / "neg.npy", "<f4", (2,), [-0.0, -1.0])
    words = ["evaluate", folder / "s.hlo", "--inputs", f"0={folder}/x.npy", "--expect"]
    said = test.run(*words, f"0={folder}/exp.npy,1={folder}/exp.npy,2={folder}/neg.npy").stdout
    assert said.startswith("3 of 3 results match the reference\n"), said
    test.run(*words, f"2={folder}/neg.npy")
    test.run(*words, f"1={folder}/neg.npy", wanted=1)


def says_what_is_judged(test, folder):
    for known, outcome, wanted in ((64, "matches", 0), (1, "not judged", 3)):
        (folder / "p.hlo").write_text(IN_PART.format(known=known, all=known + 64), encoding="utf-8")
        test.run("evaluate", folder / "p.hlo", "--folder", folder / "out")
        words = ["evaluate", folder / "p.hlo", "--inputs", folder / "out/inputs", "--expect", folder / "out/outputs"]
        row = next(row for row in test.records(*words, wanted=wanted)["results"] if row["array_use"] == "result")
        assert (row["outcome"], row["unjudged"], row["judged_fraction"]) == (outcome, 64, known / (known + 64)), row
        assert row["reason"] == "64 elements have no bound: there is no rule for that of %sorted (sort)", row
        said = test.run(*words, wanted=wanted).stdout
        part = "1 of 1 result matches the reference, 1 of them judged in part (50 % of its elements)\n"
        assert said.startswith(part if wanted == 0 else "0 of 1 result matches the reference, 1 cannot be judged\n"), said


def narrows(test, folder):
    (folder / "n.hlo").write_text(NARROW, encoding="utf-8")
    a, b = [1.0, -2.5, 0.15625, 384.0], [0.5, 448.0, -0.001953125, 3.5]  # numbers of bf16, of f8e4m3fn
    write(folder / "a.npy", "|V2", (4,), b"".join(struct.pack("<f", v)[2:] for v in a))
    write(folder / "b.npy", "<f4", (4,), b)
    test.run("evaluate", folder / "n.hlo", "--inputs", f"a={folder}/a.npy,b={folder}/b.npy", "--folder", folder / "out")
    descr, shape, body = read(folder / "out/outputs/s.npy")
    sums = [struct.unpack("<f", b"\0\0" + body[k:k + 2])[0] for k in range(0, 8, 2)]
    # Between 256 and 512 numbers of bf16 are 2 apart: 445.5 is stored as 446, 387.5 as 388.
    assert (descr, shape, sums) == ("|V2", (4,), [1.5, 446.0, 0.154296875, 388.0]), (descr, shape, sums)
    assert read(folder / "out/outputs/b.npy") == ("<f4", (4,), b)
    write(folder / "a.npy", "<f4", (4,), a)  # f32 will do for bf16
    test.run("evaluate", folder / "n.hlo", "--inputs", f"a={folder}/a.npy,b={folder}/b.npy", "--expect", folder / "out/outputs")
    write(folder / "b.npy", "<f4", (4,), [0.3, 0.5, 1, 2])
    said = test.run("evaluate", folder / "n.hlo", "--inputs", f"b={folder}/b.npy", wanted=1).stderr
    assert "element 0 is 0.3" in said and "no number of f8e4m3fn" in said, said


def fills(test, folder):
    (folder / "h.hlo").write_text(HOLLOW, encoding="utf-8")
    write(folder / "c.npy", "<f4", (3, 4), [float(k) for k in range(12)])
    write(folder / "x.npy", "<f4", (3, 4), [0.5] * 12)
    rows = test.records("evaluate", folder / "h.hlo", "--inputs", f"1={folder}/c.npy,x={folder}/x.npy", "--folder", folder / "out")["results"]
    assert [row["array_use"] for row in rows] == ["parameter", "constant", "result"], rows
    assert read(folder / "out/outputs/y.npy")[2] == [k + 0.5 for k in range(12)]


def checks(test, folder):
    (folder / "r.hlo").write_text(ROWS, encoding="utf-8")
    draw = random.Random(3)
    x = [f32(draw.uniform(-1, 1)) for _ in range(64 * 128)]
    y = []
    for row in range(64):
        of_row = x[row * 128:row * 128 + 128]
        y += [v / math.fsum(u * u for u in of_row) for v in of_row]
    write(folder / "x.npy", "<f4", (64, 128), x)
    words = ["check", folder / "r.hlo", "--device", "h200", "--top", 2, "--inputs", f"x={folder}/x.npy"]
    write(folder / "y.npy", "<f4", (64, 128), [f32(v) for v in y])
    document = test.records(*words, "--expect", f"y={folder}/y.npy")
    assert [row["state"] for row in document["results"]] == ["passed"] * 2, document["results"]
    assert {row["inputs_are"] for row in document["results"]} == {"given"}, document["results"]
    assert all(0 < row["worst"] <= 1 for row in document["results"]), document["results"]
    assert document["verdict"][0]["verdict"] == "passed" and document["arrays"][-1]["outcome"] == "matches", document
    y[4711] *= 1.001
    write(folder / "y.npy", "<f4", (64, 128), [f32(v) for v in y])
    document = test.records(*words, "--expect", f"y={folder}/y.npy", wanted=1)
    # The kernels are right all the same: it is the file that differs, and the exit code says so.
    assert [row["state"] for row in document["results"]] == ["passed"] * 2, document["results"]
    assert document["arrays"][-1]["outcome"] == "differs", document["arrays"]
    assert "[36,103]" in document["arrays"][-1]["reason"], document["arrays"][-1]


def agrees_with_its_exit_code(test, folder):
    (folder / "r.hlo").write_text(ROWS_AND_SORT, encoding="utf-8")
    test.run("evaluate", folder / "r.hlo", "--folder", folder / "out")
    words = ["check", folder / "r.hlo", "--device", "h200", "--top", 1, "--inputs", folder / "out/inputs", "--expect"]
    document = test.records(*words, folder / "out/outputs", wanted=3)
    assert {row["state"] for row in document["results"]} == {"passed", "no plan"}, document["results"]
    assert document["verdict"][0]["verdict"] == "open", document["verdict"]
    document = test.records(*words, f"y={folder}/out/outputs/y.npy")
    assert document["verdict"][0]["verdict"] == "passed", document["verdict"]


def other_types_are_refused_with_what_converts_them(test, folder):
    (folder / "t.hlo").write_text("HloModule t\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}\n")
    write(folder / "x.npy", "<f8", (2,), [1.0, 2.0])
    said = test.run("evaluate", folder / "t.hlo", "--inputs", f"x={folder}/x.npy", wanted=1).stderr
    assert "found f64[2], expected f32[2] for x" in said and "array.astype(numpy.float32)" in said, said


def main():
    test = Test(sys.argv[1])
    test.says("results are what their definitions say, and a result that is returned twice is one array", evaluates)
    test.says("drawn inputs are of their seed, and results match those of the same inputs alone", draws)
    test.says("one element that is off is found, by its place, and results without a file are not held against any", holds)
    test.says("results are counted by their places in the tuple, equal ones too", counts_places_of_the_tuple)
    test.says("a match says of which share, and of hardly any element it is none; what has no bound has a reason", says_what_is_judged)
    test.says("bf16 is two opaque bytes, floats of 8 bits are float32, and what the type does not have is refused", narrows)
    test.says("a constant without contents is an input", fills)
    test.says("kernels are checked on given inputs, and against given results", checks)
    test.says("where a result cannot be judged the verdict of right kernels is open, as the exit code has it", agrees_with_its_exit_code)
    test.says("an array of another type is refused with what converts it", other_types_are_refused_with_what_converts_them)
    print(f"1..{test.number}")


main()
