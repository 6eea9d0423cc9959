"""Print docs/reports/collectives-cost.md: what an AllReduce costs over many ranks, by formulas and by the simulation of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from ep_tools.links.formulas import FORMULAS, half
from ep_tools.links.network import Link, Machine, simulate
from ep_tools.links.schedules import SCHEDULES
from ep_tools.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RANKS: Final = (8, 64, 1024)
SIZES: Final = (4, 2**10, 2**15, 2**20, 2**25, 2**30)
_MOST_POWER: Final = 34
_SWITCH: Final = Link(latency=5e-6, bandwidth=25e9, gap=0.5e-6)
MACHINES: Final = (
    Machine("A rank a machine", 1, _SWITCH, _SWITCH, 100e9),
    Machine("Eight ranks a machine", 8, Link(2e-6, 200e9, 0.2e-6), Link(5e-6, 50e9, 0.5e-6), 100e9),
)

HEAD: Final = """# What collectives cost

On paper: formulas, and a simulation of links, of an AllReduce over 8, 64 and 1,024 ranks. No figure here was measured on a
network; `python tools collective-cost` computes all of them, from assumed links. What the carrier for one process takes is measured:
[its room](../../collectives/README.md).

## The model

A message of n bytes takes a + n b: a seconds of latency, b seconds a byte (Hockney, *The communication challenge for MPP*, Parallel Computing
20, 1994). Adding takes g seconds a byte. p ranks, n bytes at each:

| schedule | what it does | seconds |
|---|---|---|
| ring | ReduceScatter and AllGather, p - 1 steps each, n / p to the neighbour | 2 (p - 1) (a + b n / p) + g n (p - 1) / p |
| doubling | all n bytes with the rank at distance 1, 2, 4, ... | log p (a + b n + g n) |
| halving | n / 2, n / 4, ... with the rank at distance 1, 2, ...; the same way back | 2 a log p + (2 b + g) n (p - 1) / p |
| tree | two binary trees, half of the bytes each, in k chunks of c = n / 2k, up and down | 2 log p (a + b c) + g c log p + 4 (k - 1) (gap + b c) |

No schedule can send less than 2 n (p - 1) / p bytes a rank, nor wait for fewer than log p latencies (Chan, Heimlich, Purkayastha and van de
Geijn, *Collective communication: theory, practice, and experience*, 2007). The ring reaches the first bound (Patarasuk and Yuan, *Bandwidth
optimal all-reduce algorithms for clusters of workstations*, 2009), doubling the second, halving the first and twice the second (Rabenseifner;
Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in MPICH*, 2005); two trees, in which a
rank that is inner in one is a leaf in the other, twice the second and nearly the first (Sanders, Speck and Träff, *Two-tree algorithms for full
bandwidth broadcast, reduction and scan*, 2009). A chunk costs its link a gap, too (LogGP: Alexandrov, Ionescu, Schauser and Scheiman, 1995).

## The simulation

Every message is an event. It leaves when the sender's end of its link is free, and enters the receiver's, a latency later, when that is free;
so messages that share a link wait for one another, which no formula above knows. Every rank runs the programs of its schedule, and waits for the
messages that they wait for. Switches have room and block nobody.
"""

TAIL: Final = """- Little costs latencies: doubling waits for log p of them, the ring for 2 (p - 1), one to two hundred times as long at 1,024 ranks.
- Much costs bytes: where each rank has a link, all but doubling are within a third of one another at 1 GiB, at any number of ranks.
- Between them a ring bends late, at p a / b bytes: with a thousand ranks most tensors of a program are left of it. Halving is never slower there.
- Where ranks share a link, what crosses it counts. All eight ranks of a machine exchange everything with other machines in doubling, which
  takes ten times as long and more; a ring crosses once in each direction, and is the quickest with 1 GiB.
- So a carrier over machines needs two schedules at least, one for few bytes and one for many, and has to know who shares a link.

Formulas and simulation agree where a rank has a link of its own: the tests hold the first three schedules to a billionth, and the tree,
whose children and parents meet on one link while it adds, to a third.
"""


def lines() -> Iterator[str]:
    """Yield the page, line by line. Takes minutes."""
    yield HEAD
    for machine in MACHINES:
        yield f"## {machine.name}\n"
        yield f"{_links(machine)} The quickest in bold.\n"
        yield from table(("ranks", "bytes", *SCHEDULES), _rows(machine))
        yield ""
    yield "## Where it bends\n"
    yield f"{MACHINES[0].name}: the bytes at which the ring's latencies take half of its time, and the power of two from which on it is quicker than another, by the formulas where they are exact, and by the simulation beside the tree.\n"
    yield from table(
        ("ranks", "half of a ring's time", *[f"ring before {name}" for name in SCHEDULES if name != "ring"]),
        _bends(MACHINES[0]),
    )
    yield ""
    yield TAIL.rstrip()


def _links(machine: Machine) -> str:
    near, far = _link(machine.near), _link(machine.far)
    each = (
        f"Each rank has a link of {far}."
        if machine.node == 1
        else f"Each rank has a link of {near} to the {machine.node - 1} others of its machine; each machine has one of {far} to all others, which its ranks share."
    )
    return f"{each} A rank adds {machine.adding / 1e9:g} GB a second."


def _link(link: Link) -> str:
    return f"{link.latency * 1e6:g} us and {link.bandwidth / 1e9:g} GB a second, with a gap of {link.gap * 1e6:g} us"


def _rows(machine: Machine) -> Iterator[Sequence[str]]:
    for ranks in RANKS:
        for nbytes in SIZES:
            seconds = {name: _simulated(machine, name, ranks, nbytes) for name in SCHEDULES}
            least = min(seconds.values())
            cells = [f"**{_time(each)}**" if each == least else _time(each) for each in seconds.values()]
            yield f"{ranks:,}", size(nbytes), *cells


def _bends(machine: Machine) -> Iterator[Sequence[str]]:
    for ranks in RANKS:
        yield (
            f"{ranks:,}",
            size(half(ranks, machine)),
            *[_from(machine, ranks, name) for name in FORMULAS if name != "ring"],
        )


def _from(machine: Machine, ranks: int, name: str) -> str:
    """Return the least power of two, up to 16 GiB, from which on a ring is quicker than another schedule."""
    asked = _simulated if name == "tree" else _computed
    low, high = 1, _MOST_POWER + 1  # not quicker yet, and quicker or unknown
    while high - low > 1:
        power = (low + high) // 2
        ring, other = (asked(machine, each, ranks, 2.0**power) for each in ("ring", name))
        low, high = (low, power) if ring < other else (power, high)
    return size(2**high) if high <= _MOST_POWER else "never"


def _simulated(machine: Machine, name: str, ranks: int, nbytes: float) -> float:
    return simulate(machine, SCHEDULES[name](machine, ranks, nbytes))


def _computed(machine: Machine, name: str, ranks: int, nbytes: float) -> float:
    return FORMULAS[name](machine, ranks, nbytes)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"  # noqa: PLR2004 - a millisecond


def size(nbytes: float) -> str:
    """Return bytes in words."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >= 2**power:
            return f"{nbytes / 2**power:.3g} {unit}"
    return f"{nbytes:g} B"


@click.command()
def command() -> None:
    """Print docs/reports/collectives-cost.md, in about six minutes."""
    for line in lines():
        click.echo(line)
