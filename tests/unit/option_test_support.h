#pragma once

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/options/command_line.h"
#include "common/options/option_sets.h"
#include "common/options/program.h"
#include "common/options/verbs_programs.h"

namespace fabricbench::test {

inline const Program kAllReduce = collective_program("all_reduce_perf", "Bandwidth of all_reduce.");
inline const Program kAllToAllV =
    collective_program("alltoallv_perf", "Bandwidth of alltoallv.", option_sets::traffic());
inline const Program kSendRecvBw = message_program("send_recv_bw", "Bandwidth of messages.", true);
inline const Program kSendRecvLat = message_program("send_recv_lat", "Latency of messages.", false);
inline const Program kTcpBw = tcp_program("tcp_bw", "Bandwidth over TCP.", true);
inline const Program kPairwiseBw = sweep_program("pairwise_bw", "Bandwidth of every pair.");
inline const Program kGpuCopyBw = copy_program("gpu_copy_bw", "Bandwidth of copies.");
inline const Program kConnect = connection_program("rdma_cm_connect", "Time of connections.");

/// `-b 8 -e 1G` as the arguments a shell would make of it.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> arguments;
  for (std::string word; stream >> word;) arguments.push_back(word);
  return arguments;
}

inline Options parsed(const std::string& line) { return parse_command_line(kAllReduce, words(line)).options; }

/// What --help says, with one blank between words.
inline std::string help_in_one_line(const Program& program) {
  std::istringstream stream(parse_command_line(program, {"--help"}).text);
  std::string line = " ";
  for (std::string word; stream >> word;) line += word + " ";
  return line;
}

/// Expects an option of `program` in `help` once, with its text and default; `help`: see help_in_one_line.
inline void expect_in_help(const Program& program, const Option& option, const std::string& help) {
  const std::string typed = " " + option.long_name() + (option.value_name.empty() ? "" : " " + option.value_name) + " ";
  const std::size_t at = help.find(typed + help_of(option, program.defaults) + " ");
  ASSERT_NE(at, std::string::npos) << program.name << ": " << option.names;
  EXPECT_EQ(help.find(typed, at + 1), std::string::npos) << program.name << ": " << option.names;
}

/// The message of the UsageError for these arguments; a test failure where there is none.
inline std::string refusal_of(const std::vector<std::string>& arguments) {
  try {
    (void)parse_command_line(kAllReduce, arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  std::string line;
  for (const std::string& argument : arguments) line += " " + argument;
  ADD_FAILURE() << "not refused:" << line;
  return "";
}

inline std::string refusal(const std::string& line) { return refusal_of(words(line)); }

/// The keys of a program's options but for those of output, which all programs share.
inline std::set<std::string> own_options(const Program& program) {
  using namespace option_sets;
  std::set<std::string> keys;
  for (const Option& option : program.options) keys.insert(option.key());
  for (const Option& option : join({json(), csv(), of_rows(), quiet(), progress()})) keys.erase(option.key());
  return keys;
}

}  // namespace fabricbench::test
