import contextlib
import io
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from folder import InAFolder  # sets sys.path

import commands

# Fails for "warned" and makes a failing program for "wrong".
COMPILER = """#!/bin/sh
echo "${0##*/} $*" >>%s
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
case $1 in
warned) echo 'warned: unused'; exit 1 ;;
wrong) printf '#!/bin/sh\\necho off by 3; exit 1\\n' >"$out" ;;
*) printf '#!/bin/sh\\ncase $1 in --quiet | --list) ;; *) exit 1 ;; esac\\n' >"$out" ;;
esac
chmod +x "$out"
"""


class Commands(InAFolder):
    def setUp(self):
        super().setUp()
        self.folder = Path.cwd()
        for name in ("q", "k", "v", "key_mask", "scores"):
            self.write(f"common/data/{name}.npy", name)
        for program in ("build/03_online_softmax", "build/04_flash_no_tiling"):
            self.write(program, "#!/bin/sh\n[ \"$1\" != --bad ] || { echo 'unknown option'; exit 2; }\n"
                                "for last; do :; done\n[ ! \"$5\" ] || : >\"$4\"\n")
            Path(program).chmod(0o755)
        self.write("Makefile", "there:\n\t@exit 1\n")

    def said(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return commands.main(list(arguments)), out.getvalue(), err.getvalue()

    def run_page(self, command, text):
        self.write("README.md", text)
        return self.said(command, "README.md")

    def accepts(self, command, text):
        status, out, err = self.run_page(command, text)
        self.assertEqual((status, err), (0, ""), out)
        return out

    def rejects(self, command, text, said):
        status, out, err = self.run_page(command, text)
        self.assertEqual((status, err), (1, ""), out)
        self.assertIn(said, out)

    def test_a_wrong_call_is_refused(self):
        self.write("README.md", "`run`\n")
        for arguments in ([], ["shown"], ["run", "README.md"], ["shown", "none.md"], ["shown", "README.md"],
                          ["by-hand", "README.md"]):
            status, out, err = self.said(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(err, r"\Acommands: .*\n\Z")


class Shown(Commands):
    def test_commands_that_end_with_0_are_counted(self):
        out = self.accepts("shown", "```sh\ntrue\nls yours.npy x.npy q.npy key_mask.npy\n```\n"
                                    "See `build/03_online_softmax --good` and `make there`, `make there`.\n")
        self.assertEqual(out, "3 commands of the pages do what they are shown for\n")

    def test_a_command_that_fails_is_named_with_what_it_said(self):
        self.rejects("shown", "```sh\ntrue\necho no such input; false\ntrue\n```\n`make there`\n",
                     "README.md: this does not end well:\n    true\n    echo no such input; false\n    true\n"
                     "    > no such input\n    ended with 1\n")
        self.rejects("shown", "See `build/03_online_softmax --bad`.\n",
                     "    build/03_online_softmax --bad\n    > unknown option\n    ended with 2\n")
        self.rejects("shown", "See `make none`.\n", "    make -n none\n")
        with mock.patch.object(commands, "LIMIT", 0.2):
            self.rejects("shown", "```sh\nsleep 5\n```\n", "    not at its end after 0.2 seconds\n")

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_with_git_what_it_ignores_is_not_copied(self):
        self.write(".gitignore", "ignored\n")
        self.write("ignored", "")
        subprocess.run(["git", "init", "-q"], check=True)
        self.accepts("shown", "```sh\n[ -f Makefile ] && [ ! -e ignored ]\n```\n")

    def test_each_block_is_run(self):
        self.accepts("shown", "```sh\ntrue\n```\n```c\nfalse\n```\n")
        self.rejects("shown", "```sh\ntrue\n```\n```c\nfalse\n```\n```sh\nexit 3\n```\n", "ended with 3\n")

    def test_what_is_left_out_is_one_block(self):
        for note in ("not run: it needs a GPU", "by hand: build/a"):
            left = f"<!-- {note} -->\n```sh\nexit 3\n```\n"
            self.accepts("shown", left + "```sh\ntrue\n```\n")
            self.rejects("shown", left + "```sh\nexit 4\n```\n", "    ended with 4\n")

    def test_lines_that_compile_by_hand_are_left_out(self):
        self.accepts("shown", "```sh\ntrue\ncc a.c\n./a.out --list\n```\n")

    def test_a_page_cannot_change_the_course(self):
        self.accepts("shown", "```sh\ntest -f common/data/q.npy\nrm -r common build\n```\n")
        self.assertTrue(Path("common/data/q.npy").exists() and Path("build/03_online_softmax").exists())

    def test_two_pages_may_make_the_same_name(self):
        for page in ("A.md", "B.md"):
            self.write(page, "```sh\nmkdir week1\n```\n```sh\nrmdir week1\ntouch week1\n```\n")
        with mock.patch.object(os, "cpu_count", return_value=1):
            status, out, _ = self.said("shown", "A.md", "B.md")
        self.assertEqual((status, out), (0, "4 commands of the pages do what they are shown for\n"))

    def test_what_is_built_keeps_its_time(self):
        self.write("build/obj/a.o", "")
        os.utime("build/obj/a.o", (1e9, 1e9))
        self.accepts("shown", "```sh\n[ build/03_online_softmax -nt build/obj/a.o ]\n"
                              "[ Makefile -nt build/obj/a.o ]\n```\n")

    def test_without_the_files_that_pages_take_for_granted_nothing_runs(self):
        self.write("build/03_online_softmax", "#!/bin/sh\nexit 4\n")
        status, out, err = self.run_page("shown", "```sh\necho ran >&2\n```\n")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("ended with 4", err)


class ByHand(Commands):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "build" / "log"
        for name in ("gcc", "g++"):
            self.write(f"bin/{name}", COMPILER % self.log)
            Path("bin", name).chmod(0o755)
        changed = mock.patch.dict(os.environ, {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        changed.start()
        self.addCleanup(changed.stop)

    def test_lines_are_compiled_without_a_warning(self):
        self.accepts("by-hand", "```sh\ncc -O2 {a,b}.c\n./a.out --list\n```\n")
        ran = sorted(self.log.read_text().splitlines())
        self.assertEqual([line.split()[0] for line in ran], ["gcc"])
        for line in ran:
            self.assertIn("-Wall -Wextra -Werror", line)
            self.assertTrue(line.endswith("-O2 a.c b.c"), line)

    def test_a_line_that_fails_is_named(self):
        for file, said in (("warned", "    > warned: unused\n    ended with 1\n"),
                           ("wrong", "    > off by 3\n    ended with 1\n")):
            self.rejects("by-hand", f"```sh\ncc ok\n```\n\n```sh\ncc {file}\n```\n",
                         f"gcc: this does not end well:\n    cc {file} && ./program --quiet\n{said}")
        self.rejects("by-hand", "```sh\ncc ok\n./a.out --none\n```\n", "    ./program --none\n    ended ")

    def test_blocks_make_their_program(self):
        block = ("```sh\ncc ok\n```\n<!-- by hand: out/a -->\n```sh\nmkdir out\nc++ -c -o out/b {}\n"
                 "cc -o out/a {}\n```\n")
        self.accepts("by-hand", block.format("ok", "ok"))
        self.assertRegex(self.log.read_text(), r"(?m)^g\+\+ -Wall -Wextra -Werror -Wno-unk.* -o out/b ok$")
        self.rejects("by-hand", block.format("warned", "ok"), "gcc: this does not end well:\n    mkdir out")
        self.rejects("by-hand", block.format("ok", "wrong"), "    out/a --quiet\n    > off by 3\n")

    def test_what_is_built_already_is_not_there(self):
        self.write("a.c", "")
        self.accepts("by-hand", "```sh\ncc ok && [ -f a.c ] && [ ! -e build ]\n```\n")


if __name__ == "__main__":
    unittest.main()
