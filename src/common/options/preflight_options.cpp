#include "common/options/accessors.h"
#include "common/options/option_sets.h"

namespace fabricbench::option_sets {

using namespace option_parts;
using enum OptionGroup;

OptionSet of_preflight() {
  return {option(kMeasuring, "--recorded", "FOLDER",
                 "examine recorded hosts: FOLDER/sys and /proc, or a folder for each host below it",
                 file_name(&PreflightOptions::recorded, "--recorded")),
          option(kMeasuring, "--site", "FILE", "what is meant to be so, and who wants it: see docs/preflight.md",
                 file_name(&PreflightOptions::site_file, "--site")),
          option(kMeasuring, "--accept-as-is", "", "add this run's failures and warnings to --site FILE as accepted",
                 flag(&PreflightOptions::accept_as_is)),
          option(kOutput, "--junit", "FILE", "write a case for each check to FILE, as JUnit XML",
                 file_name(&PreflightOptions::junit_file, "--junit")),
          option(kMeasuring, "--watch", "SECONDS", "then show what NICs carry, every second, for so long",
                 number(&PreflightOptions::watch_s, "--watch", 0, 1e6))};
}

}  // namespace fabricbench::option_sets
