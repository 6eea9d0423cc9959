"""Rows keep their promise for all attributes, in every instruction set; the attributes that once broke it come first."""

import zlib

import numpy as np
import pytest
from ep_conformance.judge.compare import compare
from ep_primitives import BINARY_OPS, UNARY_OPS, Reduce
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinaryFamily
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnaryFamily

import ep

FAMILIES = {**dict.fromkeys(UNARY_OPS, ElementwiseUnaryFamily()), **dict.fromkeys(BINARY_OPS, BroadcastBinaryFamily())}
ROWS = {name: row for name, row in {**UNARY_OPS, **BINARY_OPS}.items() if row.attributes}
FOUND = {
    "celu": [(39.0,), (1e6,), (3e38,), (1e-45,)],
    "soft_plus": [(0.01, 20.0), (-0.1, 3e38), (-3e30, 1.0)],
    "elu_backward_with_dy_x": [(3e38,), (1e-38,)],
    "celu_backward_with_dy_y": [(1e-38,), (1e-45,)],
    "scalar_base_power_grad": [(14.0,), (1e-30,), (-0.3,)],
    "scalar_exp_power_grad": [(15.0,), (1e-45,), (1.0,)],
    "is_close": [(0.0, 0.0)],
    "is_close_equal_nan": [(0.0, 0.0)],
    "hard_tanh": [(-np.inf, np.inf)],
    "threshold": [(np.inf, -np.inf)],
}
SIZE = (1500,)


@pytest.mark.parametrize("op", ROWS)
def test_promises_hold_for_all_attributes(isa, run_on, op):
    family, row = FAMILIES[op], ROWS[op]
    for signature in family.signatures():
        if signature.op != op or signature.inputs[0] not in {"float16", "float32", "float64", "int64", "uint64"}:
            continue
        rng = np.random.default_rng(zlib.crc32(f"{op} {signature.inputs}".encode()))
        names = family.descriptor.roles.names
        dtypes = (*signature.inputs, signature.out)
        specs = {name: ep.TensorSpec(dtype, SIZE) for name, dtype in zip(names, dtypes, strict=True)}
        for attributes in [*FOUND.get(op, ()), *family.attribute_sets(signature)]:
            legal = all(
                each.legal.holds(float(each.held(signature.inputs[0], value)))
                for each, value in zip(row.attributes, attributes, strict=True)
            )
            if not legal or (signature.inputs[0] == "float16" and abs(attributes[0]) == np.inf and not row.ascending):
                continue
            descriptor = family.describe(op, specs, attributes)
            inputs = family._random(signature, descriptor, rng)
            found = run_on(isa, descriptor, *(np.ascontiguousarray(inputs[name]) for name in names[:-1]))
            reference = family.reference(descriptor, inputs)
            judged = compare(found, reference, family.accuracy(descriptor), signature.out)
            assert judged.passes, (signature.inputs, attributes, judged.ratio.max())


def launched(device, stream, op, dtype, attributes, *columns):
    family = FAMILIES[op]
    arrays = [np.array(column, dtype) for column in columns]
    row = ROWS[op]
    specs = [ep.TensorSpec.of(array) for array in arrays]
    given = {each.name: value for each, value in zip(row.attributes, attributes, strict=True)}
    descriptor = family.descriptor.infer(op, *specs, **given)
    memories = []
    for array in arrays:
        memories.append(device.allocate(array.nbytes))
        stream.upload(memories[-1], array)
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, **dict(zip(descriptor.operands, (*memories, out), strict=True)))
    found = np.empty(descriptor.out.shape, descriptor.out.dtype)
    stream.download(found, out)
    stream.synchronize()
    return found.tolist()


def test_celu_of_small_numbers_beside_a_large_alpha_is_the_number(device, stream):
    for alpha in (39.0, 1e6):
        assert launched(device, stream, "celu", "float32", (alpha,), [-1e-38]) == [float(np.float32(-1e-38))]


def test_gradients_of_powers_do_not_overflow_before_their_products(device, stream):
    (grown,) = launched(device, stream, "scalar_exp_power_grad", "float32", (15.0,), [33.0], [1e-3])
    assert grown == pytest.approx(15.0**33 * np.log(15.0) * 1e-3, rel=1e-6)
    (scaled,) = launched(device, stream, "scalar_base_power_grad", "float32", (14.0,), [1000.0], [1e-20])
    assert scaled == pytest.approx(1.4e20, rel=1e-6)


def test_large_integers_are_close_without_tolerance_only_if_equal(device, stream):
    a, b = [2**53 + 1, 2**53, -(2**63)], [2**53, 2**53, 2**63 - 1]
    assert launched(device, stream, "is_close", "int64", (0.0, 0.0), a, b) == [False, True, False]
    assert launched(device, stream, "is_close", "int64", (1.0, 0.0), a, b) == [True, True, False]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "float32"])
def test_sums_go_into_wider_types(device, stream, dtype):
    x = np.full((3, 70001), np.iinfo(dtype).max if dtype != "float32" else 1 + 2.0**-20, dtype)
    descriptor = Reduce.infer("sum", x, 1, dtype="float64" if dtype == "float32" else None)
    memory, out = device.allocate(x.nbytes), device.allocate(descriptor.out.nbytes)
    stream.upload(memory, x)
    descriptor.on(device)(stream, x=memory, out=out)
    found = np.empty(3, descriptor.out.dtype)
    stream.download(found, out)
    stream.synchronize()
    assert found.tolist() == x.sum(1, dtype=found.dtype).tolist()
    assert found.dtype.itemsize == 8
