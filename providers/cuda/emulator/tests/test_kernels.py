"""Kernels as people write them, against NumPy. Each makes its operands itself: given(i) is a number below 1009."""

from __future__ import annotations

import math

import numpy as np
import pytest

GIVEN = "__device__ __forceinline__ int given(int i) { return i * 7919 % 1009; }\n"
HEAD = "__global__ void entry(int *out) { int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t; "


def given(*shape):
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape) * 7919 % 1009


def bits(values, dtype=np.float32):
    return np.asarray(values, dtype).view(np.int32).ravel()


def collatz():
    counts = np.zeros(512, np.int64)
    values = given(512) + 1
    while (values > 1).any():
        counts += values > 1
        values = np.where(values > 1, np.where(values % 2, 3 * values + 1, values // 2), 1)
    return counts


def mandelbrot():
    y, x = np.indices((32, 32)).astype(np.float32)
    c = (x / np.float32(16) - np.float32(1.5)), (y / np.float32(16) - np.float32(1))
    real, imaginary, counts = np.zeros_like(x), np.zeros_like(x), np.zeros((32, 32), np.int64)
    for _ in range(50):
        is_inside = real * real + imaginary * imaginary <= 4
        counts += is_inside
        step = real * real - imaginary * imaginary + c[0], np.float32(2) * real * imaginary + c[1]
        real, imaginary = np.where(is_inside, step, (real, imaginary))
    return counts.ravel()


def life():
    board = given(16, 16) % 2
    around = sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - board
    return ((around == 3) | ((around == 2) & (board == 1))).astype(int).ravel()


def xorshift():
    state = np.arange(1, 257, dtype=np.uint32)
    for _ in range(20):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
    return state.view(np.int32)


def expected_softmax():
    values = given(4, 128).astype(np.float64) / 100
    weights = np.exp(values - values.max(1, keepdims=True))
    return (weights / weights.sum(1, keepdims=True)).ravel()


def products_of_bytes():
    v, w = (given(265)[:256] * 65793).astype("<i4"), (given(265)[9:] * 257).astype("<i4")
    sums = (v.view(np.int8).astype(int) * w.view(np.int8)).reshape(256, 4).sum(1) + np.arange(256)
    both = np.stack((v, w), 1).view(np.uint8)
    return sums + both[:, [5, 7, 1, 3]].copy().view("<i4").ravel()


def product_in_double():
    sums = np.zeros(64)
    for n in range(32):  # exact products, so that a fused sum is a sum of them that is rounded once
        sums = np.array(
            [
                math.fsum((total, *split(value, n / 7.0)))
                for total, value in zip(sums, given(64, 32)[:, n].tolist(), strict=True)
            ]
        )
    return bits(sums, np.float64)


def split(value, factor):
    """Return two numbers whose sum is the product exactly: the factor's high and low half, times an integer of ten bits."""
    high = np.float64(np.float32(factor))
    return float(value * high), float(value * (factor - high))


# Of each its body behind HEAD, how many blocks and threads, and what it writes.
KERNELS = {
    "axpy": (
        "((float *)out)[i] = __fadd_rn(__fmul_rn(0.5f, given(i)), 3.0f); }",
        (4, 128),
        bits(np.float32(0.5) * given(512) + 3),
    ),
    "reverse": ("__shared__ int a[256]; a[t] = given(i); __syncthreads(); out[i] = a[255 - t]; }", (2, 256), given(2, 256)[:, ::-1]),
    "transpose": (
        """__shared__ int tile[16][17]; int x = t % 16, y = t / 16, column = b % 4, row = b / 4;
        tile[y][x] = given((row * 16 + y) * 64 + column * 16 + x); __syncthreads();
        out[(column * 16 + y) * 64 + row * 16 + x] = tile[x][y]; }""",
        (16, 256),
        given(64, 64).T,
    ),
    "sum by a tree": (
        """__shared__ int a[256]; a[t] = given(i); __syncthreads();
        for (int n = 128; n; n /= 2) { if (t < n) a[t] += a[t + n]; __syncthreads(); } if (!t) out[b] = a[0]; }""",
        (8, 256),
        given(8, 256).sum(1),
    ),
    "sum by shuffles": (
        "int v = given(i); for (int n = 16; n; n /= 2) v += __shfl_xor_sync(~0u, v, n); out[i] = v; }",
        (2, 64),
        given(4, 32).sum(1).repeat(32),
    ),
    "dot": ("atomicAdd(out, given(i) * given(i + 5)); }", (8, 128), [(given(1029)[:1024] * given(1029)[5:]).sum()]),
    "histogram": (
        """__shared__ int bins[32]; if (t < 32) bins[t] = 0; __syncthreads(); atomicAdd(bins + given(i) % 32, 1);
        __syncthreads(); if (t < 32) atomicAdd(out + t, bins[t]); }""",
        (4, 256),
        np.bincount(given(1024) % 32, minlength=32),
    ),
    "scan": (
        """__shared__ int a[2][256]; int now = 0; a[0][t] = given(i); __syncthreads();
        for (int n = 1; n < 256; n *= 2) { a[1 - now][t] = a[now][t] + (t >= n ? a[now][t - n] : 0); now = 1 - now; __syncthreads(); }
        out[i] = a[now][t]; }""",
        (3, 256),
        given(3, 256).cumsum(1),
    ),
    "matrix product": (
        """__shared__ int p[16][16], q[16][16]; int x = t % 16, y = t / 16, row = b / 3 * 16 + y, column = b % 3 * 16 + x, sum = 0;
        for (int k = 0; k < 48; k += 16) { p[y][x] = given(row * 48 + k + x); q[y][x] = given((k + y) * 48 + column); __syncthreads();
        for (int n = 0; n < 16; ++n) sum += p[y][n] * q[n][x]; __syncthreads(); } out[row * 48 + column] = sum; }""",
        (9, 256),
        given(48, 48) @ given(48, 48),
    ),
    "stencil": (
        """__shared__ int a[130]; a[t + 1] = given(i); if (!t) { a[0] = given(i - 1 + !i); a[129] = given(i + 128); } __syncthreads();
        out[i] = a[t] - 2 * a[t + 1] + a[t + 2]; }""",
        (4, 128),
        np.diff(np.concatenate((given(1), given(513))), 2),
    ),
    "bitonic sort": (
        """__shared__ int a[256]; a[t] = given(i); for (int k = 2; k <= 256; k *= 2) for (int j = k / 2; j; j /= 2) { __syncthreads();
        int o = t ^ j; if (o > t && (a[t] > a[o]) == !(t & k)) { int v = a[t]; a[t] = a[o]; a[o] = v; } } __syncthreads(); out[i] = a[t]; }""",
        (2, 256),
        np.sort(given(2, 256), 1),
    ),
    "argmax": (
        """int v = given(i), n = t; for (int k = 16; k; k /= 2) { int w = __shfl_down_sync(~0u, v, k), m = __shfl_down_sync(~0u, n, k);
        if (w > v || (w == v && m < n)) { v = w; n = m; } } if (!t) out[b] = n; }""",
        (16, 32),
        given(16, 32).argmax(1),
    ),
    "compaction": (
        """int v = given(i); unsigned kept = __ballot_sync(~0u, v % 3 == 0);
        if (v % 3 == 0) out[b * 32 + __popc(kept & ((1u << t) - 1))] = v; }""",
        (8, 32),
        [[*row[row % 3 == 0], *[0] * (row % 3 > 0).sum()] for row in given(8, 32)],
    ),
    "Collatz": ("int v = given(i) + 1, n = 0; while (v > 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++n; } out[i] = n; }", (4, 128), collatz()),
    "greatest common divisors": (
        "unsigned v = given(i), w = i; while (w) { unsigned r = v % w; v = w; w = r; } out[i] = v; }",
        (4, 128),
        np.gcd(given(512), np.arange(512)),
    ),
    "Mandelbrot": (
        """float x = 0, y = 0, p = __fsub_rn(__fdiv_rn(t, 16), 1.5f), q = __fsub_rn(__fdiv_rn(b, 16), 1); int n = 0;
        for (int k = 0; k < 50; ++k) { float u = __fmul_rn(x, x), v = __fmul_rn(y, y); if (!(__fadd_rn(u, v) <= 4)) break; ++n;
        y = __fadd_rn(__fmul_rn(__fmul_rn(2, x), y), q); x = __fadd_rn(__fsub_rn(u, v), p); } out[i] = n; }""",
        (32, 32),
        mandelbrot(),
    ),
    "life": (
        """__shared__ int a[16][16]; int x = t % 16, y = t / 16, n = 0; a[y][x] = given(t) % 2; __syncthreads();
        for (int v = 15; v <= 17; ++v) for (int u = 15; u <= 17; ++u) n += a[(y + v) % 16][(x + u) % 16];
        n -= a[y][x]; out[t] = n == 3 || (n == 2 && a[y][x]); }""",
        (1, 256),
        life(),
    ),
    "xorshift": (
        "unsigned s = i + 1; for (int n = 0; n < 20; ++n) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; } out[i] = s; }",
        (2, 128),
        xorshift(),
    ),
    "products of bytes": (
        "int v = given(i) * 65793, w = given(i + 9) * 257; out[i] = __dp4a(v, w, i) + __byte_perm(v, w, 0x3175); }",
        (2, 128),
        products_of_bytes(),
    ),
    "a matrix by a vector in double": (
        "double s = 0; for (int n = 0; n < 32; ++n) s = fma((double)given(i * 32 + n), n / 7.0, s); ((double *)out)[i] = s; }",
        (1, 64),
        product_in_double(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(kernels, name):
    body, (grid, threads), wanted = KERNELS[name]
    wanted = np.asarray(wanted).ravel()
    made = kernels.run(GIVEN + HEAD + body, threads, wanted.size, grid)
    assert np.array_equal(made, wanted.astype(np.int64).astype(np.int32))


def test_softmax(kernels):
    """Rough exponentials, so that it is near and no more: 2 ulp of ex2.approx for a number of this size, and sums of 128."""
    body = """__shared__ float a[128]; float v = given(i) / 100.0f; a[t] = v; __syncthreads();
    for (int n = 64; n; n /= 2) { if (t < n) a[t] = fmaxf(a[t], a[t + n]); __syncthreads(); }
    float most = a[0]; __syncthreads(); float e = __expf(v - most); a[t] = e; __syncthreads();
    for (int n = 64; n; n /= 2) { if (t < n) a[t] += a[t + n]; __syncthreads(); } ((float *)out)[i] = __fdividef(e, a[0]); }"""
    made = kernels.run(GIVEN + HEAD + body, 128, 512, 4).view(np.float32)
    assert np.allclose(made, expected_softmax(), rtol=2e-6, atol=1e-12)
