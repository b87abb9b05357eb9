// `fabricbench run PROGRAM`, and `fabricbench PROGRAM` for short.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/tools/catalogue.h"

namespace fabricbench::cluster {

/// A command line of `run`, apart: options of the launch, and all other words.
struct LaunchWords {
  std::vector<std::string> options;
  std::vector<std::string> others;
};

/// Takes the options of a launch out of `words`: up to the first other word, or `everywhere` before `--`, which is left
/// out then. Throws UsageError where a value is missing.
[[nodiscard]] LaunchWords take_launch_options(const std::vector<std::string>& words, bool everywhere);

/// `; the nearest is --dry-run`: options that may be meant by one that does not exist, or nothing.
[[nodiscard]] std::string nearest_launch_options(std::string_view given);

/// Becomes the program or script of an entry that is no command. `options` are those of the launch that precede its
/// name.
[[noreturn]] void run_entry(const CatalogueEntry& entry, std::vector<std::string> options,
                            const std::vector<std::string>& arguments);

}  // namespace fabricbench::cluster
