"""Tests of order: `python3 -m unittest discover -s common/tools/tests`, in the course's folder."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import order  # noqa: E402
import sass  # noqa: E402

SCORES, PRODUCT = "WARPGROUP.DEPBAR.LE gsb0, 0x1", "WARPGROUP.DEPBAR.LE gsb0, 0x0"
EX2 = "MUFU.EX2 R1, R1"


def loop(*body, after=()):
    """A function with a loop of these lines, and with others after the kernel's end."""
    lines = [".text._Z4loopILi64EEv1a:", "BSSY B0, `(.L_end)", ".L_loop:", "HGMMA.64x128x16.F32 R24", *body,
             "@P0 BRA `(.L_loop)", ".L_end:", "EXIT", *after]
    text = "".join(f"{line}\n" if line.startswith(".") else f"        /*00f0*/                   {line} ;\n"
                   for line in lines)
    return sass.functions(text)[0]


def found(*body, after=()):
    """(fewest under the product, later ones) of such a function."""
    return order.under_the_product(loop(*body, after=after))


class Ways(unittest.TestCase):
    def test_what_lies_between_the_waits_counts_and_what_comes_after_them_is_late(self):
        self.assertEqual(found(SCORES, EX2, EX2, PRODUCT), (2, 0))
        self.assertEqual(found(SCORES, EX2, PRODUCT, EX2), (1, 1))
        self.assertEqual(found(SCORES, PRODUCT, EX2, EX2), (0, 2))

    def test_a_power_before_the_wait_for_scores_is_late_as_well(self):
        self.assertEqual(found(EX2, SCORES, EX2, PRODUCT), (1, 1))

    def test_of_two_ways_the_one_with_fewer_powers_counts(self):
        self.assertEqual(found(SCORES, EX2, "@!P1 BRA `(.L_x)", EX2, ".L_x:", PRODUCT), (1, 0))
        self.assertEqual(found(SCORES, EX2, "BRA.U !UP0, `(.L_x)", EX2, ".L_x:", PRODUCT), (1, 0))
        self.assertEqual(found(SCORES, "BRA `(.L_x)", EX2, ".L_x:", EX2, PRODUCT), (1, 0))

    def test_a_wait_in_each_arm_is_after_the_powers_and_one_that_is_before_the_branch_is_not(self):
        arms = ("@P1 BRA `(.L_x)", PRODUCT, "BRA `(.L_y)", ".L_x:", PRODUCT, ".L_y:", "NOP")
        self.assertEqual(found(SCORES, EX2, EX2, *arms), (2, 0))
        self.assertEqual(found(SCORES, PRODUCT, EX2, EX2, *arms), (0, 2))

    def test_a_way_without_a_wait_for_the_product_has_nothing_under_it(self):
        self.assertEqual(found(SCORES, EX2, "@P1 BRA `(.L_x)", PRODUCT, ".L_x:", "NOP"), (0, 0))
        self.assertEqual(found(SCORES, EX2, "@P1 BRA `(.L_end)", PRODUCT), (0, 0))
        self.assertEqual(found(EX2, PRODUCT), (None, 0))

    def test_a_power_with_a_predicate_is_not_counted(self):
        self.assertEqual(found(SCORES, EX2, f"@P1 {EX2}", PRODUCT, f"@!P1 {EX2}"), (1, 0))
        self.assertEqual(found(SCORES, f"@PT {EX2}", PRODUCT), (1, 0))

    def test_a_branch_that_is_never_taken_leads_nowhere(self):
        self.assertEqual(found(SCORES, "@!PT BRA `(.L_x)", EX2, ".L_x:", PRODUCT), (1, 0))

    def test_threads_that_diverged_go_on_where_the_barrier_ends(self):
        inner = ("BSSY B1, `(.L_x)", "@P1 BRA `(.L_y)", EX2, "BSYNC B1", ".L_y:", EX2, EX2, "BSYNC B1", "BRA `(.L_end)")
        self.assertEqual(found(SCORES, *inner, ".L_x:", PRODUCT), (1, 0))

    def test_a_wait_behind_the_code_comes_back(self):
        spins = (".L_spins:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R4], R5", "@!P1 BRA `(.L_spins)", "BRA `(.L_back)")
        self.assertEqual(found(SCORES, EX2, "@!P1 BRA `(.L_spins)", ".L_back:", EX2, PRODUCT, after=spins), (2, 0))
        meets = (".L_meets:", "WARPSYNC.COLLECTIVE R15, `(.L_met)", ".L_met:", "SHFL.BFLY PT, R1, R2, 0x1, 0x1f",
                 "BRA `(.L_back)")
        self.assertEqual(found(SCORES, EX2, "BRA.DIV UR4, `(.L_meets)", ".L_back:", PRODUCT, after=meets), (1, 0))

    def test_machine_code_that_cannot_be_followed_is_refused(self):
        for branch in ("BRX R2 -0x100", "BRA `(.L_nowhere)"):
            with self.assertRaises(order.Lost):
                found(SCORES, EX2, branch, PRODUCT)


