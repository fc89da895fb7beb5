"""PyTorch's autograd through flash_torch.py."""
from __future__ import annotations

import numpy as np

import flash
from case import OPTIONS, Case, filled, problem


class Torch(Case):
    def test_autograd_gives_the_steps_gradients(self):
        try:
            import torch
            import flash_torch
        except ImportError:
            self.skipTest("no PyTorch here")
        Q, K, V, dO = problem()
        options = filled(OPTIONS["all"], Q, K)
        q, k, v = (torch.from_numpy(x).requires_grad_() for x in (Q, K, V))
        masks = {name: torch.from_numpy(options[name]) for name in ("key_mask", "block_mask")}
        O = flash_torch.attention(q, k, v, **{**options, **masks})
        O.backward(torch.from_numpy(dO))
        right, lse = flash.forward(Q, K, V, **options)
        self.assertTrue(np.array_equal(O.detach().numpy(), right))
        for x, g in zip((q, k, v), flash.backward(Q, K, V, right, lse, dO, **options)):
            self.assertTrue(np.array_equal(x.grad.numpy(), g))
        narrow = flash_torch.attention(*(x.detach().bfloat16() for x in (q, k, v)))
        self.assertEqual(narrow.dtype, torch.bfloat16)
        with self.assertRaisesRegex(ValueError, "^step: expected one that writes lse, .* found '05/standard'"):
            flash_torch.attention(q, k, v, step="05/standard")
        with self.assertRaisesRegex(ValueError, "expected tensors on the CPU, found one on meta"):
            flash_torch.attention(q.to("meta"), k, v)
