// Records of sweeps over pairs, and the verdict's input that they give.

#include "cluster/command/record_file.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_records(std::string_view input) {
  const fuzz::MemoryFile file(input);
  fuzz::tolerate([&] {
    cluster::RecordReader reader;
    reader.read(file.path());
    static_cast<void>(reader.finish());
  });
}
