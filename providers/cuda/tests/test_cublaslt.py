"""Products by cuBLASLt, tried on a stub that multiplies as the layouts say: no GPU computes here, and the library is not installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HEAD = """
import cublaslt_stub
stub = cublaslt_stub.install()
import ep, numpy as np
from ep_primitives import Matmul
device = ep.device("cuda:0")
stream = device.stream()
random = np.random.default_rng(0)
def array(dtype, *shape):
    return random.integers(-4, 5, shape).astype(dtype)
def product(a, b, out=None, **options):
    numbers = {name: options.pop(name) for name in ("alpha", "beta") if name in options}
    bias = options.pop("bias", None)
    tensors = {name: each if isinstance(each, ep.Tensor) else device.tensor(each) for name, each in (("a", a), ("b", b))}
    if bias is not None:
        tensors["bias"] = device.tensor(bias)
    described = Matmul.infer(**tensors, **options)
    primitive = described.on(device)
    tensors["out"] = device.empty(described.out)
    primitive(stream, **tensors, **numbers)
    return primitive, tensors["out"].numpy(stream)
a, b = array("float32", 3, 5), array("float32", 5, 7)
"""


@pytest.mark.parametrize("cases", ["-/[bc]*/offset/*", pytest.param("*", marks=pytest.mark.thorough)])
def test_suite_passes_on_products_of_the_layouts_that_it_is_told(run, emulated, tmp_path, cases):
    """Each case that cuBLASLt takes is computed from what it was told: transposes, batches, offsets, beta, bias, graphs."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, cublaslt_stub\nstub = cublaslt_stub.install()\n"
        "atexit.register(lambda: stub.products and open(f'{__file__}.count', 'a').write(f'{len(stub.products)}\\n'))\n"
    )
    report = tmp_path / "report.json"
    options = ("--quick", "--filter", f"primitives/matmul/{cases}", "--json", str(report), "--no-replays")
    path = os.pathsep.join([str(tmp_path), str(HERE)])
    done = run("-m", "ep_conformance", "run", "--provider", "cuda", *options, driver=emulated, PYTHONPATH=path)
    assert done.returncode == 0, done.stdout
    found = json.loads(report.read_text(encoding="utf-8"))["cases"]
    counts = (tmp_path / "sitecustomize.py.count").read_text(encoding="utf-8").split()
    assert sum(map(int, counts)) > len(found) > 20  # several launches each, of those that it takes


def lines(done):
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()


def test_later_launches_are_one_call_with_what_was_chosen_at_first(run, emulated):
    text = """
primitive, out = product(a, b)
print(primitive.implementation.name, (out == a @ b).all(), stub.calls.count("cublasLtMatmulAlgoGetHeuristic"))
x, y, out = device.tensor(a), device.tensor(b), device.empty(primitive.descriptor.out)
step = primitive.bind(a=x, b=y, out=out)
primitive(stream, a=x, b=y, out=out)
before = len(stub.calls)
for launch in (lambda: primitive(stream, a=x, b=y, out=out), lambda: step(stream)):
    launch()
    print((out.numpy(stream) == a @ b).all())
print(stub.calls[before:])
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == ["CublasLtMatmul True 2", "True", "True", "['cublasLtMatmul', 'cublasLtMatmul']"]


def test_attention_is_lowered_where_its_products_are_taken(run, emulated):
    text = """
from ep_primitives import Attention
q = ep.TensorSpec("float32", (2, 32, 16))
print([stage.implementation.name for stage in Attention.infer(q, q, q).on(device).stages])
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == ["['CublasLtMatmul', 'Portable', 'CublasLtMatmul']"]


@pytest.mark.parametrize(("filters", "expected"), [(16, "['Portable', 'Portable', 'CublasLtMatmul']"), (4, "Portable")])
def test_convolution_is_lowered_where_its_products_are_taken_and_large_enough(run, emulated, filters, expected):
    text = f"""
from ep_primitives import Convolution
x, w = ep.TensorSpec("float32", (2, 16, 9, 9)), ep.TensorSpec("float32", ({filters}, 16, 3, 3))
primitive = Convolution.infer(x, w, pads=1).on(device)
print([stage.implementation.name for stage in primitive.stages] if primitive.stages else primitive.implementation.name)
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == [expected]


def test_what_is_told_of_a_product(run, emulated):
    """The operations, the type of the sum, the epilogue and the alignment that the algorithm was chosen for."""
    text = """
def told():
    facts = stub.products[-1]
    return facts["operations"], facts["compute"], facts["epilogue"], facts["alignment"]
