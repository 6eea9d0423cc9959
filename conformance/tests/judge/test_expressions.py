"""What a failing case says, in every family: operation, operands, place, what was given and what was needed."""

import re

import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError
from ep_conformance.plan.catalogue import cell_cases, find
from ep_conformance.run.steps.path import run_case
from ep_conformance.run.steps.placed import Held
from ep_primitives import Case
from ep_primitives.judging import layout

import ep

FAMILIES = {
    "primitives/elementwise_unary/elu/float32/dense/designed-alpha-3": r"^elu\(x\[1\]=-0\.0, alpha=3\.0\)=-0\.0, out\[1\]=3\.5 \(.* ulp, bound 4; 1 of \d+ elements\) on cpu:0$",
    "primitives/broadcast_binary/add/float32/broadcast/row-right": r"^add\(a\[1,1\]=\S+, b\[1\]=\S+\)=\S+, out\[1,1\]=3\.5 \(exact; 1 of \d+ elements\)",
    "primitives/broadcast_binary/sub/int32/scalar-right/dense": r"^sub\(a\[1\]=(-?\d+), b=(-?\d+)\)=-?\d+, out\[1\]=-?\d+ ",
    "primitives/where/-/bool,float32->float32/dense/conditions": r"^where\(condition\[1\]=False, b\[1\]=\S+\): out\[1\] is 3\.5 with the bits 0x40600000, needed \S+ with the bits 0x\w+, because",
    "primitives/add_n/-/float32/dense/rank-4": r"^add_n\(x0\[1,1,1,1\]=\S+, x1\[1,1,1,1\]=\S+, x2\[1,1,1,1\]=\S+\)=\S+, out\[1,1,1,1\]=3\.5 ",
    "primitives/cast/-/float32->int32/dense/designed": r"^cast\(x\[1\]=-0\.0\)=0, out\[1\]=1 ",
    "primitives/saturating_cast/-/float32->float8_e4m3fn/dense/designed": r"^saturating_cast\(x\[1\]=-0\.0\)=-0, out\[1\]=3\.5 ",
    "primitives/iota/-/float32/dense/size-63": r"^iota\(start=\S+, step=\S+, axis=0\)=\S+, out\[1\]=3\.5 ",
    "primitives/fill/-/float32/dense/value-zero": r"^fill\(value=0\.0\)=0\.0, out\[1\]=3\.5 ",
    "primitives/tensor_fill/-/float32/dense/rank-4": r"^tensor_fill\(x=\S+\): out\[1, 1, 1, 1\] is 3\.5 .* needed \S+ ",
    "primitives/copy/-/int32/strided/transposed": r"^copy\(x\[1,1\]=(-?\d+)\): out\[1, 1\] is -?\d+ with the bits 0x\w+, needed \1 ",
    "primitives/permute/-/int32/dense/rank-3-1-2-0": r"^permute\(x\[1,1,1\]=(-?\d+), permutation=\(1, 2, 0\)\): out\[1, 1, 1\] is -?\d+ .* needed \1 ",
    "primitives/pad/reflect/int32/dense/rank-3": r"^pad/reflect\(x\[0,1,2\]=(-?\d+), before=\(1, 2, 3\), after=\(4, 3, 5\)\): out\[1, 1, 1\] is -?\d+ .* needed \1 ",
    "primitives/pad/constant/int32/dense/rank-3": r"^pad/constant\(value=(-?\d+), before=.*, after=.*\): out\[1, 1, 1\] is -?\d+ .* needed \1 ",
    "primitives/one_hot/-/int32->int8/dense/edges": r"^one_hot\(indices\[1\]=0, on=9, off=109, axis=1\)=109, out\[1,1\]=108 ",
    "primitives/gather/-/float32,int32->float32/dense/edges": r"^gather\(indices\[1\]=10\): out\[1, 1\] is 3\.5 .* needed 0\.0 ",
    "primitives/matmul/-/float32/dense/33x65x129": r"^matmul\(a\[1,0:65\] of float32\[33, 65\], b\[0:65,1\] of float32\[65, 129\], alpha=1\.0, beta=0\.0\)=\S+, out\[1,1\]=3\.5 ",
    "primitives/matmul/-/float32/broadcast/sum-of-none": r"^matmul\(a=float32\[0, 9, 21\], b=.*\)=\S+, out\[0,1,1\]=3\.5 ",
    "primitives/convolution/-/float32/dense/strides-dilations-pads": r"^convolution\(x\[1,0:3,2:8:2,1:7:3\] of float32\[2, 3, 13, 17\], w\[1,0:3,0:3,0:3\] of .*, bias\[1\]=\S+, strides=\(3, 2\), .*\)=\S+, y\[1,1,1,1\]=3\.5 ",
    "primitives/convolution_transposed/-/float32/dense/strides-dilations-pads": r"^convolution_transposed\(x\[1,0:3,0:1,0:3\] of .*, w\[0:3,1,0:3,0:3\] of .*, bias\[1\]=\S+, strides=\(3, 2\), .*\)=\S+, y\[1,1,1,1\]=3\.5 ",
    "primitives/pool/max/float32/dense/ceil": r"^pool/max\(x\[1,1,2:5,2:5\] of float32\[2, 3, 10, 12\], window=\(3, 3\), strides=\(2, 2\), .*\)=\S+, y\[1,1,1,1\]=3\.5 ",
    "primitives/random_fill/words/uint32/dense/at-word-1": r"^words\(state=\[1, 1\]\)=2515673792, out\[1\]=2515673793 ",
    "primitives/reduce/sum/float32/dense/rows": r"^sum\(x\[1,0:257\] of float32\[13, 257\], axis=\(1,\)\)=\S+, out\[1\]=3\.5 ",
    "primitives/reduce/sum/float32/dense/length-2": r"^sum\(x\[1,0:2\]=\[\S+, \S+\], axis=\(1,\)\)=\S+, out\[1\]=3\.5 ",
    "primitives/arg_reduce/max/float32->int64/dense/ties": r"^arg_reduce/max\(x\[1,0:\d+\] of float32\[.*\], axis=1\)=23, out\[1\]=22 ",
    "primitives/softmax/-/float32/dense/rows": r"^softmax\(x\[1,0:33\] of float32\[7, 33\], axis=1\)=\S+, out\[1,1\]=3\.5 ",
    "primitives/log_softmax/-/float32/dense/rows": r"^log_softmax\(x\[1,0:33\] of float32\[7, 33\], axis=1\)=\S+, out\[1,1\]=3\.5 ",
    "primitives/softmax_backward/-/float32/dense/rows": r"^softmax_backward\(dy\[1,0:33\] of .*, y\[1,0:33\] of .*, axis=1\)=\S+, out\[1,1\]=3\.5 ",
    "primitives/layer_norm/-/float32/dense/rows": r"^layer_norm\(x\[1,0:33\] of float32\[7, 33\], scale\[1\]=\S+, bias\[1\]=\S+, axis=1\)=\S+, y\[1,1\]=3\.5 ",
    "primitives/top_k/largest/int32->int32,int64/dense/rows": r"^top_k/largest\(x\[1,0:131\] of int32\[13, 131\], axis=1\): values\[1, 1\] is -?\d+ with the bits",
    "primitives/attention/-/float32/dense/rows": r"^attention\(q\[1,1,1,0:17\] of float32\[2, 3, 33, 17\], k\[1,1,0:65,0:17\] of .*, v\[1,1,0:65,1\] of .*\)=\S+, out\[1,1,1,1\]=3\.5 ",
    "primitives/group_norm/-/float32/dense/groups": r"^group_norm\(x\[1,0:3,0:5,0:7\] of float32\[3, 12, 5, 7\], scale\[1\]=\S+, bias\[1\]=\S+, groups=4\)=\S+, y\[1,1,1,1\]=3\.5 ",
    "primitives/batch_norm/-/float32/dense/channels": r"^batch_norm\(x\[1,1,1,1\]=\S+, mean\[1\]=\S+, variance\[1\]=\S+, scale\[1\]=\S+, bias\[1\]=\S+\)=\S+, y\[1,1,1,1\]=3\.5 ",
    "primitives/rms_layer_norm/-/float32/dense/rows": r"^rms_layer_norm\(x\[1,0:33\] of float32\[7, 33\], scale\[1\]=\S+, axis=1\)=\S+, y\[1,1\]=3\.5 ",
    "primitives/cross_entropy/-/float32,int64->float32/dense/none": r"^cross_entropy\(x\[1,0:11,1,1\] of float32\[5, 11, 3, 7\], labels\[1,1,1\]=\d+, reduction='none'\)=\S+, out\[1,1,1\]=3\.5 ",
    "primitives/quantize/-/float32->int16/dense/columns": r"^quantize\(x\[1,1\]=\S+, scale\[1\]=\S+, zero_point\[1\]=-?\d+\)=-?\d+, out\[1,1\]=-?\d+ ",
    "primitives/dequantize/-/int8->float32/dense/columns": r"^dequantize\(x\[1,1\]=-?\d+, scale\[1\]=\S+, zero_point\[1\]=-?\d+\)=\S+, out\[1,1\]=3\.5 ",
    "primitives/lstm_cell/-/float32/dense/rows-peephole": r"^lstm_cell\(gates\[1,1:68:17\]=\[.*\], h\[1,0:17\] of float32\[5, 17\], c\[1,1\]=\S+, r\[1:68:17,0:17\] of .*, peephole\[1:51:17\]=.*\)=\S+, h_next\[1,1\]=3\.5 ",
    "primitives/gru_cell/-/float32/dense/rows": r"^gru_cell\(gates\[1,0:51\] of float32\[5, 51\], h\[1,0:17\] of .*, r\[0:51,0:17\] of .*\)=\S+, h_next\[1,1\]=3\.5 ",
    "primitives/log_softmax_backward/-/float32/dense/rows": r"^log_softmax_backward\(dy\[1,0:33\] of .*, y\[1,0:33\] of .*, axis=1\)=\S+, out\[1,1\]=3\.5 ",
}


