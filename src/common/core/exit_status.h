#pragma once

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

}  // namespace fabricbench
