// Files of hosts and their leaf switches.

#include "cluster/command/record_file.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_locality(std::string_view input) {
  const fuzz::MemoryFile file(input);
  fuzz::tolerate([&] {
    cluster::RecordReader reader({"node01", "node02", "node03"});
    reader.read_locality(file.path());
    static_cast<void>(reader.finish());
  });
}
