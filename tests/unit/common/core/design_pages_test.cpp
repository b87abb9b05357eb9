// Reads docs/design.md and CONTRIBUTING.md: what they name has to be there.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace design_pages_test {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(FABRICBENCH_SOURCE_DIR).parent_path();

std::string text_of(const std::string& page) {
  std::ifstream file(kRoot / page);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All that the first group of `pattern` finds.
std::vector<std::string> found(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    all.push_back((*match)[1].str());
  }
  return all;
}

TEST(DesignPages, NameFilesThatExist) {
  for (const char* page :
       {"docs/design.md", "CONTRIBUTING.md", "docs/adding-a-collective.md", "docs/adding-a-backend.md"}) {
    const auto paths = found(text_of(page), R"((?:`|\()((?:src|tests|scripts|docs|bench)/[\w/.*-]+))");
    EXPECT_GT(paths.size(), 2U) << page;
    for (const std::string& path : paths) {
      const bool stands_for_many = path.find("NAME") != std::string::npos || path.find('*') != std::string::npos;
      EXPECT_TRUE(stands_for_many || fs::exists(kRoot / path)) << page << ": " << path;
    }
  }
}

TEST(DesignPages, FollowARunThroughThirteenFiles) {
  const auto files = found(text_of("docs/design.md"), R"(\n\d+\. `(src/[\w/.]+)`)");
  EXPECT_EQ(files.size(), 13U);
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()).size(), files.size()) << "no step leads back";
}

/// Nine is what a field of a row may touch; anything else that needs more is to be made simpler.
TEST(DesignPages, CountTheFilesOfEveryChange) {
  const auto rows = found(text_of("CONTRIBUTING.md"), R"(\n(\| [^|\n]+ \|[^\n]+\| \d+ \|))");
  EXPECT_GT(rows.size(), 15U);
  for (const std::string& row : rows) {
    const auto files = found(row, R"(`((?:src|tests|docs|bench|scripts)/[\w/.*-]+)`)");
    const std::size_t count = std::set<std::string>(files.begin(), files.end()).size();
    EXPECT_EQ(found(row, R"(\| (\d+) \|$)"), std::vector<std::string>{std::to_string(count)}) << row;
    EXPECT_LE(count, 9U) << row;
  }
}

TEST(DesignPages, DrawEveryFolder) {
  const std::string text = text_of("docs/design.md");
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "src" / "common")) {
    const std::string folder = entry.path().filename().string() + "/";
    EXPECT_NE(text.find("    " + folder), std::string::npos) << folder;
  }
}

}  // namespace design_pages_test
