"""What a word of your text attends to in SmolLM2-135M, as bars.

    python common/python/look.py [--step 04/flash_no_tiling] [--prompt "the cat sat because it purred"] [--layer 13] [--head 8]

A step stores no weights, but they follow from lse: P = e^(S - lse).
"""
from __future__ import annotations

import argparse

import numpy as np

import flash
import write

PROMPT, LAYER, HEAD = "the cat sat because it purred", 13, 8
PRONOUNS = {"it", "he", "she", "they", "him", "her", "them"}
WIDTH = 50  # characters of a bar for weight 1


def row_of_weights(step: str, Q: np.ndarray, K: np.ndarray, V: np.ndarray, i: int) -> np.ndarray:
    """For each key up to its own."""
    lse = flash.forward(Q[i:i + 1], K[:i + 1], V[:i + 1], step=step)[1]
    if lse is None:
        write.stop(f"STEP={step}: expected a step that writes lse")
    S = K[:i + 1] @ Q[i] / np.sqrt(Q.shape[1])
    return np.exp(S - lse)


def inside(model: write.Writer, tokens: list[int], layer: int, head: int) -> list[np.ndarray]:
    """Q, K and V of one head when the model reads these tokens."""
    seen, attention = [], model.attention

    def look(Q, K, V):
        shared = head // (len(Q) // len(K))  # the KV head of this query head
        seen.append((Q[head], K[shared].copy(), V[shared].copy()))
        return attention(Q, K, V)
    model.attention = look
    next(model.write(tokens, 1))
    return seen[layer]


def words_of(pieces: list[str]) -> list[tuple[str, list[int]]]:
    words: list[tuple[str, list[int]]] = []
    for n, piece in enumerate(pieces):
        if words and piece[:1].isalnum() and words[-1][0].isalnum():  # a new word begins with its space
            words[-1] = words[-1][0] + piece, [*words[-1][1], n]
        else:
            words.append((piece.strip() or repr(piece), [n]))
    return words


def show(word: str, P: np.ndarray, words: list[tuple[str, list[int]]]):
    print(f'\n"{word}" attends to')
    for name, tokens in words:
        weight = sum(P[n] for n in tokens if n < len(P))
        if tokens[0] < len(P):
            print(f"    {name:12}{weight:6.2f}  {'█' * round(WIDTH * weight)}".rstrip())
    print(f"    {'sum':12}{P.sum():6.2f}")


def number(name: str, value: str, most: int) -> int:
    if not value.isdecimal() or int(value) >= most:
        write.stop(f"{name}={value}: expected a whole number from 0 to {most - 1}")
    return int(value)


def main() -> int:
    parser = argparse.ArgumentParser(description="what the pronouns of a text attend to; without any, its last word")
    parser.error = write.stop
    for name, default in (("step", "04/flash_no_tiling"), ("prompt", PROMPT), ("layer", str(LAYER)), ("head", str(HEAD))):
        parser.add_argument("--" + name, default=default, help="(default: %(default)s)")
    asked = parser.parse_args()
    write.check_prompt(asked.prompt)
    attention = write.attention_of(asked.step)
    fields, weights = write.read_model()
    tokenizer, model = write.tokenizer_of(fields), write.Writer(fields, weights, attention)
    layer, head = number("LAYER", asked.layer, model.layers), number("HEAD", asked.head, model.heads)
    tokens = tokenizer.encode(asked.prompt).ids
    if len(tokens) >= model.most:
        write.stop(f"PROMPT: expected at most {model.most - 1} tokens, found {len(tokens)}")
    Q, K, V = inside(model, tokens, layer, head)
    words = words_of([tokenizer.decode([token]) for token in tokens])
    print(f"SmolLM2-135M, layer {layer}, head {head}; the weights are e^(S - lse), with the lse of {asked.step}")
    for word, of_word in [w for w in words if w[0].lower() in PRONOUNS] or words[-1:]:
        show(word, row_of_weights(write.name_of(asked.step), Q, K, V, of_word[-1]), words)
    return 0


if __name__ == "__main__":
    write.command(main)
