// Files of baselines. What is read can be written and read again.

#include "cluster/run/file.h"

#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_baselines(std::string_view input) {
  fuzz::tolerate([&] {
    const std::vector<baseline::Launch> launches = baseline::read_launches(input, "baseline");
    const std::string text = baseline::text_of(launches);
    fuzz::require(baseline::text_of(baseline::read_launches(text, "again")) == text);
  });
}
