"""box.py - compiles and runs students' code in a folder, confined as far as this machine can.

As root: another user, and for programs the folder as their whole file system. Else: bubblewrap, for compilers too. Else, only with
TRUSTED=yes: nothing. Limits always apply (confine.c).
"""
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
GRADER = BUILD / "grader"
MASK = os.umask(0o022)  # other users can read our files, except reports
_running, _lock = set(), threading.Lock()
interrupted = threading.Event()


def fail(what, text):
    """Ends the grading with one line: not the student's fault, but the machine's or the command line's."""
    raise SystemExit(f"{what}: {text}")


class Interrupted(Exception):
    pass


def interrupt(*_):
    interrupted.set()
    with _lock:
        for process in _running:
            process.terminate()


def confine(options, words):
    """confine's line: how the program ended."""
    command = [str(GRADER.resolve() / "confine"), *map(str, options), "--", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        with _lock:
            _running.add(process)
        verdict = process.communicate()[0].strip()
        with _lock:
            _running.discard(process)
    if interrupted.is_set():
        raise Interrupted
    return verdict or "not started: no verdict"


@functools.lru_cache(None)
def walls():
    own = 60000 + os.getpid() % 5000  # no box's: confine ends all that its user runs, in other graders too
    if os.geteuid() == 0 and confine(["--user", own, "--root", "/"], ["/bin/true"]) == "exited 0":
        return "root"
    if shutil.which("bwrap") and confine([], [shutil.which("bwrap"), "--unshare-all", "--ro-bind", "/", "/", "true"]) == "exited 0":
        return "bwrap"
    if os.environ.get("TRUSTED") == "yes":
        return "none"
    return fail("walls", "expected root, or the package bubblewrap (and a system that lets it work), to confine what students "
                "wrote; TRUSTED=yes goes without")


def link(source, to):
    """Only root links: other users' programs could write to the course's files."""
    try:
        if os.geteuid() == 0:
            return os.link(source, to)
    except OSError:
        pass
    return shutil.copy2(source, to)


def libraries_of(program):
    """The files of a program's shared libraries."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout if shutil.which("ldd") else ""
    return {word for word in said.split() if word.startswith("/") and os.path.isfile(word)}


@functools.lru_cache(None)
def usual_libraries():
    """Those of plain C, of sanitizers, and of C++, for kernels."""
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for extra in ("", "-fsanitize=address,undefined", "-Wl,--no-as-needed -lstdc++ -lgcc_s -lpthread -ldl"):
            words = [*os.environ.get("CC", "cc").split(), "-x", "c", "-", "-x", "none", *extra.split(), "-o", f"{folder}/try", "-lm"]
            subprocess.run(words, input=b"#include <math.h>\nint main(int n, char **w) { return w && sqrt(n) == 7; }",
                           stderr=subprocess.DEVNULL, check=False)
            found |= libraries_of(f"{folder}/try")
    return found


class Box:
    """box.root is the programs' root; box.work, the compilers' folder, also has headers, source, linked and made."""

    def __init__(self, libraries=None):
        self.work = Path(tempfile.mkdtemp(prefix="grade."))
        self.root = self.work / "root"
        # unique: no other existing folder has this inode
        self.user = 40000 + self.work.stat().st_ino % 20000 if walls() == "root" else None
        os.chmod(self.work, 0o711)
        for folder in ("root/bin", "root/in", "root/out", "root/tmp", "root/dev/shm", "root/proc", "source", "linked", "made", "kept/in",
                       "kept/out"):
            (self.work / folder).mkdir(parents=True)
        self.give("made")
        for library in usual_libraries() if libraries is None else libraries:
            to = self.root / library[1:]
            to.parent.mkdir(parents=True, exist_ok=True)
            link(os.path.realpath(library), to)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)

    def give(self, name):
        if self.user:
            os.chown(self.work / name, self.user, self.user)

    def errors(self):
        try:
            text = (self.work / "errors").read_text(errors="replace")[:60000]
        except OSError:
            return ""
        return "".join(c if c == "\n" or " " <= c <= "~" else " " if c == "\t" else "?" for c in text)

    def take_headers(self, tests=False):
        """Links the course's headers, no sources; the tests' headers only for tests."""
        for top in [Path("common"), *Path().glob("0[1-7]_*")]:
            for header in top.rglob("*.h"):
                if tests or "tests" not in header.parts:
                    to = self.work / "headers" / header
                    to.parent.mkdir(parents=True, exist_ok=True)
                    link(header, to)

    def compile(self, words):
        """Runs a compiler in the work folder, where it may write only to made/. Did it succeed?"""
        limits = ["--seconds", 20, "--clock", 60, "--file", 64, "--memory", 2048, "--errors", self.work / "errors"]
        compiler = shutil.which(words[0])
        if walls() != "bwrap":
            user = ["--user", self.user, "--tasks", 60] if self.user else []
            verdict = confine([*limits, "--in", self.work, *user], [compiler, *words[1:]])
        else:
            own = Path(os.path.realpath(compiler)).parent.parent
            seen = [word for folder in ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", str(own)) if folder != "/"
                    for word in ("--ro-bind-try", folder, folder)]
            verdict = confine(limits, [shutil.which("bwrap"), "--unshare-all", "--die-with-parent", *seen, "--tmpfs", "/tmp", "--ro-bind", self.work,
                                       "/work", "--bind", self.work / "made", "/work/made", "--chdir", "/work", compiler, *words[1:]])
        if verdict.startswith("not started"):
            fail(words[0], f"expected to run it here, found: {verdict}")
        return verdict == "exited 0"

    def run(self, words, seconds=4, clock=15, memory=512, file=16, tasks=1):
        """Runs a program of root/bin, or with `tasks` a test program; returns how it ended."""
        limits = ["--seconds", seconds, "--clock", clock, "--file", file, "--memory", memory, "--errors", self.work / "errors"]
        if walls() == "root":
            options = [*limits, "--root", self.root, "--user", self.user, "--tasks", tasks]
        else:
            options = [*limits, "--in", self.root]
        if walls() == "bwrap":
            words = [shutil.which("bwrap"), "--unshare-all", "--die-with-parent", "--ro-bind", self.root, "/", "--bind", self.root / "out", "/out",
                     "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--chdir", "/", *words]
        verdict = confine(options, words)
        if verdict.startswith("not started"):
            fail(words[-1], f"expected to run it here, found: {verdict}")
        return verdict


def jobs():
    """make's -j, or the number of cores."""
    for word in os.environ.get("MAKEFLAGS", "").split():
        if word.startswith("-j") and word[2:].isdigit():
            return max(1, int(word[2:]))
    return os.cpu_count() or 1


def say(text):
    print(text, flush=True)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
