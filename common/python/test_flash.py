"""All tests of flash.py and its library: test_flash.py [RESULT [test...]].

Writes "passed failed skipped" to the file RESULT. Uses the programs in the folder BUILD, by default build/.
"""
from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

from test_check import Check
from test_learn import Learn
from test_memory import Memory
from test_peers import Peers
from test_programs import Programs
from test_refusals import Refusals
from test_threads import Threads
from test_torch import Torch
from test_values import Values
from test_variant import Variant
from test_write import Write

CASES = Values, Check, Variant, Programs, Threads, Memory, Learn, Torch, Refusals, Peers, Write


def main() -> int:
    result, *names = [*sys.argv[1:], os.devnull][:1] + sys.argv[2:]
    tests = ([next(case for case in CASES if hasattr(case, name))(name) for name in names] if names else
             [unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in CASES])
    suite = unittest.TestSuite(tests)
    ran = unittest.TextTestRunner(sys.stdout, verbosity=2).run(suite)
    failed, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    passed = suite.countTestCases() - failed - skipped
    Path(result).write_text(f"{passed} {failed} {skipped}\n")
    return 1 if failed or ran.testsRun < suite.countTestCases() else 0


if __name__ == "__main__":
    sys.exit(main())
