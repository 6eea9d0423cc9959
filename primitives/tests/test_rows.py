import csv
from importlib import resources

import numpy as np
import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS, Conditioned, Exact, Ulps
from ep_primitives.broadcast_binary import BroadcastBinaryFamily
from ep_primitives.elementwise_unary import ElementwiseUnaryFamily
from ep_primitives.reference import compute_number, widened

import ep

ROWS = {"unary": UNARY_OPS, "binary": BINARY_OPS}
ALL_ROWS = [(arity, row) for arity, rows in ROWS.items() for row in rows.values()]
FLOATING = [(arity, row, dtype) for arity, row in ALL_ROWS for dtype in row.dtypes if ep.dtype(dtype).kind == "f"]


def inventory(arity):
    with (resources.files("ep_primitives") / "ops.csv").open(newline="") as file:
        return [line for line in csv.DictReader(file) if line["arity"] == arity]


@pytest.mark.parametrize("arity", ROWS)
def test_rows_follow_the_order_of_the_inventory(arity):
    order = [line["name"] for line in inventory(arity)]
    places = [order.index(name) for name in ROWS[arity]]
    assert places == sorted(places)


@pytest.mark.parametrize("arity", ROWS)
def test_rows_are_unique(arity):
    module = __import__(f"ep_primitives.{arity}_ops", fromlist=["_ROWS"])
    names = [row.name for row in module._ROWS]
    assert len(names) == len(set(names))
    assert names == list(ROWS[arity])


def test_the_slice_has_25_ops():
    assert len(ALL_ROWS) == 25


@pytest.mark.parametrize("arity", ROWS)
def test_rows_have_the_attributes_and_roles_of_the_inventory(arity):
    for line in inventory(arity):
        row = ROWS[arity].get(line["name"])
        if row is None:
            continue
        assert [attribute.name for attribute in row.attributes] == line["attributes"].split()
        roles = line["operands"].split()
        assert len(row.domain) == len(roles)
        if "_with_" in row.name:
            assert row.name.endswith("_".join(roles))


@pytest.mark.parametrize(("arity", "row"), ALL_ROWS, ids=lambda value: getattr(value, "name", value))
def test_row_says_all_that_is_derived_from_it(arity, row):
    assert callable(row.reference)
    assert row.dtypes
    assert set(row.dtypes) <= set(ep.dtypes.DTYPES)
    assert row.since == "1.0"
    assert bool(row.special) == any(ep.dtype(dtype).kind == "f" for dtype in row.dtypes)
    for attribute in row.attributes:
        assert len(set(attribute.samples)) == len(attribute.samples) >= 3


@pytest.mark.parametrize(("arity", "row", "dtype"), FLOATING, ids=lambda value: getattr(value, "name", value))
def test_reference_gives_the_special_values_of_its_row(arity, row, dtype):
    attributes = [compute_number(dtype, attribute.samples[0]) for attribute in row.attributes]
    for inputs, expected in row.special_rows(tuple(map(float, attributes))):
        arrays = [widened(dtype, np.array([value]).astype(dtype)) for value in inputs]
        with np.errstate(all="ignore"):
            result = row.reference(*arrays, *attributes)
        value = np.asarray(result[0] if isinstance(result, tuple) else result).astype(np.float64)
        assert repr(float(value[0])) == repr(float(expected)), (inputs, expected)


def test_accuracy_of_a_row_follows_the_element_type():
    exp, gelu, slope = UNARY_OPS["exp"], UNARY_OPS["gelu"], BINARY_OPS["gelu_backward_with_dy_x"]
    assert exp.accuracy_of("float32") == exp.accuracy_of("float64") == Ulps(3)
    assert exp.accuracy_of("float16") == gelu.accuracy_of("float16") == Ulps(1)
    assert slope.accuracy_of("float16") == slope.accuracy_of("float64") == Conditioned(16)
    assert BINARY_OPS["add"].accuracy_of("float16") == BINARY_OPS["div"].accuracy_of("int32") == Exact()
    assert UNARY_OPS["is_nan"].accuracy_of("float32") == Exact()


def test_cells_are_the_rows_times_dtypes_times_layouts():
    unary, binary = ElementwiseUnaryFamily(), BroadcastBinaryFamily()
    cells = [str(cell) for family in (unary, binary) for cell in family.cells()]
    assert len(cells) == len(set(cells))
    assert "elementwise_unary/is_nan/float16->bool/dense" in cells
    assert "broadcast_binary/add/bool/scalar-left" in cells
    # A bool cannot lie in the memory of a float, but it can in that of a bool.
    assert "broadcast_binary/equal/float32->bool/inplace" not in cells
    assert "broadcast_binary/equal/bool/inplace" in cells
