"""docs.py - fills the marked blocks of pages from real runs.

    course.py docs fill PAGE...       rewrites the pages
    course.py docs measure PAGE...    the same, with blocks of times
    course.py docs check PAGE...      changes nothing, and fails if a block is stale

    <!-- text: build/03_online_softmax -->      the command's output, fenced as ```text
    <!-- c: sed -n '/^void/,/^}/p' FILE -->     the same, fenced as ```c
    <!-- table: COMMAND -->                     unfenced Markdown
    <!-- html: COMMAND -->                      unfenced, in an HTML page
    <!-- timed: COMMAND -->                     times, with the date
    …
    <!-- end -->

Commands run in the course's folder, one on each core; timed ones run alone. They may fail with 1 (as diff does), not
with more.
"""
import collections
import concurrent.futures
import datetime
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

MODES = ("fill", "measure", "check")
BEGIN, END = re.compile(r"<!-- ([a-z]+): (.*) -->"), "<!-- end -->"
Part = collections.namedtuple("Part", "kind command lines")  # text between blocks has no kind


class Failed(Exception):
    pass


def parts_of(page, text):
    """A page's blocks, and the text between them, which includes the marker lines."""
    parts, now, begun = [], Part("", "", []), 0
    for number, line in enumerate(text.split("\n"), 1):
        begin = BEGIN.fullmatch(line)
        if begin and now.kind:
            break
        if begin:
            now.lines.append(line)
            parts.append(now)
            now, begun = Part(*begin.groups(), []), number
        elif line == END and now.kind:
            parts.append(now)
            now = Part("", "", [line])
        else:
            now.lines.append(line)
    if now.kind:
        raise Failed(f"{page}:{begun}: this block has no end: expected {END} before the next block")
    return parts + [now]


# make's warnings, such as an unavailable jobserver or clock skew, are not output.
WARNING = re.compile(r"^make(\[\d+\])?: warning: .*\n", re.MULTILINE | re.IGNORECASE)


def run(command):
    ended = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1"})
    return ended.returncode, WARNING.sub("", ended.stdout.decode("utf-8", "surrogateescape"))


def outputs_of(parts):
    """(kind, command) -> status and output: each command runs once, timed ones alone."""
    timed = dict.fromkeys(part.command for part in parts if part.kind == "timed")
    others = dict.fromkeys(part.command for part in parts if part.kind != "timed")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        others = dict(zip(others, workers.map(run, others)))
    timed = {command: run(command) for command in timed}
    return {(kind, command): (timed if kind == "timed" else others)[command] for kind, command, _ in parts}


def block(kind, output):
    lines = [line.rstrip(" \t") for line in output.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if kind not in ("table", "html"):
        lines = ["```" + ("text" if kind == "timed" else kind), *lines, "```"]
    if kind == "timed":
        lines += ["", f"Measured on {datetime.date.today()}."]
    return lines


def filled(page, parts, outputs):
    """The page's text with fresh blocks; blocks that did not run stay."""
    lines = []
    for kind, command, old in parts:
        status, output = outputs.get((kind, command), (0, ""))
        if status not in ((0,) if kind == "timed" else (0, 1)):  # 1: a page may show what is wrong
            last = "".join(f"\n    {line}" for line in output.rstrip("\n").split("\n")[-20:])
            raise Failed(f"{page}: this command ended with {status}: {command}{last}")
        lines += block(kind, output) if (kind, command) in outputs else old
    return "\n".join(lines)


def renew(mode, page, was, now):
    """Writes the page or reports it as stale. Was it current?"""
    if now == was:
        return True
    if mode != "check":
        page.write_bytes(now.encode("utf-8", "surrogateescape"))
        print(f"rewrote {page}")
        return True
    changes = difflib.unified_diff(was.split("\n"), now.split("\n"), lineterm="", n=0)
    print(f"stale: {page} (make docs renews it)", *list(changes)[2:22], sep="\n")
    return False


def docs(mode, pages):
    texts, parts, status = {}, {}, 0
    for page in pages:
        texts[page] = page.read_bytes().decode("utf-8", "surrogateescape")
        parts[page] = parts_of(page, texts[page])
    outputs = outputs_of([part for page in pages for part in parts[page]
                          if part.kind and (part.kind != "timed" or mode == "measure")])
    for page in pages:
        try:
            if not renew(mode, page, texts[page], filled(page, parts[page], outputs)):
                status = max(status, 1)
        except Failed as failed:
            print(failed, file=sys.stderr)
            status = 2
    return status


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in MODES:
        print(f"docs: expected one of {', '.join(MODES)}, and pages; found '{' '.join(arguments)}'",
              file=sys.stderr)
        return 2
    try:
        return docs(arguments[0], [Path(page) for page in arguments[1:]])
    except (Failed, OSError) as failed:
        print(f"docs: {failed}", file=sys.stderr)
        return 2
