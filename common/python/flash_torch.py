"""The course's attention for PyTorch: any step forward, any step backward, with gradients.

    O = flash_torch.attention(q, k, v, causal=True)
    O = flash_torch.attention(q, k, v, step="05/split_kv", backward="07/fa1", dropout=0.1, dropout_seed=1)

Tensors are on the CPU. Contiguous float32 is used where it lies; bfloat16, float16 and float64 are converted, and
the result has the type of q.
"""
from __future__ import annotations

import torch

import flash


def _array(x: torch.Tensor):
    if x.device.type != "cpu":
        raise ValueError(f"expected tensors on the CPU, found one on {x.device}")
    return x.detach().to(torch.float32).contiguous().numpy()


class Attention(torch.autograd.Function):
    """O and lse. The backward pass draws dropout again from the same seed."""

    @staticmethod
    def forward(ctx, q, k, v, step, backward, options):
        O, lse = flash.forward(*map(_array, (q, k, v)), step=step, **options)
        O = torch.from_numpy(O)
        if lse is None:
            if any(x.requires_grad for x in (q, k, v)):
                raise ValueError(f"step: expected one that writes lse, which gradients need, found {step!r}")
            return O.to(q.dtype), None
        lse = torch.from_numpy(lse)
        ctx.save_for_backward(q, k, v, O, lse)
        ctx.mark_non_differentiable(lse)
        ctx.step, ctx.options = backward, options
        return O.to(q.dtype), lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dO, _):
        saved = ctx.saved_tensors
        gradients = flash.backward(*map(_array, saved), _array(dO), step=ctx.step, **ctx.options)
        return *(torch.from_numpy(g).to(x.dtype) for g, x in zip(gradients, saved)), None, None, None


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, step: str = "05/complete",
              backward: str = "07/complete", **options) -> torch.Tensor:
    """O of q, k and v, (N, d), (H, N, d) or (B, H, N, d); options are those of flash.Options."""
    options = {name: _array_of_mask(x) if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    flash.Options(**options)
    return Attention.apply(q, k, v, step, backward, options)[0]


def _array_of_mask(x: torch.Tensor):
    return x.detach().cpu().contiguous().numpy()
