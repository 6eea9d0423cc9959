"""Hostile plug-ins by the dozen: whatever they are, cpu:0 works beside them, and the commands end, in time, and say so.

python tools attack plugins --seconds SECONDS --seed SEED
"""

from __future__ import annotations

import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

LIMIT: Final = 10
"""Seconds that the commands give each plug-in."""
SLACK: Final = 60
"""Seconds beside those in which a command has to end, on whatever machine."""
EXIT_CODES: Final = (0, 1)
CONTROL: Final = re.compile(r"[^\n -~\u2010-\u2fff]|\u202e|\u2066")
MANIFEST: Final = 'name = "{name}"\nvendor = "Test"\nspi = "0.2"\nfork_safe = true\n'

PROVIDER: Final = """
import atexit, ctypes, os, signal, sys, threading, time
import ep
{import_}

class Lying(Exception):
    def __str__(self): raise RuntimeError("a lie")
    __repr__ = __str__

class Last(BaseException): pass

def burst():
    while True: print("x" * 65536)

def leave_child():
    if os.fork() == 0: time.sleep(1000)

def deep(n=0): return deep(n + 1)

def forge():
    for number in range(3, 64):
        try: os.write(number, b'["finding", -1, "splendid", 3]\\n[[[\\n')
        except OSError: pass

def never_ends():
    threading.Thread(target=time.sleep, args=(1000,)).start()

def at(side): return side.offset if isinstance(side, ep.Memory) else 0

class Stream(ep.spi.Stream):
    def copy(self, dst, src, nbytes):
        memoryview(dst.handle if isinstance(dst, ep.Memory) else dst)[at(dst):at(dst) + nbytes] = (
            memoryview(src.handle if isinstance(src, ep.Memory) else src)[at(src):at(src) + nbytes])
    def synchronize(self): pass

class Device(ep.spi.Device):
    def allocate(self, nbytes, kind):
        {check}
        return bytearray(nbytes)
    def free(self, handle, kind): pass
    def stream(self, ledger, *, priority, timed, synchronous): return Stream(ledger, is_synchronous=True, is_timed=timed)
    def close(self):
        {close}

class Bare(Device):
    def __init__(self, info): pass

def info(**fields): return ep.DeviceInfo(**{{"name": "Device", "vendor": "Test", **fields}})

class Provider(ep.spi.Provider):
    implementations = {table}
    def probe(self):
        {probe}
    def devices(self):
        {devices}
        return {made}

@ep.provider_hook
def ep_provider():
    {hook}
    return Provider()
"""

GOOD: Final = "[Device(info())]"
STAGES: Final = ("import_", "hook", "probe", "devices", "check")


class Kind(NamedTuple):
    """One way to be hostile.

    parts      : of PROVIDER
    is_fatal   : True: it ends, floods or holds up the process that loads it, so that only a process of its own may
    files      : what lies in place of provider.toml
    is_broken  : True: `ep doctor` has to say more than that it is ok
    """

    parts: dict[str, str]
    is_fatal: bool = False
    manifest: str = ""
    is_broken: bool = True


RAISES: Final = {
    "raises": "raise RuntimeError('no luck')",
    "raises-base": "raise Last('last words')",
    "raises-generator-exit": "raise GeneratorExit",
    "leaves": "sys.exit(3)",
    "raises-lying": "raise Lying",
    "raises-unavailable-lying": "raise type('U', (Lying, ep.UnavailableError), {})()",
    "raises-escapes": "raise RuntimeError('\\x1b[2J\\x1b]0;owned\\x07 \\u202e \\ud800 \\r\\n\\x9b31m')",
    "raises-much": "raise RuntimeError('much ' * 20000)",
    "recurses": "deep()",
}
FATAL: Final = {
    "hangs": "time.sleep(1000)",
    "hangs-deaf": "[signal.signal(s, signal.SIG_IGN) for s in (2, 15, 10, 14)]; time.sleep(1000)",
    "spins": "exec('while True: pass')",
    "crashes": "ctypes.string_at(0)",
    "kills-itself": "os.kill(os.getpid(), 9)",
    "exits": "os._exit(0)",
    "floods": "burst()",
    "leaves-child": "leave_child()",
    "shuts-files": "os.closerange(3, 64)",
    "forges": "forge()",
    "interrupts": "raise KeyboardInterrupt",
    "stops": "os.kill(os.getpid(), signal.SIGSTOP)",
    "hangs-at-exit": "atexit.register(time.sleep, 1000)",
    "never-ends": "never_ends()",
}
HARMLESS: Final = {"leaves-child"}
MADE: Final = {
    "none": "None",
    "generator": "(each for each in [Device(info())])",
    "objects": "[object(), 3]",
    "kind": "[Device]",
    "twice": "[Device(info())] * 2",
    "bare": "[Bare(info())]",
    "no-info": "[Device(None)]",
    "number": "3",
}
INFO: Final = {
    "name": "5",
    "vendor": "None",
    "features": "None",
    "dtypes": "['float32']",
    "memory": "'x'",
    "alignment": "3",
    "compute_units": "0",
    "subgroup_size": "True",
    "flushes": "frozenset({3})",
    "memory_kinds": "frozenset({'DEVICE'})",
    "fingerprint": "b''",
    "determinism": "'often'",
}
TABLES: Final = ("None", "[]", "{3: ()}", "{ep.Descriptor: 3}", "{ep.Descriptor: (ep.Implementation,)}")
MANIFESTS: Final = {
    "deep": "name = " + "[" * 5000,
    "digits": 'name = "{name}"\nvendor = "T"\nspi = "0.' + "1" * 5000 + '"\nfork_safe = true\n',
    "number": "spi = " + "1" * 5000,
    "huge": "#" * (3 << 20),
    "escapes": 'name = "\\u001b[2J{name}"\nvendor = "T"\nspi = "0.2"\nfork_safe = true\n',
    "types": "name = 3\nspi = []\n",
    "other": 'name = "other"\nvendor = "T"\nspi = "0.2"\nfork_safe = true\n',
}
FILES: Final = ("fifo", "folder", "zero", "bytes")
"""What takes the place of a file: a pipe, a folder, a device without end, damaged bytes."""
POINTS: Final = {
    "garbage": "this is no table\nof entry points",
    "huge": "#" * (3 << 20),
    "unclosed": "[ep.providers\nx",
    "headless": "x = y\n",
}


