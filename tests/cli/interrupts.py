#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Ctrl-C ends every command soon, by itself and without loss. In: the program, the source folder, the stand-in for a GPU.
# Out: one TAP line for each command line. Called by `./test cli`.
#
#   interrupts.py [--fake=FILE] TAILOR SOURCE_DIR
#
# Which commands there are is asked of the program: one without a case here fails. Each case gets an input that keeps it
# busy for many seconds (a model of many nodes or many elements, a database of many rows, a kernel that loops, a driver
# that hangs) and SIGINT at one or more moments. It must end within half a second, with exit code 130 and the word for it,
# and not because the last resort ended it from outside; where that happened it is tried again, since a busy machine can
# be the reason. Where it was already done it must have said so with another exit code; then earlier moments are tried,
# since a machine can be quick too, and at least one must meet it at work, but for commands that are done in no time. Afterwards no half-written file may lie about, every database
# must be sound, and a merge that was interrupted must not have happened. On a machine with more runnable processes than
# processors the half second and the moments are stretched by that ratio.
import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT = 0.5  # seconds
THOROUGH = "TAILOR_THOROUGH" in os.environ  # else smaller inputs, so that later steps come sooner, and fewer moments
SHARE = 1.0 if THOROUGH else 0.15
EARLIEST = 0.05  # seconds; before that a command may not yet listen
INTERRUPTED = 130
FROM_OUTSIDE = "does not look for an interrupt and was cut off"
DEVICE = ["--device", "h200"]


