#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {

using Bytes = std::uint64_t;
using Seconds = double;

/// Reads a size as nccl-tests writes it: a number and at most one letter K, M, G or T in either case, in powers of
/// 1024, with or without B or iB behind it: `8`, `32M`, `1.5G`, `1MiB`. Throws UsageError for anything else, for
/// fractions of a byte and for sizes that do not fit in 63 bits.
[[nodiscard]] Bytes parse_bytes(std::string_view text);

/// The shortest form that `parse_bytes` reads back exactly: `0`, `12`, `64M`.
[[nodiscard]] std::string exact_bytes(Bytes size);

/// A size for messages, with at most one decimal: `12 B`, `1.5 MiB`.
[[nodiscard]] std::string readable_bytes(Bytes size);

/// A duration for messages, in a suitable unit: `850 ns`, `12.3 us`, `4.56 ms`, `7.89 s`.
[[nodiscard]] std::string readable_seconds(Seconds duration);

/// A duration that people wait for: `0.5 s`, `45 s`, `12 min`, `2.5 h`.
[[nodiscard]] std::string readable_duration(Seconds duration);

/// A number in `width` characters as nccl-tests prints it: up to two decimals as far as they fit, else an exponent.
[[nodiscard]] std::string fitted(double value, int width);

/// As `fitted`, with three significant digits for values below 1 where they fit.
[[nodiscard]] std::string readable(double value, int width);

/// Reads a whole number within [least, most]. Throws UsageError with `what` and the limits.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t least,
                                         std::int64_t most);

/// Reads a finite number within [least, most]. Throws UsageError with `what` and the limits.
[[nodiscard]] double parse_number(std::string_view text, std::string_view what, double least, double most);

/// The message sizes asked for, as nccl-tests' -b, -e, -i and -f describe them.
struct SizeRange {
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;
  Bytes step_bytes = 0;           ///< increment between sizes if `step_factor` is 1
  std::uint64_t step_factor = 1;  ///< factor between sizes if above 1
};

/// The sizes of a range, rounded down to whole elements of `element_bytes`, ascending and without duplicates.
struct SizeList {
  std::vector<Bytes> sizes;
  std::vector<Bytes> too_small;  ///< sizes above 0 that hold no element; not in `sizes`
};

/// Lists the sizes of a range. If there is more than one, the step must be above 0 or the factor above 1. With a
/// factor, one element follows size 0. Throws UsageError above 2^20 sizes, which must be a typing error.
[[nodiscard]] SizeList list_sizes(const SizeRange& sizes, Bytes element_bytes);

}  // namespace fabricbench
