#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/options/option.h"

/// Parts of option declarations: kinds of value that several options share.
namespace fabricbench::option_parts {

inline constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

/// `a backend`, `an order`.
inline std::string with_article(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  return fmt::format("{} {}", kVowels.find(noun.front()) == std::string_view::npos ? "a" : "an", noun);
}

/// The words that an option accepts, with their values.
template <typename Value, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

template <typename Value, std::size_t N>
Value choose(std::string_view text, std::string_view what, const Choices<Value, N>& choices) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw UsageError(fmt::format("'{}' is not {}; choose one of {}", text, with_article(what), fmt::join(known, ", ")));
}

template <typename Value, std::size_t N>
std::string_view word_for(Value value, const Choices<Value, N>& choices) {
  for (const auto& [word, candidate] : choices) {
    if (candidate == value) return word;
  }
  return "";
}

template <typename Value, std::size_t N>
std::vector<std::string> words_of(const Choices<Value, N>& choices) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.emplace_back(choice.first);
  return words;
}

template <Named Enum>
std::vector<std::string> words_of() {
  const auto names = names_of(Enum{});
  return {names.begin(), names.end()};
}

/// The value of an enum by its name.
template <Named Enum>
Enum choose(std::string_view text, std::string_view what) {
  if (const auto value = named<Enum>(text)) return *value;
  throw UsageError(
      fmt::format("'{}' is not {}; choose one of {}", text, with_article(what), fmt::join(names_of(Enum{}), ", ")));
}

/// The part of the options with a given member.
template <typename Part, typename AnyOptions>
auto& part_of(AnyOptions& options) {
  if constexpr (std::is_same_v<Part, Options>) {
    return options;
  } else {
    auto parts = std::tie(options.sizes, options.tcp, options.nccl, options.sweep, options.traffic, options.comparison,
                          options.expectation, options.output, options.rdma, options.preflight);
    using Of = std::conditional_t<std::is_const_v<AnyOptions>, const Part, Part>;
    return std::get<Of&>(parts);
  }
}

/// The two functions of an Option, and the words that it takes.
struct Accessors {
  std::function<void(Options&, std::string_view)> set;
  std::function<std::string(const Options&)> get;
  std::vector<std::string> words{};
};

template <typename Part>
Accessors size(Bytes Part::*member) {
  return {[=](Options& options, std::string_view text) { part_of<Part>(options).*member = parse_bytes(text); },
          [=](const Options& options) { return exact_bytes(part_of<Part>(options).*member); }};
}

template <typename Part>
Accessors integer(std::int64_t Part::*member, std::string_view what, std::int64_t least, std::int64_t most = kMostInt) {
  return {[=](Options& options, std::string_view text) {
            part_of<Part>(options).*member = parse_integer(text, what, least, most);
          },
          [=](const Options& options) { return fmt::format("{}", part_of<Part>(options).*member); }};
}

/// Whole numbers with commas between them.
template <typename Part>
Accessors integers(std::vector<std::int64_t> Part::*member, std::string_view what, std::int64_t least,
                   std::int64_t most) {
  return {[=](Options& options, std::string_view text) {
            std::vector<std::int64_t>& all = part_of<Part>(options).*member;
            all.clear();
            for (std::size_t at = 0; at <= text.size();) {
              const std::size_t end = std::min(text.find(',', at), text.size());
              all.push_back(parse_integer(text.substr(at, end - at), what, least, most));
              at = end + 1;
            }
          },
          [=](const Options& options) { return fmt::format("{}", fmt::join(part_of<Part>(options).*member, ",")); }};
}

/// Of --check: a number.
inline Accessors number_of_checks() {
  return {
      [](Options& options, std::string_view text) {
        if (text == "all") {
          throw UsageError(
              "--check all: this program does not have that (programs of collectives and of messages between two ranks "
              "do); give a number of operations to check besides the timed ones");
        }
        options.checks = parse_integer(text, "--check", 0, kMostInt);
      },
      [](const Options& options) { return fmt::format("{}", options.checks); }};
}

/// Of --check: a number, or `all`, which sets a member.
inline Accessors number_of_checks(bool Options::*all) {
  return {[all](Options& options, std::string_view text) {
            options.*all = text == "all";
            options.checks = options.*all ? 1 : parse_integer(text, "--check (a number or all)", 0, kMostInt);
          },
          [all](const Options& options) { return options.*all ? "all" : fmt::format("{}", options.checks); }};
}

