import numpy as np
from ep_cpu.native import open_native, rows_of
from ep_primitives import ElementwiseUnary
from ep_primitives.judging.accuracy import EXACT

import ep

WHICH = "from ep_cpu.native import open_native; print(open_native().isa)"
WHY = """
import ep
try:
    ep.device("cpu:0")
except ep.UnavailableError as error:
    print(error)
"""


def test_isa_limit_lowers_to_baseline(fresh_python):
    assert fresh_python(WHICH, EP_CPU_ISA="baseline") == "baseline"


def test_isa_limit_is_a_ceiling(fresh_python, isa, isas):
    assert isas.index(fresh_python(WHICH, EP_CPU_ISA=isa)) >= isas.index(isa)


def test_isa_unknown_is_unavailable_and_names_the_choices(fresh_python, isas):
    said = fresh_python(WHY, EP_CPU_ISA="sse9")
    assert "EP_CPU_ISA=sse9" in said
    assert all(isa in said for isa in isas)


def test_isa_tables_have_the_same_rows(isas):
    native = open_native()
    tables = [set(rows_of(native.ffi, native.lib.ep_open(isa.encode()))) for isa in isas]
    assert all(table == tables[0] for table in tables)
    assert len(tables[0]) > 1000


def test_isa_missing_module_is_unavailable_and_says_how_to_build(fresh_python):
    said = fresh_python("import sys\nsys.modules['ep_cpu._native'] = None\n" + WHY)
    assert "EP_BUILD_CPU" in said


def test_floor_keeps_signed_zero_and_large_values(isa, run_on):
    x = np.array([-0.0, 0.0, -0.25, 0.75, -1.0, 8388607.5, -8388607.5, 1e30, -1e30, np.inf, -np.inf], np.float32)
    out = run_on(isa, ElementwiseUnary.infer("floor", ep.TensorSpec.of(x)), x)
    assert (out.view(np.uint32) == np.floor(x).view(np.uint32)).all()


def test_denormals_are_honoured(isa, run_on):
    x = np.array([1e-310, -1e-310, 5e-324, 2e-308], np.float64)
    doubled = run_on(isa, ElementwiseUnary.infer("abs", ep.TensorSpec.of(x)), x)
    assert (doubled == np.abs(x)).all()
    assert np.allclose(run_on(isa, ElementwiseUnary.infer("log", ep.TensorSpec.of(x)), x)[[0, 2]], np.log(x[[0, 2]]))


def exact_descriptors():
    """Yield a sample of each dense cell whose results are exact, in every type that it takes."""
    for family in ep.families().values():
        for cell in family.cells():
            if cell.layout == "dense" and cell.family in {"elementwise_unary", "broadcast_binary", "cast"}:
                descriptor = family.sample(cell)
                if family.accuracy(descriptor) == EXACT:
                    yield descriptor


def test_isa_makes_no_difference_to_exact_results(isas, run_on):
    """Bytes of all kinds, so that every type sees its odd values; results may differ in the bits of a NaN alone."""
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 256, 16 * 1155, np.uint8)
    different = []
    for descriptor in exact_descriptors():
        inputs = [rng.permutation(bits)] * (len(descriptor.specs) - 1)
        results = [run_on(isa, descriptor, *inputs) for isa in isas]
        has_nan = results[0].dtype.kind in "fcV"
        if not all(np.array_equal(result, results[0], equal_nan=has_nan) for result in results[1:]):
            different.append(str(descriptor))
    assert not different
