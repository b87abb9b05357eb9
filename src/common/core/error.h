#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace fabricbench {

/// What a program's exit status means to the script that started it.
enum class ExitStatus : int {
  kOk = 0,         ///< every figure was measured and every check passed
  kFailure = 1,    ///< internal or run-time failure
  kUsage = 2,      ///< the command line cannot be carried out
  kMissing = 3,    ///< something needed is missing: memory, a device, a library, a launcher
  kTimeout = 4,    ///< a rank made no progress within the time limit
  kWrongData = 5,  ///< an operation delivered wrong data
  kTooSlow = 6,    ///< slower than required
  kNotJudged = 7,  ///< no data to judge by, or a baseline that does not match
};

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
