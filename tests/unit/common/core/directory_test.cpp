#include "common/core/directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_root.h"

using namespace fabricbench;

namespace directory_test {

TEST(NamesIn, AreSorted) {
  const test::FakeRoot root;
  for (const char* name : {"b", "a", "c"}) root.make_directory(name);
  root.write("a/below", "");
  EXPECT_EQ(names_in(root.path()), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(NamesIn, AreNoneOfWhatIsNoDirectory) {
  const test::FakeRoot root;
  root.write("file", "");
  EXPECT_TRUE(names_in(root.path() / "file").empty());
  EXPECT_TRUE(names_in(root.path() / "nothing").empty());
}

}  // namespace directory_test