def spoil(array):
    """Make the element next to the first along every dimension another one."""
    at = tuple(min(1, extent - 1) for extent in array.shape)
    if array.dtype == np.bool_ or array.dtype.kind in "iu":
        array[at] = not array[at] if array.dtype == np.bool_ else array[at] ^ array.dtype.type(1)
    else:
        array[at] = 3.5


@pytest.fixture
def said(monkeypatch):
    """What a case says whose output is spoilt on its way back."""
    download = Held.download

    def run(
        identity,
        spoilt="",
        change=lambda operand, image: spoil(layout.view(operand.spec, image, operand.start)),
        launches=(0, 1),
    ):
        count = iter(range(100))
        found = find(identity)
        name = spoilt or next(iter(found.case.descriptor.outputs))

        def planted(held, stream):
            image = download(held, stream)
            stream.synchronize()
            if held.operand.name == name and next(count) in launches:
                change(held.operand, image)
            return image

        monkeypatch.setattr(Held, "download", planted)
        try:
            return run_case(Trial(ep.device("cpu:0"), identity), found.family, found.case).reason
        except CaseError as error:
            return str(error)

    return run


def example(name):
    """Return a quick case of a family whose first output has several elements."""
    family = ep.families()[name]
    cells = sorted(family.cells(), key=lambda cell: (cell.layout != "dense", "float32" not in cell.dtypes))
    return next(
        each.id
        for cell in cells
        for each in cell_cases(family, cell, "quick")
        if isinstance(each.case, Case) and 1 < next(iter(each.case.descriptor.outputs.values())).size < 1 << 16
    )


