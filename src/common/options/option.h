// One option of a program, declared once: command line, help, environment, banner and JSON context use it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/options.h"

namespace fabricbench {

/// The section of an option in --help.
enum class OptionGroup { kSizes, kData, kMeasuring, kBuffers, kBackend, kGpus, kRdma, kOutput };
constexpr auto names_of(OptionGroup) {
  return std::to_array<std::string_view>(
      {"Message sizes", "Data", "Measuring", "Buffers", "Backend", "GPUs", "RDMA", "Output"});
}

struct Option {
  OptionGroup group = OptionGroup::kMeasuring;
  std::string names;                                      ///< in CLI11's form: `-b,--minbytes,--min-bytes`
  std::string value_name{};                               ///< empty for a flag
  std::string help{};                                     ///< includes the unit; the default is added from `get`
  std::function<void(Options&, std::string_view)> set{};  ///< throws UsageError; a flag gets an empty text
  std::function<std::string(const Options&)> get{};       ///< the value as text; empty: not set
  std::vector<std::string> words{};                       ///< values that are words, for completion; may be empty
  std::string environment{};                              ///< environment variable that also sets it; empty: none
  bool comparable = false;     ///< no part of a baseline's identity: launches may differ in it
  bool shapes_tables = false;  ///< the table of a record depends on it
  /// Why the option has no effect beside the others; empty: it has one. Without a function it always has one.
  std::function<std::string(const Options&)> why_unused{};
  bool gpus_only = false;  ///< values other than the default need the nccl backend
  bool listed = true;      ///< in --help

  /// The first long name with its dashes.
  [[nodiscard]] std::string long_name() const;
  /// The first name, as typed: `-b`.
  [[nodiscard]] std::string first_name() const;
  /// The first long name without its dashes: the key in JSON.
  [[nodiscard]] std::string key() const;
};

/// Options that belong together; a program combines several such sets.
using OptionSet = std::vector<Option>;

/// All options of these sets, in order.
[[nodiscard]] OptionSet join(std::initializer_list<OptionSet> sets);

/// The same options without their letters, for programs with another tool's letters. -n stays, because it means the
/// same everywhere.
[[nodiscard]] OptionSet by_long_names(OptionSet set);

}  // namespace fabricbench
