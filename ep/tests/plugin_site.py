"""Packages installed in a folder of their own, and fresh interpreters that find them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = 'name = "{name}"\nvendor = "Test"\nspi = "{spi}"\nfork_safe = true\n'

EMPTY = """
import ep

class Provider(ep.spi.Provider):
    implementations = {}
    def probe(self): pass
    def devices(self): return []

@ep.provider_hook
def ep_provider(): return Provider()
"""
"""A provider that is here and has no device."""

WORKING = """
import ep
from collections.abc import Mapping

class Stream(ep.spi.Stream):
    def copy(self, dst, src, nbytes):
        memoryview(dst.handle if isinstance(dst, ep.Memory) else dst)[at(dst):at(dst) + nbytes] = (
            memoryview(src.handle if isinstance(src, ep.Memory) else src)[at(src):at(src) + nbytes])
    def synchronize(self): pass

def at(side): return side.offset if isinstance(side, ep.Memory) else 0

class Device(ep.spi.Device):
    def allocate(self, nbytes, kind): return bytearray(nbytes)
    def free(self, handle, kind): pass
    def stream(self, ledger, *, priority, timed, synchronous): return Stream(ledger, is_synchronous=True, is_timed=timed)

class Provider(ep.spi.Provider):
    implementations = {}
    title = "Device"
    probes = 0
    made = 0
    def probe(self): Provider.probes += 1
    def devices(self):
        Provider.made += 1
        return [Device(ep.DeviceInfo(self.title, "Test"))]

@ep.provider_hook
def ep_provider(): return Provider()
"""
"""A provider of one device that copies bytes; code after it may change what it does."""

FAMILY = """
import ep

class Twice(ep.Descriptor):
    family = "twice"
    roles = ep.Roles(ep.Role.input("x"), ep.Role.output("out"))
    __slots__ = ()
    def __init__(self, spec): self._freeze("-", (spec, spec))

class Family(ep.Family):
    name = "twice"
    descriptor = Twice
    def cells(self): yield ep.Cell("twice", "-", "int8", "dense")
    def sample(self, cell): return Twice(ep.TensorSpec("int8", (4,)))
    def since(self, cell): return "1.0"
    def cases(self, cell): return ()
    def reference(self, descriptor, inputs): raise NotImplementedError
    def accuracy(self, descriptor): raise NotImplementedError

@ep.family_hook
def ep_families(): return [Family()]
"""
"""A package of one family with one cell, `twice/-/int8/dense`."""


class Site:
    """A folder of installed packages, for fresh interpreters."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, name: str, code: str, *, manifest: str | None = MANIFEST, spi: str = "0.2", package: str = ""
    ) -> None:
        """Install a provider."""
        package = package or f"ep_{name}"
        self._package(package, code)
        if manifest is not None:
            (self.folder / package / "provider.toml").write_text(manifest.format(name=name, spi=spi))
        self.enter("ep.providers", name, package)

    def install_families(self, package: str, code: str) -> None:
        """Install a package of families."""
        self._package(package, code)
        self.enter("ep.families", package, package)

    def enter(self, group: str, name: str, value: str) -> None:
        """Install a distribution of nothing but one entry point."""
        info = self.folder / f"dist_{value.replace('.', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.name[:-14]}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")

    def run(self, code: str, **variables: str) -> Any:
        """Run a program that has `ep` and `json` and return what it prints, as JSON."""
        done = self._python(f"import ep, json\n{textwrap.dedent(code)}", (), variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program."""
        return self._python(textwrap.dedent(code), (), variables)

    def ep(self, *arguments: str, stdout: Any = subprocess.PIPE, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command `ep`."""
        return self._python("from ep.cli import main; main()", arguments, {"COLUMNS": "200", **variables}, stdout)

    def _package(self, package: str, code: str) -> None:
        (self.folder / package).mkdir()
        (self.folder / package / "__init__.py").write_text(textwrap.dedent(code))

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start the command `ep`, and go on."""
        words = [sys.executable, "-c", f"{self._path}\nfrom ep.cli import main; main()", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=_environment(variables))

    @property
    def _path(self) -> str:
        return f"import sys; sys.path.insert(0, {str(self.folder)!r})"

    def _python(
        self, code: str, arguments: tuple[str, ...], variables: dict[str, str], stdout: Any = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", f"{self._path}\n{code}", *arguments],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=_environment(variables),
            timeout=60,
        )


def _environment(variables: dict[str, str]) -> dict[str, str]:
    kept = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    return {"PATH": "/usr/bin:/bin", **variables, **kept}
