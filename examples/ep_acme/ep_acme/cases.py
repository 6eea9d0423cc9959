"""Acme's promises beyond EP's contracts. The entry point `ep.conformance` names this module; users never import it."""

from collections.abc import Mapping, Sequence
from typing import Any

import ep_conformance
import numpy as np
from ep_primitives import Case

import ep
from ep_acme.rms_norm import RmsNorm


@ep_conformance.case()
def verbs_are_done_when_they_return(trial: ep_conformance.Trial) -> None:
    """Finish each verb before it returns: no synchronisation is needed."""
    stream, sent = trial.stream(), trial.noise(4096)
    there, back = trial.memory(4096), np.zeros(4096, np.uint8)
    stream.upload(there, sent)
    stream.download(back, there)
    trial.same_bytes("back", back, sent)
    trial.require(stream.is_idle, "the stream is not idle after a verb has returned")


@ep_conformance.hook
def ep_conformance_cases() -> Sequence[ep_conformance.VendorCase | Case]:
    """Return acme's own case, and a descriptor that the family itself does not try."""
    rows = ep.TensorSpec("float32", (2, 3))
    scale = ep.TensorSpec("float32", (3,))
    descriptor = RmsNorm(x=rows, scale=scale, out=rows)
    return (verbs_are_done_when_they_return, Case("squares-beyond-float32", descriptor, _large))


def _large(rng: np.random.Generator) -> Mapping[str, Any]:
    """Return rows with squares beyond float32, because acme sums in double precision."""
    x = rng.uniform(1e25, 1e30, (2, 3)).astype(np.float32)
    return {"x": x, "scale": rng.uniform(0.5, 2, 3).astype(np.float32)}
