"""GB/s as colours. The scale is absolute: its ends are bandwidths, shown in a legend."""

import math
from dataclasses import dataclass

# viridis (https://bids.github.io/colormap/): distinguishable for the colour-blind and in grey; dark is slow.
STOPS = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")
STEPS = 40


@dataclass(frozen=True)
class Scale:
    low: float  # GB/s; lower bandwidths have its colour
    high: float

    def share(self, rate):
        return min(1.0, max(0.0, (rate - self.low) / (self.high - self.low)))

    def colour(self, rate):
        return colour_of(round(self.share(rate) * STEPS) / STEPS)

    def ink(self, rate):
        """A readable text colour on that colour."""
        return "#ffffff" if self.share(rate) < 0.55 else "#1b1b1b"

    def ticks(self, most=6):
        return round_numbers(self.low, self.high, most)


def colour_of(share):
    """`#rrggbb`, `share` from 0, slow, to 1."""
    at = share * (len(STOPS) - 1)
    below = min(int(at), len(STOPS) - 2)
    first, second = (bytes.fromhex(stop) for stop in STOPS[below : below + 2])
    mixed = (round(a + (b - a) * (at - below)) for a, b in zip(first, second))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def make_scale(rates):
    """From half the median, or a fifth below it if nothing is slower, to the fastest: a host that is 10 % slow is two
    of ten steps away from its neighbours, however slow the worst pair is."""
    ordered = sorted(rates)
    if not ordered or ordered[-1] <= 0:
        return Scale(0.0, 1.0)
    median = ordered[len(ordered) // 2]
    least = max(0.5 * median, min(ordered[0], 0.8 * median))
    most = max(ordered[min(len(ordered) - 1, math.ceil(0.995 * len(ordered)))], 1.02 * median)
    step = step_of(least, most, 10)
    return Scale(math.floor(least / step + 1e-9) * step, math.ceil(most / step - 1e-9) * step)


def step_of(low, high, most):
    """The smallest step of 1, 2, 2.5 or 5 times a power of ten that fits at most `most` times."""
    rough = (high - low) / most
    power = 10 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))


def round_numbers(low, high, most):
    """Multiples of a round step, from low to high."""
    step = step_of(low, high, most)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
