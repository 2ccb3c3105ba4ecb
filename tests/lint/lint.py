#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# The house rules that a script can check, one TAP line each. A rule is a function from a tree (path -> text) to complaints,
# and a row of the table at the end: its sentence, the function, and an offence. Before a rule judges the project it is
# shown its offence, so a rule that has gone blind fails instead of passing for ever.
#
#   lint.py ROOT            the rules
#   lint.py ROOT --format   whether clang-format 14 would change a file
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Where an exception may be caught, and why.
CATCHES = {
    "src/base/error.h": "adds a frame and throws on",
    "src/base/stop.h": "tells those who keep what is finished that a stop ended the rest",
    "src/cli/options.cpp": "turns CLI11's exceptions into an Error",
    "src/cli/main.cpp": "the one place that turns an error into an exit code",
    "src/store/connection.h": "turns SQLite's exceptions into an Error",
    "src/profiler/check/check_pool.cpp": "what goes wrong with one group is its own verdict's reason",
    "src/profiler/check/simulate.cpp": "one plan's failure must not end a sweep",
    "src/study/sweep/sweep_score.cpp": "one model that cannot be read must not end a sweep",
    "src/study/module/xla_agreement.cpp": "one module that cannot be read must not lose the others' scores",
    "src/profiler/measure/worker.cpp": "what a worker says must not end the one who asks",
    "src/profiler/xla/xla_case.cpp": "one kernel's failure must not lose a module's others",
    "src/profiler/xla/xla_sequence.cpp": "one kernel's failure must not lose a module's others",
    "src/profiler/xla/xla_transfers.cpp": "one copy that is not understood must not lose a module's others",
    "src/profiler/xla/xla_check.cpp": "one kernel's failure must not lose a module's others",
}

# Libraries that stay in one layer, or out of headers.
LIBRARY_PLACES = [
    (re.compile(r"nlohmann/"), lambda path: path == "src/base/json.cpp", "JSON is read and written in base/json.cpp alone"),
    (re.compile(r"CLI/|CLI11"), lambda path: path == "src/cli/options.cpp",
     "the command line is parsed in cli/options.cpp alone"),
    (re.compile(r"Eigen/"), lambda path: path.endswith(".cpp"), "Eigen stays out of headers"),
    (re.compile(r"xgboost/"), lambda path: path == "src/calibrate/boosting.cpp",
     "XGBoost belongs to what is learned: calibrate/boosting.cpp"),
    (re.compile(r"Eigen/"), lambda path: path == "src/calibrate/least_squares.cpp",
     "Eigen belongs to the fits: calibrate/least_squares.cpp"),
    (re.compile(r"SQLiteCpp/|sqlite3\.h"), lambda path: path.startswith("src/store/"), "SQLite belongs to store"),
]

SKIPPED_FOLDERS = re.compile(r"^(build.*|out|__pycache__|\.(?!ci$).*)$")
TEXT = {".cpp", ".h", ".def", ".md", ".json", ".py", ".sql", ".css", ".js", ".build", ".txt", ".hlo", ".cu", ""}
CODE = (".cpp", ".h", ".def")
THIS = "tests/lint/lint.py"


def tree_of(root):
    files = {}
    for path in sorted(root.iterdir()):
        if path.is_dir():
            if not SKIPPED_FOLDERS.match(path.name):
                files.update({f"{path.name}/{name}": text for name, text in tree_of(path).items()})
        elif path.name != ".git" and path.suffix in TEXT and path.stat().st_size < 4_000_000:
            files[path.name] = path.read_text(encoding="utf-8", errors="replace")
    return files


def in_src(tree, endings=CODE):
    return [(path, text) for path, text in tree.items() if path.startswith("src/") and path.endswith(endings)]


def lines_matching(items, pattern, complaint, keep=lambda path: True):
    # In nearly all files no line matches: asked once of the whole text, and of its lines where it does. `$` is the end of any line.
    pattern, anywhere = re.compile(pattern), re.compile(pattern, re.MULTILINE)
    for path, text in items:
        if not keep(path) or not anywhere.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                yield f"{path}:{number}: {complaint}: {line.strip()[:100]}"


def without_comments(items):
    return [(path, re.sub(r"//[^\n]*", "", text)) for path, text in items]


