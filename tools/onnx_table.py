"""Run ONNX's own tests on devices of EP, and write op x device into docs/onnx.md.

    python tools/onnx_table.py cpu:0 opencl:0 > docs/onnx.md
    python tools/onnx_table.py cpu:0 --only lstm

The tests are those of the package onnx: one node each, nine light models, models of PyTorch's exporters, simple ones. Each is
run twice, so that the second run takes the plan of the first, and compared as ONNX's runner compares. A test that launches
nothing passes on the host: what it asks for is a matter of shapes, or of constants.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ep_onnx
import numpy as np
import onnx
from onnx import ModelProto, OptionalProto, SequenceProto, TensorProto, numpy_helper

import ep

sys.path.insert(0, str(Path(__file__).parent))
from markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS: Final = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
TITLES: Final = {"node": "node tests", "simple": "simple models", "real": "light models"}
LONGEST: Final = 200
HEAD: Final = """# ONNX

What ONNX's own tests (onnx {version}) find, device by device: how many pass of all. Every one of them is run twice and compared as
ONNX's runner does it; nothing is left out, and what does not pass stands below with its reason. *On the host* counts those among
the passed that launch nothing: constants and shapes. `make onnx` writes this page.
"""


@dataclass(frozen=True, eq=False)
class Case:
    """One test: a model, and for each set of inputs what it must give."""

    name: str
    kind: str
    model: ModelProto
    sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float

    @property
    def op(self) -> str:
        """What the test is about: of a node test its operation."""
        name = self.name.removesuffix("_expanded")
        ops = [node.op_type for node in self.model.graph.node]
        return ops[0] if len(ops) == 1 and name == self.name else _OPS.get(name, ops[-1] if ops else "")


_OPS: dict[str, str] = {}

_OTHER: Final = {
    "test_bernoulli*": "random numbers that are not those of NumPy's generator",
    "test_training_dropout*": "random numbers that are not those of NumPy's generator",
    "test_dft_inverse*": "where ONNX has a rounding error of 1.9e-7 in place of 0, more than the tolerance",
    "test_attention_4d_causal_fp16_expanded": "two units in the last place of float16, more than the tolerance",
}
"""Why values differ, where neither is wrong."""


@dataclass(frozen=True)
class Verdict:
    """How a test ended.

    reason : why it did not pass, None if it did
    """

    reason: str | None
    is_on_host: bool = False


def cases(kinds: Iterable[str] = KINDS) -> Iterator[Case]:
    """Yield ONNX's tests."""
    loader = __import__("onnx.backend.test.loader", fromlist=["load_model_tests"])
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = loader.load_model_tests(kind=kind)
        for each in found:
            if kind == "real":
                yield _light(each)
            elif kind == "node":
                _OPS.setdefault(each.name, each.model.graph.node[0].op_type)
                yield Case(each.name, kind, each.model, each.data_sets, each.rtol, each.atol)
            else:
                yield _stored(each, kind)


def run(case: Case, device: ep.Device) -> Verdict:
    """Run one test."""
    try:
        session = ep_onnx.Session(case.model, device)
        for given, needed in case.sets:
            inputs, outputs = [_plain(each) for each in given], [_plain(each) for each in needed]
            for _ in range(2):
                _compare(session.run(inputs), outputs, case)
        launches = any(segment.steps for plan in session.plans.values() for segment in plan.segments)
        session.close()
    except AssertionError as error:
        return Verdict(f"other values: {_line(error)}")
    except (ep.EpError, ValueError, TypeError) as error:
        return Verdict(_line(error))
    return Verdict(None, is_on_host=not launches)


def _compare(found: Sequence[Any], needed: Sequence[Any], case: Case) -> None:
    runner = __import__("onnx.backend.test.runner", fromlist=["Runner"]).Runner
    if any(each is None for each in needed):
        assert [each is None for each in found] == [each is None for each in needed]
        return
    assert len(found) == len(needed)
    for here, there in zip(found, needed, strict=True):
        # The runner takes the elements of a sequence for outputs of their own, but not if one has no dimension.
        sides = ([*there], [*here]) if isinstance(there, list) else ([there], [here])
        runner.assert_similar_outputs(*sides, rtol=case.rtol, atol=case.atol)


def _plain(given: Any) -> Any:
    if isinstance(given, TensorProto):
        return numpy_helper.to_array(given)
    if isinstance(given, SequenceProto):
        return numpy_helper.to_list(given)
    if isinstance(given, OptionalProto):
        return numpy_helper.to_optional(given)
    return given


