"""Kept contents: read whole or not at all, private, and bounded by what nobody has read for the longest time."""

import os

import pytest
from ep.kept import Kept

DAYS = 86_400


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "kept")


def file_of(kept):
    (file,) = kept.folder.iterdir()
    return file


def test_content_is_read_by_its_key_from_a_private_folder(kept):
    assert kept.read("key") is None
    assert kept.write("key", b"first")
    assert kept.write("key", b"second")
    assert kept.read("key") == b"second"
    assert kept.read("another") is None
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    assert file_of(kept).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(b"\0" + file.read_bytes()[1:]),
        lambda file: file.write_bytes(b""),
        lambda file: (file.unlink(), file.mkdir(), (file / "inside").touch()),
    ],
)
def test_damaged_content_is_none_and_written_anew(kept, damage):
    kept.write("key", b"first")
    damage(file_of(kept))
    assert kept.read("key") is None
    assert kept.write("key", b"second")
    assert kept.read("key") == b"second"


def test_content_of_another_key_is_none(kept):
    kept.write("key", b"first")
    file = file_of(kept)
    kept.write("another", b"second")
    (other,) = {*kept.folder.iterdir()} - {file}
    file.replace(other)
    assert kept.read("another") is None


def test_where_nothing_can_be_written_nothing_is(tmp_path):
    (tmp_path / "kept").write_text("a file where the folder would be")
    kept = Kept(tmp_path / "kept")
    assert not kept.write("key", b"first")
    assert kept.read("key") is None


def test_what_was_read_least_lately_goes_where_there_is_too_much(tmp_path):
    old = Kept(tmp_path)
    for age, key in enumerate("abcd"):
        old.write(key, bytes(1000))
        (newest,) = [file for file in tmp_path.iterdir() if file.stat().st_mtime > 2 * DAYS]
        os.utime(newest, (DAYS - age, DAYS - age))
    (tmp_path / "folder").mkdir()
    assert old.read("d") is not None
    new = Kept(tmp_path, most=2500)
    new.write("e", bytes(1000))
    assert [key for key in "abcde" if new.read(key)] == ["a", "d", "e"]
