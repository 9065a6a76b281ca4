"""Bit tricks that kernels share: counting, prefetching; parallel extract and deposit, each twice.

    extract(word, mask)   gathers the bits of `word` under `mask` at the low end
    deposit(word, mask)   scatters the low bits of `word` to the places of `mask`

    mask     0 1 1 0 1 0 0 1        deposit(extract(w, m), m) == w & m
    word     a b c d e f g h
    extract  0 0 0 0 b c e h

x86 CPUs with BMI2 do either in one instruction (PEXT, PDEP), reached through LLVM's
intrinsics. The portable versions go byte by byte: a table has the answer for every pair of a byte
of the word and a byte of the mask (Zen 5, a word: 0.36 ns by PEXT, 3.0 ns by the table; in six
rounds of halving steps, Hacker's Delight 7-4, it took 53 ns).

Some CPUs know PEXT and run it in microcode (Zen 1 and 2), far slower than the tables. So it is
timed, once a process and for less than a millisecond, before it is used.

Kernels choose by *type*: their first argument is a `Native` or a `Portable`,
so numba compiles and caches a version for each and neither pays for the
choice. `RETRO_BITS=portable` in the environment forces the portable one.
"""

from __future__ import annotations

import ctypes
import os
import time
from functools import cache
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

    from numpy.typing import NDArray

    Kernel = Callable[..., object]

ENVIRONMENT_VARIABLE = "RETRO_BITS"
U0, U1 = np.uint64(0), np.uint64(1)
SLOW_NANOSECONDS = 10.0  # of a PEXT that is microcode
CHAINS, CHAIN_LENGTH = 5, 2_000
_CHAIN = """
declare i64 @llvm.x86.bmi.pext.64(i64, i64)
define i64 @chain(i64 %mask, i64 %times) {
begin:
  br label %step
step:
  %i = phi i64 [0, %begin], [%next, %step]
  %word = phi i64 [-1, %begin], [%other, %step]
  %found = call i64 @llvm.x86.bmi.pext.64(i64 %word, i64 %mask)
  %other = xor i64 %found, -1
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %times
  br i1 %more, label %step, label %end
end:
  ret i64 %other
}
"""


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


@cache
def pext_nanoseconds() -> float:
    """How long one PEXT of this CPU takes: about 1, or 20 to 100 where it is microcode."""
    machine = binding.Target.from_default_triple().create_target_machine(features="+bmi2")
    engine = binding.create_mcjit_compiler(binding.parse_assembly(_CHAIN), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    chain = kind(engine.get_function_address("chain"))
    times = []
    for _ in range(CHAINS):
        begun = time.perf_counter()
        chain(0x5555555555555555, CHAIN_LENGTH)
        times.append(time.perf_counter() - begun)
    return min(times) / CHAIN_LENGTH * 1e9


def is_pext_quick() -> bool:
    """Whether this CPU has PEXT and PDEP, and not in microcode."""
    return has_bmi2() and pext_nanoseconds() < SLOW_NANOSECONDS


def bit_instructions() -> BitInstructions:
    """What the environment asks for, or else the best this CPU can do."""
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "auto")
    if wanted not in ("auto", "native", "portable"):
        raise BadTextError(
            f"found {ENVIRONMENT_VARIABLE}={wanted}, wanted auto, native or portable"
        )
    if wanted == "native" and not has_bmi2():
        raise BadTextError(f"{ENVIRONMENT_VARIABLE}=native, but this CPU has no PEXT and PDEP")
    if wanted == "native" or (wanted == "auto" and is_pext_quick()):
        return Native()
    return Portable()


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


def _byte_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Extract and deposit of every byte under every mask, at mask * 256 + byte; bits of a mask."""
    mask, byte = np.arange(256, dtype=np.uint8)[:, None], np.arange(256, dtype=np.uint8)[None, :]
    gathered, scattered = (np.zeros((256, 256), np.uint8) for _ in range(2))
    taken = np.zeros((256, 1), np.uint8)
    for place in range(8):
        bit = mask >> place & 1
        gathered |= (byte >> place & bit) << taken
        scattered |= (byte >> taken & bit) << place
        taken += bit
    return gathered.ravel(), scattered.ravel(), taken.ravel()


GATHERED, SCATTERED, TAKEN = _byte_tables()
BYTE, EIGHT = np.uint64(255), np.uint64(8)


@inner
def portable_extract(word, mask):
    """Gather the bits of `word` under `mask` at the low end."""
    found, taken = U0, U0
    for i in range(8):
        place = np.uint64(8 * i)
        under = (mask >> place) & BYTE
        found |= np.uint64(GATHERED[(under << EIGHT) | ((word >> place) & BYTE)]) << taken
        taken += np.uint64(TAKEN[under])
    return found


@inner
def portable_deposit(word, mask):
    """Scatter the low bits of `word` to the places of `mask`."""
    found = U0
    for i in range(8):
        place = np.uint64(8 * i)
        under = (mask >> place) & BYTE
        found |= np.uint64(SCATTERED[(under << EIGHT) | (word & BYTE)]) << place
        word >>= np.uint64(TAKEN[under])
    return found


def extract(bits: BitInstructions, word: Word, mask: Word) -> np.uint64:
    """Gather the bits of `word` under `mask` at the low end. Plain; kernels get the fast one.

    >>> bin(extract(Portable(), 0b00100001, 0b01101001))
    '0b101'
    """
    places = [i for i in range(64) if int(mask) >> i & 1]
    return np.uint64(sum((int(word) >> place & 1) << i for i, place in enumerate(places)))


def deposit(bits: BitInstructions, word: Word, mask: Word) -> np.uint64:
    """Scatter the low bits of `word` to the places of `mask`. Plain; kernels get the fast one.

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
