"""browser.py - a headless browser for stepper.py, and the check of the book (`course.py book check`).

It opens each page as a file, at phone width (360 pixels) in dark colours and at desktop width in light ones. Errors:
dead links, missing pictures, requests outside the book, console output, unset formulas, pages wider than the window.
On one page Tab must reach the search and the next and previous links, and the search must find something. Planted
faults come first, and commands last (runs.py).

It uses Chrome's DevTools protocol over two pipes. Without Chromium it skips; with BROWSER=required it fails.
CHROMIUM=… is another browser.
"""
import base64
import fcntl
import itertools
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import runs

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "skipped: no chromium here (sh common/setup.sh lint installs it)"
SECONDS = 60
TELEPHONE, DESK = (360, 740), (1280, 900)
SEEN = """(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
    const light = colour => colour.match(/[0-9.]+/g).slice(0, 3).reduce((a, b) => a + b / 3, 0);
    const root = document.documentElement;
    return JSON.stringify({
        wide: Math.max(root.scrollWidth, document.body.scrollWidth),
        light: light(getComputedStyle(document.body).backgroundColor),
        text: light(getComputedStyle(document.querySelector('article p, p:not(.caption)') || document.body).color),
        unset: [...document.querySelectorAll('.math')].filter(m => !m.querySelector('.katex-html')).length,
        wrong: [...document.querySelectorAll('.katex-error')].map(m => m.title),
        pictures: [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src),
        links: [...document.querySelectorAll('a[href]')].map(a => a.href),
        ids: [...document.querySelectorAll('[id], a[name]')].map(e => e.id || e.name)});
})()"""
REACHED = """(e => e.matches('.sidebar-search') ? 'the search' : e.matches('.next-page') ? 'the way on' :
    e.matches('.prev-page') ? 'the way back' : '')(document.activeElement)"""
FAULTS = (  # a page's text, and the expected message
    ('<a href="nothing.html">x</a>', "there is no nothing.html"), ('<a href="#nothing">x</a>', "no heading nothing"),
    ('<img src="nothing.svg">', "no picture"), ('<img src="https://a.org/x.svg">', "asks for https://a.org"),
    ("<script>console.error('x')</script>", "console"), ("<script>nothing()</script>", "console"),
    ('<span class="math">x</span>', "1 formulas"), ('<p style="width: 400px">x</p>', "wider than its window"),
    ("<style>body { background: #fff !important }</style>x", "expected dark colours"))
PAGE = """<!DOCTYPE html><meta name="viewport" content="width=device-width"><style>
body { background: #fff; color: #000 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style>
<p id="here"><a href="#here">x</a></p>"""


