#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# `meson install` into an empty prefix, which is moved; then it is used with an empty environment, from another folder, and
# where the kernel allows it with sources and build folder out of reach. The commands, the manual page, the completions in
# the shells that this machine has, and the program of docs/library.md against the installed library. One TAP line each.
#
#   install_test.py BUILD SOURCE_DIR
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TESTS = []


class Skipped(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def needs(program):
    if shutil.which(program) is None:
        raise Skipped(f"no {program} on this machine")


def hidden_sources():
    """Words before a command that hide SOURCE and BUILD from it; nothing where the kernel refuses that."""
    script = f'for d in "{BUILD}" "{SOURCE}"; do [ ! -d "$d" ] || mount -t tmpfs none "$d" || exit 9; done; exec "$@"'
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None:
        return []
    tried = subprocess.run([*words, "ls", str(SOURCE)], capture_output=True, text=True, cwd="/")
    return words if tried.returncode == 0 and not tried.stdout else []


class Prefix:
    """An installation that lies elsewhere than it was installed to."""

    def __init__(self, folder):
        first, self.home = folder / "first", folder / "home"
        done = subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", str(first)],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stdout + done.stderr)
        (program,) = first.rglob("bin/tailor")
        self.root = folder / "moved there"
        program.parent.parent.rename(self.root)
        shutil.rmtree(first)
        self.home.mkdir()
        self.hidden = hidden_sources()

    def run(self, *words, code=0, stdin=None):
        """What a command says on stdout. Its environment has a home and a path, and nothing else."""
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([*self.hidden, *map(str, words)], capture_output=True, text=True, cwd=self.home, env=env,
                              input=stdin, timeout=300)
        check(done.returncode == code, f"{words}: exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}")
        return done.stdout

    def tailor(self, *words, code=0):
        return self.run(self.root / "bin/tailor", *words, code=code)

    def commands(self):
        return [row["command"] for row in json.loads(self.tailor("list", "commands", "--format", "json"))["results"]]


@test
def everything_has_its_place(prefix):
    for place in ("bin/tailor", "share/man/man1/tailor.1", "share/bash-completion/completions/tailor",
                  "share/zsh/site-functions/_tailor", "share/fish/vendor_completions.d/tailor.fish",
                  "share/tailor/devices/h200.json", "share/tailor/calibrations/uncalibrated.json", "share/tailor/kernels/stencil.cu",
                  "share/tailor/models/softmax_fwd_f32_4096x1024.hlo", "share/tailor/xla/h200.json",
                  "include/tailor/hlo/import.h", "include/tailor/ir/graph/ops.def"):
        check((prefix.root / place).is_file(), f"there is no {place}")


@test
def the_program_names_no_folder_of_the_machine_that_built_it(prefix):
    # Assertions, which a release has not, say where they stand: names of source files are all that may be there.
    named = re.findall(re.escape(str(SOURCE).encode()) + rb"[^\0]*", (prefix.root / "bin/tailor").read_bytes())
    strange = [text for text in named if not re.search(rb"\.(cpp|h)$", text)]
    check(not strange, f"the program has {strange[:3]} in it")
    for path in prefix.root.rglob("*.pc"):
        check(str(SOURCE) not in path.read_text() and str(prefix.root) not in path.read_text(), f"{path.name} names a folder")


@test
def commands_find_their_data_beside_the_program(prefix):
    model = prefix.root / "share/tailor/models/softmax_fwd_f32_4096x1024.hlo"
    check("h200" in prefix.tailor("devices"), "devices does not know h200")
    for words in (["import", model], ["fuse", model, "--compare", "--device", "h200"], ["explain", model, "--device", "h200"],
                  ["explore", model, "--device", "a100_80gb", "--max-plans", "50"], ["list", "strategies"], ["doctor"]):
        check(prefix.tailor(*words).strip(), f"{words[0]} says nothing")


@test
def a_sweep_runs_and_is_reported(prefix):
    experiment = {"models": [str(prefix.root / "share/tailor/models/softmax_fwd_f32_4096x1024.hlo")], "devices": ["h200"],
                  "strategies": ["unfused", "tailor"], "plans": {"max_per_group": 20}, "compile": False, "report": "pages"}
    (prefix.home / "mine.json").write_text(json.dumps(experiment))
    prefix.tailor("sweep", "mine.json")
    check("softmax" in prefix.tailor("report", "mine.db"), "the report does not name the model")
    check((prefix.home / "pages" / "report.html").is_file() or list((prefix.home / "pages").glob("*.html")), "there are no pages")


@test
def a_kernel_runs_on_the_simulator(prefix):
    kernel = prefix.root / "share/tailor/kernels/row_sum.cu"
    done = subprocess.run([prefix.root / "bin/tailor", "run", kernel], capture_output=True, text=True, cwd=prefix.home)
    if done.returncode == 3:
        raise Skipped("no compiler of kernels on this machine")
    check("out-of-bounds access" in done.stderr, done.stderr)  # the bug that this example has


@test
def the_manual_has_every_command_and_option(prefix):
    needs("man")
    page = prefix.root / "share/man/man1/tailor.1"
    shown = prefix.run("env", "MANWIDTH=400", "LC_ALL=C.UTF-8", "MANROFFOPT=-ww", "man", "--warnings", "-P", "cat", page)
    shown = re.sub(".\b", "", shown)
    flat = " ".join(shown.split())
    for name in prefix.commands():
        check(f"tailor {name}" in flat, f"the page lacks {name}")
        said = prefix.tailor(name, "--help")
        for line in said[said.index("\nusage\n"):].splitlines():
            option = re.match(r"  (-[-\w,]+)( \S+)? {2,}(\S.*)", line)
            if option:
                check(option[1].replace(",", ", ") in shown, f"the page lacks {name} {option[1]}")
                check(" ".join(option[3].split()) in flat, f"the page does not say of {name} {option[1]}: {option[3]}")


def completed(prefix, shell, line):
    """The words that a shell offers for what stands last in `line`."""
    environment = f'PATH="{prefix.root}/bin:/usr/bin:/bin"'
    if shell == "bash":
        words = line.split(" ")
        script = (f'{environment}; source "{prefix.root}/share/bash-completion/completions/tailor"; COMP_WORDS=({" ".join(words[:-1])} '
                  f'"{words[-1]}"); COMP_CWORD={len(words) - 1}; _tailor; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return set(prefix.run("bash", "--norc", "-c", script).split())
    if shell == "fish":
        script = f'set -x PATH "{prefix.root}/bin" /usr/bin /bin; source "{prefix.root}/share/fish/vendor_completions.d/tailor.fish"; complete -C "{line}"'
        return {offered.split("\t")[0] for offered in prefix.run("fish", "--no-config", "-c", script).splitlines()}
    # zsh completes only where somebody types: a terminal inside, whose lists are read as they are shown.
    script = f"""zmodload zsh/zpty
zpty inner 'PS1= TERM=dumb zsh -f -i'
zpty -w inner '{environment}; fpath=("{prefix.root}/share/zsh/site-functions" $fpath); autoload -Uz compinit; compinit -u -D -d "{prefix.home}/zcompdump"'
zpty -w inner 'LISTMAX=10000; stty columns 4000 2>/dev/null; COLUMNS=400; LINES=400; bindkey "^I" complete-word; setopt no_list_ambiguous no_beep; zstyle ":completion:*" list-prompt ""; zstyle ":completion:*" menu no'
zpty -w inner 'echo READY'; zpty -r inner ready '*READY*READY*'
zpty -wn inner $'{line}\\t\\t'; sleep 1.5; zpty -r -t inner one; while zpty -r -t inner more; do one+=$more; done; print -r -- $one"""
    return set(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", prefix.run("zsh", "-f", "-c", script)).split())


def completes(shell):
    def tested(prefix):
        needs(shell)
        (prefix.home / "picture.svg").touch()
        files = [("tailor fuse --to pict", {"picture.svg"})] if shell != "bash" else []  # bash falls back to files itself
        files += [("tailor fuse --to a.svg,pict", {"picture.svg"})] if shell != "fish" else []
        for line, expected in (*files, ("tailor ex", {"explain", "explore"}), ("tailor fuse --comp", {"--compare"}),
                               ("tailor explain --device h2", {"h200"}), ("tailor fuse --strategy tailor-", {"tailor-any"}),
                               ("tailor list --format c", {"csv"})):
            offered = completed(prefix, shell, line)
            # A shell that finds one word puts it into the line.
            check(expected <= offered or any(word.endswith(tuple(expected)) for word in offered),
                  f"{shell} offers {sorted(offered)} for '{line}', expected {sorted(expected)}")
    tested.__name__ = f"{shell}_completes_commands_options_and_values"
    return tested


for shell in ("bash", "zsh", "fish"):
    TESTS.append(completes(shell))


@test
def the_program_of_the_library_page_compiles_and_agrees_with_fuse(prefix):
    needs("pkg-config")
    needs("c++")
    text = re.search(r"```cpp\n(.*?)```", (SOURCE / "docs/library.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    (prefix.home / "price.cpp").write_text(text)
    (pc,) = prefix.root.rglob("tailor.pc")
    flags = prefix.run("env", f"PKG_CONFIG_PATH={pc.parent}", "pkg-config", "--cflags", "--libs", "--static", "tailor")
    prefix.run("sh", "-c", f"c++ -o price price.cpp {flags}")
    data = prefix.root / "share/tailor"
    model = data / "models/layernorm_fwd_tf_f32_4096x768.hlo"
    rows = dict(line.split(None, 1) for line in prefix.run("./price", model, data).splitlines())
    asked = json.loads(prefix.tailor("fuse", model, "--compare", "--device", "h200", "--format", "json"))["results"]
    check(len(rows) >= 5, f"the program says {rows}")
    for row in asked:
        said = rows.get(row["strategy"].split(" ")[0])
        check(said is not None, f"the program says nothing of {row['strategy']}")
        check(int(said.split()[0]) == row["kernels"], f"{row['strategy']}: {said}, but {row['kernels']} kernels")
        check(abs(float(said.split()[2]) - row["h200_price_s"] * 1e6) < 2e-3, f"{row['strategy']}: {said}, but {row['h200_price_s']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        print(f"1..{len(TESTS)}")
        prefix = Prefix(Path(folder))
        print(f"# sources are {'hidden' if prefix.hidden else 'in sight: this kernel does not let a test hide them'}")
        for number, one in enumerate(TESTS, 1):
            name = one.__name__.replace("_", " ")
            try:
                one(prefix)
                print(f"ok {number} - {name}", flush=True)
            except Skipped as why:
                print(f"ok {number} - {name} # SKIP {why}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as fault:
                print(f"not ok {number} - {name}", flush=True)
                print("# " + str(fault).replace("\n", "\n# "), flush=True)


main()
