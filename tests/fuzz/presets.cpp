// Files of published figures.

#include "cluster/run/preset.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_presets(std::string_view input) {
  const MemoryFile file(input);
  tolerate([&] { static_cast<void>(expected::read_preset(file.path())); });
}
