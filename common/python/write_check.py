"""Checks write.py: against transformers, with planted mistakes, and its speed.

    python common/python/write_check.py check [STEP...]    # steps of 04 to 06, or these, against write_reference.json
    python common/python/write_check.py babble             # the text of each wrong version of write.py
    python common/python/write_check.py speed              # tokens per second of each step of chapter 05
    python common/python/write_check.py first STEP...      # seconds to the first word after 1024 tokens
"""
from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np

import flash
import write

HERE = Path(__file__).parent
ALLOWED = 1e-3  # of the largest logit
SLOW = "06/fa1", "06/mma", "06/complete"  # a selection, because the emulator is slow
ALL, SOME = "05/complete", 3  # writes all tokens of the reference; others write SOME


def check(fields, weights, steps: list[str]) -> bool:
    """Each next input is the reference's token."""
    reference = json.loads((HERE / "write_reference.json").read_text())
    logits, all_right = np.array(reference["logits"]), True
    print(f"against {reference['by']} in float64: errors of the logits, as parts of the largest, allowed {ALLOWED}")
    if write.tokenizer_of(fields).encode(write.PROMPT).ids != reference["prompt"]:
        print("the prompt becomes other tokens: WRONG")
        all_right = False
    for step in steps:
        count = len(reference["tokens"]) if step in (ALL, "mine") or len(steps) == 1 else SOME
        model, worst, same = write.Writer(fields, weights, write.attention_of(step)), 0.0, 0
        for n, (token, found) in enumerate(model.write(reference["prompt"], count)):
            same += token == reference["tokens"][n]
            error = np.abs(found[reference["ids"]] - logits[n]).max() / reference["largest"]
            worst = max(worst, np.nan_to_num(error, nan=np.inf))
            if token != reference["tokens"][n]:
                break
        right = worst <= ALLOWED and same == count
        all_right &= bool(right)
        print(f"{step:24}{same:3} of {count} tokens, logits {worst:8.1e}   {'ok' if right else 'WRONG'}", flush=True)
    return all_right


def babble(fields, weights, tokens=20):
    """The text of each wrong version of write.py."""
    tokenizer = write.tokenizer_of(fields)
    prompt = tokenizer.encode(write.PROMPT).ids
    mistakes = [None, *re.findall("^Name: (write_.*)", (HERE / "mistakes.txt").read_text(encoding="utf-8"), re.MULTILINE)]
    print(f"{write.PROMPT} ...")
    for mistake in mistakes:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "common/python/write.py")
            copy.parent.mkdir(parents=True)
            shutil.copy(HERE / "write.py", copy)
            if mistake:
                subprocess.run(["awk", "-f", HERE.parent / "tools/mistakes.awk", "apply", folder, HERE / "mistakes.txt", mistake],
                               check=True)
            wrong = runpy.run_path(copy, run_name="wrong")
        model = wrong["Writer"](fields, weights, wrong["by_step"]("05/complete"))
        text = tokenizer.decode([token for token, _ in model.write(prompt, tokens)])
        print(f"\n{mistake.removeprefix('write_') if mistake else 'right'}:")
        print(textwrap.indent(textwrap.fill(" ".join(text.split()), 92), "    "), flush=True)


def timed(fields, weights, step: str, read: int, wrote: int) -> tuple[float, float]:
    """Seconds to the first token after `read` tokens, and for `wrote` more."""
    text = HERE.parent / "docs/TOUR.md"
    prompt = write.tokenizer_of(fields).encode(text.read_text(encoding="utf-8")).ids[:read]
    times = [time.perf_counter()]
    for _ in write.Writer(fields, weights, write.by_step(step)).write(prompt, wrote + 1):
        times.append(time.perf_counter())
    return times[1] - times[0], times[-1] - times[1]


def speed(fields, weights, read=256, wrote=16):
    print(f"{'':20}{'reads a prompt':>20}{'then writes':>20}")
    print(f"{'':20}{f'of {read} tokens':>20}{f'{wrote} tokens':>20}")
    for step in (s for s in flash.steps().values() if s.name.startswith("05/") and s.name != "05/block_matmul"):
        first, rest = timed(fields, weights, step.name, read, wrote)
        print(f"{step.name:20}{read / first:18.1f}/s{wrote / rest:18.1f}/s", flush=True)


def first(fields, weights, steps: list[str], read=1024, wrote=16):
    print(f"{'':20}{f'first word, after {read} tokens':>30}{'then':>16}")
    for step in steps:
        first, rest = timed(fields, weights, step, read, wrote)
        print(f"{step:20}{first:28.1f} s{wrote / rest:14.1f}/s", flush=True)


def main() -> int:
    task, *steps = sys.argv[1:]
    known = flash.steps()
    for step in steps:
        if step != "mine" and step not in known:
            write.stop(f"STEP={step}: expected some of {', '.join(name for name, s in known.items() if not s.backward)}")
    fields, weights = write.read_model()
    if task == "check":
        asked = steps or [name for name, s in known.items() if not s.backward and name != "05/block_matmul"
                          and (not name.startswith("06/") or name in SLOW)]
        return 0 if check(fields, weights, asked) else 1
    if task == "first":
        first(fields, weights, steps)
        return 0
    {"babble": babble, "speed": speed}[task](fields, weights)
    return 0


if __name__ == "__main__":
    write.command(main)
