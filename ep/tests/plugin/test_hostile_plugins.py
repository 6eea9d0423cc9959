"""Plug-ins of any damage: each is refused in one sentence that says what to write, and all others work beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from plugin_site import EMPTY, FAMILY, MANIFEST, WORKING

REASONS = """
reasons = {}
for name, registration in ep.providers().items():
    try:
        registration.devices()
        reasons[name] = ""
    except ep.UnavailableError as error:
        reasons[name] = str(error)
print(json.dumps(reasons))
"""


def reasons_of(site, *names):
    """Return why each provider cannot be used, one that works among them."""
    site.install("good", WORKING)
    found = site.run(REASONS, EP_PROVIDERS=",".join(("good", "cpu", *names)))
    assert found["good"] == found["cpu"] == ""
    return found


def test_damaged_manifests_are_refused_and_read_in_no_time(site):
    for name in ("deep", "digits", "spi", "huge", "pipe", "folder", "endless"):
        site.install(name, EMPTY)
    files = {name: site.folder / f"ep_{name}" / "provider.toml" for name in ("pipe", "folder", "endless")}
    for file in files.values():
        file.unlink()
    os.mkfifo(files["pipe"])
    files["folder"].mkdir()
    files["endless"].symlink_to("/dev/zero")
    for name, text in {
        "deep": "name = " + "[" * 5000,
        "digits": "name = " + "1" * 5000,
        "spi": MANIFEST.format(name="spi", spi="0." + "1" * 5000),
        "huge": MANIFEST.format(name="huge", spi="0.2") + "#" * (1 << 20),
    }.items():
        (site.folder / f"ep_{name}" / "provider.toml").write_text(text)
    reasons = reasons_of(site, *files, "deep", "digits", "spi", "huge")
    for name, text in {
        "deep": "provider.toml cannot be read: it is nested too deeply",
        "digits": "provider.toml cannot be read",
        "spi": 'needs "major.minor"',
        "huge": "provider.toml cannot be read: it is longer than 1 MiB",
        "pipe": "provider.toml cannot be read: it is no regular file",
        "folder": "provider.toml cannot be read: it is no regular file",
        "endless": "provider.toml cannot be read: it is no regular file",
    }.items():
        assert text in reasons[name], name
        assert len(reasons[name]) < 400


def test_damaged_claims_end_capabilities_in_one_line(site):
    site.install("good", WORKING)
    claims = site.folder / "ep_good" / "claims.toml"
    for text, reason in (
        ('suite = "1.0"\nclaim = ' + "[" * 5000, "nested too deeply"),
        ("suite = " + "1" * 5000, "claims.toml cannot be read"),
        ("#" * (2 << 20), "longer than 1 MiB"),
        ('suite = "1.0"\n[[claim]]\ncells = 3\nmore = "' + "x" * 100_000 + '"', "needs cells ="),
    ):
        claims.write_text(text)
        done = site.ep("capabilities", "--provider", "good")
        assert (done.returncode, done.stdout) == (1, "")
        assert reason in done.stderr
        assert len(done.stderr) < 600


@pytest.fixture
def damaged(site):
    """Return a site with distributions whose entry points nobody can read, beside a provider that works."""
    for name in ("pipe", "folder", "huge", "garbage", "binary"):
        (site.folder / f"{name}-1.0.dist-info").mkdir()
    files = {folder.name.partition("-")[0]: folder / "entry_points.txt" for folder in site.folder.glob("*.dist-info")}
    os.mkfifo(files["pipe"])
    files["folder"].mkdir()
    files["huge"].write_text("[ep.providers]\n" + "#" * (1 << 20))
    files["garbage"].write_text("[ep.providers]\nno entry\n")
    files["binary"].write_bytes(bytes(range(256)))
    site.install("good", WORKING)
    metadata = site.folder / "dist_ep_good-1.0.dist-info" / "METADATA"
    metadata.unlink()
    os.mkfifo(metadata)
    return site


def test_damaged_distributions_hide_no_other(damaged):
    found = damaged.run("print(json.dumps([ep.device('good').name, ep.device('cpu').name, 'copy' in ep.families()]))")
    assert found == ["good:0", "cpu:0", True]


def test_doctor_names_damaged_distributions(damaged):
    done = damaged.ep("doctor", EP_PROVIDERS="good")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    for name in ("pipe", "folder", "huge", "garbage", "binary"):
        assert ["distribution", f"{name}-1.0.dist-info", "refused"] in [line[:3] for line in lines]


RAISING = {
    "base": ("class Last(BaseException): pass", "raise Last('words')", "Last: words"),
    "generator": ("", "raise GeneratorExit('over')", "GeneratorExit: over"),
    "lying": ("class Lie(Exception):\n    def __str__(self): raise Lie", "raise Lie", "it cannot be shown"),
    "absent": ("class Lie(ep.UnavailableError):\n    def __str__(self): 1 / 0", "raise Lie", "it cannot be shown"),
    "silent": ("", "raise ep.UnavailableError", "it gave no reason"),
    "long": ("", "raise RuntimeError('much ' * 100_000)", "more characters"),
}


def test_whatever_a_plugin_raises_is_its_own_fault(site):
    for name, (code, action, _) in RAISING.items():
        site.install(f"{name}_hook", f"{EMPTY.replace('return Provider()', action)}\n{code}\n")
        site.install(f"{name}_probe", f"{EMPTY.replace('probe(self): pass', f'probe(self): {action}')}\n{code}\n")
        site.install(f"{name}_devices", f"{EMPTY.replace('return []', action)}\n{code}\n")
    names = [f"{name}_{place}" for name in RAISING for place in ("hook", "probe", "devices")]
    reasons = reasons_of(site, *names)
    for name in names:
        assert RAISING[name.partition("_")[0]][2] in reasons[name], name
        assert len(reasons[name]) < 2500


def test_families_that_raise_anything_are_named(site):
    site.install_families("bad", FAMILY.replace("return [Family()]", "raise Last('words')") + RAISING["base"][0])
    site.install_families("worse", FAMILY.replace("return [Family()]", "raise Lie") + RAISING["lying"][0])
    found = site.run(
        """
        from ep.plugin.families import family_packages
        print(json.dumps({each.package: each.fault for each in family_packages()}))
        """
    )
    assert "Last: words" in found["bad"]
    assert "it cannot be shown" in found["worse"]
    assert found["ep_primitives"] == ""


DEVICE = "[Device(ep.DeviceInfo({}))]"
BROUGHT = {
    "none": ("return None", "devices() returned None, needs a list"),
    "generator": ("return (each for each in [])", "needs a list of ep.spi.Device"),
    "object": ("return [object()]", "as device 0, needs an instance of a subclass of ep.spi.Device"),
    "kind": ("return [Device]", "as device 0, needs an instance"),
    "twice": (f"return {DEVICE.format('*NAMES')} * 2", "one object as devices 0 and 1; make one for each"),
    "bare": ("return [Bare()]", "write super().__init__(info) in Bare.__init__"),
    "infoless": ("return [Device(None)]", "info is None, needs an ep.DeviceInfo"),
    "name": (f"return {DEVICE.format('5, NAMES[0]')}", "DeviceInfo.name is 5, needs a str"),
    "features": (f"return {DEVICE.format('*NAMES, features=None')}", "features is None, needs a frozenset of str"),
    "words": (f"return {DEVICE.format('*NAMES, dtypes=frozenset([3])')}", "needs a frozenset of str"),
    "memory": (f"return {DEVICE.format('*NAMES, memory=NAMES[0]')}", "memory is 'D', needs an int from 0 on"),
    "vast": (f"return {DEVICE.format('*NAMES, memory=10**5000')}", "needs an int from 0 on, below 2**63"),
    "odd": (f"return {DEVICE.format('*NAMES, alignment=3')}", "alignment is 3, needs a power of two"),
    "zero": (f"return {DEVICE.format('*NAMES, alignment=0')}", "alignment is 0, needs an int from 1 on"),
    "kinds": (
        f"return {DEVICE.format('*NAMES, memory_kinds=frozenset()')}",
        "needs a frozenset of MemoryKind with DEVICE in it",
    ),
    "often": (f"return {DEVICE.format('*NAMES, determinism=NAMES[0]')}", "needs 'bitwise' or 'none'"),
}
TABLES = {
    "table": ("None", "implementations is None, needs a mapping"),
    "key": ("{3: ()}", "has the key 3, needs subclasses of ep.Descriptor"),
    "rows": ("{ep.Descriptor: 3}", "implementations[Descriptor] is 3, needs a tuple of instances of ep.Implementation"),
    "row": ("{ep.Descriptor: (ep.Implementation,)}", "needs a tuple of instances of ep.Implementation"),
}
BARE = "\nNAMES = ('D', 'V')\nclass Bare(Device):\n    def __init__(self): pass\n"


def test_what_is_no_device_is_refused_when_it_is_made(site):
    for name, (code, _) in BROUGHT.items():
        site.install(name, WORKING.replace('return [Device(ep.DeviceInfo(self.title, "Test"))]', code) + BARE)
    for name, (table, _) in TABLES.items():
        site.install(name, WORKING.replace("implementations = {}", f"implementations = {table}"))
    reasons = reasons_of(site, *BROUGHT, *TABLES)
    for name, (_, reason) in (BROUGHT | TABLES).items():
        assert reason in reasons[name], name
        assert "\n" not in reasons[name]
    done = site.ep("devices", EP_PROVIDERS=",".join(("good", *BROUGHT, *TABLES)))
    assert done.returncode == 1
    assert "good:0" in done.stdout
    assert "Traceback" not in done.stderr


def test_devices_given_once_more_after_they_were_closed_are_refused(site):
    code = 'return self.__dict__.setdefault("kept", [Device(ep.DeviceInfo("D", "V"))])'
    site.install("keeping", WORKING.replace('return [Device(ep.DeviceInfo(self.title, "Test"))]', code))
    reason = site.run(
        """
        ep.device("keeping").close()
        try:
            ep.device("keeping")
        except ep.UnavailableError as error:
            print(json.dumps(str(error)))
        """
    )
    assert "returned keeping:0 once more; make new objects at each call" in reason


def test_devices_keep_their_numbers_when_one_is_closed_and_gone(site):
    code = 'return [Device(ep.DeviceInfo("D", "V")) for _ in range(0 if Provider.made > 1 else 2)]'
    site.install("fading", WORKING.replace('return [Device(ep.DeviceInfo(self.title, "Test"))]', code))
    found = site.run(
        """
        second = ep.device("fading:1")
        ep.device("fading:0").close()
        try:
            first = ep.device("fading:0").name
        except ep.UnavailableError:
            first = "gone"
        print(json.dumps([first, ep.device("fading:1") is second]))
        """
    )
    assert found == ["gone", True]


def test_one_provider_under_two_names_is_refused_under_the_second(site):
    site.install(
        "one",
        WORKING + "\nONLY = Provider()\ndef ep_provider(): return ONLY\nep_provider = ep.provider_hook(ep_provider)\n",
    )
    site.install("two", "import ep\n@ep.provider_hook\ndef ep_provider():\n    import ep_one\n    return ep_one.ONLY\n")
    found = site.run(
        """
        names = [ep.device("one").name]
        try:
            ep.device("two")
        except ep.UnavailableError as error:
            names.append(str(error))
        print(json.dumps([*names, ep.device("one").name]))
        """
    )
    assert found[::2] == ["one:0", "one:0"]
    assert "returned provider one once more" in found[1]


def test_own_providers_keep_their_names_and_strangers_are_named(site):
    site.install("cpu", WORKING, package="ep_usurper")
    found = site.run("print(json.dumps([ep.device('cpu:0').info.vendor, ep.device('sim:0').name]))")
    assert found[0] != "Test"
    assert found[1] == "sim:0"
    done = site.ep("doctor", EP_PROVIDERS="cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "dist_ep_usurper" in line]
    assert line.split()[:3] == ["provider", "cpu", "refused"]
    assert "cpu is a provider of EP itself" in line


def test_entry_points_of_no_name_that_could_be_asked_for_are_refused(site):
    site.enter("ep.providers", "two words", "ep_good")
    reason = site.run("print(json.dumps(ep.providers()['two words'].refusal))")
    assert reason == "its entry point is called 'two words', needs a word of letters, digits, _ and -"


def test_nothing_is_noticed_only_at_the_end_of_the_process(site):
    site.install(
        "bare", WORKING.replace('return [Device(ep.DeviceInfo(self.title, "Test"))]', BROUGHT["bare"][0]) + BARE
    )
    done = site.python(
        """
        import ep
        try:
            ep.device("bare")
        except ep.UnavailableError:
            print(ep.device("cpu:0").name)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "cpu:0\n", "")


def test_device_that_cannot_be_closed_keeps_no_other_open(site):
    site.install("stuck", WORKING + "\ndef close(self): raise RuntimeError('no luck')\nDevice.close = close\n")
    site.install("tidy", WORKING + "\ndef close(self): print('closed', self.name)\nDevice.close = close\n")
    done = site.python("import ep\nep.device('stuck')\nep.device('tidy')")
    assert (done.returncode, done.stdout) == (0, "closed tidy:0\n")
    assert "stuck:0 could not be closed at the end of the process: RuntimeError: no luck" in done.stderr
    assert "Traceback" not in done.stderr


def test_builtin_module_is_no_provider_wherever_a_manifest_lies(site):
    site.enter("ep.providers", "sys", "sys")
    (Path(site.folder) / "provider.toml").write_text(MANIFEST.format(name="sys", spi="0.2"))
    code = f"import os\nos.chdir({str(site.folder)!r})\nprint(json.dumps(ep.providers()['sys'].refusal))"
    assert "package sys is not importable" in site.run(code)
