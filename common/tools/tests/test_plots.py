import contextlib
import io
import os
import unittest
from pathlib import Path
from unittest import mock

from folder import InAFolder  # sets sys.path

import diagrams
import plot_data
import plots
import timeline

GPU = """# machine: A GPU, 1.2: name, driver
chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error
07,cuda_recompute,f32,4,16,4096,64,0,backward,gpu,9,1000,0.1,,1e-4
07,cuda_mma,bf16,4,32,4096,64,0,backward,gpu,9,2000,0.1,,1e-4
07,cuda_wgmma,bf16,4,32,4096,64,0,backward,gpu,9,3000,0.1,,1e-4
07,cuda_bulk,bf16,4,32,4096,64,0,backward,gpu,9,4000,0.1,,1e-4
07,cuda_complete,bf16,4,32,4096,64,0,backward,gpu,9,5000,0.1,,1e-4
07,cuda_gone,bf16,4,32,4096,64,0,backward,gpu,9,6000,0.1,,1e-4
07,cuda_mma,bf16,4,32,4096,64,1,backward,gpu,9,9000,0.1,,1e-4
07,cuda_mma,bf16,4,32,4096,128,0,backward,gpu,9,9000,0.1,,1e-4
07,cuda_bulk,bf16,4,32,8192,128,0,backward,gpu,9,7000,0.1,,1e-4
07,cuda_bulk,bf16,4,32,16384,128,0,backward,gpu,9,9000,0.1,,1e-4
07,pytorch flash,bf16,4,32,4096,128,0,backward,gpu,9,9000,,,
07,pytorch math,bf16,4,32,4096,64,0,backward,gpu,9,9000,,,
07,pytorch cudnn,bf16,4,32,4096,64,0,backward,gpu,9,8000,,,
"""


class Plots(InAFolder):
    def program(self, name, text):
        Path("build").mkdir(exist_ok=True)
        Path(f"build/{name}").write_text("#!/bin/sh\n" + text, encoding="utf-8")
        Path(f"build/{name}").chmod(0o755)
        return plot_data.Programs("build", ".")


class Numbers(Plots):
    def test_a_gpus_ladder_has_the_longest_problems_in_16_bits_and_nothing_that_was_not_measured(self):
        Path("gpu.csv").write_text(GPU, encoding="utf-8")
        kernels = ["cuda_mma", "cuda_wgmma", "cuda_bulk", "cuda_complete"]
        self.assertEqual(plot_data.gpu_lines(Path("gpu.csv"), kernels),
                         ["# A GPU", "#N 128 8192", "#N 64 4096", "# 64 cudnn 8", "1 cuda_mma NaN 2 1",
                          "2 cuda_wgmma NaN 3 2", "3 cuda_bulk 7 4 2", "4 cuda_complete NaN 5 3"])
        Path("sass.txt").write_text("cuda_bulk 64 90a 0a\n")
        self.assertIn("3 cuda_bulk* 7 4 2", plot_data.gpu_lines(Path("gpu.csv"), kernels))
        self.assertEqual(plot_data.gpu_lines(Path("nowhere.csv"), kernels), [])

    def test_running_statistics_are_the_lines_of_the_trace(self):
        programs = self.program("03_online_softmax", 'echo "Trace  b"\necho " 1 0.5 0.5 1 l = 1"\necho " 2 0.1 0.5 1.67 l = 1"\n')
        self.assertEqual(plot_data.running_statistics(programs), ["1 0.5 0.5 1", "2 0.1 0.5 1.67"])

    def test_a_program_that_fails_is_named_with_what_it_printed(self):
        programs = self.program("03_online_softmax", "echo no memory >&2\nexit 1\n")
        with self.assertRaisesRegex(plot_data.Failed, r"build/03_online_softmax --rows 1 .*status 1\nno memory"):
            plot_data.running_statistics(programs)

    def test_the_swizzle_is_an_exclusive_or(self):
        self.assertIn("17 1 6", plot_data.swizzle(None))
        self.assertEqual(len(set(plot_data.swizzle(None))), 128)

    def test_each_lane_has_eight_scores_of_the_transposed_gradient(self):
        lines = [tuple(map(int, line.split())) for line in plot_data.dS(None)]
        self.assertEqual(sum(mine for x, _, _, mine in lines if x < 20), 8)
        self.assertEqual({(x, y) for x, y, _, _ in lines if x < 20}, {(x, y) for x in range(16) for y in range(16)})


