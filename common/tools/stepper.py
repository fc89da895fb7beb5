"""stepper.py - runs the tests of the tile stepper, common/tests/stepper.js, in a headless browser.

    course.py stepper BUILD RESULT    leaves "passed failed skipped" in RESULT, for `make test`
    course.py stepper traces BUILD    prints the page's data, from the program

It tests the page at phone and desktop width, and wrong versions, which the tests must reject. The browser is
browser.py's; without one it skips, and with BROWSER=required it fails.
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import browser

PAGE, TESTS = Path("05_flash_tiled_cpu/pages/stepper.html"), Path("common/tests/stepper.js")
WIDTHS = {"telephone": 400, "desk": 1400}
SHOWN = """hand,fa1,4,3,2,2 hand,fa2,4,3,2,2 hand,masks,4,3,2,2 1,fa1,8,4,2,2 1,fa2,8,4,2,2 1,masks,8,4,2,2
    2,fa1,7,3,3,2 2,fa2,7,3,3,2 2,masks,7,3,3,2"""
HAND = {"q": (1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 2), "k": (1, 0, 0, 0, 2, 0, 1, 1, 1, 0, 0, 1),
        "v": (1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1)}  # chapter 05's worked example
FREE = """3,fa1,6,5,4,4 4,fa1,8,8,5,3 5,fa1,1,1,1,1 6,fa1,8,2,8,8 7,fa1,5,3,1,2
    3,fa2,6,5,4,4 4,fa2,8,8,3,5 5,fa2,1,1,1,1 6,fa2,8,1,1,8 9999,fa2,3,7,2,1
    3,masks,6,5,4,4 4,masks,8,8,3,5 0,masks,8,2,5,3 6,masks,8,1,1,8 7,masks,8,3,8,1"""  # INPUT,KERNEL,N,D,BR,BC
WRONG = (  # name, start of the verdict, text in the page, its replacement
    ("output_not_rescaled", "the page computes", "O: O.map(x => float(x * rescale))", "O: [...O]"),
    ("old_output_not_multiplied_back", "the page computes", "float(x * float(old / sum))", "float(x * expMinus(m, most))"),
    ("scale_forgotten", "the page computes", "float(scale * dot(", "float(dot("),
    ("own_key_masked", "the page computes", "|| j <= i;", "|| j < Math.max(1, i);"),
    ("br_and_bc_exchanged", "M gives", "{ Br: queries, Bc: keys } : { Br: keys, Bc: queries }",
     "{ Br: keys, Bc: queries } : { Br: queries, Bc: keys }"),
    ("keys_loaded_for_every_tile", "its accesses", "n === 0 || tiles[n - 1].j0 !== t.j0 ? t.cols * d : 0;", "t.cols * d;"),
    ("output_stored_for_every_tile", "its accesses", "'O stores': ends ? ", "'O stores': true ? "),
    ("skipped_tiles_counted", "its accesses", "keys += Math.min(N, p.Bc * Math.ceil(Math.min(i0 + p.Br, N) / p.Bc));", "keys += N;"),
    ("number_changed_in_a_trace", "the page computes", "\n0,2,l,1.36787939", "\n0,2,l,1.36887939"),
    ("old_maximum_shown", "m, l, O and", "<b>${number(t.m[r], 2)}</b>", "<b>${number(before.m, 2)}</b>"),
    ("step_back_stays", "a step back", "goTo(step - 1); });", "goTo(step); });"),
    ("arrows_in_fields_too", "keys do", " || target === 'INPUT'", ""),
    ("wider_than_a_telephone", "nothing is wider", "\nmain { ", "\nmain { min-width: 420px; "),
    ("complains_to_the_console", "console", "\n    measure();", "\n    measure();console.error('here');"),
    ("fetches_a_font", "asks for", "<style>", '<link rel="stylesheet" href="https://fonts.example/a.css"><style>'))


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def trace(build, problem, folder):
    """A data <script>: the command, a line for each matrix of --trace=csv (first key, first query, name, numbers row by
    row), and --traffic's counts.
    """
    made, step, n, d, br, bc = problem.split(",")
    given = {"--n-q": n, "--d": d, "--seed": made}
    if made == "hand":
        given = {f"--{name}": f"{folder}/{name}.npy" for name in HAND} | {"--scale": "1"}
    options = ["--step", step, *(["--causal"] if step == "masks" else []), "--br", br, "--bc", bc]
    command = [f"{build}/05_flash_tiled_cpu", *(word for pair in given.items() for word in pair), *options]
    matrices, lines = {}, output_of(*command, "--trace=csv").splitlines()[1:]
    for row in (line.split(",") for line in lines):
        matrices.setdefault(",".join(row[2:5]), []).append(row[7])
    counted = output_of(*command, "--traffic")
    held = re.search(r"^ *([\d ]+) elements of fast memory held", counted, re.MULTILINE).group(1)
    counts = re.findall(r"^(?:Counted  *| {18})([a-zA-Z ]*[a-z])  +(\d[\d ]*?)   +[\d.]+   .* ok$", counted, re.MULTILINE)
    shown = " ".join(["build/05_flash_tiled_cpu", *command[1:], "--trace=csv"]).replace(f"{folder}/", "")
    return "\n".join([f'<script type="text/plain" class="trace" data-problem="{problem}">', shown,
                      *(f"{matrix},{' '.join(numbers)}" for matrix, numbers in matrices.items()),
                      f"held,{held.replace(' ', '')}", *(f"{name},{count.replace(' ', '')}" for name, count in counts), "</script>\n"])


def traces(build, problems):
    """Traces of problems INPUT,KERNEL,N,D,BR,BC, where INPUT is a seed or `hand`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, numbers in HAND.items():
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"
            Path(folder, f"{name}.npy").write_bytes(b"\x93NUMPY\1\0v\0" + f"{header:<117}\n".encode() + struct.pack("<12f", *numbers))
        return "".join(trace(build, problem, folder) for problem in problems.split())