def chain(path, nodes, shape):
    """A model of one long chain with a library call now and then, so that there are many groups too."""
    lines = [f"HloModule chain, entry_computation_layout={{({shape})->{shape}}}", "", "ENTRY main {",
             f"  n0 = {shape} parameter(0)"]
    for i in range(1, nodes):
        operation = "negate" if i % 3 else "exponential"
        if i % 40 == 0:
            lines.append(f"  n{i} = {shape} custom-call(n{i - 1}), custom_call_target=\"opaque\"")
        else:
            lines.append(f"  n{i} = {shape} {operation}(n{i - 1})")
    lines += [f"  ROOT y = {shape} negate(n{nodes - 1})", "}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def npy_of_zeros(path, rows, columns):
    """An array of f32 as NumPy would save it; the file has a hole."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    os.truncate(path, path.stat().st_size + 4 * rows * columns)
    return path


def copied_dump(source, folder):
    shutil.copytree(source / "tests/data/xla_small/dump", folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    return folder


def long_dump(source, folder):
    """XLA's dump of a small model whose module has a long computation that nobody calls."""
    module = next(copied_dump(source, folder).glob("*after_optimizations.txt"))
    steps = "\n".join(f"  n{i} = f32[64]{{0}} negate(n{i - 1})" for i in range(1, int(700_000 * SHARE)))
    unused = f"unused {{\n  n0 = f32[64]{{0}} parameter(0)\n{steps}\n  ROOT y = f32[64]{{0}} negate(n0)\n}}\n\n"
    text = module.read_text(encoding="utf-8")
    at = re.search(r"^(%|ENTRY)", text, re.MULTILINE).start()
    module.write_text(text[:at] + unused + text[at:], encoding="utf-8")
    return folder


def busy_dump(source, folder):
    """The same whose kernels count for a long time before they begin."""
    loop = ("\n{\n\t.reg .b64 %busy;\n\t.reg .pred %going;\n\tmov.u64 %busy, 0;\nBUSY:\n\tadd.s64 %busy, %busy, 1;\n"
            "\tsetp.lt.s64 %going, %busy, 90000000000;\n\t@%going bra BUSY;\n")
    for kernel in copied_dump(source, folder).glob("*.ptx"):
        kernel.write_text(kernel.read_text(encoding="utf-8").replace("\n{\n", loop, 1), encoding="utf-8")
    return folder


def fill(path, plans, samples):
    """Adds plans with estimates to the first group of a database, and measurements of a hundred samples each."""
    with sqlite3.connect(path, isolation_level=None) as base:
        base.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -400000; BEGIN")
        upto = "WITH RECURSIVE upto(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM upto WHERE i < {})"
        # The 16 bytes of an id are those of a text here, and the texts of the plans are words after those that are there.
        last = {name: base.execute(f"SELECT max(number) FROM {name}").fetchone()[0] for name in ("words", "stored_plans")}
        base.execute(f"{upto.format(plans)} INSERT INTO words SELECT {last['words']} + i, 'plan ' || i FROM upto")
        own = {"number": f"{last['stored_plans']} + i", "hash": "CAST(printf('%016x', i) AS BLOB)",
               "head": f"{last['words']} + i"}
        columns = [row[1] for row in base.execute("PRAGMA table_info(stored_plans)")]
        base.execute(f"{upto.format(plans)} INSERT INTO stored_plans ({', '.join(columns)}) "
                     f"SELECT {', '.join(own.get(name, name) for name in columns)} FROM upto, "
                     "(SELECT * FROM stored_plans LIMIT 1)")
        columns = [row[1] for row in base.execute("PRAGMA table_info(stored_estimates)")]
        own = {"number": f"({last['stored_plans']} + i) << 16 | (number & 65535)"}
        base.execute(f"{upto.format(plans)} INSERT INTO stored_estimates ({', '.join(columns)}) "
                     f"SELECT {', '.join(own.get(name, name) for name in columns)} FROM upto, "
                     "(SELECT * FROM stored_estimates LIMIT 1)")
        rest = ", ".join(row[1] for row in base.execute("PRAGMA table_info(measurements)") if row[1] != "measurement_id")
        base.execute(f"{upto.format(samples // 100)} INSERT INTO measurements SELECT printf('%032x', i), {rest} FROM upto, "
                     "(SELECT * FROM measurements LIMIT 1)")
        base.execute(f"{upto.format(samples)} INSERT INTO samples SELECT printf('%032x', 1 + (i - 1) / 100), "
                     "i % 100, duration_s, sm_clock_hz, throttle FROM upto, (SELECT * FROM samples LIMIT 1)")
        base.execute("COMMIT")
    base.close()


def older_rows(source, path, plans):
    """A database of schema version 2 with so many plans more, each with an estimate."""
    with sqlite3.connect(path) as base:
        base.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;" +
                           gzip.decompress((source / "tests/store/version_2.sql.gz").read_bytes()).decode())
        for table in ("plans", "estimates"):
            columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
            own = {"plan_id": "printf('%032x', i)", "text": "text || ' and ' || i"}
            base.execute(f"WITH RECURSIVE upto(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM upto WHERE i < {plans}) "
                         f"INSERT INTO {table} SELECT {', '.join(own.get(name, name) for name in columns)} FROM upto, "
                         f"(SELECT * FROM {table} LIMIT 1)")
    base.close()


def plans_in(path):
    base = sqlite3.connect(path)
    # A command that was stopped before it made the tables has stored nothing.
    there = base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'plans'").fetchone()[0]
    count = base.execute("SELECT count(*) FROM plans").fetchone()[0] if there else 0
    base.close()
    return count


