// What tests of the RDMA programs' options share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/core/rdma_option_specs.h"
#include "option_test_support.h"

namespace fabricbench::test {

inline ProgramFacts program_of(Verb verb, bool latency) {
  ProgramFacts program;
  program.name = "rdma_" + std::string(name(verb)) + (latency ? "_lat" : "_bw");
  program.pairs = true;
  program.verb = verb;
  program.latency = latency;
  return program;
}

inline const ProgramFacts kWriteBw = program_of(Verb::kWrite, false);
inline const ProgramFacts kWriteLat = program_of(Verb::kWrite, true);
inline const ProgramFacts kReadBw = program_of(Verb::kRead, false);
inline const ProgramFacts kReadLat = program_of(Verb::kRead, true);
inline const ProgramFacts kSendBw = program_of(Verb::kSend, false);
inline const ProgramFacts kSendLat = program_of(Verb::kSend, true);
inline const ProgramFacts kAtomicBw = program_of(Verb::kAtomic, false);
inline const ProgramFacts kAtomicLat = program_of(Verb::kAtomic, true);
inline const ProgramFacts kSeenLat = [] {
  ProgramFacts program = kWriteLat;
  program.name = kGpuDirectLatency;
  return program;
}();
inline const std::vector<ProgramFacts> kPrograms = {kWriteBw, kWriteLat, kReadBw,   kReadLat,
                                                    kSendBw,  kSendLat,  kAtomicBw, kAtomicLat};

inline Options parsed(const ProgramFacts& program, const std::string& line) {
  return parse_command_line(program, words(line)).options;
}

inline std::string refusal(const ProgramFacts& program, const std::string& line) {
  try {
    (void)parsed(program, line);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << program.name << " did not refuse " << line;
  return "";
}

std::string help(const ProgramFacts& program) { return parse_command_line(program, {"--help"}).text; }

}  // namespace fabricbench::test
