#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Whether XLA's own parser reads the HLO text that `tailor fuse --to FILE.hlo` writes, with as many fusion instructions
# as Tailor wrote. One TAP line per model and strategy; skipped where there is no jaxlib, whose parser it is.
#
#   xla_reads.py TAILOR SOURCE_DIR
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STRATEGIES = ["unfused", "imported", "stitch-v1", "tailor-any"]


def parser():
    """The function that reads a module's text, wherever this jaxlib has it; None without one."""
    try:
        from jaxlib import xla_client
    except ImportError:
        return None
    for place in (getattr(xla_client, "hlo", None), getattr(xla_client, "_xla", None)):
        if hasattr(place, "hlo_module_from_text"):
            return place.hlo_module_from_text
    return None


def main():
    tailor, source = sys.argv[1], Path(sys.argv[2])
    read = parser()
    if read is None:
        print("1..0 # SKIP no jaxlib here")
        return 0
    models = sorted((source / "data" / "models").glob("*.hlo")) + [source / "tests/data/xla_small/model.hlo"]
    failed = number = 0
    print(f"1..{len(models) * len(STRATEGIES)}")
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            for strategy in STRATEGIES:
                number += 1
                written = Path(folder) / f"{number}.hlo"
                command = [tailor, "fuse", str(model), "-q", "--strategy", strategy, "--device", "h200", "--to", str(written)]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                reason = run.stderr
                if run.returncode == 0:
                    text = written.read_text(encoding="utf-8")
                    try:
                        again = read(text).to_string()
                        fusions = [len(re.findall(r"\bfusion\(", one)) for one in (text, again)]
                        reason = "" if fusions[0] == fusions[1] else f"{fusions[0]} fusions written, {fusions[1]} read"
                    except Exception as error:  # whatever the parser throws is its answer
                        reason = str(error)
                print(f"{'not ok' if reason else 'ok'} {number} - XLA reads {model.name} fused by {strategy}")
                for line in reason.splitlines()[:8]:
                    print(f"# {line}")
                failed += 1 if reason else 0
    return 1 if failed else 0


sys.exit(main())
