"""grading.py RESULT [TEST…] - is the grader right, and what does a cheat earn? Leaves "passed failed skipped" in RESULT.

Each test is a process of its own, and several checks are one grading where they can be. GRADING in the environment is the grader's folder: a
copy with a mistake in it, or common/classroom/grader. Each wrong version of the grader, in mistakes.txt, must fail a test.
"""
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

GRADING = os.environ.get("GRADING", "common/classroom/grader")
sys.path.insert(0, GRADING)
os.environ.setdefault("BUILD", "build")
os.environ.pop("MAKEFLAGS", None)

import box  # noqa: E402
import grade  # noqa: E402
import report as reports  # noqa: E402
import similar  # noqa: E402
from submission import Submission  # noqa: E402

SOFTMAX = "01_standard_softmax/standard_softmax.c"
IS_ROOT = os.geteuid() == 0 and sys.platform == "linux"
TESTS = {}


class Skip(Exception):
    pass


def test(function):
    TESTS[function.__name__] = function
    return function


def check(good, text="not as it should be"):
    if not good:
        raise AssertionError(text)


def folder_of(files, name="in"):
    """A submission: a new folder with these files, a text or the path of a file each."""
    top = Path(tempfile.mkdtemp(prefix="grading.", dir=os.environ["WORK"])) / name
    top.mkdir()
    for file, text in files.items():
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, Path):
            shutil.copyfile(text, top / file)
        else:
            (top / file).write_text(text)
    return top


def graded(files, chapter="01", parts="", builds="plain", seed=12345, **more):
    os.environ["BUILDS"] = builds
    path = files if isinstance(files, Path) else folder_of(files)
    return grade.grade(path, path.name, seed, chapter, parts, **more)


def points(report, *words):
    return [c.earned for c in report.assignment.criteria if f"{c.part} {c.word}" in words]


def program(body, more=""):
    """A softmax of chapter 01 with this body, in which right(x, y, n) is one that is right."""
    return f"""#define _GNU_SOURCE
#include "01_standard_softmax/standard_softmax.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
{more}
static void right(const float *x, float *y, size_t n)
{{
    float l = 0.0f;
    for (size_t j = 0; j < n; j++)
        l += expf(x[j]);
    for (size_t j = 0; j < n; j++)
        y[j] = expf(x[j]) / l;
}}
void standard_softmax(const float *x, float *y, size_t n)
{{
    (void)x, (void)y, (void)n, (void)right;
    {body}
}}
"""


def nothing_for(body, words, more="", builds="plain"):
    """It earns nothing, and the report gives the reason."""
    report = graded({SOFTMAX: program(body, more)}, builds=builds)
    said = " ".join(reports.text(report).split())
    check(points(report, "passes output", "passes counts", "passes sanitizer") == [0, 0, 0], f"it earned points: {said}")
    check(re.search(words, said), f"expected {words} in: {said}")


def stub(path):
    """A file as a starter has it."""
    text = re.sub(r"// BEGIN SOLUTION.*?// END SOLUTION", "", Path(path).read_text(), flags=re.S)
    return text.replace("// STUB: ", "")


def mistakes(chapter):
    """The entries of a chapter's mistakes.txt, as {name: text}."""
    text = Path(chapter, "tests/mistakes.txt").read_text()
    return {entry.split("\n")[0]: "Name: " + entry for entry in re.split(r"^Name: ", text, flags=re.M)[1:]}


def apply(top, entry):
    """Makes a mistake in copies of the files that it changes."""
    for file in re.findall(r"^File: (.*)", entry, re.M):
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        if not (top / file).exists():
            shutil.copyfile(file, top / file)
    (top / "entry").write_text(entry)
    subprocess.run(["awk", "-f", "common/tools/mistakes.awk", "apply", top, top / "entry"], check=True)
    (top / "entry").unlink()


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env={**os.environ, **more})
    return done.returncode, done.stdout + done.stderr


def grader(*words, **more):
    return run("python3", GRADING, *words, **more)


# ---- what is right earns all points, and what is wrong loses its own part --------------------------------------------------------


def right(number, parts=""):
    chapter = grade.chapter_of(number)
    top = folder_of({f"{chapter}/STARTER": f"chapter {chapter}\nseed 3\n"})
    for file in {p.file for p in grade.Assignment(chapter).programs}:
        (top / chapter / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(chapter, file), top / chapter / file)
    words = [w for w in grade.figures(chapter, 3) if w[0] == "answer"]
    (top / chapter / "answers.txt").write_text("".join(f"{w[1]}.{w[2]} = {w[4]}\n" for w in words))
    report = graded(top, number, parts, ".")
    check(report.points(True) == report.points() > 0, reports.text(report))


for _number in ("01", "02", "03", "04", "05", "07"):
    TESTS[f"right_{_number}"] = lambda number=_number: right(number)
TESTS["right_06"] = lambda: right("06", "fa1,warp,fragments,swizzle,questions")


def wrong_versions(number):
    """Each mistake in a gap costs points of its part, by the output, the counts, or a sanitizer. One mistake per file at a time."""
    chapter = grade.chapter_of(number)
    files = {p.file for p in grade.Assignment(chapter).programs}
    of_file = {file: [] for file in files}
    for name, entry in mistakes(chapter).items():
        changed = [file for file in re.findall(rf"^File: {chapter}/(.*)", entry, re.M)]
        if len(changed) == 1 and changed[0] in files:
            top = folder_of({})
            apply(top, entry)
            if similar.gaps((top / chapter / changed[0]).read_text()) != similar.gaps(Path(chapter, changed[0]).read_text()):
                of_file[changed[0]].append((name, top / chapter / changed[0]))
    check(any(of_file.values()), "there is none")
    lost = []
    while any(of_file.values()):
        now = {file: of_file[file].pop() for file in files if of_file[file]}
        for builds in ("plain|counted", "sanitized"):
            parts = {p.part for p in grade.Assignment(chapter).programs if p.file in now}
            report = graded({f"{chapter}/{file}": path for file, (_, path) in now.items()}, number, ",".join(sorted(parts)), builds)
            said = reports.text(report)
            check("does not compile" not in said, said)
            for file in list(now):
                names = [p.name for p in grade.Assignment(chapter).programs if p.file == file]
                if any(re.match(rf"    WRONG  {name}, (?!the file compiles)", line) for name in names for line in said.splitlines()):
                    del now[file]
            if not now:
                break
        lost += [name for name, _ in now.values()]
    check(not lost, f"these lose no points: {lost}")


