"""prose.py - checks of the pages' language (rules: common/STYLE.md).

    words      limits of words: the front page, each page of the main path, all pages
    rests      on the main path a heading, a picture or a question at least every 400 words
    phrases    words that no page may use
    terms      the main path defines glossary terms in bold before using them
    times      the front page's evenings and hours match the main path's pages, at three hours an evening

Prose excludes code, filled blocks, tables, comments, displayed formulas, picture descriptions and folded answers;
sections of links do not count as words.
"""
import re

from page import MAIN_PATH

FRONT_WORDS, PAGE_WORDS, MAIN_WORDS, ALL_WORDS, REST_WORDS = 700, 1500, 12500, 42000, 400
GLOSSARY = "common/docs/GLOSSARY.md"
PHRASES = re.compile(
    r"\b(behind|beside|stands?|stood|nobody|everybody|somebody|neighbou?rs?|comes? (?:by|past)|go(?:es)? (?:past|home)|"
    r"tells|knows|hangs? on|for good|by and by|so many|needed (?:is|are)|wanted (?:is|are)|rungs?|"
    r"watched|museum|hidden (?:keys?|scores?|pairs?|tiles?)|\d a (?:pair|row|tile|key|query|head)|"
    r"accesses a (?:pair|row|tile|key|query|head))\b", re.IGNORECASE)
STYLE = "common/STYLE.md"
# Glossary words with an everyday meaning, which pages may use before their definition.
EVERYDAY = {"attention", "thread", "block", "grid", "kernel", "pass", "state", "share", "full", "partial", "skipped"}
POINTERS = {"Exercises", "If you want more", "Next"}  # sections that name what comes later


def prose_of(page):
    """The page's lines of prose, with their numbers; links keep their words."""
    block = fold = comment = False
    for number, line in page.lines:
        if line.startswith("<!--") and "-->" not in line:
            comment = True
        elif comment:
            comment = "-->" not in line
        elif re.match(r"<!-- [a-z]+: .* -->$", line):
            block = True
        elif line == "<!-- end -->":
            block = False
        elif "<details>" in line:
            fold = True
        elif "</details>" in line:
            fold = False
        elif not (block or fold or line.startswith(("|", "<!--", "$$"))):
            line = re.sub(r"!\[[^]]*\]\([^)]*\)", "", line)
            yield number, re.sub(r"\]\([^)]*\)", "]", line)


def words_of(page):
    count, pointer = 0, False
    for _, line in prose_of(page):
        if line.startswith("## "):
            pointer = line[3:] in POINTERS
        count += 0 if pointer else len(line.split())
    return count


def on_the_main_path(pages):
    by_path = {page.path.as_posix(): page for page in pages}
    return [by_path[path] for path in MAIN_PATH if path in by_path]


def words(pages):
    main = on_the_main_path(pages)
    for page in main:
        most = FRONT_WORDS if page.path.as_posix() == MAIN_PATH[0] else PAGE_WORDS
        if words_of(page) > most:
            yield f"{page.path}:1: expected at most {most} words of prose, found {words_of(page)}"
    total = sum(map(words_of, main))
    if total > MAIN_WORDS:
        yield f"{MAIN_PATH[0]}:1: expected at most {MAIN_WORDS} words of prose on the main path, found {total}"
    total = sum(map(words_of, pages))
    if total > ALL_WORDS:
        yield f"{MAIN_PATH[0]}:1: expected at most {ALL_WORDS} words of prose on all pages, found {total}"


def rests(pages):
    for page in on_the_main_path(pages):
        text, count, start = dict(prose_of(page)), 0, 1
        for number, line in page.lines:
            if line.startswith(("#", "![", "**Check yourself.**")):
                count, start = 0, number
            before, count = count, count + len(text.get(number, "").split())
            if before <= REST_WORDS < count:
                yield f"{page.path}:{start}: more than {REST_WORDS} words without a heading, a picture or a question"