def times(path, rows):
    """Measurements that somebody might have taken: a table of so many kernels, each a little off a straight line."""
    lines = ["device,operation,shape,blocks,threads,read_mb,written_mb,time_us"]
    for i in range(rows):
        blocks = 1 + i * 7919 % 100_000
        lines.append(f"h200,op{i % 7} f32,{i}x1,{blocks},128,{blocks * 0.002},{blocks * 0.002},{3 + blocks * 0.001 + i % 13 / 10}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def space(path, rows):
    """Configurations of a kernel, each with its time."""
    path.write_text("x,y,time_ms\n" + "".join(f"{i},{i * 7919 % 64},{1 + i * 31 % 97}\n" for i in range(rows)), encoding="utf-8")
    return path


# A kernel that runs for minutes.
ENDLESS = """// launch: grid=4096 block=256 limit=1000000000000
// buffer: y f32[256] both
extern "C" __global__ void endless(float* y) {
  float v = y[threadIdx.x];
  for (int i = 0; i < 1000000000; ++i) v = v * 0.5f + 1;
  y[threadIdx.x] = v;
}
"""


class Inputs:
    """What the cases work on; `fake` are options that name the stand-in, nothing without one."""

    def __init__(self, tailor, source, fake, folder):
        self.tailor, self.folder, self.source = tailor, folder, source
        self.fake = [word for option in ("--driver", "--cupti", "--nvml") for word in (option, fake)] if fake else []
        self.nodes, self.cells = str(folder / "nodes.hlo"), str(folder / "cells.hlo")
        chain(Path(self.nodes), int(400_000 * SHARE), "f32[64,128]{1,0}")
        chain(Path(self.cells), 30, "f32[1024,8192]{1,0}")
        self.zeros = str(npy_of_zeros(folder / "zeros.npy", 1024, 8192))
        self.long_dump, self.busy_dump = str(long_dump(source, folder / "long")), str(busy_dump(source, folder / "busy"))
        self.sweep = self.sweep_of(self.nodes, "long", True)
        self.times = str(times(folder / "times.csv", int(40_000 * SHARE)))
        self.space = str(space(folder / "space.csv", 3000))
        self.endless_kernel = str(folder / "endless.cu")
        Path(self.endless_kernel).write_text(ENDLESS, encoding="utf-8")
        self.cache = ["--cache", str(folder / "cache")]
        self.hanging = self.fake and self.hanging_driver(Path(fake))
        self.database = str(folder / "small.db")
        # Its kernel is compiled once, so that a signal later meets the execution.
        warming = self.start("check", self.cells, *DEVICE, "--top", "1", "--blocks", "1", *self.cache)
        self.run("sweep", self.sweep_of(str(source / "data/models/softmax_fwd_f32_4096x1024.hlo"), "short", False), "--store",
                 self.database)
        if self.fake:
            self.run("microbench", *DEVICE, *self.fake, "--only", "launch", "--image", "ptx", "--stop", "quick", *self.cache,
                     "--store", self.database)
            self.recorded = str(folder / "recorded.jsonl")
            some = str(folder / "some.db")
            shutil.copy(self.database, some)
            fill(some, 0, int(200_000 * SHARE))
            self.run("db", "export", "--recorded", self.recorded, some)
        self.rows = str(folder / "rows.db")
        shutil.copy(self.database, self.rows)
        share = max(SHARE, 0.3)  # printing rows is quick
        fill(self.rows, int(120_000 * share), int(500_000 * share))
        self.older = str(folder / "older.db")
        older_rows(source, self.older, int(120_000 * share))
        self.plans = plans_in(self.rows)
        self.end(warming)

    def start(self, *words):
        return subprocess.Popen([self.tailor, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self, process):
        messages = process.communicate()[1]
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(process.args)}: {messages}")

    def run(self, *words):
        self.end(self.start(*words))

    def sweep_of(self, model, name, compiles):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({
            "question": "Does it stop?", "models": [model], "devices": ["h200"], "strategies": ["unfused", "stitch-v1"],
            "baseline": "unfused", "cost_model": "projected", "shortlist": 2, "compile": compiles, "arch": "auto", "seed": 1,
            "database": str(self.folder / f"{name}.db"), "report": str(self.folder / f"{name}.report")}), encoding="utf-8")
        return str(path)

    def hanging_driver(self, fake):
        folder = self.folder / "hanging"
        folder.mkdir()
        shutil.copy(fake, folder)
        (folder / "fake_gpu.json").write_text(json.dumps({"failures": [{"call": "cuInit", "act": "hang"}]}), encoding="utf-8")
        return [word for option in ("--driver", "--cupti", "--nvml") for word in (option, str(folder / fake.name))]


class Case:
    """A command line, when it is interrupted (seconds after its start), and whether it may be done in no time. $NEW is a
    path that is not there, another one each time; $COPY is a copy of the database of many rows, $OLDER of an older one.
    `shows` is said as well. One that compiles may be ended from outside, because NVRTC looks at the token at points of its
    own, and one that is done in no time."""

    def __init__(self, *words, at=(0.4,), quick=False, compiles=False, shows=""):
        self.words, self.moments, self.quick, self.compiles, self.shows = list(words), at, quick, compiles, shows


