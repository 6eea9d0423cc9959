"""Discovery: each plug-in alone, the broken ones quarantined, listing without importing."""

from __future__ import annotations

from plugin_site import EMPTY


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
    site.install("wrong", "import ep\n@ep.provider_hook\ndef ep_provider(): return 3")
    site.install("partial", "import ep\n@ep.provider_hook\ndef ep_provider(): return type('P', (ep.Provider,), {})()")
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
        EP_PROVIDERS="good,importless,raising,newer,leaving,hookless,wrong,partial,bare",
    )
    reasons, imported = found
    assert not imported
    assert reasons["good"] == ["", ""]
    for name, text in {
        "importless": "No module named 'module_that_is_not_there'",
        "raising": "RuntimeError: no luck",
        "newer": "written for spi 0.9, and this EP meets spi 0.1",
        "leaving": "SystemExit: 3",
        "hookless": "implements no hook ep_provider",
        "wrong": "returned 3, needs an ep.Provider",
        "partial": "_devices, _probe, implementations",
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