def _stored(each: Any, kind: str) -> Case:
    folder = Path(each.model_dir)
    model = onnx.load(folder / "model.onnx")
    sets = []
    for data in sorted(folder.glob("test_data_set_*")):
        both = []
        for side, infos in (("input", model.graph.input), ("output", model.graph.output)):
            read = []
            for place, path in enumerate(
                sorted(data.glob(f"{side}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
            ):
                proto = {"sequence_type": SequenceProto, "optional_type": OptionalProto}.get(
                    infos[place].type.WhichOneof("value"), TensorProto
                )()
                proto.ParseFromString(path.read_bytes())
                read.append(proto)
            both.append(read)
        sets.append((both[0], both[1]))
    return Case(each.name, kind, model, sets, each.rtol, each.atol)


def _light(each: Any) -> Case:
    """Return a light model with the input that ONNX's runner gives it."""
    path = Path(onnx.__file__).parent.parent / each.url
    model = onnx.load(path)
    initialised = {tensor.name for tensor in model.graph.initializer}
    inputs = []
    for info in model.graph.input:
        if info.name not in initialised:
            shape = tuple([each.dim_value or 1 for each in info.type.tensor_type.shape.dim])
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    output = TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    return Case(each.name, "real", model, [(inputs, [output])], each.rtol, each.atol)


def _line(error: BaseException) -> str:
    if isinstance(error, ep_onnx.LackingError) and error.lacking:
        cells = {tuple(each.rpartition(": ")[2].split("/")[:3]) for each in error.lacking}
        if ("rule", "-") in cells:
            return str(error).splitlines()[0]
        return f"lacks {', '.join(sorted({' '.join([each for each in cell if each != '-']) for cell in cells}))}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:2] if isinstance(error, ep_onnx.LackingError) else lines[:3])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def page(found: dict[str, dict[Case, Verdict]]) -> str:
    """Return the document for the verdicts of each device."""
    devices = [*found]
    every = [*found[devices[0]]]
    parts = [HEAD.format(version=onnx.__version__), "## In all\n", _totals(devices, every, found)]
    parts += ["## By operation\n", _ops(devices, every, found)]
    parts += ["## What does not pass\n", *[_reasons(device, found[device]) for device in devices]]
    return "\n".join(parts)


def _totals(devices: Sequence[str], every: Sequence[Case], found: dict[str, dict[Case, Verdict]]) -> str:
    rows = []
    for kind in KINDS:
        of_kind = [case for case in every if case.kind == kind]
        if of_kind:
            counts = []
            for device in devices:
                verdicts = [found[device][case] for case in of_kind]
                passed = sum(each.reason is None for each in verdicts)
                host = sum(each.is_on_host for each in verdicts)
                counts.append(f"{passed} of {len(of_kind)} ({passed / len(of_kind):.0%}), {host} on the host")
            rows.append([TITLES.get(kind, kind), *counts])
    return "\n".join(table(["tests", *devices], rows)) + "\n"


def _ops(devices: Sequence[str], every: Sequence[Case], found: dict[str, dict[Case, Verdict]]) -> str:
    by_op = defaultdict(list)
    for case in every:
        if case.kind == "node":
            by_op[case.op].append(case)
    rows = []
    for op, of_op in sorted(by_op.items()):
        passed = [sum(found[device][case].reason is None for case in of_op) for device in devices]
        rows.append([op, *[f"{count} of {len(of_op)}" for count in passed]])
    return "\n".join(table(["operation", *devices], rows)) + "\n"


def _reasons(device: str, verdicts: dict[Case, Verdict]) -> str:
    by_reason = defaultdict(list)
    for case, verdict in verdicts.items():
        if verdict.reason is not None:
            by_reason[_general(case.name, verdict.reason)].append(case.name.removeprefix("test_"))
    rows = [
        [reason, str(len(names)), ", ".join(names)]
        for reason, names in sorted(by_reason.items(), key=lambda each: -len(each[1]))
    ]
    return f"### {device}\n\n" + "\n".join(table(["reason", "tests", "which"], rows)) + "\n"


def _general(name: str, reason: str) -> str:
    """Return a reason without the name of the node, and what lies behind it of shapes and numbers."""
    if reason.startswith("the model is of operator set"):
        return "an operator set before 7, where the operation was another"
    head, _, rest = reason.partition(": ")
    kind = head.split(" '")[0]
    if kind.startswith("lacks "):
        return kind
    if kind == "other values":
        return next((f"{kind}: {why}" for pattern, why in _OTHER.items() if fnmatch(name, pattern)), reason)
    what = rest.split(";")[0].split(", inputs ")[0].split(" (opset")[0]
    return f"{kind}: {what}" if what else kind


def main() -> None:
    """Print the page, or what single tests say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("devices", nargs="*", default=["cpu:0"])
    parser.add_argument("--only", help="tests whose name holds this; print each that does not pass")
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    options = parser.parse_args()
    chosen = [case for case in cases(options.kinds) if not options.only or options.only in case.name]
    found: dict[str, dict[Case, Verdict]] = {}
    for name in options.devices:
        device = ep.device(name)
        found[name] = {}
        for place, case in enumerate(chosen):
            found[name][case] = run(case, device)
            if sys.stderr.isatty():
                print(f"\r{name}: {place + 1} of {len(chosen)}", end="", file=sys.stderr)
        counts = Counter(each.reason is None for each in found[name].values())
        print(f"{name}: {counts[True]} of {len(chosen)} pass", file=sys.stderr)
    if not options.only:
        print(page(found))
        return
    for name, verdicts in found.items():
        for case, verdict in verdicts.items():
            if verdict.reason is not None:
                print(f"{name} {case.name}: {verdict.reason}")


if __name__ == "__main__":
    main()
