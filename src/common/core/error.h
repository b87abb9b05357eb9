#pragma once

#include <stdexcept>
#include <string>

#include "common/core/exit_status.h"

namespace fabricbench {

/// A problem that ends the program: one message for the user and the exit status that goes with it.
/// The message says what was given, what is wrong and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& message) : std::runtime_error(message), status_(status) {}
  [[nodiscard]] ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// A command line that cannot be carried out; every rank finds the same one, and rank 0 speaks.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitStatus::kUsage, message) {}
};

}  // namespace fabricbench
