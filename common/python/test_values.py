"""Every step and option by the verdict, and by reference.py."""
from __future__ import annotations

import numpy as np

import flash
import reference
from case import BACKWARD, CUDA, FORWARD, OPTIONS, Case, can, filled, problem


class Values(Case):
    def test_every_step_on_the_cpu_computes_attention(self):
        Q, K, V, _ = problem()
        for step in FORWARD:
            if step not in CUDA and step != "05/block_matmul":
                self.check_forward(step, {}, Q, K, V)

    def test_kernels_compute_attention(self):
        Q, K, V, _ = problem(1, 2, 1, 20, 37, 64)
        for step in CUDA:
            try:
                self.check_forward(step, {"causal": True}, Q, K, V)
            except ValueError as error:
                self.assertIn("dtype", str(error))
        self.check_forward("06/complete", OPTIONS["all"], Q, K, V)

    def test_kernels_for_16_bits_round_what_they_read(self):
        Q, K, V, _ = problem(1, 1, 1, 20, 37, 64)
        rounded = [x.astype(np.float16).astype(np.float32) for x in (Q, K, V)]
        O, _ = flash.forward(Q, K, V, step="06/mma", dtype="f16")
        again, _ = flash.forward(*rounded, step="06/mma", dtype="f16")
        self.assertTrue(np.array_equal(O, again))
        self.right("06/mma", Q, K, V, {"dtype": "f16"}, O=O)
        self.assertTrue(np.array_equal(O, O.astype(np.float16)))

    def test_wrong_results_are_found_wrong(self):
        Q, K, V, dO = problem()
        O, lse = flash.forward(Q, K, V, causal=True)
        right = dict(O=O, lse=lse, dO=dO, **dict(zip(("dQ", "dK", "dV"), flash.backward(Q, K, V, O, lse, dO, causal=True))))
        for name in ("O", "lse", "dQ", "dK", "dV"):
            for value in (np.nan, np.inf, 1.01 * right[name][1, 1, 7], right[name][1, 1, 8]):
                wrong = right[name].copy()
                wrong[1, 1, 7] = value
                found = flash.explained(Q, K, V, **{**right, name: wrong}, causal=True)
                self.assertEqual([n for n, x in found.items() if x > 1], [name], value)
                self.assertEqual(np.isinf(found[name]), not np.isfinite(value).all())

    def test_block_matmul_has_no_softmax(self):
        Q, K, V, _ = problem(1, 1, 1, 9, 11, 5)
        O, lse = flash.forward(Q, K, V, step="05/block_matmul")
        self.assertIsNone(lse)
        self.assertTrue(np.allclose(O, (Q @ K.swapaxes(-1, -2)) @ V / np.sqrt(5), atol=1e-5))

    def test_every_backward_step_computes_the_gradients(self):
        for step in BACKWARD:
            self.check_backward(step, OPTIONS["key_mask"], *problem(Hkv=4))

    def test_every_option_reaches_the_step(self):
        Q, K, V, dO = problem()
        for options in OPTIONS.values():
            self.check_forward("05/complete", options, Q, K, V)
            self.check_backward("07/complete", options, Q, K, V, dO)

    def test_changed_scores_meet_every_other_option(self):
        Q, K, V, dO = problem()
        options = {**OPTIONS["all"], "softcap": 1.5}
        for step in ("05/softcap", "05/complete"):
            self.check_forward(step, options, Q, K, V)
        self.check_backward("07/complete", options, Q, K, V, dO)
        self.check_backward("07/softcap", OPTIONS["softcap"], *problem(Hkv=4))

    def test_a_softcap_of_0_is_none(self):
        Q, K, V, _ = problem()
        for step in ("04/flash_no_tiling", "05/complete", "06/complete"):
            none, capped = (flash.forward(Q, K, V, step=step, **options) for options in ({}, {"softcap": 0.0}))
            self.assertTrue(all(map(np.array_equal, none, capped)), step)

    def test_options_change_the_answer(self):
        Q, K, V, _ = problem()
        answers = [flash.forward(Q, K, V, **filled(o, Q, K))[0] for o in OPTIONS.values()]
        same = {(list(OPTIONS)[a], list(OPTIONS)[b]) for a in range(len(answers)) for b in range(a)
                if np.array_equal(answers[a], answers[b])}
        self.assertEqual(same, {("bottom-right", "causal")})

    def test_a_step_either_knows_an_option_or_refuses_it(self):
        Q, K, V, _ = problem()
        for step in FORWARD:
            if step in CUDA or step == "05/block_matmul":
                continue
            for options in OPTIONS.values():
                if can(step, Q, K, V, options):
                    self.check_forward(step, options, Q, K, V)
                else:
                    with self.assertRaisesRegex(ValueError, f"{step}: expected what this step supports, found [a-z]"):
                        flash.forward(Q, K, V, step=step, **filled(options, Q, K))

    def test_hidden_keys_are_not_read(self):
        Q, K, V, dO = problem()
        mask = np.ones((2, 75), bool)
        mask[:, 40:] = mask[1] = False
        right = flash.forward(Q, K, V, key_mask=mask)
        K[:, :, 40:] = V[:, :, 40:] = K[1] = V[1] = np.nan
        O, lse = flash.forward(Q, K, V, key_mask=mask)
        self.assertTrue(np.array_equal(O, right[0]) and np.array_equal(lse, right[1]))
        self.assertTrue((O[1] == 0).all() and np.isneginf(lse[1]).all())
        gradients = flash.backward(Q, K, V, O, lse, dO, key_mask=mask)
        self.assertFalse(any(np.isnan(g).any() for g in gradients))

    def test_dropout_draws_the_same_numbers_as_numpy_does(self):
        V = np.eye(32, dtype=np.float32)[None, None].repeat(2, 0).repeat(3, 1)
        Q, K = np.zeros((2, 3, 21, 32), np.float32), np.zeros((2, 3, 32, 32), np.float32)
        kept = reference.dropout_keeps(2, 3, 21, 32, 0.4, 2**64 - 1)
        for step in ("05/dropout", "05/split_kv", "05/complete", "06/complete"):
            O, _ = flash.forward(Q, K, V, step=step, dropout=0.4, dropout_seed=2**64 - 1)
            self.assertTrue(np.array_equal(O != 0, kept), step)
