"""Bad models and bad inputs: a sentence that names the place and the cure."""

import numpy as np
import onnx
import pytest
from ep_onnx import LackingError, ModelError, Session
from made_models import FLOAT, INT64, model
from onnx import TensorProto, helper
from onnx.external_data_helper import set_external_data

import ep

node = helper.make_node
EXP = [node("Exp", ["x"], ["y"])]


def exp(shape=(3,), version=23):
    return model(EXP, {"x": (FLOAT, shape)}, {"y": (FLOAT, shape)}, version=version)


def refused(source, match, kind=ModelError):
    with pytest.raises(kind, match=match) as caught:
        Session(source, ep.device("cpu:0"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [0, 1, 7, -1])
def test_damaged_model(tmp_path, cut):
    data = exp().SerializeToString()
    path = tmp_path / "cut.onnx"
    path.write_bytes(data[:cut])
    refused(path, r"damaged")


def test_anything_but_a_model(tmp_path):
    path = tmp_path / "text.onnx"
    path.write_bytes(b"\x89PNG\r\n" * 100)
    refused(path, r"no ONNX model")
    refused(tmp_path / "none.onnx", r"No such file")
    refused(tmp_path, r"directory")


@pytest.mark.parametrize("version", [0, 6, 99])
def test_unknown_operator_set(version):
    proto = model([node("Add", ["x", "x"], ["y"])], {"x": (FLOAT, [1])}, {"y": (FLOAT, [1])}, version=version)
    refused(proto, rf"operator set {version}.*needs 7 to \d+; export it")


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "sub/../../secret", "link/secret"])
def test_weights_outside_the_folder_of_the_model(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(12))
    (folder / "link").symlink_to(tmp_path)
    proto = model(
        [node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [3])}, {"y": (FLOAT, [3])}, {"w": np.zeros(3, np.float32)}
    )
    set_external_data(proto.graph.initializer[0], location)
    proto.graph.initializer[0].ClearField("raw_data")
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    refused(folder / "m.onnx", r"'w'.*outside the model's folder")


def test_weights_beside_the_model_are_read(tmp_path, session):
    w = np.arange(300, dtype=np.float32)
    proto = model([node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [300])}, {"y": (FLOAT, [300])}, {"w": w})
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    np.testing.assert_array_equal(session(tmp_path / "m.onnx").run([w])[0], 2 * w)
    (tmp_path / "weights").write_bytes(bytes(10))
    refused(tmp_path / "m.onnx", r"cannot be read")
    (tmp_path / "weights").unlink()
    refused(tmp_path / "m.onnx", r"weights beside the model")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_weights_beside_a_model_without_a_folder(tmp_path, monkeypatch, is_sparse):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_bytes(bytes(12))
    w = helper.make_tensor("w", FLOAT, [3], np.zeros(3, np.float32))
    proto = model([node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [3])}, {"y": (FLOAT, [3])})
    if is_sparse:
        places = helper.make_tensor("places", INT64, [3], [0, 1, 2])
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(w, places, [3]))
        outside = proto.graph.sparse_initializer[0].values
    else:
        proto.graph.initializer.append(w)
        outside = proto.graph.initializer[0]
    outside.raw_data = bytes(12)
    outside.ClearField("float_data")
    set_external_data(outside, "secret")
    outside.ClearField("raw_data")
    for source in (proto, proto.SerializeToString()):
        refused(source, r"weights of 'w' lie in a file beside the model.*give the path")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    refused(folder / "m.onnx", r"weights beside the model cannot be read")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (node("Pad", ["x", "w"], ["y"], mode="bogus"), r"Pad 'y': 'bogus' is none of what this may be"),
        (node("Einsum", ["x"], ["y"]), r"Einsum 'y': AttributeError"),
        (node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[0]), r"MaxPool 'y': ZeroDivisionError"),
    ],
)
def test_node_that_breaks_a_rule_is_named(session, made, said):
    broken = session(model([made], {"x": (FLOAT, [1, 1, 3])}, {"y": (FLOAT, None)}, {"w": np.zeros(6, np.int64)}))
    with pytest.raises(ModelError, match=said):
        broken.run([np.zeros((1, 1, 3), np.float32)])


