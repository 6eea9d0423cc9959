"""Quantize and Dequantize: how many launches, and which operands each of them takes."""

import pytest
from ep_primitives import Dequantize, Quantize
from ep_simt import CPU, GPU, Operand, bodies

import ep


def _launches(descriptor, target):
    body = bodies()[descriptor.family]
    launches = body.plan(descriptor, target).launches
    assert {launch.entry for launch in launches} <= set(body.entries(descriptor.key))
    return launches


def _operands(launch):
    return [argument for argument in launch.arguments if isinstance(argument, Operand)]


@pytest.mark.parametrize("target", [CPU, GPU])
@pytest.mark.parametrize(("extent", "number"), [(96, 1), (100, 2), (7, 1)])
def test_blocks_are_one_launch_and_their_rest_another(target, extent, number):
    x, scale = ep.TensorSpec("int8", (3, extent)), ep.TensorSpec("float32", (3, -(-extent // 32)))
    launches = _launches(Dequantize.infer(x, scale, axis=1, block=32), target)
    assert len(launches) == number
    firsts = [[operand.offset for operand in _operands(launch)] for launch in launches]
    assert firsts == [[0, 0, 0], [3, 96, 96]][:number]


def test_an_absent_zero_point_is_no_operand():
    x, scale, zero_point = ep.TensorSpec("float32", (9,)), ep.TensorSpec("float32", ()), ep.TensorSpec("uint8", ())
    (without,), (given,) = (_launches(Quantize.infer(x, scale, *more), CPU) for more in ((), (zero_point,)))
    assert (without.entry, given.entry) == ("quantize_from_zero", "quantize_from_point")
    assert [operand.place for operand in _operands(without)] == [1, 0, 3]
    assert [operand.place for operand in _operands(given)] == [1, 2, 0, 3]


def test_quotients_are_rounded_as_the_device_does_or_by_double():
    descriptor = Quantize.infer(ep.TensorSpec("float32", (9,)), ep.TensorSpec("float32", ()), dtype="int8")
    body = bodies()["quantize"]
    assert body.rounds(descriptor.key)
    words = dict(body.program(descriptor.key, GPU._replace(rounded=False)).words)
    assert words["EP_ROUNDED"] == "ep_f64"
