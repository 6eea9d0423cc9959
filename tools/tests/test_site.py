"""The documentation site: it builds without a warning, and what the code has it has, too, and nothing else."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from ep.plugin.capabilities import ABILITIES, served_by
from ep_tools.website import check
from ep_tools.website.document import Document, read_site
from ep_tools.website.inventory import read_inventory
from ep_tools.website.pages import variables
from ep_tools.website.pages.errors import errors
from ep_tools.website.places import linked, places

import ep

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="the extra `docs` is not installed",
)


@pytest.fixture(scope="module", params=["basic", pytest.param("furo", marks=pytest.mark.thorough)])
def built(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("website") / "site"
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder.parent)}
    words = [sys.executable, "tools", "site", folder, "--theme", request.param]
    done = subprocess.run(words, cwd=ROOT, env=variables, text=True, capture_output=True, timeout=300, check=False)
    return folder, done


@pytest.fixture(scope="module")
def site(built):
    return built[0]


@pytest.fixture(scope="module")
def inventory(site):
    return read_inventory(site)


@pytest.fixture(scope="module")
def pages(site):
    return read_site(site)


def test_everything_has_its_place_and_nothing_else(built):
    """Whoever adds a public name, a row, a case, an option or a variable finds here where it has to be documented."""
    _, done = built
    assert done.stderr == ""  # warnings of Sphinx, and what website.check finds
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("py:class", "ep.TensorSpec"),
        ("py:exception", "ep.ClosedError"),
        ("py:method", "ep.spi.Device.allocate"),
        ("py:method", "ep.spi.Stream.fill"),
        ("py:method", "ep.Graph.launch"),
        ("py:class", "ep_primitives.Softmax"),
        ("std:row", "elementwise_unary/exp"),
        ("std:row", "reduce/sum"),
        ("std:family", "gather"),
        ("std:dtype", "bfloat16"),
        ("std:layout", "rank0"),
        ("std:status", "device-lost"),
        ("std:standing", "stale"),
        ("std:profile", "exhaustive"),
        ("std:ability", "timing"),
        ("std:case", "runtime/event/wait-orders-kernels"),
        ("std:saboteur", "loses-nan"),
        ("std:field", "cases[].status"),
        ("std:envvar", "EP_CPU_THREADS"),
        ("std:hook", "ep_provider"),
        ("std:group", "ep.families"),
        ("std:fixture", "ep_trial"),
        ("std:cmdoption", "pytest.--ep-provider"),
        ("std:command", "ep-conformance run"),
        ("std:cmdoption", "ep-conformance-run.--resume"),
    ],
)
def test_what_is_taken_out_of_the_site_is_missed(inventory, kind, name):
    assert name in inventory[kind]
    without = inventory | {kind: {other: place for other, place in inventory[kind].items() if other != name}}
    found = [*check.missing(without)]
    assert len(found) == 1
    assert name in found[0]


def test_what_does_not_exist_is_named(inventory):
    before = {*check.unknown(inventory)}  # other tests change what this process has; the build's own has none

    def unknown(planted):
        return {*check.unknown(planted)} - before

    for kind, name in (
        ("std:row", "elementwise_unary/sing"),
        ("std:field", "cases[].sing"),
        ("std:envvar", "EP_SING"),
        ("std:cmdoption", "ep-doctor.--sing"),
    ):
        (found,) = unknown(inventory | {kind: inventory[kind] | {name: "index.html"}})
        assert name in found
    (found,) = unknown(inventory | {"py:method": inventory["py:method"] | {"ep.Device.sing": "index.html"}})
    assert "ep.Device.sing" in found


def test_places_that_are_not_there_or_shared_are_named(inventory, pages):
    row = inventory["std:row"]["elementwise_unary/exp"]
    for place in ("gone.html#row", "index.html#gone", row):
        found = [
            *check.misplaced(inventory | {"std:row": inventory["std:row"] | {"elementwise_unary/log": place}}, pages)
        ]
        assert len(found) == 1
        assert "elementwise_unary/log" in found[0]


def test_dead_links_are_named(pages):
    text = (
        '<h1 id="a">A</h1><a href="#a">a</a><a href="#b">b</a><a href="gone.html">c</a><a href="../index.html#no">d</a>'
    )
    found = [*check.dead_links(pages | {"deep/page.html": Document(text)})]
    assert [line.partition("link ")[2].split()[0] for line in found] == ["#b", "gone.html", "../index.html#no"]


def test_requests_to_elsewhere_are_named(tmp_path):
    (tmp_path / "own.js").write_text("fetch('index.html')")
    (tmp_path / "site.css").write_text("@import 'https://fonts.example/a.css'; b { background: url(own.png) }")
    text = '<script src="https://x.example/a.js"></script><script src="own.js"></script><img src="gone.png"><a href="https://y.example">'
    found = [*check.requests(tmp_path, {"page.html": Document(text)})]
    assert found == [
        "page.html: fetches https://x.example/a.js",
        "page.html: fetches gone.png, which is not there",
        "site.css: fetches https://fonts.example/a.css",
    ]


def test_every_error_says_what_to_do():
    silent = [
        name for name, kind in errors().items() if issubclass(kind, ep.EpError) and "What to do: " not in kind.__doc__
    ]
    assert silent == []


def test_every_default_of_ep_is_described():
    served = {name: served_by(name) for name in ABILITIES}
    silent = [
        name
        for name, (kind, method, otherwise) in served.items()
        if otherwise == "degraded" and "Default: " not in getattr(kind, method).__doc__
    ]
    assert silent == []


def test_search_finds_rows_and_errors(site):
    words = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "hard_swish" in words
    assert "OutOfMemoryError" in words


def test_links_of_documents_lead_to_their_pages():
    known = places()
    assert linked("[a](../docs/runtime.md#graphs)", "ep/README.md", known) == "[a](/runtime.md#graphs)"
    assert linked("[the `x`](Makefile), `[b](gone.md)`", "README.md", known) == "the `x`, `[b](gone.md)`"
    assert (
        linked("[c](https://example.org/x.md) [d](#here)", "README.md", known)
        == "[c](https://example.org/x.md) [d](#here)"
    )
    assert linked("![curves](../docs/training.svg)", "examples/README.md", known) == "![curves](/training.svg)"
    with pytest.raises(
        ValueError, match=r"README.md: the link to gone.md leads nowhere; the repository has no gone.md"
    ):
        linked("[e](gone.md)", "README.md", known)


def test_every_variable_is_described_where_it_is_read():
    described = {variable.name for variable in variables.described()}
    assert set(variables.read()) == described
    assert {"EP_PROVIDERS", "EP_SIM_SEED", "EP_BUILD_CPU"} <= described


def test_docstrings_become_restructured_text():
    from ep_tools.website.docstrings import restructured

    lines = "Return `device.allocate` of *x*.\n\na, b_ : `n` items,\n        read\n\nRaises ClosedError; as `Memory`s do:\n\n    x = 1".splitlines()
    assert "\n".join(restructured(lines)) == (
        "Return :py:obj:`device.allocate <ep.Device.allocate>` of \\*x\\*.\n\n\n.. container:: facts\n\n"
        "   :a, b\\_: ``n`` items,\n       read\n\n"
        "Raises :py:exc:`~ep.ClosedError`; as :py:obj:`Memory <ep.Memory>`\\ s do:\n\n::\n\n    x = 1"
    )


def test_commands_say_their_exit_codes():
    import click
    from ep_tools.website.pages.commands import Command, exit_codes

    spoken = click.Command("sing", epilog="Sings.\n\nExit codes: 0 sung, or hummed; 1 out of tune, 130 Ctrl-C.")
    assert exit_codes(Command("sing", spoken)) == {"0": "sung, or hummed", "1": "out of tune", "130": "Ctrl-C"}
    assert exit_codes(Command("sing", click.Command("sing"))) == {}
