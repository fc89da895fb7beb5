"""The small model of learn.py learns by right gradients, and by no others."""
from __future__ import annotations

import functools
import unittest
from unittest import mock

import flash
import learn
from case import Case


class Learn(Case):
    def last(self, step: str) -> tuple[float, float]:
        return list(learn.descent(functools.partial(learn.ours, step=step)))[-1]

    def test_the_model_learns_by_each_steps_gradients_and_not_without_those_of_the_queries(self):
        losses = [self.last(step) for step in ("07/standard", "07/fa2", "07/complete")]
        for loss, share in losses:
            self.assertLess(abs(loss - losses[0][0]), 1e-3)
            self.assertGreater(share, 0.95)
        backward = flash.backward
        with mock.patch("flash.backward", lambda *a, **more: (0 * a[0], *backward(*a, **more)[1:])):
            self.assertLess(self.last("07/fa2")[1], 0.95)


if __name__ == "__main__":
    unittest.main()