left, right, bias = array("float32", 5, 3), array("float32", 7, 5), array("float32", 7)
print((product(a, b)[1] == a @ b).all(), *told())
print((product(a, device.tensor(right).mT)[1] == a @ right.T).all(), *told())
_, out = product(device.tensor(left).mT, b, bias=bias, alpha=2.0)
print((out == 2 * left.T @ b + bias).all(), *told())
x = device.tensor(np.concatenate([[0], a.ravel()]).astype(np.float32))[1:].reshape(3, 5)
described = Matmul.infer(x, b)
out = device.empty(described.out)
described.on(device)(stream, a=x, b=device.tensor(b), out=out)
print((out.numpy(stream) == a @ b).all(), *told())
for dtype in ("float16", "int8", "complex128"):
    factors = array(dtype, 3, 4), array(dtype, 4, 8)
    print((product(*factors)[1] == factors[0].astype("complex128") @ factors[1]).all(), *told())
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == [
        "True (0, 0) 68 1 16",
        "True (1, 0) 68 1 16",
        "True (0, 1) 68 4 16",
        "True (0, 0) 68 1 4",
        "True (0, 0) 68 1 16",
        "True (0, 0) 72 1 16",
        "True (0, 0) 70 1 16",
    ]
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE), EP_CUDA_TF32="1")
    assert [line.split()[3] for line in lines(done)] == ["77"] * 4 + ["68", "72", "70"]


def test_what_it_does_not_take_runs_by_kernels_of_their_own(run, emulated):
    """Where the heuristic knows nothing, where alpha is 0 and the factors may not be read, and what comes after a product."""
    text = """
stub.refused.add("float64")
_, out = product(a.astype("float64"), b.astype("float64"))
print((out == a @ b).all(), len(stub.products))
_, out = product(a * np.float32("nan"), b, alpha=0.0)
print((out == 0).all(), len(stub.products))
primitive, out = product(a, b, activation="relu")
print((out == np.maximum(a @ b, 0)).all(), [stage.implementation.name for stage in primitive.stages], len(stub.products))
def reason(**options):
    try:
        Lt().accepts(Matmul.infer(**options), device.info)
    except ep.UnsupportedError as error:
        print(error)
from ep_cuda.cublas.matmul import CublasLtMatmul as Lt
S = ep.TensorSpec
reason(a=S("uint8", (3, 5)), b=S("uint8", (5, 7)))
reason(a=S("float32", (3, 5), (2, 20)), b=b)
reason(a=S("float32", (3, 5), (-5, 1), 10), b=b)
reason(a=S("complex64", (3, 5)), b=S("complex64", (5, 7)), conjugate_b=True)
reason(a=S("float32", (2, 3, 5)), b=b, out=S("float32", (3, 7)))
reason(a=S("float32", (2, 4, 3, 5), (100, 15, 5, 1)), b=b)
reason(a=S("float32", (3, 0)), b=S("float32", (0, 7)))
reason(a=a, b=b, bias=S("float32", (3, 1)))
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == [
        "True 0",
        "True 0",
        "True ['CublasLtMatmul', 'Portable'] 1",
        "cuBLASLt has no products of uint8",
        "cuBLASLt: a has neither contiguous rows nor contiguous columns",
        "cuBLASLt: a stride is negative",
        "cuBLASLt: a factor is conjugated that it would not transpose",
        "cuBLASLt: it sums over batches",
        "cuBLASLt: the batches lie at more than one stride",
        "cuBLASLt: a sum over nothing is no product",
        "cuBLASLt: bias is no contiguous vector along the contiguous extent of out",
    ]


def test_workspace_is_ep_scratch_and_defects_are_seen(run, emulated):
    """The stub writes over all the workspace it is given; factors in the wrong order give another product."""
    text = """
stub.workspace = 4096
primitive, out = product(a, b)
print(primitive.scratch_nbytes, (out == a @ b).all())
with stream.capture() as graph:
    x, y, z = device.tensor(a), device.tensor(b), device.empty(primitive.descriptor.out)
    primitive(stream, a=x, b=y, out=z)
graph.launch(stream)
print((z.numpy(stream) == a @ b).all(), device.degraded["graph"], len(stub.products))
from ep_cuda.cublas import kernel
right = kernel.problem_of
kernel.problem_of = lambda descriptor: right(descriptor)._replace(places=(0, 1))
square = array("float32", 6, 6), array("float32", 6, 6)
print((product(*square)[1] == square[0] @ square[1]).all())
"""
    done = run("-c", HEAD + text, driver=emulated, PYTHONPATH=str(HERE))
    assert lines(done) == ["4096 True", "True 0 2", "False"]


def test_devices_that_are_emulated_have_portable_products(run, emulated):
    text = """
import ep, ep_cuda.cublas.library as library, numpy as np
library.located = lambda: "installed"
from ep_primitives import Matmul
device = ep.device("cuda:0")
described = Matmul.infer(np.ones((3, 5), np.float32), np.ones((5, 7), np.float32))
print(described.on(device).implementation.name, [each.name for each in device.provider.implementations[Matmul]])
"""
    done = run("-c", text, driver=emulated)
    assert lines(done) == ["Portable ['CublasLtMatmul', 'Portable']"]