def test_constant_of_an_unknown_element_type():
    proto = model(
        [node("Constant", [], ["y"], value=helper.make_tensor("c", FLOAT, [1], [1.0]))], {}, {"y": (FLOAT, [1])}
    )
    proto.graph.node[0].attribute[0].t.data_type = 77
    refused(proto, r"cannot be read.*damaged")


def test_element_type_that_none_holds():
    proto = model([node("Identity", ["x"], ["y"])], {"x": (TensorProto.STRING, [1])}, {"y": (TensorProto.STRING, [1])})
    refused(proto, r"input 'x': element type STRING is held by none", LackingError)


@pytest.mark.parametrize(
    ("inputs", "match"),
    [
        ([np.zeros(4, np.float32)], r"input 'x' has shape \(4,\), the model takes \(3\)"),
        ([np.zeros((3, 1), np.float32)], r"shape \(3, 1\)"),
        ([np.zeros(3)], r"input 'x' is float64, the model takes float32"),
        ([], r"missing x; the model has x"),
        ({"z": np.zeros(3, np.float32)}, r"unknown z; missing x"),
        ([np.zeros(3, np.float32)] * 2, r"2 inputs are given, and the model has 1: x"),
        ([np.array(["a"])], r"element type"),
        ([None], r"input 'x' is None, the model takes float32; give an array"),
        ([[1.0, 2.0, 3.0]], r"input 'x' is float64, the model takes float32; convert it"),
        ([[[1.0], [1.0, 2.0]]], r"input 'x': .*inhomogeneous.*; give an array"),
    ],
)
def test_inputs_that_do_not_fit(session, inputs, match):
    with pytest.raises((ModelError, LackingError), match=match):
        session(exp()).run(inputs)


@pytest.mark.parametrize(
    ("op", "given", "match"),
    [
        ("SequenceLength", np.zeros(3, np.float32), r"input 's' is ndarray, the model takes a sequence; give a list"),
        ("SequenceLength", None, r"input 's' is NoneType, the model takes a sequence; give a list"),
        ("SequenceLength", [np.zeros(3)], r"input 's' is float64, the model takes float32; convert it"),
        ("OptionalGetElement", None, r"OptionalGetElement 'y': the value is absent; give one"),
    ],
)
def test_sequences_and_absent_values_that_do_not_fit(session, op, given, match):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    proto = model([node(op, ["s"], ["y"])], {}, {"y": (INT64, [])})
    kind = kind if op == "SequenceLength" else helper.make_optional_type_proto(kind)
    proto.graph.input.append(helper.make_value_info("s", kind))
    with pytest.raises(ModelError, match=match):
        session(proto).run([given])