def data(build):
    """The tests' own data: traces of other problems, and the program's tiles for several M."""
    sizes = []
    for step in ("fa1", "fa2"):
        for M in (1, 7, 32, 100, 513, 1024):
            for d in (1, 3, 8):
                ran = output_of(build / "05_flash_tiled_cpu", "--step", step, "--n-q", "8", "--d", str(d), "--sram", str(M), "--traffic")
                words = next(line for line in ran.splitlines() if line.startswith("Tiles ")).split()
                tile = [words[words.index(name) + 2] for name in ("Br", "Bc")]
                sizes.append(",".join([step, str(M), str(d), *tile]))
    return traces(build, FREE) + '<script type="text/plain" class="sizes">\n' + "\n".join(sizes) + "\n</script>\n"


def verdicts(shown, path, text, width, stop_early=False):
    path.write_text(text, encoding="utf-8")
    shown.show((width, 900), "light")
    shown.open(path.as_uri())
    shown.ask("Emulation.setVirtualTimePolicy", policy="advance")  # plays without waiting
    lines = json.loads(shown.value(f"all({json.dumps(stop_early)}).then(() => JSON.stringify(verdicts))") or '["not ok - no verdict"]')
    return [*lines, *(f"not ok - {line}" for line in browser.said(shown.events, path.parent))]


def tried(command, build, folder):
    tests = TESTS.read_text(encoding="utf-8")
    page, more = PAGE.read_text(encoding="utf-8"), f"{data(build)}<script>\n{tests}</script>\n"
    passed, wrong = 0, []
    shown = browser.Browser(command, folder / "profile")
    try:
        for name, width in WIDTHS.items():
            lines = verdicts(shown, folder / f"{name}.html", page + more, width)
            bad, good = ([line for line in lines if line.startswith(start)] for start in ("not ok", "ok"))
            bad += ["not ok - fewer tests than there are"] if len(lines) < tests.count("await test('") else []
            passed, wrong = passed + len(good), wrong + [f"{name}: {line}" for line in bad]
        for name, because, old, new in WRONG:
            lines = verdicts(shown, folder / f"{name}.html", page.replace(old, new) + more, WIDTHS["telephone"], True)
            if old in page and any(line.startswith(f"not ok - {because}") for line in lines):
                passed += 1
            else:
                wrong.append(f"{name}: expected to fail because {because}, found {lines[-3:] if old in page else 'no such line'}")
    finally:
        shown.close()
    return passed, wrong


def main(arguments):
    if len(arguments) != 2:
        print(f"stepper: expected a folder and a file, found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    if arguments[0] == "traces":
        print(traces(arguments[1], SHOWN), end="")
        return 0
    build, result = Path(arguments[0]).absolute(), Path(arguments[1])
    command, (passed, failed, skipped), lines = browser.found(), (0, 0, 0), []
    if command:
        with tempfile.TemporaryDirectory() as folder:
            passed, lines = tried(command, build, Path(folder).resolve())
            failed = len(lines)
    else:
        failed, skipped = (1, 0) if browser.required() else (0, 1)
        lines = [browser.MISSING]
    print(f"{result.name:<32} {passed:4} passed, {failed} failed, {skipped} skipped", *(f"    {line}" for line in lines), sep="\n")
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(f"{passed} {failed} {skipped}\n")
    return 1 if failed else 0
