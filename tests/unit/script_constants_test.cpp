// The constants that the scripts read are those of the programs.
#include "cluster/tools/script_constants.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace fabricbench::cluster {
namespace script_constants_test {

std::string script(const std::string& name) {
  std::ifstream file(std::string(FABRICBENCH_SOURCE_DIR) + "/../scripts/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ScriptConstants, AreUpToDateForBash) {
  EXPECT_EQ(script("constants.sh"), constants_for_bash()) << "`make records` writes it";
}

TEST(ScriptConstants, AreUpToDateForPython) {
  EXPECT_EQ(script("constants.py"), constants_for_python()) << "`make records` writes it";
}

TEST(ScriptConstants, ContainScalarsAndLists) {
  EXPECT_NE(constants_for_bash().find("\nreadonly kNotJudged=7\n"), std::string::npos);
  EXPECT_NE(constants_for_bash().find("\nreadonly kReadingStatuses=(ok slow "), std::string::npos);
  EXPECT_NE(constants_for_python().find("\nNOT_JUDGED = 7\n"), std::string::npos);
  EXPECT_NE(constants_for_python().find("\nREADING_STATUSES = (\"ok\", \"slow\", "), std::string::npos);
}

}  // namespace script_constants_test
}  // namespace fabricbench::cluster
