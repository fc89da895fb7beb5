"""grade_tests.py - how many of the chapter's wrong versions a student's tests reject.

Tests are compiled and run in a box. A wrong version is built once, and kept in build/grader/versions with what the tests that are handed
out say of it: what those reject does not count. Versions that only the instrumented build can tell from the right one are left out, and
where a chapter has steps, those of its kernels and of its program. The right version is run first, and twice more among the wrong ones, so
that tests which fail by chance seldom earn anything. The environment is that of common/tools/mutant.sh, from the Makefile.
"""
import functools
import os
import random
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from box import BUILD, GRADER, Box, Interrupted, fail, interrupted, jobs, libraries_of, progress
from grade import flags, foreign_headers, points_of
from similar import of_tests
from submission import Submission

SECONDS = int(os.environ.get("LIMIT") or 20)  # per version
LEFT_OUT = re.compile(r"accesses::|.*::leave_no_race$|banks::|count::of_every|.*2_to_the_31|make$|cuda-check$")
OF_A_STEP = re.compile(r"[^/]*/(steps|fast)/(?!(bench|differences|forward|trace|train)\.)")  # not those that print or time steps
SOURCE = "test_mine.c"


class Versions:
    """A chapter's wrong versions: their texts, and the words that link them with tests."""

    def __init__(self, chapter):
        self.chapter, self.texts = chapter, {}
        folder = BUILD / "mistakes" / chapter
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("mistakes.txt", "mistakes.private"):
            path = Path(chapter, "tests", file)
            if path.exists():
                subprocess.run(["awk", "-f", "common/tools/mistakes.awk", "split", folder, path], check=True)
                for name in re.findall(r"^Name: (.*)", path.read_text(), re.M):
                    text = (folder / name).read_text()
                    files = re.findall(r"^File: (.*)", text, re.M)
                    caught = re.split(r"[, ]+", re.search(r"^Caught by: *(.*)", text, re.M)[1])
                    if (not Path(chapter, "steps").is_dir() or any(OF_A_STEP.match(f) for f in files)) and any(
                            not LEFT_OUT.match(test) for test in caught):
                        self.texts[name] = text

    def words(self, name):
        return (GRADER / "versions" / self.chapter / name / "link").read_text().split() if name != "right" else flags("TESTS") + ["-o", "-"] + flags("LIBS")

    def link(self, name, mine, to):
        """Links the tests in the object `mine` with a version."""
        words = self.words(name)
        words[words.index("-o") + 1] = str(to)
        words = [mine if word.endswith(f"/{self.chapter}/tests/mine.o") else word for word in words]
        done = subprocess.run([*flags("LINKER"), *words, "-Wl,-s", "-fno-lto"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(name, f"expected to link it, found: {done.stderr.strip()}")

    def build(self, libraries):
        with ThreadPoolExecutor(jobs()) as pool:
            list(pool.map(lambda name: self.build_one(name, libraries), self.texts))
        return [name for name in self.texts if (GRADER / "versions" / self.chapter / name / "known").read_text() == "passes"]

    def build_one(self, name, libraries):
        """Its objects, the words that link them, and whether the handed-out tests pass."""
        folder = GRADER / "versions" / self.chapter / name
        made_of = [BUILD / "mistakes" / self.chapter / name, *map(Path, flags("TESTS"))]
        if (folder / "known").exists() and all(file.stat().st_mtime <= (folder / "known").stat().st_mtime for file in made_of):
            return
        if interrupted.is_set():
            raise Interrupted
        folder.mkdir(parents=True, exist_ok=True)
        text = re.sub(r"^Caught by:.*", "Caught by: mine::none", re.sub(r"^Tried in:.*\n", "", self.texts[name], flags=re.M), flags=re.M)
        (folder / "mistake").write_text(text)
        # a linker that prints its arguments: the version is linked with each student's tests
        subprocess.run(["sh", "common/tools/mutant.sh", self.chapter, folder / "mistake", folder / "result", folder / "copy"],
                       env={**os.environ, "LINKER": "echo LINK", "TESTED": ""}, stdout=subprocess.DEVNULL, check=False)
        log = (folder / "copy/log").read_text()
        words = [line for line in log.splitlines() if line.startswith("LINK ")]
        if not words:
            fail(name, f"expected a wrong version that compiles, found: {log[-400:]}")
        (folder / "link").write_text(words[-1][5:])
        mine = next(word for word in flags("TESTS") if word.endswith(f"/{self.chapter}/tests/mine.o"))
        (folder / "known").write_text("passes" if Run(self, name, mine, libraries).passes() else "fails")


class Run:
    """Runs an object's tests with a version in a box: what passed, what failed, how it ended."""

    def __init__(self, versions, name, mine, libraries):
        cores = os.cpu_count() or 1
        with Box(libraries) as box:
            versions.link(name, str(mine), box.root / "bin/tests")
            for folder in ("tmp", "dev/shm"):
                os.chmod(box.root / folder, 0o1777)
            (box.root / "proc/self").mkdir()
            (box.root / "proc/self/exe").symlink_to("/bin/tests")  # Criterion needs no more of /proc
            (box.root / "out/tap").touch()
            box.give("root/out/tap")
            self.verdict = box.run(["bin/tests", "--tap=out/tap", "--jobs=2"], SECONDS, SECONDS, 2048, 16, 40 + 4 * cores)
            tap = (box.root / "out/tap").read_text(errors="replace")
            self.said = box.errors()
        self.passed = len([line for line in re.findall(r"^ok .*", tap, re.M) if "# SKIP" not in line])
        self.failed = re.findall(r"^not ok - (\S+)", tap, re.M)

    def passes(self):
        return self.verdict == "exited 0" and not self.failed


def compiled(box, versions, text):
    """Compiles the tests in the box; returns an error, or ""."""
    chapter = versions.chapter
    source = box.work / "headers" / chapter / "tests" / SOURCE
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    words = ["-Iheaders" if word == "-I." else word for word in flags("FLAGS")]
    for k, word in enumerate(words):  # Criterion unpacked in the course's folder, which other users may not read
        if word.startswith("/") and not word.startswith("/usr/"):
            shutil.copytree(Path(word, "criterion"), box.work / "headers/unpacked/criterion", dirs_exist_ok=True)
            words[k] = "headers/unpacked"
    source, made = str(source.relative_to(box.work)), box.work / "made"
    good = box.compile([*flags("CC"), *words, "-fno-common", "-MD", "-MF", "made/included", "-c", source, "-o", "made/mine.o"])
    foreign = foreign_headers(made / "included")
    if foreign:
        return f"it includes {foreign[0]}, which is not among the chapter's headers\nThe tests do not compile"
    if not good:
        return "\n".join(box.errors().replace("headers/", "").splitlines()[:20] + ["The tests do not compile"])

    def symbols(*files):
        said = subprocess.run(["nm", "-gP", *files], capture_output=True, text=True, check=False).stdout
        return {tuple(line.split()[:2]) for line in said.splitlines() if len(line.split()) > 1}
    defined = {name for name, kind in symbols(made / "mine.o") if kind != "U"}
    lesson = {name for name, _ in symbols(*(word for word in flags("TESTS") if word.endswith(".o") and not word.endswith("/tests/mine.o")))}
    if defined & lesson:
        return f"The tests define {min(defined & lesson)}, which the lesson has or calls"
    return ""


def judge_tests(tester, text):
    """Lines for the report, the last with the points; the points."""
    versions, libraries = tester.versions, tester.libraries
    most = sum(int(words[1]) for words in points_of(versions.chapter) if words[2] == "mutants")
    with Box(libraries) as box:
        box.take_headers(tests=True)
        why = compiled(box, versions, text)
        if why:
            return [*why.splitlines()[:-1], why.splitlines()[-1] + ": 0 points."], 0.0
        mine = box.work / "made/mine.o"
        right = Run(versions, "right", mine, libraries)
        if not right.passes():
            slow = [f"    they took more than {SECONDS} seconds"] if right.verdict.startswith(("cpu", "clock")) else []
            said = [f"    {name.rstrip(':')}" for name in right.failed] or slow or right.said[:400].splitlines() or [f"    {right.verdict}"]
            return [*said[:100], "These tests reject the right version (or do not come to their end): 0 points."], 0.0
        if not right.passed:
            return ["There is no test in it: 0 points."], 0.0
        counted = tester.counted
        order = [*counted, "right", "right"]
        random.shuffle(order)
        done = []

        def one(name):
            try:
                passes = Run(versions, name, mine, libraries).passes()
            except Interrupted:
                return
            done.append((name, passes))
            progress(f"{len(done)} of {len(order)} versions")
        with ThreadPoolExecutor(jobs()) as pool:
            list(pool.map(one, order))
    progress("")
    rejected = sum(name != "right" and not passes for name, passes in done)
    if interrupted.is_set():
        tried = sum(name != "right" for name, _ in done)
        return [f"Incomplete, for it was interrupted: after {tried} of {len(counted)} wrong versions the tests reject {rejected}."], None
    if ("right", False) in done:
        return ["These tests reject the right version when they are run on it again: 0 points."], 0.0
    symptom = {name: re.search(r"^Symptom: *(.*)", versions.texts[name] + "Symptom: ", re.M)[1] for name in counted}
    lines = [f"    not rejected: {symptom[name]}  ({name})" for name, passes in sorted(done) if passes and name != "right"]
    alike = of_tests(versions.chapter, text)
    lines += [f"    {alike['course']} of {alike['all']} tests are the course's own"] if alike["course"] else []
    earned = most * rejected / len(counted) if counted else 0.0
    known = len(versions.texts) - len(counted)
    more = f" (and {known} that the tests handed out reject)" if known else ""
    return [*lines, f"The tests pass with the right version and reject {rejected} of {len(counted)} wrong ones{more}: {earned:.1f} of {most} points."], earned


class Tester:
    def __init__(self, chapter):
        self.versions = Versions(chapter)
        with tempfile.TemporaryDirectory() as folder:  # another grader may link, too
            self.versions.link("right", next(word for word in flags("TESTS") if word.endswith(f"/{chapter}/tests/mine.o")), f"{folder}/right")
            self.libraries = libraries_of(f"{folder}/right")

    @functools.cached_property
    def counted(self):
        """The names of the wrong versions that count; built on first use."""
        return self.versions.build(self.libraries)

    def grade(self, path):
        """A submission's lines, points (None if interrupted), and text."""
        submission = Submission(path)
        text, why = (None, submission.refused) if submission.refused else submission.text(self.versions.chapter, f"tests/{SOURCE}")
        if why:
            return [f"{why}: 0 points."], 0.0, ""
        lines, earned = judge_tests(self, text)
        return lines, earned, text
