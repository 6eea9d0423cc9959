"""A framework's kernel: the forward pass of a two-layer perceptron, on any device that EP knows.

    python examples/perceptron.py [DEVICE]        such as cpu:0 or opencl:0

hidden = relu(x @ w1 + b1), y = hidden @ w2 + b2. A layer is one Matmul with its bias and activation. On a device without
Matmul the products are taken to the host, done by NumPy and brought back, and the program says so; adding and relu run on
the device then, too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ep_primitives import BroadcastBinary, ElementwiseUnary, Matmul

import ep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float32]


class Tensor(NamedTuple):
    """What a framework keeps: bytes on a device, and how they are a tensor."""

    memory: ep.Memory
    spec: ep.TensorSpec


class Perceptron:
    """Two dense layers with weights on one device."""

    def __init__(self, device: ep.Device, layers: list[tuple[Array, Array]]) -> None:
        self.device = device
        self.stream = device.stream()
        self.layers = [(self.put(weights), self.put(bias)) for weights, bias in layers]
        self.multiplied_by: set[str] = set()

    def forward(self, x: Array) -> Array:
        """Return y for a batch of rows x."""
        rows = self.put(x)
        for number, (weights, bias) in enumerate(self.layers, 1):
            rows = self.layer(rows, weights, bias, "relu" if number < len(self.layers) else "none")
        return self.get(rows)

    def layer(self, x: Tensor, weights: Tensor, bias: Tensor, activation: str) -> Tensor:
        """Enqueue activation(x @ weights + bias)."""
        layer = Matmul.infer(x.spec, weights.spec, bias=bias.spec, activation=activation)
        try:
            primitive = layer.on(self.device)
        except ep.UnsupportedError:
            y = self.add(self.product_on_host(x, weights), bias)
            return self.relu(y) if activation == "relu" else y
        self.multiplied_by.add(f"{primitive.implementation.name} on {self.device.name}")
        out = self.empty(layer.out)
        primitive(self.stream, a=x.memory, b=weights.memory, bias=bias.memory, out=out.memory)
        return out

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        """Enqueue the sum, b broadcast over the rows."""
        add = BroadcastBinary.infer("add", a.spec, b.spec)
        out = self.empty(add.out)
        add.on(self.device)(self.stream, a=a.memory, b=b.memory, out=out.memory)
        return out

    def relu(self, x: Tensor) -> Tensor:
        """Enqueue the rectifier, in place."""
        ElementwiseUnary("relu", x=x.spec, out=x.spec).on(self.device)(self.stream, x=x.memory, out=x.memory)
        return x

    def product_on_host(self, a: Tensor, b: Tensor) -> Tensor:
        """Multiply where the device cannot."""
        self.multiplied_by.add("NumPy: downloaded, multiplied and uploaded")
        return self.put(self.get(a) @ self.get(b))

    def empty(self, spec: ep.TensorSpec) -> Tensor:
        """Return a tensor with undefined contents."""
        return Tensor(self.device.allocate(spec.nbytes), spec)

    def put(self, array: Array) -> Tensor:
        """Enqueue the upload of an array."""
        array = np.ascontiguousarray(array)
        tensor = self.empty(ep.TensorSpec.of(array))
        self.stream.upload(tensor.memory, array)
        return tensor

    def get(self, tensor: Tensor) -> Array:
        """Wait for a tensor and return it as an array."""
        array = np.empty(tensor.spec.shape, np.float32)
        self.stream.download(array, tensor.memory)
        self.stream.synchronize()
        return array


def problem(seed: int = 0) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return a batch of 32 rows and two layers, 64 -> 128 -> 10."""
    draw: Any = np.random.default_rng(seed).standard_normal
    layers = [(draw((64, 128), np.float32), draw(128, np.float32)), (draw((128, 10), np.float32), draw(10, np.float32))]
    return draw((32, 64), np.float32), layers


def expected(x: Array, layers: list[tuple[Array, Array]]) -> NDArray[np.float64]:
    """Return the forward pass in float64 NumPy."""
    (w1, b1), (w2, b2) = [(w.astype(np.float64), b.astype(np.float64)) for w, b in layers]
    return np.maximum(x.astype(np.float64) @ w1 + b1, 0) @ w2 + b2


def main() -> int:
    """Run on the named device and compare with NumPy."""
    try:
        device = ep.device(sys.argv[1] if len(sys.argv) > 1 else "cpu:0")
    except (ValueError, ep.UnavailableError) as error:
        print(error)
        return 3 if isinstance(error, ep.UnavailableError) else 2
    x, layers = problem()
    perceptron = Perceptron(device, layers)
    y = perceptron.forward(x)
    print(f"{device.name}: products are by {', '.join(sorted(perceptron.multiplied_by))}")
    error = float(np.max(np.abs(y - expected(x, layers))))
    print(f"{device.name}: y has shape {y.shape}; the largest difference from float64 NumPy is {error:.2g}")
    return 0 if error < 1e-3 else 1  # noqa: PLR2004 - products of 128 terms of size 10 in float32


if __name__ == "__main__":
    sys.exit(main())