class Products(unittest.TestCase):
    def test_what_is_between_products_of_a_group_counts_and_what_is_between_groups_does_not(self):
        last = "HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0"
        self.assertEqual(order.between_products(loop("NOP", "NOP", last, "NOP", last, last)), [[2]])
        self.assertEqual(order.between_products(loop(last, "NOP", "HGMMA.64x128x16.F32 R88", "NOP", last)), [[0], [1]])

    def test_products_after_the_loop_do_not_count(self):
        self.assertEqual(order.between_products(loop(after=("HGMMA.64x128x16.F32 R24",))), [])


class Rounds(unittest.TestCase):
    STORE = "STS.64 [R1], R2"

    def stored(self, *body):
        return order.stored_under_the_product(loop(*body))

    def test_what_is_stored_after_the_last_wait_for_one_product_counts(self):
        self.assertEqual(self.stored(SCORES, self.STORE, SCORES, self.STORE, self.STORE, PRODUCT), 2)
        self.assertEqual(self.stored(SCORES, self.STORE, PRODUCT, self.STORE), 1)
        self.assertEqual(self.stored(SCORES, PRODUCT, self.STORE, self.STORE), 0)
        self.assertEqual(self.stored(SCORES, f"@P1 {self.STORE}", "STS [R1], R2", PRODUCT), 0)
        self.assertEqual(self.stored(PRODUCT, self.STORE), 0)

    def test_a_round_is_as_long_as_its_shortest_way(self):
        self.assertEqual(order.least_round(loop("NOP", SCORES, "NOP", PRODUCT)), 4)
        self.assertEqual(order.least_round(loop("@P1 BRA `(.L_x)", "NOP", "NOP", ".L_x:", PRODUCT)), 2)

    def test_barriers_of_a_round_are_those_on_every_way(self):
        barriers = order.least_round(loop("BAR.SYNC 0x1", "@P1 BRA `(.L_x)", "BAR.SYNC 0x1", ".L_x:", PRODUCT),
                                     lambda instruction: instruction.startswith("BAR.SYNC"))
        self.assertEqual(barriers, 1)


class Kernels(unittest.TestCase):
    """pingpong for d = 64 as it is, and with one wait for the product, which ptxas 13.0 has moved up."""

    def of(self, name):
        return order.under_the_product(sass.functions((HERE / "sass" / f"{name}.txt").read_text())[0])

    def test_all_powers_of_a_tile_are_under_the_product(self):
        self.assertEqual(self.of("pingpong_64_sm_90a"), (64, 0))

    def test_a_wait_that_was_moved_up_is_seen(self):
        self.assertEqual(self.of("pingpong_64_moved_up_sm_90a"), (0, 64))


if __name__ == "__main__":
    unittest.main()
