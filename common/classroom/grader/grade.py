"""grade.py - grades one submission by its outputs: compiles the student's files, runs them on fresh input, and calls `judge`.

Only files in out/ count, nothing that the student's program prints. From the Makefile come CC, FLAGS, SANITIZED and WATCH_FLAGS, for
kernels CXX, CXX_FLAGS, INSTRUMENTED_FLAGS and CUDA_LIBS. BUILDS in the environment is a pattern of the only builds to try.
"""
import os
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

from box import GRADER, Box, fail
from submission import Submission, one_line

HERE = Path("common/classroom/grader")
SECONDS, CLOCK, MEMORY, MOST_SECONDS = 4, 15, 512, 240
OUTPUTS = ("y", "o", "lse", "dq", "dk", "dv", "counts")
SIGNALS = {4: "an illegal instruction", 6: "abort()", 7: "a bus error", 8: "a division by zero", 9: "a kill", 11: "a segmentation fault",
           25: "a file that grew too large"}
SHAPE = re.compile(r"--(batch|heads|kv-heads|n-q|n-k|d|rows|cols)=")


def flags(name):
    return os.environ.get(name, "").split()


def table(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


class Case:
    def __init__(self, line):
        left, right = line.split("|")
        self.set, self.topic, self.name = left.split(None, 2)
        self.name, words = self.name.rstrip(), right.split()
        self.core = "core" in words
        self.options = [word for word in words if word.startswith("--")]
        self.words = [word for word in words if not word.startswith("--")]


class Program:
    def __init__(self, line):
        self.number, self.part, self.name, self.kind, self.file, sets = line.split()
        every, self.cases = [Case(line) for line in table(HERE / "cases")], []
        for word in sets.split(","):
            name, _, topic = word.rstrip("*").partition("=")
            for case in (case for case in every if case.set == name):
                case.topic, case.core = topic or case.topic, case.core or word.endswith("*")
                self.cases.append(case)
        counted = {"rows": "counted-rows"}.get(self.kind, "counted-tiles")
        self.counted = self.cases[1] if self.kind == "tensor" else next(case for case in every if case.set == counted)


class Criterion:
    """A line of exercise/points, and its result."""

    def __init__(self, words):
        self.part, self.points, self.word, self.options = words[0], int(words[1]), words[2], words[3:]
        self.kind = self.word if self.word in ("output", "counts", "sanitizer", "numbers") else "elsewhere"
        self.trials, self.earned = [], 0

    def passed(self, core=False):
        return sum(t["outcome"] == "right" for t in self.trials if t["core"] or not core)

    def tried(self, core=False):
        return sum(t["core"] or not core for t in self.trials)

    def share(self):
        """The share of right cases, or of right core cases if that is less; in whole points, rounded down."""
        shares = [self.points * self.passed(core) // self.tried(core) for core in (False, True) if self.tried(core)]
        return min(shares, default=0)


def points_of(chapter):
    lines = [line.split("#")[0].split() for line in Path(chapter, "exercise/points").read_text().splitlines()]
    return [words for words in lines if words]


def chapter_of(word):
    """The chapter's folder, from 03 or 03_online_softmax; or None."""
    return next((str(p) for p in sorted(Path().glob("0[1-7]_*")) if word in (str(p), str(p)[:2])), None)


class Assignment:
    def __init__(self, chapter, parts=""):
        self.chapter, self.number = chapter, chapter[:2]
        lines = points_of(chapter)
        known = [words[1] for words in lines if words[0] == "part"]
        wanted = [part for part in parts.split(",") if part] or known
        wrong = next((part for part in wanted if part not in known), None)
        if wrong is not None:
            fail("PART", f"expected some of {' '.join(known)}, with commas between, found '{wrong}'")
        self.files = {words[1]: words[2].split(",") for words in lines if words[0] == "part" and words[1] in wanted}
        self.programs = [Program(line) for line in table(HERE / "programs") if line.startswith(self.number)]
        self.programs = [program for program in self.programs if program.part in wanted]
        self.criteria = [Criterion(words) for words in lines if words[0] not in ("part", "shown") and words[0] in wanted]

    def page(self, topic, program=""):
        """The page to read again."""
        for line in table(HERE / "where_to_read"):
            left, _, text = line.partition(" | ")
            of, chapters = left.split()
            if of == topic and set(chapters.split(",")) & {self.number, f"{self.number}/{program}"}:
                return text if text.startswith("common/") else f"{self.chapter}/{text}"
        return ""


def figures(chapter, seed):
    """The questions' figures and answers, from numbers.sh, by the teacher's private file if there is one."""
    private = Path(chapter, "exercise/numbers.private")
    file = private if private.exists() else Path(chapter, "exercise/numbers")
    said = subprocess.run(["sh", "common/classroom/starter/numbers.sh", file, str(seed)], capture_output=True, text=True, check=True)
    return [line.split() for line in said.stdout.splitlines()]


def judge_numbers(chapter, seed, text):
    """For each answer its name, "right", "wrong" or "missing", and what was given."""
    is_number = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
    got = {m[1]: re.sub(r"[ \t\r]", "", m[2]) for m in re.finditer(r"^(\d+\.\w+) *=(.*)$", text, re.M)}
    for _, question, name, slack, right in (words for words in figures(chapter, seed) if words[0] == "answer"):
        given, right = got.get(f"{question}.{name}", ""), float(right)
        allowed = float(slack[:-1]) / 100 * abs(right) if slack.endswith("%") else float(slack)
        good = is_number.fullmatch(given) and abs(float(given) - right) <= allowed
        yield f"{question}.{name}", "right" if good else "wrong" if given else "missing", re.sub(r"[^-+.0-9A-Za-z]", "?", given)[:40]


def foreign_headers(made):
    """Headers in a compiler's dependency file that are neither the course's nor the system's."""
    read = made.read_text(errors="replace").replace("\\\n", " ").split()[1:] if made.exists() and not made.is_symlink() else []
    own = ("source/", "headers/", "kernels/", "/usr/", "/opt/", "/Library/", "/Applications/")
    return [os.path.basename(name) for name in map(os.path.normpath, read) if not name.startswith(own) or name.startswith(os.getcwd())]


class Builder:
    """Builds a submission's programs in a box: root/bin/PROGRAM-VARIANT, or the reason in `said`."""

    def __init__(self, box, assignment):
        self.box, self.assignment, self.said, self.source = box, assignment, {}, ""

    def compile(self, file, words):
        good = self.box.compile([*words, "-MD", "-MF", "made/included"] if "-c" in words else words)
        foreign = foreign_headers(self.box.work / "made/included")
        if foreign:
            return f"{file}: it includes {foreign[0]}, which is not among the chapter's headers"
        if good:
            return ""
        said = self.box.errors().replace(self.source, file)
        said = re.sub(r"kernels/\w+/headers/|kernels/\w+/\w+/kernels/[^/ ]*/|headers/", "", said)
        lines = [line for line in said.splitlines() if re.search("error|undefined|multiple|time", line, re.I)][:4] or said.splitlines()[:2]
        return "\n".join([f"{file} does not compile:", *lines])

    def kernel(self, program, text):
        """Chapter 06's kernel PROGRAM.cu, the student's or one that includes it, as C++; returns its path."""
        top = self.box.work / "kernels" / program.name
        for one in [*Path(self.assignment.chapter, "kernels").glob("*/*.cuh"), *Path(self.assignment.chapter, "kernels").glob(f"*/{program.name}.cu")]:
            to = top / (str(one)[:-3] + ".cpp" if one.suffix == ".cu" else str(one))
            to.parent.mkdir(parents=True, exist_ok=True)
            mine = str(one) == f"{self.assignment.chapter}/{program.file}"
            said = subprocess.run(["sed", "-E", "-f", "common/cuda/emulator/to_cpp.sed"], input=(text if mine else one.read_text()).encode(),
                                  capture_output=True, check=False, timeout=20)
            to.write_bytes(f'#line 1 "{one.name}"\n'.encode() + said.stdout)
        return next(str(p.relative_to(self.box.work)) for p in top.glob(f"*/kernels/*/{program.name}.cpp")), f"-Ikernels/{program.name}"

    def program(self, program, text):
        """Builds all variants that the part's criteria need; returns an error, or ""."""
        is_kernel, more = program.file.endswith((".cu", ".cuh")), []
        of = {"output": "plain", "sanitizer": "sanitized", "counts": "counted"}
        if is_kernel:
            self.source, *more = self.kernel(program, text)
            compiler, usual, libraries = flags("CXX"), flags("CXX_FLAGS"), flags("CUDA_LIBS")
        else:
            self.source = f"source/{program.name}.c"
            (self.box.work / self.source).write_text(text)
            compiler, usual, libraries = flags("CC"), flags("FLAGS"), ["-lm"]
        own = {"plain": ["-O2", "-g"], "sanitized": flags("SANITIZED"), "counted": ["-g", *flags("WATCH_FLAGS")]}
        if is_kernel:  # their templates compile twice as fast without optimisation
            own = {"plain": [], "sanitized": [*flags("SANITIZED"), "-O0"], "counted": flags("INSTRUMENTED_FLAGS")}
        for variant in {of[c.kind]: 0 for c in self.assignment.criteria if c.part == program.part and c.kind in of}:
            if not re.search(os.environ.get("BUILDS", "."), variant):
                continue
            name = f"{program.name}-{variant}"
            linked = f"{program.number}-{program.name}{'-counted' if variant == 'counted' else ''}.o"
            linked = GRADER / ("sanitized" if variant == "sanitized" else "plain") / linked
            shutil.copyfile(linked, self.box.work / f"linked/{name}.o")
            why = self.compile(program.file, [*compiler, *usual, *own[variant], *more, "-Iheaders", "-c", self.source, "-o", f"made/{name}.o"])
            # the counted build's function for each access is the course's
            why = why or self.compile(program.file, [*compiler, *(own[variant] if variant != "counted" else []), f"made/{name}.o",
                                                     f"linked/{name}.o", "-o", f"made/{name}", *libraries])
            if why:
                return why
            shutil.copyfile(self.box.work / f"made/{name}", self.box.root / f"bin/{name}", follow_symlinks=False)
            os.chmod(self.box.root / f"bin/{name}", 0o755)
        return ""

    def works(self):
        """If not even the course's code compiles, the machine is at fault, and no submission can be graded."""
        (self.box.work / "source/nothing.c").write_text("int main(void) { return 0; }\n")
        if not self.box.compile([*flags("CC"), "source/nothing.c", "-o", "made/nothing"]):
            fail(" ".join(flags("CC")), f"expected to compile an empty program here, found: {self.box.errors().split(chr(10))[0]}")


def judge(box, *words):
    done = subprocess.run([GRADER.resolve() / "judge", *words], cwd=box.work / "kept", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail("judge", f"expected a verdict, found: {done.stderr.strip()}")
    return done.stdout.rstrip("\n").split("\t")


class Trials:
    def __init__(self, assignment, box, builder, seed):
        self.assignment, self.box, self.builder, self.seed = assignment, box, builder, seed
        self.last = time.monotonic() + int(os.environ.get("LIMIT", MOST_SECONDS))

    def add(self, criterion, program, name, outcome, text, core=False, topic=""):
        page = self.assignment.page(topic, program) if topic and outcome == "wrong" else ""
        criterion.trials.append({"program": program, "case": name, "outcome": outcome, "text": text, "core": core, "reread": page})

    def prepare(self, program, case, seed, more=()):
        """Makes the input in kept/, and copies it to root/in; returns a program's options."""
        for folder in ("kept/in", "kept/out", "root/in", "root/out"):
            shutil.rmtree(self.box.work / folder)
            (self.box.work / folder).mkdir()
        options = [*case.options, *more]
        judge(self.box, "make", program.kind, *case.words, "--", *options, f"--seed={seed}")
        for file in (self.box.work / "kept/in").iterdir():
            shutil.copyfile(file, self.box.root / "in" / file.name)
        for name in OUTPUTS:
            for folder in ("kept/out", "root/out"):
                (self.box.work / folder / f"{name}.npy").touch()
            self.box.give(f"root/out/{name}.npy")
        files = [word for name in ("q", "k", "v", "do", "mask") if (self.box.work / f"kept/in/{name}.npy").exists()
                 for word in [f"--{'key-mask' if name == 'mask' else name}=in/{name}.npy"]]
        if files:
            return [*files, *(word for word in options if not SHAPE.match(word))]
        return ["--in-place"] if "in-place" in case.words else []

    def run(self, program, variant, options):
        """Runs a program; returns an outcome and a line, or None and "" if its output can be judged."""
        sanitized = 3 if variant == "sanitized" else 1
        verdict = self.box.run([f"bin/{program.name}-{variant}", *options], SECONDS * sanitized, CLOCK * sanitized, 0 if sanitized > 1 else MEMORY)
        for made in (self.box.root / "out").iterdir():  # a program of our own user can make links and pipes
            if made.is_symlink() or made.is_fifo():
                made.unlink()
        errors = self.box.errors()
        report = next((line for line in errors.splitlines() if "runtime error" in line or "ERROR: " in line), "") if sanitized > 1 else ""
        kind, _, number = verdict.partition(" ")
        if report:
            return "crashed", report.split("ERROR: ", 1)[-1][:300]
        if kind == "cpu":
            return "too slow", f"it had not ended after {SECONDS * sanitized} seconds of the processor's time"
        if kind == "clock":
            waits = ": it waits for something" if float(number) < 1 else ""
            return "too slow", f"it had not ended after {CLOCK * sanitized} seconds, {number} of them at work{waits}"
        if kind == "signal":
            return "crashed", f"it was ended by {SIGNALS.get(int(number), verdict)}"
        if verdict != "exited 0":
            return "crashed", f"it ended with status {number}{': ' if errors.strip() else ''}{errors.split(chr(10))[0]}"
        first = {"rows": "y", "merge": "y", "share": "y", "dsink": "y", "backward": "dq"}.get(program.kind, "o")
        if not (self.box.root / f"out/{first}.npy").exists() or (self.box.root / f"out/{first}.npy").stat().st_size == 0:
            return "no output", "it ended by itself and has written no output"
        return None, ""

    def check(self, program, options, topic):
        """Judges the output; returns the outcome, a line about it, and its topic."""
        if program.kind in ("rows", "merge", "share", "dsink"):
            options = []
        verdict, array, text = judge(self.box, "check", program.kind, self.box.root.resolve() / "out", "--", *options)
        if verdict in ("missing", "unlike"):
            topic = "outputs"
        elif topic == "gradients":
            topic = {"dV": "dv", "dK": "dk"}.get(array, topic)
        return "right" if verdict == "right" else "wrong", text, topic

    def late(self, criterion, program, case):
        if time.monotonic() < self.last:
            return False
        self.add(criterion, program.name, case.name, "not run", f"not tried, because what was tried before took more than {os.environ.get('LIMIT', MOST_SECONDS)} seconds",
                 case.core)
        return True

    def outputs(self, criterion, program, variant="plain", cases=None, seed=0):
        hopeless, told = False, False
        for k, case in enumerate(program.cases if cases is None else cases):
            core = case.core and variant == "plain"
            if self.late(criterion, program, case):
                continue
            if hopeless:
                self.add(criterion, program.name, case.name, "not run", "not tried, because the program did not end before", core)
                continue
            options = self.prepare(program, case, self.seed + seed + k)
            outcome, text = self.run(program, variant, options)
            topic = ""
            if outcome is None:
                outcome, text, topic = self.check(program, options, case.topic)
            # by the first wrong case: others may have the same cause
            self.add(criterion, program.name, case.name, outcome, text, core, "" if told else topic)
            told = told or outcome == "wrong"
            hopeless = outcome == "too slow"

    def counts(self, criterion, program):
        case = program.counted
        if self.late(criterion, program, case):
            return
        more = ["--causal"] if "--causal" in criterion.options and program.kind != "tensor" else []
        options = self.prepare(program, case, self.seed + 200, more)
        model = GRADER.resolve() / f"plain/{program.number}-{program.name}-counted-course"
        subprocess.run([model, *options], cwd=self.box.work / "kept", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        expected = self.counted("kept/out")
        if not expected:
            fail(program.name, "expected counts from the course's own program")
        outcome, text = self.run(program, "counted", options)
        topic = case.topic
        if outcome is None:
            got = self.counted("root/out")
            outcome, text, topic = self.check(program, options, case.topic)
            if not got:
                outcome, text = "no output", "it ended without counts"
            elif outcome == "right":
                form = ("{:.0f} cycles of shared memory where {:.0f} would do, expected {:.0f} where {:.0f} would do" if program.kind == "tensor"
                        else "{:.0f} loads and {:.0f} stores, expected {:.0f} and {:.0f}")
                enough = got[0] <= expected[0] if program.kind == "tensor" else got[0] == expected[0]
                outcome, text, topic = "right" if enough and got[1] == expected[1] else "wrong", form.format(*got, *expected), "counts"
        self.add(criterion, program.name, case.name, outcome, text, topic=topic)

    def counted(self, folder):
        try:
            data = (self.box.work / folder / "counts.npy").read_bytes()
            return struct.unpack("<2f", data[-8:]) if b"'<f4'" in data and b"(2,)" in data else None
        except (OSError, struct.error):
            return None

    def all(self):
        variants = {"output": "plain", "counts": "counted", "sanitizer": "sanitized"}
        for criterion in self.assignment.criteria:
            for program in self.assignment.programs:
                if program.part != criterion.part or criterion.kind not in variants:
                    continue
                if not (self.box.root / f"bin/{program.name}-{variants[criterion.kind]}").exists():
                    why = self.builder.said.get(program.name) or f"{program.file}: not in the submission"
                    self.add(criterion, program.name, "the file compiles", "not run", why)
                elif criterion.kind == "output":
                    self.outputs(criterion, program)
                elif criterion.kind == "sanitizer":
                    self.outputs(criterion, program, "sanitized", program.cases[:2], 100)
                else:
                    self.counts(criterion, program)


class Report:
    """A grading's result. `figures` is the questions' seed, or None."""

    def __init__(self, assignment, name, seed):
        self.assignment, self.name, self.seed = assignment, one_line(name), seed
        self.refused, self.figures, self.notes, self.texts = "", None, [], {}

    def points(self, earned=False):
        return sum(c.earned if earned else c.points for c in self.assignment.criteria if c.kind != "elsewhere")

    def give_points(self):
        """Counts and sanitizers earn all or nothing, and nothing if most outputs are wrong: an empty function would pass them."""
        output = {c.part: c for c in self.assignment.criteria if c.kind == "output" and c.trials}
        for c in self.assignment.criteria:
            if c.kind in ("output", "numbers"):
                c.earned = c.share()
            elif c.kind != "elsewhere" and c.trials and c.passed() == c.tried():
                of = output.get(c.part)
                c.earned = 0 if of and (2 * of.passed() <= of.tried() or 2 * of.passed(True) < of.tried(True)) else c.points


def which_chapter(submission, chapter):
    """The chapter's folder: as given, from STARTER, or the one that the submission has."""
    if chapter:
        return chapter_of(chapter) or fail("CHAPTER", f"expected a chapter, as in CHAPTER=03, found '{chapter}'")
    word = submission.starter().get("chapter") if not submission.refused else None
    folders = {part for name in submission.files for part in name.split("/")[:-1] if re.fullmatch(r"0[1-7]_[a-z_]+", part)}
    word = word or (folders.pop() if len(folders) == 1 else "")
    return chapter_of(word.strip()) or fail("CHAPTER", f"{submission.refused + '; ' if submission.refused else ''}expected the chapter that it is of, as in CHAPTER=03")


def why_nothing(submission, assignment):
    """Explains, from the files that are there, why none of the exercise's is."""
    files = ["answers.txt", *(program.file for program in assignment.programs)]
    if any(submission.find(assignment.chapter, file) for file in files):
        return ""
    packed = sorted(one_line(name) for name in submission.files if name.endswith((".tar.gz", ".tgz", ".tar", ".zip")))
    of = submission.starter().get("chapter", "").strip()
    if packed:
        return f"expected the exercise's files, or one archive of them and nothing else, found {' '.join(packed)}"
    if of and of != assignment.chapter:
        return f"expected files of {assignment.chapter}, found a STARTER of {one_line(of)}"
    return ""


def try_numbers(report, submission, criterion, trials):
    text, why = submission.text(report.assignment.chapter, "answers.txt")
    if not why and report.figures is None:
        why = "answers.txt: not judged, because there is no STARTER whose seed says what was asked"
    if why:
        trials.add(criterion, "answers.txt", "the numbers", "not run", why)
        return
    for name, verdict, given in judge_numbers(report.assignment.chapter, report.figures, text):
        # no right answers: they could be handed in next time
        said = {"right": "right", "wrong": f"got {given}", "missing": "no number given"}[verdict]
        trials.add(criterion, "answers.txt", name, "right" if verdict == "right" else "wrong", said)


def grade(path, name, seed, chapter, parts, listed=None):
    """Grades the submission at `path`. `listed` is its seed in the teacher's list, or None."""
    submission = Submission(path)
    assignment = Assignment(which_chapter(submission, chapter), parts)
    if assignment.number == "06" and not (GRADER / "plain/06-fa1.o").exists():
        subprocess.run(["make", "-s", "--no-print-directory", "QUIET=1", "grader-06"], check=True)
    report = Report(assignment, name, seed)
    report.refused = submission.refused or why_nothing(submission, assignment)
    if report.refused:
        return report
    said = submission.starter().get("seed", "").strip()
    report.figures = int(said) if re.fullmatch(r"[0-9]{1,9}", said) else None
    if listed is not None:
        if report.figures not in (None, listed):
            report.notes.append(f"STARTER has seed {report.figures}, the list {listed}")
        report.figures = listed
    with Box() as box:
        builder = Builder(box, assignment)
        box.take_headers()
        for program in assignment.programs:
            text, why = submission.text(assignment.chapter, program.file)
            if not why:
                report.texts[program.file] = text
                why = builder.program(program, text)
                for file in (box.work / "source").iterdir():  # refused files must not be included
                    file.unlink()
            if why:
                builder.said[program.name] = why
        if any("does not compile" in why for why in builder.said.values()):
            builder.works()
        trials = Trials(assignment, box, builder, seed)
        trials.all()
        for criterion in assignment.criteria:
            if criterion.kind == "numbers":
                try_numbers(report, submission, criterion, trials)
    report.give_points()
    return report
