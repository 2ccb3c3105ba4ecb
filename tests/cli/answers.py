#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Figures of answers against one another: what a table says against its JSON, a sum against its parts, one command against
# another about the same thing. One TAP line per property; what needs a compiled kernel is skipped where there is no NVRTC.
#
#   answers.py TAILOR SOURCE_DIR
import json
import os
import re
import sys
from pathlib import Path

from tap import Test

MODELS = Path(sys.argv[2]) / "data/models"
BERT, NORM = MODELS / "bert_infer_l12_b1_s128_f16.hlo", MODELS / "layernorm_fwd_tf_f32_4096x768.hlo"
SOFTMAX = MODELS / "softmax_fwd_f32_4096x1024.hlo"
DEVICE = ("--device", "h200")
BROAD = "TAILOR_BROAD" in os.environ or "TAILOR_THOROUGH" in os.environ  # as tests/support/thorough.h has it
SORTED = """HloModule sorted

%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = pred[] compare(%a, %b), direction=LT
}
ENTRY %main (x: f32[4096], y: f32[4096]) -> (f32[4096], f32[4096]) {
  %x = f32[4096] parameter(0)
  %y = f32[4096] parameter(1)
  %e = f32[4096] exponential(%y)
  %s = f32[4096] sort(%x), dimensions={0}, to_apply=%less
  ROOT %t = (f32[4096], f32[4096]) tuple(%e, %s)
}
"""


def near(a, b, share=1e-9):
    return abs(a - b) <= share * max(abs(a), abs(b), 1e-30)


