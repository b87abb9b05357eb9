// The message of an Error that says that something is missing.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/core/error.h"

namespace fabricbench::test {

/// What `body` throws; empty where it does not.
[[nodiscard]] inline std::string missing_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace fabricbench::test
