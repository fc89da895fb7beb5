"""Writes write_reference.json for write_check.py: the same file, read and run by transformers in float64.

    python common/python/write_reference.py       # make write-reference, which fetches transformers and PyTorch

It uses none of the course's code: transformers reads the GGUF file, restores the order of the rows of Q and K, and
computes attention. Its norms, rotary embedding and softmax round to float32 even in float64.
"""
from __future__ import annotations

import json
from pathlib import Path

import torch
import transformers

import write

SOME = 16  # logits kept per position, evenly spread


def main():
    path = write.model_file()
    given = {"gguf_file": path.name, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, **given)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, **given, dtype=torch.float32, attn_implementation="eager").double().eval()
    prompt = tokenizer(write.PROMPT, add_special_tokens=False, return_tensors="pt")
    written = model.generate(**prompt, max_new_tokens=write.TOKENS, do_sample=False, output_logits=True,
                             return_dict_in_generate=True)
    text, begin = written.sequences[0].tolist(), prompt["input_ids"].shape[1]
    logits = torch.stack(written.logits)[:, 0]
    with torch.no_grad():  # without a cache
        once = model(written.sequences[:, :-1]).logits[0, begin - 1:]
    largest, two = float(once.abs().max()), once.topk(2).values
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    print(f"with and without its cache: {float((logits - once).abs().max()) / largest:.1e} of the largest logit apart")
    print(f"each token is ahead of the second one by {float((two[:, 0] - two[:, 1]).min()) / largest:.1e} of it, or more")
    ids = torch.linspace(0, logits.shape[1] - 1, SOME).long()
    lines = {"by": f"transformers {transformers.__version__}", "prompt": text[:begin], "tokens": text[begin:], "text": tokenizer.decode(text),
             "largest": largest, "ids": ids.tolist(),
             "logits": [[round(x, 5) for x in row] for row in once[:, ids].tolist()]}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in lines.items())
    Path(__file__).with_suffix(".json").write_text("{\n" + rows.replace("], [", "],\n  [") + "\n}\n")


if __name__ == "__main__":
    main()
