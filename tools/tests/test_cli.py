"""`python tools`: every command is there, and whatever is wrong with its words is a sentence."""

import sys

import pytest
from ep_tools import cli
from ep_tools.folders import ROOT


def test_help_has_a_sentence_for_every_command(tools):
    done = tools("--help")
    assert done.code == 0
    for name in cli.COMMANDS:
        assert f"\n  {name} " in done.output
    assert "wheel             Build the wheel into dist/" in done.output


def test_readme_has_a_line_for_every_command():
    text = (ROOT / "tools" / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Rooms")[0]
    named = [line.split("`")[1].split()[0] for line in table.splitlines() if line.startswith("| `")]
    assert named == [*cli.COMMANDS]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["matrix", "gone.json"], 2, "'gone.json' does not exist"),
        (["accuracy"], 2, "Missing argument 'REPORTS...'"),
        (["onnx", "cpu:99"], 2, "cpu:99: not on this machine"),
        (["onnx", "nonsense"], 2, "nonsense"),
        (["onnx", "cpu:0", "--kind", "simple", "--only", "no-such-test"], 2, "no test of simple has"),
        (["reference-tables", "nonsense"], 2, "no op or element type with a table: nonsense"),
        (["second-opinion", "nonsense"], 2, "no op or family: nonsense"),
        (["attack", "nonsense"], 2, "'nonsense' is not one of"),
        (["stub", "--chek"], 2, "No such option '--chek'"),
        (["kit-claims", "more"], 2, "unexpected extra argument (more)"),
        (["families", "more"], 2, "unexpected extra argument (more)"),
        (["wheel", "more"], 2, "unexpected extra argument (more)"),
        (["site"], 2, "Missing argument 'FOLDER'"),
    ],
)
def test_wrong_words_end_in_a_sentence(tools, words, code, said):
    done = tools(*words)
    assert done.code == code
    assert done.output == ""
    assert said in done.lines[-1]


@pytest.mark.parametrize("name", ["second-opinion", "attention", "exported"])
def test_missing_package_is_named(tools, monkeypatch, name):
    for module in [*sys.modules]:
        if module.partition(".")[0] in {"torch", "transformers"} or module.startswith("ep_tools.peers."):
            monkeypatch.delitem(sys.modules, module)

    monkeypatch.setitem(sys.modules, "torch", None)
    done = tools(name, *(["relu"] if name == "second-opinion" else []))
    assert (done.code, done.lines) == (2, ["python tools: needs the package torch: pip install torch"])


def test_missing_module_of_our_own_is_no_sentence(tools, monkeypatch):
    monkeypatch.setitem(cli.COMMANDS, "broken", "no_such_module")
    with pytest.raises(ModuleNotFoundError, match=r"ep_tools\.no_such_module"):
        tools("broken")


def test_interruption_is_a_sentence(tools, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.command, "invoke", interrupted)
    done = tools("stub")
    assert (done.code, done.lines[-1]) == (130, "python tools: interrupted")
