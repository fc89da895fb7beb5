"""submission.py - reads a submission: a folder, .tar.gz, .tar or .zip, or a folder with one of these.

It is never unpacked; files are read one by one, as text.
"""
import gzip
import io
import os
import re
import tarfile
import zipfile
from itertools import islice
from pathlib import Path

MOST_BYTES = 5000000  # of an archive; ten times as much unpacked
MOST_SOURCE = 200000  # of a file
MOST_FILES = 5000
ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")


def one_line(text):
    return "".join(c if " " <= c and c != "\x7f" else " " for c in text)[:150].rstrip()


def stem(name):
    """The name without an archive's ending."""
    return next((name[: -len(end)] for end in ARCHIVES if name.endswith(end)), name)


class Submission:
    """files: all names. refused: why it cannot be graded, or ""."""

    def __init__(self, path):
        self.path = Path(path)
        self.files, self.refused, self.read_from = [], "", lambda name: b""
        try:
            inside = [p for p in self.inside() if p.is_file() and not p.is_symlink() and not p.name.startswith(".")]
            if len(inside) == 1 and inside[0].name.endswith(ARCHIVES):  # as Moodle and Gradescope keep what is uploaded
                self.path = inside[0]
            self.open()
        except PermissionError:
            self.refused = "it has a file or folder that may not be read"
        except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, ValueError, NotImplementedError):
            self.refused = self.refused or "the archive cannot be read"

    def inside(self):
        """What is in the folder, if it is one."""
        every = sorted(self.path.rglob("*"))
        if not all(os.access(p, os.R_OK | os.X_OK) for p in (self.path, *every) if p.is_dir()):
            raise PermissionError
        return every

    def open(self):
        if self.path.is_dir():
            every = [(str(p.relative_to(self.path)), p.is_symlink() or not (p.is_file() or p.is_dir()), p.is_dir()) for p in self.inside()]
            self.read_from = lambda name: (self.path / name).open("rb").read(MOST_SOURCE + 1)
        elif not self.path.name.endswith(ARCHIVES):
            self.refused = "expected a folder, .tar.gz, .tar or .zip"
            return
        elif self.path.stat().st_size > MOST_BYTES:
            self.refused = f"the archive is larger than {MOST_BYTES} bytes"
            return
        elif self.path.name.endswith(".zip"):
            archive = zipfile.ZipFile(self.path)
            kinds = [(info, info.external_attr >> 28) for info in archive.infolist()]
            every = [(info.filename, kind not in (0, 4, 8), info.is_dir()) for info, kind in kinds]
            self.read_from = lambda name: archive.open(name).read(MOST_SOURCE + 1)
        else:
            opened = self.path.open("rb") if self.path.name.endswith(".tar") else gzip.open(self.path)
            content = opened.read(10 * MOST_BYTES + 1)
            if len(content) > 10 * MOST_BYTES:
                self.refused = f"the archive has more than {10 * MOST_BYTES} bytes in it"
                return
            archive = tarfile.open(fileobj=io.BytesIO(content), mode="r:")
            every = [(member.name, not (member.isreg() or member.isdir()), member.isdir()) for member in islice(archive, MOST_FILES + 1)]
            self.read_from = lambda name: archive.extractfile(name).read(MOST_SOURCE + 1)
        self.take(every)

    def take(self, every):
        """The names of files: (name, is it something else, is it a folder) for each."""
        odd = next((name for name, other, _ in every if other and not re.search(r"(^|/)build/?$", name)), None)
        out = next((name for name, _, _ in every if name.startswith("/") or ".." in name.split("/")), None)
        self.files = [re.sub(r"^(\./)+", "", name.replace("\\", "/")) for name, _, folder in every if not folder]
        self.true_names = dict(zip(self.files, [name for name, _, folder in every if not folder]))
        if odd is not None:
            self.refused = f"it has a link or something else that is no file: {one_line(odd)}"
        elif out is not None:
            self.refused = f"it has a name that leads out of its folder: {one_line(out)}"
        elif len(every) > MOST_FILES:
            self.refused = f"it has more than {MOST_FILES} files"
        elif not self.files:
            self.refused = "there is no file in it"

    def find(self, chapter, file):
        """Names that may be the chapter's `file`, with or without folders; normally one."""
        for ending in (f"{chapter}/{file}", file, file.rsplit("/", 1)[-1]):
            found = [name for name in self.files if name == ending or name.endswith("/" + ending)]
            if found:  # of a whole starter the student's, not the copy in course
                return [name for name in found if "course" not in name.split("/")] or found
        return []

    def bytes(self, name):
        """At most MOST_SOURCE + 1 bytes of a file."""
        try:
            return self.read_from(self.true_names[name])
        except (OSError, RuntimeError, ValueError, KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError):
            return b""  # e.g. with a password

    def text(self, chapter, file):
        """The text of a chapter's file, or None; and an error, or ""."""
        found = self.find(chapter, file)
        if len(found) > 1:
            return None, f"{file}: it is there more than once"
        if not found:
            return None, f"{file}: not in the submission{self.near(chapter, file)}"
        content = self.bytes(found[0])
        if not content:
            return None, f"{file}: it is empty"
        if len(content) > MOST_SOURCE:
            return None, f"{file}: it is larger than {MOST_SOURCE} bytes"
        if b"\0" in content:
            return None, f"{file}: it has a NUL, which no text has"
        return content.decode("utf-8", "replace"), ""

    def near(self, chapter, file):
        """A similar name, not one of the course's, for a missing file."""
        of_course = {path.name for path in Path(chapter).rglob("*")}
        base = file.rsplit("/", 1)[-1]
        start, ending = base.split(".")[0].lower(), "." + base.rsplit(".", 1)[-1]
        others = [name for name in self.files if name.rsplit("/", 1)[-1] not in of_course]
        alike = [name for name in others if start in name.rsplit("/", 1)[-1].lower()] or [name for name in others if name.endswith(ending)]
        return f", which has {one_line(alike[0])}" if alike else ""

    def starter(self):
        """STARTER's fields."""
        found = [name for name in self.files if name.rsplit("/", 1)[-1] == "STARTER"]
        lines = self.bytes(found[0]).decode("utf-8", "replace").splitlines() if found else []
        return dict(line.split(None, 1) for line in lines if len(line.split(None, 1)) == 2)
