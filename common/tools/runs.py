"""runs.py - the book's Run buttons, for the check of the book (browser.py).

Each command of the main path must print in the browser what the native program prints, if that is built, and what the
pages show. Commands that a reader might type follow: other options, a wrong one, one that is stopped, files.
"""
import json
import re
import subprocess
from pathlib import Path

import docs
from page import MAIN_PATH

SECONDS = 50
RUN = """new Promise(done => {
    const form = document.querySelectorAll('form.run')[NUMBER], begun = Date.now();
    if (LINE) form.querySelector('input').value = LINE;
    form.requestSubmit();
    const look = () => {
        if (STOP) form.requestSubmit();
        if (!form.dataset.ended && Date.now() - begun < LIMIT) return setTimeout(look, 50);
        done(JSON.stringify({ ended: form.dataset.ended || 'not', output: form.raw.join('\\n'),
            files: [...form.querySelectorAll('a')].map(a => a.textContent), shown: form.querySelector('pre').innerText }));
    };
    setTimeout(look, STOP ? 3000 : 0);
})"""
TYPED = (  # a line, how it ends, and what it prints
    ("build/04_flash_no_tiling --n-q 7 --n-k 9 --d 3 --causal --output o.npy", "ended", "Nq 7, Nk 9, d 3"),
    ("build/04_flash_no_tiling --q o.npy --k o.npy --v o.npy", "ended", "o.npy"),
    ("build/03_online_softmax --rows 3 --cols 7  # '7'", "ended", "3 rows of 7 scores"),
    ("build/05_flash_tiled_cpu --n-q 65 --step fa2 --br 16 --bc 16", "ended", "Nq 65"),
    ("build/05_flash_tiled_cpu --n-q 1024 --step complete", "ended", "Nq 1024"),
    ("build/03_online_softmax --rows x", "ended with 2", "03_online_softmax: --rows: expected"),
    ("build/04_flash_no_tiling --n-q 65536", "ended with 2", "expected fewer query-key pairs"),
    ("build/04_flash_no_tiling --n-q 20000", "stopped", ""))
# Times, and rows of steps in vectors, whose rounding depends on the vectors' width.
OF_THE_MACHINE = re.compile(r"\d[\d. ]* (?:ms|s|GFLOP/s|GB/s)\b|.* - +- +- .*")


def run(browser, number, line=None, stop=False):
    script = RUN
    for name, value in (("NUMBER", number), ("LINE", line), ("STOP", stop), ("LIMIT", 1000 * SECONDS)):
        script = script.replace(name, json.dumps(value))
    seen = json.loads(browser.value(script))
    return {**seen, "output": re.sub(r"\x1b\[\d+m", "", seen["output"])}


def different(ours, theirs):
    pairs = [OF_THE_MACHINE.sub("", text.rstrip()).split("\n") for text in (ours, theirs)]
    return "; ".join(f"'{a}' for '{b}'" for a, b in zip(*pairs) if a.rstrip() != b.rstrip()) or (
        "" if len(pairs[0]) == len(pairs[1]) else f"{len(pairs[0])} lines for {len(pairs[1])}")


def shown_by(page, line):
    """The filters of a page's blocks with this command's output, and the blocks."""
    for part in docs.parts_of(page, Path(page).read_text(encoding="utf-8")):
        command, _, rest = part.command.partition(" | ")
        if part.kind == "text" and command.strip() == line:
            yield rest or "cat", "\n".join(part.lines[1:-1])


def of_page(browser, page):
    for number, line in enumerate(json.loads(browser.value(
            "JSON.stringify([...document.querySelectorAll('form.run')].map(form => form.dataset.line))"))):
        if "65536" in line:
            continue
        seen = run(browser, number)
        if seen["ended"] != "ended":
            yield f"{line}: {seen['ended']}: {seen['output'][-300:]}"
        native = Path(line.split()[0])
        if native.exists():
            ended = subprocess.run(line.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if wrong := different(seen["output"], ended.stdout):
                yield f"{line}: {wrong}"
        for rest, block in shown_by(page, line):
            cut = subprocess.run(["sh", "-c", rest], input=seen["output"] + "\n", stdout=subprocess.PIPE, text=True)
            if wrong := different(cut.stdout, block):
                yield f"{line} | {rest}: {wrong}"


def wrong(browser, book, pages):
    """What is wrong on those of these pages that are on the main path of the chapters in C, and with typed commands."""
    for page in (page for page in MAIN_PATH if "01" <= page[:2] <= "05"):
        if Path(page).with_suffix(".html") in pages:
            browser.open((book / page).with_suffix(".html").as_uri())
            yield from (f"{page}: {line}" for line in of_page(browser, page))
    browser.open((book / "03_online_softmax/README.html").as_uri())
    for line, ended, printed in TYPED:
        seen = run(browser, 0, line, ended == "stopped")
        if seen["ended"] != ended or printed not in seen["output"]:
            yield f"'{line}' typed: expected '{ended}' and '{printed}', found '{seen['ended']}': {seen['output'][-300:]}"
