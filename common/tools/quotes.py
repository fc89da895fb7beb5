"""quotes.py - what pages quote from the sources and from the wrong versions.

    course.py quotes diff [-b] OLD NEW [START_OLD START_NEW]   what is new in a lesson's code
    course.py quotes seen CHAPTER...                           wrong versions seen in public, a table for each theme
    course.py quotes mistakes CHAPTER                          a chapter's other wrong versions, as a table
    course.py quotes barriers CHAPTER                          which tests reject a version without a barrier

diff takes only the functions, or what begins with START, up to the next line that begins with }. With -b it does not
mark lines that were only indented.
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
    """A lesson's code, without gap marks and the paper's line numbers."""
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
    """diff's lines without its header. With `moved`, unchanged lines come from `new`."""
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


class Mistake:
    """An entry of a mistakes.txt: its first and last line, fields, and changed lines."""
    def __init__(self, file, text, begin):
        self.file, self.text, self.begin, self.end = file, text, begin, begin + text.rstrip("\n").count("\n")
        self.fields = dict(re.findall(r"^([A-Z][a-z ]*): *(.*)", text, re.MULTILINE))
        self.lines = re.findall(r"^[-+].*\S.*", text, re.MULTILINE)
        for name in ("Symptom", "Fix", "Caught by", "File", *(["Theme"] if "Seen in" in self.fields else [])):
            if not self.fields.get(name):
                raise Failed(f"{file}:{begin}: {self.fields['Name']}: expected a line '{name}: …'")


def mistakes_of(chapter):
    file, at, found = Path(chapter, "tests", "mistakes.txt"), 1, []
    for text in re.split("(?m)^(?=Name: )", file.read_text(encoding="utf-8") if file.exists() else ""):
        if text.startswith("Name: "):
            found.append(Mistake(file, text, at))
        at += text.count("\n")
    if not found:
        raise Failed(f"{chapter}: expected a chapter with wrong versions (tests/mistakes.txt)")
    return found


def link(address):
    """A short link: an issue's number, or arXiv's."""
    number, paper = re.search(r"/(?:pull|issues)/(\d+)$", address), re.search(r"arxiv\.org/abs/(.*)", address)
    name = f"#{number[1]}" if number else f"arXiv {paper[1]}" if paper else address.split("/")[2]
    return f"[{name}]({address})"


def cell(text):
    parts = re.split(r"(https:[^ )]*)", text)
    parts[::2] = (re.sub(r"([|<>*_])", r"\\\1", part) for part in parts[::2])
    parts[1::2] = map(link, parts[1::2])
    return "".join(parts)


MOST_LINES = 6  # of a mistake in the catalogue


def code(mistake):
    if len(mistake.lines) > MOST_LINES:
        return f"{len(mistake.lines)} lines"
    indent = min(len(line[1:]) - len(line[1:].lstrip()) for line in mistake.lines)
    spans = []
    for line in mistake.lines:
        text = re.sub(r"(\S)  +", r"\1  ", line[1 + indent:]).replace("|", r"\|")
        spans.append(f"`` {line[0]} {text} ``" if "`" in text else f"`{line[0]} {text}`")
    return "<br>".join(spans)


def row(mistake, *names):
    """A table row: name and lines, these fields, and the first test that rejects it."""
    texts = " | ".join(cell(mistake.fields[name]) for name in names)
    name = f"[`{mistake.fields['Name']}`](../../{mistake.file}#L{mistake.begin}-L{mistake.end})"
    return f"| {name}<br>{code(mistake)} | {texts} | `{mistake.fields['Caught by'].split(',')[0]}` |"


def seen(*chapters):
    themes = {}
    for mistake in (mistake for chapter in chapters for mistake in mistakes_of(chapter)):
        if "Seen in" in mistake.fields:
            themes.setdefault(mistake.fields["Theme"], []).append(row(mistake, "Symptom", "Seen in", "Fix"))
    for theme, rows in themes.items():
        yield from ("", f"### {theme}", "")
        yield "| wrong version | what one sees | seen in | what puts it right | caught by |"
        yield from ("|---|---|---|---|---|", *rows)


def mistakes(chapter):
    yield "| wrong version | what one sees | what puts it right | caught by |"
    yield "|---|---|---|---|"
    yield from (row(mistake, "Symptom", "Fix") for mistake in mistakes_of(chapter) if "Seen in" not in mistake.fields)


def barriers(chapter):
    yield "| without the barrier where | in | wrong results | four orders | race detector |"
    yield "|---|---|---|---|---|"
    for mistake in mistakes_of(chapter):
        removed = re.search(r"^-.*__syncthreads\(\);(?: *// *(.*))?", mistake.text, re.MULTILINE)
        moved = re.search(r"^\+.*__syncthreads\(\);", mistake.text, re.MULTILINE)
        if removed and not moved:
            caught = (f"::{test}" in mistake.fields["Caught by"] for test in RACE_TESTS)
            yield (f"| {removed[1] or 'the only one of its kernel'} | `{Path(mistake.fields['File']).name}` | "
                   f"{' | '.join('yes' if yes else '–' for yes in caught)} |")


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
