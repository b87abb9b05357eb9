#include "cluster/run/preset.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "common/core/error.h"

namespace fabricbench::expected {
namespace {

namespace fs = std::filesystem;

constexpr double kGigabyte = 1e9;
constexpr Bytes kGibibyte = Bytes{1} << 30;
const std::string kStart = R"({"kind":"preset","preset_version":1,"name":"pair","description":"two hosts"})";
const std::string kFigure =
    R"({"kind":"preset_figure","program":"all_reduce_perf","gpu":"H100","hosts":2,"ranks":2,)"
    R"("from_bytes":1024,"to_bytes":0,"usual_gb_per_s":48,"least_gb_per_s":44,"source":"a page"})";

class PresetFile : public testing::Test {
 protected:
  Preset read(const std::string& text) {
    std::ofstream(file_) << text;
    return read_preset(file_);
  }

  /// What is said of a file that is refused.
  std::string refused(const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
      return error.what();
    }
    return "(read)";
  }

  fs::path directory_ = fs::temp_directory_path() / ("fabricbench-preset-" + std::to_string(::getpid()));
  fs::path file_ = directory_ / "pair.jsonl";

  void SetUp() override { fs::create_directories(directory_); }
  void TearDown() override { fs::remove_all(directory_); }
};

Context preset_context(const std::string& model) {
  Context context;
  context.program = "all_reduce_perf";
  context.hosts = 2;
  for (int rank = 0; rank < 2; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    if (!model.empty()) facts.gpu.emplace().model = model;
    context.ranks.push_back(facts);
  }
  return context;
}

MeasuredRow preset_row(Bytes size, double busbw_gb, Seconds time = 1e-3) {
  MeasuredRow row{.busbw = busbw_gb * kGigabyte, .time = time};
  row.key.size = size;
  return row;
}

TEST_F(PresetFile, HasFigures) {
  const Preset preset = read(kStart + "\n" + kFigure + "\n");
  EXPECT_EQ(preset.start.name, "pair");
  ASSERT_EQ(preset.figures.size(), 1U);
  EXPECT_DOUBLE_EQ(preset.figures[0].least, 44 * kGigabyte);
  EXPECT_EQ(preset.figures[0].most_time, 0);
}

TEST_F(PresetFile, IsRefusedWithItsLine) {
  EXPECT_NE(refused("").find("pair.jsonl: there is no line of kind `preset`"), std::string::npos);
  EXPECT_NE(refused(kStart + "\n").find("no line of kind `preset_figure`"), std::string::npos);
  EXPECT_NE(refused(kFigure + "\n").find("pair.jsonl:1: the first line has to be of kind `preset`"), std::string::npos);
  EXPECT_NE(refused(kStart + "\nno JSON\n").find("pair.jsonl:2: this is no line of a preset"), std::string::npos);
  EXPECT_NE(refused(R"({"kind":"preset","preset_version":9,"name":"x","description":""})").find("preset_version is 9"),
            std::string::npos);
  const auto refused_figure = [&](const std::string& figure) {
    return refused(kStart + "\n" + R"({"kind":"preset_figure","program":"x",)" + figure + "}\n");
  };
  EXPECT_NE(refused_figure(R"("source":"y")").find("neither least_gb_per_s nor most_us is above 0"), std::string::npos);
  EXPECT_NE(refused_figure(R"("source":"","most_us":5)").find("the figure names no source"), std::string::npos);
  EXPECT_NE(refused_figure(R"("source":"y","least_gb_per_s":5,"usual_gb_per_s":4)")
                .find("usual_gb_per_s is below least_gb_per_s"),
            std::string::npos);
  EXPECT_NE(refused(kStart + "\n" + R"({"kind":"row"})" + "\n").find("kind 'row' does not belong here"),
            std::string::npos);
}

TEST_F(PresetFile, IsFoundByItsNameOrPath) {
  std::ofstream(file_) << kStart;
  EXPECT_EQ(find_preset("pair", {directory_}), file_);
  EXPECT_EQ(find_preset(file_.string(), {}), file_);
  try {
    static_cast<void>(find_preset("pear", {directory_}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(error.what(), "there is no preset 'pear', and no such file; give a file, or one of pair");
  }
}

TEST_F(PresetFile, IsComparedWithTheBestRowOfItsSizes) {
  const Preset preset = read(kStart + "\n" + kFigure + "\n");
  const Context context = preset_context("NVIDIA H100 80GB HBM3");
  const auto compared = compare(preset, context, {preset_row(8, 99), preset_row(4096, 30), preset_row(kGibibyte, 47)});
  ASSERT_EQ(compared.size(), 1U);
  EXPECT_EQ(compared[0].size, kGibibyte);
  EXPECT_EQ(compared[0].verdict, PresetVerdict::kReached);
  EXPECT_EQ(outcome_of(preset, context, compared).exit_status, 0);

  const auto below = compare(preset, context, {preset_row(kGibibyte, 23)});
  const PresetOutcome outcome = outcome_of(preset, context, below);
  EXPECT_EQ(outcome.exit_status, 6);
  EXPECT_EQ(outcome.lines[0],
            "Preset pair: 23 GB/s at 1 GiB, BELOW what is published; published: at least 44 GB/s, usually 48 (a page)");
  EXPECT_EQ(outcome.headline, "1 of 1 published figures of preset pair are not reached");

  EXPECT_EQ(outcome_of(preset, context, compare(preset, context, {preset_row(8, 99)})).exit_status, 7);
}

TEST_F(PresetFile, IsNotComparedWithOtherSystems) {
  const Preset preset = read(kStart + "\n" + kFigure + "\n");
  Context context = preset_context("NVIDIA A100");
  EXPECT_TRUE(compare(preset, context, {preset_row(kGibibyte, 47)}).empty());
  EXPECT_EQ(outcome_of(preset, context, {}).exit_status, 7);
  EXPECT_TRUE(compare(preset, preset_context(""), {preset_row(kGibibyte, 47)}).empty());
  context = preset_context("H100");
  context.hosts = 4;
  EXPECT_TRUE(compare(preset, context, {preset_row(kGibibyte, 47)}).empty());
  context = preset_context("H100");
  context.program = "all_gather_perf";
  EXPECT_TRUE(compare(preset, context, {preset_row(kGibibyte, 47)}).empty());
}

TEST_F(PresetFile, MayLimitTimes) {
  const Preset preset = read(
      kStart + "\n" +
      R"({"kind":"preset_figure","program":"all_reduce_perf","from_bytes":2,"to_bytes":8,"most_us":5,"source":"a page"})");
  const Context context = preset_context("");
  EXPECT_EQ(compare(preset, context, {preset_row(8, 0, 4e-6), preset_row(2, 0, 3e-6)})[0].size, 2U);
  EXPECT_EQ(compare(preset, context, {preset_row(8, 0, 4e-6)})[0].verdict, PresetVerdict::kReached);
  const auto slow = compare(preset, context, {preset_row(8, 0, 6e-6)});
  EXPECT_EQ(slow[0].verdict, PresetVerdict::kBelow);
  EXPECT_NE(outcome_of(preset, context, slow).lines[0].find("SLOWER than what is published"), std::string::npos);
}

TEST(Presets, ThatComeWithTheSuiteCanBeRead) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(FABRICBENCH_PRESETS))) {
    const Preset preset = read_preset(entry.path());
    EXPECT_EQ(preset.start.name, entry.path().stem());
    for (const PresetFigure& figure : preset.figures) {
      EXPECT_FALSE(figure.source.empty());
      EXPECT_TRUE(figure.usual == 0 || figure.least < figure.usual) << preset.start.name;
    }
    ++files;
  }
  EXPECT_GT(files, 5);
}

}  // namespace
}  // namespace fabricbench::expected