class Browser:
    def __init__(self, command, profile):
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (*os.pipe(), *os.pipe())]
        self.process = subprocess.Popen(
            [command, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[3], 4)))
        os.close(ends[0])
        os.close(ends[3])
        self.input, self.output, self.rest = ends[1], ends[2], b""
        self.numbers, self.session, self.events = itertools.count(1), None, []
        targets = self.ask("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()

    def message(self):
        while b"\0" not in self.rest:
            some = os.read(self.output, 1 << 20) if select.select([self.output], [], [], SECONDS)[0] else b""
            if not some:
                raise OSError(f"the browser said nothing for {SECONDS} seconds, or ended")
            self.rest += some
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **params):
        number, message = next(self.numbers), {"method": method, "params": params}
        message |= {"id": number} | ({"sessionId": self.session} if self.session else {})
        os.write(self.input, json.dumps(message).encode() + b"\0")
        while (answer := self.message()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise OSError(f"the browser refused {method}: {answer['error']}")
        return answer["result"]

    def value(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise OSError(f"a script in the page failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def show(self, window, colours):
        self.ask("Emulation.setDeviceMetricsOverride", width=window[0], height=window[1], deviceScaleFactor=1,
                 mobile=window == TELEPHONE)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])

    def open(self, address):
        self.events = []
        self.ask("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))


def said(events, book):
    for event in events:
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            address = params["request"]["url"]
            if not address.startswith((book.as_uri(), "data:", "blob:")):
                yield f"asks for {address}"
        elif event.get("method") == "Runtime.exceptionThrown":
            yield f"console: {params['exceptionDetails'].get('exception', {}).get('description', 'an exception')}"
        elif event.get("method") == "Runtime.consoleAPICalled":
            yield f"console: {params['args']}"
        elif event.get("method") == "Log.entryAdded":
            yield f"console: {params['entry']['text']} {params['entry'].get('url', '')}"


def look(browser, page, book):
    """A page's own errors, its links, and its ids."""
    wrong = []
    browser.show(TELEPHONE, "dark")
    browser.open(page.as_uri())
    for window, colours in ((TELEPHONE, "dark"), (DESK, "light")):
        browser.show(window, colours)
        seen = json.loads(browser.value(SEEN))
        if seen["wide"] > window[0]:
            wrong.append(f"{seen['wide']} pixels wide, and wider than its window of {window[0]}")
        if (seen["light"] > 100, seen["text"] < 150) != (colours == "light",) * 2:
            wrong.append(f"expected {colours} colours, found {seen['light']:.0f} of 255, text {seen['text']:.0f}")
    if seen["unset"] or seen["wrong"]:
        wrong.append(f"{seen['unset']} formulas are not set; {' '.join(seen['wrong'])}")
    wrong += [f"no picture {picture}" for picture in seen["pictures"]]
    return [*wrong, *said(browser.events, book)], dict.fromkeys(seen["links"]), set(seen["ids"])


def dead(page, links, ids, book):
    """A page's dead links; `ids` are those of each page."""
    for link in links:
        if link.startswith("file:"):
            address, _, heading = link.removeprefix("file://").partition("#")
            there = Path(unquote(address))
            if not there.is_file() or book not in there.parents:
                yield f"there is no {os.path.relpath(there, page.parent)}"
            elif heading and there in ids and unquote(heading) not in ids[there]:
                yield f"no heading {heading} in {os.path.relpath(there, book)}"


def faults(browser, pages, book):
    found, links, ids = {}, {}, {}
    for page in pages:
        found[page], links[page], ids[page] = look(browser, page, book)
    return {page: wrong for page in pages if (wrong := [*found[page], *dead(page, links[page], ids, book)])}


def planted(browser, folder):
    """Faults not found, and errors of a page without faults."""
    for text, expected in (("", ""), *FAULTS):
        page = folder / "planted.html"
        page.write_text(PAGE + text, encoding="utf-8")
        found = " ".join(line for lines in faults(browser, [page], folder).values() for line in lines)
        if expected not in found or bool(found) != bool(expected):
            yield f"a page with '{text}': expected '{expected}', found '{found}'"


def keyboard(browser, page):
    browser.show(DESK, "light")
    browser.open(page.as_uri())
    missing = {"the search", "the way on", "the way back"}
    for _ in range(500):
        for kind in ("rawKeyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        missing.discard(browser.value(REACHED))
    return [f"{thing} is not reached by Tab" for thing in sorted(missing)]


def search(browser, book, words, expected):
    browser.open(f"{(book / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    for _ in range(100):
        links = browser.value("new Promise(r => setTimeout(() => r([...document.querySelectorAll('#search-results a')]"
                              ".map(a => a.href.split('?')[0])), 50))")
        if any(link.endswith(expected) for link in links):
            return list(said(browser.events, book))
    return [f"the search for '{words}' does not find {expected}"]


def colours(browser, page):
    browser.open(page.as_uri())
    seen = browser.value("[0, 1, 2].map(() => { document.querySelector('.theme-toggle').click(); "
                         "return getComputedStyle(document.body).backgroundColor; })")
    return [] if len(set(seen or [])) == 2 else [f"the switch for dark and light gives {seen}"]


def found():
    return next(filter(None, map(shutil.which, os.environ.get("CHROMIUM", " ".join(NAMES)).split())), None)


def required():
    return os.environ.get("BROWSER") == "required"


def check(book, pages):
    command = found()
    if not command:
        print(f"book: {MISSING}")
        return 1 if required() else 0
    shown = [book / page.replace(".md", ".html") for page in pages]
    pages = [*shown, book / "index.html", book / "search.html",
             *(page for page in book.rglob("*/pages/*.html") if page not in shown),
             max(book.rglob("*.*.html"), key=lambda page: len(str(page)))]  # a source file: its heading is its path
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(command, Path(folder, "profile"))
        try:
            wrong = list(planted(browser, Path(folder).resolve()))
            for page, lines in faults(browser, pages, book).items():
                wrong += [f"{page.relative_to(book)}: {line}" for line in dict.fromkeys(lines)]
            wrong += [*keyboard(browser, shown[1]), *colours(browser, shown[1]),
                      *search(browser, book, "merge two blocks", "03_online_softmax/README.html")]
            if (book / "_static/run").is_dir():  # where there was emcc
                wrong += runs.wrong(browser, book, [page.relative_to(book) for page in shown])
        finally:
            browser.close()
    wrong += [f"{page.relative_to(book)}: {line}" for page in book.rglob("*.html") if page not in pages
              for line in dead(page, [(page.parent / link).as_uri() for link in
                                      re.findall('<a href="([^":#]+)', page.read_text(encoding="utf-8"))], {}, book)]
    print("\n".join(wrong) if wrong else f"{len(pages)} pages of the book are as they should be")
    return 1 if wrong else 0
