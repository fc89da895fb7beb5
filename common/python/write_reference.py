"""Writes write_reference.json, which write.py is held against: the same file read and run by transformers, in float64.

    python common/python/write_reference.py       # needs gguf, torch and transformers; make write-reference fetches them

No line of it is the course's: transformers reads the GGUF file, undoes the order of its rows, and computes attention.
"""
from __future__ import annotations

import json
from pathlib import Path

import torch
import transformers

import write

TOKENS, SOME = 64, 16  # tokens that are written; logits that are kept of each position, evenly spread


def main():
    path = write.model_file()
    given = {"gguf_file": path.name, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, **given)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, **given, dtype=torch.float32, attn_implementation="eager").double().eval()
    tokens = prompt = tokenizer(write.PROMPT, add_special_tokens=False)["input_ids"]
    logits = []
    with torch.no_grad():
        past, new = None, prompt
        for _ in range(TOKENS):
            out = model(torch.tensor([new]), past_key_values=past, use_cache=True)
            past, last = out.past_key_values, out.logits[0, -1]
            logits.append(last)
            new = [int(last.argmax())]
            tokens = tokens + new
        once = model(torch.tensor([tokens[:-1]])).logits[0, len(prompt) - 1:]  # and without a cache
    logits = torch.stack(logits)
    apart = float((logits - once).abs().max() / once.abs().max())
    runner_up = logits.topk(2).values
    print(f"transformers {transformers.__version__}, torch {torch.__version__}; with and without its cache: {apart:.1e} apart")
    print(f"the most likely token is ahead of the next one by {float((runner_up[:, 0] - runner_up[:, 1]).min()):.3f} at least")
    print(tokenizer.decode(tokens))
    ids = torch.linspace(0, logits.shape[1] - 1, SOME).long()
    lines = {"by": f"transformers {transformers.__version__}", "prompt": prompt, "tokens": tokens[len(prompt):],
             "largest": float(logits.abs().max()), "ids": ids.tolist(),
             "logits": [[round(x, 5) for x in row] for row in logits[:, ids].tolist()]}
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in lines.items())
    Path(__file__).with_suffix(".json").write_text("{\n" + text.replace("], [", "],\n  [") + "\n}\n")


if __name__ == "__main__":
    main()