def test_numbers_of_machines_with_another_byte_order_are_turned(session):
    x = np.array([0, 1, 2], ">f4")
    np.testing.assert_allclose(session(exp()).run([x])[0], np.exp(x.astype(np.float32)), rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "said"),
    [
        ("Concat", [(4, 4), (1, 1)], {"axis": 0}, "the same ones but for axis 0"),
        ("Softmax", [(2, 3)], {"axis": 7, "version": 11}, "axis 7 is none of 2 dimensions"),
        ("ArgMax", [(2, 3)], {"axis": -9}, "axis -9 is none of 2 dimensions"),
        ("Split", [(2, 3)], {"axis": 3}, "axis 3 is none of 2 dimensions"),
        ("LayerNormalization", [(4, 2), (3,)], {}, r"shape \(3,\) cannot be repeated to \(2,\)"),
        ("GroupNormalization", [(1, 4, 3), (2,), (2,)], {"num_groups": 2, "version": 21}, "scale"),
        ("ScatterND", [(1, 2), np.array([[0]]), (3, 2)], {}, r"shape \(3, 2\), and the indices need \(1, 2\)"),
        ("ReverseSequence", [(3, 2), np.array([3, 9])], {}, r"lengths \[3, 9\] are given"),
        ("Pad", [(3, 2), np.array([1, 1, 1])], {}, "3 pads are given, and 2 dimensions need 4"),
        ("Conv", [(1, 1, 5, 5), (1, 1, 2, 2)], {"pads": [3, 7]}, "two pads"),
        ("MaxPool", [(1, 1, 5, 5)], {}, r"kernel_shape \[\]"),
        ("GridSample", [(1, 1, 3, 3), (1, 3, 3, 3)], {}, "2 places each"),
        ("EyeLike", [(2, 2, 2)], {}, "has 3 dimensions, needs 2"),
    ],
)
def test_nodes_whose_shapes_do_not_fit_are_refused(session, op, shapes, attributes, said):
    arrays = [each if isinstance(each, np.ndarray) else np.ones(each, np.float32) for each in shapes]
    names = [f"i{place}" for place in range(len(arrays))]
    version = {**attributes}.pop("version", 20)
    made = node(op, names, ["y"], **{name: each for name, each in attributes.items() if name != "version"})
    types = {
        name: (helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in zip(names, arrays, strict=True)
    }
    with pytest.raises(ModelError, match=rf"^{op} 'y': .*{said}"):
        session(model([made], types, {"y": (TensorProto.UNDEFINED, None)}, version=version)).run(arrays)


def test_extents_of_one_name_are_one(session):
    proto = model([node("Add", ["a", "b"], ["y"])], {"a": (FLOAT, ["n"]), "b": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])})
    with pytest.raises(ModelError, match=r"input 'b' has shape \(2,\), the model takes \(n\) with n = 3"):
        session(proto).run([np.zeros(3, np.float32), np.zeros(2, np.float32)])


def test_shapes_that_a_node_cannot_do_name_the_node(session):
    proto = model(
        [node("MatMul", ["a", "b"], ["y"], name="m")], {"a": (FLOAT, None), "b": (FLOAT, None)}, {"y": (FLOAT, None)}
    )
    with pytest.raises(ModelError, match=r"MatMul 'm': .*float32\[2, 3\], float32\[4, 5\]"):
        session(proto).run([np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32)])


def test_operation_that_nobody_knows_is_named_with_its_types(session):
    sets = [helper.make_opsetid("org.nobody", 3)]
    proto = model(
        [node("Frobnicate", ["x"], ["y"], name="f", domain="org.nobody")],
        {"x": (FLOAT, [3])},
        {"y": (FLOAT, [3])},
        imports=sets,
    )
    with pytest.raises(
        LackingError, match=r"Frobnicate 'f': no rule for it \(domain 'org.nobody', opset 3, inputs float32\[3\]\)"
    ):
        session(proto).run([np.zeros(3, np.float32)])


@pytest.mark.usefixtures("lacking")
def test_what_the_device_lacks_is_named_node_by_node(session):
    nodes = [node("Tan", ["x"], ["t"], name="first"), node("Softmax", ["t"], ["y"], name="second")]
    proto = model(nodes, {"x": (FLOAT, [37])}, {"y": (FLOAT, None)})
    with pytest.raises(LackingError) as caught:
        session(proto, "opencl:0").run([np.zeros(37, np.float32)])
    lines = str(caught.value).splitlines()
    assert "opencl:0 lacks what" in lines[0]
    assert any("Softmax 'second': softmax/-/float32" in line for line in lines)


def test_a_session_works_on_after_a_refusal(session):
    made = session(exp(("n",)))
    with pytest.raises(ModelError):
        made.run([np.zeros((1, 1), np.float32)])
    np.testing.assert_array_equal(made.run([np.zeros(2, np.float32)])[0], np.ones(2, np.float32))


def test_more_memory_than_there_is(session):
    nodes = [node("Expand", ["x", "shape"], ["e"]), node("Exp", ["e"], ["y"])]
    proto = model(nodes, {"x": (FLOAT, [1]), "shape": (INT64, [2])}, {"y": (FLOAT, None)})
    with pytest.raises(ep.OutOfMemoryError):
        session(proto).run([np.zeros(1, np.float32), np.array([1 << 24, 1 << 20])])
