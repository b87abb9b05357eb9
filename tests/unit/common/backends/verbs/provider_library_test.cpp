// Libraries of providers, as they are installed on this host.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/backends/verbs/provider_transport.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace provider_library_test {

using AnyFunction = void (*)();

/// Null where it is not installed.
std::unique_ptr<ProviderLibrary> installed(const std::string& name) {
  try {
    return std::make_unique<ProviderLibrary>(name, ProviderLibrary::Need{"-c", "install it"});
  } catch (const Error&) {
    return nullptr;
  }
}

TEST(ProviderLibrary, OfEfaHasWhatSrdNeeds) {
  const auto library = installed("libefa.so.1");
  if (!library) GTEST_SKIP() << "libefa.so.1 is not installed";
  for (const char* function : {kCreateSrd, kQueryEfa}) {
    EXPECT_NE(library->function<AnyFunction>(function), nullptr) << function;
  }
}

TEST(ProviderLibrary, OfMlx5HasWhatDcNeeds) {
  const auto library = installed("libmlx5.so.1");
  if (!library) GTEST_SKIP() << "libmlx5.so.1 is not installed";
  for (const char* function : {kKnowsMlx5, kCreateDc, kExtendDc}) {
    EXPECT_NE(library->function<AnyFunction>(function), nullptr) << function;
  }
}

TEST(ProviderLibrary, SaysWhatItLacks) {
  const ProviderLibrary library("libm.so.6", {"--option", "leave it out"});
  try {
    (void)library.function<AnyFunction>("no_such_function");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(error.what(), "--option: libm.so.6 has no no_such_function; leave it out");
  }
}

}  // namespace provider_library_test
}  // namespace fabricbench::verbs
