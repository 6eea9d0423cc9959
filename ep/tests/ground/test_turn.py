"""A provider is loaded by one thread at a time, which holds up nobody who asks for another, and never itself."""

from __future__ import annotations

import os
import threading

import pytest
from ep.ground.turn import Turn
from plugin_site import FAMILY, WORKING

import ep

HANGING = """
import threading
begun, never = threading.Event(), threading.Event()

def hang(self=None):
    begun.set()
    never.wait()
"""

PLACES = {
    "import": ("", "\nhang()\n"),
    "hook": ("return Provider()", "return hang()"),
    "probe": ("def probe(self): Provider.probes += 1", "probe = hang"),
    "devices": ("Provider.made += 1", "hang()"),
}

BESIDE = """
import os, sys, threading
def ask():
    ep.device("stuck")
threading.Thread(target=ask, daemon=True).start()
while "begun" not in vars(sys.modules.get("ep_stuck", json)):
    pass
assert sys.modules["ep_stuck"].begun.wait(60)
names = [ep.device("cpu:0").name, ep.device("good:0").name, list(ep.families())[0]]
reading, writing = os.pipe()
child = os.fork()
if not child:
    try:
        ep.device("stuck")
    except ep.UnavailableError as error:
        os.write(writing, f"{ep.device('good:0').name} {error}".encode())
    os._exit(0)
os.close(writing)
print(json.dumps([names, os.read(reading, 4096).decode()]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("place", PLACES)
def test_plugin_that_hangs_while_it_is_loaded_holds_up_no_other_nor_a_child_nor_the_end(site, place):
    old, new = PLACES[place]
    site.install("stuck", HANGING + (WORKING.replace(old, new) if old else WORKING + new))
    site.install("good", WORKING)
    names, child = site.run(BESIDE)
    assert names[:2] == ["cpu:0", "good:0"]
    assert child == (
        "good:0 provider stuck was being loaded by another thread when this process was forked; "
        "load it before, or start the child with spawn"
    )


INTERRUPTED = """
import signal
answers = []
def handle(*_):
    for name in ("slow", "above"):
        try:
            answers.append(ep.device(name).name)
        except ep.UnavailableError as error:
            answers.append(str(error))
signal.signal(signal.SIGUSR1, handle)
first = ep.device("slow")
again = [ep.device("slow") is first, ep.device("above").name]
import ep_slow, ep_above
print(json.dumps([answers, again, ep_slow.Provider.probes, ep_slow.Provider.made]))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return Provider()", "signal.raise_signal(signal.SIGUSR1); return Provider()"),
        ("Provider.probes += 1", "Provider.probes += 1; signal.raise_signal(signal.SIGUSR1)"),
        ("Provider.made += 1", "Provider.made += 1; signal.raise_signal(signal.SIGUSR1)"),
    ],
    ids=["hook", "probe", "devices"],
)
def test_handler_that_interrupts_loading_is_told_so_and_what_it_asked_for_works_later(site, old, new):
    site.install("slow", "import signal\n" + WORKING.replace(old, new))
    site.install("above", WORKING + "\nProvider.probe = lambda self: ep.device('slow')\n")
    answers, again, probes, made = site.run(INTERRUPTED)
    refusal = "provider slow is being loaded by this very thread; ask again when that is done"
    assert answers == [refusal, f"provider above: {refusal}"]
    assert (again, probes, made) == ([True, "above:0"], 1, 1)


def test_provider_that_asks_for_itself_is_refused_in_a_sentence(site):
    site.install("selfish", WORKING.replace("Provider.probes += 1", "ep.device('selfish')"))
    reason = site.run(
        """
        try:
            ep.device("selfish")
        except ep.UnavailableError as error:
            print(json.dumps(str(error)))
        """
    )
    assert reason.startswith("provider selfish was asked for while it was being loaded, by its own code")


