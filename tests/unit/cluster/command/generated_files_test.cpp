// The files that describe_records writes are up to date: documentation says what the programs do.
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

TEST(ComingFrom, HasTheOptionsAsTheyAreRead) {
  const std::string page = written("docs/coming-from.md");
  EXPECT_TRUE(page == with_tables_of_other_tools(page)) << "`make records` writes it";
}

TEST(PreflightPage, HasTheChecksAsTheyAre) {
  const std::string page = written("docs/preflight.md");
  EXPECT_TRUE(page == with_checks(page)) << "`make records` writes it";
}

TEST(ComingFrom, WantsAPlaceForEveryTool) {
  EXPECT_THROW((void)with_tables_of_other_tools("no place"), std::invalid_argument);
  EXPECT_THROW((void)with_tables_of_other_tools("<!-- options: perftest -->\n"), std::invalid_argument);
}

}  // namespace generated_files_test
}  // namespace fabricbench::cluster
