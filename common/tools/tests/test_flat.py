import contextlib
import io
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from folder import InAFolder  # sets sys.path

import flat

COURSE = Path(__file__).resolve().parents[3]
NVCC = os.environ.get("NVCC") or shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def said(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        return flat.main(arguments), out.getvalue(), err.getvalue()


class Flat(InAFolder):
    def test_what_is_included_comes_first_and_once(self):
        self.write("06_x/kernels/3_hopper/store.cu", '/* Store. */\n#include "06_x/a.cuh"\n#include "06_x/b.cuh"\n\nint c;\n')
        self.write("06_x/a.cuh", '/* A. */\n#ifndef A\n#define A\n\n#include "06_x/b.cuh"\n\nint a;\n\n#endif\n')
        self.write("06_x/b.cuh", "#ifndef B\n#define B\n\n#include <stdint.h>\n\n#ifdef __CUDACC__\nint gpu;\n#else\n"
                                 '#ifdef X\nint x;\n#else\nint y;\n#endif\n#include "06_x/z.h"\n#endif\nint b;\n\n#endif\n')
        self.assertEqual(said("store")[:2], (0, "#pragma nv_diag_suppress 177  // some functions are not called\n"
            "\n// ---- 06_x/b.cuh\n\n#include <stdint.h>\n\nint gpu;\nint b;\n"
            "\n// ---- 06_x/a.cuh\n\n/* A. */\n\nint a;\n"
            "\n// ---- 06_x/kernels/3_hopper/store.cu\n\n/* Store. */\n\nint c;\n"))

    def test_every_kernel_is_one_file(self):
        os.chdir(COURSE)
        names = re.search("expected one of (.*)\n", said("x")[2])[1].split(", ")
        self.assertLessEqual({"fa2", "store", "cuda_store"}, set(names))
        for name in names:
            text = said(name)[1]
            self.assertNotRegex(text, '#include "|#ifdef __CUDACC__')
            self.assertEqual(text.count("#define LAUNCHER("), 1, name)

    @unittest.skipUnless(NVCC, "no nvcc here")
    def test_nvcc_compiles_it(self):
        folder = Path.cwd()
        os.chdir(COURSE)
        (folder / "store.cu").write_text(said("store")[1], encoding="utf-8")
        made = subprocess.run([NVCC, "-std=c++17", "-arch=sm_90a", "-ptx", "store.cu"], cwd=folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual((made.returncode, made.stderr), (0, ""))

    def test_a_wrong_call_is_refused(self):
        self.write("06_x/kernels/3_hopper/store.cu", "")
        self.write("07_backward/kernels/3_hopper/store.cu", "")
        for step in ("", "roles"):
            self.assertEqual(said(*step.split()), (2, "", f"make flat: STEP={step}: expected one of store, cuda_store\n"))


if __name__ == "__main__":
    unittest.main()
