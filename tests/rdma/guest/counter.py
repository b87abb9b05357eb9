"""The processor's counter. A guest's kernel takes its rate from the guest's other clocks, and is several times wrong where
the machine has other things to do just then: all that the guest times would be."""

import ctypes
import functools
import mmap
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
READ = bytes.fromhex("0f31 48c1e220 4809d0 c3")
MEASURED_S = 0.1


def sight(read):
    """(nanoseconds, ticks) at one moment: of a hundred looks, that which was held up least."""
    looks = [(time.monotonic_ns(), read(), time.monotonic_ns()) for _ in range(100)]
    before, ticks, after = min(looks, key=lambda look: look[2] - look[0])
    return (before + after) / 2, ticks


@functools.cache  # of two guests it is the same
def rate_khz():
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as code:
        code.write(READ)
        place = ctypes.c_char.from_buffer(code)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))
        began, first = sight(read)
        time.sleep(MEASURED_S)
        ended, last = sight(read)
        del place  # or the memory could not be freed
    return round((last - first) / (ended - began) * 1e6)
