"""variant.py: right and wrong outputs against a Python function, and invalid calls."""
from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import flash
from case import Case, problem

SOFTCAP = """import numpy as np

def attention(q, k, v):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
    s = 2 * np.tanh(s / 2)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
"""


class Variant(Case):
    def says(self, status: int, *arguments: str) -> str:
        program = Path(__file__).with_name("variant.py")
        done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status == 2:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stdout + done.stderr

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "softcap.py").write_text(SOFTCAP)
        self.reference = str(self.folder / "softcap.py")

    def save(self, softcap=2.0, **others):
        Q, K, V, dO = problem(1, 2, 1, 9, 11, 5)
        O, lse = flash.forward(Q, K, V, softcap=softcap)
        dQ, dK, dV = flash.backward(Q, K, V, O, lse, dO, softcap=softcap)
        for name, x in {**dict(q=Q, k=K, v=V, do=dO, o=O, dq=dQ, dk=dK, dv=dV), **others}.items():
            np.save(self.folder / f"{name}.npy", x)
        return dQ, dK, dV

    def test_variants_that_are_right_and_wrong_are_told_apart(self):
        dQ, dK, dV = self.save()
        self.assertEqual(self.says(0, self.reference, str(self.folder)).count(" ok"), 4)
        self.save(dk=dV, dv=dK)
        self.assertEqual(self.says(1, self.reference, str(self.folder)).count("WRONG"), 2)
        self.save(softcap=2.1)
        self.assertEqual(self.says(1, self.reference, str(self.folder)).count("WRONG"), 4)
        self.save(dq=np.where(np.arange(5) == 4, np.nan, dQ).astype(np.float32))
        self.assertIn("WRONG", self.says(1, self.reference, str(self.folder)))

    def test_variants_of_the_courses_steps_are_checked(self):
        said = self.says(0, self.reference, "softcap=2")
        self.assertIn("3 pairs of steps support {'softcap': 2}", said)
        self.assertIn("WRONG", self.says(1, self.reference, "softcap=3"))

    def test_variants_that_cannot_be_checked_are_refused(self):
        self.says(2, self.reference)
        self.says(2, "no.py", "softcap=2")
        self.assertIn("found -1", self.says(2, self.reference, "softcap=-1"))
        self.assertIn("unexpected keyword", self.says(2, self.reference, "relu=1"))
        self.assertIn("expected a folder", self.says(2, self.reference, "softcap"))
        (self.folder / "empty.py").write_text("")
        self.save()
        self.assertIn("expected a function", self.says(2, str(self.folder / "empty.py"), str(self.folder)))
        (self.folder / "q.npy").unlink()
        self.assertIn("q.npy", self.says(2, self.reference, str(self.folder)))