def rooms_of(tree):
    """Rooms by folder: what each links, as Meson has it. A room is a folder of src with a library of its own; folders
    below it without one belong to it."""
    rooms, folder_of = {}, {}
    for path, text in tree.items():
        if path.startswith("src/") and path.endswith("/meson.build") and "static_library(" in text:
            for name, body in re.findall(r"(\w+)_lib = static_library\((.*?)\n(?=\w)", text + "\nx", re.DOTALL):
                if not name.startswith("lanes"):
                    folder_of.setdefault(name + "_dep", path[4:-len("/meson.build")])
                    linked = re.findall(r"\w+_dep\b", " ".join(re.findall(r"dependencies: (\[.*?\]|\w+)", body, re.DOTALL)))
                    linked += re.findall(r"\w+_dep\b", " ".join(re.findall(rf"{name}_deps \+?= (.*)", text)))
                    rooms.setdefault(path[4:-len("/meson.build")], []).extend(linked)
    groups = {}  # a wing's dependency stands for those of its rooms
    for path, text in tree.items():
        if path.startswith("src/") and path.endswith("/meson.build"):
            for name, body in re.findall(r"(\w+_dep) = declare_dependency\(\s*dependencies: \[(.*?)\]\)", text, re.DOTALL):
                groups[name] = re.findall(r"\w+_dep\b", body)
    def expand(name):
        return [inner for one in groups[name] for inner in expand(one)] if name in groups else [name]
    return {room: {folder_of[inner] for one in linked for inner in expand(one) if inner in folder_of} - {room}
            for room, linked in rooms.items()}


def room_of(rooms, folder):
    while folder and folder not in rooms:
        folder = folder.rpartition("/")[0]
    return folder


def arrows(tree):
    """(from, to) -> the first file with such an #include; and complaints about names that lead nowhere."""
    rooms, found, complaints = rooms_of(tree), {}, []
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
    for path, text in in_src(tree):
        here = room_of(rooms, path[4:].rpartition("/")[0])
        for name in include.findall(text):
            there = room_of(rooms, name.rpartition("/")[0])
            if not there:
                complaints.append(f'{path}: "{name}" does not name a room; write "ROOM/FILE" as seen from src/')
            elif there != here:
                found.setdefault((here, there), path)
    return rooms, found, complaints


def layering(tree):
    rooms, found, complaints = arrows(tree)
    yield from complaints
    for (here, there), path in found.items():
        if there not in rooms.get(here, set()):
            yield f"{path}: {here} includes {there}, which src/{here}/meson.build does not link"
    for here, linked in rooms.items():
        for there in linked:
            if (here, there) not in found and here != "cli":
                yield f"src/{here}/meson.build: links {there}, which no file of {here} includes"


def circles(tree):
    rooms = rooms_of(tree)
    state = {}
    def visit(room, way):
        if state.get(room) == "done":
            return
        if room in way:
            yield f"a circle of rooms: {' -> '.join(way[way.index(room):] + [room])}"
            return
        for there in sorted(rooms.get(room, ())):
            yield from visit(there, way + [room])
        state[room] = "done"
    for room in rooms:
        yield from visit(room, [])


def drawn(tree):
    """ARCHITECTURE.md has a table of the rooms: name, what it is, what it links."""
    rooms = rooms_of(tree)
    page = tree.get("ARCHITECTURE.md", "")
    rows = {name: set(links.replace("`", "").replace(",", " ").split())
            for name, links in re.findall(r"^\| `([\w/]+)` \|[^|\n]*\|([^|\n]*)\|$", page, re.MULTILINE)}
    for room, linked in rooms.items():
        if room not in rows:
            yield f"ARCHITECTURE.md: the table of rooms has no row `{room}`, which links {', '.join(sorted(linked)) or 'nothing'}"
        elif rows[room] != linked:
            yield (f"ARCHITECTURE.md: room `{room}`: the table says {' '.join(sorted(rows[room])) or 'nothing'}, "
                   f"Meson links {' '.join(sorted(linked)) or 'nothing'}")
    for room in rows:
        if room not in rooms:
            yield f"ARCHITECTURE.md: the table of rooms has `{room}`, which is none"


def folder_sizes(tree):
    counts = {}
    for path, _ in in_src(tree):
        folder = path.rpartition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    for folder, count in counts.items():
        if count > 40:
            yield f"{folder}: {count} files, expected at most 40"


