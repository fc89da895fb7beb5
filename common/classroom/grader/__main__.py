"""python3 common/classroom/grader grade|all|tests|tests-all|tests-of CHAPTER - what the Makefile's commands for teachers do.

Reads from the environment: SUBMISSION or FOLDER, CHAPTER, PART, SEED, SEEDS, REPORTS, TRUSTED, and CLASS=yes for a class's tests.
METADATA is Gradescope's file about the student.
"""
import csv
import json
import os
import random
import re
import shutil
import signal
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import box
from box import BUILD, fail, jobs, progress, say
from grade import chapter_of, grade, points_of, which_chapter
from grade_tests import Tester
from report import text, write, write_all
from similar import of_code, of_tests
from submission import Submission, stem


def typed(name):
    return os.environ.get(name, "")


def seed_of_inputs():
    if not re.fullmatch(r"[0-9]{0,16}", typed("SEED")):
        fail("SEED", f"expected a whole number, found '{typed('SEED')}'")
    return int(typed("SEED") or random.SystemRandom().getrandbits(32))


def listed_seeds():
    """The teacher's list: NAME,SEED per student."""
    if not typed("SEEDS"):
        return None
    try:
        with open(typed("SEEDS"), newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row and row != ["name", "seed"]]
        return {stem(row[0].strip()): int(row[1]) for row in rows}
    except (OSError, ValueError, IndexError):
        return fail("SEEDS", f"expected a file of lines NAME,SEED, found '{typed('SEEDS')}'")


def class_of():
    """FOLDER's submissions by name, the chapter, and the reports' folder."""
    folder, chapter = Path(typed("FOLDER") or "-"), chapter_of(typed("CHAPTER"))
    if not os.path.isdir(folder) or not os.access(folder, os.R_OK | os.X_OK):
        fail("FOLDER", f"expected a folder of submissions, found '{typed('FOLDER')}'")
    if not chapter:
        fail("CHAPTER", f"expected the chapter that they are of, as in CHAPTER=03, found '{typed('CHAPTER')}'")
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not paths:
        fail(folder, "expected submissions, found an empty folder")
    submissions = {stem(path.name): path for path in paths}
    twice = next((path.name for path in paths if submissions[stem(path.name)] != path), None)
    if twice:
        fail(folder, f"expected one submission from each, found {twice} and {submissions[stem(twice)].name}")
    return submissions, chapter, Path(typed("REPORTS") or BUILD / f"reports/class-{chapter[:2]}")


def quoted(words):
    """A CSV field that no spreadsheet takes for a formula."""
    words = "".join(c if c >= " " and c != "\x7f" else " " for c in words).replace('"', '""')
    return f"\"{chr(39) if words[:1] in tuple('=+-@') else ''}{words}\""


def table(chapter, reports):
    """Writes grades.csv from all results in programs and tests, also of earlier calls."""
    lines = [words for words in points_of(chapter) if words[0] not in ("part", "shown")]
    lines = [words for words in lines if not typed("PART") or words[0] in typed("PART").split(",")]
    columns, most = [f"{words[0]} {words[2]}" for words in lines], sum(int(words[1]) for words in lines)
    found = {}
    for there in sorted((reports / "submissions").glob("*")):
        files = [there / file for file in ("row.json", "tests.json")]
        parts = [json.loads(file.read_text("utf-8")) for file in files if file.exists()]
        if parts:
            found[there.name] = parts
    pieces = {}
    for name, parts in found.items():
        for piece in (piece for part in parts for piece in part["units"].get("others", [])):
            pieces.setdefault(piece, set()).add(name)
    rows = [",".join(["submission", *columns, "earned,points,seed,variant,as_course,as_others,note"])]
    for name, parts in found.items():
        earned = {key: value for part in parts for key, value in part["earned"].items()}
        mine = {piece for part in parts for piece in part["units"].get("others", [])}
        shared = Counter(other for piece in mine for other in pieces[piece] - {name})
        others = [f"{other} ({shared[other]})" for other in sorted(shared, key=lambda other: (-shared[other], other))]
        alike = [sum(part["units"].get(key, 0) for part in parts) for key in ("course", "all")]
        seeds = [next((str(part[key]) for part in parts if part.get(key) is not None), "") for key in ("seed", "variant")]
        rows.append(",".join([quoted(name), *(f"{earned[c]:g}" if c in earned else "" for c in columns), f"{sum(earned.get(c, 0) for c in columns):g}", str(most),
                              *seeds, "" if not alike[1] else f"{alike[0]} of {alike[1]}", quoted(" ".join(others)) if others else "",
                              quoted("; ".join(part["note"] for part in parts if part["note"]))]))
    write(reports / "grades.csv", "\n".join(rows) + "\n")


def at_last(reports, count, submissions, what):
    progress("")
    word = "Incomplete, for it was interrupted: " if box.interrupted.is_set() else ""
    say(f"{word}{count} of {len(submissions)} graded{what}: {reports}/grades.csv")
    return 2 if word else 0


