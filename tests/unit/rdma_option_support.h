// What tests of the RDMA programs' options share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "option_test_support.h"

namespace fabricbench::test {

inline Program program_of(VerbsTest test) {
  const std::string name = "rdma_" + std::string(fabricbench::name(test.verb)) + (test.latency ? "_lat" : "_bw");
  test.by_memory = test.latency && test.verb == Verb::kWrite;
  return verbs_program(name, "What it measures.", test);
}

inline const Program kWriteBw = program_of({.verb = Verb::kWrite});
inline const Program kWriteLat = program_of({.verb = Verb::kWrite, .latency = true});
inline const Program kReadBw = program_of({.verb = Verb::kRead});
inline const Program kReadLat = program_of({.verb = Verb::kRead, .latency = true});
inline const Program kSendBw = program_of({.verb = Verb::kSend});
inline const Program kSendLat = program_of({.verb = Verb::kSend, .latency = true});
inline const Program kAtomicBw = program_of({.verb = Verb::kAtomic});
inline const Program kAtomicLat = program_of({.verb = Verb::kAtomic, .latency = true});
inline const Program kSeenLat =
    verbs_program("gpudirect_rdma_lat", "What it measures.", {.verb = Verb::kWrite, .latency = true, .seen_by = true});
inline const std::vector<Program> kPrograms = {kWriteBw, kWriteLat, kReadBw,   kReadLat,
                                               kSendBw,  kSendLat,  kAtomicBw, kAtomicLat};

inline Options parsed(const Program& program, const std::string& line) {
  return parse_command_line(program, words(line)).options;
}

inline std::string refusal(const Program& program, const std::string& line) {
  try {
    (void)parsed(program, line);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << program.name << " did not refuse " << line;
  return "";
}

inline std::string help(const Program& program) { return parse_command_line(program, {"--help"}).text; }

}  // namespace fabricbench::test
