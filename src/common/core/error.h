#pragma once

#include <exception>
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

/// The exit status for a thrown exception: an Error's own, kMissing for lack of memory and threads, or else kFailure.
[[nodiscard]] ExitStatus status_of(const std::exception& error);

/// What a thrown exception says to the user. Valid as long as the exception.
[[nodiscard]] const char* message_of(const std::exception& error);

/// A command line that cannot be carried out. Every rank finds the same one, and rank 0 reports it.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitStatus::kUsage, message) {}
};

}  // namespace fabricbench
