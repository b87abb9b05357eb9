// The files that describe_records writes are up to date: documentation and scripts say what the programs do.
#include "cluster/command/generated_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

namespace fabricbench::cluster {
namespace generated_files_test {

std::string written(const std::string& name) {
  std::ifstream file(std::string(FABRICBENCH_SOURCE_DIR) + "/../" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordTypes, AreInTheSchemaAsTheyAre) {
  EXPECT_TRUE(written("docs/output.schema.json") == record::schema_text(record_types())) << "`make records` writes it";
}

TEST(RecordTypes, AreOnThePageAsTheyAre) {
  const std::string page = written("docs/output.md");
  EXPECT_TRUE(page == with_tables(page, record_types())) << "`make records` writes it";
}

TEST(RecordTypes, AreThoseOfTheScripts) {
  EXPECT_TRUE(written("scripts/record_types.py") == types_for_python(record_types())) << "`make records` writes it";
}

TEST(RecordTypes, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const record::Description& type : record_types()) {
    EXPECT_FALSE(type.name.empty());
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_FALSE(type.keys.empty()) << type.name;
  }
}

TEST(RecordTypes, SayWhatEveryKeyMeans) {
  for (const record::Description& type : record_types()) {
    for (const record::Key& key : type.keys) EXPECT_FALSE(key.meaning.empty()) << type.name << ": " << key.key;
  }
}

TEST(RecordTypes, WantAPlaceEach) {
  EXPECT_THROW((void)with_tables("no place", record_types()), std::invalid_argument);
  EXPECT_THROW((void)with_tables("<!-- record: nobody -->\n<!-- end of record -->", record_types()),
               std::invalid_argument);
  EXPECT_THROW((void)with_tables("<!-- record: row -->\n", record_types()), std::invalid_argument);
}

TEST(ScriptConstants, AreUpToDateForBash) {
  EXPECT_EQ(written("scripts/constants.sh"), constants_for_bash()) << "`make records` writes it";
}

TEST(ScriptConstants, AreUpToDateForPython) {
  EXPECT_EQ(written("scripts/constants.py"), constants_for_python()) << "`make records` writes it";
}

TEST(ScriptConstants, ContainScalarsAndLists) {
  EXPECT_NE(constants_for_bash().find("\nreadonly kNotJudged=7\n"), std::string::npos);
  EXPECT_NE(constants_for_bash().find("\nreadonly kReadingStatuses=(ok slow "), std::string::npos);
  EXPECT_NE(constants_for_python().find("\nNOT_JUDGED = 7\n"), std::string::npos);
  EXPECT_NE(constants_for_python().find("\nREADING_STATUSES = (\"ok\", \"slow\", "), std::string::npos);
}

TEST(ComingFrom, HasTheOptionsAsTheyAreRead) {
  const std::string page = written("docs/coming-from.md");
  EXPECT_TRUE(page == with_tables_of_other_tools(page)) << "`make records` writes it";
}

TEST(ComingFrom, WantsAPlaceForEveryTool) {
  EXPECT_THROW((void)with_tables_of_other_tools("no place"), std::invalid_argument);
  EXPECT_THROW((void)with_tables_of_other_tools("<!-- options: perftest -->\n"), std::invalid_argument);
}

}  // namespace generated_files_test
}  // namespace fabricbench::cluster
