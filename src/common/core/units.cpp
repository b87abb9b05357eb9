#include "common/core/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

constexpr std::string_view kSizeLetters = "KMGT";

[[noreturn]] void refuse_size(std::string_view text, std::string_view reason) {
  throw UsageError(fmt::format("'{}' is not a size{}; write a number with K, M, G or T, such as 8M", text, reason));
}

/// Reads the whole of `text` as a plain decimal number. Uses strtod, because g++ 10's from_chars has no floating point;
/// the characters are checked first, because strtod also reads blanks, hexadecimal, nan and inf.
bool read_decimal(std::string_view text, double& value) {
  if (text.empty() || text.front() == '+' || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return false;
  }
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && errno == 0 && std::isfinite(value);
}

/// `8` and 2^20 of `8M`, `8m`, `8MB` or `8MiB`: no tool that is stood for here has decimal sizes.
std::pair<std::string_view, double> split_unit(std::string_view text) {
  std::string_view rest = text;
  const bool has_byte = rest.ends_with('B');
  if (has_byte) rest.remove_suffix(1);
  const bool is_binary = has_byte && rest.ends_with('i');
  if (is_binary) rest.remove_suffix(1);
  const char last = rest.empty() ? '0' : rest.back();
  const auto power = kSizeLetters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(last))));
  if (power == std::string_view::npos) return {is_binary ? text : rest, 1};
  return {rest.substr(0, rest.size() - 1), std::ldexp(1.0, 10 * (static_cast<int>(power) + 1))};
}

/// A value that somebody might want. The least one often means none, or the usual.
std::int64_t example_of(std::int64_t least, std::int64_t most) { return std::clamp<std::int64_t>(2, least, most); }

double example_of(double least, double most) {
  for (const double example : {10.0, 1.0, 0.1}) {
    if (example >= least && example <= most) return example;
  }
  return least;
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  auto [digits, unit] = split_unit(text);
  if (unit == 1) {  // Plain counts are read as integers: a double cannot hold every 63-bit size.
    std::int64_t exact = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), exact);
    if (problem == std::errc() && end == digits.data() + digits.size() && exact >= 0) return static_cast<Bytes>(exact);
  }
  double value = 0;
  if (!read_decimal(digits, value)) refuse_size(text, text.ends_with('b') ? " (a small b is for bits)" : "");
  if (value < 0) refuse_size(text, " (it is negative)");
  const double bytes = value * unit;
  if (bytes >= std::ldexp(1.0, 63)) refuse_size(text, " that fits in 63 bits");
  if (bytes != std::floor(bytes)) refuse_size(text, " of whole bytes");
  return static_cast<Bytes>(bytes);
}

std::string exact_bytes(Bytes size) {
  std::size_t power = 0;
  while (power < kSizeLetters.size() && size != 0 && size % 1024 == 0) {
    size /= 1024;
    ++power;
  }
  return power == 0 ? fmt::format("{}", size) : fmt::format("{}{}", size, kSizeLetters[power - 1]);
}

std::string readable_bytes(Bytes size) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(size);
  std::size_t power = 0;
  while (value >= 1023.95 && power + 1 < kUnits.size()) {  // would be rounded to 1024.0
    value /= 1024;
    ++power;
  }
  const bool whole = value == std::floor(value);
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, kUnits[power]);
}

std::string readable_seconds(Seconds duration) {
  const double magnitude = std::abs(duration);  // below each bound, three digits need no exponent
  if (magnitude < 999.5e-9) return fmt::format("{:.3g} ns", duration * 1e9);
  if (magnitude < 999.5e-6) return fmt::format("{:.3g} us", duration * 1e6);
  if (magnitude < 999.5e-3) return fmt::format("{:.3g} ms", duration * 1e3);
  if (magnitude < 999.5) return fmt::format("{:.3g} s", duration);
  return fmt::format("{:.0f} s", duration);
}

std::string readable_duration(Seconds duration) {
  constexpr Seconds kMinute = 60;
  constexpr Seconds kHour = 60 * kMinute;
  if (duration < 9.5) return fmt::format("{:.1g} s", duration);
  if (duration < 99.5) return fmt::format("{:.0f} s", duration);
  if (duration < 99.5 * kMinute) return fmt::format("{:.0f} min", duration / kMinute);
  return fmt::format("{:.1f} h", duration / kHour);
}

std::string fitted(double value, int width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.size() <= static_cast<std::size_t>(width)) return text;
  }
  return fmt::format("{:.{}e}", value, width >= 7 ? 1 : 0);
}

std::string readable(double value, int width) {
  if (!(value > 0) || value >= 1) return fitted(value, width);
  std::string text = fmt::format("{:.{}f}", value, 2 - static_cast<int>(std::floor(std::log10(value))));
  return text.size() <= static_cast<std::size_t>(width) ? text : fmt::format("{:.1e}", value);
}

std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t least, std::int64_t most) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || problem == std::errc::invalid_argument) {
    throw UsageError(
        fmt::format("'{}' is not a whole number; {} is a number such as {}", text, what, example_of(least, most)));
  }
  if (problem == std::errc::result_out_of_range) value = text.starts_with('-') ? kLowest : kHighest;
  if (value < least) throw UsageError(fmt::format("{} is too small; {} is at least {}", text, what, least));
  if (value > most) throw UsageError(fmt::format("{} is too large; {} is at most {}", text, what, most));
  return value;
}

double parse_number(std::string_view text, std::string_view what, double least, double most) {
  double value = 0;
  if (!read_decimal(text, value)) {
    throw UsageError(
        fmt::format("'{}' is not a number; {} is a number such as {}", text, what, example_of(least, most)));
  }
  if (value < least) throw UsageError(fmt::format("{} is too small; {} is at least {}", text, what, least));
  if (value > most) throw UsageError(fmt::format("{} is too large; {} is at most {}", text, what, most));
  return value;
}

namespace {

constexpr std::size_t kMostSizes = std::size_t{1} << 20;

/// The size after `size`, or the largest number on overflow.
Bytes next_size(const SizeRange& sizes, Bytes size, Bytes element_bytes) {
  constexpr Bytes kEnd = std::numeric_limits<Bytes>::max();
  if (sizes.step_factor > 1) {
    if (size == 0) return std::max<Bytes>(1, element_bytes);
    return size > kEnd / sizes.step_factor ? kEnd : size * sizes.step_factor;
  }
  return size > kEnd - sizes.step_bytes ? kEnd : size + sizes.step_bytes;
}

}  // namespace

SizeList list_sizes(const SizeRange& sizes, Bytes element_bytes) {
  SizeList list;
  for (Bytes size = sizes.min_bytes; size <= sizes.max_bytes; size = next_size(sizes, size, element_bytes)) {
    const Bytes whole = size - size % element_bytes;
    if (whole == 0 && size != 0) {
      list.too_small.push_back(size);
    } else if (list.sizes.empty() || list.sizes.back() != whole) {
      list.sizes.push_back(whole);
    }
    if (list.sizes.size() + list.too_small.size() > kMostSizes) {
      throw UsageError(fmt::format(
          "a sweep from {} to {} in steps of {} has more than {} sizes; raise --step-bytes, or use --step-factor 2",
          exact_bytes(sizes.min_bytes), exact_bytes(sizes.max_bytes), exact_bytes(sizes.step_bytes), kMostSizes));
    }
    if (size == sizes.max_bytes) break;  // also ends where the last size is the largest number
  }
  return list;
}

}  // namespace fabricbench