class Timeline(unittest.TestCase):
    def test_warps_of_a_warpgroup_are_one_box_and_products_are_named_in_turn(self):
        def event(unit, warp, number, label, begin, end, place="1"):
            return ["0", unit, str(warp), str(number), label, str(begin), str(end), "4096", place]

        boxes = timeline.boxes_of([event("copies", 0, 0, "K", 10, 20), event("tensor cores", 4, 1, "x", 20, 30),
                                   event("tensor cores", 5, 1, "x", 21, 33), event("tensor cores", 4, 2, "x", 40, 50)])
        self.assertEqual([(box.row, box.begin, box.end, box.turn) for box in boxes],
                         [("copies", 0, 10, 0), ("tensor cores 2", 10, 23, 0), ("tensor cores 2", 30, 40, 1)])

    def test_copies_that_overlap_are_one_box_with_both_names(self):
        boxes = timeline.boxes_of([["0", "copies", "0", str(k), name, str(10 + k), "20", "4096", "1"] for k, name in enumerate("KV")])
        self.assertEqual([box.label for box in boxes], ["K V"])


class Diagrams(unittest.TestCase):
    def test_pictures_show_what_they_compute(self):
        softmax = "".join(diagrams.softmax(None)[2])
        self.assertEqual([weight in softmax for weight in ("0.03", "0.09", "0.24", "0.64")], [True] * 4)
        self.assertIn("m = 4, l = 1.5530", diagrams.svg(diagrams.merge, None))


class Pictures(Plots):
    def check(self, arguments, **patched):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            for name, value in patched.items():
                stack.enter_context(mock.patch.object(plots, name, value))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(err))
            status = plots.all_pictures("build", *arguments) if arguments else plots.main(["paint", "build"])
        return status, out.getvalue(), err.getvalue()

    def both(self, draw, version="gnuplot 5"):
        return self.check((draw, version), diagrams=mock.Mock(PICTURES={}), animated=lambda programs: "<svg/>", ANIMATED="moving.svg",
                          pictures=lambda: [("0a.svg", "a.gp", lambda programs: ["1 2"])],
                          drawn=lambda script, data: f"{script} of {data.read_text()}<!-- gnuplot 5 -->\n")

    def test_a_stale_picture_is_named_and_then_drawn(self):
        self.assertEqual(self.both(True)[:2], (True, "drew moving.svg\ndrew 0a.svg\n"))
        os.mkdir("0x")
        Path("0x/p.svg").write_text("<!-- gnuplot 5 -->\n", encoding="utf-8")
        self.assertEqual(self.both(False)[:2], (True, ""))
        Path("0a.svg").write_text("other", encoding="utf-8")
        self.assertEqual(self.both(False)[:2], (False, "stale: 0a.svg (make plots draws it)\n"))
        self.assertEqual(Path("0a.svg").read_text(encoding="utf-8"), "other")

    def test_another_gnuplot_checks_the_animated_picture_alone(self):
        os.mkdir("0x")
        Path("0x/p.svg").write_text("<!-- gnuplot 5 -->\n", encoding="utf-8")
        Path("moving.svg").write_text("<svg/>", encoding="utf-8")
        self.assertEqual(self.both(False, "gnuplot 6")[:2],
                         (True, "skipped: the pictures were drawn by gnuplot 5, and this is gnuplot 6\n"))

    def test_a_picture_of_an_idea_is_named_too(self):
        picture = mock.Mock(PICTURES={"a/merge.svg": diagrams.merge}, svg=diagrams.svg)
        nothing = {"diagrams": picture, "pictures": lambda: [], "animated": lambda programs: "", "ANIMATED": "0.svg"}
        Path("0.svg").write_text("", encoding="utf-8")
        self.assertEqual(self.check((False, "gnuplot 5"), **nothing)[1].splitlines()[0], "stale: a/merge.svg (make plots draws it)")
        self.assertEqual(self.check((True, "gnuplot 5"), **nothing)[1], "drew a/merge.svg\n")
        self.assertIn("m = 4, l = 1.5530", Path("a/merge.svg").read_text(encoding="utf-8"))

    def test_a_program_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(plot_data.Failed, "nowhere/04_flash_no_tiling: expected the chapter's program; make builds it"):
            diagrams.accesses(plot_data.Programs("nowhere", "."))

    def test_a_wrong_call_is_refused(self):
        status, out, err = self.check(())
        self.assertEqual((status, out), (2, ""))
        self.assertIn("plots: expected draw or check", err)


if __name__ == "__main__":
    unittest.main()