for _number in ("01", "02", "03", "04", "05", "06", "07"):
    TESTS[f"wrong_versions_of_{_number}"] = lambda number=_number: wrong_versions(number)


@test
def kernels_that_cheat():
    """One that includes the course's own; and one that is quick and wrong: few cycles of shared memory, and not the output."""
    swizzle = Path("06_flash_tiled_cuda/kernels/parts/swizzle.cuh").read_text()
    report = graded({"kernels/1_float32/fa1.cu": f'#include "{os.getcwd()}/06_flash_tiled_cuda/kernels/1_float32/fa1.cu"\n',
                     "kernels/parts/swizzle.cuh": swizzle.replace("(c ^ mask);", "(c ^ mask ^ (r >= 16));")}, "06", "fa1,swizzle", "plain|counted")
    said = reports.text(report)
    check(report.points(True) == 0 and re.search("does not compile|it includes", said) and "wrong\n        O at b, h, i, c" in said, said)


@test
def loses_its_own_part():
    """A crash, an endless loop, a waiting program, and an untouched part cost only their own parts."""
    chapter = "03_online_softmax"
    state = Path(chapter, "softmax_state.c").read_text()
    passes = Path(chapter, "online_softmax.c")
    share = re.search(r"^float softmax_share.*?\{", state, re.M | re.S)[0]
    for body, outcome, words in (("*(volatile int *)0 = 1;", "crashed", "it was ended by a segmentation fault"),
                                 ("signal(24, (int (*)(int))1); for (volatile int k = 0;; k = 1 - k) ;", "too slow", r"4 seconds of the processor|15 seconds, [1-9]\."),
                                 ("sleep(60);", "too slow", "15 seconds, 0.0 of them at work: it waits")):
        head = "int (*signal(int, int (*)(int)))(int); unsigned sleep(unsigned);\n"
        report = graded({f"{chapter}/softmax_state.c": head + state.replace(share, share + body), f"{chapter}/online_softmax.c": passes}, "03")
        said = reports.text(report)
        check(points(report, "passes output", "merge output", "share output") == [3, 3, 0] and f"ordinary blocks: {outcome}" in said and re.search(words, said), said)


@test
def reads_again_of_one_cause():
    """Without a rescale nothing is said of infinity."""
    chapter = "03_online_softmax"
    passes = Path(chapter, "online_softmax.c").read_text()
    rescale = passes.replace("l * exp_minus(m, m_new)", "l")
    check(rescale != passes, "there is no rescale in it")
    report = graded({f"{chapter}/online_softmax.c": rescale}, "03", "passes")
    check("Minus infinity" not in reports.text(report) and "when the maximum moves" in reports.text(report), reports.text(report))


@test
def the_step_before_earns_nothing():
    """What a part is about weighs as much as all the rest."""
    one = Path(SOFTMAX).read_text().replace("01_standard_softmax/standard", "02_safe_softmax/safe").replace("standard_softmax", "safe_softmax")
    got = [graded({"02_safe_softmax/safe_softmax.c": one}, "02", "passes", ".").points(True)]
    masks = Path("05_flash_tiled_cpu/steps/masks.c").read_text()
    none = re.sub(r"^ *tile_kind\(a\.p.*", "TILE_FULL;", masks, flags=re.M)
    check(none != masks, "masks.c has other words")
    got.append(graded({"05_flash_tiled_cpu/steps/masks.c": none}, "05", "masks").points(True))
    check(got == [0, 0], f"these earned {got}")


@test
def a_mask_that_skips_no_tile():
    """It is right, and no saving."""
    masks = Path("05_flash_tiled_cpu/steps/masks.c").read_text()
    every = masks.replace("kind == TILE_SKIPPED", "!a.p").replace("kind == TILE_PARTIAL", "kind != TILE_FULL")
    check(masks != every, "masks.c has other words")
    got = points(graded({"05_flash_tiled_cpu/steps/masks.c": every}, "05", "masks", "plain|counted"), "masks output", "masks counts")
    check(got == [4, 0], f"it earned {got}")


@test
def what_sanitizers_and_counts_see():
    report = graded({SOFTMAX: program("volatile float *z = malloc(4 * n); if (z[n] > 1e30f) puts(\"\"); free((void *)z); right(x, y, n); y[0] += 0;")}, builds=".")
    said = reports.text(report)
    check(points(report, "passes output", "passes counts", "passes sanitizer") == [3, 0, 0] and "heap-buffer-overflow" in said, said)
    report = graded({SOFTMAX: program("right(x, y, n); y[0] += 0;")}, builds="plain|counted")
    check("95 loads and 50 stores, expected 90 and 45" in reports.text(report), reports.text(report))


# ---- cheating --------------------------------------------------------------------------------------------------------------------


@test
def says_that_all_is_well():
    nothing_for('puts("passes, output: 3 of 3 points"); fputs("exited 0", stderr); fflush(NULL); _exit(0);', "it ended by itself and has written no output")


@test
def brings_the_solution():
    """By its name, by another file that anybody may read, by calls, and by a main of its own."""
    solution = Path(os.environ["WORK"], "solution.c")
    shutil.copyfile(SOFTMAX, solution)
    for text, words in ((f'#include "{os.getcwd()}/{SOFTMAX}"\n', "does not compile|it includes"), (f"#include <{solution}>\n", "does not compile|it includes solution.c"),
                        ("void safe_softmax(const float *, float *, unsigned long);\nvoid standard_softmax(const float *x, float *y, unsigned long n);\n"
                         "void standard_softmax(const float *x, float *y, unsigned long n) { safe_softmax(x, y, n); }", "undefined reference"),
                        (Path(SOFTMAX).read_text() + "int main(void) { return 0; }", "multiple definition"), ("void standard_softmax(", "does not compile: standard_softmax.c:1")):
        report = graded({SOFTMAX: text})
        said = " ".join(reports.text(report).split())
        check(report.points(True) == 0 and re.search(words, said), f"expected {words}: {said}")


