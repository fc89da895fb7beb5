"""page.py - a page of the course, as the checks read it."""
import re
from pathlib import Path

# In the order of the "Next" links.
MAIN_PATH = """README.md 01_standard_softmax/README.md 02_safe_softmax/README.md 03_online_softmax/README.md
    04_flash_no_tiling/README.md 05_flash_tiled_cpu/README.md 05_flash_tiled_cpu/pages/fa2.md
    05_flash_tiled_cpu/pages/masks.md 05_flash_tiled_cpu/pages/fast.md 06_flash_tiled_cuda/README.md
    06_flash_tiled_cuda/pages/fa1.md 06_flash_tiled_cuda/pages/registers.md 06_flash_tiled_cuda/pages/turing.md
    07_backward/README.md 07_backward/pages/tiles.md 07_backward/pages/checking.md 07_backward/pages/cuda.md""".split()
CHAPTER = re.compile(r"((?:.*/)?0[1-7]_[^/]*)/(?:(?:pages|exercise)/)?[^/]*\.md")
LESSON = re.compile(r"(?:.*/)?(?:0[1-7]_[^/]*/(?:pages/)?[^/]*\.md|common/(?:cuda|python)/README\.md)")


class Page:
    """A page: `lines` are (number, line), without code."""

    def __init__(self, path):
        self.path, self.lines, code = Path(path), [], False
        for number, line in enumerate(self.path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith("```"):
                code = not code
            elif not code:
                self.lines.append((number, line))
        chapter = CHAPTER.fullmatch(self.path.as_posix())
        self.chapter = Path(chapter[1]) if chapter else None
        self.is_first = bool(chapter) and self.path == self.chapter / "README.md"
        self.is_lesson = bool(LESSON.fullmatch(self.path.as_posix()))

    def sections(self):
        """The sections: number of the first line, heading ("" for the head), lines."""
        sections = [(1, "", [])]
        for number, line in self.lines:
            if line.startswith("## "):
                sections.append((number, line[3:], []))
            sections[-1][2].append((number, line))
        return sections


def names_of(kernels):
    """The kernels of a chapter's table, in its order."""
    table = next((path for path in (kernels.parent / "kernels.c", kernels / "host/kernels.c") if path.exists()), None)
    return table and re.findall(r'^ {8}\.name = "(?:cuda_)?(\w+)', table.read_text(encoding="utf-8"), re.MULTILINE)
