"""One rank of a training: blocks of attention, with the batch split over one dimension of a mesh and the heads over the other.

The weights of a block are sharded tensors: columns of w_in, and rows of w_out, belong to heads. Two conversions are all that
the ranks say to one another: P -> B of what a block gives, over the ranks that share its heads, and P -> B of each gradient,
over those that share the batch. On a mesh of 1 x 1 neither sends anything, and it is the training of one rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from attention import Eager, Heads
from ep_primitives import BroadcastBinary, Reduce
from ep_sharded import Broadcast, Mesh, Partial, ShardedTensor, Split, distribute

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_sharded import Placement
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

__all__ = ["Rank", "Settings", "batches", "first_weights"]

B, P, S = Broadcast(), Partial("sum"), Split
WEIGHTS: Final[Mapping[str, Placement]] = {"w_in": S(2), "b_in": S(1), "w_out": S(0), "b_out": B}
"""How the ranks that share the heads hold each weight: w_in is (width, 3, width), b_in (3, width)."""


class Settings(NamedTuple):
    """What is trained: `layers` blocks on sequences of shape (batch, length, width), at a rate of gradient descent."""

    shape: tuple[int, int, int] = (8, 16, 32)
    heads: int = 4
    layers: int = 2
    rate: float = 2.0
    dtype: str = "float32"


def first_weights(settings: Settings) -> list[dict[str, NDArray[Any]]]:
    """Return the weights of each block, drawn from one seed."""
    draw, width = np.random.default_rng(1).standard_normal, settings.shape[-1]
    shapes = {"w_in": (width, 3, width), "b_in": (3, width), "w_out": (width, width), "b_out": (width,)}
    return [
        {
            name: (draw(shape) * (width**-0.5 if name.startswith("w") else 0)).astype(settings.dtype)
            for name, shape in shapes.items()
        }
        for _ in range(settings.layers)
    ]


def batches(settings: Settings, step: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what a step reads, and what it is to give: x and a mixture of the mean of x so far, which attention can compute."""
    draw, width = np.random.default_rng((2, step)).standard_normal, settings.shape[-1]
    mixture = np.random.default_rng(3).standard_normal((width, width)) * width**-0.5
    x = draw(settings.shape)
    so_far = np.cumsum(x, 1) / np.arange(1, settings.shape[1] + 1)[:, None]
    return x.astype(settings.dtype), (x + so_far @ mixture).astype(settings.dtype)


class Rank:
    """One rank's weights and streams.

    extents  : how many ranks share the batch, which need not divide, and how many share the heads, which must: ValueError
    overlaps : True reduces each gradient on a second stream as soon as it is there; False all of them after the backward pass
    """

    def __init__(
        self, communicator: ep.Communicator, extents: tuple[int, int], settings: Settings, *, overlaps: bool = True
    ) -> None:
        if settings.heads % extents[1]:
            message = f"training: {settings.heads} heads do not divide over {extents[1]} ranks; take a mesh whose second extent divides them"
            raise ValueError(message)
        self.mesh = mesh = Mesh(communicator, extents)
        self.settings = settings
        self.overlaps = overlaps
        self.stream = mesh.device.stream(synchronous=False)
        self.reducing = mesh.device.stream(synchronous=False) if overlaps else self.stream
        self.do = Eager(self.stream)
        keep = mesh.device.tensor(np.tri(settings.shape[1], dtype=np.bool_), self.stream)
        self.weights = [
            {name: distribute(self.stream, mesh, array, B, WEIGHTS[name]) for name, array in layer.items()}
            for layer in first_weights(settings)
        ]
        heads = settings.heads // extents[1]
        self.blocks = []
        for layer in self.weights:
            w_in, b_in, w_out = (layer[name].local for name in ("w_in", "b_in", "w_out"))
            flat = w_in.reshape(w_in.shape[0], -1), b_in.reshape(-1)
            self.blocks.append(Heads(self.do, *flat, w_out, heads, keep))

    def step(self, x: Any, target: Any) -> ShardedTensor:
        """Enqueue a step of gradient descent, and return its loss, the mean of (y - target)^2; the same at every rank."""
        inputs = [distribute(self.stream, self.mesh, each, S(0), B).local for each in (x, target)]
        y = self._forward(inputs[0])
        error = self._binary("sub", y, inputs[1])
        self._backward(self._scaled(error, 2 / x.size))
        squares = self.do.emit(Reduce.infer("sum_of_squares", error), x=error)
        loss = ShardedTensor(self.mesh, squares.spec, [P, B], self._scaled(squares, 1 / x.size))
        return loss.to(self.stream, B, B)

    def _forward(self, x: ep.Tensor) -> ep.Tensor:
        for block, weights in zip(self.blocks, self.weights, strict=True):
            y = self._joined(block.forward(x))
            x = self.do.add(self._binary("add", y, weights["b_out"].local), x)
        return x

    def _backward(self, dy: ep.Tensor) -> None:
        """Enqueue the backward pass, the reductions of its gradients, and the changes of the weights."""
        late, changes = [], []
        for block, weights in zip(reversed(self.blocks), reversed(self.weights), strict=True):
            for name, gradient in block.backward(dy):
                if name == "x":
                    dy = self.do.add(self._joined(gradient), dy)
                elif self.overlaps:
                    changes.append((weights[name], self.reduced(weights[name], gradient)))
                else:
                    late.append((weights[name], gradient))
        changes += [(weight, self.reduced(weight, gradient)) for weight, gradient in late]
        if self.overlaps:
            self.stream.wait(self.reducing.record())
        for weight, gradient in changes:
            change = self._scaled(gradient, self.settings.rate)
            self.do.emit(
                BroadcastBinary.infer("sub", weight.local, change, out=weight.local),
                weight.local,
                a=weight.local,
                b=change,
            )

    def reduced(self, weight: ShardedTensor, gradient: ep.Tensor) -> ep.Tensor:
        """Enqueue the sum of a gradient over the ranks that share the batch, on the stream of reductions."""
        if self.overlaps:
            self.reducing.wait(self.stream.record())
        placed = weight.placements[1]
        local = gradient.reshape(*weight.local.shape)
        return ShardedTensor(self.mesh, weight.spec, [P, placed], local).to(self.reducing, B, placed).local

    def _joined(self, part: ep.Tensor) -> ep.Tensor:
        """Enqueue the sum of what the ranks that share the heads have of a tensor whose batch is split."""
        spec = ep.TensorSpec(part.dtype, self.settings.shape)
        return ShardedTensor(self.mesh, spec, [S(0), P], part).to(self.stream, S(0), B).local

    def _binary(self, op: str, a: ep.Tensor, b: ep.Tensor) -> ep.Tensor:
        return self.do.emit(BroadcastBinary.infer(op, a, b), a=a, b=b)

    def _scaled(self, x: ep.Tensor, factor: float) -> ep.Tensor:
        return self.do.emit(BroadcastBinary.infer("mul", x, ep.Scalar(x.dtype)), a=x, b=factor)

    def whole(self) -> list[ShardedTensor]:
        """Enqueue the conversion of all weights to what every rank holds whole, and return them."""
        return [each.to(self.stream, B, B) for layer in self.weights for each in layer.values()]

    def close(self) -> None:
        """Close the mesh."""
        self.mesh.close()
