#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# The lane handlers are compiled once per instruction set. A function that the linker may take from any of them would
# end up running instructions that another machine lacks, so none may be weak: every global symbol is of one library.
#
#   no_shared_functions.py NM LIBRARY...
import subprocess
import sys

wrong, seen = [], {}
for library in sys.argv[2:]:
    text = subprocess.run([sys.argv[1], "-C", library], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        fields = line.split(maxsplit=2)
        if len(fields) != 3 or len(fields[1]) != 1:
            continue
        kind, symbol = fields[1], fields[2]
        if kind in "WVu":
            wrong.append(f"{library}: {symbol} is weak")
        if kind in "TDBRW":
            if seen.setdefault(symbol, library) != library:
                wrong.append(f"{library}: {symbol} is also in {seen[symbol]}")
print("1..1")
if not seen:
    wrong.append("no symbol was found")
for complaint in wrong[:20]:
    print("#", complaint)
print("not ok 1" if wrong else "ok 1", "- no function of one instruction set can stand in for another's")
