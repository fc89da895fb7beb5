"""Threads: of the library, and of Python."""
from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

import flash
from case import Case, problem


class Threads(Case):
    def test_threads_do_not_change_the_answer(self):
        Q, K, V, dO = problem(1, 2, 1, 200, 190, 16)
        answers = []
        for threads in (1, 2, 5, None):
            O, lse = flash.forward(Q, K, V, threads=threads, dropout=0.1)
            answers.append((O, lse, *flash.backward(Q, K, V, O, lse, dO, threads=threads, dropout=0.1)))
        for other in answers[1:]:
            self.assertTrue(all(np.array_equal(a, b) for a, b in zip(answers[0], other)))

    def test_as_many_threads_work_as_openmp_is_set_to(self):
        code = ("import numpy as np, flash; x = np.ones((40, 8), np.float32); flash.forward(x, x, x)\n"
                "a = flash.extra_bytes(); flash.forward(x, x, x, threads=2)\n"
                "b = flash.extra_bytes(); flash.forward(x, x, x); print(a, b, flash.extra_bytes())")
        held = []
        for threads in ("1", "2", "3"):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                  cwd=Path(flash.__file__).parent, env={**os.environ, "OMP_NUM_THREADS": threads})
            held.append([int(x) for x in done.stdout.split()])
        one, two, three = held
        self.assertEqual(one[0], one[2])
        self.assertEqual(three[0], three[2])
        if one[0] == one[1]:
            self.skipTest("the library was built without OpenMP")
        self.assertEqual(two[0], 2 * one[0])
        self.assertEqual(three[0], 3 * one[0])
        self.assertEqual([one[1], three[1]], [two[0], two[0]])

    def test_python_threads_may_call_at_the_same_time(self):
        Q, K, V, dO = problem(1, 2, 2)
        O, lse = flash.forward(Q, K, V)
        right = flash.backward(Q, K, V, O, lse, dO, step="07/standard")
        wrong = []

        def work():
            for _ in range(10):
                got = flash.backward(Q, K, V, O, lse, dO, step="07/standard")
                wrong.extend(name for name, a, b in zip("QKV", got, right) if not np.array_equal(a, b))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
