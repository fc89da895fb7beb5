"""Libraries with Python interfaces, as peers (protocol: peer.h).

    python3 peer.py pytorch|onnxruntime|openvino

Each library gets its inputs in its own layout and memory before timing, and the problem's number of threads. If it
offers several ways, all are tried and the fastest counts.
"""
import os
import sys
import time

import numpy

SHORT_CALL = 0.02  # seconds


class PyTorch:

    def __init__(self):
        import torch
        self.torch = torch
        products = "MKL" if torch.backends.mkl.is_available() else "its own products"
        self.name = f"PyTorch {torch.__version__} ({products}; {torch.backends.cpu.get_cpu_capability()})"

    def attention(self):
        return self.torch.nn.functional.scaled_dot_product_attention(*self.inputs, is_causal=self.causal)

    def prepare(self, inputs, dO, causal, threads, backward):
        self.torch.set_num_threads(threads)
        self.inputs, self.causal, self.backward = [self.torch.from_numpy(x) for x in inputs], causal, backward
        if backward:
            for x in self.inputs:
                x.requires_grad_()
            self.O, self.dO = self.attention(), self.torch.from_numpy(dO)
        return "scaled_dot_product_attention"

    def run(self):
        if not self.backward:
            return [self.attention()]
        return self.torch.autograd.grad([self.O], self.inputs, [self.dO], retain_graph=True)

    def outputs(self):
        return [x.detach().contiguous().numpy() for x in self.run()]


class OnnxRuntime:
    """Its three operators: the mask decides which one has a kernel that stores no scores."""

    def __init__(self):
        import onnx
        import onnxruntime
        self.onnx, self.ort = onnx, onnxruntime
        self.name = f"ONNX Runtime {onnxruntime.__version__}"

    def session(self, operator, names, inputs, outputs, threads, **attributes):
        """Bound to arrays, so that a call copies nothing. An omitted input has no name."""
        make, kinds = self.onnx.helper, {"float32": 1, "int32": 6}
        domain = "" if operator == "Attention" else "com.microsoft"
        node = make.make_node(operator, names, list(outputs), domain=domain, **attributes)
        infos = [[make.make_tensor_value_info(name, kinds[str(x.dtype)], x.shape) for name, x in arrays.items()]
                 for arrays in (inputs, outputs)]
        model = make.make_model(make.make_graph([node], "attention", *infos), ir_version=10,
                                opset_imports=[make.make_opsetid("", 23), make.make_opsetid("com.microsoft", 1)])
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = self.ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for bind, arrays in ((binding.bind_ortvalue_input, inputs), (binding.bind_ortvalue_output, outputs)):
            for name, x in arrays.items():
                bind(name, self.ort.OrtValue.ortvalue_from_numpy(x))
        return session, binding, operator

    def prepare(self, inputs, dO, causal, threads, backward):
        _, heads, n, d = inputs[0].shape
        self.heads = heads
        by_head = dict(zip("QKV", inputs))
        by_row = {name: numpy.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(1, n, heads * d) for name, x in by_head.items()}
        O = {"O": numpy.empty_like(by_row["Q"])}
        ways = [("MultiHeadAttention", "QKV", by_row, O, {"num_heads": heads, "unidirectional": int(causal)}),
                ("Attention", "QKV", by_head, {"O": numpy.empty_like(inputs[0])}, {"is_causal": int(causal)})]
        if causal:
            lengths = {"last": numpy.array([n - 1], "int32"), "total": numpy.array(n, "int32")}
            kept = {"kept_K": numpy.empty_like(inputs[1]), "kept_V": numpy.empty_like(inputs[2])}
            ways.append(("GroupQueryAttention", ["Q", "K", "V", "", "", "last", "total"], by_row | lengths, O | kept,
                         {"num_heads": heads, "kv_num_heads": heads}))
        best = float("inf")
        for operator, names, arrays, results, attributes in ways:
            tried = self.session(operator, list(names), arrays, results, threads, **attributes)
            seconds = quickest(lambda: tried[0].run_with_iobinding(tried[1]), 3)
            if seconds < best:
                best, self.chosen = seconds, tried
        return self.chosen[2]

    def run(self):
        self.chosen[0].run_with_iobinding(self.chosen[1])

    def outputs(self):
        self.run()
        O = self.chosen[1].copy_outputs_to_cpu()[0]
        return [O if O.ndim == 4 else O.reshape(*O.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)]


class OpenVino:
    """In float32; by default it may choose bf16."""

    def __init__(self):
        import openvino
        self.ov = openvino
        self.name = f"OpenVINO {openvino.__version__.split('-')[0]}"

    def prepare(self, inputs, dO, causal, threads, backward):
        opset = self.ov.opset13
        parameters = [opset.parameter(x.shape, numpy.float32) for x in inputs]
        model = self.ov.Model([opset.scaled_dot_product_attention(*parameters, causal=causal)], parameters)
        settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        self.request = self.ov.Core().compile_model(model, "CPU", settings).create_infer_request()
        self.inputs = inputs  # read in place
        for k, x in enumerate(inputs):
            self.request.set_input_tensor(k, self.ov.Tensor(x, shared_memory=True))
        return "scaled_dot_product_attention"

    def run(self):
        self.request.infer()

    def outputs(self):
        self.run()
        return [self.request.get_output_tensor(0).data]


LIBRARIES = {"pytorch": PyTorch, "onnxruntime": OnnxRuntime, "openvino": OpenVino}


def timed_call(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def quickest(run, calls):
    return min(timed_call(run) for _ in range(calls))


def take_turn(run, seconds):
    start = time.perf_counter()
    best = timed_call(run)
    if best < SHORT_CALL:  # the others have used the caches
        best = timed_call(run)
    while time.perf_counter() - start < seconds:
        best = min(best, timed_call(run))
    return best


def serve(library, lines, say):
    say(library.name)
    backward = False
    for line in lines:
        word, *rest = line.split() or [""]
        if word == "problem" and len(rest) == 8:
            folder, _, _, _, _, causal, threads, backward = rest
            backward = backward == "1"
            *inputs, dO = [numpy.load(os.path.join(folder, name + ".npy")) for name in ("q", "k", "v", "do")]
            say("ready " + library.prepare(inputs, dO, causal == "1", int(threads), backward))
        elif word == "time" and len(rest) == 1:
            say(f"took {take_turn(library.run, float(rest[0])):.9f}")
        elif word == "write" and len(rest) == 1:
            for name, array in zip(["dq", "dk", "dv"] if backward else ["o"], library.outputs()):
                numpy.save(os.path.join(rest[0], name), numpy.ascontiguousarray(array))
            say("written")
        else:
            sys.exit(f"peer.py: expected problem, time or write, found: {line.strip()}")


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES:
        print(f"peer.py: expected one of {', '.join(LIBRARIES)}, found: {' '.join(sys.argv[1:]) or 'nothing'}", file=sys.stderr)
        sys.exit(2)
    serve(LIBRARIES[sys.argv[1]](), sys.stdin, lambda answer: print(answer, flush=True))


if __name__ == "__main__":
    main()
