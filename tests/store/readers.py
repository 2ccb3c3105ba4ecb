#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Whether the readers that other tools ship accept what `tailor db export` writes, and understand the same by it. A
# made-up campaign is exported, and Kernel Tuner, the methodology for comparing autotuners, and NVBench's comparators
# open the files. They are installed once, into a virtual environment in the build folder; where that cannot be done the
# cases are skipped.
#
#   readers.py WRITE_CAMPAIGN TAILOR FOLDER     FOLDER: for the environment
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ["kernel_tuner==1.5.0", "autotuning_methodology==1.1.0", "numpy", "tabulate", "colorama", "jsondiff"]
# Its dependencies are CUDA's libraries, which its comparators do without.
LONE_PACKAGES = ["cuda-bench==0.3.0"]

# The campaign: the best of 18 plans takes 4 us, 14 went well.
BEST_MS, BEST = 4e-3, {"threads": 128, "vector": 4, "value_cache": True}
ENDED = {"ok": 14, "CompilationFailedConfig": 1, "RuntimeFailedConfig": 3}


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def group_folder(folder):
    return next(path for path in (folder / "kernel-tuner").iterdir() if path.is_dir())


# ---- what each reader is asked -----------------------------------------------------------------------------------------


def kernel_tuner_reads(folder):
    from kernel_tuner import util
    cache = util.read_cache(str(group_folder(folder) / "h200.json"), open_cache=False)
    ended = {}
    for entry in cache["cache"].values():
        error = entry.get("__error__")
        name = type(error).__name__ if isinstance(error, util.ErrorConfig) else "ok" if error is None else repr(error)
        ended[name] = ended.get(name, 0) + 1
    assert ended == ENDED, ended
    keys = [",".join(str(entry[name]) for name in cache["tune_params_keys"]) for entry in cache["cache"].values()]
    assert keys == list(cache["cache"]), "the keys are not the configurations"


def kernel_tuner_appends(folder):
    from kernel_tuner import util
    path = group_folder(folder) / "h200-warm.json"
    before = json.loads(path.read_text())
    util.read_cache(str(path), open_cache=True)
    assert not path.read_text().rstrip().endswith("}\n}"), "it was not opened for appending"
    util.close_cache(str(path))
    assert json.loads(path.read_text()) == before, "opening and closing changed it"


def kernel_tuner_searches(folder):
    import warnings
    from kernel_tuner import util
    from kernel_tuner.interface import tune_cache, tune_kernel
    warnings.simplefilter("ignore")
    path = str(group_folder(folder) / "h200.json")
    # Every plan, failures too; tune_cache searches those that went well.
    whole = util.infer_args_from_cache(util.read_cache(path, open_cache=False))
    results, environment = tune_kernel(**whole, cache=path, simulation_mode=True, quiet=True, verbose=False)
    assert near(environment["best_config"]["time"], BEST_MS), environment["best_config"]
    assert len(results) == 18, len(results)
    for strategy, options in [("brute_force", {}), ("random_sample", {"max_fevals": 14}),
                              ("genetic_algorithm", {"max_fevals": 14, "time_limit": 10})]:
        results, environment = tune_cache(path, strategy=strategy, strategy_options=options, quiet=True, verbose=False)
        best = environment["best_config"]
        assert best["time"] >= BEST_MS * (1 - 1e-9), best
        if strategy == "brute_force":
            assert len(results) == 14, len(results)
            assert near(best["time"], BEST_MS) and all(best[name] == value for name, value in BEST.items()), best
            assert len(best["times"]) == 11, best["times"]


def t4_is_valid(folder):
    import jsonschema
    from kernel_tuner.file_utils import output_file_schema
    for target, path in [("results", next((folder / "t4").glob("*/h200-results.json"))),
                         ("metadata", folder / "t4" / "h200-metadata.json")]:
        version, schema = output_file_schema(target)
        content = json.loads(path.read_text())
        jsonschema.validate(content, schema)
        assert content["schema_version"] == version, content["schema_version"]


def methodology_reads(folder):
    import warnings
    from autotuning_methodology.searchspace_statistics import SearchspaceStatistics
    warnings.simplefilter("ignore")
    path = next((folder / "t4").glob("*/h200-results.json"))
    statistics = SearchspaceStatistics(path.parent.name, "h200", True, ["compilation", "runtimes"], ["time"], path)
    assert statistics.size == 18, statistics.size
    assert len(statistics.objective_performances_total_sorted) == 14, statistics.objective_performances_total_sorted
    assert near(statistics.total_performance_absolute_optimum(), BEST_MS)
    # Eleven samples of 4 us and one compilation of 50 ms, in seconds.
    place = int(statistics.objective_performances_total.tolist().index(BEST_MS))
    assert abs(statistics.objective_times_total[place] - (0.05 + 11 * 4e-6)) < 1e-9


def script(name, *words, code=0):
    import importlib.util
    # The package's own __init__ loads CUDA; the scripts beside it do not.
    place = Path(importlib.util.find_spec("cuda").submodule_search_locations[0]) / "bench" / "scripts" / (name + ".py")
    result = subprocess.run([sys.executable, place, *words], capture_output=True, text=True, timeout=300)
    assert result.returncode == code, result.stdout + result.stderr
    assert "WARNING" not in result.stdout, result.stdout
    return result.stdout


