"""Tests attention across machines on 2, 3 and 5 ranks of this one, and that wrong versions are rejected.

A case is a method of Cases, or an entry of mistakes.txt: the case that it names must fail.
`make machines` runs this; LINK_05_ring and LINK_07_ring link the programs from objects in OBJ.
"""
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

MISTAKES = Path(__file__).with_name("mistakes.txt")
DATA = Path("common/data").resolve()
QKV = "--q common/data/q.npy --k common/data/k.npy --v common/data/v.npy"
SHAPES = ("--causal",
          "--heads 4 --kv-heads 2 --n-q 61 --n-k 90 --d 40 --causal",
          "--batch 2 --heads 2 --n-q 97 --n-k 55 --d 3 --causal=top-left --window 20,7",
          "--n-q 3 --n-k 200 --d 64",
          "--n-q 77 --n-k 2 --d 16 --window 5,0")
on_linux = unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")

# Open MPI needs these as root. Only it has --oversubscribe, which allows more ranks than cores.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MPIRUN = ["mpirun"]
if b"Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True).stdout:
    MPIRUN += ["--oversubscribe"]


class Ring(unittest.TestCase):
    """Runs the programs in a new folder. A program that fails must not leave its result, o.npy."""
    programs = {name: Path(os.environ["BUILD"]).resolve() / name for name in ("05_merge", "05_ring", "07_ring")}

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "common").mkdir()
        (self.folder / "common/data").symlink_to(DATA)

    def start(self, ranks, *command):
        (self.folder / "o.npy").unlink(missing_ok=True)
        job = subprocess.Popen([*MPIRUN, "-n", str(ranks), *command], cwd=self.folder, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.wait, 10)
        self.addCleanup(job.terminate)  # mpirun then ends its ranks
        return job

    def end(self, job):
        try:
            out, err = job.communicate(timeout=60)
        except subprocess.TimeoutExpired as late:
            self.fail(late)
        if job.returncode and (self.folder / "o.npy").exists():
            raise RuntimeError(f"the wrong result was written\n{out}{err}")
        return job.returncode, out, err

    def ring(self, ranks, program, options="", others=None):
        """The status and what it printed. `others` are the options of one more rank."""
        path = self.programs[program]
        one_more = [":", "-n", "1", path, *others.split()] if others else []
        return self.end(self.start(ranks, path, *options.split(), *one_more))

    def right(self, ranks, program, options=""):
        """The program accepts its result, messages, bytes and memory. Returns what it prints."""
        status, out, err = self.ring(ranks, program, options)
        self.assertEqual(status, 0, f"{ranks} ranks: {program} {options}\n{out}{err}")
        return out

    def table(self, ranks, options):
        """A row of numbers for each rank. A single space is inside a number."""
        rows = re.findall(r"^ +(\d[\d ]+)$", self.right(ranks, "05_ring", options), re.M)
        self.assertEqual(len(rows), ranks)
        return [[int(number.replace(" ", "")) for number in re.split("  +", row)] for row in rows]

    def refused(self, words, *run):
        """The program exits with 2 and one line of its own, with these words."""
        status, out, err = self.ring(*run)
        own = re.findall("^0[57]_ring: .*", err, re.M)
        self.assertEqual((status, len(own)), (2, 1), f"expected: {words}; found\n{out}{err}")
        self.assertRegex(own[0], words)

    def rejected(self, entry):
        """The named case fails with the entry's mistake. Other errors, as of a wrong result file, do not count."""
        files = re.findall("^File: (.*)", entry, re.M)
        for file in files:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.folder / file)
        apply = ["awk", "-f", "common/tools/mistakes.awk", "apply", self.folder, MISTAKES, self._testMethodName]
        subprocess.run(apply, check=True)
        instead = {os.environ["OBJ"] + f"/{file[:-2]}.o": self.folder / file for file in files}
        for program in ("05_ring", "07_ring"):
            parts = [instead.get(part, part) for part in os.environ[f"LINK_{program}"].split()]
            subprocess.run([*parts, "-o", self.folder / program], check=True)
            self.programs = {**self.programs, program: self.folder / program}
        named = re.search("^Caught by: (.*)", entry, re.M)[1]
        with self.assertRaises(AssertionError, msg=f"{named} accepts it"):
            getattr(self, named)()


