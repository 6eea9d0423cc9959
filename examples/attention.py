"""A framework's kernel: causal multi-head attention, forward and backward, on any device that has its primitives.

    q, k, v = heads of x @ w_in + b_in
    p       = softmax(q k^T / sqrt(depth) where k is not after q, else -inf)
    y       = x + heads joined(p v) @ w_out + b_out

Every line of the block is one primitive on one stream. Heads and transposes are strides: nothing is copied for them. The
block is described once and becomes a graph; a step is an upload, one launch and a download. An error names the cells
that a device lacks; nothing falls back to another device.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from attention_reference import largest_error, problem, reference, shapes
from ep_primitives import BroadcastBinary, Matmul, Reduce, Softmax, SoftmaxBackward, Where
from ep_primitives.judging.reference import array_dtype

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

EXIT_CODES = """\
exit codes:
  0  the results agree with NumPy in float64
  1  they do not
  2  the command line, or a device name that no provider has
  3  the device is not on this machine
  4  the device lacks primitives, which are named"""


class Program:
    """Primitives with their operands, in the order in which one stream runs them."""

    def __init__(self, device: ep.Device) -> None:
        self.device = device
        self.stream = device.stream()
        self.launches: list[tuple[ep.Primitive, dict[str, Any]]] = []
        self.missing: list[str] = []

    def emit(
        self, descriptor: ep.Descriptor, out: ep.Tensor | None = None, **operands: ep.Tensor | float | None
    ) -> ep.Tensor:
        """Append a primitive and return its output: `out`, or a new tensor. Operands that are None are left out."""
        out = self.device.empty(descriptor.out) if out is None else out
        given = {name: each for name, each in {**operands, "out": out}.items() if each is not None}
        try:
            self.launches.append((descriptor.on(self.device), given))
        except ep.UnsupportedError as error:
            self.missing.append(str(error))
        return out

    def matmul(
        self,
        a: ep.Tensor,
        b: ep.Tensor,
        *,
        bias: ep.Tensor | None = None,
        alpha: float = 1.0,
        out: ep.Tensor | None = None,
    ) -> ep.Tensor:
        """Append alpha a @ b + bias."""
        return self.emit(Matmul.infer(a, b, bias=bias, out=out), out, a=a, b=b, bias=bias, alpha=alpha)

    def add(self, a: ep.Tensor, b: ep.Tensor) -> ep.Tensor:
        """Append a += b."""
        return self.emit(BroadcastBinary.infer("add", a, b, out=a), a, a=a, b=b)

    def sum_rows(self, x: ep.Tensor) -> ep.Tensor:
        """Append the sum of all rows, the gradient of a bias."""
        return self.emit(Reduce.infer("sum", x, range(len(x.shape) - 1)), x=x)

    def mask(self, x: ep.Tensor, keep: ep.Tensor) -> ep.Tensor:
        """Append -inf in place of the elements of x that `keep` drops."""
        where = Where.infer(keep, x, ep.Scalar(x.dtype), out=x)
        return self.emit(where, x, condition=keep, a=x, b=-math.inf)

    def softmax(self, x: ep.Tensor) -> ep.Tensor:
        """Append the softmax of the rows of x, in place."""
        return self.emit(Softmax.infer(x, out=x), x, x=x)

    def softmax_backward(self, dy: ep.Tensor, y: ep.Tensor) -> ep.Tensor:
        """Append the gradient of the input of the softmax y, in place of dy."""
        return self.emit(SoftmaxBackward.infer(dy, y, out=dy), dy, dy=dy, y=y)

    def graph(self) -> ep.Graph:
        """Return all of it as one graph. Raises UnsupportedError, which names all cells that the device lacks."""
        if self.missing:
            known = len(self.launches)
            message = f"{self.device.name} lacks {len(self.missing)} of {len(self.missing) + known} launches, which are"
            raise ep.UnsupportedError("\n".join([message, *dict.fromkeys(self.missing)]))
        with self.stream.capture() as graph:
            for primitive, operands in self.launches:
                primitive(self.stream, **operands)
        return graph


class Eager(Program):
    """A Program whose primitives run when they are appended."""

    def __init__(self, stream: ep.Stream) -> None:
        self.device = stream.device
        self.stream = stream

    def emit(
        self, descriptor: ep.Descriptor, out: ep.Tensor | None = None, **operands: ep.Tensor | float | None
    ) -> ep.Tensor:
        """Launch a primitive and return its output."""
        out = self.device.empty(descriptor.out) if out is None else out
        given = {name: each for name, each in {**operands, "out": out}.items() if each is not None}
        descriptor.on(self.device)(self.stream, **given)
        return out


class Heads:
    """The block without its residual connection, for some of its heads: a sum over parts of the heads is the whole.

    w_in, b_in : (width, 3 part) and (3 part,), the columns of these heads' q, k and v; part = heads x depth
    w_out      : (part, width)
    keep       : (length, length) of bool
    """

    def __init__(  # noqa: PLR0913, PLR0917 - a program, and what it reads
        self, do: Program, w_in: ep.Tensor, b_in: ep.Tensor, w_out: ep.Tensor, heads: int, keep: ep.Tensor
    ) -> None:
        self._do = do
        self._w_in, self._b_in, self._w_out = w_in, b_in, w_out
        self._heads, self._keep = heads, keep
        self._scale = (w_out.shape[0] / heads) ** -0.5

    def forward(self, x: ep.Tensor, bias: ep.Tensor | None = None) -> ep.Tensor:
        """Append these heads' part of y - x, and `bias`; keep for the gradients what they need."""
        do, part = self._do, self._w_out.shape[0]
        self._x, self._qkv = x, do.matmul(x, self._w_in, bias=self._b_in)
        self._joined = do.device.empty(x.dtype, (*x.shape[:2], part))
        q, k, v = _heads(self._qkv, self._heads, 3)
        self._p = do.softmax(do.mask(do.matmul(q, k.mT, alpha=self._scale), self._keep))
        do.matmul(self._p, v, out=_heads(self._joined, self._heads)[0])
        return do.matmul(self._joined, self._w_out, bias=bias)

    def backward(self, dy: ep.Tensor) -> Iterator[tuple[str, ep.Tensor]]:
        """Append and yield the gradients of sum(y dy) by w_out, b_out, w_in, b_in and x, the last without dy itself."""
        do, p = self._do, self._p
        yield "w_out", do.matmul(_rows(self._joined).mT, _rows(dy))
        yield "b_out", do.sum_rows(dy)
        q, k, v = _heads(self._qkv, self._heads, 3)
        (dpv,), dqkv = _heads(do.matmul(dy, self._w_out.mT), self._heads), do.device.empty(self._qkv.spec)
        dq, dk, dv = _heads(dqkv, self._heads, 3)
        do.matmul(p.mT, dpv, out=dv)
        ds = do.softmax_backward(do.matmul(dpv, v.mT), p)  # 0 where p is masked
        do.matmul(ds, k, alpha=self._scale, out=dq)
        do.matmul(ds.mT, q, alpha=self._scale, out=dk)
        yield "w_in", do.matmul(_rows(self._x).mT, _rows(dqkv))
        yield "b_in", do.sum_rows(dqkv)
        yield "x", do.matmul(dqkv, self._w_in.mT)


