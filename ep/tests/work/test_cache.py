"""The cache: one maker a key at a time, nothing kept of a failure, the least used forgotten first."""

from __future__ import annotations

import random
import threading

import pytest
from ep.work.cache import LRU

import ep


def in_threads(*calls):
    """Run calls at once, each in a thread, and return what each returned or raised."""
    answers = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(place, call):
        start.wait(60)
        try:
            answers[place] = call()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            answers[place] = error

    threads = [threading.Thread(target=run, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


class Maker:
    """A slow maker: it waits a while for a second one to come in beside it, and remembers if one did."""

    def __init__(self, failures=0):
        self.calls = 0
        self.failures = failures
        self.met = False
        self._pair = threading.Barrier(2)

    def __call__(self, key):
        self.calls += 1
        mine = self.calls
        try:
            self._pair.wait(0.1)
            self.met = True
        except threading.BrokenBarrierError:
            self._pair.reset()
        if mine <= self.failures:
            raise ep.CompileError(f"attempt {mine}")
        return object()


def test_slow_maker_is_called_once_by_many_threads():
    cache: LRU[str, object] = LRU()
    maker = Maker()
    answers = in_threads(*[lambda: cache.get("key", maker)] * 6)
    assert (maker.calls, maker.met) == (1, False)
    assert len({id(answer) for answer in answers}) == 1


def test_failing_makers_take_turns_until_one_succeeds():
    cache: LRU[str, object] = LRU()
    maker = Maker(failures=2)
    answers = in_threads(*[lambda: cache.get("key", maker)] * 5)
    assert (maker.calls, maker.met) == (3, False)
    failed = [answer for answer in answers if isinstance(answer, ep.CompileError)]
    assert sorted(map(str, failed)) == ["attempt 1", "attempt 2"]
    assert len({id(answer) for answer in answers if answer not in failed}) == 1


def test_makers_of_different_keys_run_at_once():
    cache: LRU[str, str] = LRU()
    both = threading.Barrier(2)

    def make(key):
        both.wait(60)
        return key

    assert in_threads(lambda: cache.get("a", make), lambda: cache.get("b", make)) == ["a", "b"]


def test_failure_leaves_the_key_makeable():
    cache: LRU[str, str] = LRU()

    def fail(_):
        raise ep.CompileError("no")

    for _ in range(2):
        with pytest.raises(ep.CompileError):
            cache.get("key", fail)
    assert len(cache) == 0
    assert cache.get("key", str.upper) == "KEY"


def test_what_was_not_used_for_longest_is_forgotten_first():
    cache: LRU[int, int] = LRU(3)
    made = []

    def make(key):
        made.append(key)
        return key * 10

    for key in (1, 2, 3, 1, 4, 3, 1, 4):
        assert cache.get(key, make) == key * 10
    assert made == [1, 2, 3, 4]
    cache.get(2, make)
    assert made == [1, 2, 3, 4, 2]
    assert len(cache) == 3


def test_threads_that_evict_each_other_get_their_own_values():
    cache: LRU[int, tuple[int]] = LRU(4)

    def ask(seed):
        keys = random.Random(seed)
        asked = [keys.randrange(12) for _ in range(3000)]
        return [key for key in asked if cache.get(key, lambda key: (key,)) != (key,)]

    assert in_threads(*[lambda seed=seed: ask(seed) for seed in range(4)]) == [[]] * 4
    assert len(cache) == 4
    assert not cache._making


def test_clear_forgets_everything(device):
    cache: LRU[int, int] = LRU()
    cache.get(1, lambda key: key)
    cache.clear()
    assert len(cache) == 0