# Folders of tests/ that mirror no room: what tests share, and tests of what is not in src/.
TEST_FOLDERS = {"bench", "data", "fake_gpu", "fuzz", "golden", "lint", "support", "tools", "mutants"}


def mirrored(tree):
    folders = {path[4:].rpartition("/")[0] for path, _ in in_src(tree)}
    folders |= {str(parent) for folder in folders for parent in Path(folder).parents}
    for path in tree:
        if path.startswith("tests/") and path.endswith("_test.cpp"):
            folder = path[6:].rpartition("/")[0]
            if folder.split("/")[0] not in TEST_FOLDERS and folder not in folders:
                yield f"{path}: there is no folder src/{folder} that it would test"


def opened(tree):
    """Of every file of code: path, whether its licence stands first, and the lines of its head without comment marks."""
    for path, text in tree.items():
        if not path.startswith(("src/", "tests/")) or not path.endswith((*CODE, ".py")):
            continue
        mark = "#" if path.endswith(".py") else "//"
        lines = text.splitlines()
        if lines and lines[0].startswith("#!"):
            del lines[0]
        licensed = len(lines) >= 4 and lines[0].startswith(mark + " SPDX-FileCopyrightText: ") and \
            lines[1].startswith(mark + " SPDX-License-Identifier: Apache-2.0") and lines[2] == mark
        head = []
        for line in lines[3:]:
            if line != mark and not line.startswith(mark + " "):
                break
            head.append(line[len(mark):].strip())
        yield path, licensed, [line for line in head if line]


def licences(tree):
    for path, licensed, _ in opened(tree):
        if not licensed:
            yield f"{path}: does not start with the two SPDX lines and an empty comment line"


def heads(tree):
    for path, _, head in opened(tree):
        if not 3 <= len(head) <= 60:
            yield f"{path}: its head has {len(head)} lines, expected 3 to 60: what comes in, what goes out, who calls it"


def words_of_heads(tree):
    for path, _, head in opened(tree):
        words = len(" ".join(head).split())
        if words < 20:
            yield f"{path}: its head has {words} words, expected 20 or more: what comes in, what goes out, who calls it"


def unfinished(tree):
    items = [(path, text) for path, text in tree.items() if path != THIS and not path.endswith(".json")]
    yield from lines_matching(items, r"\b(TODO|FIXME|XXX)\b", "an open end")


def environment(tree):
    code = without_comments(in_src(tree))
    yield from lines_matching(code, r"\b(secure_)?getenv\b", "the environment steers nothing but the terminal",
                              lambda path: not path.startswith("src/cli/"))
    yield from lines_matching(code, r"(?<![\w.>])(std::)?exit\s*\(", "only main ends the process",
                              lambda path: path != "src/cli/main.cpp")


def comparisons(tree):
    tests = {path: text for path, text in tree.items() if path.startswith("tests/") and path.endswith((".cpp", ".h"))}
    yield from lines_matching(tests.items(), r"\bdoctest::Approx\b", "adds 1 to what it compares: approx() of support/approx.h",
                              lambda path: path != "tests/support/approx.h")


def counts(tree):
    """Rooms whose sentences people read; texts of to_rows.cpp and microbench_run.cpp are keys of databases."""
    nouns = ("models kernels groups plans launches measurements devices arrays files rows places instructions edges points "
             "blocks observations operations elements references strategies modules samples loops results parameters "
             "registers warnings calls computations branches figures others").replace(" ", "|")
    forms = (r'"[^"]*\{\} (distinct |library |listed |other )?(%s)\b' % nouns,  # "{} kernels"
             r'== 1 \? "" : "e?s"',                                              # count == 1 ? "" : "s"
             r'"[^"]*[a-z]\(e?s\)')                                              # "{} kernel(s)"
    for form in forms:
        yield from lines_matching(without_comments(in_src(tree)), form,
                                  "counted() of base/counted.h knows when there is one",
                                  lambda path: path.startswith(("src/cli/", "src/study/", "src/report/", "src/calibrate/")) and
                                  not path.endswith(("to_rows.cpp", "microbench_run.cpp")))


def catches(tree):
    yield from lines_matching(without_comments(in_src(tree)), r"\bcatch\s*\(", "caught outside " + ", ".join(CATCHES),
                              lambda path: path not in CATCHES)


