#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the cases of *.test files: a command, and what it must answer. One TAP line each.
#
#   commands.py [--fake=FILE] TAILOR SOURCE_DIR FILE.test ...
#
# A case is a block of lines; blocks are separated by empty lines; a line that starts with # is a comment.
#   == SENTENCE           what the case shows
#   file: NAME TEXT       a file in the case's folder, with \n for a line break
#   run: WORDS            as in a shell; $MODELS, $DATA and $HERE (the case's folder) stand for folders, $FAKE for the fake
#                         GPU's library, $GPU for the options that name it; a case with one of them is skipped where
#                         there is none. Several run lines: one after the other, the last is looked at
#   exit: N               the exit code; 0 when not said
#   out: TEXT             stdout holds it; out! TEXT: stdout does not
#   err: TEXT             stderr holds it
#   json: KEY KEY ...     the run is repeated with --format json: one document whose keys these are, all with records
#   csv: KEY,KEY,...      the run is repeated with --format csv: its heading
#   needs: compiler       skipped where NVRTC is not found; needs: cupti where CUPTI is not
#   left: NAME TEXT       afterwards the file in the case's folder holds the text
# Whatever the case says, stdout is empty when the command fails, and stderr then starts with "error: ".
import json
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What a case may need: what the program says when it is missing, and why the case is skipped.
NEEDS = {
    "compiler": ("needs NVRTC", "no NVRTC on this machine"),
    "cupti": ("metrics are planned with CUPTI", "no CUPTI on this machine"),
}
NO_FAKE = "no fake GPU: built without CUDA's headers"


def cases(path):
    block = []
    for line in path.read_text(encoding="utf-8").splitlines() + [""]:
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def complaints(case, tailor, source, fake):
    if not fake and any("$FAKE" in line or "$GPU" in line for line in case):
        yield NO_FAKE
        return
    with tempfile.TemporaryDirectory() as here:
        folders = {"$MODELS": f"{source}/data/models", "$DATA": f"{source}/data", "$HERE": here, "$FAKE": fake}

        def filled(text):
            for name, folder in folders.items():
                text = text.replace(name, folder)
            return text

        def run(words):
            return subprocess.run([tailor, *words], capture_output=True, text=True, cwd=here, timeout=120)

        said = [line.split(": ", 1) if ": " in line else [line.rstrip(":"), ""] for line in case[1:]]
        runs, want_exit = [], 0
        for key, value in said:
            if key == "file":
                name, text = value.split(" ", 1)
                (Path(here) / name).write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
            elif key == "folder":
                (Path(here) / value).mkdir()
            elif key == "run":
                value = value.replace("$GPU", "--driver $FAKE --cupti $FAKE --nvml $FAKE")
                runs.append([filled(word) for word in shlex.split(value)])
            elif key == "exit":
                want_exit = int(value)
        results = [run(words) for words in runs]
        words, result = runs[-1], results[-1]
        for key, value in said:
            if key == "needs" and result.returncode == 3 and NEEDS[value][0] in result.stderr:
                yield NEEDS[value][1]
                return
        if result.returncode != want_exit:
            yield f"exit code {result.returncode}, expected {want_exit}; stderr: {result.stderr.strip()}"
            return
        if want_exit != 0 and result.stdout:
            yield f"a failed command wrote to stdout: {result.stdout[:200]!r}"
        if want_exit != 0 and not result.stderr.startswith("error: "):
            yield f"stderr does not start with 'error: ': {result.stderr[:200]!r}"
        for key, value in said:
            text = filled(value)
            if key in ("file", "folder", "run", "exit", "needs"):
                continue
            if key == "out" and text not in result.stdout:
                yield f"stdout lacks {text!r}: {result.stdout[:2000]!r}"
            elif key == "out!" and text in result.stdout:
                yield f"stdout has {text!r}"
            elif key == "err" and text not in result.stderr:
                yield f"stderr lacks {text!r}: {result.stderr!r}"
            elif key == "json":
                again = run([*words, "--format", "json"])
                try:
                    document = json.loads(again.stdout, parse_constant=lambda name: {}[name])
                except (ValueError, KeyError) as fault:
                    yield f"JSON does not parse: {fault!r}"
                    continue
                for part in ["schema", "tool", "command", *text.split()]:
                    if not document.get(part):
                        yield f"JSON lacks {part}: it has {', '.join(document)}"
            elif key == "csv":
                heading = run([*words, "--format", "csv"]).stdout.split("\n", 1)[0]
                if not heading.startswith(text):
                    yield f"CSV is headed {heading!r}"
            elif key == "left":
                name, part = text.split(" ", 1)
                left = Path(here) / name
                if not left.exists() or part not in left.read_text(encoding="utf-8"):
                    yield f"{name} does not hold {part!r}"
            elif key not in ("out", "out!", "err"):
                yield f"the case says '{key}', which means nothing"


def main():
    fake = "".join(word.removeprefix("--fake=") for word in sys.argv[1:] if word.startswith("--fake="))
    tailor, source, *files = [str(Path(word).resolve()) for word in sys.argv[1:] if not word.startswith("--fake=")]
    every = [case for file in files for case in cases(Path(file))]
    # Two at a time: this suite is the last to end, and one command keeps one core busy.
    with ThreadPoolExecutor(max_workers=2) as pool:
        found_by_case = pool.map(lambda case: list(complaints(case, tailor, source, fake)), every)
        for number, (case, found) in enumerate(zip(every, found_by_case), 1):
            if not case[0].startswith("== "):
                found.append("a case starts with '== '")
            if len(found) == 1 and found[0] in [NO_FAKE, *(reason for _, reason in NEEDS.values())]:
                print(f"ok {number} - {case[0][3:]} # SKIP {found[0]}", flush=True)
                continue
            print(f"{'not ok' if found else 'ok'} {number} - {case[0][3:]}", flush=True)
            for complaint in found:
                print("# " + complaint.replace("\n", "\n# "))
    print(f"1..{len(every)}")


main()
