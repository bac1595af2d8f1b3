"""Packed itemsets in their final order: by support, largest first, ties by size, then by codes.

Nothing is looked up at random: beside each itemset's number its key and its first word are moved. The key tells
support and size, so those of one key stand together after a sort by digits, and are then sorted by their words.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.packed_itemsets import WORD_BITS, PackedItemsets

DIGIT_BITS = 11
"""Numbers are sorted by digits of at most 11 bits: the places of 2,048 digits stay in the fastest cache."""

SMALL_DIGIT_BITS = 8
"""Digits of fewer numbers have at most 8 bits."""

MANY = 1024
"""From 1,024 numbers on, large digits pay."""

FEW = 48
"""Up to 48 are sorted by insertion."""


class Keyed(NamedTuple):
    """Itemsets by number, with their keys and their first words."""

    keys: Int64Array
    words: Int64Array
    numbers: Int64Array


@kernel
def write_keys(
    packed: PackedItemsets, supports: Int64Array, min_size: int, min_count: int, keyed: Keyed
) -> tuple[int, int, int]:
    """Write those itemsets that are large and frequent enough.

    A key is what an itemset lacks to the largest support, times one more than the longest size, plus its size.
    Returns how many there are, and largest and longest.
    """
    largest, longest = 0, 0
    for n in range(supports.size):
        largest = max(largest, supports[n])
        longest = max(longest, packed.sizes[n])
    number = 0
    for n in range(supports.size):
        keyed.keys[number] = (largest - supports[n]) * (longest + 1) + packed.sizes[n]
        keyed.words[number] = packed.words[packed.offsets[n]]
        keyed.numbers[number] = n
        number += packed.sizes[n] >= min_size and supports[n] >= min_count
    return number, largest, longest


@kernel
def sort_by_keys(keyed: Keyed, space: Keyed) -> bool:
    """Sort by keys, digit by digit; what ties stays as it was. Returns whether the result is in the space."""
    largest = np.int64(0)  # as a literal it would make the compiler write `bits_of` twice
    for key in keyed.keys:
        largest = max(largest, key)
    bits = bits_of(largest)
    passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    digit_bits = (bits + passes - 1) // passes
    largest_digit = (1 << digit_bits) - 1
    ends = np.empty(largest_digit + 2, np.int64)
    before, after = keyed, space
    for step in range(passes):
        shift = step * digit_bits
        count_digits(before.keys, shift, largest_digit, ends)
        for i in range(before.keys.size):
            digit = (before.keys[i] >> shift) & largest_digit
            place = ends[digit]
            after.keys[place] = before.keys[i]
            after.words[place] = before.words[i]
            after.numbers[place] = before.numbers[i]
            ends[digit] = place + 1
        before, after = after, before
    return passes % 2 == 1


@inner
def bits_of(number: int | np.int64) -> int:
    """How many bits a number has, at least one."""
    bits = 1
    while number >> bits > 0:
        bits += 1
    return bits


@inner
def count_digits(numbers: Int64Array, shift: int, largest_digit: int, ends: Int64Array) -> None:
    """Write, for each digit, how many numbers have a smaller one at this shift."""
    for digit in range(largest_digit + 2):
        ends[digit] = 0
    for number in numbers:
        ends[((number >> shift) & largest_digit) + 1] += 1
    for digit in range(largest_digit):
        ends[digit + 1] += ends[digit]


@kernel
def sort_equal_keys(keyed: Keyed, space: Keyed, packed: PackedItemsets, longest: int) -> None:
    """Sort those of each key by their first item, then their second, ...; keys are sorted already."""
    ends = np.empty((1 << DIGIT_BITS) + 1, np.int64)
    # As literals these would make the compiler write what they are handed to twice.
    begin, first_word = np.int64(0), np.int64(0)
    for end in range(1, keyed.keys.size + 1):
        if end < keyed.keys.size and keyed.keys[end] == keyed.keys[begin]:
            continue
        if end - begin > 1:
            size = keyed.keys[begin] % (longest + 1)
            sort_by_words(keyed, space, begin, end, word_bits(packed, size, first_word), ends)
            if size * packed.bits > WORD_BITS // packed.bits * packed.bits:
                sort_equal_words(keyed, space, packed, begin, end, size, ends)
        begin = np.int64(end)


@inner
def word_bits(packed: PackedItemsets, size: int, place: int | np.int64) -> int:
    """How many bits are used of a word of an itemset."""
    in_a_word = WORD_BITS // packed.bits
    return int(packed.bits * min(in_a_word, size - place * in_a_word))


@inner
def sort_equal_words(
    keyed: Keyed,
    space: Keyed,
    packed: PackedItemsets,
    begin: int | np.int64,
    end: int,
    size: int,
    ends: Int64Array,
) -> None:
    """Sort those of one size that share their first words by their other ones, from the last to the second."""
    first = begin
    for last in range(begin + 1, end + 1):
        if last < end and keyed.words[last] == keyed.words[first]:
            continue
        if last - first > 1:
            word = keyed.words[first]
            for place in range((size - 1) // (WORD_BITS // packed.bits), 0, -1):
                for i in range(first, last):
                    keyed.words[i] = packed.words[packed.offsets[keyed.numbers[i]] + place]
                sort_by_words(keyed, space, first, last, word_bits(packed, size, place), ends)
            for i in range(first, last):
                keyed.words[i] = word
        first = last


@inner
def sort_by_words(
    keyed: Keyed, space: Keyed, begin: int | np.int64, end: int, bits: int, ends: Int64Array
) -> None:
    """Sort some by their words of this many bits; what ties stays as it was."""
    words, numbers = keyed.words[begin:end], keyed.numbers[begin:end]
    if words.size <= FEW:
        insert_by_words(words, numbers)
        return
    most_bits = DIGIT_BITS if words.size >= MANY else SMALL_DIGIT_BITS
    passes = (bits + most_bits - 1) // most_bits
    digit_bits = (bits + passes - 1) // passes
    largest_digit = (1 << digit_bits) - 1
    moved_words, moved_numbers = space.words[begin:end], space.numbers[begin:end]
    for step in range(passes):
        shift = step * digit_bits
        count_digits(words, shift, largest_digit, ends)
        for i in range(words.size):
            digit = (words[i] >> shift) & largest_digit
            place = ends[digit]
            moved_words[place] = words[i]
            moved_numbers[place] = numbers[i]
            ends[digit] = place + 1
        words, moved_words = moved_words, words
        numbers, moved_numbers = moved_numbers, numbers
    if passes % 2 == 1:
        for i in range(words.size):  # a copy of slices would take two seconds more to compile
            moved_words[i] = words[i]
            moved_numbers[i] = numbers[i]


@inner
def insert_by_words(words: Int64Array, numbers: Int64Array) -> None:
    """Sort a few by their words."""
    for end in range(1, words.size):
        word, number = words[end], numbers[end]
        place = end
        while place > 0 and words[place - 1] > word:
            words[place], numbers[place] = words[place - 1], numbers[place - 1]
            place -= 1
        words[place], numbers[place] = word, number


@kernel
def read_keys(
    keys: Int64Array, largest: int, longest: int, offsets: Int64Array, supports: Int64Array
) -> None:
    """Write what keys tell: where the items of each itemset begin and the last one's end, and supports."""
    offsets[0] = 0
    for i in range(keys.size):
        lacks = keys[i] // (longest + 1)
        offsets[i + 1] = offsets[i] + keys[i] - lacks * (longest + 1)
        supports[i] = largest - lacks


@kernel
def take(
    offsets: Int64Array, items: Int32Array, chosen: Int64Array, chosen_offsets: Int64Array, taken: Int32Array
) -> None:
    """Write the items of the chosen itemsets: those of chosen[i] from chosen_offsets[i] on."""
    for i in range(chosen.size):
        start = offsets[chosen[i]]
        for place in range(chosen_offsets[i], chosen_offsets[i + 1]):
            taken[place] = items[start + place - chosen_offsets[i]]