def libraries(tree):
    include = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
    for path, text in in_src(tree):
        for name in include.findall(text):
            for pattern, allowed, rule in LIBRARY_PLACES:
                if pattern.match(name) and not allowed(path):
                    yield f"{path}: includes {name}; {rule}"


def lengths(tree):
    counts = {path: text.count("\n") for path, text in in_src(tree, (".cpp", ".h"))}
    for path, count in counts.items():
        if count > 600:
            yield f"{path}: {count} lines, expected at most 600"
    if counts and statistics.median(counts.values()) > 150:
        yield f"the median file of src has {statistics.median(counts.values())} lines, expected at most 150"


def columns(tree):
    for path, text in tree.items():
        if path.startswith(("src/", "tests/")) and path.endswith((".cpp", ".h")):
            inside_raw = False
            for number, line in enumerate(text.splitlines(), 1):
                inside_raw = inside_raw or 'R"' in line
                if len(line) > 120 and not inside_raw:
                    yield f"{path}:{number}: {len(line)} columns, expected at most 120"
                if inside_raw and re.search(r'\)\w*"', line.split('R"')[-1]):
                    inside_raw = False


def function_lengths(tree):
    for path, text in in_src(tree, (".cpp", ".h")):
        start = None
        for number, line in enumerate(text.splitlines(), 1):
            if line == "}" and start is not None and number - start[0] + 1 > 60:
                yield f"{path}:{start[0]}: {number - start[0] + 1} lines in one function, expected at most 60: {start[1]}"
            if re.match(r"[A-Za-z_]", line):
                start = (number, line[:80])


def names(tree):
    code = without_comments(in_src(tree, (".cpp", ".h")))
    yield from lines_matching(code, r"\b(class|struct)\s+\w*(Manager|Helper|Util|Utils|Impl|Info|Data)\b\s*[{:]",
                              "a name that says nothing")
    yield from lines_matching(code, r"(?<![.>:\w])get_\w+\s*\(", "a function is named by its result")
    yield from lines_matching(in_src(tree, (".h",)), r"^using namespace", "a header opens no namespace")
    for path, text in in_src(tree, (".h",)):
        if "#pragma once" not in text:
            yield f"{path}: has no #pragma once"


def own_header_first(tree):
    for path, text in in_src(tree, (".cpp",)):
        header = path[:-4] + ".h"
        first = re.search(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', text, re.MULTILINE)
        if header in tree and (first is None or "src/" + first.group(1) != header):
            yield f"{path}: its own header is not its first include"


OPENED_OR_DEFINED = re.compile(
    r"^(?:namespace (?P<space>[\w:]+) \{|(?P<nameless>namespace \{)|(?P<closed>\}  // namespace$)|"
    r"(?:struct|class|union|enum class) (?P<type>\w+)\b(?!::)[^;()\n]*\{)", re.MULTILINE)


def types_once(tree):
    """Two types of one name in one namespace are one type to the linker, which keeps either's functions."""
    seen = {}
    for path, text in tree.items():
        if not path.startswith(("src/", "tests/")) or not path.endswith((".cpp", ".h")):
            continue
        space, nameless = "", False
        for line in OPENED_OR_DEFINED.finditer(text):
            if line["space"] or line["nameless"]:
                space, nameless = (line["space"], False) if line["space"] else (space, True)
            elif line["closed"]:
                nameless = False
            elif not nameless:
                program = path.split("/")[1] if path.startswith("tests/") and path.endswith(".cpp") else ""
                first = seen.setdefault((space, line["type"], program), path)
                if first != path:
                    yield f"{path}: {space}::{line['type']} is also defined in {first}"


def built(tree):
    for path, _ in in_src(tree, (".cpp",)):
        folder = path.rpartition("/")[0]
        while folder != "src" and folder + "/meson.build" not in tree:
            folder = folder.rpartition("/")[0]
        if f"'{path[len(folder) + 1:]}'" not in tree.get(folder + "/meson.build", ""):
            yield f"{path}: is not named in {folder}/meson.build"


def strangers(tree):
    items = [(path, text) for path, text in tree.items() if path != THIS]
    yield from lines_matching(items, r"(?<![\w.~$}-])/(home|root|work|workspace|mnt|media|Users)/", "a path of one machine")
    yield from lines_matching(items, r"pythonhosted|pypi\.org/simple|pkg\.dev|--(extra-)?index-url|jfrog", "a package host")


def links(tree):
    folders = {str(parent) for path in tree for parent in Path(path).parents}
    for path, text in tree.items():
        if not path.endswith(".md"):
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            target = target.split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            parts = []
            for part in (Path(path).parent / target).parts:
                if part == ".." and parts:
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            place = "/".join(parts) or "."
            if place not in tree and place not in folders and not (ROOT / place).exists():
                yield f"{path}: links to {target}, which is not there"


def tables(tree):
    """Lines that begin with a bar are a table only where the second is its ruler."""
    for path, text in tree.items():
        if not path.endswith(".md"):
            continue
        rows, first = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), text, flags=re.DOTALL).splitlines(), 0
        for number, row in enumerate(rows, 1):
            if not row.startswith("|"):
                first = 0
                continue
            first = first or number
            if number == first + 1 and not re.fullmatch(r"[|:\- ]+", row):
                yield f"{path}:{number}: a table's second line, expected its ruler |---|---|"
            if number > first + 1 and re.fullmatch(r"[|:\- ]+", row):
                yield f"{path}:{number}: a second ruler in one table"


