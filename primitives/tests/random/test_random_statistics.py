"""Random fills as statisticians see them, as the CPU draws them (conformance holds every provider to the same numbers).

Seeds are fixed, so that each test passes always or never. Each has a level of 1e-6: of generators without a fault one in
a million fails it. Where a test looks at several figures, each has its share of that.
"""

import numpy as np
import pytest
from ep_primitives import Generator, RandomFill
from ep_primitives.families.random_fill import philox
from ep_primitives.judging.reference import array_dtype

import ep

stats = pytest.importorskip("scipy.stats")

LEVEL = 1e-6
MANY = 2**21
MOMENTS = {"mean": (0, 1), "variance": (1, 2), "skewness": (0, 15), "kurtosis": (3, 96)}
"""Of x, x^2, x^3 and x^4 of standard normal numbers: the mean and the variance."""


@pytest.fixture(scope="module")
def drawn():
    """Return a function from an op, a dtype and a seed to an array of numbers."""
    try:
        stream = ep.device("cpu:0").stream()
    except ep.UnavailableError as error:
        pytest.skip(str(error))

    def draw(op, dtype, seed, size=MANY, **numbers):
        out, generator = stream.device.allocate(size * ep.dtype(dtype).itemsize), Generator(stream.device, seed)
        fill = RandomFill.infer(op, ep.TensorSpec(dtype, (size,))).on(stream.device)
        fill(stream, state=generator.state, out=out, **numbers)
        host = np.empty(size, array_dtype(dtype))
        stream.download(host.view(np.uint8), out)
        stream.synchronize()
        return host

    return draw


def chances(counts, probabilities=None):
    """Return the chi-square test's chance of counts at least as uneven."""
    counts = np.asarray(counts).reshape(-1)
    expected = None if probabilities is None else np.asarray(probabilities) * counts.sum()
    return stats.chisquare(counts, expected).pvalue


def deviation_limit(figures=1):
    """Return how many standard deviations one of so many figures may be off, on either side."""
    return stats.norm.isf(LEVEL / figures / 2)


def correlation(x, y):
    """Return the correlation of two sequences in its standard deviations."""
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).mean() / (x.std() * y.std()) * np.sqrt(x.size))


def test_every_byte_of_a_word_takes_every_value_alike(drawn):
    octets = drawn("words", "uint32", 1).view(np.uint8).reshape(-1, 4)
    for place in range(4):
        assert chances(np.bincount(octets[:, place], minlength=256)) > LEVEL / 4


def test_every_bit_of_a_word_is_a_fair_coin_and_independent_of_its_neighbour(drawn):
    bits = np.unpackbits(drawn("words", "uint32", 2, MANY // 8).view(np.uint8)).reshape(-1, 32)
    both = (bits[:, 1:] + 2 * bits[:, :-1]).T
    for place, pair in enumerate(both):
        assert chances(np.bincount(pair, minlength=4)) > LEVEL / 31, place


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 5, 7, 8, 16, 64, 256, 1024, 4096])
def test_words_do_not_follow_from_words_before_them(drawn, lag):
    words = drawn("words", "uint32", 3).astype(np.float64)
    assert abs(correlation(words[lag:], words[:-lag])) < deviation_limit(12)


def test_neighbouring_seeds_have_nothing_in_common(drawn):
    sequences = [drawn("words", "uint32", seed, 2**16).astype(np.float64) for seed in range(40)]
    pairs = [(a, b) for a in range(40) for b in range(a)]
    worst = max(abs(correlation(sequences[a], sequences[b])) for a, b in pairs)
    assert worst < deviation_limit(len(pairs))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_fill_the_unit_interval_evenly(drawn, dtype):
    x = drawn("uniform", dtype, 4).astype(np.float64)
    assert x.min() >= 0
    assert x.max() < 1
    assert chances(np.bincount((x * 256).astype(int), minlength=256)) > LEVEL / 2
    pairs = (x[0::2] * 32).astype(int) * 32 + (x[1::2] * 32).astype(int)
    assert chances(np.bincount(pairs, minlength=1024)) > LEVEL / 2


