"""Casts between all pairs of element types, here and in PyTorch."""

from __future__ import annotations

import warnings
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from ep_conformance.judge.ulp import rounded
from ep_primitives import Cast
from ep_primitives.cases import data
from ep_primitives.families.cast.descriptor import CAST_DTYPES, CastFamily
from ep_primitives.judging.reference import array_dtype, widened

import ep
from ep import TensorSpec
from ep_tools.peers.pytorch.comparison import Finding, differing

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["cast_findings"]

_RANDOM: Final = 4096
_KINDS: Final = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "c": "complex"}


def cast_findings() -> dict[tuple[str, str], dict[str, Finding]]:
    """Return the disagreements about casts, one example each, by ("cast", from what to what) and what differs."""
    found: dict[tuple[str, str], dict[str, Finding]] = {}
    for source in CAST_DTYPES:
        x = _inputs(source)
        for target in CAST_DTYPES:
            kind = f"{_kind(source)} to {_kind(target)}"
            descriptor = Cast(x=TensorSpec(source, x.shape), out=TensorSpec(target, x.shape))
            wanted = CastFamily().reference(descriptor, {"x": x}).value
            with np.errstate(all="ignore"):
                here = widened(target, rounded(wanted, target))
            there = widened(target, _pytorch(x, source, target))
            for how, places in differing(here, there).items():
                if places.any():
                    place = int(places.argmax())
                    finding = Finding(
                        "cast",
                        kind,
                        how,
                        f"{source} to {target}",
                        (x[place].item(),),
                        (),
                        here[place].item(),
                        there[place].item(),
                        int(places.sum()),
                    )
                    found.setdefault(("cast", kind), {}).setdefault(how, finding)
    return found


def _kind(dtype: str) -> str:
    return dtype if dtype.startswith("float8") else _KINDS[ep.dtype(dtype).kind]


def _inputs(dtype: str) -> Array:
    if ep.dtype(dtype).itemsize == 1 and dtype != "bool":
        return data.exhaustive(dtype)
    rng = np.random.default_rng(zlib.crc32(dtype.encode()))
    return np.concatenate([data.designed(dtype), data.random(rng, dtype, (_RANDOM,))])


def _pytorch(x: Array, source: str, target: str) -> Array:
    # PyTorch makes tensors of NumPy's own types alone; the others travel as bytes.
    raw = torch.from_numpy(np.array(x).view(np.uint8).reshape(x.size, -1))
    tensor = raw.view(getattr(torch, source)).reshape(-1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Casting complex values to real")
        converted: Any = tensor.to(getattr(torch, target))
    return np.asarray(converted.reshape(-1, 1).view(torch.uint8).numpy().reshape(-1).view(array_dtype(target)))
