"""commands.py - every command on a page works.

    course.py commands shown PAGE...      in a copy of the course, except those that compile by hand
    course.py commands by-hand PAGE...    those, with gcc

Commands are ```sh blocks, run whole, and inline code: build/PROGRAM … runs, and make TARGET must be an existing
target. They must exit with 0. The usual input files (x.npy, q.npy, yours.npy …) exist. By hand are lines of such
blocks that begin with "cc ", later lines that run "./a.out "; and blocks after a comment:

    <!-- by hand: PROGRAM -->     the block makes PROGRAM
    <!-- not run: REASON -->      it is skipped, for example without a GPU

Programs made by hand must compile without warnings and verify themselves. The shell is bash or zsh: {a,b} expands.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 900
BUILT = ("obj", "tests", "*.a", "compare", "0*")
Block = collections.namedtuple("Block", "page kind program lines")  # kind: "", "by hand" or "not run"


class Failed(Exception):
    pass


def blocks_of(page):
    blocks, note, block = [], ("", ""), None
    for line in page.read_text(encoding="utf-8").split("\n"):
        comment = re.match("<!-- (by hand|not run): (.*) -->", line)
        if comment:
            note = comment.groups()
        elif line.startswith("```"):
            inside = block is not None
            block = None if inside or not line.startswith("```sh") else Block(page, *note, [])
            if block:
                blocks.append(block)
            note = ("", "")
        elif block:
            block.lines.append(line)
    return blocks


def run(command, folder):
    """Runs a command, a list, in that folder. Returns the last lines of output if it fails, else nothing."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True,
                               env={**os.environ, "NO_COLOR": "1"})
    try:
        output, ended = process.communicate(timeout=LIMIT)[0], f"ended with {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, ended = process.communicate()[0], f"not at its end after {LIMIT} seconds"
    if process.returncode == 0:
        return ""
    last = output.decode("utf-8", "replace").splitlines()[-10:]
    return "\n".join(["", *(f"    > {line}" for line in last), f"    {ended}"])


def indented(script):
    return "".join(f"\n    {line}" for line in script.rstrip("\n").split("\n"))


# ---- in a copy of the course

