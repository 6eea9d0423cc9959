"""Training over many ranks: attention, with the batch split over some ranks (data parallel) and the heads over others (tensor parallel).

    python examples/training.py --mesh 2x1 --mesh 1x4 --mesh 2x2      # equal to one rank, with the largest differences
    python examples/training.py --picture docs/training.svg           # loss curves of all meshes
    python examples/training.py --measure                             # what overlap of reductions and backward pass gives

A mesh DxT has D parts of the batch and T parts of the heads. Ranks are in this process, on one device, and one thread feeds
their streams. Where 2 x 2 stands, four ranks are data and tensor parallel at once.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from ep_collectives import local_groups
from training_model import Rank, Settings, batches
from training_picture import picture

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep_sharded import ShardedTensor
    from numpy.typing import NDArray

    Array = NDArray[Any]

MESHES = ((2, 1), (1, 2), (4, 1), (1, 4), (2, 2))
BOUND = 16 * 2.0**-23
"""Of the difference from one rank in float64, of the largest weight: that of the attention example in float32."""
LARGE = Settings((4, 64, 512), 8, 4, 0.5)
"""So large that kernels, and not their launches, take the time: 16 MiB of gradients."""
EXIT_CODES = """\
exit codes:
  0  all meshes train as one rank does
  1  some do not
  2  the command line, or a device name that no provider has
  3  the device is not on this machine"""


@contextmanager
def ranks(
    device: str, mesh: tuple[int, int], settings: Settings, *, overlaps: bool = True, kind: type[Rank] = Rank
) -> Iterator[list[Rank]]:
    """Give the ranks of a mesh, on one device."""
    where = ep.device(device)
    communicators = [ep.communicator(where, group) for group in local_groups(mesh[0] * mesh[1])]
    made = [kind(each, mesh, settings, overlaps=overlaps) for each in communicators]
    try:
        yield made
    finally:
        for rank, communicator in zip(made, communicators, strict=True):
            rank.close()
            communicator.close()


def stepped(made: Sequence[Rank], x: Array, target: Array) -> list[float]:
    """Do one step at all ranks, and return the loss at each."""
    losses = [rank.step(x, target) for rank in made]
    return [float(loss.local.numpy(rank.stream)) for loss, rank in zip(losses, made, strict=True)]


def trained(
    device: str, mesh: tuple[int, int], settings: Settings, steps: int, *, overlaps: bool = True
) -> tuple[list[float], list[Array]]:
    """Return the loss of each step, and the weights after the last, whole. Asserts that all ranks have the same loss."""
    with ranks(device, mesh, settings, overlaps=overlaps) as made:
        curve = []
        for step in range(steps):
            first, *others = stepped(made, *batches(settings, step))
            assert all(other == first for other in others)
            curve.append(first)
        held = [rank.whole() for rank in made]
        weights = [tensor.local.numpy(made[0].stream) for tensor in held[0]]
    return curve, weights


def distance(found: list[Array], wanted: list[Array]) -> float:
    """Return the largest difference of weights, as a part of the largest weight of its tensor."""
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, wanted, strict=True))


class Unreduced(Rank):
    """A rank that keeps its gradients to itself, and so trains on its part of the batch: how fast a step could be."""

    def reduced(self, weight: ShardedTensor, gradient: ep.Tensor) -> ep.Tensor:
        """Return the gradient."""
        return gradient.reshape(*weight.local.shape)


def measured(device: str, mesh: tuple[int, int], settings: Settings, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of steps without reductions, with them after the backward pass, and beside it; all in turn."""
    batch = batches(settings, 0)
    with (
        ranks(device, mesh, settings, overlaps=False, kind=Unreduced) as alone,
        ranks(device, mesh, settings, overlaps=False) as after,
        ranks(device, mesh, settings, overlaps=True) as beside,
    ):
        works = [("no reductions", alone), ("after the pass", after), ("beside the pass", beside)]
        seconds: dict[str, list[float]] = {name: [] for name, _ in works}
        for number in range(rounds + 2):
            works = [*works[1:], works[0]]
            for name, made in works:
                begin = time.perf_counter()
                stepped(made, *batch)
                if number > 1:  # the first rounds choose kernels, and take memory
                    seconds[name].append(time.perf_counter() - begin)
    return seconds


def compared(device: str, meshes: Sequence[tuple[int, int]], settings: Settings, steps: int) -> tuple[str, float]:
    """Train on each mesh and on one rank, print what differs, and return a picture and the largest difference."""
    exact, wanted = trained(device, (1, 1), settings._replace(dtype="float64"), steps)
    curves, apart, worst = {}, {}, 0.0
    for mesh in ((1, 1), *meshes):
        name = f"{mesh[0]} x {mesh[1]}"
        curves[name], weights = trained(device, mesh, settings, steps)
        apart[name] = [abs(a - b) / b + 1e-9 for a, b in zip(curves[name], exact, strict=True)]
        far = distance(weights, wanted)
        worst = max(worst, far)
        print(
            f"{name:6} loss {curves[name][0]:.6f} -> {curves[name][-1]:.6f}, weights {far:.2g} from one rank in float64"
        )
    title = "Training over meshes of data parallel x tensor parallel ranks"
    return picture(title, {"loss": curves, "loss, away from one rank in float64": apart}), worst


def _mesh(text: str) -> tuple[int, int]:
    """Return the extents that a word such as 2x4 names. Raises ArgumentTypeError."""
    extents = text.split("x")
    if len(extents) != 2 or not all(each.isascii() and each.isdigit() and int(each) for each in extents):  # noqa: PLR2004
        message = f"{text!r} is no mesh; give two extents above 0, such as 2x4"
        raise argparse.ArgumentTypeError(message)
    return int(extents[0]), int(extents[1])


def main() -> int:
    """Train on meshes and compare, or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("device", nargs="?", default="cpu:0", help="such as cpu:0, the default, or sim:0")
    parser.add_argument("--mesh", type=_mesh, action="append", help="DxT, any number of times; all of 2 and 4 ranks")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--picture", type=Path, help="an SVG of the loss curves")
    parser.add_argument("--measure", action="store_true", help="seconds of a step on 2 x 1, with and without overlap")
    given = parser.parse_args()
    if given.steps < 1:
        parser.error(f"--steps is {given.steps}, needs a number from 1 on")
    if given.picture and not given.picture.parent.is_dir():  # before the training whose curves it would lose
        parser.error(f"--picture: there is no folder {given.picture.parent}; make it")
    try:
        ep.device(given.device)
    except (ValueError, ep.UnavailableError) as error:
        print(error)
        return 3 if isinstance(error, ep.UnavailableError) else 2
    if given.measure:
        for name, seconds in measured(given.device, (2, 1), LARGE, rounds=30).items():
            print(f"{name:16} median {statistics.median(seconds) * 1e3:.0f} ms, least {min(seconds) * 1e3:.0f} ms")
        return 0
    try:
        drawn, worst = compared(given.device, given.mesh or MESHES, Settings(), given.steps)
    except ValueError as error:
        print(error)
        return 2
    if given.picture:
        try:
            given.picture.write_text(drawn)
        except OSError as error:
            print(f"--picture: {error}; give another file")
            return 2
    print(f"largest difference {worst:.2g}, allowed {BOUND:.2g}")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
