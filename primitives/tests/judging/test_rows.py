import csv
from importlib import resources

import numpy as np
import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS, Conditioned, Exact, Ulps
from ep_primitives.elementwise.op import ALL, BITS, COMPLEXES, EVERY, FLOATS, INTEGERS, NUMBERS, REALS, Attribute, Op
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinaryFamily
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnaryFamily
from ep_primitives.judging.reference import array_dtype

import ep

ROWS = {"unary": UNARY_OPS, "binary": BINARY_OPS}
ALL_ROWS = [(arity, row) for arity, rows in ROWS.items() for row in rows.values()]
SPECIAL = [
    (arity, row, dtype)
    for arity, row in ALL_ROWS
    for dtype in row.dtypes
    if row.special and ep.dtype(dtype).kind == row.special_kind
]


def inventory(arity):
    with (resources.files("ep_primitives") / "elementwise" / "ops.csv").open(newline="") as file:
        return [line for line in csv.DictReader(file) if line["arity"] == arity]


@pytest.mark.parametrize(("arity", "count"), [("unary", 72), ("binary", 88)])
def test_rows_are_the_inventory_in_its_order(arity, count):
    names = [line["name"] for line in inventory(arity) if line["name"] != "cast"]  # cast is a family
    assert len(names) == count
    assert list(ROWS[arity]) == names


@pytest.mark.parametrize("arity", ROWS)
def test_rows_are_unique(arity):
    family = {"unary": "elementwise_unary", "binary": "broadcast_binary"}[arity]
    module = __import__(f"ep_primitives.families.{family}.rows", fromlist=["_ROWS"])
    names = [row.name for row in module._ROWS]
    assert names == list(ROWS[arity])


@pytest.mark.parametrize("arity", ROWS)
def test_rows_have_the_attributes_and_roles_of_the_inventory(arity):
    for line in inventory(arity):
        if line["name"] == "cast":
            continue
        row = ROWS[arity][line["name"]]
        assert [attribute.name for attribute in row.attributes] == line["attributes"].split()
        roles = line["operands"].split()
        assert len(row.domain) == len(roles)
        if "_with_" in row.name:
            assert row.name.endswith("_".join(roles))


@pytest.mark.parametrize(("arity", "row"), ALL_ROWS, ids=lambda value: getattr(value, "name", value))
def test_row_says_all_that_is_derived_from_it(arity, row):
    assert callable(row.reference)
    assert row.definition
    assert row.source
    assert len(set(row.dtypes)) == len(row.dtypes) > 0
    assert set(row.dtypes) <= set(ALL)
    assert bool(row.special) == any(ep.dtype(dtype).kind in "fc" for dtype in row.dtypes)
    for attribute in row.attributes:
        assert len(set(attribute.samples)) == len(attribute.samples) >= 3
    for dtype in row.dtypes:
        assert row.out_dtype(dtype) in EVERY
        assert row.accuracy_of(dtype) is not None


def test_rows_are_as_old_as_the_suite_but_for_the_new_ones():
    new = ["signbit", "shift_left", "shift_right", "atan2", "copysign", "hypot", "logaddexp", "nextafter"]
    assert {row.name: row.since for _, row in ALL_ROWS if row.since != "1.0"} == dict.fromkeys(new, "1.1")


def test_sets_of_element_types_nest():
    assert set(FLOATS) | set(INTEGERS) == set(REALS)
    assert set(REALS) | set(COMPLEXES) == set(NUMBERS)
    assert set(INTEGERS) | {"bool"} == set(BITS)
    assert set(NUMBERS) | {"bool"} == set(ALL)
    assert set(EVERY) == set(ep.dtypes.DTYPES)


def _text(value):
    return repr(complex(value)) if np.iscomplexobj(value) else repr(float(value))


@pytest.mark.parametrize(("arity", "row", "dtype"), SPECIAL, ids=lambda value: getattr(value, "name", value))
def test_reference_gives_the_special_values_of_its_row(arity, row, dtype):
    into = array_dtype(row.out_dtype(dtype))
    for samples in list(zip(*(attribute.samples for attribute in row.attributes), strict=True)) or [()]:
        attributes = row.held(dtype, samples)
        for inputs, expected in row.special_rows(tuple(map(float, attributes))):
            arrays = [row.taken(dtype, np.array([value]).astype(array_dtype(dtype))) for value in inputs]
            with np.errstate(all="ignore"):
                result = row.reference(*arrays, *attributes)
                value = np.asarray(result[0] if isinstance(result, tuple) else result).astype(into)[0]
                wanted = np.array(expected).astype(into)[()]
            assert _text(value) == _text(wanted), (inputs, expected)