template <typename Part>
Accessors number(double Part::*member, std::string_view what, double least, double most) {
  return {[=](Options& options, std::string_view text) {
            part_of<Part>(options).*member = parse_number(text, what, least, most);
          },
          [=](const Options& options) { return fmt::format("{}", part_of<Part>(options).*member); }};
}

template <typename Part>
Accessors flag(bool Part::*member) {
  return {[=](Options& options, std::string_view) { part_of<Part>(options).*member = true; },
          [=](const Options& options) { return part_of<Part>(options).*member ? "true" : ""; }};
}

template <typename Part>
Accessors zero_or_one(bool Part::*member, std::string_view what) {
  return {[=](Options& options, std::string_view text) {
            part_of<Part>(options).*member = parse_integer(text, what, 0, 1) == 1;
          },
          [=](const Options& options) { return part_of<Part>(options).*member ? "1" : "0"; }};
}

/// `kind`: the kind of text, such as `a file name`.
template <typename Part>
Accessors text(std::string Part::*member, std::string_view what, std::string_view kind) {
  return {[=](Options& options, std::string_view given) {
            if (given.empty()) throw UsageError(fmt::format("{} needs {}", what, kind));
            part_of<Part>(options).*member = given;
          },
          [=](const Options& options) { return part_of<Part>(options).*member; }};
}

/// `choices` must outlive the program.
template <typename Part, typename Value, std::size_t N>
Accessors choice(Value Part::*member, std::string_view what, const Choices<Value, N>& choices) {
  return {
      [=, &choices](Options& options, std::string_view word) {
        part_of<Part>(options).*member = choose(word, what, choices);
      },
      [=, &choices](const Options& options) { return std::string(word_for(part_of<Part>(options).*member, choices)); },
      words_of(choices)};
}

template <typename Part, Named Enum>
Accessors choice(Enum Part::*member, std::string_view what) {
  return {[=](Options& options, std::string_view word) { part_of<Part>(options).*member = choose<Enum>(word, what); },
          [=](const Options& options) { return std::string(name(part_of<Part>(options).*member)); }, words_of<Enum>()};
}

[[nodiscard]] inline Option option(OptionGroup group, std::string names, std::string value_name, std::string help,
                                   Accessors accessors, std::string environment = "") {
  return {group,
          std::move(names),
          std::move(value_name),
          std::move(help),
          std::move(accessors.set),
          std::move(accessors.get),
          std::move(accessors.words),
          std::move(environment),
          group == OptionGroup::kSizes || group == OptionGroup::kOutput};
}

/// An option in which launches may differ and still be compared with each other.
[[nodiscard]] inline Option comparable(Option option) {
  option.comparable = true;
  return option;
}

/// An option that has no effect where `why` gives a reason.
[[nodiscard]] inline Option unused_where(Option option, std::function<std::string(const Options&)> why) {
  option.why_unused = std::move(why);
  return option;
}

/// An option on which the tables of a record depend.
[[nodiscard]] inline Option shapes_tables(Option option) {
  option.shapes_tables = true;
  return option;
}

/// A size that sets both the smallest and the largest.
[[nodiscard]] inline Accessors one_size() {
  return {[](Options& options, std::string_view text) {
            options.sizes.min_bytes = options.sizes.max_bytes = parse_bytes(text);
          },
          [](const Options& options) { return exact_bytes(options.sizes.max_bytes); }};
}

/// An optional whole number.
[[nodiscard]] inline Accessors optional_integer(std::optional<std::int64_t> Options::*member, std::string_view what,
                                                std::int64_t least, std::int64_t most = kMostInt) {
  return {
      [=](Options& options, std::string_view text) { options.*member = parse_integer(text, what, least, most); },
      [=](const Options& options) { return options.*member ? fmt::format("{}", *(options.*member)) : std::string(); }};
}

/// An enum by its number in nccl-tests.
template <typename Part, typename Enum>
[[nodiscard]] Accessors numbered(Enum Part::*member, std::string_view what, std::int64_t most) {
  return {[=](Options& options, std::string_view text) {
            part_of<Part>(options).*member = static_cast<Enum>(parse_integer(text, what, 0, most));
          },
          [=](const Options& options) { return fmt::format("{}", static_cast<int>(part_of<Part>(options).*member)); }};
}

template <typename Part>
[[nodiscard]] Accessors file_name(std::string Part::*member, std::string_view what) {
  return text(member, what, "a file name");
}

}  // namespace fabricbench::option_parts