@test
def looks_for_the_solution():
    """As root also: it can open only its own files, and cannot write, start or end anything."""
    if not IS_ROOT:
        raise Skip
    paths = [f"{os.getcwd()}/{SOFTMAX}", "../../kept/in/x.npy", "/etc/passwd", "/proc/self/status", "../out/../../errors"]
    nothing_for('static const char *const paths[] = { "' + '", "'.join(paths) + '" };\n'
                "for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)\n    if (fopen(paths[k], \"r\"))\n        right(x, y, n);", "never written")
    paths = [f"{os.getcwd()}/was-here", "../was-here", "was-here", "in/x.npy", "bin/was-here", "out/was-here", "lib/was-here", "/was-here"]
    nothing_for('static const char *const paths[] = { "' + '", "'.join(paths) + '" };\nint opened = fork() >= 0;\nkill(getppid(), 9); kill(-1, 9);\n'
                "for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)\n    opened += fopen(paths[k], \"w\") != NULL;\n_exit(opened ? 7 : 9);",
                "it ended with status 9")


@test
def takes_too_much_memory():
    nothing_for("volatile char *m = malloc((size_t)640 << 20); *m = 1; right(x, y, n);", "3 rows of 7: crashed")


@test
def takes_too_much():
    nothing_for("FILE *f = fopen(\"out/y.npy\", \"r+\"); static char mb[1 << 20]; for (int k = 0; k < 40; k++) fwrite(mb, 1, sizeof mb, f); _exit(0);",
                "a file that grew too large")
    os.environ["LIMIT"] = "2"
    nothing_for("sleep(3); _exit(9);", "20 rows of 64: not run not tried, because what was tried before took more than 2 seconds")


@test
def leaves_something_behind():
    """What it has started ends with it, also if it is in a session of its own."""
    if not IS_ROOT:
        raise Skip
    source = Path(os.environ["WORK"], "orphan.c")
    source.write_text('#include <sys/prctl.h>\n#include <unistd.h>\nint main(void) { if (fork()) return 0 * (int)sleep(1); setsid();'
                      ' prctl(PR_SET_NAME, "an-o%d", 0, 0, 0); return fork() ? 0 : (int)sleep(60); }' % os.getpid())
    run("cc", "-static", source, "-o", source.with_suffix(""))
    os.chmod(source.with_suffix(""), 0o755)
    box.confine(["--user", 30000 + os.getpid() % 9000, "--tasks", 99], [source.with_suffix("")])
    time.sleep(0.3)
    check(not re.search(f"^[^Z].*an-o{os.getpid()}", run("ps", "-eo", "stat,comm")[1], re.M), "it is still there")


@test
def behind_other_walls():
    """Not root: with bubblewrap as much as there is; with nothing one line, or TRUSTED=yes."""
    if not IS_ROOT or not shutil.which("setpriv"):
        raise Skip
    top = folder_of({SOFTMAX: program("right(x, y, n); if (fopen(\"/etc/passwd\", \"r\")) _exit(7);")})
    subprocess.run(["chmod", "-R", "go+rX", os.environ["WORK"]], check=True)
    empty = folder_of({})
    for tool in ("ldd", "cc", "gcc", "sh", "awk", "ld", "as"):
        (empty / tool).symlink_to(shutil.which(tool) or "/none")
    os.chmod(empty.parent, 0o755)

    def as_nobody(name, path, **more):
        made = Path(tempfile.mkdtemp())
        os.chmod(made, 0o777)
        code, said = run(shutil.which("setpriv"), "--reuid", "65534", "--clear-groups", sys.executable, GRADING, "grade", PATH=path, SUBMISSION=top, CHAPTER="01", SEED="5", HOME="/tmp",
                         REPORTS=made / name, TMPDIR="", QUIET="", **{"PYTHONDONTWRITEBYTECODE": "1", "BUILDS": "plain", **more})
        shutil.rmtree(made)
        return code, said
    if os.access(os.path.realpath(sys.executable), os.X_OK) and run("setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c", "")[0] != 0:
        raise Skip  # a Python that only root may read
    code, said = as_nobody("a", str(empty))
    check(code == 2 and "the package bubblewrap" in said and said.count("\n") == 1, f"{code} {said}")
    code, said = as_nobody("b", str(empty), TRUSTED="yes")
    check(code == 0 and "it ended with status 7" in said, f"{code} {said}")
    (top / SOFTMAX).write_text(program("right(x, y, n); unlink(\"out/counts.npy\"); mkfifo(\"out/counts.npy\", 0666);", "#include <sys/stat.h>\n"))
    code, said = as_nobody("d", str(empty), TRUSTED="yes", BUILDS="plain|counted")
    check(code == 0 and "it ended without counts" in said, f"{code} {said}")
    (top / SOFTMAX).write_text(program("right(x, y, n); if (fopen(\"/etc/passwd\", \"r\")) _exit(7);"))
    if shutil.which("bwrap"):
        code, said = as_nobody("c", os.environ["PATH"])
        check("passes, output: 3 of 3" in said or "the package bubblewrap" in said, f"{code} {said}")
    for mode in (0o000, 0o444):
        (top / f"locked{mode}/file").mkdir(parents=True)
        os.chmod(top / f"locked{mode}", mode)
        code, said = as_nobody(f"e{mode}", str(empty), TRUSTED="yes")
        check(code == 0 and "it has a file or folder that may not be read" in said, f"{code} {said}")
        shutil.rmtree(top / f"locked{mode}")


# ---- what is handed in -----------------------------------------------------------------------------------------------------------