def test_providers_that_use_each_other_end_in_sentences_from_two_threads(site):
    for name, other in (("one", "two"), ("two", "one")):
        probe = f"\nimport builtins\nProvider.probe = lambda self: (builtins.meeting.wait(30), ep.device({other!r}))\n"
        site.install(name, WORKING + probe)
    answers = site.run(
        """
        import builtins, threading
        from concurrent.futures import ThreadPoolExecutor

        class Once(threading.Barrier):
            def wait(self, timeout):
                if not getattr(here, "came", False):
                    here.came = True
                    super().wait(timeout)

        here, builtins.meeting = threading.local(), Once(2)
        def ask(name):
            try:
                return ep.device(name).name
            except ep.UnavailableError as error:
                return str(error)
        with ThreadPoolExecutor(2) as pool:
            print(json.dumps(list(pool.map(ask, ["one", "two"], timeout=60))))
        """
    )
    assert all("being loaded" in answer for answer in answers), answers


def test_devices_are_seen_all_at_once(site):
    code = """
class Second(Device):
    def __setattr__(self, key, value):
        if key == "name" and value == "pair:1":
            Provider.title = str(ep.provider('pair')._is_ready())
        super().__setattr__(key, value)
"""
    made = '[Device(ep.DeviceInfo("D", "V")), Second(ep.DeviceInfo("D", "V"))]'
    site.install("pair", WORKING.replace('[Device(ep.DeviceInfo(self.title, "Test"))]', made) + code)
    found = site.run("print(json.dumps([ep.device('pair:1').name, ep.provider('pair').twin.title]))")
    assert found == ["pair:1", "False"]


def test_looking_for_providers_while_they_are_looked_for_gives_the_same_objects(site):
    site.install("good", WORKING)
    site.install_families("fam", FAMILY)
    same = site.run(
        """
        from ep import families as _
        from ep.plugin import registry
        import sys
        inner, real = [], registry.entries
        def entries(group):
            registry.entries = real
            inner.append(ep.providers()["good"])
            return real(group)
        registry.entries = entries
        print(json.dumps(ep.providers()["good"] is inner[0]))
        """
    )
    assert same is True


def test_families_hook_that_asks_for_families_is_at_fault_alone(site):
    site.install_families("fam", FAMILY)
    site.install_families("selfish", FAMILY.replace("return [Family()]", "ep.families()"))
    site.install("user", WORKING.replace("Provider.probes += 1", "ep.families()"))
    site.install_families(
        "using", FAMILY.replace('"twice"', '"thrice"').replace("return [", "ep.device('user'); return [")
    )
    names, faults = site.run(
        """
        from ep.plugin.families import family_packages
        ep.device("user")
        same = ep.families()["twice"] is ep.families()["twice"]
        names = [name for name in ("twice", "thrice", "copy") if name in ep.families()]
        print(json.dumps([[same, *names], {each.package: each.fault for each in family_packages() if each.fault}]))
        """
    )
    assert names == [True, "twice", "thrice", "copy"]
    assert "the list of families is being loaded by this very thread" in faults.pop("selfish")
    assert faults == {}


def test_turn_is_free_again_after_an_error_and_keeps_nothing_of_a_refusal():
    turn, other = Turn("one"), Turn("other")

    def hide():
        with turn.taken():
            try:
                with other.taken():
                    pass
            except ep.UnavailableError as error:
                raise RuntimeError("hidden") from error

    with other.taken(), pytest.raises(ep.UnavailableError, match="one: other is being loaded by this very thread"):
        hide()
    with pytest.raises(ZeroDivisionError), turn.taken():
        raise ZeroDivisionError
    with turn.taken(), other.taken():
        assert (turn.refusal, other.refusal) == ("", "")


def test_threads_wait_for_the_turn():
    turn, log, inside = Turn("one"), [], threading.Event()

    def second():
        inside.wait(60)
        with turn.taken():
            log.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with turn.taken():
        inside.set()
        thread.join(0.05)
        log.append("first")
    thread.join(60)
    assert log == ["first", "second"]
