#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# The pages of a report, as a browser shows them.
#
#   pages_in_browser.py TAILOR SOURCE_DIR
#
# A small sweep over models that ship is made into a report, and each page is opened in Chromium without a window: at the width
# of a telephone and of a desk, light and dark, and on paper. Nothing may stand on the console, nothing may be wider than the
# page, every link must lead somewhere, and a page must be small, quick and not too long. Skipped where there is no Chromium.
#
# The browser is spoken to over two pipes by its DevTools protocol (a JSON text and a zero byte per message), so nothing needs
# to be installed beside it.
import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WIDTHS = (390, 1600)
PAPER = 718  # pixels between the margins of A4 portrait, at 96 to the inch
TALLEST = 6000  # pixels of BERT's page on a desk before anything is unfolded
LARGEST = 3_000_000  # bytes of a page
SLOWEST = 2.0  # seconds until a page is there

SWEEP = {
    "question": "Does a page fit into a browser?",
    "claim": {"text": "stitching launches a fifth", "metric": "launch_reduction_of_kernels", "threshold": 5},
    "models": ["bert_infer_l12_b1_s128_f16.hlo", "softmax_fwd_f32_4096x1024.hlo"],
    "devices": ["h200"],
    "strategies": ["unfused", "xla-priority", "stitch-v1"],
    "baseline": "unfused",
    "plans": {"max_per_group": 200},
    "compile": False,
}


