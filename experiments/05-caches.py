#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# V1- against V2-style code: what do the index cache and the value cache gain? FusionStitching's second version keeps what it
# computed, by operation and index; the first computes it again wherever it is needed. Both caches are axes of the plan space,
# so both styles come from the same lowering. Two sweeps score the same groups, with the caches on and off. The best plan of
# each group is compiled and executed on the simulator at full shape. The claim: today's compiler finds what the caches find. In
# all, what the kernels execute differs by at most 2 %, and no group takes longer with the caches, by level `counted`.
#
#   experiments/05-caches.py [TAILOR [FOLDER]]      FOLDER: of the databases, out/ where not given
# It ends with 0 where the claim holds, with 4 where not, else as tailor sweep ends.
import gzip
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAILOR = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/src/cli/tailor")
OUT = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "out"
MODELS = ["data/models/softmax_fwd_f32_4096x1024.hlo", "data/models/layernorm_fwd_tf_f32_4096x768.hlo",
          "data/models/bert_infer_l12_b1_s128_f16.hlo",
          "experiments/models/irregular/reduce_chain_2048x1000.hlo", "experiments/models/irregular/power_broadcast_add_8192x1024.hlo"]
SAME = 0.02


def sweep(style, caches):
    """Runs the sweep, or goes on with it; returns its database."""
    OUT.mkdir(parents=True, exist_ok=True)
    database, file = OUT / f"05-caches-{style}.db", OUT / f"05-caches-{style}.json"
    file.write_text(json.dumps({
        "question": f"What does code of style {style} execute?", "models": [str(ROOT / model) for model in MODELS],
        "devices": ["h200"], "strategies": ["tailor"], "shortlist": 1, "check": {"top": 1, "blocks": 0},
        "plans": {"max_per_group": 256, "axes": {"index_cache": [caches], "value_cache": [caches]}}, "database": str(database)}))
    done = subprocess.run([TAILOR, "sweep", str(file), "-q", "-o", str(OUT / f"05-caches-{style}.txt")])
    if done.returncode != 0:
        sys.exit(done.returncode)
    return database


def executed(database):
    """Group -> (title, text, instructions, time by level counted) of its best plan that was executed, without XLA's."""
    rows = sqlite3.connect(database).execute(
        "SELECT b.group_id, g.title, k.cuda, c.value, b.total_s FROM best_plans b JOIN groups g USING (group_id) "
        "JOIN lowerings l USING (plan_id, device_id) JOIN kernels k USING (kernel_id) JOIN binaries n USING (kernel_id) "
        "JOIN measurements m USING (binary_id) JOIN counters c USING (measurement_id) "
        "WHERE b.level = 'counted' AND c.counter = 'instructions' AND n.ok "
        "AND NOT EXISTS (SELECT 1 FROM xla_plans x WHERE x.plan_id = b.plan_id) ORDER BY b.group_id, b.place DESC")
    return {group: (title, len(gzip.decompress(cuda)), *rest) for group, title, cuda, *rest in rows}


def main():
    off, on = executed(sweep("v1", False)), executed(sweep("v2", True))
    both = sorted(set(off) & set(on), key=lambda group: -off[group][2])
    print(f"{'group':<42} {'characters of CUDA':>19} {'instructions':>22} {'time':>7}")
    print(f"{'':<42} {'V1':>9} {'V2':>9} {'V1':>11} {'V2':>10} {'V2/V1':>7}")
    for group in both[:12]:
        (title, long, before, slow), (_, short, after, fast) = off[group], on[group]
        print(f"{title[:42]:<42} {long:>9,} {short:>9,} {before:>11,.0f} {after:>10,.0f} {fast / slow:>7.3f}")
    text, instructions = (sum(on[group][i] for group in both) / sum(off[group][i] for group in both) for i in (1, 2))
    slower = [on[group][0] for group in both if on[group][3] > off[group][3] * (1 + SAME)]
    print(f"{len(both)} groups; with the caches {text:.3f} of the text and {instructions:.3f} of the instructions; "
          f"slower: {', '.join(slower) or 'none'}")
    holds = abs(instructions - 1) <= SAME and not slower
    print(f"the claim {'holds' if holds else 'does not hold'}: as many instructions within {SAME:.0%}, and no group slower")
    return 0 if holds else 4


sys.exit(main())
