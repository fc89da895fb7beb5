"""quotes.py - what pages quote from the sources and from the wrong versions.

    course.py quotes diff [-b] OLD NEW [START_OLD START_NEW]   what is new in a lesson's code
    course.py quotes seen CHAPTER...                           the wrong versions seen in public, a table for each theme
    course.py quotes mistakes CHAPTER                          the other wrong versions of a chapter, as a table
    course.py quotes barriers CHAPTER                          which tests reject a version without a barrier

Of a lesson's code diff takes the functions alone, or what begins with START up to the next line that begins
with }. With -b lines that have only moved to the right are not marked, and are as far to the right as now.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RACE_TESTS = ("agrees_with_the_reference", "do_not_change_the_answer", "leave_no_race")


class Failed(Exception):
    pass


def lesson(path, start):
    """The lines of a lesson's code, without marks of gaps and without numbers of the paper's lines."""
    lines, inside = [], False
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if inside or line.startswith(start):
            lines.append(line)
            inside = not (inside and line.startswith("}"))
    if not lines:
        raise Failed(f"{path}: expected a line that begins with '{start}'")
    lines = [line for line in lines if "SOLUTION" not in line and "STUB" not in line]
    return [re.sub(r" +// [0-9][0-9, to]*$", "", line) for line in lines]


def differences(old, new, moved):
    """diff's lines without its head. With `moved` those that stay are taken from `new`."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("old", "new")]
        for file, lines in zip(files, (old, new)):
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        options = ["-b", "-U", "10"] if moved else ["-U", "10"]
        ended = subprocess.run(["diff", *options, *files], stdout=subprocess.PIPE)
    lines = ended.stdout.decode("utf-8").splitlines()[2:]
    at = 0
    for k, line in enumerate(lines):
        if line.startswith("@@"):
            at = int(re.search(r"\+(\d+)", line)[1]) - 1
        elif not line.startswith("-"):
            lines[k] = f"{line[0]}{new[at]}" if moved else line
            at += 1
    return lines[1:]


def diff(arguments):
    moved = arguments[:1] == ["-b"]
    if moved:
        arguments = arguments[1:]
    if len(arguments) not in (2, 4):
        raise Failed(f"diff: expected two files, and perhaps how each begins; found '{' '.join(arguments)}'")
    old, new, *starts = arguments
    start_old, start_new = starts or ("void", "void")
    return differences(lesson(old, start_old), lesson(new, start_new), moved)


def patches(chapter):
    folder = Path(chapter, "tests", "mutants")
    found = sorted(folder.glob("*.patch")) + sorted(folder.glob("machine_code/*.patch"))
    if not found:
        raise Failed(f"{chapter}: expected a chapter with wrong versions (tests/mutants/*.patch)")
    return found


def fields(patch):
    """What its head has: name -> text. Of several lines with one name it is the first."""
    found = {}
    for line in patch.read_text(encoding="utf-8").splitlines():
        field = re.match("(Symptom|Seen in|Theme|Fix|Caught by): *(.*)", line)
        if field:
            found.setdefault(field[1], field[2])
    for name in ("Symptom", "Fix", "Caught by", *(["Theme"] if found.get("Seen in") else [])):
        if not found.get(name):
            raise Failed(f"{patch}: expected a line '{name}: …'")
    return found


def link(address):
    """A short link: of an issue its number, of a paper arXiv's."""
    number, paper = re.search(r"/(?:pull|issues)/(\d+)$", address), re.search(r"arxiv\.org/abs/(.*)", address)
    name = f"#{number[1]}" if number else f"arXiv {paper[1]}" if paper else address.split("/")[2]
    return f"[{name}]({address})"


def cell(text):
    """The text as part of a table's cell, with its addresses as links."""
    parts = re.split(r"(https:[^ )]*)", text)
    parts[::2] = (re.sub(r"([|<>*_])", r"\\\1", part) for part in parts[::2])
    parts[1::2] = map(link, parts[1::2])
    return "".join(parts)


def row(patch, found, *names):
    """A wrong version as a row of a table: these fields, and the first test that rejects it."""
    texts = " | ".join(cell(found[name]) for name in names)
    return f"| [`{patch.stem}`](../../{patch}) | {texts} | `{found['Caught by'].split(',')[0]}` |"


def seen(*chapters):
    themes = {}
    for patch in (patch for chapter in chapters for patch in patches(chapter)):
        found = fields(patch)
        if found.get("Seen in"):
            themes.setdefault(found["Theme"], []).append(row(patch, found, "Symptom", "Seen in", "Fix"))
    for theme, rows in themes.items():
        yield from ("", f"### {theme}", "")
        yield "| wrong version | what one sees | seen in | what puts it right | caught by |"
        yield from ("|---|---|---|---|---|", *rows)


def mistakes(chapter):
    yield "| wrong version | what one sees | what puts it right | caught by |"
    yield "|---|---|---|---|"
    for patch in patches(chapter):
        found = fields(patch)
        if not found.get("Seen in"):
            yield row(patch, found, "Symptom", "Fix")


def barriers(chapter):
    yield "| without the barrier where | in | wrong results | four orders | race detector |"
    yield "|---|---|---|---|---|"
    for patch in patches(chapter):
        text = patch.read_text(encoding="utf-8")
        removed = re.search(r"^-.*__syncthreads\(\);(?: *// *(.*))?", text, re.MULTILINE)
        moved = re.search(r"^\+.*__syncthreads\(\);", text, re.MULTILINE)
        if removed and not moved:
            file = re.search("^--- a/.*/(.*)", text, re.MULTILINE)[1]
            caught = (re.search(f"^Caught by:.*::{test}", text, re.MULTILINE) for test in RACE_TESTS)
            yield f"| {removed[1] or ''} | `{file}` | {' | '.join('yes' if yes else '–' for yes in caught)} |"


def main(arguments):
    command, rest = (arguments or [""])[0], arguments[1:]
    tables = {"seen": seen, "mistakes": mistakes, "barriers": barriers}
    try:
        if command != "diff" and (command not in tables or not rest or command != "seen" and len(rest) != 1):
            raise Failed("expected diff and files, seen and chapters, or mistakes or barriers and a chapter; found "
                         f"'{' '.join(arguments)}'")
        lines = list(diff(rest) if command == "diff" else tables[command](*(chapter.rstrip("/") for chapter in rest)))
    except (Failed, OSError) as failed:
        print(f"quotes: {failed}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
