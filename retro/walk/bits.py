"""Parallel bit extract and deposit, twice: one instruction, and portable.

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
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from retro.errors import BadTextError

ENVIRONMENT_VARIABLE = "RETRO_BITS"


class Native(NamedTuple):
    """Use PEXT and PDEP. Has a field only because an empty tuple has no type of its own."""

    tag: bool = True


class Portable(NamedTuple):
    """Use shifts and masks only."""

    tag: bool = True


BitInstructions = Native | Portable


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


def _declare(name: str) -> Any:
    """A numba function of two words that compiles to one LLVM intrinsic."""

    @intrinsic
    def instruction(typingctx, word, mask):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def portable_extract(word, mask):
    """Gather the bits of `word` under `mask` at the low end."""
    word &= mask
    holes = ~mask << np.uint64(1)
    for i in range(6):
        parity = _running_parity(holes)
        move = parity & mask
        shift = np.uint64(1 << i)
        mask = (mask ^ move) | (move >> shift)
        moved = word & move
        word = (word ^ moved) | (moved >> shift)
        holes &= ~parity
    return word


@njit(cache=True, nogil=True)
def portable_deposit(word, mask):
    """Scatter the low bits of `word` to the places of `mask`."""
    original = mask
    moves = np.empty(6, np.uint64)
    holes = ~mask << np.uint64(1)
    for i in range(6):
        parity = _running_parity(holes)
        move = parity & mask
        mask = (mask ^ move) | (move >> np.uint64(1 << i))
        moves[i] = move
        holes &= ~parity
    for i in range(5, -1, -1):
        shifted = word << np.uint64(1 << i)
        word = (word & ~moves[i]) | (shifted & moves[i])
    return word & original


@njit(cache=True, nogil=True)
def _running_parity(word):
    """Bit i of the result is the parity of bits 0..i."""
    for i in range(6):
        word ^= word << np.uint64(1 << i)
    return word


def extract(bits: BitInstructions, word: Any, mask: Any) -> Any:
    """Gather the bits of `word` under `mask` at the low end. Plain twin; kernels get the fast one.

    >>> extract(Portable(), 0b10110101, 0b01101001)
    7
    """
    places = [i for i in range(64) if int(mask) >> i & 1]
    return np.uint64(sum((int(word) >> place & 1) << i for i, place in enumerate(places)))


def deposit(bits: BitInstructions, word: Any, mask: Any) -> Any:
    """Scatter the low bits of `word` to the places of `mask`. Plain twin of the fast one.

    >>> bin(deposit(Portable(), 0b0111, 0b01101001))
    '0b101001'
    """
    places = [i for i in range(64) if int(mask) >> i & 1]
    return np.uint64(sum((int(word) >> i & 1) << place for i, place in enumerate(places)))


def _chosen(bits: Any, native: Any, portable: Any) -> Any:
    if bits.instance_class is Native:
        return native
    if bits.instance_class is Portable:
        return portable
    raise TypingError(f"wanted Native or Portable, found {bits}")


@overload(extract, jit_options={"nogil": True})
def _extract(bits, word, mask):  # type: ignore[no-untyped-def]
    def native(bits, word, mask):  # type: ignore[no-untyped-def]
        return _pext(word, mask)

    def portable(bits, word, mask):  # type: ignore[no-untyped-def]
        return portable_extract(word, mask)

    return _chosen(bits, native, portable)


@overload(deposit, jit_options={"nogil": True})
def _deposit(bits, word, mask):  # type: ignore[no-untyped-def]
    def native(bits, word, mask):  # type: ignore[no-untyped-def]
        return _pdep(word, mask)

    def portable(bits, word, mask):  # type: ignore[no-untyped-def]
        return portable_deposit(word, mask)

    return _chosen(bits, native, portable)