@pytest.mark.parametrize(("arity", "row"), ALL_ROWS, ids=lambda value: getattr(value, "name", value))
def test_reference_takes_single_numbers_as_it_takes_arrays(arity, row):
    for dtype in row.dtypes:
        attributes = row.held(dtype, tuple(attribute.samples[0] for attribute in row.attributes))
        numbers = [row.taken(dtype, np.array(number, array_dtype(dtype))) for number in (1, 2)][: len(row.domain)]
        with np.errstate(all="ignore"):
            single, several = (
                row.reference(*(np.full(shape, number) for number in numbers), *attributes) for shape in ((), (3,))
            )
        if isinstance(single, tuple):
            single, several = single[0], several[0]
        assert repr(np.asarray(single).item()) == repr(several[0].item()), dtype


def test_accuracy_of_a_row_follows_the_element_type():
    exp, gelu, slope = UNARY_OPS["exp"], UNARY_OPS["gelu"], BINARY_OPS["gelu_backward_with_dy_x"]
    assert exp.accuracy_of("float32") == exp.accuracy_of("float64") == Ulps(3)
    assert exp.accuracy_of("complex64") == exp.accuracy_of("complex128") == Ulps(8)
    assert exp.accuracy_of("bfloat16") == gelu.accuracy_of("float16") == Ulps(1)
    assert slope.accuracy_of("float16") == slope.accuracy_of("float64")
    assert isinstance(slope.accuracy_of("bfloat16"), Conditioned)
    assert BINARY_OPS["add"].accuracy_of("float16") == BINARY_OPS["div"].accuracy_of("int32") == Exact()
    assert UNARY_OPS["is_nan"].accuracy_of("float32") == UNARY_OPS["conj"].accuracy_of("complex64") == Exact()


def test_outputs_have_the_counterpart_type():
    assert [UNARY_OPS["abs"].out_dtype(dtype) for dtype in ("complex64", "complex128", "int8")] == [
        "float32",
        "float64",
        "int8",
    ]
    assert UNARY_OPS["imag_grad"].out_dtype("float64") == "complex128"
    assert UNARY_OPS["is_nan"].out_dtype("complex64") == "bool"
    assert UNARY_OPS["not_equal_zero"].out_dtype("uint16") == "uint16"


def test_complex_inputs_are_closed_unless_the_row_is_exact():
    assert not UNARY_OPS["exp"].domain_of("complex64")[0].is_open
    assert UNARY_OPS["exp"].domain_of("float32")[0].is_open
    assert UNARY_OPS["negative"].domain_of("complex64")[0].is_open
    assert UNARY_OPS["is_inf"].domain_of("complex128")[0].is_open


def test_attributes_are_held_as_they_say():
    third = 1 / 3
    plain, stored = Attribute("a", (third,)), Attribute("a", (third,), stored=True)
    wide = Attribute("a", (third,), wide=True)
    row = Op("op", np.add, FLOATS, Ulps(1), attributes=(plain, stored, wide))
    held = row.held("float16", (third,) * 3)
    assert [value.dtype.name for value in held] == ["float32", "float32", "float64"]
    assert [float(value) for value in held] == [float(np.float32(third)), float(np.float16(third)), third]


def test_cells_are_the_rows_times_dtypes_times_layouts():
    unary, binary = ElementwiseUnaryFamily(), BroadcastBinaryFamily()
    cells = [str(cell) for family in (unary, binary) for cell in family.cells()]
    assert len(cells) == len(set(cells))
    assert "elementwise_unary/is_nan/float16->bool/dense" in cells
    assert "elementwise_unary/abs/complex64->float32/strided" in cells
    assert "elementwise_unary/exp/bfloat16/inplace" in cells
    assert "broadcast_binary/add/bool/scalar-left" in cells
    # A bool cannot lie in the memory of a float, but it can in the memory of a bool or a byte.
    assert "broadcast_binary/equal/float32->bool/inplace" not in cells
    assert "broadcast_binary/equal/bool/inplace" in cells
    assert "broadcast_binary/equal/uint8->bool/inplace" in cells
