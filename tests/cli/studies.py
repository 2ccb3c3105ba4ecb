#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# The numbered studies of experiments/ that need no GPU, each by its one command, into a folder of its own: each must end
# with 0, that is, its claim holds. Without a compiler of kernels they are skipped. One TAP line each.
#
#   studies.py TAILOR SOURCE_DIR
import subprocess
import sys
import tempfile
from pathlib import Path

TAILOR, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MISSING = 3

studies = [path for path in sorted((SOURCE / "experiments").glob("0[0-9]-*")) if path.name != "01-measured.json"]
print(f"1..{len(studies)}")
with tempfile.TemporaryDirectory() as folder:
    for number, study in enumerate(studies, 1):
        if study.suffix == ".py":
            words = [sys.executable, study, TAILOR, folder]
        else:
            words = [TAILOR, "sweep", study, "--store", Path(folder) / f"{study.stem}.db", "-q"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
        skip = " # SKIP no compiler of kernels on this machine" if done.returncode == MISSING else ""
        print(f"{'ok' if done.returncode in (0, MISSING) else 'not ok'} {number} - {study.name} ends with 0{skip}", flush=True)
        if done.returncode not in (0, MISSING):
            print("# " + (done.stdout[-800:] + done.stderr[-400:]).replace("\n", "\n# "), flush=True)