LICENCE = "// SPDX-FileCopyrightText: 2026 Ann\n// SPDX-License-Identifier: Apache-2.0\n//\n"

# The rules: sentence, function, an offence it must see.
RULES = [
    ("a room links exactly what it includes", layering,
     {"src/ir/meson.build": "ir_lib = static_library('ir')\n", "src/base/meson.build": "base_lib = static_library('base')\n",
      "src/ir/a.cpp": '#include "base/text.h"\n'}),
    ("no circle of rooms", circles,
     {"src/ir/meson.build": "ir_lib = static_library('ir', dependencies: [base_dep])\n",
      "src/base/meson.build": "base_lib = static_library('base', dependencies: [ir_dep])\n"}),
    ("ARCHITECTURE.md draws the rooms", drawn, {"src/ir/meson.build": "ir_lib = static_library('ir')\n"}),
    ("no folder has over 40 files", folder_sizes, {f"src/ir/{k}.h": "" for k in range(41)}),
    ("tests mirror the rooms", mirrored, {"src/ir/a.h": "", "tests/old/a_test.cpp": ""}),
    ("every file opens with its licence", licences, {"src/ir/a.h": "#pragma once\n"}),
    ("every file's head has three lines or more", heads,
     {"src/ir/a.h": LICENCE + "// A record that holds what a graph, read from a file, says of each of its nodes and of the edges that join\n"
                              "// them. The reader makes it and the lowering reads it.\n#pragma once\n"}),
    ("every file's head says something", words_of_heads,
     {"src/ir/a.h": LICENCE + "// Records.\n// Made by readers.\n// Read by all.\n#pragma once\n"}),
    ("nothing is left open", unfinished, {"docs/a.md": "TODO: write\n"}),
    ("numbers are compared by their relative difference", comparisons,
     {"tests/ir/a_test.cpp": "CHECK(a == doctest::Approx(1e-6));\n"}),
    ("no environment variable steers, no library exits", environment, {"src/ir/a.cpp": 'auto x = std::getenv("A");\n'}),
    ("what is counted has its word by one function", counts,
     {"src/cli/a.cpp": 'auto x = fmt::format("{} kernels compiled", count);\n'}),
    ("exceptions are caught where the design says", catches, {"src/ir/a.cpp": "} catch (const Error& e) {\n"}),
    ("libraries stay where the design puts them", libraries, {"src/ir/a.cpp": "#include <nlohmann/json.hpp>\n"}),
    ("files are short", lengths, {"src/ir/a.cpp": "\n" * 601}),
    ("lines are short", columns, {"src/ir/a.cpp": "x" * 121}),
    ("functions are short", function_lengths, {"src/ir/a.cpp": "int f() {\n" + "  g();\n" * 60 + "}\n"}),
    ("names say what a thing is", names, {"src/ir/a.h": "#pragma once\nstruct GraphManager {\n"}),
    ("a source includes its own header first", own_header_first,
     {"src/ir/a.cpp": '#include <map>\n#include "ir/a.h"\n', "src/ir/a.h": ""}),
    ("a type is defined once", types_once, {"src/ir/a.h": "namespace tailor::ir {\nstruct Value {\n",
                                            "src/ir/b.h": "namespace tailor::ir {\nstruct Value {\n"}),
    ("every source is built", built, {"src/ir/a.cpp": "", "src/ir/meson.build": "'b.cpp'"}),
    ("no file speaks of one machine or one package host", strangers, {"docs/a.md": "see /home/ann/notes\n"}),
    ("every link between pages leads somewhere", links, {"README.md": "[gone](docs/gone.md)\n"}),
    ("every table of a page has its ruler", tables, {"README.md": "| a | b |\n| 1 | 2 |\n|---|---|\n"}),
]


