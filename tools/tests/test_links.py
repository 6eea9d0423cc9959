"""The simulation of links says what the formulas say where they hold, schedules are AllReduces, and the page is theirs."""

import collections

import pytest
from ep_tools.folders import ROOT
from ep_tools.links import command
from ep_tools.links.formulas import FORMULAS
from ep_tools.links.network import Link, Machine, Message, Receive, Send, simulate
from ep_tools.links.schedules import SCHEDULES, depth_of, parent_of

SECOND = Link(latency=1.0, bandwidth=10.0, gap=0.25)
ALONE = Machine("alone", 1, SECOND, SECOND, adding=100.0)
PAIRS = Machine("pairs", 2, Link(0.5, 100.0), SECOND, adding=100.0)


def sender(*targets, source=0, nbytes=10):
    for target in targets:
        yield Send(Message(0, source, target), nbytes)


def receiver(rank, *sources, added=0.0):
    for source in sources:
        yield Receive(Message(0, source, rank), added)


@pytest.mark.parametrize(
    ("machine", "programs", "seconds"),
    [
        (ALONE, [sender(1), receiver(1, 0)], 1 + 1),
        (ALONE, [sender(1), receiver(1, 0, added=50)], 1 + 1 + 0.5),
        (ALONE, [sender(1, 2), receiver(1, 0), receiver(2, 0)], (1 + 0.25) + 1 + 1),  # one link out
        (ALONE, [sender(2), sender(2, source=1), receiver(2, 0, 1)], 1 + 1.25 + 1),  # one link in
        (ALONE, [sender(1), sender(0, source=1), receiver(0, 1), receiver(1, 0)], 2),  # both ways at once
        (PAIRS, [sender(1), receiver(1, 0)], 0.5 + 0.1),
        (PAIRS, [sender(2), sender(3, source=1), receiver(2, 0), receiver(3, 1)], 1 + 1.25 + 1),  # a machine's link
    ],
)
def test_messages_wait_for_the_links_that_they_share(machine, programs, seconds):
    assert simulate(machine, programs) == pytest.approx(seconds, rel=1e-12)


def test_a_message_that_nobody_sends_is_named():
    with pytest.raises(ValueError, match=r"1 programs wait for messages that nobody sends, .*source=0, target=1"):
        simulate(ALONE, [receiver(1, 0)])


@pytest.mark.parametrize("ranks", [8, 64])
@pytest.mark.parametrize("nbytes", [4, 2**17, 2**30])
def test_formulas_hold_where_each_rank_has_a_link(ranks, nbytes):
    machine = command.MACHINES[0]
    for name, schedule in SCHEDULES.items():
        found = simulate(machine, schedule(machine, ranks, nbytes))
        assert found == pytest.approx(FORMULAS[name](machine, ranks, nbytes), rel=1 / 3 if name == "tree" else 1e-9)


def known(programs, ranks):
    """Run programs to their end, and return whose bytes have come to each rank, in whatever way, and what each sent."""
    knows = [{rank} for rank in range(ranks)]
    sent, mail = [0.0] * ranks, collections.defaultdict(collections.deque)
    running = [(program, next(program, None)) for program in programs]
    while running:
        left, moved = [], False
        for program, step in running:
            if isinstance(step, Send):
                mail[step.message].append(set(knows[step.message.source]))
                sent[step.message.source] += step.nbytes
            elif step is not None and mail[step.message]:
                knows[step.message.target] |= mail[step.message].popleft()
            elif step is not None:
                left.append((program, step))
                continue
            moved = True
            if step is not None:
                left.append((program, next(program, None)))
        assert moved
        running = left
    assert not any(mail.values())
    return knows, sent


@pytest.mark.parametrize("name", [*SCHEDULES])
@pytest.mark.parametrize("ranks", [2, 4, 32])
def test_a_schedule_brings_every_ranks_bytes_to_all_and_sends_what_it_must(name, ranks):
    nbytes = 2**20
    knows, sent = known(SCHEDULES[name](ALONE, ranks, nbytes), ranks)
    assert all(each == {*range(ranks)} for each in knows)
    least = 2 * nbytes * (ranks - 1) / ranks
    most = {"ring": least, "halving": least, "tree": 2 * nbytes, "doubling": nbytes * depth_of(ranks)}[name]
    assert sum(sent) >= ranks * least * (1 - 1e-9)
    assert max(sent) <= most * (1 + 1e-9)


def test_a_rank_is_inner_in_one_tree_alone():
    inner = {parent_of(place, 64) for place in range(1, 64)}
    assert not inner & {63 - place for place in inner}


def test_ranks_that_share_a_link_wait_for_it():
    alone, shared = command.MACHINES[0], command.MACHINES[1]._replace(far=command.MACHINES[0].far)
    times = [simulate(machine, SCHEDULES["doubling"](machine, 64, 2**25)) for machine in (alone, shared)]
    assert times[1] > 3 * times[0]  # half of the steps leave the machine, by one link in place of eight


def test_doubling_needs_a_power_of_two():
    with pytest.raises(ValueError, match="ranks are 6, needs a power of two"):
        simulate(ALONE, SCHEDULES["doubling"](ALONE, 6, 4))


def test_the_page_has_what_the_command_prints(monkeypatch):
    page = (ROOT / "docs" / "reports" / "collectives-cost.md").read_text(encoding="utf-8")
    monkeypatch.setattr(command, "RANKS", (8,))
    wanted = "\n".join(command.lines()).splitlines()
    assert [line for line in page.splitlines() if not line.startswith(("| 64 ", "| 1,024 "))] == wanted
