# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Faults by chance: small slips drawn over a source file, for those who want more than the list. In: files, a number and
# a seed. Out: faults like those of the list. Called by run.py (`./test --mutants --draw N FILE ...`).
#
# A slip changes one place of one line: an operator into its neighbour, a number by one, a condition into its opposite, a
# call's first two arguments against each other, or leaves a statement out. Places are found on the text, without a
# grammar: words in comments, strings, includes, templates' brackets and declarations of tables are left alone as far as
# a line shows it. What does not compile is told as that and counts for nothing. Some of the others change nothing that
# anybody could see, so the share that tests see is lower than of the list, and is a trend, no score.
import hashlib
import random
import re
from pathlib import Path

# What is looked for (as a pattern) and what stands there instead. Spaces on both sides tell operators from brackets.
SLIPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r" % ", " / "), (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<=[\s(\[,{])(\d+)(?=[\s)\],;}])", None),
    (r"\bif \(", "if (!"), (r"\bcontinue;", ";"), (r"\bbreak;", ";"), (r"\.front\(\)", ".back()"), (r"\.back\(\)", ".front()"),
]
LEFT_OUT = re.compile(r"^\s+[a-z][\w.\->\[\]():]*(\(.*\)|\s[+*/-]?=\s.*);$")  # a call or an assignment on one line
NOT_CODE = re.compile(r'^\s*(//|#|\*|using |namespace |template|static_assert|constexpr |struct |class |enum )')


def code_part(line):
    """Where the line's code ends, and the stretches of it that are text in quotes."""
    quotes = [match.span() for match in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', line)]
    comment = next((match.start() for match in re.finditer("//", line)
                    if not any(a <= match.start() < b for a, b in quotes)), len(line))
    return comment, quotes


def slips_of(line):
    """Every other text that one slip makes of the line, with what the slip is."""
    if NOT_CODE.match(line):
        return
    end, quotes = code_part(line)
    for pattern, instead in SLIPS:
        for match in re.finditer(pattern, line[:end]):
            if any(a <= match.start() < b for a, b in quotes):
                continue
            text = instead
            if instead is None:
                text = str(int(match.group()) + 1) if len(match.group()) < 10 else match.group()
            changed = line[:match.start()] + text + line[match.end():]
            if instead == "if (!":  # the whole condition: only where it ends on the line
                depth, at = 1, match.end()
                while at < end and depth:
                    depth += {"(": 1, ")": -1}.get(line[at], 0)
                    at += 1
                if depth or ";" in line[match.end():at]:
                    continue
                changed = f"{line[:match.end()]}!({line[match.end():at - 1]}){line[at - 1:]}"
            if changed != line:
                yield f"{match.group().strip()} into {text.strip() or 'nothing'}", changed
    if LEFT_OUT.match(line[:end].rstrip()) and "return" not in line:
        yield "left out", line[:len(line) - len(line.lstrip())] + ";"


def draw(root, names, count, seed):
    """`count` slips for each file: (name, file, why, before, after), the same for the same seed and text."""
    drawn = []
    for name in names:
        lines = (root / name).read_text(encoding="utf-8").splitlines(keepends=True)
        chance = random.Random(f"{seed} {name}")
        places = [(at, what, changed) for at, line in enumerate(lines) for what, changed in slips_of(line.rstrip("\n"))]
        for at, what, changed in sorted(chance.sample(places, min(count, len(places)))):
            mark = hashlib.sha256(f"{at} {changed}".encode()).hexdigest()[:6]
            drawn.append((f"drawn/{Path(name).stem}-{at + 1}-{mark}", name, f"line {at + 1}: {what}",
                          "".join(lines), "".join(lines[:at] + [changed + "\n"] + lines[at + 1:])))
    return drawn
