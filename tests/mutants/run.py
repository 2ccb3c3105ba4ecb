#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Would the tests see it? Plants one fault after another in a copy of the source, builds what the change reaches, and runs
# suites until one fails. In: files NAME.mutant beside this one, each a text that stands once in a source file and what
# stands there instead. Out: a line per fault, a table per room, and a record that a later call goes on from.
#
#   run.py ROOT BUILD --check                the list alone: every text stands where it should (a quick test, in TAP)
#   run.py ROOT BUILD [--jobs N] [--again | --survivors] [--named] [--score] [NAME ...]
#   run.py ROOT BUILD [--jobs N] [--named] --draw N [--seed S] FILE ...     slips by chance instead of the list (drawn.py)
#
# A copy lies in BUILD/mutants/K, with a build folder of its own, one for each job. Its suites must all be green before
# the first fault is planted, and their times are what a suite may take, ten times over: one that hangs has seen the
# fault. Suites that the fault's author named come first, then all others of a quick run that the change reaches, each as
# thoroughly as continuous integration runs it (TAILOR_BROAD): a quick run takes a share. The record
# (BUILD/mutants/results.jsonl) is keyed by the fault and by the whole source, so a changed test asks again; with
# --survivors only about faults that were not seen before. A fault that survives costs the time of all suites; with --named
# only the suites of its entry are asked, which finds most faults that need a test in a tenth of the time.
import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import drawn

HERE = Path(__file__).resolve().parent
TEXTS = ("lint", "drawn", "xla-reads", "mutants")  # judge texts or another program, not what the code does
SEEN, SURVIVED, BROKEN = "seen", "survived", "does not compile"
OPEN = "not by those named"  # the suites that the entry names were asked, the others not yet


class Mutant:
    """One fault. `survives` is why no test can be expected to see it; empty for nearly all."""

    def __init__(self, name, keys, before, after):
        self.name, self.room = name, name.partition("/")[0]
        self.before, self.after = before, after
        self.file, self.why, self.survives = keys.get("file", ""), keys.get("why", ""), keys.get("survives", "")
        self.suites = [re.sub("^codegen_(lower|structure)$", r"codegen \1", word) for word in keys.get("seen by", "").split()]
        text = f"{sorted(keys.items())}\n{before}\n{after}"
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def fault_of_form(self, root, suites):
        """What is wrong with the entry as it stands; None when it can be planted."""
        path = root / self.file
        if not self.file or not self.why or not self.suites:
            return "it lacks one of `file:`, `why:`, `seen by:`"
        if not path.is_file():
            return f"there is no {self.file}"
        unknown = [name for name in self.suites if name not in suites]
        if suites and unknown:
            return f"there is no suite {', '.join(unknown)}"
        if self.before == self.after:
            return "it changes nothing"
        count = path.read_text(encoding="utf-8").count(self.before)
        return None if count == 1 else f"its text stands {count} times in {self.file}, expected once"


def all_mutants():
    mutants = []
    for path in sorted(HERE.glob("*/*.mutant")):
        head, _, rest = path.read_text(encoding="utf-8").partition("--- before\n")
        before, _, after = rest.partition("--- after\n")
        keys = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        mutants.append(Mutant(f"{path.parent.name}/{path.stem}", keys, before, after))
    return mutants


def drawn_mutants(root, files, count, seed):
    """Asked first are the suites that most entries of the list name for the same folder."""
    suites = defaultdict(lambda: defaultdict(int))
    for mutant in all_mutants():
        for name in mutant.suites:
            suites[os.path.dirname(mutant.file)][name.replace(" ", "_")] += 1
    mutants = []
    for name, file, why, before, after in drawn.draw(root, files, count, seed):
        known = suites[os.path.dirname(file)]
        first = " ".join(sorted(known, key=lambda suite: -known[suite])[:3])
        mutants.append(Mutant(name, {"file": file, "why": why, "seen by": first}, before, after))
    return mutants


def quick_suites(build):
    """Quick tests by name, as Meson runs them, with the programs they need as paths within the build folder."""
    def ask(what):
        return json.loads(subprocess.run(["meson", "introspect", what, str(build)], capture_output=True, text=True, check=True).stdout)

    files = {target["id"]: [os.path.relpath(name, build) for name in target["filename"]] for target in ask("--targets")}
    suites = {}
    for test in ask("--tests"):
        if any(suite.endswith((":slow", ":user")) for suite in test["suite"]) or test["name"] in TEXTS:
            continue
        test["programs"] = [name for target in test["depends"] for name in files.get(target, [])]
        suites[test["name"]] = test
    return suites


