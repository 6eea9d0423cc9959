"""What must have a place in the site: the names of everything, by the kind that Sphinx calls it, taken from the code."""

from __future__ import annotations

import ast
import inspect
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Final

import click
import ep_conformance
import ep_onnx
from ep.dtypes import DTYPES
from ep.layout.cells import LAYOUTS
from ep.plugin.capabilities import ABILITIES
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.planned import Standing
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.runtime import runtime_cases
from ep_conformance.saboteurs.table import SABOTEURS

import ep
from ep_tools.folders import ROOT
from ep_tools.website.members import members
from ep_tools.website.packages import PACKAGES
from ep_tools.website.pages import commands, families, interface, plugin, rows, variables
from ep_tools.website.pages.errors import errors
from ep_tools.website.pages.report import schema_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["closed", "objects"]

_HOOKS: Final = (ep.hooks.Hooks, ep_conformance.hooks.Hooks)


@cache
def closed() -> dict[str, set[str]]:
    """Return the kinds whose names are known: each must be there, and no other."""
    own = families.own()
    programs = [command for program in commands.PROGRAMS for command in commands.commands(program)]
    return {
        "std:family": set(own),
        "std:row": {f"{name}/{op}" for name, family in own.items() for op in rows.rows_of(family)},
        "std:dtype": set(DTYPES),
        "std:layout": set(LAYOUTS),
        "std:status": {status.value for status in Status},
        "std:standing": {standing.value for standing in Standing},
        "std:profile": set(PROFILES),
        "std:ability": set(ABILITIES),
        "std:case": set(runtime_cases()),
        "std:saboteur": {saboteur.name for saboteur in SABOTEURS},
        "std:field": set(schema_fields()),
        "std:envvar": set(variables.read()),
        "std:hook": {name for kind in _HOOKS for name, member in vars(kind).items() if inspect.isfunction(member)},
        "std:group": set(_groups()),
        "std:command": {command.name for command in programs},
        "std:cmdoption": {
            f"{command.name.replace(' ', '-')}.{option}" for command in programs for option in _options(command)
        }
        | {f"{plugin.PROGRAM}.{option}" for option in plugin.options()},
        "std:fixture": set(plugin.fixtures()),
    }


def objects() -> set[str]:
    """Return the names of the Python interface that must be there: public names, their members, twins, errors."""
    found = {
        f"{package.__name__}.{name}"
        for package in PACKAGES
        for name in package.__all__
        if not inspect.ismodule(getattr(package, name))
    }
    for package in (ep, ep.spi, ep_conformance, ep_onnx):
        for name in package.__all__:
            kind = getattr(package, name)
            if inspect.isclass(kind):
                found |= {f"{package.__name__}.{name}.{member}" for member in members(kind)}
    for kind in interface.CLASSES:
        found |= {f"{interface.shown(kind)}.{member}" for member in (*interface.must(kind), *interface.may(kind))}
    return found | set(errors())


def _options(command: commands.Command) -> Iterator[str]:
    for parameter in commands.options(command):
        yield from (
            [commands.form(parameter)]
            if isinstance(parameter, click.Argument)
            else (*parameter.opts, *parameter.secondary_opts)
        )


def _groups() -> Iterator[str]:
    """Yield the entry-point groups that EP asks for, and those by which it comes in to others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield from project["entry-points"]
    for path in [*ROOT.glob("ep/ep/**/*.py"), *ROOT.glob("conformance/ep_conformance/**/*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = dict(_constants(tree.body))
        for call in ast.walk(tree):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in {"entries", "entry_points"}
            ):
                for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                    named = constants.get(value.id) if isinstance(value, ast.Name) else getattr(value, "value", None)
                    if isinstance(named, str):
                        yield named


def _constants(body: Iterable[ast.stmt]) -> Iterator[tuple[str, object]]:
    for each in body:
        if (
            isinstance(each, ast.AnnAssign)
            and isinstance(each.target, ast.Name)
            and isinstance(each.value, ast.Constant)
        ):
            yield each.target.id, each.value.value