class Attention:
    """The block for one shape and element type: a graph, the tensors that it reads, and those that it writes."""

    def __init__(self, device: ep.Device, shape: tuple[int, int, int], heads: int, dtype: str = "float32") -> None:
        self.program = do = Program(device)
        self.inputs = {name: device.empty(dtype, each) for name, each in shapes(shape).items()}
        x, w_in, b_in, w_out, b_out, dy = self.inputs.values()
        keep = device.tensor(np.tri(shape[1], dtype=np.bool_))
        block = Heads(do, w_in, b_in, w_out, heads, keep)
        y = do.add(block.forward(x, b_out), x)
        self.outputs = {"y": y, **{f"d{name}": gradient for name, gradient in block.backward(dy)}}
        do.add(self.outputs["dx"], dy)
        self.graph = do.graph()

    def step(self, inputs: Arrays) -> Arrays:
        """Return y and the gradients of sum(y dy) by all else, for the inputs x, w_in, b_in, w_out, b_out and dy."""
        stream = self.program.stream
        for name, tensor in self.inputs.items():
            stream.upload(tensor.memory, np.ascontiguousarray(inputs[name], array_dtype(tensor.dtype)))
        self.graph.launch(stream)
        return {name: tensor.numpy(stream) for name, tensor in self.outputs.items()}


def _rows(x: ep.Tensor) -> ep.Tensor:
    """Return x with all dimensions but the last made one."""
    return x.reshape(-1, x.shape[-1])


def _heads(x: ep.Tensor, heads: int, parts: int = 1) -> list[ep.Tensor]:
    """Return each of `parts` equal parts of the rows of a (batch, length, width) as (batch, heads, length, depth)."""
    return [*x.reshape(*x.shape[:2], parts, heads, -1).permute(2, 0, 3, 1, 4)]


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