def nvbench_pair(folder, factor):
    """The exported file and one whose times are all longer."""
    file = json.loads((folder / "nvbench" / "h200.json").read_text())
    for benchmark in file["benchmarks"]:
        for state in benchmark["states"]:
            for summary in state["summaries"]:
                if "/time/gpu/" in summary["tag"] and not summary["tag"].endswith("relative"):
                    value = summary["data"][0]
                    value["value"] = str(float(value["value"]) * factor)
    other = folder / "slower.json"
    other.write_text(json.dumps(file))
    return str(folder / "nvbench" / "h200.json"), str(other)


def statuses(text):
    cells = [line.rsplit("|", 2)[1] for line in text.splitlines() if line.startswith("|") and line.count("|") > 4]
    found = {}
    for cell in cells:
        for status in ("SAME", "SLOW", "FAST", "????", "AMBG"):
            if status in cell:
                found[status] = found.get(status, 0) + 1
    return found


def nvbench_compares(folder):
    timed = 14 + 4 + 1 + 1  # cold, warm, another compiler's, a copy
    skipped = 4 + 2         # cold, warm
    for factor, expected in [(1.0, "SAME"), (1.5, "SLOW"), (0.5, "FAST")]:
        found = statuses(script("nvbench_compare_robust", "--no-color", *nvbench_pair(folder, factor)))
        assert found == {expected: timed, "????": skipped}, (factor, found)
    # The older comparator leaves skipped states out and counts what changed in its exit code.
    found = statuses(script("nvbench_compare", "--no-color", *nvbench_pair(folder, 1.5), code=timed))
    assert found == {"SLOW": timed}, found


def nvbench_summarises(folder):
    text = script("nvbench_json_summary", str(folder / "nvbench" / "h200.json"))
    assert "NVIDIA H200" in text and "threads=128 threads_per_row=32 vector=4" in text, text


def tables_are_plain(folder):
    def rows(name):
        with open(folder / "csv" / f"h200-{name}.csv", newline="") as file:
            return list(csv.DictReader(file))
    measured, samples = rows("measurements"), rows("samples")
    best = min((row for row in measured if row["cache"] == "cold" and row["median_s"]), key=lambda r: float(r["median_s"]))
    assert near(float(best["median_s"]), BEST_MS / 1e3) and "threads=128 threads_per_row=32 vector=4" in best["plan"], best
    ours = sorted(float(row["duration_s"]) for row in samples if row["measurement_id"] == best["measurement_id"])
    assert len(ours) == 11 == int(best["samples"]) and near(ours[5], float(best["median_s"])), ours
    assert any(row["reason"] == 'no answer for 10 s, "killed"' for row in measured)
    assert [row["strategy"] for row in rows("module_times")].count("stitch-v1") == 1


ALONE = [("a CSV reader reads the tables", tables_are_plain)]
INSIDE = [
    ("Kernel Tuner reads its cache file, failures as its own classes", kernel_tuner_reads),
    ("Kernel Tuner opens its cache file for appending and closes it again", kernel_tuner_appends),
    ("Kernel Tuner's strategies search the file and find the best plan", kernel_tuner_searches),
    ("results and metadata fit the T4 schemas", t4_is_valid),
    ("the autotuning methodology finds the same optimum and times in the T4 results", methodology_reads),
    ("NVBench's comparators tell same, slower and faster", nvbench_compares),
    ("NVBench's summary reads the file", nvbench_summarises),
]


# ---- running them ------------------------------------------------------------------------------------------------------


def verdicts(cases, folder, first):
    for number, (sentence, case) in enumerate(cases, first):
        try:
            case(folder)
            print(f"ok {number} - {sentence}", flush=True)
        except Exception as error:  # a reader that throws is a reader that does not accept
            print(f"not ok {number} - {sentence}")
            for line in f"{type(error).__name__}: {error}".splitlines()[:40]:
                print(f"# {line}", flush=True)


def environment(folder):
    """The Python that has the readers, or why there is none."""
    python, ready = folder / "bin" / "python", folder / "ready"
    wanted = "\n".join(PACKAGES + LONE_PACKAGES)
    if ready.exists() and ready.read_text() == wanted:
        return python, None
    steps = [[sys.executable, "-m", "venv", str(folder)],
             [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES],
             [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *LONE_PACKAGES]]
    for step in steps:
        try:
            result = subprocess.run(step, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return None, "installing the readers took too long"
        if result.returncode != 0:
            said = (result.stderr.strip() or result.stdout.strip() or "no reason was given").splitlines()[-1]
            return None, f"the readers cannot be installed: {said[:200]}"
    ready.write_text(wanted)
    return python, None


def main():
    if sys.argv[1] == "--inside":
        return verdicts(INSIDE, Path(sys.argv[2]), len(ALONE) + 1)
    write_campaign, tailor, place = sys.argv[1:]
    with tempfile.TemporaryDirectory() as here:
        folder = Path(here)
        subprocess.run([write_campaign, folder / "a.db"], check=True)
        for form in ("kernel-tuner", "t4", "nvbench", "csv"):
            subprocess.run([tailor, "db", "export", "--quiet", "--format", form, "--folder", folder / form, folder / "a.db"],
                           check=True)
        verdicts(ALONE, folder, 1)
        python, reason = environment(Path(place))
        if python is None:
            for number, (sentence, _) in enumerate(INSIDE, len(ALONE) + 1):
                print(f"ok {number} - {sentence} # SKIP {reason}")
        else:
            subprocess.run([python, __file__, "--inside", folder], check=False)
    print(f"1..{len(ALONE) + len(INSIDE)}")


if __name__ == "__main__":
    main()
