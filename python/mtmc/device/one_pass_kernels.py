"""The kernels of one_pass.py, apart because importing them needs Triton.

Counts and sums leave a program as a row of doubles: a count below 2^53 is exact in one. Few variants are compiled, each takes half
of a second: numbers are not specialised, and rows are cut in one of three ways.
"""

from __future__ import annotations

import triton
import triton.language as tl

INFINITE = tl.constexpr(float("inf"))


@triton.jit(do_not_specialize=["count"])
def _mix(words, sums, count, place, first, second, third, block: tl.constexpr):
    """See `mtmc.device.digest.Mixer`: both sums of one block are added to `sums`."""
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    mixed = ((at + 1) * place) ^ tl.load(words + at, mask=inside, other=0)
    mixed = (mixed ^ (mixed >> 31)) * first
    mixed = mixed ^ (mixed >> 29)
    tl.atomic_add(sums, tl.sum(tl.where(inside, mixed * second, 0)))
    mixed = (mixed ^ (mixed >> 32)) * third
    tl.atomic_add(sums + 1, tl.sum(tl.where(inside, mixed, 0)))


@triton.jit(do_not_specialize=["count", "inner", "size"])
def _differ(
    c, e, known, found, count, inner, size, official, legacy,
    pattern: tl.constexpr, bits: tl.constexpr, narrow: tl.constexpr, block: tl.constexpr, step: tl.constexpr,
):  # fmt: skip
    """Of `block` elements of a candidate's c and eager's e, in order: the largest |c - e|, the sum of its squares, the largest
    |e|, how many are beyond the official and the legacy tolerance, then how often a bit differs, c holds the pattern of
    fresh memory and e does not, and one of them is not finite. Samples (at // inner % size) that are `known` count for the
    last three and the largest |e| only."""
    start = tl.program_id(0).to(tl.int64) * block
    largest, top = tl.zeros((step,), tl.float32), tl.zeros((step,), tl.float32)
    squares = tl.zeros((step,), tl.float64)
    bad, worse = tl.zeros((step,), tl.int32), tl.zeros((step,), tl.int32)
    other, fresh, strange = tl.zeros((step,), tl.int32), tl.zeros((step,), tl.int32), tl.zeros((step,), tl.int32)
    for begin in range(0, block, step):
        at = start + begin + tl.arange(0, step)
        inside = at < count
        mine, theirs = tl.load(c + at, mask=inside, other=0.0), tl.load(e + at, mask=inside, other=0.0)
        my_bits, their_bits = mine.to(bits, bitcast=True), theirs.to(bits, bitcast=True)
        other += (my_bits != their_bits).to(tl.int32)
        fresh += ((my_bits == pattern) & (their_bits != pattern)).to(tl.int32)
        x, y = mine.to(tl.float32), theirs.to(tl.float32)
        place = at.to(tl.int32) if narrow else at  # a division of wide integers takes longer than all else
        compared = inside & (tl.load(known + place // inner % size, mask=inside, other=1) == 0)
        off = tl.where(compared, tl.abs(x - y), 0.0)
        scale = tl.abs(y)
        strange += ((off < INFINITE) & (scale < INFINITE)).to(tl.int32) ^ 1
        largest, top = tl.maximum(largest, off), tl.maximum(top, scale)
        squares += off.to(tl.float64) * off.to(tl.float64)
        bad += (off > scale * official + official).to(tl.int32)
        worse += (off > scale * legacy + legacy).to(tl.int32)
    row = found + tl.program_id(0).to(tl.int64) * 8
    tl.store(row, tl.max(largest, 0).to(tl.float64))
    tl.store(row + 1, tl.sum(squares, 0))
    tl.store(row + 2, tl.max(top, 0).to(tl.float64))
    tl.store(row + 3, tl.sum(bad, 0).to(tl.float64))
    tl.store(row + 4, tl.sum(worse, 0).to(tl.float64))
    tl.store(row + 5, tl.sum(other, 0).to(tl.float64))
    tl.store(row + 6, tl.sum(fresh, 0).to(tl.float64))
    tl.store(row + 7, tl.sum(strange, 0).to(tl.float64))


@triton.jit(do_not_specialize=["rows", "width", "count", "least"])
def _measure(
    c, e, t, limits, found, rows, width, count, least,
    pattern: tl.constexpr, bits: tl.constexpr, tall: tl.constexpr, wide: tl.constexpr,
):  # fmt: skip
    """Of some rows of a candidate's c, eager's e and the truth t (in double), `count` elements in all. `limits`, in double: the
    least element that tells, the least row, the official and the legacy tolerance. Adds up, see tails.py: the squares of c - t
    and of t; the largest of both; how many elements are not too small to tell, how many rows that hold `least` of those; how many rows
    err by at least 4^-8 of themselves. From column 8 on how many elements that tell err by at least 4^-i of themselves (9), how many of
    all by 4^-8, whose bits differ, that hold the pattern of fresh memory where e does not, that are not finite, that are beyond the
    tolerances; from column 24 on how many rows that tell err by 4^-i. A sum over a tile holds five counts, of twelve bits each."""
    floor, row_floor = tl.load(limits), tl.load(limits + 1)
    official, legacy = tl.load(limits + 2), tl.load(limits + 3)
    zero = tl.full([], 0.0, tl.float64)
    error, truth, far, top, tell, rows_tell, rows_touched = zero, zero, zero, zero, zero, zero, zero
    field = tl.arange(0, 16)
    share = tl.exp2(-2.0 * field.to(tl.float32)).to(tl.float64)  # 4^-i
    shift = (12 * (field % 5)).to(tl.int64)
    counts, rows_counts = tl.zeros((16,), tl.int64), tl.zeros((16,), tl.int64)
    lines, columns = tl.arange(0, tall), tl.arange(0, wide)
    for group in range(tl.program_id(0), tl.cdiv(rows, tall), tl.num_programs(0)):
        line = group * tall + lines.to(tl.int64)
        row_error, row_truth = tl.zeros((tall,), tl.float64), tl.zeros((tall,), tl.float64)
        row_tells = tl.zeros((tall,), tl.int32)
        for begin in range(0, width, wide):
            column = begin + columns
            at = line[:, None] * width + column[None, :]
            inside = (line < rows)[:, None] & (column < width)[None, :] & (at < count)
            mine, theirs = tl.load(c + at, mask=inside, other=0.0), tl.load(e + at, mask=inside, other=0.0)
            right = tl.load(t + at, mask=inside, other=0.0)
            my_bits, their_bits = mine.to(bits, bitcast=True), theirs.to(bits, bitcast=True)
            x, y = mine.to(tl.float64), theirs.to(tl.float64)
            off, size, scale, apart = tl.abs(x - right), tl.abs(right), tl.abs(y), tl.abs(x - y)
            finite = (off < INFINITE) & (size < INFINITE) & (scale < INFINITE)
            tells = size > floor
            touches = inside & (off >= tl.maximum(size, floor) * 1.52587890625e-05)
            row_error += tl.sum(off * off, 1)
            row_truth += tl.sum(size * size, 1)
            row_tells += tl.sum(tells.to(tl.int32), 1)
            far, top = tl.maximum(far, tl.max(off)), tl.maximum(top, tl.max(size))
            first, second, third = my_bits.to(tl.int64) * 0, my_bits.to(tl.int64) * 0, my_bits.to(tl.int64) * 0
            for i in tl.static_range(5):
                first += (tells & (off >= size * 0.25**i)).to(tl.int64) << (12 * i)
            for i in tl.static_range(4):
                second += (tells & (off >= size * 0.25 ** (i + 5))).to(tl.int64) << (12 * i)
            second += touches.to(tl.int64) << 48
            third += (my_bits != their_bits).to(tl.int64)
            third += ((my_bits == pattern) & (their_bits != pattern)).to(tl.int64) << 12
            third += (finite.to(tl.int64) ^ 1) << 24
            third += (apart > scale * official + official).to(tl.int64) << 36
            third += (apart > scale * legacy + legacy).to(tl.int64) << 48
            of_tile = tl.where(field < 5, tl.sum(first), tl.where(field < 10, tl.sum(second), tl.sum(third)))
            counts += (of_tile >> shift) & 4095
        error += tl.sum(row_error)
        truth += tl.sum(row_truth)
        tell += tl.sum(row_tells).to(tl.float64)
        row_off, row_size = tl.sqrt(row_error), tl.where(row_tells >= least, tl.sqrt(row_truth), 0.0)
        row_told = row_size > row_floor
        rows_tell += tl.sum(row_told.to(tl.int32)).to(tl.float64)
        row_touches = (line < rows) & (row_off >= tl.maximum(row_size, row_floor) * 1.52587890625e-05)
        rows_touched += tl.sum(row_touches.to(tl.int32)).to(tl.float64)
        told = row_told[:, None] & (row_off[:, None] >= row_size[:, None] * share[None, :])
        rows_counts += tl.sum(told.to(tl.int32), 0).to(tl.int64)
    row = found + tl.program_id(0) * 40
    tl.store(row, error)
    tl.store(row + 1, truth)
    tl.store(row + 2, far)
    tl.store(row + 3, top)
    tl.store(row + 4, tell)
    tl.store(row + 5, rows_tell)
    tl.store(row + 6, rows_touched)
    tl.store(row + 8 + field, counts.to(tl.float64))
    tl.store(row + 24 + field, rows_counts.to(tl.float64))
