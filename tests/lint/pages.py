#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# What the pages promise, holds: every command of a code block marked `sh runnable` ends with exit code 0 and says something
# on stdout, every command of the README's table has a help page, and every command stands there. One TAP line each.
# Commands that lack a part of the machine are skipped.
#
#   pages.py ROOT TAILOR
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 60
MISSING = 3  # the exit code for a part that this machine lacks, as NVRTC
PAGES = ("README.md", "experiments/README.md", "docs/counters.md", "docs/database.md", "docs/explain.md",
         "docs/from_your_model.md", "docs/report.md", "docs/simulator.md", "docs/tutorial.md")


def runnable(text):
    """The commands of blocks marked runnable: lines that begin with `tailor`; `\\` at the end of a line continues it."""
    for block in re.findall(r"^```sh runnable\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.split(" #")[0].removeprefix("$ ").strip()
            if line:
                yield shlex.split(line)


def listed(text):
    """Commands that a table row or a sentence of the page names as `tailor NAME`."""
    return sorted({name for name in re.findall(r"`tailor ([a-z-]+)", text)})


def fault_of(binary, words, root, folder):
    """What is wrong with running the command, or nothing; LookupError when the machine lacks a part. Relative paths start
    at ROOT; what it writes goes to `folder`."""
    if words[0] != "tailor":
        return f"a runnable block holds {words[0]!r}, expected tailor"
    for option in ("-o", "--output", "--db", "--store"):
        if option in words:
            words[words.index(option) + 1] = str(Path(folder) / words[words.index(option) + 1])
    words = [str(Path(folder) / word) if word.endswith(".db") else word for word in words]
    try:
        result = subprocess.run([binary, *words[1:]], cwd=root, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"took over {LIMIT_S} s"
    if result.returncode == MISSING:
        raise LookupError(result.stderr.strip().splitlines()[0] if result.stderr.strip() else "a part is missing")
    if result.returncode != 0:
        return f"exit code {result.returncode}: {result.stderr.strip()[-400:]}"
    return None if result.stdout.strip() or set(words) & {"-o", "--output"} else "says nothing on stdout"


def main():
    root, binary = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    if not binary.exists():
        print("1..1\nok 1 - commands of the pages # SKIP tailor is not built")
        return
    binary = binary.resolve()
    number = 0

    def verdict(what, fault):
        nonlocal number
        number += 1
        print(f"{'not ok' if fault else 'ok'} {number} - {what}")
        for line in (fault or "").splitlines():
            print(f"# {line}")

    pages = {page: (root / page).read_text(encoding="utf-8") for page in PAGES if (root / page).exists()}
    commands = [words for text in pages.values() for words in runnable(text)]
    verdict("the pages have commands to run", None if commands else "found no block marked `sh runnable`")
    with tempfile.TemporaryDirectory() as folder:
        for words in commands:
            try:
                verdict("runs: " + shlex.join(words), fault_of(str(binary), list(words), root, folder))
            except LookupError as missing:
                number += 1
                print(f"ok {number} - runs: {shlex.join(words)} # SKIP {missing}")
        named = listed(pages.get("README.md", ""))
        table = subprocess.run([binary, "list", "commands", "--format", "json"], capture_output=True, text=True, check=True)
        known = sorted(row["command"] for row in json.loads(table.stdout)["results"])
        absent = [name for name in known if name not in named]
        verdict("the README has every command", f"it does not name: {', '.join(absent)}" if absent or not known else None)
        for name in named:
            verdict(f"has help: tailor {name}", fault_of(str(binary), ["tailor", name, "--help"], root, folder))
    print(f"1..{number}")


main()
