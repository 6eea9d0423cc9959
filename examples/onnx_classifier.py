"""An image classifier: stripes, by their direction, told by a small convolutional network in ONNX.

    python examples/onnx_classifier.py --device cpu:0

Its weights are made by hand: filters that answer to edges of eight directions, a rectifier, the mean over the image,
and a matrix that adds the results of two opposite filters. The images are drawn with random phase, width and noise;
nothing is downloaded.
"""

from __future__ import annotations

import argparse
import sys
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

CLASSES: Final = ("vertical", "rising", "horizontal", "falling")
EXTENT: Final = 32
RADIUS: Final = 3


def filters() -> Array:
    """Return a filter for each of eight directions: the slope of a bell along it."""
    y, x = np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1]
    bell = np.exp(-(x**2 + y**2) / (2 * (RADIUS / 2) ** 2))
    angles = np.arange(8) * np.pi / 4
    return np.stack([(np.cos(angle) * x + np.sin(angle) * y) * bell for angle in angles])[:, None].astype(np.float32)


def model() -> ModelProto:
    """Return the network: images (n, 1, 32, 32) give a probability for each class."""
    node, number = helper.make_node, TensorProto.FLOAT
    nodes = [
        node("Conv", ["images", "filters"], ["edges"], pads=[RADIUS] * 4),
        node("BatchNormalization", ["edges", "ones", "zeros", "zeros", "spread"], ["scaled"]),
        node("Relu", ["scaled"], ["found"]),
        node("MaxPool", ["found"], ["strongest"], kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", ["strongest"], ["means"]),
        node("Flatten", ["means"], ["features"]),
        node("Gemm", ["features", "classes", "bias"], ["scores"]),
        node("Softmax", ["scores"], ["chances"], axis=-1),
    ]
    constants = {
        "filters": filters(),
        "classes": 8 * np.tile(np.eye(4), (2, 1)).astype(np.float32),
        "ones": np.ones(8, np.float32),
        "zeros": np.zeros(8, np.float32),
        "spread": np.full(8, 0.5, np.float32),
        "bias": np.zeros(4, np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "stripes",
        [helper.make_tensor_value_info("images", number, ["n", 1, EXTENT, EXTENT])],
        [helper.make_tensor_value_info("chances", number, ["n", 4])],
        [numpy_helper.from_array(each, name) for name, each in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def draw(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return images of stripes and the places of their classes."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:EXTENT, :EXTENT]
    classes = random.integers(0, 4, count)
    angles = classes * np.pi / 4 + random.uniform(-0.15, 0.15, count)
    images = []
    for angle in angles:
        along = np.cos(angle) * x + np.sin(angle) * y
        stripes = np.sin(2 * np.pi * along / random.uniform(6, 12) + random.uniform(0, 2 * np.pi))
        images.append(stripes + random.normal(0, 0.3, stripes.shape))
    return np.array(images, np.float32)[:, None], classes


def main() -> None:
    """Classify images, and say how many were right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="EP's name of a device; else EP_DEVICE, else cpu:0")
    parser.add_argument("--count", type=int, default=64, help="images to be classified")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count needs a number from 1 on")
    images, classes = draw(options.count)
    try:
        session = Session(model(), ep.device(device_name(options.device)))
        (chances,) = session.run([images])
    except (ep.EpError, ValueError) as error:
        sys.exit(str(error))
    chosen = chances.argmax(-1)
    for image in range(min(options.count, 4)):
        print(
            f"image {image}: {CLASSES[chosen[image]]} with {chances[image, chosen[image]]:.0%}, is {CLASSES[classes[image]]}"
        )
    found = report(session)
    print(f"{(chosen == classes).sum()} of {len(classes)} right on {session.device.name}, {found.launches} launches")
    sys.exit(0 if (chosen == classes).mean() > 0.95 else 1)  # noqa: PLR2004 - the drawings are clear enough for it


if __name__ == "__main__":
    main()
