// Evidence counts once, in whatever files and in whatever order it comes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "cluster/command/record_file.h"
#include "report_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace recorded_runs_test {

using Texts = std::vector<std::string>;

/// A run of hosts that meet in rounds, from `first` on. Figures are those of the seed; some readings fail.
std::string readings(const Texts& hosts, int seed, int first = 0, const std::string& more = "") {
  std::string text;
  const std::size_t count = hosts.size();
  for (std::size_t round = 1; round < count; ++round) {
    for (std::size_t from = 0; from < count; ++from) {
      const std::size_t to = (from + round) % count;
      const bool fails = (from + 2 * to) % 5 == 0;
      const std::string figure = fmt::format("{}", 10 + seed * 0.01 + static_cast<double>(from * count + to) / 7);
      text += fmt::format(
          R"({{"kind":"reading","round":{},"concurrent":2,"from_host":"{}","to_host":"{}","from_rail":"r{}",)"
          R"("from_nic":"mlx5_{}","test":"{}","size_bytes":8,"status":"{}","bandwidth_gb_per_s":{},"reason":{}{}}})"
          "\n",
          first + static_cast<int>(round) - 1, hosts[from], hosts[to], seed % 3, from % 2, seed % 2 == 0 ? "a" : "b",
          fails ? "failed" : "ok", fails ? "null" : figure, fails ? fmt::format("\"of {}\"", seed) : "null", more);
    }
  }
  return text;
}

std::string sweep(const std::string& began, const Texts& hosts, int seed, int first = 0) {
  return fmt::format(R"({{"kind":"sweep","hosts":["{}"]{}}})"
                     "\n",
                     fmt::join(hosts, "\",\""), began.empty() ? "" : fmt::format(R"(,"began_utc":"{}")", began)) +
         readings(hosts, seed, first);
}

std::string launch(const std::string& started, const Texts& hosts, int seed) {
  std::string ranks;
  for (const std::string& host : hosts) ranks += fmt::format(R"({}{{"host":"{}"}})", ranks.empty() ? "" : ",", host);
  return fmt::format(R"({{"kind":"context","schema_version":1,"program":"pairwise_bw","started_utc":"{}",)"
                     R"("rank_map":[{}]}})"
                     "\n",
                     started, ranks) +
         readings(hosts, seed);
}

/// Everything that a sweep says, as text.
std::string text_of(const Sweep& sweep) {
  std::string text = fmt::format("{}|{}|{}|{}\n", fmt::join(sweep.hosts, ","), fmt::join(sweep.rails, ","),
                                 fmt::join(sweep.tests, ","), sweep.below_asked);
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const Route* route = sweep.route_of(i, false);
    text += fmt::format("{}>{} rail {} kind {} round {} {} at {}\n", reading.from, reading.to, reading.from_rail,
                        reading.test, reading.round, reading.rate, route == nullptr ? -1 : route->devices[0]);
  }
  for (const Device& device : sweep.devices) text += device.id + "\n";
  for (const auto& [reading, reason] : sweep.reasons) text += fmt::format("{}: {}\n", reading, reason);
  return text;
}

class RecordedRuns : public testing::Test {
 protected:
  Records read(const Texts& texts) {
    RecordReader reader;
    for (const std::string& text : texts) {
      const std::string path = folder_.file(fmt::format("{}.jsonl", ++files_));
      std::ofstream(path, std::ios::binary) << text;
      reader.read(path);
    }
    return reader.finish();
  }
  std::string of(const Texts& texts) { return text_of(read(texts).sweep); }

 private:
  fabricbench::test::TemporaryFolder folder_;
  int files_ = 0;
};

const Texts kHosts{"n3", "n1", "n2", "n4"};
const std::string kFinished = R"(,"finished_utc":"2026-01-01T10:00:00Z")";

/// Runs of all that write them; check_node_pair writes no line before its readings.
const Texts kRuns{readings(kHosts, 3, 0, kFinished), sweep("2026-01-01T00:00:00Z", kHosts, 1),
                  launch("2026-01-01T00:00:00Z", kHosts, 2), sweep("", kHosts, 4)};