def scripts(root):
    """Complaints of `bash -n` about every shell script at the front door."""
    for name in ("run", "test", ".ci/run", "tools/setup"):
        result = subprocess.run(["bash", "-n", root / name], capture_output=True, text=True)
        if result.returncode != 0:
            yield f"{name}: {result.stderr.strip()}"


# Logs as Meson writes them, and the line and exit code that the tally owes.
TALLIES = [
    ([], "0 passed, 0 failed, 0 skipped", 1),
    ([{"stdout": "ok 1 - a\nok 2 - b # SKIP no data\n1..2\n", "result": "OK"}], "1 passed, 0 failed, 1 skipped", 0),
    ([{"stdout": "ok 1 - a\nnot ok 2 - b\n# b.cpp:1\n1..2\n", "result": "FAIL"}], "1 passed, 1 failed, 0 skipped", 1),
    ([{"stdout": "ok 1 - a\n", "result": "ERROR"}], "1 passed, 1 failed, 0 skipped", 1),  # died after a good line
    ([{"stdout": "ok 1 - a\n", "result": "TIMEOUT"}], "1 passed, 1 failed, 0 skipped", 1),
    ([{"result": "OK"}, {"result": "SKIP"}], "1 passed, 0 failed, 1 skipped", 0),  # tests that do not speak TAP
]


def miscounts(root):
    """What tools/tally gets wrong about logs whose count is known."""
    with tempfile.TemporaryDirectory() as folder:
        for log, line, code in TALLIES:
            path = Path(folder) / "log.json"
            path.write_text("".join(json.dumps(test) + "\n" for test in log), encoding="utf-8")
            result = subprocess.run([root / "tools/tally", path], capture_output=True, text=True)
            if (result.stdout, result.returncode) != (line + "\n", code):
                yield f"tools/tally says {result.stdout!r} and exits {result.returncode} for {log}"


def unformatted(root, tree):
    """Files that clang-format would change; None when the version that the style is written for is not installed."""
    tool = next((t for t in ("clang-format-14", "clang-format") if shutil.which(t)), None)
    if tool is None or " 14." not in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
        return None
    files = [path for path in tree if path.startswith(("src/", "tests/")) and path.endswith((".cpp", ".h"))]
    result = subprocess.run([tool, "--dry-run", *files], cwd=root, capture_output=True, text=True)
    changed = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "-Wclang-format-violations" in line})
    return [f"{path}: run clang-format -i on it" for path in changed]


def main():
    tree = tree_of(ROOT)
    number = 0
    if "--format" in sys.argv:
        complaints = unformatted(ROOT, tree)
        skip = " # SKIP clang-format 14 is not installed" if complaints is None else ""
        print(f"{'not ok' if complaints else 'ok'} 1 - sources are formatted{skip}")
        print("".join(f"# {complaint}\n" for complaint in complaints or []) + "1..1")
        return

    def verdict(sentence, complaints):
        nonlocal number
        number += 1
        print(f"{'not ok' if complaints else 'ok'} {number} - {sentence}")
        for complaint in complaints[:40]:
            print(f"# {complaint}")

    verdict("the tree has files to check", [] if len(in_src(tree)) > 10 else ["found no sources: is ROOT right?"])
    for sentence, rule, offence in RULES:
        complaints = list(rule(tree))
        if not list(rule(offence)):
            complaints.append(f"{rule.__name__} does not see the offence {offence}")
        verdict(sentence, complaints)
    verdict("scripts parse", list(scripts(ROOT)))
    verdict("the tally counts failures, deaths and silence", list(miscounts(ROOT)))
    print(f"1..{number}")


ROOT = Path(sys.argv[1]).resolve()
main()
