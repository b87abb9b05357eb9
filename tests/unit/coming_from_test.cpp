// docs/coming-from.md has the tables that the programs read.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "cluster/tools/coming_from.h"

namespace fabricbench::cluster {
namespace coming_from_test {

TEST(ComingFrom, HasTheOptionsAsTheyAreRead) {
  std::ifstream file(std::string(FABRICBENCH_SOURCE_DIR) + "/../docs/coming-from.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(page == with_tables_of_other_tools(page)) << "`make records` writes it";
}

TEST(ComingFrom, WantsAPlaceForEveryTool) {
  EXPECT_THROW((void)with_tables_of_other_tools("no place"), std::invalid_argument);
  EXPECT_THROW((void)with_tables_of_other_tools("<!-- options: perftest -->\n"), std::invalid_argument);
}

}  // namespace coming_from_test
}  // namespace fabricbench::cluster