def files_of_the_course():
    """All source files; without git too."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    if listed.returncode == 0:
        files = map(Path, listed.stdout.decode().rstrip("\0").split("\0"))
    else:
        files = Path().rglob("*")
    return [path for path in files
            if path.parts[0] not in ("build", ".git") and (path.is_file() or path.is_symlink())]


def copy_to(folder):
    """Copies the course, and builds with their times, so that nothing is rebuilt."""
    for path in files_of_the_course():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, folder / path, follow_symlinks=False)
    (folder / "build").mkdir()
    for path in (path for name in BUILT for path in Path("build").glob(name)):
        if path.is_dir():
            shutil.copytree(path, folder / path, symlinks=True)
        else:
            shutil.copy2(path, folder / path)
    for name, copied in (("q", "q"), ("k", "k"), ("v", "v"), ("key_mask", "key_mask"), ("scores", "x")):
        shutil.copy2(f"common/data/{name}.npy", folder / f"{copied}.npy")
    make = ("build/03_online_softmax --input x.npy --output yours.npy --quiet\n"
            "build/04_flash_no_tiling --q q.npy --k k.npy --v v.npy --key-mask key_mask.npy --causal "
            "--output o.npy --quiet\n")
    wrong = run(["sh", "-ec", make], folder)
    if wrong:
        raise Failed(f"the files that pages take for granted cannot be made:{indented(make)}{wrong}")


def scripts_of(pages):
    for page in pages:
        for block in blocks_of(page):
            lines = [line for line in block.lines if not line.startswith(("cc ", "./a.out "))]
            if not block.kind and any(lines):
                yield page, "\n".join(lines)
    had = set()  # run once, even if several pages name it
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for command in sorted(set(re.findall("`(build/0[^`\n]*|make [^`\n]*)`", text)) - had):
            had.add(command)
            yield page, re.sub("^make ", "make -n ", command)


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def tried(todo):
    """Runs the scripts of `todo` in a copy of the course; returns failures."""
    with tempfile.TemporaryDirectory() as folder:
        copy_to(Path(folder))
        course, wrong = set(os.listdir(folder)), []
        while todo:
            try:
                page, scripts = todo.pop()
            except IndexError:
                break
            for script in scripts:
                failure = run(["sh", "-ec", script], folder)
                if failure:
                    wrong.append(f"{page}: this does not end well:{indented(script)}{failure}")
            for made in set(os.listdir(folder)) - course:  # pages may use the same name
                remove(Path(folder, made))
        return wrong


def shown(pages):
    scripts = list(scripts_of(pages))
    if not scripts:
        raise Failed(f"no command in: {' '.join(map(str, pages))}")
    by_page = {}
    for page, script in scripts:
        by_page.setdefault(page, []).append(script)
    todo = sorted(by_page.items(), key=lambda item: len(item[1]))  # pages with most commands first
    copies = min(os.cpu_count() or 1, len(todo))
    with concurrent.futures.ThreadPoolExecutor(copies) as pool:
        wrong = sorted(line for lines in pool.map(tried, [todo] * copies) for line in lines)
    print("\n".join(wrong) if wrong else f"{len(scripts)} commands of the pages do what they are shown for")
    return 1 if wrong else 0


# ---- by hand

def as_compiler(name, command):
    """A shell function named like the compiler. (A script file might still be open for writing in a forked process.)"""
    return f'{name}() {{ {command} "$@"; }}\n'


def compiled(lines, blocks, home):
    strict = "-Wall -Wextra -Werror"
    home.mkdir()
    for path in Path().glob("[!.]*"):
        if path.name != "build":
            (home / path.name).symlink_to(path.resolve())
    scripts = [f"{line} && ./program --quiet" if line.startswith("cc ") else f"./program {line[8:]}"
               for line in lines]
    cc = as_compiler("cc", f"gcc {strict} -o {home}/program")
    wrong = [(script, run(["bash", "-c", cc + script], home)) for script in scripts]
    unroll = "-Wno-unknown-pragmas -Wno-pass-failed"  # pragmas for nvcc
    both = as_compiler("cc", f"gcc {strict}") + as_compiler("c++", f"g++ {strict} {unroll}")
    for block in blocks:
        script = "\n".join([*block.lines, f"{block.program} --quiet"])
        wrong.append((script, run(["bash", "-ec", both + script], home)))
    return [f"gcc: this does not end well:{indented(script)}{failure}"
            for script, failure in wrong if failure]


def by_hand(pages):
    blocks = [block for page in pages for block in blocks_of(page)]
    lines = [line for block in blocks if block.kind != "by hand" for line in block.lines
             if re.match(r"cc .*[^\\]$|\./a\.out ", line)]
    blocks = [block for block in blocks if block.kind == "by hand"]
    if not lines:
        raise Failed(f"no line that compiles by hand in: {' '.join(map(str, pages))}")
    jobs = [([], blocks), (lines, [])]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        homes = [Path(folder, str(n)) for n in range(len(jobs))]
        wrong = list(workers.map(lambda job, home: compiled(*job, home), jobs, homes))
    for line in sum(wrong, []):
        print(line)
    if any(wrong):
        return 1
    print(f"{len(lines)} lines and {len(blocks)} blocks compile by hand with gcc")
    return 0


def main(arguments):
    commands = {"shown": shown, "by-hand": by_hand}
    if len(arguments) < 2 or arguments[0] not in commands:
        print(f"commands: expected shown or by-hand, and pages; found '{' '.join(arguments)}'",
              file=sys.stderr)
        return 2
    try:
        return commands[arguments[0]]([Path(page) for page in arguments[1:]])
    except (Failed, OSError) as failed:
        print(f"commands: {failed}", file=sys.stderr)
        return 2
