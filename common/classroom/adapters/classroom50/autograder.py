"""Classroom 50's runner starts this in a student's checkout: grades it by the course, leaves ./result.json."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

course = pathlib.Path(__file__).resolve().parent / "course"
reports = pathlib.Path(tempfile.mkdtemp())

# As root, so that what the student wrote runs as somebody else; the environment says whose submission it is.
root = [] if os.geteuid() == 0 else ["sudo", "-n", "-E"]
if root and subprocess.run(root + ["true"], capture_output=True, check=False).returncode != 0:
    root = []
words = ["make", "-s", "grade", f"SUBMISSION={os.getcwd()}", f"REPORTS={reports}", "CHAPTER=@CHAPTER@",
         "PART=@PART@", "SEED=@SEED@"]
subprocess.run(root + words, cwd=course, check=False)

result = reports / "classroom50.json"
if not result.is_file():
    sys.exit("the grader left no result")
shutil.copyfile(result, "result.json")
shutil.copyfile(reports / "report.txt", "release-body.md")
