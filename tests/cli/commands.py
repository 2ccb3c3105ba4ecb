#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the cases of *.test files: a command, and what it must answer. One TAP line each.
#
#   commands.py [--fake=FILE] [--schema=FILE] TAILOR SOURCE_DIR FILE.test ...
#
# A case is a block of lines; blocks are separated by empty lines; a line that starts with # is a comment.
#   == SENTENCE           what the case shows
#   file: NAME TEXT       a file in the case's folder, with \n for a line break
#   older: NAME           a database of schema version 2 in the case's folder (tests/store/version_2.sql.gz)
#   in: NAME              a file of the case's folder on standard input; without, it is empty
#   env: NAME VALUE       a variable of the environment
#   run: WORDS            as in a shell; $MODELS, $DATA, $HERE (the case's folder) and $KERNELS (what earlier runs of this
#                         suite compiled, named after the code around the compiler) stand for folders, $FAKE for the fake
#                         GPU's library, $GPU for the options that name it; a case with one of them is skipped where
#                         there is none. Several run lines: one after the other, the last is looked at
#   exit: N               the exit code; 0 when not said
#   limit: N              no file may grow over N bytes in the last run; stdout: FILE  what it says goes there
#   out: TEXT             stdout holds it; out! TEXT: stdout does not
#   err: TEXT             stderr holds it; err! TEXT: stderr does not
#   json: KEY KEY ...     the run is repeated with --format json: one document whose keys these are, all with records. Every
#                         key of its records stands in docs/json.md for this command, with the unit that its values have
#   csv: KEY,KEY,...      the run is repeated with --format csv: its heading
#   broad:                takes long: left out of quick runs (tests/support/thorough.h), as others see what it commonly sees
#   needs: compiler       skipped where NVRTC is not found; needs: cupti where CUPTI is not
#   left: NAME TEXT       afterwards the file in the case's folder holds the text
#   holds: EXPRESSION     the run is repeated with --format json, and this is true of its document `d`, in Python
#   sql: NAME STATEMENT   before the last run this is done to a database in the case's folder
# Whatever the case says, stdout is empty when the command fails unless the case says what it holds, and stderr then starts
# with "error: ". At the end, the JSON of every command must have been held against docs/json.md, and against
# the published JSON Schema where Python has jsonschema.
import gzip
import hashlib
import json
import os
import re
import resource
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What a case may need: what the program says when it is missing, and why the case is skipped.
NEEDS = {
    "compiler": (("needs NVRTC", "nothing was compiled"), "no NVRTC on this machine"),
    "cupti": (("metrics are planned with CUPTI",), "no CUPTI on this machine"),
}
BROAD = "TAILOR_BROAD" in os.environ or "TAILOR_THOROUGH" in os.environ
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


def meanings(source):
    """The rows of docs/json.md: key to unit and commands."""
    rows = {}
    for line in (Path(source) / "docs" / "json.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`"):
            key = cells[0].strip("`")
            if key in rows:
                raise SystemExit(f"docs/json.md has two rows for {key}")
            if not cells[2]:
                raise SystemExit(f"docs/json.md does not say what {key} means")
            rows[key] = (cells[1], {command.strip() for command in cells[3].split(",")})
    return rows


SUFFIXES = {"s": "_s", "B": "_bytes", "B/s": "_bytes_per_s", "operations": "_flops", "0 to 1": "_fraction", "ratio": "_ratio"}


def key_complaints(node, command, known, axes):
    """Keys of records that docs/json.md does not have for the command, or has with another unit."""
    if isinstance(node, list):
        for item in node:
            yield from key_complaints(item, command, known, axes)
        return
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if isinstance(value, (list, dict)):
            yield from key_complaints(value, command, known, axes)
            continue
        if command == "explore" and key in axes:
            continue
        unit, commands = known.get(key) or known.get(re.sub(DEVICE_KEY, "*", key)) or (None, set())
        if unit is None:
            yield f"docs/json.md does not have key {key}, which {command} writes"
        elif command not in commands:
            yield f"docs/json.md says that {key} is written by {', '.join(sorted(commands))}, not by {command}"
        elif unit in SUFFIXES and not key.endswith(SUFFIXES[unit]):
            yield f"{key} has no suffix for its unit, {unit}"
        elif value is not None and isinstance(value, str) != (unit == "text"):
            yield f"{key} is {value!r}, its unit is {unit}"
        elif unit == "count" and value is not None and value != int(value):
            yield f"{key} is {value!r}, which is no count"


