# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# What slips a line allows (drawn.py), as a TAP test. In: rows of a line and all that one slip makes of it; comments and
# texts in quotes stay as they are. Out: one point for all rows, and for draws: the same seed draws the same faults.
# Run by Meson as test `drawn`.
import sys
import tempfile
from pathlib import Path

from drawn import draw, slips_of

ROWS = [
    ("  if (a < b && c) return 3;", {
        "  if (a <= b && c) return 3;", "  if (a < b || c) return 3;", "  if (!(a < b && c)) return 3;", "  if (a < b && c) return 4;"}),
    ('  say("a < b", x); // a < b', {"  ;"}),
    ("  // a < b", set()),
    ("  const int n = std::min(x, 7);", {"  const int n = std::max(x, 7);", "  const int n = std::min(x, 8);"}),
    ("  sum += x[i];", {"  sum -= x[i];", "  ;"}),
    ("  std::vector<std::array<int, 3>> all;", set()),
    ("    continue;", {"    ;"}),
    ("  if (a &&", set()),
]


def main():
    faults = []
    for line, wanted in ROWS:
        found = {changed for _, changed in slips_of(line)}
        if found != wanted:
            faults.append(f"of `{line}` it makes {sorted(found)}, wanted {sorted(wanted)}")
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(line + "\n" for line, _ in ROWS)
        (Path(folder) / "a.cpp").write_text(text, encoding="utf-8")
        drawn = draw(Path(folder), ["a.cpp"], 5, 1)
        if drawn != draw(Path(folder), ["a.cpp"], 5, 1) or drawn == draw(Path(folder), ["a.cpp"], 5, 2):
            faults.append("the seed does not decide what is drawn")
        for name, _, _, before, after in drawn:
            lines = list(zip(before.splitlines(), after.splitlines(), strict=True))
            if before != text or sum(a != b for a, b in lines) != 1:
                faults.append(f"{name} does not change one line")
        if len({name for name, *_ in drawn}) != 5:
            faults.append("names are not distinct")
    print("1..1")
    print("not ok 1 - slips" if faults else "ok 1 - slips are those of the rows, and the seed decides which are drawn")
    for fault in faults:
        print("#", fault)
    return 1 if faults else 0


sys.exit(main())
