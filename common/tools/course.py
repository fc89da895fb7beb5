#!/usr/bin/env python3
"""course.py COMMAND ... - maintainers' tools: make and check pages, pictures and tables.

Each COMMAND is a module in this folder; its `main(arguments)` returns the exit status: 0, 1 if a check fails, 2 for a
wrong call. Run it in the course's folder. It needs only Python; `book` fetches Sphinx.
"""
import importlib
import sys
from pathlib import Path

COMMANDS = ("book", "commands", "comments", "docs", "figures", "flat", "layers", "pages", "plots", "quotes", "ring",
            "stepper", "tables", "terse")


def main(arguments):
    command = arguments[0] if arguments else ""
    if command not in COMMANDS:
        print(f"course.py: expected one of {', '.join(COMMANDS)}, found '{command}'", file=sys.stderr)
        return 2
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).parent))
    return importlib.import_module(command).main(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
