#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Ctrl-C ends every command soon. In: the program and the source folder. Out: one TAP line for each command that can take
# long. Called by `./test cli`.
#
#   interrupts.py TAILOR SOURCE_DIR
#
# Each command is given an input that keeps it busy for many seconds (a model of many nodes, or of many elements) and gets
# SIGINT at several moments. It must end within half a second, with exit code 130 and the word for it; where it was
# already done it must have said so with another exit code, and at least one moment must have met it at work. On a machine
# with more runnable processes than processors the half second is stretched by that ratio.
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOMENTS = (0.15, 0.4, 0.9, 1.7, 3.0)  # seconds after the start
LIMIT = 0.5  # seconds
INTERRUPTED = 130


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


def commands(folder, source):
    nodes, cells = folder / "nodes.hlo", folder / "cells.hlo"
    chain(nodes, 400_000, "f32[64,128]{1,0}")
    chain(cells, 30, "f32[8192,8192]{1,0}")
    sweep = folder / "sweep.json"
    sweep.write_text(json.dumps({
        "question": "Does it stop?", "models": [str(nodes)], "devices": ["h200"], "strategies": ["none", "stitch-v1"],
        "baseline": "none", "cost_model": "projected", "shortlist": 2, "compile": True, "arch": "auto", "seed": 1,
        "database": str(folder / "sweep.db"), "report": str(folder / "report")}), encoding="utf-8")
    device = ["--device", "h200"]
    yield ["import", str(nodes)]
    yield ["import", str(nodes), "--text"]
    yield ["fuse", str(nodes), "--compare"]
    yield ["fuse", str(nodes), "--why", "--top", "0"]
    yield ["explore", str(nodes), *device]
    yield ["explain", str(nodes), *device]
    yield ["emit", str(nodes), *device]
    # NVRTC handles SIGINT itself while it compiles and ends the program its own way: here it compiles one kernel only, and
    # the signal comes later.
    yield ["check", str(cells), *device, "--group", "1", "--top", "1"]
    yield ["sweep", str(sweep)]


def ends(command, moment, folder):
    """How long the command lived after the signal, its exit code and its messages; nothing when it was done before."""
    with open(folder / "messages", "w+", encoding="utf-8") as messages:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
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


def main():
    tailor, source = sys.argv[1], Path(sys.argv[2])
    processors = os.cpu_count() or 1
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        number = 0
        for number, words in enumerate(commands(folder, source), 1):
            complaints, met, longest = [], 0, 0.0
            for moment in MOMENTS[-2:] if words[0] == "check" else MOMENTS:
                limit = LIMIT * max(1.0, os.getloadavg()[0] / processors)
                ended = ends([tailor, *words], moment, folder)
                if ended is None:
                    continue
                spent, code, messages = ended
                if code == 0 and spent < limit:
                    continue  # it was just done
                met += 1
                longest = max(longest, spent)
                if spent > limit:
                    complaints.append(f"{spent:.2f} s after a signal at {moment} s, at most {limit:.2f}")
                if code != INTERRUPTED:
                    complaints.append(f"exit code {code} after a signal at {moment} s: {messages[-200:]!r}")
                elif "interrupted" not in messages:
                    complaints.append(f"no word of an interrupt: {messages[-200:]!r}")
            if met == 0:
                complaints.append("it was never met at work: give it a longer input")
            shown = " ".join(Path(word).name if "/" in word else word for word in words)
            print(f"{'not ok' if complaints else 'ok'} {number} - tailor {shown} ends with Ctrl-C "
                  f"({met} times, {longest:.2f} s at most)", flush=True)
            for complaint in complaints:
                print(f"# {complaint}", flush=True)
            failed |= bool(complaints)
        print(f"1..{number}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
