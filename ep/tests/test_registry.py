"""Discovery: each plug-in alone, the broken ones quarantined, listing without importing."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

GOOD = """
    import ep

    class Provider(ep.Provider):
        implementations = {{}}
        def _probe(self): pass
        def _devices(self): return []

    @ep.provider_hook
    def ep_provider(): return Provider()
"""

MANIFEST = 'name = "{name}"\nvendor = "Test"\nspi = "{spi}"\nfork_safe = true\n'


class Site:
    """A folder of installed packages, for a fresh interpreter."""

    def __init__(self, folder):
        self.folder = folder

    def install(self, name, code, *, manifest=MANIFEST, spi="0.1", package=None, dist=None):
        package = package or f"ep_{name}"
        (self.folder / package).mkdir()
        (self.folder / package / "__init__.py").write_text(textwrap.dedent(code.format(name=name)))
        if manifest is not None:
            (self.folder / package / "provider.toml").write_text(manifest.format(name=name, spi=spi))
        info = self.folder / f"{dist or package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist or package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[ep.providers]\n{name} = {package}\n")

    def run(self, code, **variables):
        program = f"import sys; sys.path.insert(0, {str(self.folder)!r})\nimport ep, json\n{textwrap.dedent(code)}"
        environment = {"PATH": "/usr/bin:/bin", **variables}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ep(self, *arguments, **variables):
        program = f"import sys; sys.path.insert(0, {str(self.folder)!r}); from ep.cli import main; main()"
        environment = {"PATH": "/usr/bin:/bin", "COLUMNS": "200", **variables}
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=60,
        )


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_import_loads_no_library(site):
    heavy = ["numpy", "ml_dtypes", "pluggy", "pyopencl", "click", "rich", "cffi", "importlib.metadata"]
    loaded = site.run(f"print(json.dumps([m for m in {heavy!r} if m in sys.modules]))")
    assert loaded == []


def test_listing_imports_no_provider(site):
    site.install("good", GOOD)
    found = site.run("names = list(ep.providers()); print(json.dumps(['ep_good' in sys.modules, 'good' in names]))")
    assert found == [False, True]


def test_broken_providers_harm_nobody(site):
    site.install("good", GOOD)
    site.install("importless", "import module_that_is_not_there")
    site.install("raising", "import ep\n@ep.provider_hook\ndef ep_provider(): raise RuntimeError('no luck')")
    site.install("newer", GOOD, spi="0.9")
    site.install("leaving", "import sys\nsys.exit(3)")
    site.install("hookless", "")
    site.install("wrong", "import ep\n@ep.provider_hook\ndef ep_provider(): return 3")
    site.install("partial", "import ep\n@ep.provider_hook\ndef ep_provider(): return type('P', (ep.Provider,), {{}})()")
    site.install("bare", GOOD, manifest=None)
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
    site.install("twin", GOOD, package="ep_twin_one")
    site.install("twin", GOOD, package="ep_twin_two")
    found = site.run("print(json.dumps(ep.providers()['twin'].refusal))")
    assert "ep_twin_one" in found
    assert "ep_twin_two" in found


def test_variables_restrict_order_and_remove(site):
    for name in ("one", "two", "three"):
        site.install(name, GOOD)
    code = "print(json.dumps([[n, r.refusal] for n, r in ep.providers().items()]))"
    found = site.run(code, EP_PROVIDERS="three,one", EP_DISABLE="one")
    assert [name for name, _ in found[:2]] == ["three", "one"]
    reasons = dict(found)
    assert reasons["three"] == ""
    assert reasons["one"] == "switched off by EP_DISABLE=one"
    assert reasons["two"] == "switched off by EP_PROVIDERS=three,one"


def test_device_names_are_checked(site):
    site.install("good", GOOD)
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


def test_doctor_reports_bad_providers_and_fails_only_for_broken_ones(site):
    site.install("good", GOOD)
    site.install("newer", GOOD, spi="9.0")
    fine = site.ep("doctor", EP_PROVIDERS="good,newer")
    assert fine.returncode == 0, fine.stdout + fine.stderr
    assert "written for spi 9.0" in fine.stdout
    site.install("raising", "raise RuntimeError('no luck')")
    broken = site.ep("doctor", EP_PROVIDERS="good,newer,raising")
    assert broken.returncode == 1
    assert "RuntimeError: no luck" in broken.stdout
    assert "Traceback" not in broken.stdout + broken.stderr
    assert "Traceback" in site.ep("doctor", "--traceback", EP_PROVIDERS="good,raising").stdout


def test_commands_end_with_documented_codes_and_no_traceback(site):
    site.install("good", GOOD)
    for arguments, code, text in (
        (["capabilities", "--provider", "nope"], 2, "unknown provider 'nope'; known are"),
        (["capabilities", "--provider", "good"], 3, "has no devices"),
        (["nonsense"], 2, "No such command"),
        (["devices"], 0, "no device found; ep doctor says why"),
    ):
        done = site.ep(*arguments, EP_PROVIDERS="good")
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
        assert text in done.stdout + done.stderr
