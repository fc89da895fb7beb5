"""similar.py - parts of a submission that equal the course's solution or another student's, without comments, white space and names."""
import hashlib
import re
from pathlib import Path

LEAST = 20  # tokens: shorter parts are often equal
KEYWORDS = set("break case char const continue default do double else enum extern float for if int long return short signed sizeof static "
               "struct switch typedef union unsigned void volatile while bool size_t".split())
# What has begun and does not end goes to the end of the text: else a long one would be read again from each beginning.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*#[^\n]*', re.S | re.M)
TOKEN = re.compile(r'[A-Za-z_]\w*|"(?:[^"\\\n]|\\.)*"?|[\d.]\w*|\S')


def folded(text):
    """A hash of the tokens, names numbered in order of appearance; "" if they are few."""
    names, tokens = {}, TOKEN.findall(NO_CODE.sub("", text))
    words = [str(names.setdefault(t, len(names))) + "n" if re.match(r"[A-Za-z_]", t) and t not in KEYWORDS else t for t in tokens]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16] if len(words) >= LEAST else ""


def gaps(text):
    return re.findall(r"// BEGIN SOLUTION[^\n]*\n(.*?)(?:// END SOLUTION|\Z)", text, re.S)


def units_of(files, texts):
    """FILE:N and hash of each gap of a part; of the file, if its markers are gone."""
    for name in dict.fromkeys(file for of_part in files.values() for file in of_part if ":" in file):
        file, number = name.split(":")
        found = gaps(texts.get(file, ""))
        text = found[int(number) - 1] if int(number) <= len(found) else texts.get(file, "") if not found else ""
        if folded(text):
            yield name, folded(text)


def of_code(assignment, texts):
    """{"all": number of parts, "course": number of the course's, "others": the rest}."""
    mine = dict(units_of(assignment.files, texts))
    whole = {file: Path(assignment.chapter, file).read_text() for file in texts}
    course = dict(units_of(assignment.files, whole)) | {f"{file} whole": folded(text) for file, text in whole.items()}
    equal = {name for name, piece in mine.items() if piece in (course.get(name), course.get(f"{name.split(':')[0]} whole"))}
    return {"all": len(mine), "course": len(equal), "others": [piece for name, piece in mine.items() if name not in equal]}


def blocks(text):
    return {folded(block) for block in re.findall(r"^(?:TEST|Test)\(.*?(?:^}|\Z)", text, re.S | re.M)} - {""}


def of_tests(chapter, text):
    """The same for single tests, without those handed out."""
    paths = list(Path(chapter, "tests").glob("*.c"))
    handed_out = set().union(*(blocks(path.read_text()) for path in paths if path.name == "mine.c"))
    course = set().union(*(blocks(path.read_text()) for path in paths)) - handed_out
    mine = blocks(text) - handed_out
    return {"all": len(mine), "course": len(mine & course), "others": sorted(mine - course)}