@pytest.mark.parametrize("name", ep.families())
def test_wrong_element_names_operation_output_and_place(said, name):
    identity = example(name)
    _, _, op, *_ = identity.split("/")
    (output, *_) = find(identity).case.descriptor.outputs
    assert re.search(rf"^({name}/)?({name}|{op})\(.*\).*\b{output}\[\d[\d, ]*\](=| is )", said(identity))


@pytest.mark.parametrize("identity", FAMILIES)
def test_wrong_element_is_an_expression(said, identity):
    assert re.search(FAMILIES[identity], said(identity))


EXP = "primitives/elementwise_unary/exp/float32/dense/size-17"


def test_stray_write_names_operation_operand_and_byte(said):
    def behind(operand, image):
        image[operand.start + operand.spec.nbytes] ^= 1

    assert re.match(
        r"exp: out: a write 1 byte past the end of its tensor: the byte was 0x\w\w and is", said(EXP, change=behind)
    )
    assert said(EXP, "x").startswith("exp: x: a write to byte 4, which is no element to be written: the byte was")


def test_launch_that_differs_names_the_element_and_the_launch(said):
    def last_bit(operand, image):
        layout.view(operand.spec, image, operand.start).view(np.uint32)[3] ^= 1

    text = said(EXP, change=last_bit, launches=(1,))
    assert re.match(
        r"exp\(x\[3\]=\S+\): out\[3\] is \S+ with the bits .* as an equal launch before gave; DeviceInfo", text
    )
    text = said(EXP, launches=(1,))
    assert re.match(r"exp\(x\[1\]=\S+\)=\S+, out\[1\]=3\.5 .*; the launch before it was right$", text)


def test_wrong_bool_names_its_byte(said):
    def odd(operand, image):
        image[operand.start + 1] = 7

    text = said("primitives/elementwise_unary/is_nan/float32->bool/dense/designed", change=odd)
    assert text.startswith("is_nan(x[1]=-0.0): out[1] holds the byte 7; a bool output is 0 or 1")


def test_updated_operand_is_named(said):
    text = said("primitives/random_fill/words/uint32/dense/at-word-1", "state")
    assert re.match(r"words: state was \[1, 1\] and is \[1, \d+\] after the launch, needed \[1, 258\]", text)
