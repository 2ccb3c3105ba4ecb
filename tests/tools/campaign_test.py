#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# The measuring campaign, from bundle to import: built, unpacked in an empty folder, run with steps that succeed, fail,
# hang and are cut off, and its results taken in. One TAP line each.
#
#   campaign_test.py BUILD SOURCE_DIR [FAKE_GPU]     FAKE_GPU: a library in place of NVIDIA's
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

BUILD, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
FAKE = Path(sys.argv[3]).resolve() if len(sys.argv) > 3 and sys.argv[3] else None
MIB = 2**20
TESTS = []


class Skipped(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def run(*words, timeout=240, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, **more)


class Bundle:
    """Built once, unpacked in a folder of its own."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.archive = scratch / "bundle.tar.gz"
        self.built = run(SOURCE / "tools/gpu-campaign", "--build", BUILD, "--out", self.archive, timeout=1500)  # it compiles over a thousand kernels
        check(self.built.returncode == 0, self.built.stderr)
        with tarfile.open(self.archive) as tar:
            tar.extractall(scratch / "unpacked", filter="tar")
        self.here = scratch / "unpacked" / "tailor-campaign"

    def campaign(self, *words):
        return [str(self.here / "campaign"), *map(str, words)]

    def steps(self, name, text):
        path = self.scratch / name
        path.write_text(text)
        return path


def results(folder):
    """Files of the archive by name."""
    found = list(folder.glob("results.tar.*"))
    check(len(found) == 1, f"archives: {found}")
    with tarfile.open(found[0]) as tar:
        return {Path(info.name).name: tar.extractfile(info).read().decode(errors="replace")
                for info in tar if info.isfile()}


def states(files):
    return {row["step"]: row["state"] for row in map(json.loads, files["steps.jsonl"].splitlines())}


def library_names(program):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program).stdout)


@test
def the_bundle_is_one_archive_under_its_limit(bundle):
    check(bundle.archive.stat().st_size < 60 * MIB, f"{bundle.archive.stat().st_size} bytes")
    with tarfile.open(bundle.archive) as tar:
        names = tar.getnames()
    check(all(name.startswith("tailor-campaign") for name in names), "a file lies outside the folder")
    about = json.loads((bundle.here / "bundle.json").read_text())
    check(about["format"] == "tailor.bundle/1" and about["device"] == "h200", about)


@test
def every_program_of_the_bundle_needs_only_what_is_in_it(bundle):
    c_library = {path.name for path in (bundle.here / "glibc").iterdir()}
    inside = {path.name for path in (bundle.here / "lib").iterdir()}
    check({"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"} <= c_library, c_library)
    for program in [*(bundle.here / "bin").iterdir(), *(bundle.here / "lib").iterdir()]:
        outside = set(library_names(program)) - c_library - inside
        check(not outside, f"{program.name} needs {outside}")
    check("libstdc++.so.6" not in library_names(bundle.here / "bin/tailor"), "the C++ library is not in the program")


@test
def the_unpacked_program_finds_its_data_from_any_folder(bundle):
    done = run(bundle.here / "tailor", "devices", "--format", "csv", cwd="/")
    check(done.returncode == 0 and "h200" in done.stdout, done.stderr)
    check(str(SOURCE) not in run(bundle.here / "tailor", "doctor", cwd="/").stdout, "data of the source folder were used")


@test
def where_the_c_library_is_too_old_the_bundled_one_serves(bundle):
    copy = bundle.scratch / "old-libc" / "tailor-campaign"
    shutil.copytree(bundle.here, copy, symlinks=True)
    program = copy / "bin" / "tailor"
    interpreter = b"/lib64/ld-linux-x86-64.so.2"
    code = program.read_bytes()
    check(code.count(interpreter) >= 1, "no interpreter named")
    program.write_bytes(code.replace(interpreter, b"/lib64/ld-linux-x86-64.so.9"))  # as if this machine had none that fits
    check(subprocess.run(["sh", "-c", f"{program} --version"], capture_output=True).returncode != 0, "it still starts alone")
    done = run(copy / "tailor", "devices", "h200", "--format", "json", cwd="/")
    check(done.returncode == 0 and "dram_bandwidth" in done.stdout, done.stderr)
    check("tailor 0" in run(copy / "tailor", "--version").stdout, "no version")
    check(run(copy / "tailor", "import", copy / "data/models/softmax_fwd_f32_4096x1024.hlo").returncode == 0, "no import")


@test
def in_a_root_with_nothing_else_the_program_runs(bundle):
    if os.geteuid() != 0:
        raise Skipped("only root may change its root")
    root = bundle.scratch / "root"
    shutil.copytree(bundle.here, root / "bundle", symlinks=True)
    library = ["/bundle/glibc/ld-linux-x86-64.so.2", "--library-path", "/bundle/glibc:/bundle/lib", "/bundle/bin/tailor"]
    for words in (["--version"], ["devices", "h200", "--data", "/bundle/data"],
                  ["fuse", "/bundle/data/models/softmax_fwd_f32_4096x1024.hlo", "--data", "/bundle/data"]):
        done = run("chroot", root, *library, *words)
        if "Operation not permitted" in done.stderr:
            raise Skipped("this machine lets nobody change its root")
        check(done.returncode == 0, f"{words}: {done.stderr}")


@test
def a_dry_run_lists_the_steps_in_order_of_value_and_runs_none(bundle):
    out = bundle.scratch / "dry"
    done = run(*bundle.campaign("--dry-run", "--out", out))
    check(done.returncode == 0, done.stderr)
    listed = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    check(listed[:3] == ["doctor", "self-tests", "protocol"], listed)
    check({"clean", "ceilings", "xla-turns", "groups", "counters", "ncu", "torch"} <= set(listed), listed)
    check([line.split()[0] for line in done.stdout.splitlines() if "the bundle holds none" in line] == ["xla-turns"], done.stdout)
    check(not out.exists(), "something was written")
    for call, last in ((2, "jax"), (3, "faults")):
        other = run(*bundle.campaign("--dry-run", "--call", call, "--out", out))
        check(other.stdout.splitlines()[-1].split()[0] == last, other.stdout)
    for words in (["--budget", "soon"], ["--call", "4"], ["--wat"], ["--xla", "/nowhere"], ["--budget"], ["--only", "nothing"]):
        check(run(*bundle.campaign(*words)).returncode == 2, words)


@test
def every_command_of_the_real_steps_takes_its_options_and_wants_a_gpu(bundle):
    out = bundle.scratch / "no-gpu"
    rows = [line for line in (bundle.here / "steps-1").read_text().splitlines() if "$tailor" in line and "doctor" not in line]
    check(len(rows) >= 3, rows)
    # Of the steps over many models the first says the same.
    rows.append("groups | 10 | 20 | | $here/on-workloads groups")
    nowhere = bundle.scratch / "nowhere.so"
    done = run(*bundle.campaign("--out", out, "--budget", 110, "--steps", bundle.steps("gpu.steps", "\n".join(rows)), "--driver",
                                nowhere, "--cupti", nowhere, "--nvml", nowhere, "--image", "ptx"))
    check(done.returncode == 1, done.stderr)
    for row in map(json.loads, results(out)["steps.jsonl"].splitlines()):
        check(row["exit"] == (1 if row["step"] == "groups" else 3) and "no GPU to measure on" in row["why"], row)


@test
def a_step_whose_time_is_up_may_still_store_what_it_has(bundle):
    out = bundle.scratch / "interrupted"
    table = bundle.steps("interrupted.steps", "kind|3|2||trap 'echo stored; exit 1' INT; sleep 30 & wait\n")
    run(*bundle.campaign("--out", out, "--steps", table, "--budget", 60))
    files = results(out)
    check(states(files) == {"kind": "timed out"} and files["kind.out"] == "stored\n", files)


STEPS = """
# comment
late    | 10 | 30 |             | echo never
good    | 90 | 30 |             | echo '{"a":1}'; echo said >&2
bad     | 80 | 30 |             | echo 'error: it "broke"' >&2; exit 7
hangs   | 70 |  2 |             | sleep 60
absent  | 60 | 30 | python:no_such_module_anywhere | echo never
asks    | 50 | 30 |             | echo $device $seconds $gpu; test -x $tailor; test -d $here/data
"""


@test
def steps_end_as_done_failed_timed_out_skipped_or_not_reached(bundle):
    out = bundle.scratch / "states"
    table = bundle.steps("states.steps", STEPS.replace("late    | 10 | 30", "late    | 10 |  1"))
    done = run(*bundle.campaign("--out", out, "--steps", table, "--budget", 60, "--device", "t4", "--driver", "/x.so"))
    check(done.returncode == 1, done.returncode)
    files = results(out)
    check(states(files) == {"good": "done", "bad": "failed", "hangs": "timed out", "absent": "skipped", "asks": "done",
                            "late": "not reached"}, states(files))
    rows = {row["step"]: row for row in map(json.loads, files["steps.jsonl"].splitlines())}
    check(list(rows) == ["good", "bad", "hangs", "absent", "asks", "late"], list(rows))
    check(rows["bad"]["exit"] == 7 and rows["bad"]["why"] == 'error: it "broke"', rows["bad"])
    check(2 <= rows["hangs"]["seconds"] < 8, rows["hangs"])
    check("no_such_module_anywhere" in rows["absent"]["why"], rows["absent"])
    check(files["good.out"] == '{"a":1}\n' and files["good.log"] == "said\n", "its streams were not kept apart")
    check(files["asks.out"] == "t4 30 --driver /x.so\n", files["asks.out"])
    manifest = json.loads(files["manifest.json"])
    check(manifest["format"] == "tailor.campaign/1" and manifest["device"] == "t4", manifest)
    check(manifest["bundle"]["format"] == "tailor.bundle/1", manifest)
    check([path.name for path in out.iterdir()] == [next(out.glob("results*")).name], list(out.iterdir()))


@test
def a_budget_that_runs_out_leaves_the_rest_unreached(bundle):
    out = bundle.scratch / "short"
    table = bundle.steps("short.steps", "first|3|30||sleep 60\nsecond|2|30||echo never\n")
    begun = time.monotonic()
    run(*bundle.campaign("--out", out, "--steps", table, "--budget", 5))
    check(time.monotonic() - begun < 9, "it took longer than its budget")
    check(states(results(out)) == {"first": "timed out", "second": "not reached"}, states(results(out)))


def started(bundle, out, table):
    """A campaign that hangs in its second step."""
    process = subprocess.Popen(bundle.campaign("--out", out, "--steps", table), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while time.monotonic() < end and not list(out.glob("results.tar.*")):
        time.sleep(0.05)
    time.sleep(0.5)
    check([path.name.split(".")[0] for path in out.iterdir()] == ["results"], "more than the archive lies in the folder")
    return process


@test
def cut_off_by_force_what_finished_is_kept_whole(bundle):
    out = bundle.scratch / "killed"
    table = bundle.steps("killed.steps", "first|3|30||echo found\nsecond|2|60||sleep 47\n")
    process = started(bundle, out, table)
    process.send_signal(signal.SIGKILL)
    process.wait()
    files = results(out)
    check(states(files) == {"first": "done"} and files["first.out"] == "found\n", files)
    for line in run("ps", "-eo", "pid,args").stdout.splitlines():  # its orphan, ours alone by its odd duration
        if re.fullmatch(r"\s*\d+ (timeout .*)?sleep 47", line):
            os.kill(int(line.split()[0]), signal.SIGKILL)


@test
def asked_to_end_it_packs_and_says_which_step_was_cut_off(bundle):
    out = bundle.scratch / "ended"
    table = bundle.steps("ended.steps", "first|3|30||echo found\nsecond|2|60||echo half; sleep 49\n")
    process = started(bundle, out, table)
    process.send_signal(signal.SIGTERM)
    check(process.wait(timeout=30) == 130, "exit code")
    files = results(out)
    check(states(files) == {"first": "done", "second": "cut off"} and files["second.out"] == "half\n", files)
    check("sleep 49" not in run("ps", "-eo", "args").stdout, "the step went on")


@test
def an_archive_that_would_be_too_large_leaves_the_database_out(bundle):
    out = bundle.scratch / "large"
    table = bundle.steps("large.steps", "big|3|60||head -c 20000000 /dev/urandom >$db; head -c 3000000 /dev/urandom | base64\n")
    run(*bundle.campaign("--out", out, "--steps", table, "--budget", 90))
    files = results(out)
    check("measured.db" not in files and "left-out.txt" in files, list(files))
    check(len(files["big.out"]) < 700_000 and "... shortened ..." in files["big.out"], "a long log was kept whole")
    check(sum(path.stat().st_size for path in out.iterdir()) < 16 * MIB, "more than 16 MiB")


@test
def baselines_without_their_library_say_so_and_measure_nothing(bundle):
    for script in ("torch_times.py", "jax_times.py", "cub_times.py"):
        done = run(sys.executable, "-I", bundle.here / "baselines" / script, "--cases", bundle.here / "baselines/cases.json")
        if "No module named 'common'" in done.stderr:
            done = run(sys.executable, "-B", bundle.here / "baselines" / script, "--cases", bundle.here / "baselines/cases.json")
        if done.returncode == 0:
            raise Skipped(f"{script} found its library and a GPU")
        check(done.returncode == 3 and done.stderr.startswith("error: ") and not done.stdout, f"{script}: {done.stderr}")


def archive_of(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


MANIFEST = {"format": "tailor.campaign/1", "bundle": {"revision": "abc"}, "started_at": "2026-01-02T03:04:05Z",
            "device": "h200", "budget_s": 480, "host": "Linux", "gpu": "NVIDIA H200"}
STEP = {"step": "doctor", "state": "done", "exit": 0, "seconds": 0.1, "limit_s": 20, "why": ""}
LINE = {"format": "tailor.baseline/1", "baseline": "torch", "samples_s": [1e-5]}


def import_of(bundle, name, files, *words):
    root = bundle.scratch / f"root-{name}"
    root.mkdir(exist_ok=True)
    archive = archive_of(bundle.scratch / f"{name}.tar.gz", files)
    return root, run(SOURCE / "tools/gpu-import", archive, "--root", root, "--tailor", BUILD / "src/cli/tailor", *words)


@test
def results_are_taken_in_with_where_they_come_from_and_never_over_others(bundle):
    files = {"manifest.json": json.dumps(MANIFEST), "steps.jsonl": json.dumps(STEP) + "\n",
             "torch.out": json.dumps(LINE) + '\n{"format": "tailor.base', "microbench.out": '{"schema": "tailor.microbench/1"}'}
    root, done = import_of(bundle, "good", files)
    check(done.returncode == 0, done.stderr)
    check(sorted(done.stdout.split()) == ["data/calibrations/waiting/h200-2026-01-02.json",
                                          "data/recorded/h200-2026-01-02.baselines.jsonl",
                                          "data/recorded/h200-2026-01-02.campaign.json"], done.stdout)
    lines = (root / "data/recorded/h200-2026-01-02.baselines.jsonl").read_text().splitlines()
    check([json.loads(line) for line in lines] == [LINE], lines)
    waiting = json.loads((root / "data/calibrations/waiting/h200-2026-01-02.json").read_text())
    check(waiting["from"]["bundle"] == {"revision": "abc"} and waiting["from"]["steps"] == [STEP], waiting)
    _, again = import_of(bundle, "good", files)
    check(again.returncode != 0 and "already there" in again.stderr, again.stderr)
    _, named = import_of(bundle, "good", files, "--name", "second")
    check(named.returncode == 0, named.stderr)


@test
def results_of_another_kind_are_refused(bundle):
    other = {"manifest.json": json.dumps({**MANIFEST, "format": "tailor.campaign/7"})}
    for name, files, what in (("other", other, "tailor.campaign/7"), ("empty", {"manifest.json": json.dumps(MANIFEST)}, "measured"),
                              ("none", {"readme": "x"}, "manifest.json"), ("outside", {"../../evil": "x"}, "one folder"),
                              ("broken", {"manifest.json": "{"}, "line 1"),
                              ("recording", {"manifest.json": json.dumps(MANIFEST), "recorded.jsonl.gz": "no gzip"}, "read back")):
        root, done = import_of(bundle, name, files)
        check(done.returncode != 0 and what in done.stderr, f"{name}: {done.stderr}")
        check(not list(root.rglob("*.*")), f"{name}: something was written")
    torn = bundle.scratch / "torn.tar.gz"
    torn.write_bytes(gzip.compress(b"x" * 5000)[:40])
    check(run(SOURCE / "tools/gpu-import", torn, "--root", bundle.scratch).returncode != 0, "a torn archive")


def medians(answer):
    """Times by plan of what profile says."""
    return [(row["plan"], row["cache"], row["median_s"]) for row in answer["results"]]


def fake_in(folder, config):
    """A fake GPU in a folder; the options of a campaign that measures on it. It executes PTX."""
    folder.mkdir()
    gpu = folder / "libcuda.so.1"
    shutil.copy(FAKE, gpu)
    (folder / "fake_gpu.json").write_text(json.dumps(config))
    return ["--driver", gpu, "--cupti", gpu, "--nvml", gpu, "--image", "ptx"]


@test
def on_a_fake_gpu_the_bundled_self_test_and_microbenchmarks_find_what_is_there(bundle):
    if FAKE is None or not FAKE.exists():
        raise Skipped("this build has no fake GPU")
    # The real rows, made small: what the fake executes takes its time.
    rows = {line.split("|")[0].strip(): line for line in (bundle.here / "steps-1").read_text().splitlines()
            if not line.startswith("#")}
    table = [rows["doctor"], rows["self-tests"].replace("--json", "--bytes 1048576 --hang 1 --json"),
             rows["protocol"]]
    out = bundle.scratch / "small"
    done = run(*bundle.campaign("--out", out, "--budget", 150, "--steps", bundle.steps("small.steps", "\n".join(table)),
                                *fake_in(bundle.scratch / "fake-small", {"noise": 0})))
    files = results(out)
    check(states(files) == {"doctor": "done", "self-tests": "done", "protocol": "done"}, done.stderr)
    found = json.loads(files["self-test.json"])
    check(len(found["tests"]) > 25 and all(one["verdict"] == "ok" for one in found["tests"]), found)
    check(json.loads(files["protocol.out"])["schema"] == "tailor.microbench/1", files["protocol.out"][:300])
    check("recorded launch" in files["0-look.txt"], files["0-look.txt"])
    sour = bundle.scratch / "sour"
    config = {"noise": 0, "throttle": [{"launches": 0, "reasons": 4, "sm_clock": 1e8}]}
    run(*bundle.campaign("--out", sour, "--budget", 60, "--steps", bundle.steps("sour.steps", table[1]),
                         *fake_in(bundle.scratch / "fake-sour", config)))
    check(states(results(sour)) == {"self-tests": "failed"}, results(sour)["self-tests.out"])
    root = bundle.scratch / "root-small"
    taken = run(SOURCE / "tools/gpu-import", next(out.glob("results*")), "--root", root, "--tailor", BUILD / "src/cli/tailor")
    check(taken.returncode == 0 and "self-test.json" in taken.stdout, taken.stdout + taken.stderr)


def small_bundle(bundle, name):
    """The same bundle with models that a fake GPU executes in a moment, one of them with nothing to hold against it."""
    copy = bundle.scratch / name / "tailor-campaign"
    shutil.copytree(bundle.here, copy, symlinks=True)
    for model in (copy / "data/models").glob("*.hlo"):
        text = model.read_text()
        model.unlink()
        if model.name.startswith("softmax"):
            model.write_text(text.replace("4096", "64").replace("1024", "128"))
    for model in (copy / "experiments/models/bandwidth").glob("*.hlo"):
        text = model.read_text()
        model.unlink()
        if model.name.startswith("softmax_f32"):
            model.write_text(text.replace("32768", "32").replace("1024", "128"))
    (copy / "workloads").mkdir()
    shutil.copy(copy / "data/models/softmax_fwd_f32_4096x1024.hlo", copy / "workloads/softmax_small.hlo")
    return copy


@test
def what_to_look_at_says_beside_a_ratio_what_either_side_leaves_out(bundle):
    def row(strategy, median, left_out, copies):
        return {"strategy": strategy, "cache": "cold", "launch_mode": "graph", "median_s": median,
                "groups_left_out": left_out, "copies": copies}

    cases = {"whole": ((0, 0), "ours / XLA 0.500", ("left out", "copies")),
             "ours": ((2, 0), "ours / XLA 0.500  (ours: 2 left out)", ()),
             "both": ((2, 3), "ours / XLA 0.500  (ours: 2 left out; XLA: 3 left out; XLA's 4 copies and fills are in it)", ())}
    for name, ((ours, xla), words, absent) in cases.items():
        out = bundle.scratch / f"look-{name}"
        out.mkdir()
        rows = [row("tailor", 1e-6, ours, 0), row("unfused", 3e-6, 9, 0), row("xla-priority", 4e-6, 9, 0),
                row("xla (its kernels)", 2e-6, xla, 4 if name == "both" else None)]
        (out / "turns.out").write_text(json.dumps({"schema": "tailor.profile_module/1", "command": "tailor profile m.hlo",
                                                   "results": rows}) + "\n")
        done = subprocess.run([str(bundle.here / "look"), str(out)], capture_output=True, text=True)
        check(f"m.hlo, cold, graph: {words}\n" in done.stdout, done.stdout + done.stderr)
        for word in absent:
            check(word not in done.stdout, done.stdout)


@test
def the_whole_first_call_runs_on_a_fake_gpu_within_its_budget(bundle):
    if FAKE is None or not FAKE.exists():
        raise Skipped("this build has no fake GPU")
    here, out = small_bundle(bundle, "first"), bundle.scratch / "first-out"
    table = []
    for line in (here / "steps-1").read_text().splitlines():
        if line.startswith("ceilings"):
            line = line.replace("--stop quick", "--stop quick --max-bytes 65536 --only copy,latency,dispatch,launch")
        if line.startswith("self-tests"):
            line = line.replace("--json", "--bytes 1048576 --json")
        table.append(line)
    begun = time.monotonic()
    done = subprocess.run([str(here / "campaign"), "--out", str(out), "--steps",
                           str(bundle.steps("first.steps", "\n".join(table))),
                           *map(str, fake_in(bundle.scratch / "fake-first", {"noise": 0.01, "placement": 0.1}))],
                          capture_output=True, text=True, timeout=590)
    check(time.monotonic() - begun < 570, "it took longer than its budget")
    files = results(out)
    found = states(files)
    wanted = ["doctor", "self-tests", "protocol", "clean", "ceilings", "bandwidth", "groups", "counters"]
    check({name: found[name] for name in wanted} == dict.fromkeys(wanted, "done"), done.stderr)
    look = files["0-look.txt"]
    for part in ("ceilings", "a plan twice in its race", "told apart in 0", "the model's ranking"):
        check(part in look, look)
    check(done.stdout == look, "what to look at is not what is printed")


@test
def on_a_fake_gpu_the_first_steps_are_kept_when_time_runs_out(bundle):
    if FAKE is None or not FAKE.exists():
        raise Skipped("this build has no fake GPU")
    out = bundle.scratch / "on-fake"
    profile = "$tailor profile $here/data/models/{} --device $device $gpu $image --store $db --cache $cache --format json"
    table = bundle.steps("fake.steps", f"layernorm|3|100||{profile.format('layernorm_fwd_tf_f32_4096x768.hlo')} --top 1 "
                         f"--stop quick --counters none\nbert|2|5||{profile.format('bert_infer_l12_b1_s128_f16.hlo')}\n")
    done = run(*bundle.campaign("--out", os.path.relpath(out), "--budget", 130, "--steps", table,
                                *fake_in(bundle.scratch / "fake", {})))
    files = results(out)
    check(states(files) == {"layernorm": "done", "bert": "timed out"}, done.stderr + files["layernorm.log"])
    check(json.loads(files["layernorm.out"])["command"].startswith("tailor profile"), files["layernorm.out"][:300])
    check("measured.db" in files and "recorded.jsonl.gz" in files, list(files))
    root = bundle.scratch / "root-fake"
    taken = run(SOURCE / "tools/gpu-import", next(out.glob("results*")), "--root", root, "--tailor", BUILD / "src/cli/tailor")
    check(taken.returncode == 0 and re.search(r"data/recorded/h200-\S+\.jsonl\.gz", taken.stdout), taken.stderr)
    shutil.copytree(SOURCE / "data", root / "data", dirs_exist_ok=True)
    again = run(BUILD / "src/cli/tailor", "profile", SOURCE / "data/models/layernorm_fwd_tf_f32_4096x768.hlo", "--device", "h200",
                "--profiler", "replay", "--data", root / "data", "--top", "1", "--stop", "quick", "--counters", "none",
                "--format", "json")
    check(again.returncode == 0, again.stderr)
    replayed, measured = (json.loads(text) for text in (again.stdout, files["layernorm.out"]))
    check(medians(replayed) == medians(measured), "the replayed times are others")


def main():
    failed = False
    with tempfile.TemporaryDirectory(prefix="tailor-campaign-") as scratch:
        try:
            bundle = Bundle(Path(scratch))
        except AssertionError as why:
            print("not ok 1 - the bundle is built\n# " + str(why).replace("\n", "\n# ") + "\n1..1")
            return
        for number, function in enumerate(TESTS, 1):
            name = function.__name__.replace("_", " ")
            try:
                function(bundle)
                print(f"ok {number} - {name}", flush=True)
            except Skipped as why:
                print(f"ok {number} - {name} # SKIP {why}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as why:
                print(f"not ok {number} - {name}\n# " + repr(why)[:3000].replace("\n", "\n# "), flush=True)
    print(f"1..{len(TESTS)}")


main()