def early(*moments):
    """Moments in work whose length goes with its input's."""
    return tuple(max(moment * SHARE, EARLIEST) for moment in moments)


def later(*moments):
    """Moments in work that goes on for minutes, whatever its input; without thoroughness one, deep in it but sooner."""
    return moments if THOROUGH else (moments[-1] / 1.5,)


def import_cases(i):
    yield Case("import", i.nodes, at=early(0.15, 0.6))
    yield Case("import", i.nodes, "--text", at=early(1.2))


def import_xla_cases(i):
    yield Case("import-xla", i.long_dump, *DEVICE, at=early(0.4))
    yield Case("import-xla", i.busy_dump, *DEVICE, "--compare", "--store", "$NEW")
    if i.fake:
        yield Case("import-xla", i.busy_dump, *DEVICE, "--profiler", "gpu", *i.fake)


def evaluate_cases(i):
    yield Case("evaluate", i.cells, at=later(0.2, 0.6))
    yield Case("evaluate", i.cells, "--folder", "$NEW", at=(0.3,))


def fuse_cases(i):
    yield Case("fuse", i.nodes, "--compare", at=early(0.15, 0.9, 1.7))
    yield Case("fuse", i.nodes, "--why", "--top", "0", at=early(1.5, 3.0)[not THOROUGH:])
    for ending in ("svg", "dot", "hlo"):
        yield Case("fuse", i.nodes, "--to", f"$NEW.{ending}", at=early(1.5, 3.0)[(not THOROUGH) * (ending != "svg"):])


def explore_cases(i):
    yield Case("explore", i.nodes, *DEVICE, at=early(0.4, 1.7))


def explain_cases(i):
    yield Case("explain", i.nodes, *DEVICE, at=early(0.8))
    yield Case("explain", i.cells, *DEVICE, "--simulate", at=later(0.4, 1.4), compiles=True)


def emit_cases(i):
    yield Case("emit", i.nodes, *DEVICE, at=early(0.8))


def check_cases(i):
    yield Case("check", i.cells, *DEVICE, "--top", "8", *i.cache, "--store", "$NEW", at=(2.5 if THOROUGH else 1.6,), compiles=True, shows="interrupted: ")
    yield Case("check", i.cells, *DEVICE, "--top", "1", *i.cache, at=later(0.3, 0.8, 1.7))
    yield Case("check", i.cells, *DEVICE, "--top", "1", *i.cache, "--inputs", f"n0={i.zeros}", at=(0.5,))
    yield Case("check", i.nodes, *DEVICE, "--cache", "$NEW", at=early(1.2), compiles=True)


def validate_cases(i):
    yield Case("validate", i.times, at=early(0.2, 0.6))


def calibrate_cases(i):
    yield Case("calibrate", i.times, *DEVICE, at=early(0.3, 3.0))


def replay_cases(i):
    yield Case("replay", i.space, "--runs", "100000", at=early(0.4, 2.0))


def run_cases(i):
    yield Case("run", i.endless_kernel, at=later(0.3, 1.5), compiles=True)


def sweep_cases(i):
    yield Case("sweep", i.sweep, at=later(0.3, 1.7), compiles=True)
    yield Case("sweep", i.sweep, "--dry-run", at=later(0.3, 1.2), compiles=True, quick=True)


def report_cases(i):
    yield Case("report", i.rows, at=early(0.2, 0.5))
    yield Case("report", i.rows, "--folder", "$NEW", at=early(0.4))


