"""notebook.py - runs the cells of a notebook one after the other, as "Run all" does, and prints what they print.

    python3 common/tools/notebook.py NOTEBOOK [MINE]     twice in a row; with MINE, once more with the text of this file for `mine`
"""
import json
import re
import sys
from pathlib import Path


def cells_of(path):
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_all(cells):
    names = {"__name__": "__main__"}  # one for all cells, as in a notebook
    for number, cell in enumerate(cells, 1):
        exec(compile(cell, f"cell {number}", "exec"), names)
    return names


def main(notebook, mine=None):
    cells = cells_of(notebook)
    if any(run_all(cells)["right"] for _ in range(2)):
        return "the untouched gap passes"
    if mine:
        lines = Path(mine).read_text(encoding="utf-8")
        if not run_all([re.sub(r'(?s)(mine = r""")\n.*?(""")', lambda found: f"{found[1]}\n{lines}{found[2]}", cell) for cell in cells])["right"]:
            return f"{mine}: expected lines that are right"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