def grade_all():
    submissions, chapter, reports = class_of()
    seed, seeds, done, failed = seed_of_inputs(), listed_seeds(), [], []
    for name in submissions:
        shutil.rmtree(reports / "submissions" / name, ignore_errors=True) if not (reports / "submissions" / name / "tests.json").exists() else \
            (reports / "submissions" / name / "row.json").unlink(missing_ok=True)
    box.walls()

    def one(name):
        there, listed = reports / "submissions" / name, None if seeds is None else seeds.get(name)
        try:
            report = grade(submissions[name], name, seed, chapter, typed("PART"), listed)
            if seeds is not None and listed is None:
                report.notes.append("not in the list of seeds")
            write_all(report, there, of_code(report.assignment, report.texts))
        except box.Interrupted:
            return
        except (SystemExit, Exception) as error:  # pylint: disable=broad-except
            failed.append(name)
            print(f"grade-all: {name}: not graded: {error}", file=sys.stderr)
            write(there / "row.json", json.dumps({"earned": {}, "note": f"not graded: {error}", "units": {}}))
        done.append(name)
        progress(f"{len(done)} of {len(submissions)}")
    with ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(one, submissions))
    table(chapter, reports)
    return at_last(reports, len(done) - len(failed), submissions, f" with seed {seed}") or int(bool(failed))


def who(seeds):
    """The seed of METADATA's student, by e-mail, number or name."""
    try:
        users = json.loads(Path(typed("METADATA")).read_text("utf-8"))["users"]
    except (OSError, ValueError, KeyError):
        return None
    keys = [str(user.get(key)) for user in users for key in ("email", "sid", "id", "name")]
    return next((seeds[key] for key in keys if key in seeds), None)


def grade_one():
    if not os.path.isdir(typed("SUBMISSION")) and not os.path.isfile(typed("SUBMISSION")):
        fail("SUBMISSION", f"expected a folder or an archive, as in make grade SUBMISSION=submission.tar.gz, found '{typed('SUBMISSION')}'")
    name, seeds, seed = os.path.basename(typed("SUBMISSION").rstrip("/")), listed_seeds(), seed_of_inputs()
    listed = None if seeds is None else who(seeds) if typed("METADATA") else seeds.get(stem(name))
    report = grade(typed("SUBMISSION"), name, seed, typed("CHAPTER"), typed("PART"), listed)
    if seeds is not None and listed is None:
        report.notes.append("not in the list of seeds")
    reports = typed("REPORTS") or BUILD / "reports" / re.sub(r"[^A-Za-z0-9._\n-]", "_", name)
    write_all(report, reports, of_code(report.assignment, report.texts))
    if not typed("QUIET"):
        sys.stdout.buffer.write(text(report).encode("utf-8", "replace"))
    return 0


def tests(chapter=None):
    """For one submission, or a class: finds the chapter, and runs its target of the Makefile."""
    if typed("CLASS") == "yes" or chapter is None and sys.argv[1] == "tests-all":
        submissions, known, reports = class_of()
    else:
        path = Path(typed("SUBMISSION") or "-")
        if not os.path.exists(path):
            fail("make grade-tests", f"SUBMISSION={typed('SUBMISSION')}: expected a folder or an archive that a starter made")
        submission = Submission(path)
        there = [c for c in (chapter_of(f"0{k}") for k in range(1, 8)) if c and any(n.endswith(f"{c}/tests/test_mine.c") for n in submission.files)]
        known = which_chapter(submission, typed("CHAPTER")) if typed("CHAPTER") else there[0] if there else None
        if not known:
            fail("make grade-tests", f"SUBMISSION={path}: {submission.refused or 'expected a file 0N_…/tests/test_mine.c in it'}")
    if chapter is None:
        more = ["CLASS=yes"] if sys.argv[1] == "tests-all" else []
        os.execvp("make", ["make", "-s", "--no-print-directory", *([f"-j{jobs()}"] if "-j" not in typed("MAKEFLAGS") else []), "QUIET=1", f"grade-tests-{known[:2]}", *more])
    tester = Tester(chapter)
    if typed("CLASS") != "yes":
        lines, earned, _ = tester.grade(path)
        say("\n".join(lines))
        return 2 if earned is None else 0 if lines[-1].startswith("The tests pass") else 1
    part = next(words[0] for words in points_of(chapter) if words[2] == "mutants")
    done = 0
    for name in submissions:
        (reports / "submissions" / name / "tests.json").unlink(missing_ok=True)
    for name, path in submissions.items():
        lines, earned, mine = tester.grade(path)
        if earned is None:
            break
        write(reports / "submissions" / name / "tests.txt", "\n".join(lines) + "\n")
        write(reports / "submissions" / name / "tests.json", json.dumps(
            {"earned": {f"{part} mutants": round(earned, 1)}, "units": of_tests(chapter, mine), "note": "" if earned else f"{part}: {lines[-1]}"}))
        done += 1
        progress(f"{done} of {len(submissions)}")
    table(chapter, reports)
    return at_last(reports, done, submissions, "")


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, box.interrupt)
    commands = {"grade": grade_one, "all": grade_all, "tests": tests, "tests-all": tests, "tests-of": lambda: tests(sys.argv[2])}
    return commands[sys.argv[1]]()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except box.Interrupted:
        sys.exit("interrupted")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            sys.exit(2)
        raise
