"""Tests of figures: `python3 -m unittest discover -s common/tools/tests`, in the course's folder.

sass/*.txt are excerpts of real kernels, by nvdisasm: the instructions that are counted, without their
operands, and the branches that go back; for pingpong all branches and all that decides where they lead.
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

import compiled  # noqa: E402
import figures  # noqa: E402
import nvidia  # noqa: E402
import sass  # noqa: E402

USAGE = """Fatbin elf code:
================
arch = sm_90

Resource usage:
 Common:
  GLOBAL:0
 Function _Z8fa2_tileILi64EEv9attention13device_arrays:
  REG:254 STACK:0 SHARED:45056 LOCAL:0 CONSTANT[0]:792 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin elf code:
================
arch = sm_80

Resource usage:
 Common:
  GLOBAL:0
 Function _Z8fa2_tileILi64EEv9attention13device_arrays:
  REG:252 STACK:0 SHARED:44032 LOCAL:0 CONSTANT[0]:616 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def text_of(name):
    return (HERE / "sass" / f"{name}.txt").read_text()


def file_of(chapter, folder, name):
    return next(file for file in nvidia.files(chapter, folder) if file.name == name)


def run(*arguments):
    """The status, standard output and standard error of `course.py figures ARGUMENTS`."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = figures.main(list(arguments))
    return status, out.getvalue(), err.getvalue()


class Claims(unittest.TestCase):
    """What a kernel claims: its text as it is has nothing wrong, and with one change what is expected."""

    def wrong_06(self, change=lambda text: text, source=None):
        file = file_of("06", "2_tensor_cores", "exp2")
        file = file._replace(source=source or file.source)
        function, claims = sass.functions(change(text_of("exp2_128_sm_80")))[0], compiled.Claims()
        self.row = compiled.sass_row(file, "80", function, claims)
        return claims.wrong

    def wrong_hopper(self, change=lambda text: text, name="pingpong", text="pingpong_64_sm_90a"):
        function, claims = sass.functions(change(text_of(text)))[0], compiled.Claims()
        self.row = compiled.hopper_row(file_of("06", "3_hopper", name), function, claims)
        return claims.wrong

    def wrong_07(self, change=lambda text: text):
        function, claims = sass.functions(change(text_of("mma_tile_64_sm_90")))[0], compiled.Claims()
        self.row = compiled.backward_row(file_of("07", "2_tensor_cores", "mma"), "90", function, claims)
        return claims.wrong

    def wrong_hopper_07(self, change=lambda text: text, name="ordered"):
        function, claims = sass.functions(change(text_of("ordered_64_sm_90a")))[0], compiled.Claims()
        self.row = compiled.backward_hopper_row(file_of("07", "3_hopper", name), function, claims)
        return claims.wrong

    def refused(self, wrong, what):
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn(what, wrong[0])

    def test_real_kernels_have_what_they_claim_and_the_numbers_of_the_tables(self):
        self.assertEqual(self.wrong_06(), [])
        self.assertEqual(self.row[:9], ("exp2", 128, "80", 128, 16, 64, 32, 14, 20))
        self.assertEqual(self.wrong_hopper(), [])
        self.assertEqual(self.row[:9], ("pingpong", 64, "90a", 128, 128, 12, 2, 4, 66))
        self.assertEqual(self.row[11:13], ("24,240", 64))
        self.assertEqual(self.wrong_07(), [])
        self.assertEqual(compiled.words(self.row), "mma_tile 64 90 160 72 32 4")
        self.assertEqual(self.wrong_hopper_07(), [])
        self.assertEqual(compiled.words(self.row[:9]), "cuda_ordered 64 90a 32 4 26 64 2 4")

    def test_products(self):
        self.refused(self.wrong_06(without("HMMA")), "HMMA a tile, expected 64")
        self.refused(self.wrong_hopper(without("HGMMA", 9)), "11 HGMMA a tile, expected 12")
        self.refused(self.wrong_07(without("HMMA", 0)), "HMMA a tile, expected 160")
        self.refused(self.wrong_hopper_07(without("HGMMA")), "31 HGMMA, expected 32")

    def test_local_memory(self):
        for wrong in (self.wrong_06, self.wrong_hopper, self.wrong_07, self.wrong_hopper_07):
            for access in "LDL.LU.64 R2, [R1]", "STL [R1+0x4], R3":
                added = f"        /*fff0*/ {access} ;\n"
                self.refused(wrong(lambda text: text + added), "1 accesses to local memory")

    def test_asynchronous_copies_are_there_where_the_source_has_them_and_only_there(self):
        self.refused(self.wrong_06(without("LDGSTS", all)), "0 LDGSTS, expected some")
        self.refused(self.wrong_06(source="load_tile<SHAPE, rows>(K, …);"), "LDGSTS, expected none")
        self.refused(self.wrong_07(without("LDGSTS", all)), "0 LDGSTS, expected some")
        self.refused(self.wrong_hopper(without("UTMALDG")), "UTMALDG a tile, expected 2")
        self.refused(self.wrong_hopper(name="persistent"), "2 UTMALDG a tile, expected 3")
        self.assertIn("0 STSM, by which O leaves, expected some", "\n".join(self.wrong_hopper(name="store")))
        stored = "        /*fff0*/ STSM.16.M88.4 [R2], R4 ;\n        /*fff0*/ UTMASTG.3D [UR4], [UR8] ;\n"
        self.assertEqual(len(self.wrong_hopper(lambda text: text + stored)), 2)
        self.refused(self.wrong_hopper_07(without("UTMALDG", all)), "0 UTMALDG, expected some")

    def test_loads_of_matrices_and_powers(self):
        self.refused(self.wrong_06(without("LDSM", all)), "0 LDSM, expected some")
        self.refused(self.wrong_06(without("MUFU", all)), "0 MUFU, expected some")
        self.assertIn("0 MUFU, expected some", self.wrong_hopper(without("MUFU", all))[0])
        self.refused(self.wrong_hopper(without("SYNCS", all)), "0 mbarriers, expected some")
        self.refused(self.wrong_07(without("LDSM", 10)), "LDSM a tile, expected 72")
        self.refused(self.wrong_07(without("MUFU.EX2")), "31 MUFU.EX2 a tile, expected 32")
        self.refused(self.wrong_hopper_07(without("MUFU.EX2")), "63 MUFU.EX2, expected 64")
        self.refused(self.wrong_hopper_07(without("SYNCS", all)), "0 SYNCS, expected some")

    def test_atomic_additions(self):
        self.refused(self.wrong_07(without("RED")), "7 atomic additions in all, expected 8")
        self.refused(self.wrong_hopper_07(name="roles"), "2 atomic additions, expected 0")
        self.refused(self.wrong_hopper_07(without("UTMAREDG")), "3 boxes of dQ that are added (UTMAREDG), expected 4")
        self.assertIn("4 boxes of dQ that are added", "\n".join(self.wrong_hopper_07(name="wgmma")))
        added = "        /*fff0*/ UBLKRED.G.S.ADD.F32.RN [UR4], [UR6], UR8 ;\n"
        self.refused(self.wrong_hopper_07(lambda text: text + added), "1 additions of rows (UBLKRED), expected 0")

    def test_dQ_is_stored_while_dK_is_made(self):
        self.refused(self.wrong_hopper_07(without("STS.64")), "15 STS.64 of dQ between the wait for dQ and that for dK")
        without_the_last = "\n".join(self.wrong_hopper_07(without("WARPGROUP.DEPBAR.LE gsb0, 0x0")))
        self.assertIn("0 STS.64 of dQ between the wait", without_the_last)  # and a round has no end
        self.refused(self.wrong_hopper_07(lambda text: text.replace("gsb0, 0x1", "gsb0, 0x0")), "0 STS.64 of dQ between")

    def test_one_thread_issues_copies_and_the_compiler_knows_it(self):
        looped = " UTMALDG.3D ;\n.L_x_999:\n        /*fff0*/ @P0 BRA.U.ANY `(.L_x_999) ;"
        for wrong in self.wrong_hopper, self.wrong_hopper_07:
            self.refused(wrong(lambda text: text.replace(" UTMALDG.3D ;", looped, 1)), "1 loops over lanes, expected 0")

    def test_registers_and_turns(self):
        fewer = self.wrong_hopper(lambda text: text.replace("0xf0", "0xe8"))
        self.refused(fewer, "24,232 for setmaxnreg, expected 24,240")
        self.refused(self.wrong_hopper(without("BAR.", all)), "turns are not taken and given: 0 barriers")
        self.assertIn("24,240 for setmaxnreg, expected -", "\n".join(self.wrong_hopper(name="wgmma")))

    def test_nothing_is_called(self):
        added = "        /*fff0*/ CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath) ;\n"
        self.refused(self.wrong_hopper(lambda text: text + added), "1 calls, expected 0")

    def test_nothing_is_between_products_but_their_descriptions(self):
        def more(count):
            return lambda text: re.sub(r"(.*HGMMA.*\n)", r"\1" + count * "        /*fff0*/ UMOV UR5, 0x40000040 ;\n", text)
        self.assertEqual(self.wrong_hopper(more(4)), [])
        self.refused(self.wrong_hopper(more(5)), "5 instructions between one product of a group and the next")
        self.assertEqual(self.wrong_hopper_07(more(7)), [])
        self.refused(self.wrong_hopper_07(more(8)), "expected at most 7")

    def test_powers_are_under_the_product_where_the_source_waits_for_scores_alone(self):
        moved_up = self.wrong_hopper(text="pingpong_64_moved_up_sm_90a")
        self.assertEqual(len(moved_up), 2)
        self.assertIn("pingpong, d = 64, 128 keys, sm_90a: 0 EX2 between the wait for the scores and", moved_up[0])
        self.assertIn("the fewest, expected 64", moved_up[0])
        self.assertIn("64 EX2 of the loop after the wait for the product, expected 0", moved_up[1])
        self.assertIn("64 EX2 between the wait", "\n".join(self.wrong_hopper(name="roles")))
        self.assertIn("63 EX2 between the wait", "\n".join(self.wrong_hopper(without("MUFU.EX2"))))


def without(opcode, which=-1):
    """Leaves out one of the instructions with this opcode, the last, or all of them."""
    def change(text):
        lines = text.splitlines(keepends=True)
        places = [k for k, line in enumerate(lines) if f" {opcode}" in line]
        gone = set(places if which is all else [places[which]])
        return "".join(line for k, line in enumerate(lines) if k not in gone)
    return change


class Order(unittest.TestCase):
    """The command: wrong with the nvcc of the committed tables, reported with another."""

    def order(self, version, wrong=(), accepted=""):
        with mock.patch.object(nvidia, "version", return_value=version), \
                mock.patch.object(compiled, "orders", lambda chapter: list(wrong) if chapter == "06" else []), \
                mock.patch.object(compiled, "accepted", return_value=accepted):
            return run("order")

    def test_an_order_that_is_not_as_claimed_is_wrong_or_with_another_nvcc_reported(self):
        self.assertEqual(self.order("13.0"), (0, "", ""))
        self.assertEqual(self.order("13.0", ["overlap: 0 EX2"]), (1, "", "overlap: 0 EX2\n"))
        status, out, err = self.order("13.1", ["overlap: 0 EX2"])
        self.assertEqual((status, out, err), (0, "reported, as nvcc is 13.1 and not 13.0: overlap: 0 EX2\n", ""))
        self.assertEqual(self.order("")[:2], (0, "skipped: the order in machine code: no nvcc here\n"))

    def test_a_wrong_version_that_is_accepted_is_wrong(self):
        self.assertEqual(self.order("13.0", accepted="overlap_late: its machine code is not rejected")[0], 1)

    def test_every_wrong_version_is_one_of_a_kernel(self):
        self.assertTrue(compiled.wrong_orders())
        for file, name in compiled.wrong_orders():
            self.assertTrue((file.parents[1] / "kernels/3_hopper" / f"{name.split('_')[0]}.cu").exists())

    def test_all_kernels_and_types_are_looked_at(self):
        function = sass.functions(text_of("pingpong_64_moved_up_sm_90a"))[0]
        file = file_of("06", "3_hopper", "pingpong")
        self.assertEqual(len(compiled.order_wrong(file, [function, function])), 4)
        with mock.patch.object(nvidia, "code", return_value=[function]):
            with self.assertRaisesRegex(nvidia.Failed, "expected bfloat16 and float16, d = 64 and 128"):
                compiled.orders("06")


class Text(unittest.TestCase):
    def test_a_loop_goes_back_to_a_label_before_it_with_no_exit_between(self):
        text = """.text._Z4loopILi64EEv1a:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/              @!P0 BRA `(.L_x_2) ;
        /*0020*/                   FADD R2, R2, R3 ;
        /*0030*/              @UP0 BRA `(.L_x_1) ;
