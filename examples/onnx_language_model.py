"""A small language model that goes on with a text, token by token, with a cache that stays on the device.

    python examples/onnx_language_model.py --device cpu:0 "she sells sea shells on the sea shore; she s"

Its weights are made by hand, not learned: two layers of attention look for an earlier place of the last few letters,
and write the letter that followed there (induction heads, as Olsson and others found them in trained models in 2022).
So a phrase of the prompt that begins again is continued. Layer one copies to each place the letters before it; layer
two compares these with the last letters, the nearest first, and takes the letter that stands there. The model is ONNX
as an exporter writes it: the cache has a fixed capacity, TensorScatter writes new rows into it, Attention is told how
many there are.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_onnx import Session, device_name
from ep_onnx.report import report
from onnx import TensorProto, helper, numpy_helper

import ep

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

    Array = NDArray[Any]

LETTERS: Final = " abcdefghijklmnopqrstuvwxyz.,;'"
CAPACITY: Final = 512
BACK: Final = 6
"""How many letters are compared."""
SHARP: Final = 20.0
"""The farthest letter's part of a score; each nearer one's is twice as large. exp(-20), of other places, is nothing."""
PROMPT: Final = "she sells sea shells by the sea shore. the shells she sells are sea shells. she sells sea sh"


def weights() -> dict[str, Array]:
    """Return the model's constants. A row of the stream holds a letter, its place, and the letters one and two places before."""
    letters, places = len(LETTERS), CAPACITY
    width = (1 + BACK) * letters + places
    letter, place = slice(0, letters), slice(letters, letters + places)
    before = [slice(letters * (n + 1) + places, letters * (n + 2) + places) for n in range(BACK)]
    found = {"letter": np.zeros((letters, width)), "place": np.zeros((places, width))}
    found["letter"][:, letter], found["place"][:, place] = np.eye(letters), np.eye(places)
    found |= {"k1": np.zeros((width, places)), "v": np.zeros((width, letters))}
    found["k1"][place], found["v"][letter] = np.eye(places), np.eye(letters)
    found |= {"q2": np.zeros((width, BACK * letters)), "k2": np.zeros((width, BACK * letters))}
    for head in range(BACK):
        found[f"q1_{head}"], found[f"o1_{head}"] = np.zeros((width, places)), np.zeros((letters, width))
        found[f"q1_{head}"][place] = SHARP * np.eye(places, k=-head - 1)  # place i attends to place i - head - 1
        found[f"o1_{head}"][:, before[head]] = np.eye(letters)
        block = slice(head * letters, (head + 1) * letters)
        found["q2"][before[head - 1] if head else letter, block] = SHARP * 2 ** (BACK - 1 - head) * np.eye(letters)
        found["k2"][before[head], block] = np.eye(letters)
    return {name: each.astype(np.float32) for name, each in found.items()}


def constants() -> dict[str, Array]:
    """Return the weights, and the numbers that slices and shapes are made of."""
    return {
        **weights(),
        "one": np.array([1]),
        "two": np.array([2]),
        "last": np.array([-1]),
        "end": np.array([np.iinfo(np.int64).max]),
    }


