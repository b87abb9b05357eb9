// Records and logs of launches, as `fabricbench compare` reads them.

#include "cluster/command/launch_files.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_launches(std::string_view input) {
  tolerate([&] { static_cast<void>(cluster::launches_in_log(input, "log", 0)); });
  const MemoryFile file(input);
  tolerate([&] { static_cast<void>(cluster::launches_in(file.path())); });
}