def kinds() -> dict[str, Kind]:
    """Return every way to be hostile that a provider's package has, by name."""
    found = {f"{kind}-at-{stage}": Kind({stage: code}) for kind, code in RAISES.items() for stage in STAGES}
    found |= {
        f"{kind}-at-{stage}": Kind({stage: code}, is_fatal=True, is_broken=kind not in HARMLESS)
        for kind, code in FATAL.items()
        for stage in STAGES
    }
    found |= {f"makes-{kind}": Kind({"made": code}) for kind, code in MADE.items()}
    found |= {f"info-{field}": Kind({"made": f"[Device(info({field}={value}))]"}) for field, value in INFO.items()}
    found |= {f"table-{place}": Kind({"table": table}) for place, table in enumerate(TABLES)}
    found |= {f"manifest-{kind}": Kind({}, manifest=text) for kind, text in MANIFESTS.items()}
    found |= {f"manifest-{file}": Kind({}, manifest=file) for file in FILES}
    found["close-raises"] = Kind({"close": "raise Last"}, is_broken=False)
    found["names-escapes"] = Kind({"made": r"[Device(info(name='\x1b[31m\u202e'))]"}, is_broken=False)
    return found


class Site:
    """A folder of plug-ins, and programs that find them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = ["cpu", "calm"]
        self.provider("calm", Kind({}))

    def provider(self, name: str, kind: Kind, package: str = "") -> None:
        """Install a provider."""
        package = package or f"ep_{name}"
        (self.folder / package).mkdir()
        blanks = dict.fromkeys((*STAGES, "close"), "pass")
        code = PROVIDER.format(**{**blanks, "table": "{}", "made": GOOD, **kind.parts})
        if "import_" in kind.parts:  # its actions are defined below
            code = code.replace(f"\n{kind.parts['import_']}\n", "\n", 1) + f"\n{kind.parts['import_']}\n"
        (self.folder / package / "__init__.py").write_text(code)
        place(self.folder / package / "provider.toml", (kind.manifest or MANIFEST).replace("{name}", name))
        self.distribution(package, f"[ep.providers]\n{name} = {package}\n")

    def distribution(self, name: str, points: str, metadata: str = "") -> None:
        """Install a distribution with these entry points."""
        info = self.folder / f"{name}-1.0.dist-info"
        info.mkdir()
        place(info / "METADATA", metadata or f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        place(info / "entry_points.txt", points)

    def run(self, *words: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Run a program among the plug-ins; one that does not end raises AssertionError."""
        variables: dict[str, Any] = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "EP_PROVIDERS": ",".join(self.names),
            "COLUMNS": "200",
        }
        words = (sys.executable, *words)
        with subprocess.Popen(  # noqa: S603 - ourselves
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
            env=variables,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.communicate()
                message = f"{words[1:]} did not end within {seconds:.0f} s"
                raise AssertionError(message) from None
        return subprocess.CompletedProcess(words, process.returncode, out, err)


def place(path: Path, content: str) -> None:
    """Put a text into a file, or what is no text in its place."""
    if content == "fifo":
        os.mkfifo(path)
    elif content == "folder":
        path.mkdir()
    elif content == "zero":
        path.symlink_to("/dev/zero")
    elif content == "bytes":
        path.write_bytes(bytes(range(256)) * 8)
    else:
        path.write_text(content)


BESIDE: Final = """
import sys, threading, time
import ep
def ask(name):
    try: ep.device(name)
    except ep.UnavailableError: pass
    except BaseException as error: print("escaped", name, type(error))
threads = [threading.Thread(target=ask, args=(name,), daemon=True) for name in sys.argv[1:]]
for thread in threads: thread.start()
names = [ep.device(name).name for name in ("cpu:0", "calm:0")]
for thread in threads: thread.join(3)
print(*names)
"""


def attack(seconds: float, seed: int) -> collections.Counter[str]:
    """Try hostile sites for so long, and return how many of each kind harmed nobody.

    Raises AssertionError with the seed of the first that did: `attack(0, seed)` tries that one alone.
    """
    counts: collections.Counter[str] = collections.Counter()
    ends = time.monotonic() + seconds
    while True:
        counts += try_site(seed)
        seed += 1
        if time.monotonic() >= ends:
            return counts


def try_site(seed: int) -> collections.Counter[str]:
    """Make the site of a seed and hold EP to its promises there."""
    random_ = random.Random(seed)  # noqa: S311 - a seed makes it again
    with tempfile.TemporaryDirectory(prefix="ep-attack-") as folder:
        site = Site(Path(folder))
        chosen = _install(site, random_)
        try:
            _hold(site, chosen)
        except AssertionError as error:
            message = f"plug-ins, seed {seed} ({', '.join(chosen.values())}): {error}"
            raise AssertionError(message) from None
    return collections.Counter(chosen.values())


def _install(site: Site, random_: random.Random) -> dict[str, str]:
    """Install what the random numbers say, and return the kind of each plug-in by its name."""
    every = kinds()
    chosen: dict[str, str] = {}
    for number in range(random_.randint(1, 3)):
        name = f"odd{number}"
        chosen[name] = random_.choice(sorted(every))
        site.provider(name, every[chosen[name]])
        site.names.append(name)
    what = random_.choice(["", "", *POINTS, *FILES])
    if what:
        chosen["damaged"] = f"entry-points-{what}"
        site.distribution("damaged", POINTS.get(what, what))
    match random_.randint(0, 3):
        case 0:
            chosen["usurper"] = "second-cpu"
            site.provider("cpu", Kind({"import_": "raise Last"}), package="ep_usurper")
        case 1:
            chosen["unnamed"] = "metadata-fifo"
            site.distribution("unnamed", "[ep.providers]\n\x1b[31m = ep_\x1b\n", "fifo")
    return chosen


def _hold(site: Site, chosen: dict[str, str]) -> None:
    every = kinds()
    asked = [name for name, kind in chosen.items() if kind in every and not every[kind].is_fatal]
    done = site.run("-c", BESIDE, *asked, seconds=SLACK)
    _require(
        done.stdout == "cpu:0 calm:0\n", f"cpu:0 does not work beside them:\n{done.stdout[-500:]}{done.stderr[-3000:]}"
    )
    for words in (("devices",), ("doctor",), ("doctor", "--traceback")):
        seconds = LIMIT * (len(chosen) + 2) + SLACK
        done = site.run("-m", "ep.cli", *words, "--timeout", str(LIMIT), seconds=seconds)
        said = done.stdout + done.stderr
        _require(done.returncode in EXIT_CODES, f"ep {words} ended with {done.returncode}:\n{said[-3000:]}")
        _require(
            words[-1] == "--traceback" or "Traceback" not in said, f"ep {words} prints a traceback:\n{said[-3000:]}"
        )
        found = CONTROL.search(said)
        _require(found is None, f"ep {words} prints {found}")
        _require(len(said) < 1 << 20, f"ep {words} prints {len(said)} characters")
        _require("calm:0" in done.stdout, f"ep {words} does not list calm:0:\n{said[-3000:]}")
        _require("cpu:0" in done.stdout, f"ep {words} does not list cpu:0:\n{said[-3000:]}")
        if words == ("doctor",):
            _named(done.stdout, chosen)


def _named(said: str, chosen: dict[str, str]) -> None:
    """Require that each hostile plug-in is reported for what it is."""
    every = kinds()
    for name, kind in chosen.items():
        lines = [line for line in said.splitlines() if re.search(rf"\b(ep_)?{name}\b", line)]
        _require(bool(lines), f"ep doctor does not name {name} ({kind}):\n{said}")
        if kind not in every or every[kind].is_broken:
            words = " ".join(lines)
            is_said = any(verdict in words for verdict in ("refused", "broken", "unavailable"))
            _require(is_said, f"ep doctor finds {name} ({kind}) good:\n{said}")


def _require(is_true: bool, message: str) -> None:  # noqa: FBT001 - an assertion with a message
    if not is_true:
        raise AssertionError(message)
