"""sass/*.txt are excerpts of real kernels by nvdisasm, with all branches and their conditions. pingpong is there
unchanged, and with one wait that ptxas 13.0 moved up.
"""
import contextlib
import io
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import figures  # noqa: E402
import sass  # noqa: E402
from measured import Failed, home_of  # noqa: E402

SCORES, PRODUCT, EX2, STORE = f"{sass.ALL_BUT_ONE} ;", f"{sass.ALL} ;", "MUFU.EX2 R1, R1 ;", "STS.64 [R1], R2 ;"
LAST = "HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0 ;"


def function(*lines, symbol="_Z4loopILi64EEv1a", of=("06", "3_hopper")):
    text = "".join(f"{line}\n" if line.startswith(".") else f"        /*00f0*/            {line} ;\n" for line in lines)
    return sass.functions(f".text.{symbol}:\n{text}", *of)[0]


def loop(*body, after=()):
    """A loop with a product and these lines, and others after the kernel's end."""
    return function("BSSY B0, `(.L_end)", ".L_loop:", "HGMMA.64x128x16.F32 R24", *body, "@P0 BRA `(.L_loop)", ".L_end:",
                    "EXIT", *after)


def run(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = figures.main(list(arguments))
    return status, out.getvalue(), err.getvalue()


class Ways(unittest.TestCase):
    def under(self, fewest, *body, after=(), opcode="MUFU.EX2"):
        self.assertEqual(sass.under_a_product(loop(*body, after=after), opcode), fewest, body)

    def test_what_is_between_the_waits_counts(self):
        self.under(2, SCORES, EX2, EX2, PRODUCT)
        self.under(1, EX2, SCORES, EX2, PRODUCT, EX2)
        self.under(0, SCORES, PRODUCT, EX2, EX2)
        self.under("-", EX2, PRODUCT)
        self.under(2, SCORES, STORE, SCORES, STORE, STORE, PRODUCT, opcode="STS.64")
        self.under(0, SCORES, "STS [R1], R2", PRODUCT, STORE, opcode="STS.64")

    def test_of_two_ways_the_one_with_fewer_counts(self):
        self.under(1, SCORES, EX2, "@!P1 BRA `(.L_x)", EX2, ".L_x:", PRODUCT)
        self.under(1, SCORES, EX2, "BRA.U !UP0, `(.L_x)", EX2, ".L_x:", PRODUCT)
        self.under(1, SCORES, "BRA `(.L_x)", EX2, ".L_x:", EX2, PRODUCT)
        self.under(1, SCORES, "@!PT BRA `(.L_x)", EX2, ".L_x:", PRODUCT)  # never taken

    def test_a_wait_in_each_arm_is_after_the_powers_and_one_that_is_before_the_branch_is_not(self):
        arms = ("@P1 BRA `(.L_x)", PRODUCT, "BRA `(.L_y)", ".L_x:", PRODUCT, ".L_y:", "NOP")
        self.under(2, SCORES, EX2, EX2, *arms)
        self.under(0, SCORES, PRODUCT, EX2, EX2, *arms)

    def test_a_way_past_the_wait_for_the_product_has_nothing_under_it(self):
        self.under(0, SCORES, EX2, "@P1 BRA `(.L_x)", PRODUCT, ".L_x:", "NOP")
        self.under(0, SCORES, EX2, "@P1 BRA `(.L_end)", PRODUCT)

    def test_what_has_a_predicate_does_not_count(self):
        self.under(1, SCORES, EX2, f"@P1 {EX2}", PRODUCT)
        self.under(1, SCORES, f"@PT {EX2}", PRODUCT)

    def test_threads_that_diverged_go_on_where_the_barrier_ends(self):
        self.under(1, SCORES, "BSSY B1, `(.L_x)", "@P1 BRA `(.L_y)", EX2, "BSYNC B1", ".L_y:", EX2, EX2, "BSYNC B1",
                   "BRA `(.L_end)", ".L_x:", PRODUCT)

    def test_a_wait_after_the_code_comes_back(self):
        spins = (".L_spins:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R4], R5", "@!P1 BRA `(.L_spins)", "BRA `(.L_back)")
        self.under(2, SCORES, EX2, "@!P1 BRA `(.L_spins)", ".L_back:", EX2, PRODUCT, after=spins)
        meets = (".L_meets:", "WARPSYNC.COLLECTIVE R15, `(.L_met)", ".L_met:", "SHFL.BFLY PT", "BRA `(.L_back)")
        self.under(1, SCORES, EX2, "BRA.DIV UR4, `(.L_meets)", ".L_back:", PRODUCT, after=meets)

    def test_machine_code_that_cannot_be_followed_is_refused(self):
        for branch in ("BRX R2 -0x100", "BRA `(.L_nowhere)"):
            with self.assertRaisesRegex(Failed, "leads to no label"):
                self.under(0, SCORES, EX2, branch, PRODUCT)

    def test_a_round_is_as_long_as_its_shortest_way(self):
        self.assertEqual(sass.in_a_round(loop("NOP", SCORES, "@P1 NOP", PRODUCT), ""), 4)
        branch = loop("BAR.SYNC 0x1", "@P1 BRA `(.L_x)", "BAR.SYNC 0x1", ".L_x:", PRODUCT)
        self.assertEqual([sass.in_a_round(branch, opcode) for opcode in ("", "BAR.SYNC", "EXIT")], [3, 1, 0])

    def test_a_group_of_products_is_described_anew_if_most_have_more_than_four_instructions_before_the_next(self):
        for groups, body in ((0, 4 * ["NOP"] + [LAST]), (1, 5 * ["NOP"] + [LAST]), (0, [LAST, *5 * ["NOP"], LAST]),
                             (0, [*9 * ["NOP"], LAST.replace(", gsb0", ""), LAST])):
            self.assertEqual(sass.described_anew(loop(*body), ""), groups)
        self.assertEqual(sass.described_anew(loop(after=(*9 * ["NOP"], LAST)), ""), 0)


def add(*instructions):
    return lambda text: text + "".join(f"        /*fff0*/ {instruction} ;\n" for instruction in instructions)


def without(opcode, which=slice(-1, None)):
    """Removes instructions with this opcode: the last, or a slice."""
    def change(text):
        lines = text.splitlines(keepends=True)
        gone = {id(line) for line in [line for line in lines if f" {opcode}" in line][which]}
        return "".join(line for line in lines if id(line) not in gone)
    return change


def replace(old, new, count=-1):
    return lambda text: text.replace(old, new, count)


ALL = slice(None)


class Claims(unittest.TestCase):
    """Real kernels have no violations, and with one change the expected ones."""

    def wrong(self, name, change=lambda text: text, of=""):
        text = change((HERE / "sass" / f"{name}_sm_90a.txt").read_text())
        kernel = sass.functions(text, "07" if name.startswith("ordered") else "06", "3_hopper")[0]
        kernel.name = of or kernel.name
        return sass.wrong([kernel])

    def refused(self, wrong, *what):
        self.assertEqual(len(wrong), len(what), wrong)
        for line, words in zip(wrong, what):
            self.assertIn(words, line)

    def test_real_kernels_have_what_they_claim(self):
        self.assertEqual(self.wrong("pingpong_64"), [])
        self.assertEqual(self.wrong("ordered_64"), [])

    def test_a_wait_that_was_moved_up_is_seen(self):
        self.refused(self.wrong("pingpong_64_moved_up"),
                     "06 hopper pingpong_tile, bfloat16, d = 64: 0 MUFU.EX2 under a product, expected 64")

    def test_one_change_is_refused(self):
        looped = replace(" UTMALDG.3D ;", " UTMALDG.3D ;\n.L_x_999:\n        /*fff0*/ @P0 BRA.U.ANY `(.L_x_999) ;", 1)
        for change, *what in (
                (add("LDL.LU.64 R2, [R1]"), "1 LDL|STL in the code, expected 0"),
                (add("STL [R1+0x4], R3"), "1 LDL|STL in the code, expected 0"),
                (add("CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath)"), "1 CALL in the code"),
                (add("UTMASTG.3D [UR4], [UR8]"), "1 STSM|UTMASTG in the code, expected 0"),
                (looped, "1 BRA.U.ANY in the code, expected 0"),
                (without("HGMMA", slice(9, 10)), "11 HGMMA a tile, expected 12"),
                (without("UTMALDG", ALL), "0 UTMALDG in the code, expected some"),
                (without("SYNCS", ALL), "0 SYNCS a tile, expected some"),
                (without("USETMAXREG", ALL), "0 USETMAXREG in the code, expected some"),
                (without("MUFU.EX2"), "63 MUFU.EX2 under a product, expected 64"),
                (without("BAR.ARV", ALL), "0 BAR.ARV a tile, expected some"),
                (lambda text: re.sub(r"(.*HGMMA.*\n)", r"\1" + 5 * "        /*fff0*/ NOP ;\n", text),
                 "1 HGMMA groups described anew, expected 0")):
            with self.subTest(what):
                self.refused(self.wrong("pingpong_64", change), *what)

    def test_one_change_is_refused_in_the_backward_pass(self):
        for change, *what in (
                (add("LDL.LU.64 R2, [R1]"), "1 LDL|STL in the code, expected 0"),
                (add("UBLKRED.G.S.ADD.F32.RN [UR4], [UR6], UR8"), "1 UBLKRED in the code, expected 0"),
                (add("RED.E.ADD.F32 [R2], R4"), "3 RED|REDG|ATOMG|ATOM in the code, expected 2"),
                (without("MUFU.EX2"), "63 MUFU.EX2 a tile, expected 64"),
                (without("UTMAREDG"), "3 UTMAREDG in the code, expected 4"),
                (without("STS.64"), "15 STS.64 under a product, expected 16"),
                (replace("gsb0, 0x1", "gsb0, 0x0"), "- STS.64 under a product, expected 16"),
                (replace("gsb0, 0x1 ;", "gsb0, 0x1 ;\n        /*fff0*/ BAR.SYNC 0x1 ;", 1),
                 "2 BAR.SYNC in a round, expected 1", "3 BAR.SYNC a tile, expected 2")):
            with self.subTest(what):
                self.refused(self.wrong("ordered_64", change), *what)

    def test_what_a_kernel_has_another_does_not_claim(self):
        self.refused(self.wrong("pingpong_64", of="roles_tile"), "64 MUFU.EX2 under a product, expected -")
        self.refused(self.wrong("pingpong_64", of="store_tile"), "0 STSM in the code", "0 UTMASTG in the code")
        self.assertIn("4 UTMAREDG in the code, expected 0", "\n".join(self.wrong("ordered_64", of="wgmma_tile")))
        self.refused(self.wrong("ordered_64", of="roles_tile"), "2 RED|REDG|ATOMG|ATOM in the code, expected 0")

    def test_kernels_with_mma(self):
        lines = [".L_t:", "LDSM.16.M88.4 R4, [R2]", "HMMA.16816.F32 R4", EX2, "LDGSTS.E.128 [R2], [R4]", "@P0 BRA `(.L_t)"]

        def wrong(name, *lines, chapter="06"):
            symbol = f"_Z{len(name)}{name}I13__nv_bfloat1612tensor_shapeILi64ELi64ELi2ELi4ELi1EEEv9attention"
            return sass.wrong([function(*lines, symbol=symbol, of=(chapter, "2_tensor_cores"))])
        self.assertEqual(wrong("exp2_tile", *lines), [])
        self.assertEqual(wrong("split_keys", *lines, chapter="07"), [])
        for k, opcode in enumerate(("LDSM", "HMMA", "MUFU.EX2", "LDGSTS"), 1):
            found = "\n".join(wrong("exp2_tile", *lines[:k], *lines[k + 1:]))
            self.assertRegex(found, f"0 {opcode} (a tile|in the code), expected some")
        self.refused(wrong("mma_tile", *lines), "1 LDGSTS in the code, expected 0")
        self.refused(wrong("mma_tile", *lines, chapter="07"), "0 RED|REDG|ATOMG|ATOM a tile, expected some")
        added = wrong("split_keys", *lines, "REDG.E.ADD.F32 [R2], R4", chapter="07")
        self.refused(added, "1 RED|REDG|ATOMG|ATOM in the code, expected 0")

    def test_a_slice_is_asked_for_before_the_products(self):
        load, add, store, barrier = "LDG.E.128 R4, [R2]", "FFMA R8, R8, R9, R8", "STS.128 [R1], R4", "BAR.SYNC 0x0"

        def wrong(*lines, name="ahead_tile"):
            return sass.wrong([function(*lines, symbol=f"_Z{len(name)}{name}ILi64EEv9attention", of=("06", "1_float32"))])
        before = [load, barrier, store, barrier]
        self.assertEqual(wrong(*before, load, add, add, barrier, store), [])
        self.assertEqual(wrong(*before, add, load, barrier, store, name="fa2_tile"), [])
        self.refused(wrong(*before, add, load, barrier, store), "0 FFMA since a load, expected some")
        self.refused(wrong(*before, load, add, barrier, load, store, barrier, store, name="ahead_tile"), "0 FFMA since a load")

    def test_every_wrong_version_is_one_of_a_kernel(self):
        versions = sass.wrong_versions()
        self.assertIn("overlap_wait_moved_up", [name for _, name in versions])
        for file, name in versions:
            self.assertTrue((file.parents[1] / "kernels/3_hopper" / f"{name.split('_')[0]}.cu").exists())
        with mock.patch.object(sass, "breaks", lambda file, name: [] if name == versions[1][1] else ["broken"]):
            self.assertEqual(sass.accepted(), [f"{versions[1][0]}: {versions[1][1]}: no claim is broken"])


class Text(unittest.TestCase):
    def test_a_loop_goes_back_to_a_label_before_it_with_no_exit_between(self):
        f = function("MOV R1, c[0x0][0x28]", ".L_x_1:", "@!P0 BRA `(.L_x_2)", "FADD R2, R2, R3", "@UP0 BRA `(.L_x_1)",
                     ".L_x_2:", "EXIT", "BRA `(.L_x_1)")
        self.assertEqual((f.name, f.type, f.d, f.loops), ("loop", "", 64, [(1, 3)]))
        self.assertEqual((f.places("FADD", (1, 3)), f.places("BRA|EXIT"), f.tiles), ([2], [1, 3, 4, 5], (1, 3)))

    def test_an_inner_loop_with_products_runs_twice_a_tile_and_what_follows_one_over_keys_is_no_whole_tile(self):
        f = function(".L_t:", "HMMA.1 R", ".L_k:", "LDSM.16.MT88.4 R", "HMMA.1 R", "@P0 BRA `(.L_k)", "HMMA.1 R",
                     "REDG.E.ADD R", "HMMA.1 R", "@P1 BRA `(.L_t)")
        self.assertEqual(f.times, [1, 2, 2, 2, 0, 1, 1, 1])

    def test_a_checksum_is_of_instructions_and_of_where_branches_lead(self):
        text = """.text._Z4loopILi64EEv1a:
.L_x_7:
        /*0010*/              @!P0 BRA `(.L_x_7) ;
        /*0020*/                   RET.REL.NODEC R18 `(_Z4loopILi64EEv1a) ;
"""
        first = sass.functions(text)[0].checksum()
        self.assertEqual(first, sass.functions(text.replace("x_7", "x_8").replace("loop", "pool"))[0].checksum())
        self.assertRegex(first, "^[0-9a-f]{8}$")
        for old, new in ("@!P0", "@P0"), ("R18", "R16"), ("        /*0010*/", "  /*0000*/ NOP ;\n  /*0010*/"):
            self.assertNotEqual(first, sass.functions(text.replace(old, new))[0].checksum())

    def test_a_symbol_is_a_name_a_type_and_numbers(self):
        shape = "12tensor_shapeILi64ELi32ELi2ELi4ELi1EE"
        for symbol, parts in {"_Z12naive_scores9attention13device_arrays": ("naive_scores", "", []),
                              f"_Z8mma_tileI13__nv_bfloat16{shape}Ev9a": ("mma_tile", "bfloat16", [64, 32, 2, 4, 1]),
                              f"_Z8mma_tileI6__half{shape}Ev9attention": ("mma_tile", "float16", [64, 32, 2, 4, 1]),
                              "_Z9D_of_rowsIfEv9attentionPKT_S3_Pf": ("D_of_rows", "float32", [])}.items():
            self.assertEqual(sass.parts_of(symbol), parts)


class Command(unittest.TestCase):
    def run_with(self, mode, version="13.0", wrong=(), accepted=(), change=lambda text: text):
        texts = {chapter: change(figures.path_of(chapter).read_text()) for chapter in sass.CHAPTERS}
        with mock.patch.multiple(sass, made=lambda: [], wrong=lambda fs: list(wrong), accepted=lambda: list(accepted),
                                 nvdisasm=lambda: "", output_of=lambda *command: f"release {version},"), \
                mock.patch.object(figures, "text_of", lambda chapter, *_: texts[chapter]):
            return run(mode)

    def test_check_holds_the_committed_tables_to_what_is_made_now(self):
        self.assertEqual(self.run_with("check"), (0, "", ""))
        status, out, _ = self.run_with("check", change=replace("split_keys 64 90 254", "split_keys 64 90 255"))
        self.assertEqual(status, 1)
        self.assertIn("stale: 07_backward/results/sass.txt", out)
        self.assertIn("+split_keys 64 90 255 ", out)

    def test_what_is_wrong_fails_and_is_not_written(self):
        before = figures.path_of("07").read_text()
        self.assertEqual(self.run_with("check", wrong=["mma: 1 LDL"]), (1, "", "mma: 1 LDL\n"))
        self.assertEqual(self.run_with("check", accepted=["overlap_late: not rejected"])[0], 1)
        self.assertEqual(self.run_with("make", wrong=["mma: 1 LDL"], change=lambda text: "")[0], 1)
        self.assertEqual(figures.path_of("07").read_text(), before)

    def test_with_another_nvcc_it_is_reported_and_without_one_skipped(self):
        status, out, err = self.run_with("check", "13.1", ["overlap: 0 EX2"], change=lambda text: "")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("skipped: the tables are of nvcc 13.0, and here is 13.1\nreported, as nvcc is 13.1: overlap: 0 EX2\n", out)
        with mock.patch.object(sass, "NVCC", "no-nvcc"):
            self.assertEqual(run("check")[:2], (0, "skipped: no-nvcc: No such file or directory\n"))
            self.assertEqual(run("make")[0], 2)

    def test_a_table_is_markdown_of_the_rows_that_are_asked_for(self):
        status, out, _ = run("table", "07", "split_|mma_", "registers")
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("| kernel | d | `HMMA` | `LDSM` | `MUFU.EX2` | `RED` |\n|---|---|---|---|---|---|\n"))
        self.assertIn("| `mma_tile/16` | 128 | 80 | 64 | 8 | 2 |\n", out)
        self.assertNotIn("complete", out)
        self.assertIn("| 128, 128 | 168 | 12 | 2 | 2 | 66 | 316 | 263 | – |\n", run("table", "06", "roles 64")[1])

    def test_a_wrong_call_names_what_was_expected(self):
        for arguments in ((), ("chek",), ("check", "07"), ("table", "06")):
            status, out, err = run(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("figures: expected make, check, table, ", err)

    def test_a_file_without_all_shapes_is_refused(self):
        source = home_of("06") / "kernels/3_hopper/pingpong.cu"
        text = "\t.target\tsm_90a\n" + (HERE / "sass/pingpong_64_sm_90a.txt").read_text()
        with mock.patch.multiple(sass, nvdisasm=lambda: "", output_of=lambda *command: text), \
                mock.patch.object(Path, "read_text", lambda path: ""), \
                self.assertRaisesRegex(Failed, "two types and two d"):
            sass.made_of(source)


if __name__ == "__main__":
    unittest.main()
