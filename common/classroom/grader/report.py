"""report.py - writes a grading's result: as text, and for Gradescope and Classroom 50."""
import datetime
import json
import os
from pathlib import Path

from box import MASK, fail


def write(path, text):
    """Writes a report, with the teacher's umask."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "replace"))
        os.chmod(path, 0o666 & ~MASK)
    except OSError as error:
        fail("REPORTS", f"expected a folder that you may write to, found: {error}")


def reason(report, c):
    """Why a criterion has fewer points than its trials alone would give, or ""."""
    if report.refused:
        return f"nothing was graded: {report.refused}"
    if c.trials and c.passed() == c.tried() and c.earned < c.points:
        return f"no points for it while most outputs of {c.part} are wrong"
    if c.passed(True) < c.tried(True):
        return f"it earns the share of the cases that {c.part} is about: {c.passed(True)} of {c.tried(True)} are right"
    return ""


def trial_lines(t):
    if t["outcome"] == "right":
        return [f"    ok     {t['program']}, {t['case']}"]
    again = [f"read again: {t['reread']}"] if t["reread"] else []
    return [f"    WRONG  {t['program']}, {t['case']}: {t['outcome']}", *(f"        {line}" for line in [*t["text"].splitlines(), *again])]


def text(report):
    lines = [f"{report.assignment.chapter}: {report.name}", f"{report.points(True)} of {report.points()} points, seed {report.seed}"]
    lines += [f"questions as SEED={report.figures} has them"] if report.figures else []
    lines += report.notes
    lines += ["", f"Nothing was graded: {report.refused}"] if report.refused else []
    for c in report.assignment.criteria:
        if c.kind == "elsewhere":
            who = {"mutants": "make grade-tests says", "hand": "a person marks it"}.get(c.word, "not by this program")
            lines += ["", f"{c.part}, {c.word}: {c.points} points, {who}"]
            continue
        lines += ["", f"{c.part}, {c.word}: {c.earned} of {c.points} points, {c.passed()} of {c.tried()} right"]
        lines += [line for t in c.trials for line in trial_lines(t)]
        if not report.refused and reason(report, c):
            lines.append(f"        {reason(report, c)}")
    return "\n".join(lines) + "\n"


def tests(report):
    """For the services: each graded criterion's name, points, whether it is complete, and lines."""
    for c in report.assignment.criteria:
        if c.kind != "elsewhere":
            lines = [line for t in c.trials for line in trial_lines(t)]
            if reason(report, c):
                lines.append(reason(report, c))
            full = bool(c.trials) and c.passed() == c.tried() and c.earned == c.points
            yield f"{c.part}, {c.word}", c.earned, c.points, full, "\n".join(lines) + "\n"


def gradescope(report):
    return {"score": report.points(True), "visibility": "visible", "stdout_visibility": "hidden", "output": "\n".join([report.refused, *report.notes]).strip(),
            "tests": [{"name": name, "score": earned, "max_score": points, "status": "passed" if full else "failed", "output": lines}
                      for name, earned, points, full, lines in tests(report)]}


def classroom50(report):
    """Classroom 50's values from the environment, or neutral ones."""
    def given(name, otherwise):
        return os.environ.get(name) or otherwise
    commit = given("COMMIT_URL", "none")
    return {"schema": "classroom50/result/v1", "classroom": given("CLASSROOM", "none"), "assignment": given("ASSIGNMENT", report.assignment.chapter),
            "assignment_type": given("ASSIGNMENT_TYPE", "individual"), "owner": given("OWNER", given("USERNAME", report.name)),
            "submission": given("SUBMISSION_TAG", "submit/none"), "commit": commit, "release": given("RELEASE_URL", "none"),
            "review": given("REVIEW_URL", commit), "datetime": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "score": report.points(True), "max-score": report.points(),
            "tests": [{"test-name": name, "passed": full, "score": earned, "max-score": points, "output": lines}
                      for name, earned, points, full, lines in tests(report)]}


def notes(report):
    """A table's note: why criteria earned nothing, each reason once."""
    found = [report.refused] if report.refused else []
    for c in report.assignment.criteria:
        if report.refused or c.kind == "elsewhere" or c.earned or not c.points:
            continue
        t = next((t for t in c.trials if t["outcome"] != "right"), None)
        found.append(f"{c.part}: {reason(report, c)}" if t is None else f"{c.part}: {t['text']}" if t["outcome"] == "not run"
                     else f"{c.part}: {t['case']}: {t['outcome']}, {t['text']}")
    return "; ".join(dict.fromkeys([*report.notes, *found]))


def write_all(report, folder, units):
    folder = Path(folder)
    write(folder / "report.txt", text(report))
    write(folder / "gradescope.json", json.dumps(gradescope(report), indent=1, ensure_ascii=False))
    write(folder / "classroom50.json", json.dumps(classroom50(report), indent=1, ensure_ascii=False))
    earned = {f"{c.part} {c.word}": c.earned for c in report.assignment.criteria if c.kind != "elsewhere"}
    write(folder / "row.json", json.dumps({"earned": earned, "seed": report.seed, "variant": report.figures, "note": notes(report), "units": units}))
