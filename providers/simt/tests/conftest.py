"""The fixtures of this room's tests: NVRTC, and every program that the families' cells need."""

from __future__ import annotations

import re
from collections import Counter

import ep_simt
import pytest
from ep_cuda.compiler.nvrtc import nvrtc as nvrtc_of_cuda
from ep_cuda.compiler.program import PRELUDE

import ep

_OPS = ("elementwise_unary_", "broadcast_binary_", "cast-", "saturating_cast-")
_TELLING = re.compile(r"-f32-(f32|bool)-t+-dense|_(exp|add)-")
_WIDTH = re.compile(r"-(narrow|wide)\b")
_OP = re.compile(r"[a-z_]+(-[a-z_]+(?=-))?")
INFO = ep.DeviceInfo("any", "EP", dtypes=frozenset(ep_simt.ELEMENTS))


class Ptx:
    """NVRTC, which needs no GPU: `ptx(source)` compiles one source."""

    @staticmethod
    def ptx(source):
        options = ("--gpu-architecture=compute_90", "--fmad=false")
        return nvrtc_of_cuda().compile(source, "program", options).rstrip(b"\0").decode()


@pytest.fixture(scope="session")
def nvrtc():
    """Return the compiler of the wheel nvidia-cuda-nvrtc."""
    try:
        nvrtc_of_cuda()
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    return Ptx


@pytest.fixture(scope="session")
def prelude():
    """Return the CUDA prelude."""
    return PRELUDE


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        metafunc.parametrize("program", _marked(programs()), ids=lambda program: program.name)


def _marked(found):
    """Return programs; those that differ from another only in their types, layout or width of indices are for `make thorough`.

    Of programs in both widths the first stays with narrow indices, the next with wide ones, so that every body has either.
    Of six that stay of an op one is tried every day: its first, eighth and 15th, and so on, for their types and layouts take turns.
    """
    names, stems, kept = {program.name for program in found}, {}, Counter()
    for program in found:
        width = stems.setdefault(_WIDTH.sub("-*", program.name), ("narrow", "wide")[len(stems) % 2])
        chosen = _WIDTH.sub(f"-{width}", program.name)
        is_like_another = program.name.startswith(_OPS) and not _TELLING.search(program.name)
        is_thorough = is_like_another or (chosen != program.name and chosen in names)
        if not is_thorough:
            op = _OP.match(program.name)[0]
            is_thorough, kept[op] = bool((kept[op] - kept[op] // 6) % 6), kept[op] + 1
        yield pytest.param(program, marks=pytest.mark.thorough) if is_thorough else program


def programs():
    """Return every program for the cells of the suite that the dialect has, and the 64-bit form of each strided one."""
    found = {}
    for family in ep.families().values():
        for cell in family.cells():
            descriptor = family.sample(cell)
            try:
                ep_simt.require(descriptor, INFO)
            except ep.UnsupportedError:
                continue
            for key in (descriptor.key, descriptor.key._replace(wide=descriptor.key.layout == "strided")):
                found[ep_simt.bodies()[key.family].program(key, ep_simt.GPU)] = None
    return list(found)
