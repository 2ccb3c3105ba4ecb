#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# What the pages promise, holds. Every line of a code block that calls tailor is executed: in order, page by page, in a folder
# that looks like the repository's root, and it must end with 0 (with N in blocks marked `sh ends N`) and say something. A
# name that stands for the reader's own file is replaced by one that is there (STAND_INS), and what wants a GPU gets the
# stand-in GPU. Blocks marked `python runnable` run too. Lines that call something else have a test of their own
# (ELSEWHERE). Every command of the README's table has a help page, and every command stands there. One TAP line each.
# Commands that lack a part of the machine are skipped.
#
#   pages.py ROOT TAILOR [FAKE_GPU]
import importlib.util
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 120
MISSING = 3  # the exit code for a part that this machine lacks, as NVRTC
PAGES = ("README.md", "CONTRIBUTING.md", "experiments/README.md", "docs/*.md")

# Names of a reader's own files in examples, and what takes their place.
STAND_INS = {"MODEL": "data/models/softmax_fwd_f32_4096x1024.hlo", "MODEL.hlo": "data/models/softmax_fwd_f32_4096x1024.hlo",
             "model.hlo": "data/models/softmax_fwd_f32_4096x1024.hlo", "DIR": "tests/data/xla_small/dump",
             "dump": "tests/data/xla_small/dump", "dump/layer.hlo": "tests/data/xla_small/model.hlo",
             "neusight_train.csv": "own.csv", "convolution_a100.csv": "space.csv"}
# The model of XLA's dump, where both are named.
DUMPED = "tests/data/xla_small/model.hlo"
# Databases that examples name without having made them: what the stand-in GPU measured, and a table.
CAMPAIGNS = ("campaign.db", "all.db")
# On the stand-in GPU, which executes every launch on the simulator, a short measurement.
SHORT = {"profile": {"--stop": "quick", "--top": "1", "--image": "ptx"}, "import-xla": {"--stop": "quick"},
         "microbench": {"--stop": "quick", "--only": "launch", "--image": "ptx"}, "explain": {"--image": "ptx"}}
SHORT_MODULE = {"--strategy": "stitch-v1", "--rounds": "2"}
# Lines that call something else: how they begin, and which test executes that.
ELSEWHERE = {"./run": "", "./test": "", "F=": "", "tools/xla-dump": "xla-dump", "tools/gpu-campaign": "gpu-campaign",
             "tools/gpu-import": "gpu-campaign", "tailor-campaign/": "gpu-campaign", "meson setup": "install", "c++": "install",
             "./price": "install"}
TABLE = ("device,operation,shape,blocks,threads,read_mb,written_mb,time_us\n" +
         "".join(f"h200,scale f32,{k},{256 * k},256,{k},{k},{4 + k / 2}\n" for k in range(1, 60)))
SPACE = "x,y,time_ms\n" + "".join(f"{x},{y},{1 + abs(x * y - 40)}\n" for x in range(1, 21) for y in range(1, 21))


class Missing(Exception):
    """The machine lacks a part."""


def blocks(text):
    """Mark and lines of each code block; a `\\` at the end of a line continues it."""
    for mark, body in re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield mark, body.replace("\\\n", " ")


def commands(mark, body):
    """The command lines of a block: all lines of shell, and what stands behind a prompt elsewhere."""
    for line in body.splitlines():
        if mark.startswith("sh"):
            line = line.split(" #")[0].strip().removeprefix("$ ")
            if line and not line.startswith("#"):
                yield line
        elif line.startswith("$ "):
            yield line[2:].split(" | ")[0]


def listed(text):
    """Commands that a table row or a sentence of the page names as `tailor NAME`."""
    return sorted({name for name in re.findall(r"`tailor ([a-z-]+)", text)})


