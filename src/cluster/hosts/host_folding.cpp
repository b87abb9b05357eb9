#include "cluster/hosts/host_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

/// A number in a name, with its leading zeros.
struct Numeral {
  std::int64_t value = 0;
  std::size_t digits = 1;

  friend bool operator<(const Numeral& a, const Numeral& b) {
    return a.value != b.value ? a.value < b.value : a.digits < b.digits;
  }
};

/// A set of names that differ in numbers only: `texts`, and between them one of the numerals of each place, in all
/// combinations.
struct Family {
  std::vector<std::string> texts;              // one more than places
  std::vector<std::vector<Numeral>> numerals;  // by place, ascending
};

constexpr std::size_t kLongestNumeral = 18;  // digits, so that it fits in 64 bits; what is longer is text

bool is_decimal(char character) { return character >= '0' && character <= '9'; }

/// The end of the digits that begin at `begin`.
std::size_t end_of_digits(std::string_view name, std::size_t begin) {
  while (begin < name.size() && is_decimal(name[begin])) ++begin;
  return begin;
}

Family family_of(std::string_view name) {
  Family family;
  family.texts.emplace_back();
  // The numbers of an IPv6 address are hexadecimal.
  const bool is_address = name.find(':') != std::string_view::npos;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t end = is_address ? i : end_of_digits(name, i);
    if (end == i) {
      family.texts.back() += name[i++];
      continue;
    }
    if (end - i > kLongestNumeral) {
      family.texts.back() += name.substr(i, end - i);
    } else {
      Numeral numeral = {0, end - i};
      for (const char digit : name.substr(i, end - i)) numeral.value = 10 * numeral.value + (digit - '0');
      family.numerals.push_back({numeral});
      family.texts.emplace_back();
    }
    i = end;
  }
  return family;
}

/// The key of a family without `place`: equal for families that differ in that place only.
std::string key_without(const Family& family, std::size_t place) {
  std::string key;
  for (std::size_t i = 0; i < family.texts.size(); ++i) {
    key += family.texts[i];
    key += '\n';
    if (i >= family.numerals.size() || i == place) continue;
    for (const Numeral& numeral : family.numerals[i]) key += fmt::format("{}/{},", numeral.value, numeral.digits);
  }
  return key;
}

/// Merges families that differ in `place` only.
std::vector<Family> merged(std::vector<Family> families, std::size_t place) {
  std::vector<Family> result;
  std::unordered_map<std::string, std::size_t> known;
  for (Family& family : families) {
    if (place >= family.numerals.size()) {
      result.push_back(std::move(family));
      continue;
    }
    const auto [found, is_new] = known.try_emplace(key_without(family, place), result.size());
    if (is_new) {
      result.push_back(std::move(family));
      continue;
    }
    std::vector<Numeral>& numerals = result[found->second].numerals[place];
    numerals.insert(numerals.end(), family.numerals[place].begin(), family.numerals[place].end());
  }
  for (Family& family : result) {
    if (place >= family.numerals.size()) continue;
    std::vector<Numeral>& numerals = family.numerals[place];
    std::sort(numerals.begin(), numerals.end());
  }
  return result;
}

std::string text_of(const Numeral& numeral) { return fmt::format("{:0{}}", numeral.value, numeral.digits); }

/// Whether a range that begins with `first` goes on to `next` from its last numeral `last`: a range writes all numbers
/// with at least as many digits as its first one.
bool goes_on(const Numeral& first, const Numeral& last, const Numeral& next) {
  const std::size_t digits = std::max(first.digits, fmt::formatted_size("{}", next.value));
  return next.value == last.value + 1 && next.digits == digits;
}

/// The width that a numeral is written with: its own length if it, or another one of that length, has leading zeros;
/// the length of the longest of these if it is longer; 0 if no zeros are written.
std::size_t padding_of(const Numeral& numeral, const std::set<std::size_t>& padded) {
  if (padded.empty()) return 0;
  if (numeral.digits > *padded.rbegin()) return *padded.rbegin();
  return padded.count(numeral.digits) > 0 ? numeral.digits : 0;
}

/// Reorders ascending numerals so that those of one range stand side by side.
void group_by_padding(std::vector<Numeral>& numerals) {
  std::set<std::size_t> padded;
  for (const Numeral& numeral : numerals) {
    if (numeral.digits > fmt::formatted_size("{}", numeral.value)) padded.insert(numeral.digits);
  }
  std::ranges::stable_sort(
      numerals, [&](const Numeral& a, const Numeral& b) { return padding_of(a, padded) < padding_of(b, padded); });
}

/// `07` alone, else in brackets: `[01-03,07]`.
std::string ranges_of(std::vector<Numeral> numerals) {
  if (numerals.size() == 1) return text_of(numerals.front());
  group_by_padding(numerals);
  std::string text = "[";
  for (std::size_t i = 0; i < numerals.size();) {
    std::size_t last = i;
    while (last + 1 < numerals.size() && goes_on(numerals[i], numerals[last], numerals[last + 1])) ++last;
    if (i > 0) text += ',';
    text += text_of(numerals[i]);
    if (last > i) text += '-' + text_of(numerals[last]);
    i = last + 1;
  }
  return text + "]";
}

std::string text_of(const Family& family) {
  std::string text = family.texts.front();
  for (std::size_t i = 0; i < family.numerals.size(); ++i) {
    text += ranges_of(family.numerals[i]) + family.texts[i + 1];
  }
  return text;
}

}  // namespace

bool comes_before(std::string_view name, std::string_view other) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < name.size() && j < other.size()) {
    const std::size_t end = end_of_digits(name, i);
    const std::size_t other_end = end_of_digits(other, j);
    if (end == i || other_end == j) {
      if (name[i] != other[j]) return name[i] < other[j];
      ++i;
      ++j;
      continue;
    }
    while (i < end && name[i] == '0') ++i;
    while (j < other_end && other[j] == '0') ++j;
    if (end - i != other_end - j) return end - i < other_end - j;
    const int order = name.substr(i, end - i).compare(other.substr(j, other_end - j));
    if (order != 0) return order < 0;
    i = end;
    j = other_end;
  }
  if (i < name.size() || j < other.size()) return j < other.size();
  return name < other;  // they differ in zeros
}

std::string fold_hosts(std::span<const std::string> names) {
  std::vector<std::string> ordered(names.begin(), names.end());
  std::ranges::sort(ordered, comes_before);
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  std::vector<Family> families;
  std::size_t places = 0;
  for (const std::string& name : ordered) {
    families.push_back(family_of(name));
    places = std::max(places, families.back().numerals.size());
  }
  for (std::size_t place = places; place > 0; --place) families = merged(std::move(families), place - 1);
  std::string text;
  for (const Family& family : families) text += (text.empty() ? "" : ",") + text_of(family);
  return text;
}

}  // namespace fabricbench::cluster
