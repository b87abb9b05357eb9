// multi_pair_bw: windows of messages between the two ranks of each pair, all pairs at once.

#include "common/programs/run_program.h"

namespace fabricbench {

int multi_pair_bw(int argc, char** argv) {
  const std::string summary = "Bandwidth of messages between the two ranks of each pair, all pairs at once.";
  return run_program(message_program("multi_pair_bw", summary, true, "adjacent"), OneWay("multi_pair_bw"), argc, argv);
}

}  // namespace fabricbench