class Copy:
    """The source once more, with a build folder, in which faults are planted."""

    def __init__(self, root, build, number):
        self.folder = build / "mutants" / str(number)
        self.source, self.build = self.folder / "source", self.folder / "source/build"
        self.main_build = build
        self.refresh(root)

    def refresh(self, root):
        """Files that differ are written; what is no longer there is removed."""
        names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        names = {name for name in names if (root / name).is_file()}
        for name in names:
            target = self.source / name
            if not target.exists() or target.read_bytes() != (root / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
                target.touch()
        for path in self.source.rglob("*"):
            inside = path.relative_to(self.source)
            if path.is_file() and inside.parts[0] not in ("build", ".venv") and str(inside) not in names:
                path.unlink()
        wheels = root / ".venv"
        if wheels.exists() and not (self.source / ".venv").exists():
            (self.source / ".venv").symlink_to(wheels)

    def configure(self):
        known = json.loads(subprocess.run(["meson", "introspect", "--buildoptions", str(self.main_build)], capture_output=True,
                                          text=True, check=True).stdout)
        mine = {"third_party_data", "lanes", "optimization", "debug"}
        options = [f"-D{row['name']}={row['value']}" for row in known if row["name"] in mine]
        done = subprocess.run(["meson", "setup", *options, self.build, self.source], capture_output=True, text=True)
        if done.returncode != 0 and not (self.build / "build.ninja").exists():
            raise SystemExit(f"mutants: Meson could not configure the copy: {done.stdout[-600:]}")
        subprocess.run(["ninja", "-C", self.build, "build.ninja"], capture_output=True)  # of an earlier source
        self.suites = quick_suites(self.build)

    def make(self, programs):
        # So that a compiler's cache, where there is one, knows the files of one copy in the others.
        env = {**os.environ, "CCACHE_BASEDIR": str(self.source), "CCACHE_NOHASHDIR": "1"}
        done = subprocess.run(["ninja", "-C", self.build, "--quiet", *programs], capture_output=True, text=True, env=env)
        return None if done.returncode == 0 else done.stdout[-800:]

    def run(self, name, limit):
        """(whether the suite is green, seconds)."""
        test = self.suites[name]
        command = list(test["cmd"])
        if command[0].endswith("_test"):  # a program of doctest
            command.append("--abort-after=1")
        started = time.monotonic()
        try:
            done = subprocess.run(command, cwd=test["workdir"] or self.build, env={**os.environ, **test["env"], "TAILOR_BROAD": "1"},
                                  capture_output=True, text=True, timeout=limit, errors="replace")
        except subprocess.TimeoutExpired:
            return False, limit
        bad = any(line.startswith("not ok") for line in done.stdout.splitlines())
        return done.returncode == 0 and not bad, time.monotonic() - started

    def build_all(self, names):
        fault = self.make([program for name in names for program in self.suites[name]["programs"]])
        if fault:
            raise SystemExit(f"mutants: the copy does not build:\n{fault}")

    def baseline(self, names):
        """Seconds of these suites without a fault. All must be green."""
        times, red = {}, []
        for name in names:
            good, seconds = self.run(name, 1200)
            if good:
                times[name] = seconds
            else:
                red.append(name)
        if red:
            raise SystemExit(f"mutants: without a fault these suites fail: {', '.join(red)}")
        return times

    def judge(self, mutant, times, named_only):
        """Plants the fault, asks suites until one sees it, and takes it out again."""
        path = self.source / mutant.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace(mutant.before, mutant.after), encoding="utf-8")
        started = time.monotonic()
        try:
            outcome, by = self.ask(mutant, times, named_only)
        finally:
            path.write_text(whole, encoding="utf-8")
        return {"name": mutant.name, "room": mutant.room, "outcome": outcome, "by": by,
                "seconds": round(time.monotonic() - started, 1)}

    def ask(self, mutant, times, named_only):
        rest = [] if named_only else [name for name in times if name not in mutant.suites]
        for name in [name for name in mutant.suites if name in times] + sorted(rest, key=lambda name: times[name]):
            fault = self.make(self.suites[name]["programs"])
            if fault:
                return BROKEN, fault.strip().splitlines()[-1][:200]
            good, _ = self.run(name, 60 + 10 * times[name])
            if not good:
                return SEEN, name
        return (OPEN if named_only else SURVIVED), ""


def source_digest(root):
    """Of everything that decides what a suite says, the list of faults apart."""
    names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "src", "tests", "data", "meson.build"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    total = hashlib.sha256()
    for name in sorted(names):
        if not name.startswith("tests/mutants/") and (root / name).is_file():
            total.update(name.encode() + b"\0" + (root / name).read_bytes())
    return total.hexdigest()[:16]


def kept(record):
    return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []


def table(rows, mutants):
    """Seen and planted per room, and who survived and why."""
    reasons = {mutant.name: mutant.survives for mutant in mutants}
    rooms = defaultdict(lambda: [0, 0])
    for row in rows:
        rooms[row["room"]][0] += row["outcome"] == SEEN
        rooms[row["room"]][1] += 1
    width = max(map(len, rooms), default=4)
    print(f"\n{'room':<{width}}  seen  planted  share (%)")
    for room, (seen, planted) in sorted(rooms.items()):
        print(f"{room:<{width}}  {seen:>4}  {planted:>7}  {100 * seen / planted:>9.0f}")
    for row in rows:
        if row["outcome"] != SEEN:
            print(f"{row['outcome']}: {row['name']}" + (f" ({reasons[row['name']]})" if reasons.get(row["name"]) else ""))


