"""comments.py - checks of the comments in lessons and kernels (rules: common/STYLE.md).

    course.py comments

A file's first comment has at most 8 lines of text. No comment has a phrase that pages may not use (prose.py), or one
that only comments tend to use.
"""
import re
import sys
from pathlib import Path

from prose import PHRASES, STYLE

HEADER_LINES = 8
FILES = ("0[1-4]_*/*.[ch]", "0[57]_*/steps/*.[ch]", "0[57]_*/fast/*.[ch]", "0[67]_*/kernels/**/*.[ch]",
         "0[67]_*/kernels/**/*.cu", "0[67]_*/kernels/**/*.cuh")
STILTED = re.compile(r"\b(?:who|whoever|tell|told|say|says|said|know|asks?|asked|wants?|wanted|sees?|seen|unseen|anew|"
                     r"once more|(?:is|are) to be|such as do|nothing is)\b|^/[*/]\s*(?:Of|Wanted|Needed|Left|Kept)\b")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(/\*.*?\*/|//[^\n]*)', re.DOTALL)


def comments_of(text):
    """Each comment with the number of its first line."""
    for found in STRING_OR_COMMENT.finditer(text):
        if found[1]:
            yield text.count("\n", 0, found.start()) + 1, found[1]


def wrong():
    for file in sorted(file for pattern in FILES for file in Path().glob(pattern)):
        for number, comment in comments_of(file.read_text(encoding="utf-8")):
            lines = len(re.findall(r"^.*\w.*$", comment, re.MULTILINE))
            if number == 1 and lines > HEADER_LINES:
                yield f"{file}:1: expected at most {HEADER_LINES} lines of text in the first comment, found {lines}"
            words = re.sub(r"`[^`]*`|\n *\* ?", " ", comment)
            for found in (*PHRASES.finditer(words), *STILTED.finditer(words)):
                yield f"{file}:{number}: expected other words than '{found[0].lstrip('/* ')}' ({STYLE})"


def main(arguments):
    if arguments:
        print(f"comments: expected nothing else, found '{arguments[0]}'", file=sys.stderr)
        return 2
    lines = list(wrong())
    if lines:
        print("\n".join(lines))
    return 1 if lines else 0
