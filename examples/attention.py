"""A framework's kernel: causal multi-head attention, forward and backward, on any device that has its primitives.

    q, k, v = heads of x @ w_in + b_in
    p       = softmax(q k^T / sqrt(depth) where k is not after q, else -inf)
    y       = x + heads joined(p v) @ w_out + b_out

Every line of the block is one primitive on one stream. Heads and transposes are strides: nothing is copied for them. The
block is described once and becomes a graph; a step is an upload, one launch and a download. What a device lacks is named by
its cells, and nothing of it is done elsewhere.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from attention_reference import largest_error, problem, reference, shapes
from ep_primitives import BroadcastBinary, Matmul, Reduce, Softmax, SoftmaxBackward, Where
from ep_primitives.reference import array_dtype

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

EXIT_CODES = """\
exit codes:
  0  the results agree with NumPy in float64
  1  they do not
  2  the command line, or a device name that no provider has
  3  the device is not on this machine
  4  the device lacks primitives, which are named"""


class Tensor(NamedTuple):
    """What a framework keeps: bytes on a device, and how they are a tensor."""

    memory: ep.Memory
    spec: ep.TensorSpec

    def view(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Tensor:
        """Return other elements of the same bytes, all counted in elements."""
        return Tensor(self.memory, ep.TensorSpec(self.spec.dtype, shape, strides, offset))

    @property
    def transposed(self) -> Tensor:
        """The tensor with its last two dimensions swapped."""
        (*shape, m, n), (*strides, down, along) = self.spec.shape, self.spec.strides
        return self.view((*shape, n, m), (*strides, along, down), self.spec.offset)

    @property
    def rows(self) -> Tensor:
        """A dense tensor with all dimensions but the last made one."""
        width = self.spec.shape[-1]
        return self.view((self.spec.size // width, width), (width, 1))

    def heads(self, heads: int, parts: int = 1) -> list[Tensor]:
        """Return each of `parts` equal parts of the rows of a dense (batch, length, width) as (batch, heads, length, depth)."""
        batch, length, width = self.spec.shape
        depth = width // parts // heads
        shape, strides = (batch, heads, length, depth), (length * width, depth, width, 1)
        return [self.view(shape, strides, part * heads * depth) for part in range(parts)]


class Program:
    """Primitives with their operands, in the order in which one stream runs them."""

    def __init__(self, device: ep.Device) -> None:
        self.device = device
        self.stream = device.stream()
        self.launches: list[tuple[ep.Primitive, dict[str, Any]]] = []
        self.missing: list[str] = []

    def empty(self, spec: ep.TensorSpec) -> Tensor:
        """Return a tensor with undefined contents."""
        return Tensor(self.device.allocate(spec.nbytes), spec)

    def emit(self, descriptor: ep.Descriptor, out: Tensor | None = None, **operands: Tensor | float | None) -> Tensor:
        """Append a primitive and return what it writes: `out`, or a new tensor. Operands that are None are left out."""
        out = out or self.empty(descriptor.out)
        given = {name: each for name, each in {**operands, "out": out}.items() if each is not None}
        try:
            primitive = descriptor.on(self.device)
        except ep.UnsupportedError as error:
            self.missing.append(str(error))
        else:
            memories = {name: each.memory if isinstance(each, Tensor) else each for name, each in given.items()}
            self.launches.append((primitive, memories))
        return out

    def matmul(
        self, a: Tensor, b: Tensor, *, bias: Tensor | None = None, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        """Append alpha a @ b + bias."""
        specs: dict[str, Any] = {"a": a.spec, "b": b.spec, "bias": bias and bias.spec}
        descriptor = Matmul(**specs, out=out.spec) if out else Matmul.infer(**specs)
        return self.emit(descriptor, out, a=a, b=b, bias=bias, alpha=alpha)

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        """Append a += b."""
        return self.emit(BroadcastBinary("add", a=a.spec, b=b.spec, out=a.spec), a, a=a, b=b)

    def sum_rows(self, x: Tensor) -> Tensor:
        """Append the sum of all rows, the gradient of a bias."""
        return self.emit(Reduce.infer("sum", x.rows.spec, 0), x=x)

    def mask(self, x: Tensor, keep: Tensor) -> Tensor:
        """Append -inf in place of what x is not to keep."""
        where = Where(condition=keep.spec, a=x.spec, b=ep.Scalar(x.spec.dtype), out=x.spec)
        return self.emit(where, x, condition=keep, a=x, b=-math.inf)

    def softmax(self, x: Tensor) -> Tensor:
        """Append the softmax of the rows of x, in place."""
        return self.emit(Softmax(x=x.spec, out=x.spec), x, x=x)

    def softmax_backward(self, dy: Tensor, y: Tensor) -> Tensor:
        """Append the gradient by what the softmax y was made of, in place of dy."""
        return self.emit(SoftmaxBackward(dy=dy.spec, y=y.spec, out=dy.spec), dy, dy=dy, y=y)

    def graph(self) -> ep.Graph:
        """Return all of it as one graph. Raises UnsupportedError that names whatever the device lacks."""
        if self.missing:
            known = len(self.launches)
            message = f"{self.device.name} lacks {len(self.missing)} of {len(self.missing) + known} launches, which are"
            raise ep.UnsupportedError("\n".join([message, *dict.fromkeys(self.missing)]))
        with self.stream.capture() as graph:
            for primitive, operands in self.launches:
                primitive(self.stream, **operands)
        return graph


class Attention:
    """The block for one shape and element type: a graph, the tensors that it reads, and those that it writes."""

    def __init__(self, device: ep.Device, shape: tuple[int, int, int], heads: int, dtype: str = "float32") -> None:
        _, length, width = shape
        self.program = do = Program(device)
        self.inputs = {name: do.empty(ep.TensorSpec(dtype, each)) for name, each in shapes(shape).items()}
        x, w_in, b_in, w_out, b_out, dy = self.inputs.values()
        keep = do.empty(ep.TensorSpec("bool", (length, length)))
        scale = (width / heads) ** -0.5

        qkv, joined = do.matmul(x, w_in, bias=b_in), do.empty(x.spec)
        q, k, v = qkv.heads(heads, 3)
        p = do.softmax(do.mask(do.matmul(q, k.transposed, alpha=scale), keep))
        do.matmul(p, v, out=joined.heads(heads)[0])
        y = do.add(do.matmul(joined, w_out, bias=b_out), x)

        dw_out, db_out = do.matmul(joined.rows.transposed, dy.rows), do.sum_rows(dy)
        (dpv,), dqkv = do.matmul(dy, w_out.transposed).heads(heads), do.empty(qkv.spec)
        dq, dk, dv = dqkv.heads(heads, 3)
        do.matmul(p.transposed, dpv, out=dv)
        ds = do.softmax_backward(do.matmul(dpv, v.transposed), p)  # 0 where p is masked
        do.matmul(ds, k, alpha=scale, out=dq)
        do.matmul(ds.transposed, q, alpha=scale, out=dk)
        dw_in, db_in = do.matmul(x.rows.transposed, dqkv.rows), do.sum_rows(dqkv)
        dx = do.add(do.matmul(dqkv, w_in.transposed), dy)

        self.outputs = {"y": y, "dx": dx, "dw_in": dw_in, "db_in": db_in, "dw_out": dw_out, "db_out": db_out}
        self.graph = do.graph()
        do.stream.upload(keep.memory, np.tri(length, dtype=np.bool_))

    def step(self, inputs: Arrays) -> Arrays:
        """Return y and the gradients of sum(y dy) by all else, for the inputs x, w_in, b_in, w_out, b_out and dy."""
        stream = self.program.stream
        for name, tensor in self.inputs.items():
            stream.upload(tensor.memory, np.ascontiguousarray(inputs[name], array_dtype(tensor.spec.dtype)))
        self.graph.launch(stream)
        specs = {name: tensor.spec for name, tensor in self.outputs.items()}
        results = {name: np.empty(spec.shape, array_dtype(spec.dtype)) for name, spec in specs.items()}
        for name, array in results.items():
            stream.download(array, self.outputs[name].memory)
        stream.synchronize()
        return results


def main() -> int:
    """Run a step on the named device and compare it with NumPy."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("device", nargs="?", default="cpu:0", help="such as cpu:0, the default, or opencl:0")
    name = parser.parse_args().device
    heads, inputs = 4, problem(shape=(2, 24, 32))
    try:
        block = Attention(ep.device(name), inputs["x"].shape, heads)
    except (ValueError, ep.UnavailableError, ep.UnsupportedError) as error:
        print(error)
        return 4 if isinstance(error, ep.UnsupportedError) else 3 if isinstance(error, ep.UnavailableError) else 2
    by = dict.fromkeys(f"{each} by {each.implementation.name}" for each, _ in block.program.launches)
    print(f"{name}: {len(block.program.launches)} launches in one graph: {', '.join(by)}")
    found, wanted = block.step(inputs), reference(inputs, heads)
    errors = {output: largest_error(found[output], wanted[output]) for output in wanted}
    print("largest error against NumPy in float64, of the largest element:")
    print(", ".join(f"{output} {error:.2g}" for output, error in errors.items()))
    return int(max(errors.values()) > 1e-5)  # noqa: PLR2004 - sums of up to 96 terms in float32


if __name__ == "__main__":
    sys.exit(main())