.L_x_2:
        /*0040*/                   EXIT ;
        /*0050*/                   BRA `(.L_x_1) ;
"""
        function = sass.functions(text)[0]
        self.assertEqual((function.name, function.type, function.numbers), ("loop", "", [64]))
        self.assertEqual(function.loops, [(1, 3)])
        self.assertEqual(function.count("FADD", within=(1, 3)), 1)
        self.assertEqual(function.count("BRA"), 3)
        self.assertIsNone(function.densest("HMMA"))

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
        of = {"_Z12naive_scores9attention13device_arrays": ("naive_scores", "", []),
              f"_Z8mma_tileI13__nv_bfloat16{shape}Ev9attention": ("mma_tile", "bfloat16", [64, 32, 2, 4, 1]),
              f"_Z8mma_tileI6__half{shape}Ev9attention": ("mma_tile", "float16", [64, 32, 2, 4, 1]),
              "_Z9D_of_rowsIfEv9attentionPKT_S3_Pf": ("D_of_rows", "float32", [])}
        for symbol, parts in of.items():
            self.assertEqual(sass.parts_of(symbol), parts)

    def test_resources_are_without_what_the_driver_takes_and_spills_are_wrong(self):
        file = file_of("06", "1_float32", "fa2")
        with mock.patch.object(nvidia, "tool"), mock.patch.object(nvidia, "output_of") as cuobjdump, \
                mock.patch.object(nvidia, "files", return_value=[file]):
            cuobjdump.return_value = USAGE
            lines, wrong = compiled.resources_06("9.9")
            self.assertEqual(lines[2:], ["fa2_tile 64 90 - 128 254 44032 2 8 64 registers 0"])
            self.assertEqual(wrong, [])
            cuobjdump.return_value = USAGE.replace("STACK:0", "STACK:8", 1)
            for maker in compiled.resources_06, compiled.resources_07:
                wrong = maker("9.9")[1]
                self.assertEqual(len(wrong), 1)
                self.assertIn("spills: fa2_tile 64 90", wrong[0])

    def test_blocks_fit_as_registers_shared_memory_and_warps_leave_room(self):
        self.assertEqual(compiled.occupancy(256, 32, 0), (8, "warps"))
        self.assertEqual(compiled.occupancy(128, 252, 44032), (2, "registers"))
        self.assertEqual(compiled.occupancy(128, 32, 160000), (1, "shared-memory"))
        self.assertEqual(compiled.occupancy(32, 32, 0), (32, "blocks"))


class Command(unittest.TestCase):
    def check(self, lines, wrong=(), version="13.0", mode="check"):
        with mock.patch.dict(figures.MAKERS, {"07/sass": lambda version: (lines, list(wrong))}), \
                mock.patch.object(nvidia, "version", return_value=version):
            return run(mode, "07/sass")

    def test_check_holds_the_committed_table_to_what_is_made_now(self):
        lines = figures.path_of("07/sass").read_text().splitlines()
        self.assertEqual(self.check(lines), (0, "", ""))
        status, out, _ = self.check(lines[:-1] + ["split_keys 64 80 129 48 32 0"])
        self.assertEqual(status, 1)
        self.assertIn("stale: 07_backward/results/sass.txt", out)
        self.assertIn("+split_keys 64 80 129 48 32 0", out)

    def test_what_is_wrong_fails_and_is_not_written(self):
        before = figures.path_of("07/sass").read_text()
        self.assertEqual(self.check([], ["mma: 1 LDL"], mode="make"), (1, "", "mma: 1 LDL\n"))
        self.assertEqual(figures.path_of("07/sass").read_text(), before)

    def test_another_nvcc_is_skipped_and_none_makes_no_table(self):
        self.assertIn("is of nvcc 13.0, and here is none", self.check([], version="")[1])
        self.assertIn("is of nvcc 13.0, and here is 9.1", self.check([], version="9.1")[1])
        self.assertEqual(self.check([], version="", mode="make")[0], 2)

    def test_a_table_is_markdown_of_one_gpu(self):
        status, out, _ = run("table", "07/sass", "90")
        self.assertEqual(status, 0)
        self.assertIn("| kernel | d | `HMMA` | `LDSM` | `MUFU.EX2` | `RED` |\n|---|---|---|---|", out)
        self.assertIn("| `mma_tile/16` | 128 | 80 | 64 | 8 | 2 |\n", out)
        self.assertNotIn("| 8 | 8 |", out)

    def test_a_wrong_call_names_what_was_expected(self):
        for arguments in ((), ("chek",), ("check", "08/sass"), ("table",)):
            status, out, err = run(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("figures: expected make, check, order, table, ", err)


if __name__ == "__main__":
    unittest.main()