def model() -> ModelProto:
    """Return the model: tokens and the place of the first one give the next token; four caches are states."""
    node, sizes = helper.make_node, {"k1": CAPACITY, "v1": len(LETTERS), "k2": BACK * len(LETTERS), "v2": len(LETTERS)}
    nodes = [
        node("Gather", ["letter", "tokens"], ["spelled"]),
        node("Gather", ["place", "places"], ["placed"]),
        node("Add", ["spelled", "placed"], ["rows0"]),
        node("Shape", ["tokens"], ["extents"]),
        node("Slice", ["extents", "one", "two"], ["count"]),
        node("Add", ["begin", "count"], ["length"]),
    ]
    rows = "rows0"
    for layer, queries in ((1, [f"q1_{head}" for head in range(BACK)]), (2, ["q2"])):
        for name, weight in ((f"k{layer}", f"k{layer}"), (f"v{layer}", "v")):
            nodes += [
                node("MatMul", [rows, weight], [f"{name}_flat"]),
                node("Unsqueeze", [f"{name}_flat", "one"], [f"{name}_new"]),
                node("TensorScatter", [f"{name}_past", f"{name}_new", "begin"], [f"{name}_next"], axis=2),
            ]
        for head, weight in enumerate(queries):
            nodes += [
                node("MatMul", [rows, weight], [f"{weight}_flat"]),
                node("Unsqueeze", [f"{weight}_flat", "one"], [f"{weight}_heads"]),
                node(
                    "Attention",
                    [f"{weight}_heads", f"k{layer}_next", f"v{layer}_next", "", "", "", "length"],
                    [f"found{layer}_{head}"],
                    is_causal=1,
                    scale=1.0,
                ),
                node("Squeeze", [f"found{layer}_{head}", "one"], [f"seen{layer}_{head}"]),
            ]
            if layer == 1:
                nodes += [
                    node("MatMul", [f"seen1_{head}", f"o1_{head}"], [f"copied_{head}"]),
                    node("Add", [rows, f"copied_{head}"], [f"rows{head + 1}"]),
                ]
                rows = f"rows{head + 1}"
    nodes += [
        node("Slice", ["seen2_0", "last", "end", "one"], ["final"]),
        node("ArgMax", ["final"], ["next"], axis=-1, keepdims=0),
    ]
    caches = {name: [1, 1, CAPACITY, size] for name, size in sizes.items()}
    integer, number, info = TensorProto.INT64, TensorProto.FLOAT, helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "induction",
        [
            info("tokens", integer, [1, "n"]),
            info("places", integer, [1, "n"]),
            info("begin", integer, [1]),
            *[info(f"{name}_past", number, shape) for name, shape in caches.items()],
        ],
        [info("next", integer, [1, 1]), *[info(f"{name}_next", number, shape) for name, shape in caches.items()]],
        [numpy_helper.from_array(np.asarray(each), name) for name, each in constants().items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


class Writer:
    """The model on a device; its caches hold the text read so far."""

    def __init__(self, device: ep.Device) -> None:
        caches = {f"{name}_past": f"{name}_next" for name in ("k1", "v1", "k2", "v2")}
        self.session = Session(model(), device, caches)
        self.length = 0

    def read(self, tokens: list[int]) -> int:
        """Take tokens into the caches, and return the one that follows."""
        places = np.arange(self.length, self.length + len(tokens))
        given = {"tokens": np.array([tokens]), "places": places[None], "begin": np.array([self.length])}
        self.length += len(tokens)
        return int(self.session.run(given)[0].item())

    def go_on(self, prompt: str, count: int) -> str:
        """Return the continuation of a prompt, so many letters."""
        made = [self.read([LETTERS.index(letter) for letter in prompt])]
        while len(made) < count:
            made.append(self.read(made[-1:]))
        return "".join(LETTERS[token] for token in made)


def main() -> None:
    """Write a prompt and its continuation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prompt", nargs="?", default=PROMPT, help=f"of the letters {LETTERS!r}")
    parser.add_argument("--device", help="EP's name of a device; else EP_DEVICE, else cpu:0")
    parser.add_argument("--count", type=int, default=256, help="letters to be written")
    options = parser.parse_args()
    if (
        not options.prompt
        or set(options.prompt) - set(LETTERS)
        or not 1 <= options.count <= CAPACITY - len(options.prompt)
    ):
        parser.error(f"the prompt needs letters of {LETTERS!r}, and with what follows at most {CAPACITY} of them")
    try:
        writer = Writer(ep.device(device_name(options.device)))
        begun = time.perf_counter()
        print(options.prompt, writer.go_on(options.prompt, options.count), sep="|")
    except (ep.EpError, ValueError) as error:
        sys.exit(str(error))
    took = time.perf_counter() - begun
    found = report(writer.session)
    print(
        f"{options.count} letters in {took:.2f} s on {writer.session.device.name}: {found.plans} plans, {found.launches} launches, "
        f"{len(found.waits)} waits inside them"
    )


if __name__ == "__main__":
    main()
