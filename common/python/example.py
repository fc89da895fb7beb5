"""A few calls of flash.py, and their results."""
import numpy as np

import flash

numbers = np.random.default_rng(1)
Q, K, V, dO = (numbers.standard_normal((1, 8, 1024, 64), np.float32) for _ in range(4))

O, lse = flash.forward(Q, K, V, causal=True)
dQ, dK, dV = flash.backward(Q, K, V, O, lse, dO, causal=True)
print("O", O.shape, "lse", lse.shape, "dQ", dQ.shape)
print({name: round(x, 2) for name, x in flash.explained(Q, K, V, O=O, lse=lse, causal=True).items()})

for step in ("04/standard_attention", "05/fa2", "05/complete"):
    O, _ = flash.forward(Q, K, V, step=step, threads=1)
    print(f"{step:22} extra memory {flash.extra_bytes() / 1000:7.0f} kB, mean of |O| {np.abs(O).mean():.6f}")

try:
    flash.forward(Q, K, V, step="05/fa2", dropout=0.1)
except ValueError as error:
    print(error)
