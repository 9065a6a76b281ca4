"""Bit tricks that kernels share: counting, prefetching; parallel extract and deposit, each twice.

    extract(word, mask)   gathers the bits of `word` under `mask` at the low end
    deposit(word, mask)   scatters the low bits of `word` to the places of `mask`

    mask     0 1 1 0 1 0 0 1        deposit(extract(w, m), m) == w & m
    word     a b c d e f g h
    extract  0 0 0 0 b c e h

x86 CPUs with BMI2 do either in one instruction (PEXT, PDEP), reached through
LLVM's intrinsics. The portable twins move the bits in six rounds of halving
steps (Warren, Hacker's Delight, 2nd ed., sections 7-4 and 7-5).

Kernels choose by *type*: their first argument is a `Native` or a `Portable`,
so numba compiles and caches a version for each and neither pays for the
choice. `RETRO_BITS=portable` in the environment forces the portable one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from retro.errors import BadTextError
from retro.jit import inner

if TYPE_CHECKING:
    from collections.abc import Callable

    Kernel = Callable[..., object]

ENVIRONMENT_VARIABLE = "RETRO_BITS"
U0, U1 = np.uint64(0), np.uint64(1)


class Native(NamedTuple):
    """Use PEXT and PDEP. Has a field only because an empty tuple has no type of its own."""

    tag: bool = True


class Portable(NamedTuple):
    """Use shifts and masks only."""

    tag: bool = True


BitInstructions = Native | Portable
Word = int | np.uint64


def has_bmi2() -> bool:
    """Whether this CPU has PEXT and PDEP."""
    return bool(binding.get_host_cpu_features().get("bmi2", False))


def bit_instructions() -> BitInstructions:
    """What the environment asks for, or else the best this CPU can do."""
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "auto")
    if wanted not in ("auto", "native", "portable"):
        raise BadTextError(
            f"found {ENVIRONMENT_VARIABLE}={wanted}, wanted auto, native or portable"
        )
    if wanted == "native" and not has_bmi2():
        raise BadTextError(f"{ENVIRONMENT_VARIABLE}=native, but this CPU has no PEXT and PDEP")
    return Native() if wanted != "portable" and has_bmi2() else Portable()


def _declare(name: str) -> Kernel:
    """A numba function of two words that compiles to one LLVM intrinsic."""

    @intrinsic
    def instruction(typingctx, word, mask):
        def codegen(context, builder, signature, args):
            word_type = ir.IntType(64)
            function_type = ir.FunctionType(word_type, [word_type, word_type])
            function = builder.module.globals.get(name)
            if function is None:
                function = ir.Function(builder.module, function_type, name)
            return builder.call(function, args)

        return types.uint64(types.uint64, types.uint64), codegen

    return instruction


_pext = _declare("llvm.x86.bmi.pext.64")
_pdep = _declare("llvm.x86.bmi.pdep.64")


@inner
def _round(mask, holes, step):
    """One halving step: which bits move down by 2**step, and mask and holes after it."""
    parity = holes  # will be: bit i is the parity of holes 0..i
    for i in range(6):
        parity ^= parity << np.uint64(1 << i)
    move = parity & mask
    return move, (mask ^ move) | (move >> np.uint64(1 << step)), holes & ~parity


@inner
def _moves(mask):
    """The bits that move in each of the six rounds."""
    holes = ~mask << np.uint64(1)
    m0, mask, holes = _round(mask, holes, 0)
    m1, mask, holes = _round(mask, holes, 1)
    m2, mask, holes = _round(mask, holes, 2)
    m3, mask, holes = _round(mask, holes, 3)
    m4, mask, holes = _round(mask, holes, 4)
    m5, mask, holes = _round(mask, holes, 5)
    return m0, m1, m2, m3, m4, m5


@inner
def portable_extract(word, mask):
    """Gather the bits of `word` under `mask` at the low end."""
    moves = _moves(mask)
    word &= mask
    for i in range(6):
        moved = word & moves[i]
        word = (word ^ moved) | (moved >> np.uint64(1 << i))
    return word


@inner
def portable_deposit(word, mask):
    """Scatter the low bits of `word` to the places of `mask`."""
    moves = _moves(mask)
    for i in range(5, -1, -1):
        shifted = word << np.uint64(1 << i)
        word = (word & ~moves[i]) | (shifted & moves[i])
    return word & mask


def extract(bits: BitInstructions, word: Word, mask: Word) -> np.uint64:
    """Gather the bits of `word` under `mask` at the low end. Plain twin; kernels get the fast one.

    >>> bin(extract(Portable(), 0b00100001, 0b01101001))
    '0b101'
    """
    places = [i for i in range(64) if int(mask) >> i & 1]
    return np.uint64(sum((int(word) >> place & 1) << i for i, place in enumerate(places)))


def deposit(bits: BitInstructions, word: Word, mask: Word) -> np.uint64:
    """Scatter the low bits of `word` to the places of `mask`. Plain twin of the fast one.

    >>> bin(deposit(Portable(), 0b0111, 0b01101001))
    '0b101001'
    """
    places = [i for i in range(64) if int(mask) >> i & 1]
    return np.uint64(sum((int(word) >> i & 1) << place for i, place in enumerate(places)))


def _chosen(bits: types.NamedTuple, native: Kernel, portable: Kernel) -> Kernel:
    if bits.instance_class is Native:
        return native
    if bits.instance_class is Portable:
        return portable
    raise TypingError(f"wanted Native or Portable, found {bits}")


@overload(extract, jit_options={"nogil": True})
def _extract(bits, word, mask):
    def native(bits, word, mask):
        return _pext(word, mask)

    def portable(bits, word, mask):
        return portable_extract(word, mask)

    return _chosen(bits, native, portable)


@overload(deposit, jit_options={"nogil": True})
def _deposit(bits, word, mask):
    def native(bits, word, mask):
        return _pdep(word, mask)

    def portable(bits, word, mask):
        return portable_deposit(word, mask)

    return _chosen(bits, native, portable)


@inner
def popcount(word):
    """Number of set bits; compiles to one instruction where the CPU has it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@intrinsic
def prefetch(typingctx, array, index):
    """Ask the CPU to bring ``array[index]`` into its caches; has no other effect."""

    def codegen(context, builder, signature, args):
        array_type, _ = signature.args
        view = context.make_array(array_type)(context, builder, args[0])
        address = cgutils.get_item_pointer(
            context, builder, array_type, view, [args[1]], wraparound=False
        )
        address = builder.bitcast(address, ir.PointerType(ir.IntType(8)))
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(flag, n) for n in (0, 3, 1))
        builder.call(function, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen
