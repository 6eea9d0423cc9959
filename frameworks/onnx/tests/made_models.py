"""Models made by hand."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(nodes, inputs, outputs, weights=(), version=23, functions=(), imports=()):
    """Return a model of nodes; inputs and outputs as {name: (element type, shape)}, weights as {name: array}."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()],
        [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(weights).items()],
    )
    sets = [helper.make_opsetid("", version), *imports]
    return helper.make_model(graph, opset_imports=sets, functions=functions, ir_version=10)
