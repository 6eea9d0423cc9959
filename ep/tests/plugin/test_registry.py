"""Discovery: each plug-in alone, the broken ones quarantined, listing without importing."""

from __future__ import annotations

import pytest
from plugin_site import EMPTY, WORKING


def test_import_loads_no_library(site):
    heavy = ["numpy", "ml_dtypes", "pluggy", "pyopencl", "click", "rich", "cffi", "importlib.metadata"]
    loaded = site.run(f"print(json.dumps([m for m in {heavy!r} if m in sys.modules]))")
    assert loaded == []


def test_listing_imports_no_provider(site):
    site.install("good", EMPTY)
    found = site.run("names = list(ep.providers()); print(json.dumps(['ep_good' in sys.modules, 'good' in names]))")
    assert found == [False, True]


def test_broken_providers_harm_nobody(site):
    site.install("good", EMPTY)
    site.install("importless", "import module_that_is_not_there")
    site.install("raising", "import ep\n@ep.provider_hook\ndef ep_provider(): raise RuntimeError('no luck')")
    site.install("newer", EMPTY, spi="0.9")
    site.install("leaving", "import sys\nsys.exit(3)")
    site.install("hookless", "")
    site.install("forgetful", "import ep\n@ep.provider_hook\ndef ep_provider(): ep.spi.Provider")
    site.install("wrong", "import ep\n@ep.provider_hook\ndef ep_provider(): return 3")
    site.install(
        "partial", "import ep\n@ep.provider_hook\ndef ep_provider(): return type('P', (ep.spi.Provider,), {})()"
    )
    site.install("bare", EMPTY, manifest=None)
    found = site.run(
        """
        reasons = {}
        for name, registration in ep.providers().items():
            try:
                registration.devices()
                reasons[name] = ["", ""]
            except ep.UnavailableError as error:
                reasons[name] = [str(error), registration.traceback]
        print(json.dumps([reasons, "ep_newer" in sys.modules]))
        """,
        EP_PROVIDERS="good,importless,raising,newer,leaving,hookless,forgetful,wrong,partial,bare",
    )
    reasons, imported = found
    assert not imported
    assert reasons["good"] == ["", ""]
    for name, text in {
        "importless": "No module named 'module_that_is_not_there'",
        "raising": "RuntimeError: no luck",
        "newer": "written for spi 0.9, and this EP meets spi 0.2",
        "leaving": "SystemExit: 3",
        "hookless": "implements no hook ep_provider",
        "forgetful": "ep_provider() of ep_forgetful returned None",
        "wrong": "returned 3, needs an ep.spi.Provider",
        "partial": "devices, implementations, probe",
        "bare": "provider.toml is missing",
    }.items():
        assert text in reasons[name][0], name
    assert "no luck" in reasons["raising"][1]
    assert "ep_raising" in reasons["raising"][1]


def test_one_name_twice_refuses_and_names_both(site):
    site.install("twin", EMPTY, package="ep_twin_one")
    site.install("twin", EMPTY, package="ep_twin_two")
    found = site.run("print(json.dumps(ep.providers()['twin'].refusal))")
    assert "ep_twin_one" in found
    assert "ep_twin_two" in found


def test_variables_restrict_order_and_remove(site):
    for name in ("one", "two", "three"):
        site.install(name, EMPTY)
    code = "print(json.dumps([[n, r.refusal] for n, r in ep.providers().items()]))"
    found = site.run(code, EP_PROVIDERS="three,one", EP_DISABLE="one")
    assert [name for name, _ in found[:2]] == ["three", "one"]
    reasons = dict(found)
    assert reasons["three"] == ""
    assert reasons["one"] == "switched off by EP_DISABLE=one"
    assert reasons["two"] == "switched off by EP_PROVIDERS=three,one"


def test_device_names_are_checked(site):
    site.install("good", EMPTY)
    code = """
        answers = []
        for name in ("nope:0", "good:0", "good:x", 3):
            try:
                ep.device(name)
            except Exception as error:
                answers.append([type(error).__name__, str(error)])
        print(json.dumps(answers))
        """
    answers = site.run(code, EP_PROVIDERS="good")
    assert answers[0][0] == "ValueError"
    assert "known are good" in answers[0][1]
    assert answers[1] == ["UnavailableError", "device good:0: not on this machine; provider good has no devices"]
    assert answers[2][0] == answers[3][0] == "ValueError"


