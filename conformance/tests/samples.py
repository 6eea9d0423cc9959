"""Reports that no run has to make: one of every kind of verdict, and one of a hundred thousand."""

import datetime as dt
import math

from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.subject import Subject
from ep_conformance.plan.waiver import Waiver
from ep_conformance.report.report import Report
from ep_conformance.run.verdict import First, Verdict

import ep

ATTACK = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">`|\n@all #1 &amp; ]]> \x00\x1b\ud800"
CELL = "primitives/reduce/sum/float32/dense/{}"
WAIVER = Waiver("*/sum/*", "sums truncate | `yet`", "@numerics", "https://tracker.example/17", dt.date(2027, 3, 1))
INFO = ep.DeviceInfo("Abacus | Two", "EP", driver="beads 3", memory=3 << 30, dtypes=frozenset({"float32"}))
DEVICE = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in INFO._asdict().items()} | {
    "name": "toy:0",
    "model": INFO.name,
    "memory_kinds": ["DEVICE"],
}
CPU = DEVICE | {"name": "cpu:0"}
ENVIRONMENT = {
    "ep": "0.1.0",
    "python": "CPython 3.11.2",
    "platform": "Linux",
    "machine": "x86_64",
    "numpy": "2.1",
    "variables": {"EP_CPU_THREADS": "2"},
}


def verdict(name, status, reason="", *, counts=True, notice=False, first=None, waiver=None, replay=None, **shown):
    identity = name if "/" in name else CELL.format(name)
    return Verdict(identity, Outcome(status, reason, **shown), counts, notice, first, waiver, replay)


def report(*verdicts, **fields):
    known = {"started": "2026-11-21T10:00:00+00:00", "jobs": 2, "environment": ENVIRONMENT, "peak_memory": 3 << 20}
    return Report(Subject("toy", "1.2", DEVICE), "quick", 7, verdicts, 75.5, **known | fields)


def every_kind():
    """A report with a case of every status, a waived one, a notice, and texts that no format likes."""
    others = {Status.PASS, Status.UNSUPPORTED, Status.NEW}
    failing = [
        verdict(str(status), status, f"{status}: {ATTACK}", replay=f"report-failures/{status}.json")
        for status in Status
        if status not in others
    ]
    return report(
        verdict("runtime/event/order", Status.PASS, attested="native", seconds=0.25, degraded=("call", "fill")),
        verdict("zero", Status.PASS, margin=0.0, error=0.0, seconds=0.001, bits="equal"),
        verdict(
            "half",
            Status.PASS,
            margin=0.5,
            error=2.0,
            at="x[3]=0.5",
            bias=0.125,
            variance=0.25,
            seconds=0.002,
            bits=ATTACK,
        ),
        *failing,
        verdict(
            "far",
            Status.FAIL,
            ATTACK,
            margin=math.inf,
            error=math.inf,
            at=ATTACK,
            first=First(Status.CRASH, ATTACK),
            bits="different",
        ),
        verdict("known", Status.FAIL, "as ever", margin=3.0, error=9.0, waiver=WAIVER),
        verdict("primitives/copy/-/int8/strided/a", Status.UNSUPPORTED, "not claimed", counts=False),
        verdict(
            "primitives/copy/-/int16/strided/a",
            Status.UNSUPPORTED,
            "accepted: pass; claim it",
            counts=False,
            notice=True,
        ),
        verdict("primitives/cast/-/int8->float32/rank0/a", Status.NEW, "pass", counts=False),
        verdict("claims/elementwise_unray/*/float32/*", Status.MISSING, "matches nothing"),
        verdict("vendor/acme/warms-up", Status.PASS),
        bits_of=CPU,
    )


def large(count):
    """A report of many passing cases of many cells, with margins, of which a few fail."""
    families = ("elementwise_unary", "broadcast_binary", "reduce", "matmul")
    dtypes = ("float16", "bfloat16", "float32", "float64", "int8->int32", "complex64")
    layouts = ("dense", "strided", "offset", "inplace")
    found = []
    for at in range(count):
        place = (
            families[at % 4],
            f"op_{at // 4 % 70}",
            dtypes[at // 280 % 6],
            layouts[at // 1680 % 4],
            f"case-{at // 6720}",
        )
        fails = at % 9973 == 5
        margin = None if at % 3 == 0 else (1.5 if fails else (at * 7919 % 1000) / 1000)
        found.append(
            verdict(
                "/".join(("primitives", *place)),
                Status.FAIL if fails else Status.PASS,
                "wrong" if fails else "",
                margin=margin,
                error=margin and 4 * margin,
                at=f"x[{at % 257}]={at / 7:.6g}" if margin else "",
                seconds=(at * 31 % 977) / 1e5,
                attested="native",
            )
        )
    return report(*found)
