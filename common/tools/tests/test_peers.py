import contextlib
import io
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

from folder import InAFolder

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "peers"))
import peers  # noqa: E402

HEAD = "# machine: A Machine, 2 cores, Linux\n# command: {}, 2026-01-02, at commit abc\n"
OF_05 = HEAD.format("make peers-05") + """05,fa2,f32,1,1,128,64,0,forward,1,2.0,3.5,0.25,,1e-7,
05,complete,f32,1,8,128,64,0,forward,1,1.0,8.0,0.50,1.000,1e-7,it
peer,PyTorch 9 (X),f32,1,8,128,64,0,forward,1,2.0,4.0,0.25,2.000,1e-7,
05,complete,f32,1,8,512,64,1,forward,1,1.0,8.0,0.75,1.000,1e-7,it
peer,PyTorch 9 (X),f32,1,8,512,64,1,forward,1,0.5,4.0,0.50,0.500,1e-7,
"""
OF_07 = HEAD.format("make peers-07") + "07,fa2,f32,1,1,128,64,0,backward,1,2.0,3.5,0.25,,1e-7,\n"


class Results(InAFolder):
    def setUp(self):
        super().setUp()
        for part, text in ("07", OF_07), ("05", OF_05):
            with contextlib.redirect_stdout(io.StringIO()):
                peers.put(part, "r.csv", text.splitlines())

    def run_peers(self, *arguments, **environment):
        out, err = io.StringIO(), io.StringIO()
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "SIZES", "TARGET", "INTO")}
        with mock.patch.dict(os.environ, {**kept, **environment}, clear=True), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = peers.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def prints(self, parts, *arguments, **environment):
        status, out, err = self.run_peers(*arguments, **environment)
        self.assertEqual((status, err), (0, ""))
        for part in parts:
            self.assertIn(part, out)
        return out

    def refuses(self, what, *arguments, status=2, **environment):
        before = Path("r.csv").read_text()
        found, _, err = self.run_peers(*arguments, **environment)
        self.assertEqual((found, err.count("\n")), (status, 1), err)
        self.assertIn(what, err)
        self.assertEqual(Path("r.csv").read_text(), before)

    def program(self, path, text):
        self.write(path, f"#!/bin/sh\n{text}\n")
        Path(path).chmod(0o755)

    def test_a_file_has_one_line_of_names_and_parts_in_order(self):
        self.assertEqual(Path("r.csv").read_text(), f"{peers.NAMES}\n# part: 05\n{OF_05}# part: 07\n{OF_07}")
        self.assertEqual(self.prints([], "get", "05", "r.csv"), OF_05)
        self.assertEqual(self.prints([], "get", "memory", "r.csv"), "")

    def test_a_new_part_takes_the_place_of_the_old_one_and_of_no_other(self):
        with contextlib.redirect_stdout(io.StringIO()):
            peers.put("05", "r.csv", ["# machine: new", "05,new"])
        self.assertEqual(self.prints([], "get", "05", "r.csv"), "# machine: new\n05,new\n")
        self.assertEqual(self.prints([], "get", "07", "r.csv"), OF_07)

    def test_what_is_no_part_or_file_is_refused(self):
        self.write("other", "text\n")
        self.refuses("found '06'", "get", "06", "r.csv")
        self.refuses("other: expected results as make results writes them", "get", "05", "other")
        self.refuses("nothing: expected results", "get", "05", "nothing")
        self.refuses("found 'machines'", "machines")
        self.refuses("found 'peers 05'", "peers", "05")
        self.refuses("found no rows for this table", "peers", "07", "r.csv")

    def test_tables(self):
        self.prints(["| A Machine, 2 cores | forward | 50 to 75 % | 0.50 to 2.00 |", " `make peers-05`, 2026-01-02, at commit abc |",
                     "| backward |", " not measured yet | – | – | not measured yet |"], "machines", "r.csv")
        self.prints(["one head, N = 128", "3.5  25.0 %", "command: make peers-07"], "ladder", "07", "r.csv")
        self.prints(["8 heads", "128     50.0 %     2.00", "512     75.0 %     0.50", "PyTorch 9 (X)", "command: make peers-05"],
                    "peers", "05", "r.csv")
        self.assertEqual(self.prints([], "memory", "r.csv"), "not measured yet\n")

    def test_memory_is_measured_for_each_step_and_size(self):
        for name in "05_flash_tiled_cpu", "07_backward":
            self.program(f"build/{name}", "")
        self.program("build/peers/resident", "echo $* >>asked; case $* in *'--n-q 512 '*) echo 512000 ;; *) echo 128000 ;; esac")
        self.prints(["05/standard", "07/complete", "0.1 MB", "0.5 MB", "machine: A Machine", 'command: SIZES="128 512" make results, '],
                    "resident", "build", "r.csv", SIZES="128 512")
        asked = Path("asked").read_text()
        self.assertEqual((asked.count("\n"), asked.count("07_backward --quiet --step fa2 ")), (12, 2))
        self.program("build/peers/resident", "exit 1")
        self.refuses("05/standard with N = 128 did not end well", "resident", "build", "r.csv", status=1)
        self.refuses("found '128 x'", "resident", "build", "r.csv", SIZES="128 x")

    def test_peers_are_measured_or_skipped_by_name(self):
        self.refuses("make build-peers makes it", "measure", "build", "07_backward")
        self.program("build/peers/python/bin/pip", "exit 1")  # nothing can be fetched
        for part, chapter, direction in ("05", "05_flash_tiled_cpu", "forward"), ("07", "07_backward", "backward"):
            self.program(f"build/{chapter}", f"printf 'chapter\\n{part},fa2,f32,1,1,64,64,0,{direction},1,1,1,0.5,,1e-7\\n' >$3; "
                                             "echo '  A Machine, 2 cores, Linux; one core: 9.0 GFLOP/s of FMA'")
            self.program(f"build/peers/{chapter}", "")
            self.program("build/peers/referee", f"echo '{part},complete,f32,1,8,64,64,0,{direction},1,1,1,1.2,1.0,1e-7,it'\n"
                                                "echo 'peer,A 1,f32,1,8,64,64,0,forward,1,1,1,1,1.0,1e-7,'")
            out = self.prints(["skipped: oneDNN", "skipped: OpenBLAS", "skipped: PyTorch", f"wrote part {part} of r.csv", "measure again",
                               'command: SIZES="64" make results, '], "measure", "build", chapter,
                              SIZES="64", TARGET="results", INTO="r.csv")
            self.assertEqual("skipped: ONNX Runtime" in out, part == "05")
            self.assertIn(f"\n# one core: 9.0 GFLOP/s of FMA\n# rows of 1 head", Path("r.csv").read_text())
            self.assertIn(f",1e-7,\n{part},complete,f32,1,8,64,", Path("r.csv").read_text())


if __name__ == "__main__":
    unittest.main()
