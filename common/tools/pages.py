"""pages.py - checks of the pages.

    course.py pages [--only CHECK] PAGE...

    links      links within the course lead to existing files and headings; external links would need the network
    questions  each section of a lesson ends with a question, "**Check yourself.** …", and its folded answer. Lessons
               are the chapters' pages except exercises, and those of common/cuda and common/python. NO_QUESTION
               lists sections without one
    head       a lesson's head states its duration (*Time:*)
    folds      every fold is closed in its section
    pictures   each picture has a description of at least eight words, and at most 40 000 bytes
    contents   a chapter's first page links to its other pages
    order      from a chapter's first page, the first link under "Next" (or after "**Next:**") visits every page
               once, except exercises, and then leaves the chapter
    slower     if a kernel is slower than its predecessor for all d of a type on an H200, a page of its chapter
               explains why we keep it, after "<!-- NAME is slower, and kept -->"

    words, rests, phrases, terms    the language of the pages: prose.py

Each check is a function of all pages that yields errors as "PAGE:LINE: …".
"""
import functools
import os
import re
import sys
from pathlib import Path

import prose
from page import MAIN_PATH, Page, names_of

NO_QUESTION = {"Run it", "Mistakes people make", "Exercises", "Exercise", "Questions", "Next", "The steps",
               "The files", "Your machine", "What we have now", "If you want more"}
MOST_BYTES = 40000  # of a picture
QUESTION = "**Check yourself.** "


def headings_of(path):
    """A page's heading anchors as on GitHub: lower case, hyphens for spaces, no punctuation."""
    found = (re.match("#+ (.*)", line) for _, line in Page(path).lines)
    return {re.sub("[^a-z0-9_-]", "", heading[1].lower().replace(" ", "-")) for heading in found if heading}


def links(pages):
    headings = functools.lru_cache(maxsize=None)(headings_of)
    for page in pages:
        for number, line in page.lines:
            for link in re.findall(r"\]\(<?([^)>]*)>?\)", re.sub("`[^`]*`", "", line)):
                if link.startswith(("http://", "https://", "mailto:")):
                    continue
                name, _, heading = link.partition("#")
                file = page.path.parent / name if name else page.path
                if not link or not file.exists():
                    yield f"{page.path}:{number}: there is no {link}"
                elif re.fullmatch("L[0-9]+(-L[0-9]+)?", heading) and file.suffix != ".md":
                    last = int(heading.split("L")[-1])
                    if last > file.read_bytes().count(b"\n"):
                        yield f"{page.path}:{number}: {link}: that file has no line {last}"
                elif heading and (not file.is_file() or heading not in headings(file)):
                    yield f"{page.path}:{number}: {link}: that page has no such heading"


def questions(pages):
    for page in pages:
        for start, heading, lines in page.sections():
            asked = waiting = 0
            for number, line in lines:
                if line.startswith(QUESTION):
                    if waiting:
                        yield f"{page.path}:{waiting}: a question without a folded answer"
                    asked = waiting = number
                if "<details>" in line:
                    waiting = 0
            if waiting:
                yield f"{page.path}:{waiting}: a question without a folded answer"
            if page.is_lesson and heading and heading not in NO_QUESTION and not asked:
                yield f'{page.path}:{start}: no question after "{heading}"'


def head(pages):
    for page in pages:
        text = "\n".join(line for _, line in page.sections()[0][2])
        if page.is_lesson and "*Time:*" not in text:
            yield f"{page.path}:1: expected how long it takes (*Time:*)"


def folds(pages):
    for page in pages:
        for start, _, lines in page.sections():
            opened = sum("<details>" in line for _, line in lines)
            closed = sum("</details>" in line for _, line in lines)
            if opened != closed:
                yield f"{page.path}:{start}: this section opens {opened} folds, and closes {closed}"


def pictures(pages):
    for page in pages:
        for number, line in page.lines:
            for text, link in re.findall(r"!\[([^\]]*)\](?:\(([^)#]*)\))?", line):
                if len(text.split()) < 8:
                    yield f"{page.path}:{number}: expected eight words of what is on this picture: {text}"
                file = page.path.parent / link
                if link and file.is_file() and file.stat().st_size > MOST_BYTES:
                    yield f"{page.path}:{number}: expected at most {MOST_BYTES} bytes, found {file.stat().st_size}: {link}"


def contents(pages):
    for first in (page for page in pages if page.is_first):
        linked = {os.path.normpath(first.chapter / link)
                  for _, line in first.lines for link in re.findall(r"\]\(([^)#]*\.md)[)#]", line)}
        for page in pages:
            if page.chapter == first.chapter and page is not first and str(page.path) not in linked:
                yield f"{page.path}:1: no link to it in {first.path}"


def next_of(page):
    """The page's first "Next" link."""
    inside = False
    for number, line in page.lines:
        if line.startswith("## "):
            inside = line == "## Next"
        link = re.search(r"\]\(([^)#]*)", line)
        if inside and link:
            return number, link[1]
    return 1, ""


def order(pages):
    given = {page.path.as_posix() for page in pages}
    path = [page for page in MAIN_PATH[1:] if page in given]  # the front page leads everywhere
    for page, following in zip(path, path[1:]):
        number, link = next_of(Page(page))
        if os.path.normpath(Path(page).parent / link) != following:
            yield f'{page}:{number}: expected "Next" to lead to {following} first, found {link or "no link"}'


def slower(pages):
    for first in (page for page in pages if page.is_first):
        results = first.chapter / "results/nvidia_h200.csv"
        names = names_of(first.chapter / "kernels")
        if not results.exists() or not names:
            continue
        ratios, text = {}, "".join(path.read_text(encoding="utf-8") for path in first.chapter.rglob("*.md"))
        for row in (line.split(",") for line in results.read_text(encoding="utf-8").splitlines() if line[:1] != "#"):
            if len(row) > 13 and row[1].removeprefix("cuda_") in names and re.match("[0-9.]+$", row[13]):
                ratios.setdefault((row[1], row[2]), []).append(float(row[13]))
        for name in dict.fromkeys(name for (name, _), all_of_them in ratios.items() if max(all_of_them) < 0.995):
            if f"\n<!-- {name} is slower, and kept -->\n" not in text:
                yield f"{results}:1: {name} is slower than the kernel before it: expected a page that says why it is kept, and marks it"


CHECKS = {check.__name__: check
          for check in (links, questions, head, folds, pictures, contents, order, slower, *prose.CHECKS)}


def main(arguments):
    checks = CHECKS.values()
    if arguments[:1] == ["--only"] and arguments[1:2] and arguments[1] in CHECKS:
        checks, arguments = [CHECKS[arguments[1]]], arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        print(f"pages: expected pages, or --only and one of {', '.join(CHECKS)}, and pages; found "
              f"'{' '.join(arguments)}'", file=sys.stderr)
        return 2
    try:
        pages = [Page(os.path.normpath(path)) for path in arguments]
    except OSError as failed:
        print(f"pages: {failed}", file=sys.stderr)
        return 2
    wrong = [line for check in checks for line in check(pages)]
    if wrong:
        print("\n".join(wrong))
    return 1 if wrong else 0
