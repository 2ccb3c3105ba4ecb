#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# What the README shows is what the program prints, in a terminal of 100 columns. One TAP line per block that begins with
# "$ tailor". A line "..." stands for any lines. How long a kernel's execution took differs from run to run and is not compared.
# `--update` writes what is printed into the README.
#
#   shown.py [--update] TAILOR PROJECT
import difflib
import re
import subprocess
import sys
from pathlib import Path

from tap import Test

BLOCK = re.compile(r"^```\n(\$ tailor .*?)^```$", re.S | re.M)
ELLIPSIS = "..."


def timeless(command, line):
    """The line without its last cell where that is a time of this machine."""
    return re.sub(r"\s+[\d.]+$", "", line) if command.startswith("check ") and " passed " in line else line


def pieces(shown):
    """The shown lines between ellipses."""
    parts = [[]]
    for line in shown:
        if line == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def found(command, shown, printed):
    """The printed lines in place of the shown ones, each piece where it lies nearest behind the one before. The first begins
    at the first line."""
    out, at = [], 0
    for number, piece in enumerate(pieces(shown)):
        if number > 0:
            out.append(ELLIPSIS)
            while at < len(printed) and piece and printed[at] != piece[0]:
                at += 1
        out += printed[at:at + len(piece)]
        at += len(piece)
    return out


def printed_by(tailor, project, command):
    words = command.removeprefix("$ tailor ").split()
    terminal = {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}
    result = subprocess.run([tailor, *words], capture_output=True, text=True, timeout=300, cwd=project, env=terminal)
    if result.returncode == 3 and "NVRTC" in result.stderr:
        raise LookupError("no NVRTC on this machine")
    if result.returncode != 0:
        raise AssertionError(f"{command}: exit code {result.returncode}: {result.stderr}")
    return result.stdout.rstrip("\n").split("\n")


def main(words):
    update = "--update" in words
    tailor, project = [Path(word).resolve() for word in words if not word.startswith("--")]
    readme = project / "README.md"
    text = readme.read_text()
    blocks = BLOCK.findall(text)
    test = Test(tailor)
    for block in blocks:
        command, *shown = block.rstrip("\n").split("\n")
        if update:
            now = "\n".join([command, *found(command[9:], shown, printed_by(tailor, project, command))])
            readme.write_text(readme.read_text().replace(block.rstrip("\n"), now))
            continue

        def is_shown(test, folder):
            printed = found(command[9:], shown, printed_by(tailor, project, command))
            a, b = ([timeless(command[9:], line) for line in lines] for lines in (shown, printed))
            if a != b:
                lines = difflib.unified_diff(a, b, "README", "printed", lineterm="", n=0)
                raise AssertionError("tests/cli/shown.py --update writes it anew:\n" + "\n".join(lines))

        test.says(f"the README shows what {command[2:]} prints", is_shown)

    def has_blocks(test, folder):
        if len(blocks) < 4:
            raise AssertionError(f"found {len(blocks)} blocks, expected at least 4")

    test.says("the README shows some results", has_blocks)
    print(f"1..{test.number}")


main(sys.argv[1:])
