import contextlib
import io
import os
import unittest
from pathlib import Path
from unittest import mock

from folder import InAFolder  # sets sys.path

import diagrams
import figures
import measured
import plots

NAMES = ("chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops,peak_fraction,"
         "ratio_previous,max_abs_error\n")
# On one GPU the middle kernel is fastest without a mask and the last with one, PyTorch's second backend always leads,
# and only PyTorch has N = 256; the other GPU is always faster.
ONE = """# machine: A GPU, 1.2: name, driver
# toolkit: nvcc 9, PyTorch 8
# command: make bench-06, 2026-01-02, at commit abc
# PyTorch: an hour before
# ratio_previous: of what
""" + NAMES + """06,mma,bf16,4,32,128,64,0,forward,gpu,9,50000,0.1,,1e-4
06,quick,bf16,4,32,128,64,0,forward,gpu,1,400000,0.1,8,1e-4
06,complete,bf16,4,32,128,64,0,forward,gpu,2,200000,0.1,0.5,1e-4
06,mma,bf16,4,32,128,64,1,forward,gpu,9,50000,0.1,,1e-4
06,complete,bf16,4,32,128,64,1,forward,gpu,2,99940,0.1,0.5,1e-4
06,pytorch math,bf16,4,32,128,64,0,forward,gpu,90,5000,,,
06,pytorch cudnn,bf16,4,32,128,64,0,forward,gpu,2,320000,,0.2,
06,pytorch math,bf16,4,32,128,64,1,forward,gpu,90,5000,,,
06,pytorch cudnn,bf16,4,32,128,64,1,forward,gpu,2,199880,,0.2,
06,pytorch flash,bf16,4,32,128,64,1,forward,gpu,2,99950,,0.2,
06,pytorch cudnn,bf16,4,32,256,64,1,forward,gpu,2,300000,,,
"""
TWO = "# machine: Another GPU, 1.2: name, driver\n" + NAMES + """\
07,cuda_mma,f32,4,32,128,64,0,backward,gpu,9,600000,0.1,,1e-4
07,pytorch math,f32,4,32,128,64,0,backward,gpu,9,500000,,,
07,cuda_mma,bf16,4,32,128,64,0,backward,gpu,9,700000,0.1,,1e-4
06,mma,bf16,4,32,128,64,0,forward,gpu,9,600000,0.1,,1e-4
06,pytorch math,bf16,4,32,128,64,0,forward,gpu,9,500000,,,
"""
DEVICE = "# machine: A CPU\ndevice,what,value\ncpu,multiprocessors,2\n"
SOURCE = ("A GPU, driver 1.2, nvcc 9, PyTorch 8; `make bench-06`, 2026-01-02, at commit abc. All figures: "
          "[`one.csv`]({}/one.csv). PyTorch: an hour before.")
MACHINE = """chapter,kernel,…
# part: 05
# machine: A Machine
05,complete,f32,1,8,128,64,0,forward,1,1.0,8.0,0.50,1.000,1e-7,it
peer,PyTorch 9 (X),f32,1,8,128,64,0,forward,1,2.0,4.0,0.25,2.000,1e-7,
peer,PyTorch 9 (X),f32,1,8,512,64,1,forward,1,0.5,4.0,0.50,0.500,1e-7,
peer,oneDNN 3,f32,1,8,512,64,1,forward,1,0.5,4.0,0.50,9.500,1e-7,
# part: 07
07,fa2,f32,1,1,128,64,0,backward,1,2.0,3.5,0.25,,1e-7,
"""