class Cases(Ring):
    def merge_op(self):
        for ranks in (2, 3, 5):
            self.right(ranks, "05_merge")

    @on_linux
    def merge_unsaid(self):
        """Standard output is its only result."""
        done = subprocess.run(["sh", "-c", '"$0" >/dev/full', self.programs["05_merge"]], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "(?m)^05_merge: standard output: ")

    def forward(self, program="05_ring"):
        for ranks in (2, 3, 5):
            for shape in SHAPES:
                self.right(ranks, program, f"--quiet {shape} --output o.npy")

    def backward(self):
        self.forward("07_ring")

    def forward_late(self):
        self.right(3, "05_ring", "--quiet --n-q 96 --causal --latency 20000")

    def backward_late(self):
        self.right(3, "07_ring", "--quiet --n-q 96 --causal --latency 20000")
        self.right(5, "07_ring", "--quiet --latency 2000 --bandwidth 20000")

    def same_bits(self):
        """The same bits, even if messages are late."""
        self.right(3, "07_ring", "--quiet --causal --dq q --dk k --dv v")
        self.right(3, "07_ring", "--quiet --causal --latency 5000 --dq q2 --dk k2 --dv v2")
        for name in "qkv":
            self.assertTrue((self.folder / name).read_bytes() == (self.folder / f"{name}2").read_bytes(), name)

    def same_work(self):
        """Causal: no rank has 2 % more pairs than another."""
        pairs = [row[3] for row in self.table(5, "--n-q 1000 --causal")]
        self.assertLess(max(pairs), 1.02 * min(pairs))

    def memory(self):
        """Each of 4 ranks holds at most 30 % of what 1 holds."""
        alone, shared = (self.table(ranks, "--heads 2 --n-q 512 --d 32")[0][-1] for ranks in (1, 4))
        self.assertTrue(0 < shared < 0.3 * alone, (alone, shared))

    def delays(self):
        """No message is faster than latency and bandwidth allow."""
        out = self.right(3, "05_ring", "--n-q 96 --latency 50000 --bandwidth 500")
        model, measured = (float(re.search(rf"{name} +([\d.]+) ms", out)[1]) for name in ("by the model", "measured"))
        self.assertTrue(150 < model <= measured / 0.99, (model, measured))

    def files(self):
        """A written file can be read."""
        self.right(3, "05_ring", "--quiet --output do.npy --lse lse.npy")
        self.assertTrue((self.folder / "lse.npy").stat().st_size)
        self.right(5, "07_ring", f"--quiet {QKV} --do do.npy --key-mask common/data/key_mask.npy --causal")

    def truncated_file(self):
        (self.folder / "short.npy").write_bytes((DATA / "k.npy").read_bytes()[:5000])
        short, words = QKV.replace("common/data/k", "short"), "short.npy: expected .* bytes of data, found"
        self.refused(words, 3, "05_ring", f"{short} --output o.npy")
        self.refused(words, 1, "05_ring", f"{QKV} --output o.npy", short)

    def unknown_option(self):
        self.refused("expected an option of this chapter", 3, "05_ring", "--dropout 0.1")

    @on_linux
    def no_room(self):
        self.refused("/dev/full: expected to write all of it", 3, "05_ring", "--output /dev/full")

    def no_memory(self):
        self.refused("out of memory: the input needs",
                     3, "07_ring", "--heads 1000000 --n-q 1000000 --d 256 --dq o.npy")

    def other_shape(self):
        for other, wanted, found in (("--n-q 51", "Nq 50", "Nq 51"),
                                     ("--n-q 50 --latency 1000", "latency 0", "latency 1000")):
            self.refused(f"rank 1: expected the problem of rank 0, .* {wanted}.* found .* {found}",
                         1, "05_ring", "--n-q 50 --output o.npy", f"{other} --output o.npy")

    def other_numbers(self):
        for program, output in (("05_ring", "--output o.npy"), ("07_ring", "--dk o.npy")):
            self.refused("rank 1: expected the same numbers in its input as rank 0, found others",
                         1, program, f"{QKV} {output}", QKV.replace("k.npy", "v.npy") + f" {output}")

    def killed(self):
        """A rank is killed while all wait for ten-second messages. mpirun reports it and ends the others."""
        for rank in (0, 2):
            began, pid = time.monotonic(), self.folder / f"rank.{rank}"
            pid.unlink(missing_ok=True)
            # exec keeps the shell's process number, which is written under the rank of Open MPI or of other MPIs.
            job = self.start(3, "sh", "-c", 'echo $$ >rank.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$0" "$@"',
                             self.programs["05_ring"], "--latency", "10000000", "--output", "o.npy")
            while time.monotonic() - began < 5 and not (pid.exists() and pid.read_text()):
                time.sleep(0.1)
            time.sleep(1)  # now it waits for a message
            os.kill(int(pid.read_text()), signal.SIGKILL)
            status, _, err = self.end(job)
            self.assertTrue(status and time.monotonic() - began < 15, err)
            self.assertRegex(err, f"rank {rank} .*[Kk]illed")


if __name__ == "__main__":
    for entry in re.split("^Name: ", MISTAKES.read_text(), flags=re.M)[1:]:
        setattr(Cases, entry.split("\n")[0], functools.partialmethod(Ring.rejected, entry))
    names = [name for name in vars(Cases) if not name.startswith("_")]
    failed = 0
    for name in names:
        result = Cases(name).run()
        failed += not result.wasSuccessful()
        for _, words in result.failures + result.errors:
            print(f"{name}: FAILED", *words.splitlines()[-20:], sep="\n    ")
    print(f"attention across machines: {len(names) - failed} passed, {failed} failed")
    sys.exit(failed > 0)
