"""The reference generator against published answers, which no provider has a part in."""

import numpy as np
import pytest
from ep_primitives.families.random_fill.philox import block, draw

# kat_vectors of Random123, "philox4x32 10": counter, key, answer.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_block_gives_the_published_answers(counter, key, answer):
    words = block(np.array(counter, np.uint64)[:, None], key)
    assert words[:, 0].tolist() == list(answer)


def test_sequence_is_that_of_the_standard_library_of_cpp26():
    # [rand.predef]: the 10000th consecutive invocation of a default-constructed philox4x32; its seed is 20111115.
    assert draw(20111115, 9999, 1).tolist() == [1955073260]


def test_words_do_not_depend_on_where_drawing_begins():
    whole = draw(2**40 + 3, 2**34 - 9, 40)
    for start in range(8):
        assert (draw(2**40 + 3, 2**34 - 9 + start, 20) == whole[start : start + 20]).all()


def test_sequence_begins_again_after_its_last_word():
    assert draw(5, 2**64 - 3, 6)[3:].tolist() == draw(5, 0, 3).tolist()


def test_both_halves_of_seed_and_place_count():
    seen = {tuple(draw(seed, place, 4).tolist()) for seed in (1, 1 << 32) for place in (4, 4 << 32, 4 << 33)}
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("place", "word"), [(364375560, 0), (684001936, 0xFFFFFFFE), (3036154571, 0x7FFFFFFF), (3998244835, 0x00000002)]
)
def test_places_of_extreme_words_are_what_the_cases_say(place, word):
    assert draw(1, place, 1).tolist() == [word]