def run(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = figures.main(list(arguments))
    return status, out.getvalue(), err.getvalue()


class Results(InAFolder):
    """Chapter 06 has results of two GPUs, chapter 07 none."""

    def setUp(self):
        super().setUp()
        self.write("06_flash/results/one.csv", ONE)
        self.write("06_flash/results/two.csv", TWO)
        self.write("06_flash/results/device.csv", DEVICE)
        Path("07_backward").mkdir()
        self.files = [f"06_flash/results/{name}.csv" for name in ("one", "device", "two")]

    def test_best_is_the_fastest_kernel_against_the_fastest_backend_of_each_gpu_and_problem(self):
        self.assertEqual(measured.best_of(self.files), [
            (("A GPU", "06", "bf16", "64", "128", "0"), (400000, "quick", ""), (320000, "cudnn", "")),
            (("A GPU", "06", "bf16", "64", "128", "1"), (99940, "complete", ""), (199880, "cudnn", "")),
            (("Another GPU", "07", "f32", "64", "128", "0"), (600000, "cuda_mma", ""), (500000, "math", "")),
            (("Another GPU", "07", "bf16", "64", "128", "0"), (700000, "cuda_mma", ""), None),
            (("Another GPU", "06", "bf16", "64", "128", "0"), (600000, "mma", ""), (500000, "math", ""))])

    def test_the_page_of_the_best_names_where_its_figures_are_from(self):
        status, out, _ = run("best", "page", *self.files)
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines()[2:6] + out.splitlines()[7:], [
            "| A GPU | forward | bf16 | 64 | 128 | none | `quick` | 400 | cudnn | 320 | 1.25 |",
            "| A GPU | forward | bf16 | 64 | 128 | causal | `complete` | 99.9 | cudnn | 200 | 0.50 |",
            "| Another GPU | backward | float32 | 64 | 128 | none | `cuda_mma` | 600 | math | 500 | 1.20 |",
            "| Another GPU | backward | bf16 | 64 | 128 | none | `cuda_mma` | 700 | not measured yet | | |",
            "", SOURCE.format("../../06_flash/results")])

    def test_the_summary_has_the_least_and_the_most_of_a_pass(self):
        self.assertEqual(run("best", "summary", *self.files)[1].splitlines()[2:5], [
            "| A GPU | forward | bf16 | 99.9 to 400 | 0.50 to 1.25 |",
            "| Another GPU | backward | float32 | 600 to 600 | 1.20 to 1.20 |",
            "| Another GPU | backward | bf16 | 700 to 700 | not measured yet |"])

    @mock.patch.dict(os.environ, GPU="one")
    def test_speed_is_a_table_of_the_problems_and_kernels_that_a_page_names(self):
        status, out, _ = run("speed", "06", "bf16", "64,128 64,128,causal 64,256,causal", "mma", "complete",
                             "pytorch cudnn", "pytorch flash")
        self.assertEqual((status, out), (0, """\
| kernel | d = 64, N = 128 | d = 64, N = 128, causal | d = 64, N = 256, causal |
|---|---|---|---|
| `mma` | 50.0 | 50.0 | not measured yet |
| `complete` | 200 | 99.9 | not measured yet |
| PyTorch, cudnn | 320 | 200 | 300 |
| PyTorch, flash | not measured yet | 100 | not measured yet |
"""))
        self.assertIn("| `mma` | not measured yet |\n", run("speed", "06", "f32", "64,128", "mma")[1])
        self.assertIn("| `mma` | not measured yet |\n", run("speed", "07", "bf16", "64,128", "mma")[1])

    @mock.patch.dict(os.environ, GPU="one")
    def test_figures_of_machine_code_that_has_changed_since_are_marked(self):
        self.write("06_flash/results/one.csv", ONE.replace("# ratio", "# code: quick 64 0a, complete 64 1b, complete 64 3d\n# ratio"))
        self.write("06_flash/results/sass.txt", "# kernel d arch\nmma 64 90 9\nquick 64 90a 0a\ncomplete 64 90a 2c\n"
                   "complete 64 90a 3d\n")  # one of its two tiles has changed
        self.assertEqual(measured.older_code("06_flash/results/one.csv"), {("complete", "64")})
        out = run("speed", "06", "bf16", "64,128 64,256", "mma", "quick", "complete")[1]
        self.assertEqual(out.splitlines()[2:], [
            "| `mma` | 50.0 | not measured yet |", "| `quick` | 400 | not measured yet |",
            "| `complete` | 200 (older code) | not measured yet |", "",
            "Older code: the kernel's machine code has changed since; as it is now it is not measured yet."])
        self.assertIn("| `complete` | 99.9 (older code) |", run("best", "page", *self.files)[1])
        self.assertIn("| 99.9 to 400 (older code) |", run("best", "summary", *self.files)[1])
        # Kernels without a checksum in the file count as older code.
        self.write("06_flash/results/one.csv", ONE)
        self.assertEqual(measured.older_code("06_flash/results/one.csv"), {("quick", "64"), ("complete", "64")})

    @mock.patch.dict(os.environ, GPU="one")
    def test_a_sentence_about_older_code_is_there_as_long_as_the_code_is(self):
        self.write("06_flash/results/one.csv", ONE.replace("# ratio", "# code: quick 64 0a, complete 64 1b\n# ratio"))
        self.write("06_flash/results/sass.txt", "# kernel d arch\nquick 64 90a 0a\ncomplete 64 90a 2c\n")
        for kernels, out in (((), "Old.\n"), (("complete 64",), "Old.\n"), (("quick 64", "mma 64"), "\n")):
            self.assertEqual(run("older", "06", "Old.", *kernels), (0, out, ""), kernels)
        self.write("06_flash/results/sass.txt", "# kernel d arch\nquick 64 90a 0a\ncomplete 64 90a 1b\n")
        self.assertEqual(run("older", "06", "Old."), (0, "\n", ""))

    @mock.patch.dict(os.environ, GPU="one")
    def test_the_front_page_names_gpu_d_n_and_mask_and_shows_d_128(self):
        self.assertEqual(run("front", "front.svg")[::2], (2, "figures front: 06_flash/results/one.csv: expected a row of "
                                                         "naive in f32, d = 128, N = 4096, no mask\n"))
        wanted = [(kernel, kind, d, causal, 1000 * (k + 1)) for d, causal, k in ((128, 0, 0), (64, 0, 10), (128, 1, 20))
                  for k, (_, kernel, kind) in enumerate(measured.FRONT_BARS, k)]
        self.write("06_flash/results/one.csv", ONE + "".join(f"06,{kernel},{kind},4,32,4096,{d},{causal},forward,gpu,9,{speed},0.1,,\n"
                                                             for kernel, kind, d, causal, speed in wanted))
        problem, bars = "A GPU, 4096 words, values of 128 numbers, no mask", [1, 2, 3, 4, 5]
        self.assertEqual(measured.front_bars(), (problem, list(zip([bar[0] for bar in measured.FRONT_BARS], bars))))
        drawn = "".join(diagrams.front(None)[2])
        for words in (problem, *(f">{bar:g}<" for bar in bars)):
            self.assertIn(words, drawn)
        said = run("front", "front.svg")[1]
        for words in (problem, *(f"{name} {bar:g}" for name, bar in measured.front_bars()[1]), "](front.svg)"):
            self.assertIn(words, said)

    @mock.patch.dict(os.environ, GPU="a_gpu")
    def test_what_make_gpu_has_measured_takes_the_place_of_what_was_before(self):
        self.write("06_flash/results/a_gpu.csv", ONE.replace("# ratio", "# code: quick 64 0a, mma 64 1b\n# ratio"))
        self.write("06_flash/results/sass.txt", "# nvcc 9, -O3\n# kernel d arch\nquick 64 90a 2c\nmma 64 90a 2d\n")
        head = ("# headline: ok after 9 s\n# machine: A GPU, 2.0: name, driver\n# toolkit: nvcc 9, PyTorch 9\n"
                "# command: make gpu, 2026-02-03, at commit def\n# just after it: 1 MHz: clock\n# sources: 1; A GPU\n")
        self.write("new/headline", head + NAMES + """06,pytorch cudnn,bf16,4,32,128,64,0,forward,gpu,3,213333,,,1e-3
06,quick,bf16,4,32,128,64,0,forward,gpu,0.5,800000,0.2,,1e-4
06,pytorch cudnn,bf16,4,32,128,64,0,forward,gpu,1,640000,,,
# hopper 07 bf16 128 64 0: status 2
# no PyTorch
""")
        self.assertEqual(run("put", "new"), (0, "06_flash/results/a_gpu.csv: 2 rows measured, 9 kept\n", ""))
        text = Path("06_flash/results/a_gpu.csv").read_text()
        self.assertIn("# command: make gpu, 2026-02-03, at commit def\n# just after it: 1 MHz: clock\n# older: what was not measured "
                      "then is of make bench-06, 2026-01-02, at commit abc\n# code: mma 64 1b, quick 64 2c\n", text)
        self.assertIn("\n06,pytorch cudnn,bf16,4,32,128,64,0,forward,gpu,1,640000,,,1e-3\n", text)
        self.assertEqual(run("speed", "06", "bf16", "64,128", "mma", "quick", "pytorch cudnn")[1].splitlines()[2:5], [
            "| `mma` | 50.0 (older code) |", "| `quick` | 800 |", "| PyTorch, cudnn | 640 |"])
        self.assertIn("`make gpu`, 2026-02-03, at commit def. ", run("speed", "06", "machine")[1])
        self.assertIn("expected headline, older or curve", run("put", "nowhere")[2])

    def test_the_curve_is_there_when_it_has_been_measured(self):
        self.assertEqual(run("curve", "curve.svg"), (0, "\n", ""))
        self.assertNotIn("06_time_against_n", str(list(plots.pictures())))
        self.write(str(measured.CURVE), "# machine: A GPU\n# command: make gpu\nkernel,n,milliseconds\nnaive,512,0.5\nfa2,512,0.25\n"
                   "naive,1024,2.004\nfa2,1024,1\n")
        status, out, err = run("curve", "curve.svg")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"!\[.* for 1024 words the plain formula takes 2 ms, and FlashAttention-2 1 ms\]\(curve.svg\)\n")
        path, script, data = next(picture for picture in plots.pictures() if "06_flash_tiled_cuda/pages/pictures/time" in picture[0])
        self.assertEqual((path, script), ("06_flash_tiled_cuda/pages/pictures/time_against_n.svg", "06_time_against_n.gp"))
        self.assertEqual(data(None), ["# A GPU", "naive 512 0.5", "fa2 512 0.25", "naive 1024 2.004", "fa2 1024 1"])

    @mock.patch.dict(os.environ, GPU="one")
    def test_the_line_below_names_the_gpu(self):
        self.assertEqual(run("speed", "06", "machine"), (0, SOURCE.format("../results") + "\n", ""))
        self.assertEqual(run("speed", "06", "machine", "results")[1], SOURCE.format("results") + "\n")
        self.assertEqual(run("speed", "07", "machine"), (0, "Not measured yet.\n", ""))

    def test_a_wrong_call_names_what_was_expected(self):
        for arguments in (("best", "row", "one.csv"), ("best", "page"), ("speed", "06"), ("chapters",),
                          ("speed", "06", "bf16", "64,128")):
            status, out, err = run(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("figures: expected make, check, table, ", err)
        self.assertEqual(run("best", "page", "nowhere.csv"),
                         (2, "", "figures best: nowhere.csv: expected a file of results\n"))
        self.assertIn("expected a folder 08_…", run("speed", "08", "machine")[2])

    def programs(self):
        for chapter in measured.CHAPTERS:
            self.write(f"build/{chapter}", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n"
                       "printf 'chapter,...\\n0,f,1234567,12345,1,6.4e-07,,,yes\\n' >\"$1\"\n")
            Path(f"build/{chapter}").chmod(0o755)

    def test_the_table_of_chapters_takes_speeds_from_the_results(self):
        self.programs()
        self.write("results/machine.csv", MACHINE)
        status, out, err = run("chapters", "build", "results")
        self.assertEqual((status, err), (0, ""))
        rows = out.splitlines()[2:]
        self.assertIn("| [01 standard softmax](../../01_standard_softmax/README.md) | ", rows[0])
        self.assertIn("| 3 N / row: 1 234 567 | 12 kB | 6e-07 | – |", rows[0])
        self.assertIn("| O(N): 12 kB | 6e-07 | 0.50 to 2.00 times as fast |", rows[4])
        self.assertIn("| O(N): 12 kB | 6e-07 | 0.50 to 1.25 times as fast |", rows[5])
        self.assertIn("| O(N): 12 kB | 6e-07 | not measured yet |", rows[6])

    def test_a_program_that_fails_is_named(self):
        self.programs()
        self.write("build/04_flash_no_tiling", "#!/bin/sh\necho no memory >&2\nexit 1\n")
        status, out, err = run("chapters", "build")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("build/04_flash_no_tiling --quiet --csv", err)
        self.assertIn("ended with status 1\nno memory", err)


if __name__ == "__main__":
    unittest.main()
