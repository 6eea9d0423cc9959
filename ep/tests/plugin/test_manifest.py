"""provider.toml: the words of its emulator; the rest is tried where providers are found."""

from __future__ import annotations

import pytest
from ep.plugin.manifest import ManifestError, read_manifest

HEAD = 'name = "toy"\nvendor = "Test"\nspi = "0.2"\nfork_safe = true\n'


def manifest(folder, text):
    path = folder / "provider.toml"
    path.write_text(HEAD + text)
    return read_manifest(path)


def test_emulator_is_a_list_of_words(tmp_path):
    assert manifest(tmp_path, "").emulator == ()
    assert manifest(tmp_path, '[emulator]\ncommand = ["emulate", "--"]\n').emulator == ("emulate", "--")


@pytest.mark.parametrize("text", ["[emulator]\n", '[emulator]\ncommand = "emulate"\n', "[emulator]\ncommand = [1]\n"])
def test_emulator_without_words_says_what_is_needed(tmp_path, text):
    with pytest.raises(ManifestError, match=r"provider.toml: \[emulator\] has command .*, needs a list of words"):
        manifest(tmp_path, text)


def test_emulator_that_is_no_table_says_so(tmp_path):
    with pytest.raises(ManifestError, match="emulator is 'emulate', needs a dict"):
        manifest(tmp_path, 'emulator = "emulate"\n')
