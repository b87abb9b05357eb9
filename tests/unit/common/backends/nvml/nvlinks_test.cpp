#include "common/backends/nvml/nvlinks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;
using namespace fabricbench::nvml;

namespace nvlinks_test {

constexpr const char* kFirst = "0000:10:00.0";
constexpr const char* kSecond = "0000:11:00.0";

/// Sets variables of the fake, and takes them back.
class NvLinks : public testing::Test {
 protected:
  ~NvLinks() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }

  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  static Library load() { return Library(FABRICBENCH_FAKE_NVML); }

 private:
  std::vector<std::string> set_;
};

TEST_F(NvLinks, AreThoseThatAreUp) {
  set("FAKE_NVML_LINKS", "18");
  set("FAKE_NVML_DOWN", "2");
  const Library library = load();
  const auto links = library.links(kFirst);
  ASSERT_TRUE(links);
  EXPECT_EQ(links->size(), 16U);
  EXPECT_EQ(library.links(kSecond)->size(), 18U);
  for (const NvLink& link : *links) {
    EXPECT_TRUE(link.to_switch);
    EXPECT_EQ(link.remote, "");
    EXPECT_DOUBLE_EQ(link.bytes_per_s, 26.562e9);
  }
}

TEST_F(NvLinks, CarryThroughASwitchWhatBothEndsHave) {
  set("FAKE_NVML_LINKS", "18");
  set("FAKE_NVML_DOWN", "2");
  const Library library = load();
  const auto from = *library.links(kFirst);
  const auto into = *library.links(kSecond);
  EXPECT_DOUBLE_EQ(nvlink_bytes_per_s(from, into, kSecond), 16 * 26.562e9);
  EXPECT_DOUBLE_EQ(nvlink_bytes_per_s(into, from, kFirst), 16 * 26.562e9);
  EXPECT_DOUBLE_EQ(nvlink_bytes_per_s(into, into, kFirst), 18 * 26.562e9);
}

TEST_F(NvLinks, CarryToTheGpuThatTheyLeadTo) {
  set("FAKE_NVML_LINKS", "4");
  set("FAKE_NVML_MBPS", "25000");
  set("FAKE_NVML_REMOTE", "next");
  const Library library = load();
  const auto from = *library.links(kFirst);
  EXPECT_EQ(from.front().remote, kSecond);
  EXPECT_DOUBLE_EQ(nvlink_bytes_per_s(from, {}, kSecond), 100e9);
  EXPECT_EQ(nvlink_bytes_per_s(from, {}, "0000:12:00.0"), 0);
}

TEST_F(NvLinks, MayBeNone) {
  const Library library = load();
  ASSERT_TRUE(library.links(kFirst));
  EXPECT_TRUE(library.links(kFirst)->empty());
  EXPECT_EQ(nvlink_bytes_per_s({}, {}, kSecond), 0);
}

TEST_F(NvLinks, AreNotGuessed) {
  const Library library = load();
  EXPECT_FALSE(library.links("0000:99:00.0"));
  set("FAKE_NVML_LINKS", "2");
  set("FAKE_NVML_REMOTE", "unknown");
  EXPECT_FALSE(library.links(kFirst));
  set("FAKE_NVML_REMOTE", "switch");
  set("FAKE_NVML_MBPS", "0");
  EXPECT_FALSE(library.links(kFirst));
}

TEST_F(NvLinks, TakeALibraryThatWorks) {
  EXPECT_THROW(Library("libno-such-nvml.so"), Error);
  EXPECT_THROW(Library("libdl.so.2"), Error);
  set("FAKE_NVML_BROKEN", "1");
  EXPECT_THROW(load(), Error);
}

}  // namespace nvlinks_test
