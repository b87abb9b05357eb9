// Command lines: each line is an argument. Of the first one the first character chooses the program.

#include <sstream>
#include <string>
#include <vector>

#include "common/options/command_line.h"
#include "common/options/option_sets.h"
#include "common/options/program.h"
#include "common/options/verbs_programs.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

namespace {

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      collective_program("all_reduce_perf", "Bandwidth of all_reduce."),
      collective_program("alltoallv_perf", "Bandwidth of alltoallv.", option_sets::traffic()),
      message_program("send_recv_bw", "Bandwidth of messages.", true),
      tcp_program("tcp_bw", "Bandwidth over TCP.", true),
      sweep_program("pairwise_bw", "Bandwidth of every pair."),
      copy_program("gpu_copy_bw", "Bandwidth of copies."),
      connection_program("rdma_cm_connect", "Time of connections."),
      verbs_program("rdma_write_bw", "Bandwidth of writes.", {Verb::kWrite, false}),
      verbs_program("rdma_send_lat", "Latency of messages.", {Verb::kSend, true})};
  return all;
}

}  // namespace

void fuzz::read_options(std::string_view input) {
  if (input.empty()) return;
  std::istringstream stream(std::string(input.substr(1)));
  std::vector<std::string> arguments;
  for (std::string line; std::getline(stream, line);) {
    if (line.find('\0') == std::string::npos) arguments.push_back(line);  // which no argument can hold
  }
  fuzz::tolerate([&] {
    static_cast<void>(
        parse_command_line(programs()[static_cast<unsigned char>(input[0]) % programs().size()], arguments));
  });
}