def db_cases(i):
    yield Case("db", "info", i.rows, at=(0.02,), quick=True)
    yield Case("db", "check", i.rows, at=early(0.1, 0.4))
    yield Case("db", "dump", i.rows, at=early(0.4))
    yield Case("db", "migrate", "$OLDER", at=early(0.4, 1.2))
    yield Case("db", "merge", "$NEW", i.rows, at=early(0.3, 0.9))
    if i.fake:
        yield Case("db", "export", "--recorded", "$NEW", i.rows, at=early(0.4))
        yield Case("db", "export", "--format", "csv", "--folder", "$NEW", i.rows, at=early(0.4))
        yield Case("db", "import", i.recorded, "$NEW", at=early(0.2, 0.6))
        yield Case("db", "observations", "$COPY", at=early(0.4))


def profile_cases(i):
    if i.fake:
        once = ["--image", "ptx", "--top", "1", "--no-odd-shape"]
        yield Case("profile", i.cells, *DEVICE, *i.fake, *once, *i.cache, "--store", "$NEW", at=later(0.3, 1.7))
        yield Case("profile", i.cells, *DEVICE, *i.fake, *once, "--module", *i.cache, at=(0.6,))
        yield Case("profile", i.nodes, *DEVICE, *i.hanging, at=(0.9,))


def microbench_cases(i):
    if i.fake:
        yield Case("microbench", *DEVICE, *i.fake, "--image", "ptx", *i.cache, "--store", "$NEW", at=later(0.3, 0.9),
                   compiles=True)


def doctor_cases(i):
    if i.fake:
        yield Case("doctor", *i.hanging)
    yield Case("doctor", at=(0.02,), quick=True)


def counters_cases(i):
    yield Case("counters", *DEVICE, at=(0.01,), quick=True)


def list_cases(i):
    yield Case("list", "ops", at=(0.01,), quick=True)


def devices_cases(i):
    yield Case("devices", at=(0.01,), quick=True)


def every_case(inputs):
    """Those of all commands of the program's table, and of all actions of db."""
    table = subprocess.run([inputs.tailor, "list", "commands", "--format", "csv"], capture_output=True, text=True, check=True)
    cases = []
    for name in [line.split(",")[0] for line in table.stdout.splitlines()[1:]]:
        make = globals().get(name.replace("-", "_") + "_cases")
        if make is None:
            raise SystemExit(f"command {name} has no case here: what keeps it busy, and when is it interrupted?")
        cases += make(inputs)
    refusal = subprocess.run([inputs.tailor, "db", "nothing", "x.db"], capture_output=True, text=True).stderr
    actions = re.search(r"expected one of (.*)", refusal)[1].split(", ")
    for action in actions:
        if not any(case.words[:2] == ["db", action] for case in cases) and inputs.fake:
            raise SystemExit(f"db {action} has no case here")
    return cases


def ends(command, moment, folder):
    """How long the command lived after the signal, its exit code and its messages; nothing when it was done before."""
    with tempfile.TemporaryFile("w+", dir=folder, encoding="utf-8") as messages:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages, cwd=folder)
        time.sleep(moment)
        if process.poll() is not None:
            return None
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        spent = time.monotonic() - began
        messages.seek(0)
        return spent, process.returncode, messages.read()


def losses(inputs, case, new):
    """Whatever an interrupted command left that it should not have. A database into which nothing was written yet is an
    empty file."""
    is_database = "--store" in case.words or case.words[0] == "db" and case.words[1] in ("import", "merge")
    if new.is_file() and (new.read_bytes()[:6] == b"SQLite" or is_database and new.stat().st_size == 0):
        base = sqlite3.connect(new)
        state = base.execute("PRAGMA integrity_check").fetchone()[0]
        base.close()
        if state != "ok":
            yield f"the database is damaged: {state}"
        if case.words[:2] == ["db", "merge"] and plans_in(new) not in (0, inputs.plans):
            yield f"half a merge: {plans_in(new)} plans"
    elif new.is_file():
        yield f"half of an answer was left in {new.name}"


class Verdict:
    """What a case is blamed for: `wrong` stays so, `late` may be the machine's fault. How often it was met at work, and
    how long it lived on at most."""

    def __init__(self):
        self.wrong, self.late, self.met, self.longest = [], [], 0, 0.0


