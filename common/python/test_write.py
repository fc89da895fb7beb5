"""write.py with a small random model against the formula, and invalid commands."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import look
import write
from case import Case

LAYERS, HEADS, KV_HEADS, D, VOCABULARY, INNER = 2, 6, 2, 16, 31, 40
WIDTH = HEADS * D
FIELDS = {"llama." + name: value for name, value in {
    "block_count": LAYERS, "context_length": 64, "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS,
    "embedding_length": WIDTH, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 100.0}.items()}


def weights():
    """As in the original model."""
    numbers = np.random.default_rng(3)
    shapes = {"token_embd": (VOCABULARY, WIDTH), "output_norm": (WIDTH,)}
    for n in range(LAYERS):
        shapes |= {f"blk.{n}.{name}": shape for name, shape in {
            "attn_norm": (WIDTH,), "attn_q": (HEADS * D, WIDTH), "attn_k": (KV_HEADS * D, WIDTH),
            "attn_v": (KV_HEADS * D, WIDTH), "attn_output": (WIDTH, HEADS * D), "ffn_norm": (WIDTH,),
            "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}.items()}
    return {name: 0.2 * numbers.standard_normal(shape) + (len(shape) == 1) for name, shape in shapes.items()}


def in_a_file(w):
    """In a GGUF file the two rows of a pair are adjacent."""
    def reordered(name, x):
        if name.endswith(("attn_q", "attn_k")):
            x = x.reshape(-1, 2, D // 2, WIDTH).swapaxes(1, 2).reshape(x.shape)
        return x.astype(np.float32)
    return {name + ".weight": reordered(name, x) for name, x in w.items()}


def formula(w, tokens):
    """After the last token, in float64, of the whole text at once."""
    def norm(x, weight):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * weight

    def turned(x):
        angles = np.outer(np.arange(len(x)), 100.0 ** (-2 * np.arange(D // 2) / D))
        pairs = (x[:, :D // 2] + 1j * x[:, D // 2:]) * np.exp(1j * angles)
        return np.concatenate([pairs.real, pairs.imag], 1)

    x, N = w["token_embd"][tokens], len(tokens)
    for n in range(LAYERS):
        def of(name):
            return w[f"blk.{n}.{name}"]
        y, heads = norm(x, of("attn_norm")), []
        for h in range(HEADS):
            shared = h // (HEADS // KV_HEADS)
            q = turned(y @ of("attn_q")[h * D:h * D + D].T)
            k, v = (y @ of(name)[shared * D:shared * D + D].T for name in ("attn_k", "attn_v"))
            p = np.tril(np.exp(q @ turned(k).T / np.sqrt(D)))
            heads.append(p / p.sum(1, keepdims=True) @ v)
        x = x + np.concatenate(heads, 1) @ of("attn_output").T
        y = norm(x, of("ffn_norm"))
        gate = y @ of("ffn_gate").T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ of("ffn_up").T)) @ of("ffn_down").T
    return norm(x, w["output_norm"])[-1] @ w["token_embd"].T


class Write(Case):
    def test_writing_is_the_formula(self):
        w, prompt = weights(), [5, 3, 30, 0, 7, 7, 12]
        for step in ("05/complete", "05/fa1", "05/split_kv", "04/flash_no_tiling", "06/fa2"):
            tokens = list(prompt)
            for token, logits in write.Writer(FIELDS, in_a_file(w), write.by_step(step)).write(prompt, 6):
                right = formula(w, tokens)
                self.assertLess(np.abs(logits - right).max(), 1e-5 * np.abs(right).max(), f"{step}: after {tokens}")
                self.assertEqual(token, right.argmax())
                tokens.append(token)

    def test_weights_are_those_of_the_formula(self):
        numbers = np.random.default_rng(4)
        Q, K, V = numbers.standard_normal((3, 9, D), np.float32)
        for step in ("04/flash_no_tiling", "05/fa1", "05/complete"):
            for i in (0, 8):
                right = np.exp((K[:i + 1] @ Q[i]).astype(float) / np.sqrt(D))
                found = look.row_of_weights(step, Q, K, V, i)
                self.assertLess(np.abs(found - right / right.sum()).max(), 1e-6, step)

    def test_a_look_inside_is_at_the_layer_and_the_heads_that_belong_together(self):
        model, prompt = write.Writer(FIELDS, in_a_file(weights()), write.by_step("05/complete")), [5, 3, 30, 0]
        Q, K, V = look.inside(model, prompt, 1, 5)
        seen = []
        model = write.Writer(FIELDS, in_a_file(weights()), write.by_step("05/complete"))
        run = model.attention
        model.attention = lambda Q, K, V: (seen.append((Q.copy(), K.copy(), V.copy())), run(Q, K, V))[1]
        next(model.write(prompt, 1))
        for found, right in zip((Q, K, V), (seen[1][0][5], seen[1][1][1], seen[1][2][1])):
            self.assertTrue((found == right).all())

    def test_a_word_is_all_of_its_tokens(self):
        self.assertEqual(look.words_of(["The", " cat", ",", " pur", "red", "."]),
                         [("The", [0]), ("cat", [1]), (",", [2]), ("purred", [3, 4]), (".", [5])])

    def test_what_cannot_be_written_is_refused(self):
        for message, arguments in (
                ("TOKENS=0: expected a whole number from 1 to 4096", ["--tokens", "0"]),
                ("TOKENS=many: expected a whole number", ["--tokens", "many"]),
                ("TOKENS=777", ["--tokens", "7" * 5000]),
                ("STEP=it's: step: expected one of 04/", ["--step", "it's"]),
                ("PROMPT: expected a text in UTF-8", ["--prompt", " "]),
                ("STEP=05/fa9: step: expected one of 04/", ["--step", "05/fa9"]),
                ("STEP=05/block_matmul: expected attention", ["--step", "05/block_matmul"]),
                ("STEP=mine: expected to be in a starter's folder", ["--step", "mine"]),
                ("unrecognized arguments", ["--temperature", "1"])):
            done = subprocess.run([sys.executable, "-B", str(Path(write.__file__)), *arguments],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_missing_package_is_named(self):
        code = "import sys; sys.modules['gguf'] = None; import write; write.command(write.read_model)"
        done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, cwd=Path(write.__file__).parent)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "write: expected the package gguf, which make write fetches\n"))

    def test_what_the_machine_refuses_is_one_line(self):
        full = " >/dev/full"  # Linux only
        for main, out, message in (
                ("lambda: print('text', flush=True)", full, "write: expected memory, and to be able to write, found: "),
                ("lambda: print('text')", full, "write: expected memory, and to be able to write, found: "),
                ("lambda: print('text')", " >&-", "write: standard output: expected to be able to write it"),
                ("lambda: bytes(1 << 62)", "", "write: expected memory, and to be able to write, found: ")):
            if out == full and not Path("/dev/full").exists():
                continue
            line = f'"$0" -B -c "import write; write.command({main})"' + out
            done = subprocess.run(["sh", "-c", line, sys.executable], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  cwd=Path(write.__file__).parent)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(message, done.stderr)