class Browser:
    """One page of a browser without a window. Use it as a context; leaving it ends the browser."""

    def __init__(self, program, folder):
        to_browser, self.out = os.pipe()
        self.input, from_browser = os.pipe()

        def its_ends():  # descriptors 3 and 4 are where the browser listens and answers
            kept = os.dup(to_browser), os.dup(from_browser)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}",
             "about:blank"],
            preexec_fn=its_ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.numbers, self.events, self.session = b"", itertools.count(1), [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def message(self):
        while b"\0" not in self.rest:
            read = os.read(self.input, 1 << 20)
            if not read:
                raise EOFError("the browser ended")
            self.rest += read
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **arguments):
        number = next(self.numbers)
        said = {"id": number, "method": method, "params": arguments}
        if self.session:
            said["sessionId"] = self.session
        os.write(self.out, json.dumps(said).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def show(self, page, width, scheme="light", media=""):
        """Opens a page; returns the seconds until it was there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        self.ask("document.body.offsetHeight")
        return time.monotonic() - start

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def errors(self):
        return [json.dumps(event["params"])[:300] for event in self.events
                if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def paper(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What of a page is cut off when nothing can be scrolled.
CUT = """[...document.querySelectorAll('.scroll, .chart, pre')].filter((one) => one.checkVisibility() &&
  (one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1))
  .map((one) => one.closest('section')?.id + ' ' + one.tagName + ' ' + one.scrollWidth + '>' + one.clientWidth)"""
GROUPS_TOO_WIDE = """[document.querySelector('#groups .scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.scrollWidth + '>' + one.clientWidth).join()"""
DEAD_LINKS = """[...document.querySelectorAll('a[href^="#"], svg a')].map((one) => one.getAttribute('href'))
  .filter((target) => target.startsWith('#') && !document.getElementById(target.slice(1)))"""
FILES = """[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href')).filter((to) => !to.startsWith('#'))"""
UNFOLDED_BY_LINK = """(() => {
  const link = [...document.querySelectorAll('#groups table a')].at(-1);
  const section = document.getElementById(link.hash.slice(1));
  section.open = false;
  link.click();
  dispatchEvent(new HashChangeEvent('hashchange'));
  return section.open && document.activeElement === section.firstElementChild;
})()"""
FILTERED = """(() => {
  const filter = document.getElementById('filter'), rows = [...document.querySelector('#groups table').tBodies[0].rows];
  const wanted = rows[0].cells[0].textContent;
  filter.value = wanted;
  filter.dispatchEvent(new Event('input'));
  return rows.every((row) => row.hidden === !row.textContent.includes(wanted)) && !rows[0].hidden;
})()"""
SORTED = """(() => {
  const table = document.querySelector('#groups table'), heading = table.tHead.rows[0].cells[1];
  heading.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
  const values = [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.v).filter((value) => value !== '').map(Number);
  return values.every((value, i) => i === 0 || values[i - 1] <= value);
})()"""
# Folded sections of groups are there on paper, their listings are not.
ON_PAPER = """[...document.querySelectorAll('details.group > p')].every((one) => one.checkVisibility()) &&
  [...document.querySelectorAll('.more')].every((one) => !one.checkVisibility())"""


def make_report(tailor, source, folder):
    sweep = dict(SWEEP, models=[str(source / "data/models" / name) for name in SWEEP["models"]],
                 database=str(folder / "pages.db"), report=str(folder / "pages"))
    (folder / "pages.json").write_text(json.dumps(sweep), encoding="utf-8")
    subprocess.run([tailor, "sweep", str(folder / "pages.json")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    pages = sorted((folder / "pages").glob("*.html"))
    assert len(pages) == 3, pages
    return pages


def checks(browser, pages):
    """What was looked at, and what is wrong with it; nothing when all is well."""
    for page in pages:
        name = page.name
        yield f"{name} is small", page.stat().st_size > LARGEST and f"{page.stat().st_size} bytes"
        grounds = set()
        for width, scheme in itertools.product(WIDTHS, ("light", "dark")):
            took = min(browser.show(page, width, scheme) for _ in range(2))
            where = f"{name}, {width} pixels, {scheme}"
            yield f"{where}: nothing stands on the console", "\n".join(browser.errors())
            over = browser.ask(TOO_WIDE)
            yield f"{where}: nothing is wider than the page", over > 0 and f"{over} pixels too wide"
            yield f"{where}: it opens at once", took > SLOWEST and f"{took:.2f} s"
            grounds.add(browser.ask("getComputedStyle(document.body).backgroundColor"))
        yield f"{name} has a ground of its own in the dark", len(grounds) != 2 and str(grounds)
        yield f"{name}: every link leads to a place of the page", ", ".join(browser.ask(DEAD_LINKS))
        missing = [to for to in browser.ask(FILES) if not (page.parent / to).exists()]
        yield f"{name}: every link to a file leads to one", ", ".join(missing)
        browser.show(page, PAPER, media="print")
        yield f"{name}: nothing is cut on paper", "\n".join(browser.ask(CUT))
        yield f"{name}: groups are unfolded on paper, their listings are not there", not browser.ask(ON_PAPER) and "it is not so"
        yield f"{name} can be printed", not browser.paper().startswith(b"%PDF") and "no PDF came back"
        if name == "index.html":
            continue
        browser.show(page, WIDTHS[1])
        height = browser.ask("document.documentElement.scrollHeight")
        yield f"{name}: it is not too long on a desk", height > TALLEST and f"{height} pixels"
        yield f"{name}: the table of groups fits a desk", browser.ask(GROUPS_TOO_WIDE)
        for what, question in (("a link unfolds the section it leads to, and the keyboard goes on there", UNFOLDED_BY_LINK),
                               ("the filter leaves the rows that have its words", FILTERED),
                               ("a heading sorts its column from the keyboard", SORTED)):
            yield f"{name}: {what}", not browser.ask(question) and "it does not"


def main():
    tailor, source = sys.argv[1], Path(sys.argv[2]).resolve()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if program is None:
        print("1..1\nok 1 - pages in a browser # SKIP there is no Chromium")
        return
    number = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # Chromium may still be tidying up
        folder = Path(name)
        pages = make_report(tailor, source, folder)
        with Browser(program, folder / "profile") as browser:
            for number, (what, fault) in enumerate(checks(browser, pages), start=1):
                print(f"{'not ok' if fault else 'ok'} {number} - {what}")
                for line in (fault or "").splitlines():
                    print(f"# {line}")
    print(f"1..{number}")


main()