def check(root, build, mutants):
    suites = quick_suites(build) if (build / "build.ninja").exists() else {}
    print(f"1..{len(mutants) + 1}")
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    print(f"{'not ok' if twice or not mutants else 'ok'} 1 - there are faults to plant, each under a name of its own"
          + (f"\n# {', '.join(twice)}" if twice else ""))
    for number, mutant in enumerate(mutants, 2):
        fault = mutant.fault_of_form(root, suites)
        print(f"{'not ok' if fault else 'ok'} {number} - {mutant.name} can be planted" + (f"\n# {fault}" if fault else ""))


def main():
    parser = argparse.ArgumentParser(prog="./test --mutants", description="Plants faults and counts those that the quick suites see.")
    parser.add_argument("root", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults, rooms, or patterns of either; all when none is named; with --draw files")
    parser.add_argument("--check", action="store_true", help="only whether each can be planted, as TAP")
    parser.add_argument("--jobs", type=int, default=1, help="copies that work at a time (default 1)")
    parser.add_argument("--again", action="store_true", help="also those whose outcome is on record")
    parser.add_argument("--survivors", action="store_true",
                        help="only those that nothing on record saw, in this source or an earlier one: to see what a new test sees")
    parser.add_argument("--named", action="store_true", help="ask only the suites that the entries name")
    parser.add_argument("--draw", type=int, metavar="N", help="N slips by chance for each FILE named, instead of faults of the list")
    parser.add_argument("--seed", type=int, default=1, help="of --draw and of the order (default 1)")
    parser.add_argument("--score", action="store_true", help="only the table of what is on record")
    options = parser.parse_intermixed_args()
    root, build = options.root.resolve(), options.build.resolve()
    mutants = drawn_mutants(root, options.names, options.draw, options.seed) if options.draw else all_mutants()
    if options.check:
        return check(root, build, mutants)
    wanted = mutants if options.draw else [mutant for mutant in mutants if not options.names or any(
        fnmatch.fnmatch(mutant.name, name) or fnmatch.fnmatch(mutant.room, name) for name in options.names)]
    record, digest = build / "mutants/results.jsonl", source_digest(root)
    known = {row["name"]: row for row in kept(record)
             if options.score or row["source"] == digest or (options.survivors and row["outcome"] == SEEN)} if not options.again else {}
    if not options.named and not options.score:
        known = {name: row for name, row in known.items() if row["outcome"] != OPEN}
    digests = {mutant.name: mutant.digest for mutant in mutants}
    known = {name: row for name, row in known.items() if digests.get(name) == row["mutant"]}
    rows = [known[mutant.name] for mutant in wanted if mutant.name in known]
    if not options.score:
        rows += plant([mutant for mutant in wanted if mutant.name not in known], root, build, digest, record, options)
    table(rows, mutants)
    excused = {mutant.name for mutant in mutants if mutant.survives}
    seen = sum(row["outcome"] == SEEN for row in rows)
    listed = sum(row["outcome"] == SURVIVED and row["name"] in excused for row in rows)
    print(f"{seen} passed, {len(rows) - seen - listed} failed, {listed} skipped")
    return 0 if rows and seen + listed == len(rows) else 1


def plant(pending, root, build, digest, record, options):
    """Rows of those that were planted; each is on record as soon as it is known."""
    suites, rows, jobs = quick_suites(build), [], options.jobs
    for mutant in list(pending):
        fault = mutant.fault_of_form(root, suites)
        if fault:
            pending.remove(mutant)
            rows.append({"name": mutant.name, "room": mutant.room, "outcome": "stale", "by": fault})
            print(f"stale     {mutant.name}: {fault}", flush=True)
    if not pending:
        return rows
    record.parent.mkdir(parents=True, exist_ok=True)
    random.Random(options.seed).shuffle(pending)  # what is known when somebody stops it early speaks for all rooms
    copies, times = queue.Queue(), {}
    asked = sorted({name for mutant in pending for name in mutant.suites}) if options.named else sorted(suites)

    def prepare(number):
        copy = Copy(root, build, number)
        copy.configure()
        copy.build_all(asked)
        if number == 0:
            times.update(copy.baseline(asked))  # the copies are the same
        copies.put(copy)

    def work(mutant):
        copy = copies.get()
        try:
            return mutant, copy.judge(mutant, times, options.named)
        finally:
            copies.put(copy)

    print(f"building {min(jobs, len(pending))} copies and running their suites without a fault", file=sys.stderr, flush=True)
    for number in range(min(jobs, len(pending))):  # one after another: the compiler's cache serves all but the first
        prepare(number)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        started = time.monotonic()
        for done, future in enumerate(concurrent.futures.as_completed([pool.submit(work, mutant) for mutant in pending]), 1):
            mutant, row = future.result()
            row |= {"mutant": mutant.digest, "source": digest}
            rows.append(row)
            with record.open("a") as file:
                file.write(json.dumps(row) + "\n")
            left = (time.monotonic() - started) / done * (len(pending) - done)
            print(f"{row['outcome']:<9} {mutant.name}{' by ' + row['by'] if row['by'] else ''} ({row['seconds']} s; "
                  f"{done} of {len(pending)}, about {left / 60:.0f} min left)", flush=True)
    return rows


sys.exit(main())