@test
def archives():
    """However it is packed, the file is found; and what is no plain file refuses the whole."""
    top = folder_of({SOFTMAX: Path(SOFTMAX), "STARTER": "chapter 01_standard_softmax\nseed 3\n", "Makefile": "all: ; exit 1\n"})
    work = top.parent
    for end, how in ((".tar.gz", "gztar"), (".tar", "tar"), (".zip", "zip")):
        shutil.make_archive(str(work / "a"), how, top)
        text, why = Submission(work / f"a{end}").text("01_standard_softmax", "standard_softmax.c")
        check(not why and text == Path(SOFTMAX).read_text(), f"{end}: {why}")
    (work / "ann").mkdir()
    shutil.copyfile(work / "a.tar.gz", work / "ann/a.tar.gz")
    check(Submission(work / "ann").starter()["seed"] == "3", "an archive in a folder")
    check(Submission(folder_of({"standard_softmax.c": "x"})).text("01_standard_softmax", "standard_softmax.c") == ("x", ""), "without folders")

    def refused(path, words, text=""):
        submission = Submission(path)
        said = submission.refused or submission.text("01_standard_softmax", "standard_softmax.c")[1]
        check(re.search(words, said), f"{path}: {said}")
    (top / "link").symlink_to("/etc/passwd")
    refused(top, "it has a link")
    shutil.make_archive(str(work / "l"), "tar", top)
    refused(work / "l.tar", "it has a link")
    for name in ("../standard_softmax.c", "/standard_softmax.c"):
        with tarfile.open(work / "o.tar", "w") as archive:
            archive.addfile(tarfile.TarInfo(name))
        refused(work / "o.tar", "leads out of its folder")
        with zipfile.ZipFile(work / "o.zip", "w") as archive:
            archive.writestr(name, "x")
        refused(work / "o.zip", "leads out of its folder")
    for text, words in (("", "it is empty"), ("x" * 300000, "it is larger than"), ("a\0b", "it has a NUL")):
        refused(folder_of({"standard_softmax.c": text}), words)
    refused(folder_of({"a/standard_softmax.c": "x", "b/standard_softmax.c": "y"}), "more than once")
    starter = folder_of({SOFTMAX: "mine", f"course/{SOFTMAX}": "a copy"})
    (starter / "build").symlink_to("course/build")
    check(Submission(starter).text("01_standard_softmax", "standard_softmax.c") == ("mine", ""), "a whole starter")
    with tarfile.open(work / "e.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("a"))
        member = tarfile.TarInfo("b")
        member.size = -512  # the next is this again
        archive.addfile(member)
    refused(work / "e.tar", "more than 5000 files")
    refused(folder_of({"standard_softmax (1).c": "x"}), r"not in the submission, which has standard_softmax \(1\).c")
    with zipfile.ZipFile(work / "w.zip", "w") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = "a\\standard_softmax.c"  # as Windows PowerShell packs it
        archive.writestr(member, "x")
    check(Submission(work / "w.zip").text("01_standard_softmax", "standard_softmax.c") == ("x", ""), "a name with backslashes")
    (work / "n.tar.gz").write_text("nothing")
    refused(work / "n.tar.gz", "cannot be read")
    (work / "b.tar").write_bytes(bytes(6000000))
    refused(work / "b.tar", "larger than")
    big = folder_of({"standard_softmax.c": " " * 60000000})
    shutil.make_archive(str(work / "s"), "gztar", big)
    refused(work / "s.tar.gz", "more than 50000000 bytes in it")
    if shutil.which("zip"):
        run("zip", "-q", "-P", "secret", "-j", work / "p.zip", SOFTMAX)
        refused(work / "p.zip", "it is empty")


@test
def nothing_without_a_reason():
    """The table and every report explain zero points; names stay as they are."""
    one = folder_of({"standard_softmax.c": Path(SOFTMAX)})
    top = one.parent / "class"
    names = {"archives": "or one archive of them and nothing else, found a.tar.gz b.tar.gz", "empty": "there is no file in it", "answers": "answers.txt: not judged, because there is no STARTER",
             "other": "expected files of 01_standard_softmax, found a STARTER of 02_safe_softmax", "notes.txt": "expected a folder, .tar.gz",
             '=cyd, "the" 3rd': "standard_softmax.c: not in the submission", "Jürgen\n李": "standard_softmax.c: not in the submission"}
    for name in names:
        if name != "notes.txt":
            (top / name).mkdir(parents=True)
    for name in "ab":
        shutil.make_archive(str(top / "archives" / name), "gztar", one)
    (top / "answers/answers.txt").write_text("0.l = 30.19\n")
    (top / "other/STARTER").write_text("chapter 02_safe_softmax\nseed 0\n")
    (top / "notes.txt").write_text("nothing\n")
    for name in ('=cyd, "the" 3rd', "Jürgen\n李"):
        (top / name / "hello.txt").write_text("hello\n")
    code, said = grader("all", FOLDER=top, CHAPTER="01", SEED="7", REPORTS=one.parent / "reports", BUILDS="none")
    rows = (one.parent / "reports/grades.csv").read_text("utf-8")
    check(code == 0 and "7 of 7 graded with seed 7" in said, said)
    for name, words in names.items():
        for file in ("report.txt", "gradescope.json", "classroom50.json"):
            there = (one.parent / "reports/submissions" / name / file).read_text("utf-8")
            check(words in there, f"{name}, {file}: {there}")
    for name, words in (("archives", names["archives"]), ("'=cyd, \"\"the\"\" 3rd", "not in the submission"), ("Jürgen 李", "not in the submission")):
        check(re.search(f'^"{re.escape(name)}",0,0,0,.*{words}', rows, re.M), rows)


@test
def numbers_by_the_seed():
    """The right numbers are those of the teacher's list, else of STARTER's seed; reports do not reveal them. The teacher may have other questions."""
    chapter = "01_standard_softmax"

    def of(answers, starter, listed=None):
        words = [w for w in grade.figures(chapter, answers) if w[0] == "answer"]
        top = folder_of({"STARTER": f"chapter {chapter}\nseed {starter}\n", "answers.txt": "".join(f"{w[1]}.{w[2]} = {w[4]}\n" for w in words)})
        report = graded(top, "01", "questions", listed=listed)
        return points(report, "questions numbers")[0], reports.text(report)
    got = [of(17, 17)[0], of(0, 0)[0], of(0, 17)[0], of(0, 0, 17)[0], of(17, 0, 17)[0]]
    check(got == [4, 4, 1, 1, 4], f"they earned {got}")
    said = of(0, 5, 17)[1]
    check("STARTER has seed 5, the list 17" in said and "SEED=17" in said and "wrong\n        got 30.19" in said and "expected" not in said, said)
    if os.path.exists(f"{chapter}/exercise/numbers.private"):
        raise Skip
    forged = "".join(f"0.{k} = {k * '0':0>40}\fright\f1\n" for k in range(20))
    check(all(verdict != "right" for _, verdict, _ in grade.judge_numbers(chapter, 0, forged)), "a line of answers.txt is taken for a verdict")


@test
def a_class():
    """A table by the teacher's list of seeds, with what is equal to the course's solution, and to another's with other names."""
    other = "    float sum = 0; /* mine */\n    for (size_t k = 0; k < n; k++) sum += expf(x[k]);\n    for (size_t k = 0; k < n; k++) y[k] = expf(x[k]) / sum;\n"
    mine = re.sub(r"(// BEGIN SOLUTION\n).*?( *// END)", lambda m: m[1] + other + m[2], Path(SOFTMAX).read_text(), flags=re.S)
    top = folder_of({f"ann/{SOFTMAX}": Path(SOFTMAX), "ann/STARTER": "chapter 01_standard_softmax\nseed 17\n", f"bob/{SOFTMAX}": mine,
                     f"cyd/{SOFTMAX}": mine.replace("sum", "total").replace("/* mine */", "// another\n"), "cyd/STARTER": "chapter 01_standard_softmax\nseed 4\n",
                     f"dan/{SOFTMAX}": stub(SOFTMAX)}, "class")
    seeds, at = top.parent / "seeds.csv", top.parent / "reports"
    seeds.write_text("name,seed\nann,17\nbob,18\ncyd,19\n")
    code, said = grader("all", FOLDER=top, CHAPTER="01", SEED="7", REPORTS=at, SEEDS=seeds, BUILDS="plain")
    rows = (at / "grades.csv").read_text().splitlines()
    check(code == 0 and rows[0] == "submission,passes output,passes counts,passes sanitizer,tests mutants,questions numbers,questions hand,earned,points,seed,variant,as_course,as_others,note", said + rows[0])
    check(rows[1].startswith('"ann",3,0,0,,0,,3,16,7,17,1 of 1,,') and rows[2].startswith('"bob",3,0,0,,0,,3,16,7,18,0 of 1,"cyd (1)",'), "\n".join(rows))
    check(',19,0 of 1,"bob (1)","STARTER has seed 4, the list 19' in rows[3] and '"dan",0,0,0,,0,,0,16,7,,0 of 1,,"not in the list of seeds; passes: ' in rows[4], "\n".join(rows))


@test
def what_never_ends_is_read_once():
    """A comment, a text, a gap, a test and a number that end nowhere: a class waited hours for those of 200 kB."""
    begin = time.monotonic()
    for text in ("/* " * 20000, '"' + '\\"' * 30000, "// BEGIN SOLUTION\n" * 4000, "Test(\n" * 10000):
        list(similar.units_of({"passes": ["standard_softmax.c:1"]}, {"standard_softmax.c": text}))
        similar.blocks(text)
    list(grade.judge_numbers("01_standard_softmax", 0, "0.l = " + "1" * 20000 + "x"))
    check(time.monotonic() < begin + 5, "it takes long")


@test
def a_class_that_is_interrupted():
    """The first is graded, the second does not end by itself."""
    top = folder_of({f"ann/{SOFTMAX}": Path(SOFTMAX), f"bob/{SOFTMAX}": program("for (volatile int k = 0;; k = 1 - k) ;")}, "class")
    with subprocess.Popen(["python3", GRADING, "all"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                          env={**os.environ, "FOLDER": str(top), "CHAPTER": "01", "SEED": "7", "REPORTS": str(top.parent / "r"), "BUILDS": "plain"}) as command:
        while not (top.parent / "r/submissions/ann/row.json").exists():
            time.sleep(0.05)
        os.killpg(command.pid, signal.SIGTERM)
        said = command.communicate()[0]
    rows = (top.parent / "r/grades.csv").read_text()
    check(command.returncode == 2 and "Incomplete, for it was interrupted: 1 of 2" in said and rows.count("\n") == 2 and '"ann",3' in rows, said + rows)


@test
def bad_arguments():
    top = folder_of({})
    for what, words, more in (("grade", "SUBMISSION: expected a folder or an archive", {"SUBMISSION": ""}), ("grade", "SEED: expected a whole number", {"SUBMISSION": top, "SEED": "x1"}),
                              ("grade", "there is no file in it; expected the chapter", {"SUBMISSION": top}), ("grade", "CHAPTER: expected a chapter", {"SUBMISSION": top, "CHAPTER": "09"}),
                              ("grade", "PART: expected some of passes tests questions", {"SUBMISSION": top, "CHAPTER": "01", "PART": "mirge"}),
                              ("all", "FOLDER: expected a folder", {"FOLDER": top / "none"}), ("all", "CHAPTER: expected the chapter", {"FOLDER": top}),
                              ("all", "found an empty folder", {"FOLDER": top, "CHAPTER": "03"}),
                              ("all", "found ann.tar.gz and ann.zip", {"FOLDER": folder_of({"ann.tar.gz": "", "ann.zip": ""}), "CHAPTER": "03"}),
                              ("tests", "expected a file 0N_", {"SUBMISSION": folder_of({"a": "b"})}),
                              ("grade", "SEEDS: expected a file of lines NAME,SEED", {"SUBMISSION": folder_of({"a": "b"}), "CHAPTER": "01", "SEEDS": "/none"})):
        code, said = grader(what, **more)
        check(code == 2 and words in said and said.count("\n") == 1, f"{what} {more}: {code}: {said}")


@test
def where_the_machine_fails():
    """One line, and no report that a right submission is wrong; root's umask of 077 changes nothing."""
    top = folder_of({SOFTMAX: Path(SOFTMAX)})
    code, said = grader("grade", SUBMISSION=top, CHAPTER="01", REPORTS=top.parent / "r", CC="cc --no-such-word", QUIET="1")
    check(code == 2 and "expected to compile an empty program here" in said and said.count("\n") == 1 and not (top.parent / "r").exists(), said)
    code, said = run("sh", "-c", f"umask 077; exec python3 {GRADING} grade", SUBMISSION=top, CHAPTER="01", REPORTS=top.parent / "r", QUIET="1")
    check(code == 0 and '"passes sanitizer": 1' in (top.parent / "r/row.json").read_text() and (top.parent / "r/report.txt").stat().st_mode & 0o77 == 0, said)


# ---- reports ---------------------------------------------------------------------------------------------------------------------


def valid(schema, value, at="$"):
    """Does the value match the schema? Unsupported parts of JSON Schema are errors."""
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}
    for key, of in schema.items():
        if key == "type":
            check(isinstance(value, kinds[of]) and (of == "boolean" or not isinstance(value, bool)), f"{at}: no {of}")
        elif key == "required":
            check(all(name in value for name in of), f"{at}: lacks one of {of}")
        elif key == "properties":
            for name in set(of) & set(value):
                valid(of[name], value[name], f"{at}.{name}")
        elif key == "additionalProperties":
            check(of or set(value) <= set(schema["properties"]), f"{at}: has more")
        elif key == "items":
            for k, item in enumerate(value):
                valid(of, item, f"{at}[{k}]")
        else:
            good = {"const": lambda: value == of, "enum": lambda: value in of, "minimum": lambda: value >= of, "minLength": lambda: len(value) >= of,
                    "pattern": lambda: re.search(of, value), "$schema": lambda: True, "title": lambda: True, "description": lambda: True}
            check(good[key](), f"{at}: {key} {of}")


def schema(kind):
    return json.loads(Path(f"common/classroom/schemas/{kind}.json").read_text())


@test
def reports_are_as_published():
    report = graded(folder_of({SOFTMAX: program("right(x, y, n); y[n - 1] = 0.0f / 0.0f;")}, '"quoted" \\ name'))
    made = {"gradescope": reports.gradescope(report), "classroom50": reports.classroom50(report)}
    for kind, value in made.items():
        valid(schema(kind), value)
        for spoilt in ({**value, "score": -1}, {**value, "tests": 1}, {key: of for key, of in value.items() if key != "score"}):
            try:
                valid(schema(kind), spoilt)
            except AssertionError:
                continue
            raise AssertionError(f"valid although {spoilt}")
    check("got NaN" in reports.text(report), reports.text(report))


@test
def read_again():
    """Every topic of a case has a page to read again, which every starter has, and one of its headings."""
    wrong = []
    for line in grade.table(grade.HERE / "where_to_read"):
        left, _, text = line.partition(" | ")
        for number in left.split()[1].split(","):
            page, _, section = text.partition(".md")
            path = Path(page + ".md") if page.startswith("common/") else Path(grade.chapter_of(number[:2]), page + ".md")
            headings = re.findall(r"^##+ (.*)", path.read_text(), re.M)
            if not section.startswith(": ") and not any(section.startswith(f", {heading}: ") for heading in headings):
                wrong.append(line)
    for k in range(1, 8):
        a = grade.Assignment(grade.chapter_of(f"0{k}"))
        wrong += [f"0{k} {p.name} {case.topic}" for p in a.programs for case in p.cases if not a.page(case.topic, p.name)]
    check(not wrong, wrong)
    safe = Path("02_safe_softmax/safe_softmax.c").read_text()
    said = reports.text(graded({"safe_softmax.c": stub("02_safe_softmax/safe_softmax.c")}, "02", "passes"))
    check(said.count("read again: 02_safe_softmax/exercise/README.md") >= 1 and "never written" in said, said)
    said = reports.text(graded({"safe_softmax.c": safe.replace(" - m)", ")")}, "02", "passes"))
    check("read again: 02_safe_softmax/README.md, The idea: the row's maximum" in said, said)


def with_build(course):
    """The course of a bundle with what is built here, so that it need not be built again."""
    build = Path(os.environ["BUILD"])
    for name in ("obj", "grader", "sanitized/obj"):
        run("mkdir", "-p", course / "build/sanitized")
        run("cp", "-Rp", build / name, course / "build" / Path(name).parent)
    run("cp", "-p", *build.glob("*.a"), course / "build")
    run("rm", "-f", *(course / "build/grader").glob("*/06-*"))  # whose sources are not in it
    now = time.time()
    for path in (course / "build").rglob("*"):  # sources from a .zip are new
        os.utime(path, (now, now))


@test
def gradescope_takes_it():
    """With the teacher's list of seeds, in which Gradescope's metadata finds the student."""
    if not shutil.which("zip"):
        raise Skip
    top = folder_of({"submission/standard_softmax.c": Path(SOFTMAX), "submission/STARTER": "chapter 01_standard_softmax\nseed 4\n",
                     "submission_metadata.json": '{ "users": [ { "email": "ann@x.edu", "id": 7, "name": "Ann" } ] }', "seeds.csv": "bob@x.edu,3\nann@x.edu,17\n"}, "autograder")
    code, said = run("make", "-s", "gradescope", "CHAPTER=01", f"OUT={top}/a.zip", f"SEEDS={top}/seeds.csv")
    check(code == 0 and "a.zip: 9 points in all" in said, said)
    with zipfile.ZipFile(top / "a.zip") as archive:
        archive.extractall(top / "source")
    with_build(top / "source/course")
    for script in ("setup.sh", "run_autograder"):
        code, said = run("bash", top / "source" / script, AUTOGRADER=top)
    value = json.loads((top / "results/results.json").read_text())
    valid(schema("gradescope"), value)
    check(value["score"] == 5 and "STARTER has seed 4, the list 17" in value["output"], f"{value} {said}")


@test
def classroom50_takes_it():
    top = folder_of({f"checkout/{SOFTMAX}": Path(SOFTMAX)})
    code, said = run("make", "-s", "classroom50", "CHAPTER=01", f"OUT={top}/bundle", "SEED=4")
    with_build(top / "bundle/course")
    (top / "checkout/result.json").symlink_to("../elsewhere")
    done = subprocess.run(["python3", top / "bundle/autograder.py"], cwd=top / "checkout", capture_output=True, text=True, check=False,
                          env={**os.environ, "CLASSROOM": "cs1", "ASSIGNMENT": "one", "ASSIGNMENT_TYPE": "individual", "OWNER": "ann", "COMMIT_URL": "https://host/commit/1",
                               "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d", "RELEASE_URL": "https://host/release", "REVIEW_URL": "https://host/review", "BUILDS": "."})
    check((top / "checkout/result.json").exists(), said + done.stdout + done.stderr)
    value = json.loads((top / "checkout/result.json").read_text())
    valid(schema("classroom50"), value)
    check(value["score"] == 5 and value["owner"] == "ann" and value["classroom"] == "cs1" and not (top / "elsewhere").exists(), value)


# ---- check-against ---------------------------------------------------------------------------------------------------------------


@test
def check_against():
    build, top = Path(os.environ["BUILD"]), folder_of({"x.npy": Path("common/data/scores.npy")})

    def against(status, words, stage):
        code, said = run("sh", "common/tools/check_against.sh", build, top, stage)
        check(code == status and re.search(words, said, re.M) and (code < 2 or said.count("\n") == 1), f"stage {stage}: {code}, expected {status} and {words}: {said}")
    against(2, "STAGE: expected 01 to 07", "8")
    against(2, "expected an output: y.npy", "03")
    run(build / "01_standard_softmax", "--quiet", "--input", top / "x.npy", "--output", top / "y.npy")
    against(0, "^y .* ok", "01")
    shutil.copyfile(top / "x.npy", top / "y.npy")
    against(1, r"at row, column = \d*, \d*: yours", "01")
    shutil.copyfile("common/data/key_mask.npy", top / "y.npy")
    against(2, r"y.npy: expected numbers of shape \(164, 164\), found \(2, 164\)", "01")
    for name in "qkv":
        shutil.copyfile(f"common/data/{name}.npy", top / f"{name}.npy")
    shutil.copyfile(top / "q.npy", top / "do.npy")
    inputs = [word for name in "qkv" for word in (f"--{name}", top / f"{name}.npy")]
    run(build / "04_flash_no_tiling", *inputs, "--causal", "--quiet", "--output", top / "o.npy", "--lse", top / "lse.npy")
    against(1, "^lse .*WRONG", "04")
    (top / "options.txt").write_text("--causal\n")
    against(0, "^lse .* ok", "04")
    gradients = [word for name in ("dq", "dk", "dv") for word in (f"--{name}", top / f"{name}.npy")]
    run(build / "07_backward", *inputs, "--do", top / "do.npy", "--causal", "--quiet", *gradients)
    against(0, "^dv .* ok", "07")
    (top / "options.txt").write_text("--causal --softcap 2\n")
    against(1, "^dq .*WRONG", "07")
    (top / "options.txt").write_text("--scale x\n")
    against(2, "scale", "04")
    (top / "options.txt").write_text("--causal\n")
    (top / "dv.npy").write_bytes((top / "dv.npy").read_bytes()[:1000])
    against(2, "dv.npy: ", "07")


@test
def numpy_as_the_page_says():
    """The page's own lines, by a Python that has NumPy, and the same with scores that are not scaled."""
    python = run("sh", "-c", '. common/python/find.sh; echo "$python"')[1].strip()
    if not python:
        raise Skip
    page = Path("common/classroom/pages/check_against.md").read_text().split("## From NumPy")[1]
    lines = re.search(r"```python\n(.*?)```", page, re.S)[1]
    for text, status, word in ((lines, 0, "ok"), (lines.replace(" / np.float32(4)", ""), 1, "WRONG")):
        top = folder_of({"page.py": text})
        subprocess.run([os.path.abspath(python) if "/" in python else python, "page.py"], cwd=top, check=True)
        code, said = run("sh", "common/tools/check_against.sh", os.environ["BUILD"], top / "mine", "04")
        check(code == status and re.search(f"^o .*{word}$", said, re.M), said)


# ---- tests that students wrote ---------------------------------------------------------------------------------------------------

HEAD = '#include "01_standard_softmax/standard_softmax.h"\n#include "common/tests/test.h"\n#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n'
REJECT = "These tests reject the right version (or do not come to their end): 0 points."


def tests_of(text, said, name="in"):
    """The summary of these tests."""
    top = folder_of({"01_standard_softmax/tests/test_mine.c": text}, name)
    found = run("make", "-s", "--no-print-directory", "grade-tests", f"SUBMISSION={top}", LIMIT="3")[1]
    lines = [line for line in found.splitlines() if not line.startswith("make")]
    check(lines and said in lines[-1], f"expected {said}: {found}")
    return found


def class_table(top, **words):
    """Grades these tests; each name's row must begin with its words."""
    at = top.parent / "reports"
    code, said = run("make", "-s", "--no-print-directory", "grade-tests-all", f"FOLDER={top}", "CHAPTER=01", f"REPORTS={at}", LIMIT="3")
    rows = (at / "grades.csv").read_text()
    check(code == 0 and f"{len(words)} of {len(words)} graded" in said, said)
    for name, expected in words.items():
        check(re.search(f'^"{name}"{expected}', rows, re.M), f"{name}: {rows}")


MINE = "01_standard_softmax/tests/test_mine.c"


@test
def tests_that_are_none():
    """A file without a test, and one that replaces what the lesson calls."""
    class_table(folder_of({f"bob/{MINE}": "/* nothing */ extern int nothing;\n",
                           f"gil/{MINE}": HEAD + "float expf(float x); float expf(float x) { return x; }\nTEST(mine, count) { cr_assert(1); }"}, "class"),
                bob='.*"tests: There is no test in it: 0 points', gil=".*The tests define expf, which the lesson has or calls")


@test
def tests_of_a_class():
    """Those to begin with, some that reject all, and the course's own, in one table with what programs have earned."""
    course = Path("01_standard_softmax/tests/test_standard_softmax.c")
    top = folder_of({f"ann/{MINE}": Path("01_standard_softmax/tests/mine.c"), f"cyd/{MINE}": HEAD + "TEST(mine, nothing_is_right) { cr_assert(0); }",
                     f"dan/{MINE}": course, "notes": "nothing\n", f"eve/{MINE}": HEAD + "TEST(mine, ends_early) { exit(0); }", f"fay/{MINE}": "this is not C\n",
                     f"hal/{MINE}": HEAD + f'#include "{os.getcwd()}/{SOFTMAX}"\nTEST(mine, nothing) {{ }}'}, "class")
    shutil.make_archive(str(top / "cyd"), "gztar", top / "cyd")
    shutil.rmtree(top / "cyd")
    at = top.parent / "reports"
    for name in ("cyd", "zoe"):  # zoe handed in no tests
        (at / "submissions" / name).mkdir(parents=True)
        (at / "submissions" / name / "row.json").write_text('{ "earned": { "passes output": 2 }, "seed": 7, "variant": 17, "note": "a reason", "units": {} }')
    class_table(top, ann=r',,,,0,,,0,16,,,.*"tests: The tests pass .* reject 0 of 2 wrong ones \(and 2 ', cyd=",2,,,0,,,2,16,7,17,.*a reason; tests: These tests reject the right version",
                dan=",,,,5,,,5,16,,,5 of 5,,", notes=".*expected a folder", eve=".*These tests reject the right version", fay=".*The tests do not compile: 0 points",
                hal=".*(The tests do not compile|The tests define standard_softmax)")
    rows = (at / "grades.csv").read_text()
    check(rows.count("\n") == 9 and '"zoe",2,,,,,,2,16,7,17,' in rows, rows)
    check("mine::nothing_is_right" in (at / "submissions/cyd/tests.txt").read_text(), "a test that fails is not named")


@test
def tests_that_cheat():
    """They go on for ever, fail by chance, leave word for the next run, write, fork, kill, and read the course."""
    tests_of(HEAD + "TEST(mine, never_ends) { for (volatile int k = 0;; k = 1 - k) ; }", REJECT)
    if not IS_ROOT:
        return
    look = "".join(f'f = fopen("{p}", "r"); cr_assert(!f); f = fopen("{p}", "a"); if (f) fclose(f);' for p in ("/tmp/seen", "/dev/shm/seen", "seen", "out/seen"))
    tests_of(HEAD + f"TEST(mine, have_never_been_here) {{ FILE *f; {look} }}", "reject 0 of 2")
    write = " + ".join(f'!!fopen("{p}", "w")' for p in (f"{os.getcwd()}/was-here", "was-here", "bin/tests", "/was-here", "/lib/was-here"))
    read = " + ".join(f'!!fopen("{p}", "r")' for p in (f"{os.getcwd()}/{SOFTMAX}", "/etc/passwd"))
    tests_of(HEAD + f"TEST(mine, can_write_and_read) {{ cr_assert({write} + {read} > 0); }}", REJECT)
    tests_of(HEAD + "int kill(int, int);\nTEST(mine, end_everything) { kill(getppid(), 9); kill(-1, 9); }", REJECT)
    tests_of(HEAD + "TEST(mine, fork) { int n = 0; for (int k = 0; k < 600; k++) { int c = fork(); if (!c) { sleep(60); _exit(0); } n += c > 0; } cr_assert(n == 600); }", REJECT)


@test
def tests_of_other_chapters():
    """Where the tests are confined there are threads too, and the emulator for kernels; and Criterion may be unpacked in the course's folder."""
    for chapter in ("05_flash_tiled_cpu", "06_flash_tiled_cuda"):
        top = folder_of({f"{chapter}/tests/test_mine.c": Path(chapter, "tests/mine.c").read_text() + "TEST(mine, fails) { cr_assert(0); }\n"})
        said = run("make", "-s", "--no-print-directory", f"grade-tests-{chapter[:2]}", f"SUBMISSION={top}")[1]
        check(said.splitlines()[0] == "    mine::fails", said)
    unpacked = folder_of({"criterion/criterion.h": "#include_next <criterion/criterion.h>\n#define UNPACKED\n"}, "include")
    mine = Path("01_standard_softmax/tests/mine.c").read_text() + "#ifndef UNPACKED\n#error another\n#endif\n"
    os.environ["CRITERION_CFLAGS"] = f"-isystem {unpacked}"
    tests_of(mine, "reject 0 of 2 wrong ones (and 2 that the tests handed out reject): 0.0 of 5 points.")


@test
def tests_by_private_mistakes():
    """A file of the teacher's has more wrong versions; what a step's tests must find includes no kernel, no trace and no count."""
    from grade_tests import Versions
    names = set(Versions("07_backward").texts)
    check({"d_of_one_tile", "padding_sees_keys"} <= names and not names & {"cuda_dq_not_cleared", "traced_dp_without_dropout", "skipped_tiles_are_loaded"}, sorted(names))
    private = Path("01_standard_softmax/tests/mistakes.private")
    if private.exists():
        raise Skip
    try:
        private.write_text("Name: of_the_teacher\nSymptom: none\nCaught by: standard_softmax::some\nFile: 01_standard_softmax/standard_softmax.c\n-    float l = 0.0f;\n+    float l = 1.0f;\n")
        check("of_the_teacher" in Versions("01_standard_softmax").texts, "it is not among the wrong versions")
    finally:
        private.unlink()


# ---- the wrong versions of the grader, and all of it -----------------------------------------------------------------------------


def mutant(entry):
    """Applies a mistake to a copy of the grader, which must fail the test that it names."""
    test_name = re.search(r"^Caught by: (.*)", entry, re.M)[1]
    if "\nNeeds: root" in entry and not IS_ROOT:
        raise Skip
    top = folder_of({})
    shutil.copytree("common/classroom/grader", top / "common/classroom/grader", ignore=shutil.ignore_patterns("__pycache__"))
    apply(top, entry)
    build = Path(os.environ["BUILD"])
    if ".c\n" in entry:  # confine.c, in a build folder that is the course's but for it
        build = top / "build"
        (build / "grader").mkdir(parents=True)
        for file in [*Path(os.environ["BUILD"]).glob("*"), *Path(os.environ["BUILD"]).glob("grader/*")]:
            to = build / file.relative_to(os.environ["BUILD"])
            if to.name not in ("grader", "confine"):
                to.symlink_to(file.resolve())
        subprocess.run(["cc", "-w", top / "common/classroom/grader/confine.c", "-o", build / "grader/confine"], check=True)
    code, said = run("python3", "common/classroom/tests/grading.py", "-", test_name, GRADING=top / "common/classroom/grader", BUILD=build, WORK="")
    check(code == 1, f"{test_name} does not notice it: {said}")


def one(name):
    """Runs a test in this process; what came of it."""
    said, begin = StringIO(), time.monotonic()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            TESTS[name]()
        return name, "passed", "", time.monotonic() - begin
    except Skip:
        return name, "skipped", "", time.monotonic() - begin
    except BaseException as error:  # pylint: disable=broad-except
        return name, "failed", f"{type(error).__name__}: {error}\n{said.getvalue()}", time.monotonic() - begin


def main(result, *wanted):
    if GRADING == "common/classroom/grader":
        path = Path("common/classroom/tests/mistakes.txt")
        for entry in re.split(r"^Name: ", path.read_text(), flags=re.M)[1:]:
            TESTS[f"notices_{entry.splitlines()[0]}"] = lambda entry=entry: mutant("Name: " + entry)
    names = [name for name in TESTS if not wanted or name in wanted]
    names.sort(key=lambda name: not name.startswith(("wrong_versions_of_0", "right_06", "tests_")))  # what takes longest first
    count = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as work:
        os.environ["WORK"] = work
        os.chmod(work, 0o755)
        context = multiprocessing.get_context("fork")
        with context.Pool(1 + (os.cpu_count() or 1), maxtasksperchild=1) as pool:
            for name, outcome, text, seconds in pool.imap_unordered(one, names):
                count[outcome] += 1
                if outcome == "failed":
                    print("\n        ".join([f"    {name}:", *text.splitlines()[:40]]))
                if os.environ.get("TIMES"):
                    print(f"{seconds:6.1f} {name} {outcome}")
    print(f"{'grading':32} {count['passed']:4} passed, {count['failed']} failed, {count['skipped']} skipped")
    if result != "-":
        Path(result).parent.mkdir(parents=True, exist_ok=True)
        Path(result).write_text("{passed} {failed} {skipped}\n".format(**count))
    return 1 if count["failed"] or not sum(count.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
