#include "cluster/run/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "baseline_test_support.h"
#include "common/core/error.h"
#include "fake_root.h"

namespace fabricbench::baseline {
namespace {

using test::FakeRoot;
using test::launch_with;

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(read_launches(text, "site.jsonl"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
    return error.what();
  }
  return "it was read";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

Launch whole_launch() {
  Launch launch = launch_with({1e-6, 2e-6});
  launch.start.allocation = "SLURM_JOB_ID 7";
  launch.start.label = "after repair";
  launch.start.circumstances = {{"kernel", "6.1"}};
  launch.rows[0].key.subject = "node01 to node02";
  launch.rows[1].busbw = 3e9;
  launch.rows[1].algorithm = "RING LL";
  return launch;
}

TEST(BaselineFile, ReadsWhatItWrote) {
  const std::vector<Launch> launches = {whole_launch(), launch_with({3e-6})};
  const std::string text = text_of(launches);
  const std::vector<Launch> read = read_launches(text, "site.jsonl");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(text_of(read), text);
  EXPECT_EQ(read[0].start.began, test::kFirstDay);
  EXPECT_EQ(read[0].start.identity, launches[0].start.identity);
  EXPECT_EQ(read[0].rows[0].key, launches[0].rows[0].key);
  EXPECT_DOUBLE_EQ(read[0].rows[1].busbw, 3e9);
}

TEST(BaselineFile, NoPartOfAFilePassesForTheWhole) {
  const std::string text = text_of({whole_launch(), launch_with({3e-6})});
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(message_of(text.substr(0, length)), "it was read") << length;
  }
  EXPECT_EQ(message_of(text), "it was read");
  EXPECT_NE(message_of(text + text), "it was read");
}

TEST(BaselineFile, DamageIsNamedWithItsLine) {
  const std::string text = text_of({whole_launch()});
  EXPECT_EQ(message_of(replaced(text, "\"baseline_version\":1", "\"baseline_version\":2")),
            "site.jsonl: it is a baseline of version 2, and this program reads versions up to 1; use the fabricbench "
            "that wrote it, or a later one");
  EXPECT_NE(message_of(replaced(text, "\"launches\":1", "\"launches\":2"))
                .find("the first line says 2 launches, and there are 1"),
            std::string::npos);
  EXPECT_NE(message_of(replaced(text, "\"rows\":2", "\"rows\":3")).find("site.jsonl:5: the file is cut off"),
            std::string::npos);
  EXPECT_NE(
      message_of(replaced(text, "\"rows\":2", "\"rows\":1")).find("site.jsonl:4: a line of kind 'row_times' stands"),
      std::string::npos);
  EXPECT_NE(message_of(replaced(text, "\"time_us_median\":2.0", "\"time_us_median\":-2"))
                .find("site.jsonl:4: time_us_median"),
            std::string::npos);
  EXPECT_NE(message_of(replaced(text, "\"time_us_median\":2.0", "\"time_us_median\":2.1"))
                .find("site.jsonl:4: time_us_median is 2.1, and the median of its epochs is 2;"),
            std::string::npos);
  EXPECT_NE(message_of(replaced(text, "\"size_bytes\":8", "\"size_bytes\":\"8\""))
                .find("site.jsonl:3: this is no row_times line"),
            std::string::npos);
  const auto expect_refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    const std::string message = message_of(replaced(text, from, to));
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  expect_refused("\"size_bytes\":8,", "", "site.jsonl:3: this is no row_times line (key 'size_bytes' is missing)");
  expect_refused("\"size_bytes\":8,", "\"size_bytes\":null,", "(key 'size_bytes' has no value)");
  expect_refused("\"size_bytes\":8,", "\"size_bytes\":8,\"size_bytes\":9,", "(key 'size_bytes' is there twice)");
  expect_refused("\"epoch_times_us\":[2.0", "\"epoch_times_us\":[-2.0",
                 "site.jsonl:4: epoch_times_us has a time that is not");
  expect_refused("\"busbw_gb_per_s\":3.0", "\"busbw_gb_per_s\":-3.0", "site.jsonl:4: busbw_gb_per_s is no rate");
  expect_refused("\"placement\":null", "\"placement\":\"sideways\"", "placement 'sideways' is none of");
  expect_refused("\"began_utc\":\"2025-06-15", "\"began_utc\":\"2025-06-31", "is not a time such as");
  Launch nobody = launch_with({1e-6});
  nobody.start.identity.clear();
  EXPECT_NE(message_of(text_of({nobody})).find("site.jsonl:2: identity is empty"), std::string::npos);
  Launch twice = launch_with({1e-6});
  twice.rows.push_back(twice.rows[0]);
  EXPECT_NE(message_of(text_of({twice})).find("site.jsonl:4: this launch has had this row before"), std::string::npos);
  EXPECT_NE(message_of("{}\n").find("site.jsonl:1"), std::string::npos);
  EXPECT_NE(message_of("# a table\n").find("site.jsonl:1"), std::string::npos);
}

std::string text_in(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(BaselineFile, LaunchesAreAddedOneAfterTheOther) {
  const FakeRoot folder;
  const std::string path = folder.path() / "site.jsonl";
  check_writable(path);
  EXPECT_FALSE(std::filesystem::exists(path)) << "checking creates nothing";
  EXPECT_EQ(add_launch(path, launch_with({1e-6})), 1U);
  EXPECT_EQ(add_launch(path, launch_with({2e-6})), 2U);
  EXPECT_EQ(read_baseline(path).size(), 2U);
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "neither locks nor halves stay behind";
}

TEST(BaselineFile, WritersAtTheSameTimeLoseNothing) {
  const FakeRoot folder;
  const std::string path = folder.path() / "site.jsonl";
  constexpr int kWriters = 4;
  constexpr int kLaunches = 8;
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      for (int launch = 0; launch < kLaunches; ++launch) add_launch(path, launch_with({1e-6}));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_baseline(path).size(), static_cast<std::size_t>(kWriters * kLaunches));
}

TEST(BaselineFile, ADamagedFileIsNotAddedTo) {
  const FakeRoot folder;
  const std::string path = folder.path() / "site.jsonl";
  add_launch(path, launch_with({1e-6}));
  const std::string damaged = text_in(path).substr(0, 50);
  std::ofstream(path) << damaged;
  EXPECT_THROW(check_writable(path), Error);
  EXPECT_THROW(add_launch(path, launch_with({1e-6})), Error);
  EXPECT_EQ(text_in(path), damaged);
}

TEST(BaselineFile, LinksAndPermissionsStay) {
  const FakeRoot folder;
  const std::filesystem::path path = folder.path() / "site.jsonl";
  add_launch(path, launch_with({1e-6}));
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  folder.link("latest.jsonl", "site.jsonl");
  EXPECT_EQ(add_launch(folder.path() / "latest.jsonl", launch_with({1e-6})), 2U);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "latest.jsonl"));
  EXPECT_EQ(read_baseline(path).size(), 2U);
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(BaselineFile, FilesThatCannotBeReadOrWritten) {
  const FakeRoot folder;
  try {
    static_cast<void>(read_baseline(folder.path() / "none.jsonl"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
  }
  EXPECT_THROW(check_writable(folder.path() / "no folder" / "site.jsonl"), UsageError);
  EXPECT_THROW(check_writable(folder.path()), UsageError) << "a folder";
  EXPECT_THROW(check_writable("/dev/full"), UsageError) << "no end";
  EXPECT_THROW(static_cast<void>(read_baseline("/dev/full")), Error);
  folder.link("lost.jsonl", "none.jsonl");
  EXPECT_THROW(check_writable(folder.path() / "lost.jsonl"), UsageError);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "lost.jsonl"));
}

TEST(BaselineFile, ALinkInPlaceOfTheNextFileIsNotFollowed) {
  const FakeRoot folder;
  folder.write("victim", "mine");
  folder.link("site.jsonl.new", "victim");
  add_launch(folder.path() / "site.jsonl", launch_with({1e-6}));
  EXPECT_EQ(text_in(folder.path() / "victim"), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.path() / "site.jsonl"));
}

TEST(BaselineFile, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(read_launches("\xEF\xBB\xBF" + text_of({whole_launch()}), "site.jsonl").size(), 1U);
}

}  // namespace
}  // namespace fabricbench::baseline
