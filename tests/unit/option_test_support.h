#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/harness/command_line.h"

namespace fabricbench::test {

/// `-b 8 -e 1G` as the arguments a shell would make of it.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> arguments;
  for (std::string word; stream >> word;) arguments.push_back(word);
  return arguments;
}

inline Options parsed(const std::string& line) { return parse_command_line({"all_reduce_perf"}, words(line)).options; }

/// The message of the UsageError for these arguments; a test failure where there is none.
inline std::string refusal_of(const std::vector<std::string>& arguments) {
  try {
    (void)parse_command_line({"all_reduce_perf"}, arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  std::string line;
  for (const std::string& argument : arguments) line += " " + argument;
  ADD_FAILURE() << "not refused:" << line;
  return "";
}

inline std::string refusal(const std::string& line) { return refusal_of(words(line)); }

}  // namespace fabricbench::test