def judged(inputs, case, name):
    verdict = Verdict()
    moments = list(case.moments)
    for turn, moment in enumerate(moments):
        new = inputs.folder / f"new-{name}-{turn}"
        words = [re.sub(r"\$(NEW|COPY|OLDER)", str(new), word) for word in case.words]
        for mark, base in (("$COPY", inputs.rows), ("$OLDER", inputs.older)):
            if mark in case.words:
                shutil.copy(base, new)
        stretch = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        limit = LIMIT * stretch
        # On a busy machine a command begins later and takes longer. An earlier moment, tried because the command was done
        # at the first, is meant as it stands.
        waited = moment * (min(stretch, 3) if turn < len(case.moments) else 1)
        ended = ends([inputs.tailor, *words], waited, inputs.folder)
        if ended is None or (ended[1] == 0 and ended[0] < limit):  # it was just done
            if turn + 1 == len(moments) and verdict.met == 0 and waited * 0.7 >= EARLIEST:
                moments.append(waited * 0.7)
            continue
        spent, code, messages = ended
        verdict.met += 1
        verdict.longest = max(verdict.longest, spent)
        if spent > limit:
            verdict.late.append(f"{spent:.2f} s after a signal at {moment} s, at most {limit:.2f}")
        if code == -signal.SIGINT and case.quick:
            continue  # it had not yet begun to listen
        if code != INTERRUPTED:
            verdict.wrong.append(f"exit code {code} after a signal at {moment} s: {messages[-200:]!r}")
        elif "interrupted" not in messages or case.shows not in messages:
            verdict.wrong.append(f"no word of an interrupt: {messages[-200:]!r}")
        elif FROM_OUTSIDE in messages and not (case.compiles or case.quick):
            verdict.late.append(f"after a signal at {moment} s it was ended from outside: it does not look at the token")
        if "$COPY" not in case.words:
            verdict.wrong += losses(inputs, case, new)
    if verdict.met == 0 and not case.quick:
        verdict.wrong.append("it was never met at work: give it a longer input")
    return verdict


ALONE = 2  # attempts after the first


def judged_alone(inputs, case, number, first):
    """A late case's verdict when nothing runs beside it; of the first attempt, what cannot be excused."""
    verdict = first
    for attempt in range(ALONE):
        if not verdict.late:
            break
        wrong = verdict.wrong
        verdict = judged(inputs, case, f"{number}-alone-{attempt}")
        verdict.wrong += wrong
    return verdict


def main():
    fake = "".join(word.removeprefix("--fake=") for word in sys.argv[1:] if word.startswith("--fake="))
    tailor, source = [str(Path(word).resolve()) for word in sys.argv[1:] if not word.startswith("--fake=")]
    failed = False
    with tempfile.TemporaryDirectory() as name:
        inputs = Inputs(tailor, Path(source), fake, Path(name))
        cases = every_case(inputs)
        with ThreadPoolExecutor(max_workers=3) as pool:  # most of the time is waiting for the moment
            firsts = list(pool.map(lambda numbered: judged(inputs, numbered[1], numbered[0]), enumerate(cases)))
        for number, (case, first) in enumerate(zip(cases, firsts), 1):
            verdict = judged_alone(inputs, case, number, first)
            complaints = verdict.wrong + verdict.late
            shown = " ".join(Path(word).name if "/" in word else word for word in case.words)
            print(f"{'not ok' if complaints else 'ok'} {number} - tailor {shown} ends with Ctrl-C ({verdict.met} times, "
                  f"{verdict.longest:.2f} s at most)" + "".join(f"; {complaint}" for complaint in complaints), flush=True)
            for complaint in first.late if first is not verdict else []:
                print(f"# among others: {complaint}", flush=True)
            failed |= bool(complaints)
        halves = [path.name for path in Path(name).rglob("*.partial")]
        print(f"{'not ok' if halves else 'ok'} {len(cases) + 1} - no half-written file is left {' '.join(halves)}")
        print(f"1..{len(cases) + 1}")
    sys.exit(1 if failed or halves else 0)


if __name__ == "__main__":
    main()
