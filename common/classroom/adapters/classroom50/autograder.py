"""Classroom 50's runner starts this in a student's checkout: grades it by the course, leaves ./result.json."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

course = pathlib.Path(__file__).resolve().parent / "course"
reports = pathlib.Path(tempfile.mkdtemp())
made = {"classroom50.json": "result.json", "report.txt": "release-body.md"}
for name in made.values():  # a student's could pass for ours, and a link could point elsewhere
    if os.path.lexists(name):
        os.remove(name)

# As root, so that the student's code runs as another user; the environment names the student.
root = [] if os.geteuid() == 0 else ["sudo", "-n", "-E"]
if root and subprocess.run(root + ["true"], capture_output=True, check=False).returncode != 0:
    root = []
os.environ["TRUSTED"] = "yes"  # its machine is thrown away
words = ["make", "-s", "grade", f"SUBMISSION={os.getcwd()}", f"REPORTS={reports}", "CHAPTER=@CHAPTER@",
         "PART=@PART@", "SEED=@SEED@"]
subprocess.run(root + words, cwd=course, check=False)

if not (reports / "classroom50.json").is_file():
    sys.exit("the grader left no result")
for report, name in made.items():
    shutil.copyfile(reports / report, name)
