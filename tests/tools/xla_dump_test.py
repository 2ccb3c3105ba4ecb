#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# tools/xla-dump from the command line: what is refused before XLA is asked for; and, where its Python environment is at
# hand, the commands of docs/from_your_model.md: a JAX function with its shapes named and one with its `inputs`, dumped,
# and scored by tailor. One TAP line each.
#
#   xla_dump_test.py SOURCE_DIR TAILOR
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, TAILOR = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
TOOL, MODEL = SOURCE / "tools/xla-dump", SOURCE / "tests/data/xla_jax/model.py"
ENVIRONMENT = Path("~/.cache/tailor/xla-0.10.2").expanduser()
NORM = """def norm(x, w, b):
    m = x.mean(-1, keepdims=True)
    return (x - m) * w + b
"""


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)


def refused(words, code, said):
    """What is wrong with the refusal; None when it is as expected. Nothing is left behind."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(TOOL, *words, "-o", Path(folder) / "dump", "--venv", Path(folder) / "none")
        left = [path.name for path in Path(folder).iterdir()]
    if done.returncode != code or said not in done.stderr:
        return f"exit code {done.returncode}, said: {done.stderr.strip()[-300:]}"
    return f"left {left} behind" if left else None


def agreement(dump):
    """(kernels of XLA's, kernels that are the same, launches, prices) as tailor scores the dump."""
    done = run(TAILOR, "import-xla", dump, "--agreement", "--format", "json")
    row = json.loads(done.stdout)["results"][0]
    return row["xla_kernels"], row["same_kernels"], row["same_launches"], row["same_prices"]


def shapes_named(folder):
    (folder / "model.py").write_text(NORM)
    done = run(TOOL, f"{folder / 'model.py'}:norm", "--arg", "f32[4096,768]", "--arg", "f32[768]", "--arg", "f32[768]", "-o",
               folder / "named")
    if done.returncode != 0:
        return done.stderr
    kernels, same, launches, prices = agreement(folder / "named")
    return None if kernels >= 2 and kernels == same == launches == prices else f"{kernels} {same} {launches} {prices}"


def inputs_given(folder):
    done = run(TOOL, f"{MODEL}:layer", "-o", folder / "given")
    if done.returncode != 0:
        return done.stderr
    manifest = json.loads((folder / "given/manifest.json").read_text())
    if manifest["target_of"] != "XLA's specification" or not (folder / "given/layer.hlo").exists():
        return f"manifest {manifest}"
    return None if agreement(folder / "given") == (7, 7, 7, 7) else f"scored {agreement(folder / 'given')}"


def tracing_fails(folder):
    for words, said in ((["model.py:absent"], "hint: it has norm"), (["model.py:norm"], "a function inputs()"),
                        (["model.py:norm", "--arg", "f32[3]"], "the arguments are those of --arg")):
        done = run(TOOL, f"{folder}/{words[0]}", *words[1:], "-o", folder / "failed")
        if done.returncode != 1 or said not in done.stderr or "Traceback" in done.stderr:
            return f"{words}: exit code {done.returncode}, said: {done.stderr[-300:]}"
        if (folder / "failed").exists() and any((folder / "failed").iterdir()):
            return "it left files behind"
    return None


REFUSALS = [("a text that is not there", ["no.hlo"], 2, "error: no file no.hlo"),
            ("a Python file that is not there", ["no.py:f"], 2, "error: no file no.py"),
            ("a shape of another form", [f"{MODEL}:layer", "--arg", "f31[4]"], 2, "found 'f31[4]', expected a type and a shape"),
            ("shapes for a text", [SOURCE / "tests/data/xla_small/model.hlo", "--arg", "f32[4]"], 2, "--arg is for a JAX function"),
            ("an unknown GPU", [f"{MODEL}:layer", "--device", "h2000"], 3, "no device 'h2000'"),
            ("no environment", [f"{MODEL}:layer"], 3, "--install, which fetches jax[cuda13]==0.10.2 (4.4 GB)")]
DUMPS = [("a function with its shapes named is dumped and scored", shapes_named),
         ("a function with its inputs beside it is dumped and scored", inputs_given),
         ("a function that cannot be traced is told in one line", tracing_fails)]


def main():
    dumps = DUMPS if "TAILOR_THOROUGH" in os.environ else DUMPS[:1]  # each starts XLA, which takes seconds
    print(f"1..{len(REFUSALS) + len(dumps)}")
    for number, (what, words, code, said) in enumerate(REFUSALS, 1):
        fault = refused(words, code, said)
        print(f"{'not ok' if fault else 'ok'} {number} - refused: {what}" + (f"\n# {fault}" if fault else ""))
    with tempfile.TemporaryDirectory() as folder:
        for number, (what, test) in enumerate(dumps, len(REFUSALS) + 1):
            if not (ENVIRONMENT / "tailor-xla").exists() or not os.access(TAILOR, os.X_OK):
                print(f"ok {number} - {what} # SKIP XLA's environment is not there (tools/xla-dump --install)")
                continue
            fault = test(Path(folder))
            print(f"{'not ok' if fault else 'ok'} {number} - {what}" + (f"\n# {fault}" if fault else ""))


main()
