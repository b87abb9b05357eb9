"""Large data and the library in few bytes: deflated, and unpacked by the browser."""

import array
import base64
import sys
import zlib

MANY_CELLS = 1_200_000  # with more on a page, a cell is one byte instead of two
FAST = 1  # level of zlib; for figures with noise, others are hardly smaller


def packed(contents, level=6):
    """`level` is that of zlib."""
    return base64.b64encode(zlib.compress(contents, level)).decode()


def packed_rates(rates, many):
    """{data, step, bytes}: a cell is 0 without a figure, else 1 + round(rate / step)."""
    width, most = (1, 0xFE) if many else (2, 0xFFFE)
    step = max((rate for rate in rates if rate == rate), default=0.0) / most or 1.0
    cells = array.array("B" if many else "H", [round(rate / step) + 1 if rate == rate else 0 for rate in rates])
    if sys.byteorder == "big":
        cells.byteswap()
    return {"data": packed(cells.tobytes(), FAST), "step": step, "bytes": width}