# What stands before these is the name of a device.
DEVICE_KEY = ("^[a-z0-9_]+?(?=(_planned)?_(bound|price)_s$|_projected_s$|_workspace_bytes$|_(as_xla|search_adds)_s$|"
              "_xla_(emitter|launch|note|plans|same_launch|same_warps)$)")
HEAD = ("schema", "tool", "device", "command", "manifest", "chosen", "baseline", "warnings")


def document_complaints(document, command, known, axes):
    for part in document.get("reports", [document]):
        tables = {key: value for key, value in part.items() if isinstance(value, (list, dict))}
        yield from sorted(set(key_complaints(list(tables.values()), command, known, axes)))
        for key in part:
            if key not in tables and key not in HEAD:
                yield f"{key} stands outside of any table"


def kernel_cache(tailor, source):
    around = [path for room in ("src/profiler/compile", "src/ir") for path in sorted((Path(source) / room).glob("*.*"))
              if room != "src/ir" or path.stem == "binary"]
    words = hashlib.sha256(b"".join(path.read_bytes() for path in around)).hexdigest()[:10]
    return str(Path(tailor).resolve().parents[2] / "tests" / "kernels" / f"commands-{words}")


def validator(schema):
    """What finds faults of a document by the JSON Schema; nothing where Python lacks the library."""
    try:
        import jsonschema
    except ImportError:
        return None
    content = json.loads(Path(schema).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(content)
    content.pop("$id", None)  # Debian 12's jsonschema looks for references at that name
    return jsonschema.Draft7Validator(content)


def schema_complaints(valid, document):
    for fault in list(valid.iter_errors(document))[:3] if valid else []:
        yield f"the schema does not allow {'/'.join(map(str, fault.absolute_path)) or 'the document'}: {fault.message[:300]}"


def complaints(case, tailor, source, fake, known, axes, valid, judged):
    if not fake and any("$FAKE" in line or "$GPU" in line for line in case):
        yield NO_FAKE
        return
    with tempfile.TemporaryDirectory() as here:
        folders = {"$MODELS": f"{source}/data/models", "$DATA": f"{source}/data", "$HERE": here, "$FAKE": fake,
                   "$KERNELS": kernel_cache(tailor, source)}

        def filled(text):
            for name, folder in folders.items():
                text = text.replace(name, folder)
            return text

        def run(words, limit=None, stdout=None):
            capped = limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            with open(stdout or os.devnull, "w", encoding="utf-8") as sink, open(stdin, "rb") as source_of_input:
                return subprocess.run([tailor, *words], stdin=source_of_input, stdout=sink if stdout else subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, cwd=here, timeout=120, env=env, preexec_fn=capped)

        said = [line.split(": ", 1) if ": " in line else [line.rstrip(":"), ""] for line in case[1:]]
        runs, statements, want_exit, limit, stdout, stdin = [], [], 0, None, None, os.devnull
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        for key, value in said:
            if key == "file":
                name, text = value.split(" ", 1)
                (Path(here) / name).write_bytes(filled(text).encode().decode("unicode_escape").encode("latin-1"))
            elif key == "older":
                with sqlite3.connect(Path(here) / value) as older:
                    older.executescript(gzip.decompress((Path(source) / "tests/store/version_2.sql.gz").read_bytes()).decode())
            elif key == "folder":
                (Path(here) / value).mkdir()
            elif key == "env":
                env.update([value.split(" ", 1)])
            elif key == "run":
                value = value.replace("$GPU", "--driver $FAKE --cupti $FAKE --nvml $FAKE")
                runs.append([filled(word) for word in shlex.split(value)])
            elif key == "sql":
                statements.append(value.split(" ", 1))
            elif key == "exit":
                want_exit = int(value)
            elif key == "limit":
                limit = int(value)
            elif key == "stdout":
                stdout = value
            elif key == "in":
                stdin = Path(here) / value
        results = [run(words) for words in runs[:-1]]
        for name, statement in statements:
            with sqlite3.connect(Path(here) / name) as database:
                database.execute(statement)
        results.append(run(runs[-1], limit, stdout))
        words, result = runs[-1], results[-1]
        for key, value in said:
            if key == "needs" and result.returncode == 3 and any(words in result.stderr for words in NEEDS[value][0]):
                yield NEEDS[value][1]
                return
        if result.returncode != want_exit:
            yield f"exit code {result.returncode}, expected {want_exit}; stderr: {result.stderr.strip()}"
            return
        if want_exit != 0 and result.stdout and not any(key == "out" for key, _ in said):
            yield f"a failed command wrote to stdout: {result.stdout[:200]!r}"
        if want_exit != 0 and not result.stderr.startswith("error: "):
            yield f"stderr does not start with 'error: ': {result.stderr[:200]!r}"
        document = None  # the answer in JSON, which one run gives for `json` and `holds`

        def in_json():
            said_already = words if "json" in words else [*words, "--format", "json"]
            return json.loads(run(said_already).stdout, parse_constant=lambda name: {}[name])

        for key, value in said:
            text = filled(value)
            if key in ("broad", "file", "older", "folder", "env", "run", "sql", "exit", "needs", "limit", "stdout", "in"):
                continue
            if key == "out" and text not in result.stdout:
                yield f"stdout lacks {text!r}: {result.stdout[:2000]!r}"
            elif key == "out!" and text in result.stdout:
                yield f"stdout has {text!r}"
            elif key == "err" and text not in result.stderr:
                yield f"stderr lacks {text!r}: {result.stderr!r}"
            elif key == "err!" and text in result.stderr:
                yield f"stderr has {text!r}"
            elif key == "json":
                try:
                    document = document or in_json()
                except (ValueError, KeyError) as fault:
                    yield f"JSON does not parse: {fault!r}"
                    continue
                for part in ["schema", *([] if "reports" in document else ["tool", "command"]), *text.split()]:
                    if not document.get(part):
                        yield f"JSON lacks {part}: it has {', '.join(document)}"
                judged.add(words[0])
                yield from document_complaints(document, words[0], known, axes)
                yield from schema_complaints(valid, document)
            elif key == "holds":
                try:
                    document = document or in_json()
                    if not eval(text, {"d": document}):  # the case's own words
                        yield f"does not hold: {text}"
                except (ValueError, KeyError, IndexError, TypeError) as fault:
                    yield f"{fault!r} in {text}"
            elif key == "csv":
                heading = run([*words, "--format", "csv"]).stdout.split("\n", 1)[0]
                if not heading.startswith(text):
                    yield f"CSV is headed {heading!r}"
            elif key == "left":
                name, part = text.split(" ", 1)
                left = Path(here) / name
                if not left.exists() or part not in left.read_text(encoding="utf-8", errors="replace"):
                    yield f"{name} does not hold {part!r}"
            elif key not in ("out", "out!", "err", "err!"):
                yield f"the case says '{key}', which means nothing"


def main():
    fake = "".join(word.removeprefix("--fake=") for word in sys.argv[1:] if word.startswith("--fake="))
    schema = "".join(word.removeprefix("--schema=") for word in sys.argv[1:] if word.startswith("--schema="))
    tailor, source, *files = [str(Path(word).resolve()) for word in sys.argv[1:] if not word.startswith("--")]
    valid = validator(schema) if schema else None

    def listed(table, key):
        answer = subprocess.run([tailor, "list", table, "--format", "json"], capture_output=True, text=True, check=True)
        return {record[key] for record in json.loads(answer.stdout)["results"]}

    known, axes, judged, skipped = meanings(source), listed("axes", "axis"), set(), set()
    every = [case for file in files for case in cases(Path(file)) if BROAD or "broad:" not in case]
    # Two at a time: this suite is the last to end, and one command keeps one core busy.
    with ThreadPoolExecutor(max_workers=2) as pool:
        found_by_case = pool.map(lambda case: list(complaints(case, tailor, source, fake, known, axes, valid, judged)), every)
        for number, (case, found) in enumerate(zip(every, found_by_case), 1):
            if not case[0].startswith("== "):
                found.append("a case starts with '== '")
            if len(found) == 1 and found[0] in [NO_FAKE, *(reason for _, reason in NEEDS.values())]:
                print(f"ok {number} - {case[0][3:]} # SKIP {found[0]}", flush=True)
                skipped |= {line.split()[1] for line in case if line.startswith("run: ") and line.split()[1:]}
                continue
            print(f"{'not ok' if found else 'ok'} {number} - {case[0][3:]}", flush=True)
            for complaint in found:
                print("# " + complaint.replace("\n", "\n# "))
    number = len(every)
    if any(Path(file).name == "commands.test" for file in files):
        number += 1
        missing = listed("commands", "command") - judged - skipped
        print(f"{'not ok' if missing else 'ok'} {number} - the JSON of every command says what docs/json.md says")
        if missing:
            print(f"# no case has the JSON of {', '.join(sorted(missing))}")
        number += 1
        why = "" if valid else " # SKIP Python has no jsonschema on this machine" if schema else " # SKIP no schema was named"
        print(f"ok {number} - documents were held against the published schema{why}")
    print(f"1..{number}")


main()