@pytest.mark.parametrize(("dtype", "step"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_uniform_numbers_have_the_mean_and_variance_of_their_steps(drawn, dtype, step):
    x = drawn("uniform", dtype, 5).astype(np.float64) + step / 2
    mean, square = (x - 0.5).mean(), ((x - 0.5) ** 2).mean()
    assert abs(mean) * np.sqrt(12 * MANY) < deviation_limit(2)
    assert abs(square - 1 / 12) * np.sqrt(180 * MANY) < deviation_limit(2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_distributed_normally(drawn, dtype):
    z = drawn("normal", dtype, 6).astype(np.float64)
    assert stats.kstest(z, "norm").pvalue > LEVEL


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("power", "name"), list(enumerate(MOMENTS, 1)))
def test_normal_numbers_have_the_moments(drawn, dtype, power, name):
    z = drawn("normal", dtype, 7).astype(np.float64)
    mean, variance = MOMENTS[name]
    # Rounding to 8 bits adds at most 2^-19 to the variance, and 18 times that to the fourth moment.
    slack = 18 * 2.0**-19 * np.sqrt(MANY) if dtype == "bfloat16" else 0
    assert abs((z**power).mean() - mean) * np.sqrt(MANY) < deviation_limit(16) * np.sqrt(variance) + slack


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_reach_into_both_tails_as_often_as_they_should(drawn, dtype):
    z = drawn("normal", dtype, 8)
    for limit in (3.0, 4.0, 4.5):
        expected = stats.norm.sf(limit) * MANY
        for count in ((z > limit).sum(), (z < -limit).sum()):
            assert stats.poisson.cdf(count, expected) > LEVEL / 12
            assert stats.poisson.sf(count - 1, expected) > LEVEL / 12


def test_normal_numbers_do_not_follow_from_their_neighbours(drawn):
    z = drawn("normal", "float32", 9).astype(np.float64)
    for lag in (1, 2, 3, 4):
        assert abs(correlation(z[lag:], z[:-lag])) < deviation_limit(8)
        assert abs(correlation(z[lag:] ** 2, z[:-lag] ** 2)) < deviation_limit(8)


@pytest.mark.parametrize("p", [0.001, 0.1, 1 / 3, 0.5, 0.9])
def test_bernoulli_is_true_as_often_as_asked(drawn, p):
    tosses = drawn("bernoulli", "bool", 10, p=p)
    assert stats.binomtest(int(tosses.sum()), MANY, p).pvalue > LEVEL / 5


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_a_range_are_equally_likely(drawn, dtype):
    faces = drawn("integers", dtype, 11, low=3, high=102)
    assert chances(np.bincount(faces.astype(np.int64) - 3, minlength=100)) > LEVEL


def test_integers_of_a_range_that_no_power_of_two_divides_stay_even(drawn):
    # With the remainder of a division the lower third would be twice as likely.
    x = drawn("integers", "uint64", 12, low=0, high=3 * 2**62 - 1)
    assert chances(np.bincount((x // np.uint64(2**62)).astype(int), minlength=3)) > LEVEL


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_these_tests_find_a_generator_with_too_few_rounds(monkeypatch, rounds):
    monkeypatch.setattr(philox, "_ROUNDS", rounds)
    words = philox.draw(3, 0, 2**18).astype(np.float64)
    found = [abs(correlation(words[lag:], words[:-lag])) > deviation_limit(12) for lag in (1, 2, 3, 4, 8, 16, 64, 256)]
    octets = philox.draw(1, 0, 2**18).view(np.uint8).reshape(-1, 4)
    found += [chances(np.bincount(octets[:, place], minlength=256)) < LEVEL / 4 for place in range(4)]
    assert any(found)
