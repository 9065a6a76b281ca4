"""How much memory the machine has free, asked the way each system answers.

Linux has /proc/meminfo and the limits of control groups, macOS `vm_stat`, Windows a function of its
kernel. Where none of them answers, half of the physical memory counts as free.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
VM_STAT_SECONDS = 5


def available_memory() -> int | None:
    """Bytes that this process may still take, or None if the system does not say."""
    known = [n for n in (_system_memory(), _cgroup_memory()) if n is not None]
    return min(known) if known else None


def _system_memory() -> int | None:
    if MEMINFO.exists():
        return _meminfo_memory(MEMINFO.read_text())
    if sys.platform == "darwin":
        return _vm_stat_memory() or _half_of_memory()
    if sys.platform == "win32":
        return _windows_memory()
    return _half_of_memory()


def _meminfo_memory(text: str) -> int | None:
    found = re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else _half_of_memory()


def _vm_stat_memory() -> int | None:
    """What `vm_stat` of macOS says is free, or can be freed without writing anything."""
    try:
        done = subprocess.run(
            ["vm_stat"], capture_output=True, text=True, timeout=VM_STAT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return read_vm_stat(done.stdout)


def read_vm_stat(text: str) -> int | None:
    """The free bytes in the output of `vm_stat`.

    >>> read_vm_stat("(page size of 4096 bytes)\\nPages free: 10.\\nPages inactive: 5.\\n")
    61440
    """
    size = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s*(\d+)", text, re.M)
    return int(size[1]) * sum(map(int, pages)) if size and pages else None


def _windows_memory() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("physical", "free", *"abcde")),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - only Windows has it
    return status.free if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _half_of_memory() -> int | None:
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _cgroup_memory() -> int | None:
    """What is left of the limit of this control group, if it has one."""
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = (CGROUP / "memory.current").read_text().strip()
        return None if limit == "max" else int(limit) - int(used)
    except (OSError, ValueError):
        return None