TEST_F(RecordedRuns, CountOnceWhereAFileIsGivenTwice) {
  for (const std::string& run : kRuns) {
    const Records twice = read({run, run, run});
    EXPECT_EQ(text_of(twice.sweep), of({run}));
    EXPECT_EQ(
        twice.notices,
        Texts{"readings left out because they are there twice: a file was given again, or with a copy of it: 24"});
    EXPECT_EQ(read({run}).notices, Texts{});
  }
}

TEST_F(RecordedRuns, CountOnceWhereAFileHasThemAllAndOthersParts) {
  std::string merged;
  for (const std::string& run : kRuns) merged += run;
  const std::string once = of({merged});
  EXPECT_EQ(of({merged, merged}), once);
  EXPECT_EQ(of(kRuns), once);
  Texts all = kRuns;
  all.push_back(merged);
  EXPECT_EQ(of(all), once);
  std::rotate(all.begin(), all.end() - 1, all.end());
  EXPECT_EQ(of(all), once);
}

TEST_F(RecordedRuns, CountOnceBesideACopyThatIsCutOff) {
  for (const std::string& run : kRuns) {
    for (std::size_t bytes = run.size() / 3; bytes < run.size(); bytes += 331) {
      const std::string cut = run.substr(0, bytes);
      EXPECT_EQ(of({run, cut}), of({run}));
      EXPECT_EQ(of({cut, run}), of({run}));
    }
  }
}

TEST_F(RecordedRuns, OfAnotherTimeAreFurtherEvidence) {
  // The same in all but their time, as figures of a program that rounds, and failures.
  const std::string early = sweep("2026-01-01T00:00:00Z", kHosts, 1);
  const std::string late = sweep("2026-01-02T00:00:00Z", kHosts, 1);
  for (const Texts& texts : {Texts{early, late}, Texts{late, early}, Texts{early + late}, Texts{late + early + late}}) {
    const Sweep both = read(texts).sweep;
    ASSERT_EQ(both.readings.size(), 24U);
    EXPECT_EQ(both.readings.front().round, 0);
    EXPECT_EQ(both.readings.back().round, 5);
  }
}

TEST_F(RecordedRuns, OfUnknownTimeAreFurtherEvidenceWhereAFigureDiffers) {
  EXPECT_EQ(read({sweep("", kHosts, 1), sweep("", kHosts, 2)}).sweep.readings.size(), 24U);
}

TEST_F(RecordedRuns, MayRepeatAReadingWithinAFileThatKnowsNoTimes) {
  const std::string line = readings({"a", "b"}, 1);
  EXPECT_EQ(read({line + line}).sweep.readings.size(), 4U) << "nobody knows whether it was measured twice";
}

TEST_F(RecordedRuns, AreInTheOrderOfTheirTimesWhateverTheOrderOfFiles) {
  Texts runs{sweep("2026-01-03T00:00:00Z", {"n4", "n1", "n2"}, 1),
             launch("2026-01-02T00:00:00Z", {"n5", "n2", "n3"}, 2),
             sweep("2026-01-01T00:00:00Z", kHosts, 3),
             readings({"n1", "n9"}, 6, 0, kFinished),
             sweep("", {"n7", "n1"}, 4),
             sweep("2026-01-01T00:00:00Z", kHosts, 5)};
  std::sort(runs.begin(), runs.end());
  const std::string once = of(runs);
  for (int permutation = 1; std::next_permutation(runs.begin(), runs.end()); ++permutation) {
    if (permutation % 7 != 0) continue;  // which is enough
    ASSERT_EQ(of(runs), once) << permutation;
  }
}

TEST_F(RecordedRuns, ContinueTheRoundsOfTheirPlan) {
  // Two launches of one plan, in either order: later numbers stay what they are.
  const std::string first = sweep("2026-01-01T00:00:00Z", kHosts, 1);
  const std::string second = sweep("2026-01-01T01:00:00Z", kHosts, 2, 3);
  for (const Texts& texts : {Texts{first, second}, Texts{second, first}}) {
    EXPECT_EQ(read(texts).sweep.readings.back().round, 5);
  }
}

}  // namespace recorded_runs_test