@pytest.mark.parametrize("value", ["__main__", "ep_nowhere", "ep_good.part", "ep_good:thing", "json"])
def test_entry_point_that_names_no_provider_package_is_refused(site, value):
    site.install("good", WORKING)
    site.enter("ep.providers", "odd", value)
    code = """
        answers = {}
        for name in ("odd", "good"):
            try:
                answers[name] = ep.device(name).name
            except ep.UnavailableError as error:
                answers[name] = str(error)
        print(json.dumps(answers))
        """
    answers = site.run(code)
    assert answers["good"] == "good:0"
    assert answers["odd"].startswith("provider odd: ")
    refused = site.ep("devices", EP_PROVIDERS="odd,good")
    assert (refused.returncode, refused.stderr) == (0, "")


def test_twins_stay_refused_when_a_variable_no_longer_switches_them_off(site):
    site.install("twin", EMPTY, package="ep_twin_one")
    site.install("twin", EMPTY, package="ep_twin_two")
    off, on, loaded = site.run(
        """
        import os
        os.environ["EP_DISABLE"] = "twin"
        off = ep.providers()["twin"].refusal
        del os.environ["EP_DISABLE"]
        try:
            loaded = repr(ep.provider("twin"))
        except ep.UnavailableError as error:
            loaded = str(error)
        print(json.dumps([off, ep.providers()["twin"].refusal, loaded]))
        """
    )
    assert off == "switched off by EP_DISABLE=twin"
    assert "two packages bring this name" in on
    assert loaded == f"provider twin: {on}"


@pytest.mark.parametrize(("variable", "value"), [("EP_DISABLE", "good"), ("EP_PROVIDERS", "other")])
def test_loaded_provider_may_be_switched_off_and_on_again(site, variable, value):
    site.install("good", WORKING)
    answers = site.run(
        f"""
        import os
        device = ep.device("good")
        os.environ[{variable!r}] = {value!r}
        answers = []
        for use in (lambda: ep.provider("good"), lambda: ep.device("good")):
            try:
                answers.append(repr(use()))
            except ep.UnavailableError as error:
                answers.append(str(error))
        answers.append([each.name for each in ep.devices() if each.name == "good:0"])
        del os.environ[{variable!r}]
        answers.append(ep.device("good") is device)
        print(json.dumps(answers))
        """
    )
    refusal = f"provider good: switched off by {variable}={value}"
    assert answers == [refusal, refusal, [], True]


def test_provider_may_open_another_providers_device_while_it_is_probed(site):
    site.install("below", WORKING)
    site.install(
        "above",
        WORKING + "\nProvider.probe = lambda self: setattr(Provider, 'title', 'on ' + ep.device('below').name)\n",
    )
    titles = site.run(
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(ep.device, ["above", "below"], timeout=30)
            print(json.dumps([each.info.name for each in found]))
        """
    )
    assert titles == ["on below:0", "Device"]


SLOW = """
import time
time.sleep(0.05)

class Slow(Provider):
    hooks = 0
    def probe(self):
        time.sleep(0.05)
        super().probe()
    def devices(self):
        time.sleep(0.05)
        return super().devices()

@ep.provider_hook
def ep_provider():
    Slow.hooks += 1
    time.sleep(0.05)
    return Slow()
"""


def test_threads_that_ask_at_once_get_one_object_made_once(site):
    site.install("slow", WORKING + SLOW)
    counts = site.run(
        """
        import sys, threading
        from concurrent.futures import ThreadPoolExecutor
        start = threading.Barrier(8)
        def ask(number):
            start.wait(30)
            return ep.device("slow") if number % 2 else ep.devices()[0]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ask, range(8), timeout=30))
        made = sys.modules["ep_slow"].Slow
        print(json.dumps([len({id(each) for each in found}), made.hooks, made.probes, made.made]))
        """,
        EP_PROVIDERS="slow",
    )
    assert counts == [1, 1, 1, 1]


def test_unavailable_answer_of_a_probe_is_kept(site):
    site.install(
        "absent", EMPTY.replace("def probe(self): pass", "def probe(self): raise ep.UnavailableError('no card')")
    )
    code = """
        answers = []
        for _ in range(2):
            try:
                ep.device("absent")
            except ep.UnavailableError as error:
                answers.append(str(error))
        print(json.dumps(answers))
        """
    assert site.run(code) == ["provider absent: no card"] * 2


def test_cpu_provider_that_was_not_built_says_so(site):
    code = """
        import sys
        sys.modules["ep_cpu._native"] = None
        try:
            ep.device("cpu:0")
        except ep.UnavailableError as error:
            answer = str(error)
        print(json.dumps([answer, ep.providers()["cpu"].traceback]))
        """
    answer, traceback = site.run(code)
    assert answer.startswith("provider cpu: its C++ part cannot be loaded")
    assert "EP_BUILD_CPU=0" in answer
    assert traceback == ""
