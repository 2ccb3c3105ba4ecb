# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Properties of the program's answers as TAP. In: a sentence and a function for each property; the function gets the program
# and an empty folder, and raises where the property does not hold. Out: one line each. Used by the scripts beside it that
# hold answers against an oracle (evaluate.py) or against one another (answers.py).
import json
import os
import subprocess
import tempfile
from pathlib import Path

MISSING = 3


class Test:
    def __init__(self, tailor):
        self.tailor, self.number = tailor, 0

    def run(self, *words, wanted=0, environment=None):
        result = subprocess.run([self.tailor, *map(str, words)], capture_output=True, text=True, timeout=300,
                                env={**os.environ, **(environment or {})})
        if result.returncode == MISSING and "needs NVRTC" in result.stderr:
            raise LookupError("no NVRTC on this machine")
        if result.returncode != wanted:
            raise AssertionError(f"{words}: exit code {result.returncode}, expected {wanted}: {result.stderr}")
        return result

    def records(self, *words, wanted=0):
        return json.loads(self.run(*words, "--format", "json", wanted=wanted).stdout)

    def says(self, what, body):
        self.number += 1
        try:
            with tempfile.TemporaryDirectory() as folder:
                body(self, Path(folder))
            print(f"ok {self.number} - {what}", flush=True)
        except LookupError as reason:
            print(f"ok {self.number} - {what} # SKIP {reason}", flush=True)
        except Exception as fault:  # whatever goes wrong is the property's
            print(f"not ok {self.number} - {what}\n# " + f"{fault!r}".replace("\\n", "\n# "), flush=True)