class Stage:
    """A folder that looks like the repository to who only reads it, with what examples take for granted."""

    def __init__(self, root, binary, fake, folder):
        self.folder, self.binary, self.fake = Path(folder), binary, fake
        for name in ("data", "docs", "tests", "experiments"):
            (self.folder / name).symlink_to(root / name)
        (self.folder / "experiments").unlink()  # databases go beside it
        shutil.copytree(root / "experiments", self.folder / "experiments")
        (self.folder / "own.csv").write_text(TABLE)
        (self.folder / "space.csv").write_text(SPACE)
        (self.folder / "published.txt").write_text("".join(self.observation(root, rows) for rows in range(64, 4160, 64)))
        shutil.copy(root / "data/calibrations/uncalibrated.json", self.folder / "mine.json")
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "tailor").symlink_to(binary)
        self.env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
        self.campaign = False
        if fake:
            first, *others = CAMPAIGNS
            self.campaign = self.answer(self.on_fake(["profile", STAND_INS["MODEL"], "--device", "h200", "--store", first])).returncode == 0
            self.answer(["db", "import", "own.csv", first])
            for name in others if self.campaign else ():
                shutil.copy(self.folder / first, self.folder / name)

    def answer(self, words):
        return subprocess.run([self.binary, *words], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=LIMIT_S)

    def on_fake(self, words):
        """The words for the stand-in GPU, and for a short measurement on it."""
        if "--driver" not in words:
            words = [*words, "--driver", self.fake, "--cupti", self.fake, "--nvml", self.fake]
        short = {**SHORT.get(words[0], {}), **(SHORT_MODULE if words[0] == "profile" and "--module" in words else {})}
        for option, value in short.items():
            words = words if option in words else [*words, option, value]
        return [*words, "--no-odd-shape"] if "--xla" in words else words

    @staticmethod
    def observation(root, rows):
        """The line that docs/database.md shows, of a kernel of so many rows on an H200."""
        page = (root / "docs/database.md").read_text(encoding="utf-8")
        line = " ".join(re.search(r"```\n(observation .*?)```", page, re.DOTALL)[1].split())
        for key, value in (("device", '"h200"'), ("shape", f'"{rows}x1024"'), ("source", f'"table.csv row {rows}"'), ("blocks", rows), ("read", 4096 * rows),
                           ("written", 4096 * rows), ("time", 3e-6 + 3e-9 * rows), ("low", 2e-6 + 3e-9 * rows), ("high", 4e-6 + 3e-9 * rows)):
            line = re.sub(rf'\b{key}=("[^"]*"|\S+)', f"{key}={value}", line)
        return line + "\n"

    def fault_of(self, words, ends=0):
        """What is wrong with running tailor with these words, or nothing."""
        if not self.campaign and set(words) & {*CAMPAIGNS, "h200.jsonl.gz"}:
            raise Missing("the stand-in GPU has measured nothing")
        dumped = {"MODEL.hlo": DUMPED} if "--xla" in words else {}
        words = [{**STAND_INS, **dumped}.get(word, word) for word in words]
        gpu = words[0] == "microbench" or "gpu" in words or words[0] == "profile" and "replay" not in words
        if "$F" in words or gpu:
            if not self.fake:
                raise Missing("the stand-in GPU is not built")
            words = self.on_fake([self.fake if word == "$F" else word for word in words])
        try:
            result = self.answer(words)
        except subprocess.TimeoutExpired:
            return f"took over {LIMIT_S} s"
        if result.returncode == MISSING and ends != MISSING:
            raise Missing(result.stderr.strip().splitlines()[0] if result.stderr.strip() else "a part is missing")
        if result.returncode != ends:
            return f"exit code {result.returncode}, expected {ends}: {result.stderr.strip()[-400:]}"
        wrote = set(words) & {"-o", "--output", "--folder", "--write", "--recorded"}
        return None if result.stdout.strip() or wrote or result.stderr.strip() else "says nothing"

    def fault_of_script(self, text):
        for name in re.findall(r"^import (\w+)", text, re.MULTILINE):
            if importlib.util.find_spec(name) is None:
                raise Missing(f"Python has no {name}")
        done = subprocess.run([sys.executable, "-c", text], cwd=self.folder, env=self.env, capture_output=True, text=True,
                              timeout=LIMIT_S)
        if done.returncode != 0:
            return done.stderr[-600:]
        return None if done.stdout.strip() else "prints nothing"


def line_of(stage, line, ends):
    """What is wrong with a command line of a page, or nothing."""
    if line.startswith("./run "):
        line = "tailor" + line[len("./run"):]
    words = shlex.split(line.split(" | ")[0])
    if words[0] == "sqlite3":
        rows = sqlite3.connect(f"file:{stage.folder / words[1]}?mode=ro", uri=True).execute(words[2]).fetchall()
        return None if rows else "finds nothing"
    if words[0] != "tailor":
        known = [start for start in ELSEWHERE if line.startswith(start)]
        return None if known else "calls neither tailor nor what ELSEWHERE names: nothing executes it"
    if "..." in line:
        return None  # a form, not a command
    return stage.fault_of(words[1:], ends)


def main():
    root, binary = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    if not binary.exists():
        print("1..1\nok 1 - commands of the pages # SKIP tailor is not built")
        return
    fake = str(Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 and Path(sys.argv[3]).is_file() else None
    number = 0

    def verdict(what, ask):
        nonlocal number
        number += 1
        try:
            fault, skip = ask(), ""
        except Missing as part:
            fault, skip = None, f" # SKIP {part}"
        print(f"{'not ok' if fault else 'ok'} {number} - {what}{skip}", flush=True)
        for line in (fault or "").splitlines():
            print(f"# {line}")

    pages = [path for pattern in PAGES for path in sorted(root.glob(pattern))]
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(root, str(binary.resolve()), fake, folder)
        for page in pages:
            for mark, body in blocks(page.read_text(encoding="utf-8")):
                ends = int(mark.removeprefix("sh ends ")) if mark.startswith("sh ends ") else 0
                for line in commands(mark, body):
                    done += 1
                    verdict(f"{page.relative_to(root)}: {line}", lambda line=line, ends=ends: line_of(stage, line, ends))
                if mark == "python runnable":
                    verdict(f"{page.relative_to(root)}: a script", lambda body=body: stage.fault_of_script(body))
        verdict("the pages have commands to run", lambda: None if done > 60 else f"found {done}")
        named = listed((root / "README.md").read_text(encoding="utf-8"))
        table = subprocess.run([binary, "list", "commands", "--format", "json"], capture_output=True, text=True, check=True)
        known = sorted(row["command"] for row in json.loads(table.stdout)["results"])
        absent = [name for name in known if name not in named]
        verdict("the README has every command", lambda: f"it does not name: {', '.join(absent)}" if absent or not known else None)
        for name in named:
            verdict(f"has help: tailor {name}", lambda name=name: stage.fault_of([name, "--help"]))
    print(f"1..{number}")


main()