def cells(text, heading):
    """Rows of the table whose head begins with the word, split where two blanks are."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(heading) and lines[i + 1].startswith("─"))
    rows = []
    for line in lines[at + 2:]:
        if not line or line.endswith("shows all"):
            break
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows


def fuse_is_sorted(test, folder):
    priced = None
    for words in (DEVICE, ()):
        document = test.records("fuse", BERT, *words)
        groups, total = document["results"], document["totals"][0]
        costs = [row["all_price_s"] if words else row["traffic_bytes"] * row["runs"] for row in groups]
        assert costs == sorted(costs, reverse=True), costs
        assert near(sum(costs), total["h200_price_s"] if words else total["traffic_bytes"]), (sum(costs), total)
        assert all(near(row["cost_share_fraction"], cost / sum(costs)) for row, cost in zip(groups, costs)), groups
        assert sorted(row["number"] for row in groups) == list(range(1, len(groups) + 1))
        priced = priced or groups
    shown = cells(test.run("fuse", BERT, *DEVICE, "--top", 3).stdout, "#")
    for line, row in zip(shown, priced, strict=False):
        assert int(line[0]) == row["number"] and f"{100 * row['cost_share_fraction']:.1f}" in line, (line, row)
    # A number is a name, wherever its row stands.
    dearest = priced[0]
    explained = test.records("explain", BERT, *DEVICE, "--group", dearest["number"])["results"][0]
    assert explained["group"] == dearest["group"], (explained["group"], dearest)
    assert near(explained["bound_time_s"], dearest["h200_bound_s"]), (explained, dearest)


def reasons_add_up(test, folder):
    document = test.records("fuse", BERT, *DEVICE, "--why")
    edges, reasons = document["results"], document["reasons"]
    assert sum(row["edges"] for row in reasons) == len(edges) > 100, (len(edges), reasons)
    assert [row["carried_bytes"] for row in reasons] == sorted((row["carried_bytes"] for row in reasons), reverse=True)
    assert len(reasons) < 20 and not re.search("%[a-z]", json.dumps(reasons).replace("%...", "")), reasons
    for decision in ("cut", "stitched", "recomputed"):
        here = sum(row["edges"] for row in reasons if row["decision"] == decision)
        assert here == sum(row["decision"] == decision for row in edges), decision
    assert test.run("fuse", BERT, *DEVICE, "--why").stdout.startswith("why tailor decided so")


def bound_comes_first(test, folder):
    for model in (NORM, SOFTMAX):
        row = test.records("explain", model, *DEVICE)["results"][0]
        assert near(row["of_bound_fraction"], row["bound_time_s"] / row["predicted_s"]), row
        assert 0 < row["of_bound_fraction"] <= 1, row
        first = test.run("explain", model, *DEVICE).stdout.splitlines()[0]
        assert first.startswith(f"reaches     {100 * row['of_bound_fraction']:.0f} % of the bound"), (first, row)


def ties_are_counted(test, folder):
    for model in (SOFTMAX, NORM):
        words = ("explore", model, *DEVICE, "--max-plans", 500, "--top", 0)
        document = test.records(*words)
        space, places = document["space"][0], [row["predicted_place"] for row in document["results"] if row["rank"]]
        tied = [place for place in places if place in ("1", "1=")]
        assert len(tied) == space["tied_kernels"] and len(places) == space["different_kernels"], (tied, space)
        first = test.run(*words).stdout.splitlines()[0]
        assert first.startswith(f"{len(tied)} of {len(places)} different kernels tie") if len(tied) > 1 else "one of" in first, first


def two_plans_are_the_two(test, folder):
    one = {word: test.records("explain", NORM, word, *DEVICE) for word in ("1", "40")}
    parts = {word: {row["part"]: row["part_time_s"] for row in answer["parts"]} for word, answer in one.items()}
    both, turned = (test.records("explain", NORM, *words, *DEVICE) for words in (("1", "40"), ("40", "1")))
    row = both["results"][0]
    assert (row["first_predicted_s"], row["second_predicted_s"]) == tuple(one[w]["results"][0]["predicted_s"] for w in ("1", "40"))
    assert (row["faster"], turned["results"][0]["faster"]) == ("first", "second") and near(row["more_s"], -turned["results"][0]["more_s"])
    *terms, total = both["parts"]
    assert total["part"] == "total" and terms[-1]["part"] == "overlap", both["parts"]
    for key in ("first_time_s", "second_time_s", "more_s"):
        assert abs(sum(term[key] for term in terms) - total[key]) < 1e-12, (key, both["parts"])
    assert (total["first_time_s"], total["second_time_s"]) == (row["first_predicted_s"], row["second_predicted_s"])
    for part in terms[:-1]:
        assert (part["first_time_s"], part["second_time_s"]) == (parts["1"][part["part"]], parts["40"][part["part"]]), part
    missing = set(parts["1"]) - {part["part"] for part in both["parts"]}
    assert all(parts["1"][part] == parts["40"][part] == 0 for part in missing), missing
    plans = [dict(word.split("=") for word in one[w]["results"][0]["plan"].split()[1:]) for w in ("1", "40")]
    differ = {name for name in plans[0] | plans[1] if plans[0].get(name) != plans[1].get(name)}
    assert {axis["axis"] for axis in both["plans"]} == differ, (both["plans"], differ)
    threads = next(count for count in both["counts"] if count["counter"] == "threads of a block")
    assert [threads["first_count"], threads["second_count"]] == [one[w]["results"][0]["threads"] for w in ("1", "40")]
    assert all(count["first_count"] != count["second_count"] for count in both["counts"]), both["counts"]
    same = test.records("explain", NORM, "1", "1", *DEVICE)
    assert same["results"][0]["faster"] == "neither" and not same["plans"] and not same["counts"], same


def verdict_counts_rows(test, folder):
    if BROAD:  # the compiler takes long
        words = ("check", BERT, *DEVICE, "--strategy", "tailor-any", "--top", 1, "--blocks", 8, "--cache", folder / "kernels")
        document = test.records(*words)
        verdict, rows = document["verdict"][0], document["results"]
        state = [row["state"] for row in rows]
        assert verdict["kernels"] == verdict["kernels_passed"] == state.count("passed") > 5, verdict
        assert verdict["groups_without_plan"] == state.count("no plan") == 0, verdict
        said = test.run(*words).stdout
        assert said.startswith(f"{verdict['kernels_passed']} of {verdict['kernels']} kernels passed"), said
        assert said.count("passed") == 1, said  # of what is right there is no row
        assert test.run(*words, "--passed").stdout.count("passed") == verdict["kernels_passed"] + 1
    path = folder / "sorted.hlo"
    path.write_text(SORTED, encoding="utf-8")
    words = ("check", path, *DEVICE, "--strategy", "unfused", "--top", 1)
    document = test.records(*words)
    verdict, state = document["verdict"][0], [row["state"] for row in document["results"]]
    assert verdict["groups_without_plan"] == state.count("no plan") == 1 and state.count("passed") == 1, document
    said = test.run(*words).stdout
    assert "no plan" in said and said.count("passed") == 1, said


def a_new_device_is_filled_in(test, folder):
    path = folder / "mine.json"
    missing = test.records("devices", "new", path, "--from", "h200")["results"]
    said = test.run("devices", path, wanted=1).stderr
    assert f"{len(missing)} figures are missing: " in said and all(row["figure"] in said for row in missing), said
    file = json.loads(path.read_text(encoding="utf-8"))
    assert {name for name, row in file["figures"].items() if row["value"] is None} == {row["figure"] for row in missing}
    for row in missing:
        file["figures"][row["figure"]] = {"value": row["value"], "unit": row["unit"], "source": "a test"}
    path.write_text(json.dumps(file), encoding="utf-8")
    mine, theirs = ({row["figure"]: row["value"] for row in test.records("devices", name)["results"]} for name in (path, "h200"))
    assert mine == theirs, (mine, theirs)


def options_agree(test, folder):
    """An option means the same wherever it is: what its value is called says so. What takes several takes commas."""
    words = {}
    for row in test.records("list", "commands")["results"]:
        for line in test.run(row["command"], "--help").stdout.splitlines():
            if match := re.match(r"  (?:-\w,)?(--[a-z-]+) (\S+)(?:  |$)", line):
                words.setdefault(match[1], {})[row["command"]] = match[2]
    assert len(words) > 60, words
    for old in ("--db", "--workers", "--out", "--counter"):
        assert old not in words, (old, words[old])
    for name in ("--store", "--threads", "--cache", "--folder", "--seed", "--nvrtc", "--strategy", "--cost-model"):
        spelled = {value.removesuffix(",...") for value in words[name].values()}
        assert len(spelled) == 1, (name, words[name])


def help_is_whole(test, folder):
    """At any width the same words, none of them broken, and no line too long that could be shorter."""
    def words(text):
        return [word for word in text.split() if word != "\\"]
    for command in [row["command"] for row in test.records("list", "commands")["results"]] + [""]:
        wide = test.run("help", *command.split(), environment={"COLUMNS": "2000"}).stdout
        for width in (60, 80, 120):
            shown = test.run("help", *command.split(), environment={"COLUMNS": str(width)}).stdout
            assert words(shown) == words(wide), (command, width)
            for line in shown.splitlines():
                one = len(line.strip().removesuffix(" \\").split()) <= 2  # an option and its value stay together
                assert len(line) <= width or one, (command, width, line)
        assert all(len(line) <= 80 for line in test.run("help", *command.split()).stdout.splitlines()), command


def main():
    test = Test(sys.argv[1])
    test.says("groups stand by cost, shares and costs add up to the totals, and a number names its group", fuse_is_sorted)
    test.says("reasons count every edge once", reasons_add_up)
    test.says("an explanation begins with the share of the bound that its figures have", bound_comes_first)
    test.says("as many plans tie as share the first place", ties_are_counted)
    test.says("two plans against each other have the figures that each has alone", two_plans_are_the_two)
    test.says("the verdict of a check counts its rows, and rows that passed are shown where asked", verdict_counts_rows)
    test.says("a template of a device is refused until all of its figures are there, and is that device then", a_new_device_is_filled_in)
    test.says("an option means the same in all commands", options_agree)
    test.says("help has the same whole words at every width, and 80 columns where there is no terminal", help_is_whole)
    print(f"1..{test.number}")


main()