def phrases_of(page):
    return [(number, found[0]) for number, line in prose_of(page)
            for found in PHRASES.finditer(re.sub("`[^`]*`", "", line))]


def phrases(pages):
    for page in pages:
        for number, phrase in phrases_of(page) if page.path.as_posix() != STYLE else ():
            yield f"{page.path}:{number}: expected other words than '{phrase}' ({STYLE})"


def terms_of(glossary):
    """Each term, and the first page that its entry links to, if on the main path."""
    text = " ".join(line for _, line in glossary.lines)
    for entry in re.findall(r"(?:^| )- (\*\*.*?)(?= - \*\*| ## |$)", text):
        links = re.findall(r"\]\(([^)]*)\)", entry)
        where = links[0].split("#")[0].replace("../../", "") if links else ""
        for name in re.findall(r"\*\*(.*?)\*\*", entry):
            if where in MAIN_PATH and len(name) > 2 and ", " not in name:
                yield name.lower(), where


def uses(term, page):
    """The first line after the head that uses the term, and the first that has it in bold; or None."""
    word = re.compile(r"\b" + re.escape(term).replace(r"\ ", "[ -]") + r"(?:s|es|d|ed|ing)?\b", re.IGNORECASE)
    bold = re.compile(r"\*\*[^*]*" + word.pattern + r"[^*]*\*\*", re.IGNORECASE)
    used = defined = None
    head, passed = True, False
    for number, line in prose_of(page):
        if line.startswith("## "):
            head, passed = False, line[3:] in POINTERS
        if passed:
            continue
        plain = re.sub(r"`[^`]*`|\[[^]]*\]", "", line)
        if used is None and not head and word.search(plain) and not line.startswith("#"):
            used = number
        if defined is None and bold.search(line):
            defined = number
    return used, defined


def terms(pages):
    glossary = next((page for page in pages if page.path.as_posix() == GLOSSARY), None)
    main = on_the_main_path(pages)[1:]  # the front page only points to what is taught
    if not glossary or len(main) + 1 < len(MAIN_PATH):
        return
    for term, where in terms_of(glossary):
        for page in main:
            used, defined = uses(term, page)
            if page.path.as_posix() == where:
                if not defined:
                    yield f"{page.path}:1: expected **{term}** in bold, where the glossary says that it is defined"
                elif used and used < defined and term not in EVERYDAY:
                    yield f"{page.path}:{used}: '{term}' is used before it is defined in line {defined}"
                break
            if used and term not in EVERYDAY:
                yield f"{page.path}:{used}: '{term}' is used before {where} defines it"


MINUTES = {"ten minutes": 10, "a quarter of an hour": 15, "twenty minutes": 20, "half an hour": 30, "forty minutes": 40,
           "an hour": 60, "an hour and a half": 90}
COUNTS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()


def times(pages):
    main = on_the_main_path(pages)
    if len(main) < len(MAIN_PATH):
        return
    total = 0
    for page in main[1:]:
        said = re.search(r"\*Time:\* ([^.;]*)", "\n".join(line for _, line in page.lines))
        digits = said and re.fullmatch(r"(\d+) minutes", said[1])
        if not said or not (digits or said[1] in MINUTES):
            yield f"{page.path}:1: expected *Time:* and so many minutes, or one of: {', '.join(MINUTES)}"
            return
        total += int(digits[1]) if digits else MINUTES[said[1]]
    right = {"hours": COUNTS[total // 60], "evenings": COUNTS[-(-total // 180)]}
    for number, line in main[0].lines:
        for found, unit in re.findall(rf"\b({'|'.join(COUNTS)}) (hours|evenings)\b", line, re.IGNORECASE):
            if found.lower() != right[unit]:
                yield f"{main[0].path}:{number}: expected {right[unit]} {unit}, as its pages take {total} minutes, found {found}"


CHECKS = (words, rests, phrases, terms, times)
