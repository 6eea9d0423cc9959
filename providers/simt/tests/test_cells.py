"""The gates of recurrent cells: one launch each, over as many work-items as a device likes, of the tensors that are there."""

import ep_simt
import pytest
from ep_primitives import GruCell, LstmCell

import ep


def spec(*shape, dtype="float32"):
    return ep.TensorSpec(dtype, shape)


def lstm(dtype="float32", peephole=None, width=300):
    given = (spec(5, 4 * width, dtype=dtype), *(spec(5, width, dtype=dtype),) * 2)
    return LstmCell.infer(*given, spec(4 * width, width, dtype=dtype), peephole).lower()[-1].descriptor


def gru(dtype="float32", *, linear=False):
    given = (spec(*shape, dtype=dtype) for shape in ((5, 9), (5, 3), (9, 3)))
    return [each.descriptor for each in GruCell.infer(*given, linear_before_reset=linear).lower()]


def body(descriptor):
    return ep_simt.bodies()[descriptor.family]


@pytest.mark.parametrize(("target", "items"), [(ep_simt.CPU, 5 * 2), (ep_simt.GPU, 5 * 300)])
def test_rows_are_cut_where_work_items_are_loops(target, items):
    (launch,) = body(lstm()).plan(lstm(), target).launches
    assert (launch.entry, launch.items) == ("lstm_gates", items)


def test_state_without_elements_has_no_work_items():
    (launch,) = body(lstm()).plan(lstm(width=0), ep_simt.CPU).launches
    assert launch.items == 0


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (lstm(), ["sums", "c", "h_next", "c_next"]),
        (lstm(peephole=spec(900)), ["sums", "c", "peephole", "h_next", "c_next"]),
        (lstm("bfloat16"), ["sums", "gates", "c", "h_next", "c_next"]),
        (gru()[1], ["sums", "h", "reset"]),
        (gru()[-1], ["sums", "h", "h_next"]),
        (gru(linear=True)[-1], ["sums", "gates", "h", "h_next"]),
    ],
)
def test_program_takes_the_tensors_that_are_there_and_as_many_arguments_as_its_plan_has(made, names):
    entry = body(made).program(made.key, ep_simt.CPU).entry(made.family)
    assert [parameter.name for parameter in entry.parameters if parameter.is_memory] == names
    assert entry.writes == {*made.written}
    (launch,) = body(made).plan(made, ep_simt.CPU).launches
    given = sum(2 if isinstance(each, ep_simt.Operand) else 1 for each in launch.arguments)
    assert given == len(entry.parameters)


def test_activations_and_the_place_of_the_reset_are_words():
    plain, linear = (
        dict(body(each).program(each.key, ep_simt.CPU).words) for each in (gru()[-1], gru(linear=True)[-1])
    )
    assert (plain["EP_RESETS"], linear["EP_RESETS"]) == (0, 1)
    assert plain["EP_CANDIDATE(x)"] == "EP_OF(hyperbolic_tangent)(x)"


def test_cells_are_of_few_kernels():
    narrow = [each.family for each in gru("float16")]
    assert narrow == ["matmul", "gru_reset", "cast", "matmul", "gru_gates"]
    assert [each.family for each in gru(linear=True)] == ["matmul", "gru_gates"]
