#include "cluster/command/record_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "report_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace record_file_test {

using cluster::Sweep;
using Texts = std::vector<std::string>;

const std::string kHint = "; give files that 'pairwise_bw --json FILE' or 'scripts/sweep_pairs.sh' have written";

/// As pairwise_bw writes them; `more` are keys that go on top.
std::string reading_line(const std::string& from, const std::string& to, int round, const std::string& more = "") {
  return fmt::format(
      R"({{"kind":"reading","round":{},"concurrent":8,"from_host":"{}","to_host":"{}","size_bytes":4194304,)"
      R"("status":"ok","bandwidth_gb_per_s":12.5,"latency_us":2.1,"reason":null{}{}}})"
      "\n",
      round, from, to, more.empty() ? "" : ",", more);
}

std::string failed_line(const std::string& from, const std::string& to, const std::string& status,
                        const std::string& reason) {
  return fmt::format(R"({{"kind":"reading","round":0,"from_host":"{}","to_host":"{}","test":"t","status":"{}",)"
                     R"("bandwidth_gb_per_s":null,"reason":"{}"}})"
                     "\n",
                     from, to, status, reason);
}

class RecordFile : public testing::Test {
 protected:
  std::string written(std::string_view text) {
    const std::string path = folder_.file(fmt::format("{}.jsonl", ++files_));
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  Records read(const Texts& texts) {
    RecordReader reader;
    for (const std::string& text : texts) reader.read(written(text));
    return reader.finish();
  }

  /// The message of what reading throws, without the folder; empty: it throws nothing.
  std::string message_of(const std::string& text) {
    const std::string path = written(text);
    try {
      RecordReader reader;
      reader.read(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
      return without_folder(error.what());
    }
    return "";
  }

  std::string without_folder(std::string text) {
    const std::string folder = folder_.file("");
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

 private:
  fabricbench::test::TemporaryFolder folder_;
  int files_ = 0;
};

/// `0>1`, the hosts' numbers, of every reading.
Texts ways(const Sweep& sweep) {
  Texts all;
  for (const Reading& reading : sweep.readings) all.push_back(fmt::format("{}>{}", reading.from, reading.to));
  return all;
}

/// `0>1`, the names of the rails, of every reading.
Texts rails(const Sweep& sweep) {
  Texts all;
  for (const Reading& reading : sweep.readings) {
    all.push_back(fmt::format("{}>{}", sweep.rails[static_cast<std::size_t>(reading.from_rail)],
                              sweep.rails[static_cast<std::size_t>(reading.to_rail)]));
  }
  return all;
}

std::vector<int> rounds(const Sweep& sweep) {
  std::vector<int> all;
  for (const Reading& reading : sweep.readings) all.push_back(reading.round);
  return all;
}

TEST_F(RecordFile, IsReadIntoASweep) {
  const Records records =
      read({R"({"kind":"sweep","hosts":["n3","n1","n2"],"began_utc":"2026-01-01T00:00:00Z"})"
            "\n" +
            reading_line("n1", "n2", 3, R"("test":"send_recv_bibw")") +
            failed_line("n2", "n1", "timeout", "no answer") + failed_line("n1", "n3", "not_tried", "")});
  const Sweep& sweep = records.sweep;
  EXPECT_EQ(sweep.hosts, (Texts{"n3", "n1", "n2"})) << "in the order of the sweep, and silent ones too";
  EXPECT_EQ(sweep.tests, (Texts{"send_recv_bibw 4 MiB", "t"}));
  EXPECT_EQ(sweep.rails, Texts{""});
  EXPECT_TRUE(sweep.leaf_of.empty());
  ASSERT_EQ(ways(sweep), (Texts{"1>2", "2>1", "1>0"}));
  const Reading& first = sweep.readings[0];
  EXPECT_EQ(first.outcome, Outcome::kMeasured);
  EXPECT_FLOAT_EQ(first.rate, 12.5e9F);
  EXPECT_EQ(first.round, 3);
  EXPECT_EQ(first.concurrent, 8);
  EXPECT_FALSE(first.both_ways);
  EXPECT_EQ(sweep.readings[1].outcome, Outcome::kFailed);
  EXPECT_EQ(sweep.readings[1].rate, 0);
  EXPECT_EQ(sweep.readings[1].concurrent, 0) << "nobody said";
  EXPECT_EQ(sweep.readings[2].outcome, Outcome::kNotTried);
  ASSERT_EQ(sweep.reasons.size(), 1U);
  EXPECT_EQ(sweep.reasons[0], (std::pair<std::size_t, std::string>(1, "no answer")));
  EXPECT_EQ(records.notices, Texts{});
}

TEST_F(RecordFile, RefusesHostsWhoseNamesCouldBreakALineOrACommand) {
  for (const char* name :
       {"x\\nSlow: goodhost", "\\u001b[2J", "node03; touch pwned # ", "-oProxyCommand=x", "a,b", "a b"}) {
    const std::string reading = fmt::format(
        R"({{"kind":"reading","from_host":"a","to_host":"{}","status":"ok","bandwidth_gb_per_s":3}})", name);
    EXPECT_NE(message_of(reading + "\n" + reading_line("a", "b", 0)).find("is no host: it has"), std::string::npos)
        << name;
  }
}

TEST_F(RecordFile, TakesKeysInAnyOrderAndPassesOverOthers) {
  const Records records = read(
      {R"({"kind":"epoch","round":"first","status":17,"nested":{"kind":"reading","hosts":[1]}})"
       "\n\n"
       R"({"status":"slow","unknown":[{"a":1},2],"to_host":"b\u002d1","bandwidth_gb_per_s":3,"from_host":"a","kind":"reading"})"
       "\r\n"});
  EXPECT_EQ(records.sweep.hosts, (Texts{"a", "b-1"}));
  EXPECT_EQ(records.sweep.tests, Texts{"unnamed test"});
  ASSERT_EQ(records.sweep.readings.size(), 1U);
  EXPECT_FLOAT_EQ(records.sweep.readings[0].rate, 3e9F) << "slow is a figure too";
  EXPECT_EQ(records.sweep.below_asked, 1);
}

TEST_F(RecordFile, TellsStatusesApart) {
  for (const char* status : {"failed", "timeout"}) {
    const Records records = read({failed_line("a", "b", status, "why")});
    EXPECT_EQ(records.sweep.readings.at(0).outcome, Outcome::kFailed) << status;
  }
  const Records wrong = read({failed_line("a", "b", "wrong", "why")});
  EXPECT_EQ(wrong.sweep.readings.at(0).outcome, Outcome::kWrong);
  EXPECT_EQ(wrong.sweep.reasons.at(0).second, "why");
  EXPECT_EQ(message_of(failed_line("a", "b", "ok", "")), "");
  EXPECT_EQ(read({failed_line("a", "b", "ok", "")}).notices,
            Texts{"readings left out because they succeeded but have no bandwidth: 1"});
}

TEST_F(RecordFile, KindsAreTestsAndSizes) {
  const Records records =
      read({R"({"kind":"context","program":"pairwise_bw","rank_map":[{"rank":0,"host":"a"},{"rank":1,)"
            R"("host":"b"}],"hosts":[{"name":"a"},{"name":"b"}]})"
            "\n" +
            reading_line("a", "b", 0) + reading_line("b", "a", 0, R"("size_bytes":8)") +
            reading_line("a", "b", 1, R"("test":"tcp_bw","both_ways":true)") + reading_line("b", "a", 1)});
  EXPECT_EQ(records.sweep.hosts, (Texts{"a", "b"}));
  EXPECT_EQ(records.sweep.tests, (Texts{"pairwise_bw 4 MiB", "pairwise_bw 8 B", "tcp_bw 4 MiB"}));
  EXPECT_EQ(records.sweep.readings[1].test, 1);
  EXPECT_TRUE(records.sweep.readings[2].both_ways);
  EXPECT_EQ(records.sweep.readings[3].test, 0);
}

TEST_F(RecordFile, NamesRailsInTheOrderOfPeople) {
  const Records records = read({reading_line("a", "b", 0, R"("from_rail":"mlx5_10","to_rail":"mlx5_2")") +
                                reading_line("a", "b", 0, R"("from_rail":3,"to_rail":12 )") +
                                reading_line("a", "b", 0, R"("from_rail":null)")});
  EXPECT_EQ(records.sweep.rails, (Texts{"", "3", "12", "mlx5_2", "mlx5_10"}));
  EXPECT_EQ(rails(records.sweep), (Texts{"mlx5_10>mlx5_2", "3>12", ">"}));
}

TEST_F(RecordFile, WorksOutRailsFromWhereTheEndpointsAre) {
  const std::string context =
      R"({"kind":"context","program":"pairwise_bw","rank_map":[{"host":"a"},{"host":"a"},{"host":"b"},{"host":"b"}]})"
      "\n";
  const Records records =
      read({context + reading_line("a", "b", 0, R"("from":0,"to":3)") +
            reading_line("b", "a", 0, R"("from":2,"to":1)") + reading_line("a", "a", 0, R"("from":0,"to":1)") +
            reading_line("a", "b", 0, R"("from":1,"to":2,"from_rail":7,"to_rail":8)")});
  EXPECT_EQ(rails(records.sweep), (Texts{"0>1", "0>1", "7>8"})) << "what a reading says goes before that";
  EXPECT_EQ(records.notices,
            Texts{"readings left out because both endpoints are on one host, which does not measure the network: 1"});
  EXPECT_EQ(
      message_of(context + reading_line("a", "b", 0, R"("from":0,"to":4)")),
      "2.jsonl:2: this record is broken (there is no endpoint 4 in the context line, which has 4); look at it with "
      "'sed -n 2p 2.jsonl'; if a crash or two writers at once have spoilt it, remove it with 'sed -i 2d "
      "2.jsonl'");
}

TEST_F(RecordFile, KeepsWhatReadingsWentThrough) {
  const std::string same = R"("from_nic":"mlx5_2","from_nic_guid":"0x0c42","from_gpu":"0000:17:00.0",)"
                           R"("from_gpu_uuid":"GPU-1","from_switch_port":"leaf1/7","from_port_gb_per_s":50)";
  const Sweep sweep =
      read({reading_line("a", "b", 0) + reading_line("a", "b", 0, same) +
            reading_line("c", "b", 0, same + R"(,"to_nic":"mlx5_2","to_gpu":null)") + reading_line("b", "a", 0)})
          .sweep;
  Texts devices;
  for (const Device& device : sweep.devices) devices.push_back(device.id + " " + device.name);
  EXPECT_EQ(devices, (Texts{"0x0c42 mlx5_2", "GPU-1 0000:17:00.0", "leaf1/7 leaf1/7", "b/mlx5_2 mlx5_2"}))
      << "without a GUID, a device is its host's";
  EXPECT_EQ(sweep.route_of(0, false), nullptr);
  ASSERT_NE(sweep.route_of(1, false), nullptr);
  EXPECT_EQ(sweep.route_of(1, false)->devices, (std::array<std::int32_t, 3>{0, 1, 2}));
  EXPECT_EQ(sweep.route_of(1, false)->port_rate, 50e9);
  EXPECT_EQ(sweep.route_of(1, true), nullptr);
  EXPECT_EQ(sweep.route_of(2, false)->devices, sweep.route_of(1, false)->devices) << "of another host, the same";
  EXPECT_EQ(sweep.route_of(2, true)->devices, (std::array<std::int32_t, 3>{3, Route::kNone, Route::kNone}));
  EXPECT_EQ(sweep.route_of(2, true)->port_rate, 0) << "not known";
  EXPECT_EQ(sweep.route_of(3, false), nullptr);
}

TEST_F(RecordFile, CostsNothingWhereNoDeviceIsKnown) {
  EXPECT_TRUE(read({reading_line("a", "b", 0, R"("from_nic":null,"to_gpu":null)")}).sweep.routes_of.empty());
}

TEST_F(RecordFile, RefusesAPortWithoutARate) {
  EXPECT_NE(message_of(reading_line("a", "b", 0) + reading_line("a", "b", 0, R"("from_port_gb_per_s":0)"))
                .find("a port's rate of 0 GB/s is invalid"),
            std::string::npos);
}

TEST_F(RecordFile, CountsTheRoundsOfLaterRunsOn) {
  const auto began = [](int hour) {
    return fmt::format(R"({{"kind":"context","program":"pairwise_bw","started_utc":"2026-01-01T0{}:00:00Z"}})"
                       "\n",
                       hour);
  };
  const std::string run = reading_line("a", "b", 0) + reading_line("a", "b", 1) + reading_line("a", "b", 2);
  EXPECT_EQ(rounds(read({began(1) + run, began(2) + run}).sweep), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rounds(read({began(1) + run + began(2) + run}).sweep), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  const std::string last_again = reading_line("a", "b", 2) + reading_line("a", "b", 3);
  EXPECT_EQ(rounds(read({began(1) + run + began(2) + last_again}).sweep), (std::vector<int>{0, 1, 2, 3, 4}))
      << "a launch that goes on where another was broken off, at another time";
  EXPECT_EQ(rounds(read({began(1) + run, began(2) + reading_line("a", "b", 7)}).sweep), (std::vector<int>{0, 1, 2, 7}));
}

TEST_F(RecordFile, PassesOverALastLineThatIsCutOff) {
  const std::string whole = reading_line("a", "b", 0) + reading_line("b", "a", 0);
  for (std::size_t cut = 2; cut < reading_line("b", "a", 0).size(); cut += 7) {
    const Records records = read({whole.substr(0, whole.size() - cut)});
    EXPECT_EQ(records.sweep.readings.size(), 1U) << cut;
    ASSERT_EQ(records.notices.size(), 1U) << cut;
    EXPECT_TRUE(records.notices[0].ends_with(".jsonl:2: the last line is cut off and left out")) << records.notices[0];
  }
  EXPECT_EQ(read({whole.substr(0, whole.size() - 1)}).sweep.readings.size(), 2U)
      << "only the end of the line is missing";
  EXPECT_EQ(message_of(""), "") << "a sweep that has just begun";
}

TEST_F(RecordFile, FindsTheRecordBehindOneThatIsCutOff) {
  const std::string next = reading_line("b", "a", 1);
  const std::string cut = reading_line("a", "b", 0);
  for (std::size_t bytes = 1; bytes < cut.size() - 1; bytes += 7) {
    const Records records = read({reading_line("a", "b", 0) + cut.substr(0, bytes) + next + next});
    EXPECT_EQ(ways(records.sweep), (Texts{"0>1", "1>0", "1>0"})) << bytes;
    ASSERT_EQ(records.notices.size(), 1U);
    EXPECT_TRUE(records.notices[0].ends_with(".jsonl:2: a record is cut off by the next one and left out"));
  }
}

TEST_F(RecordFile, SaysWhatIsWrongAndWhere) {
  const std::string good = reading_line("a", "b", 0);
  const auto broken = [&](const std::string& problem, int file) {
    return fmt::format(
        "{1}.jsonl:2: this record is broken ({0}); look at it with 'sed -n 2p {1}.jsonl'; if a crash or "
        "two writers at once have spoilt it, remove it with 'sed -i 2d {1}.jsonl'",
        problem, file);
  };
  const auto second = [&](const std::string& line) { return message_of(good + line + "\n" + good); };
  EXPECT_EQ(second(R"({"kind":"reading","to_host":"b","status":"ok"})"),
            broken("a reading needs from_host and to_host", 1));
  EXPECT_EQ(second(R"({"kind":"reading","from_host":"a","to_host":"b"})"), broken("a reading needs a status", 2));
  EXPECT_EQ(second(R"({"kind":"reading","from_host":"a","to_host":"b","status":"fine"})"),
            broken("status 'fine' is none of ok, slow, failed, timeout, wrong and not_tried", 3));
  EXPECT_EQ(second(R"({"kind":"reading","from_host":7,"to_host":"b","status":"ok"})"),
            broken("key 'from_host' has a value of the wrong type", 4));
  EXPECT_EQ(second(R"({"kind":"reading","from_host":"a","to_host":"b","status":"failed","round":-1})"),
            broken("round -1 is not from 0 to 1073741823", 5));
  EXPECT_EQ(second(R"({"kind":"locality","host":"a"})"), broken("a locality line needs a host and a leaf", 6));
  EXPECT_EQ(second(R"({"kind":"other"} {"a":1})"), broken("text follows the closing brace", 7));
  EXPECT_EQ(second("[1, 2]"), broken("not a JSON object", 8));
  EXPECT_TRUE(second(R"({"kind":"reading","from_host":"a)").starts_with("9.jsonl:2: this record is broken ("));
  EXPECT_TRUE(second(R"({"kind":"reading";"from_host":"a"})").starts_with("10.jsonl:2: this record is broken ("));
  EXPECT_TRUE(
      second("{\"kind\":\"reading\",\"from_host\":\"\xff\"}").starts_with("11.jsonl:2: this record is broken ("));
}

TEST_F(RecordFile, MayBeginWithAByteOrderMark) {
  const Records records = read({"\xEF\xBB\xBF" + reading_line("a", "b", 0) + reading_line("b", "a", 0)});
  EXPECT_EQ(ways(records.sweep), (Texts{"0>1", "1>0"}));
  RecordReader reader;
  reader.read(written(reading_line("a", "b", 0)));
  reader.read_locality(
      written("\xEF\xBB\xBF"
              "a leaf1\nb leaf2\n"));
  EXPECT_EQ(reader.finish().sweep.leaf_of, (std::vector<std::int32_t>{0, 1}));
}

TEST_F(RecordFile, RefusesRatesThatNoLinkHas) {
  const std::string good = reading_line("a", "b", 0);
  const auto message_of_rate = [&](const char* rate) {
    std::string absurd = good;
    absurd.replace(absurd.find("12.5"), 4, rate);
    return message_of(good + absurd);
  };
  for (const char* rate : {"1e98", "1000001", "1e7", "-1", "-1e98"}) {
    EXPECT_NE(message_of_rate(rate).find(" is not a link's bandwidth"), std::string::npos) << rate;
  }
  for (const char* rate : {"1e308", "-1e308"}) {
    EXPECT_NE(message_of_rate(rate).find("e+308 is too large for a figure"), std::string::npos) << rate;
  }
  std::string most = good;
  most.replace(most.find("12.5"), 4, "1000000");
  EXPECT_EQ(message_of(good + most), "");
}

TEST_F(RecordFile, TellsOfANewerSchema) {
  const auto with_version = [](const std::string& version) {
    return R"({"kind":"context","schema_version":)" + version + R"(,"program":"pairwise_bw"})" + "\n" +
           reading_line("a", "b", 0);
  };
  EXPECT_EQ(read({with_version("1")}).notices, Texts{});
  const Records newer = read({with_version("9")});
  EXPECT_EQ(ways(newer.sweep), (Texts{"0>1"}));
  ASSERT_EQ(newer.notices.size(), 1U);
  EXPECT_EQ(without_folder(newer.notices[0]),
            "2.jsonl: its schema_version is 9, newer than version 1 of this program; unknown parts are ignored");
  EXPECT_NE(message_of(reading_line("a", "b", 0) + with_version("0")).find("schema_version 0 is invalid"),
            std::string::npos);
}

TEST_F(RecordFile, RefusesWhatIsNoFileOfRecords) {
  EXPECT_EQ(message_of("hello\n"), "1.jsonl:1: this is not a file of records (not a JSON object)" + kHint);
  EXPECT_EQ(message_of("{\"a\":1}\n"), "2.jsonl: it holds JSON, but no reading of a sweep over pairs" + kHint);
  EXPECT_EQ(message_of("{\"kind\":\"context\",\"program\":\"all_reduce_perf\",\"rank_map\":[{\"host\":\"a\"}]}\n"),
            "3.jsonl: it holds records of all_reduce_perf, but no reading of a sweep over pairs" + kHint);
  EXPECT_EQ(message_of("{\"kind\":\"sweep\",\"hos"),
            "4.jsonl:1: its only line is cut off, so the run ended before it had measured anything" + kHint);
  try {
    RecordReader().read("/nowhere/file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(error.what(),
                 "cannot open '/nowhere/file': No such file or directory; check the path and its permissions");
  }
}

TEST_F(RecordFile, KnowsLeaves) {
  const std::string path = written("# racks\nn[1-2]  leaf1\nother leaf9\nn3\tleaf2 # new\n");
  RecordReader reader({"n5"});
  reader.read(written(reading_line("n3", "n1", 0) + R"({"kind":"locality","host":"n4","leaf":"leaf2"})" + "\n" +
                      reading_line("n4", "n2", 0)));
  reader.read_locality(path);
  const Records records = reader.finish();
  EXPECT_EQ(records.sweep.hosts, (Texts{"n5", "n3", "n1", "n4", "n2"})) << "without those of the locality file only";
  EXPECT_EQ(records.sweep.leaves, (Texts{"leaf2", "leaf1"}));
  EXPECT_EQ(records.sweep.leaf_of, (std::vector<std::int32_t>{Sweep::kNoLeaf, 0, 1, 0, 1}));
  EXPECT_EQ(records.notices, Texts{"hosts without a known leaf: n5"});
}

TEST_F(RecordFile, KnowsLeavesOfSlurm) {
  RecordReader reader;
  reader.read(written(reading_line("n1", "n3", 0)));
  reader.read_locality(
      written("# topology.conf\nSwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n3\nSwitchName=s Switches=l[1-2]\n"));
  EXPECT_EQ(reader.finish().sweep.leaves, (Texts{"l1", "l2"}));
}

TEST_F(RecordFile, RefusesWhatIsNoLocality) {
  const auto message = [&](const std::string& text) {
    try {
      RecordReader().read_locality(written(text));
    } catch (const UsageError& error) {
      return without_folder(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("a leaf1\nb\n"),
            "1.jsonl:2: 'b' is not a locality; write a host and its leaf, such as node[01-16] leaf1");
  EXPECT_EQ(message("a leaf1 rack2\n"),
            "2.jsonl:1: 'a leaf1 rack2' is not a locality; write a host and its leaf, such as node[01-16] leaf1");
  EXPECT_EQ(message("a[2-1] leaf1\n"),
            "3.jsonl:1: 'a[2-1]': '2-1' in the brackets runs backwards; write the smaller number first");
}

TEST_F(RecordFile, KeepsTheFirstReasonsOfEachHost) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += failed_line("a", "b", "failed", fmt::format("reason {}", i));
  text += failed_line("a", "c", "failed", "of c");
  const Records records = read({text});
  EXPECT_EQ(records.sweep.readings.size(), 101U);
  ASSERT_EQ(records.sweep.reasons.size(), 9U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(records.sweep.reasons[i], (std::pair<std::size_t, std::string>(i, fmt::format("reason {}", i))));
  }
  EXPECT_EQ(records.sweep.reasons[8], (std::pair<std::size_t, std::string>(100, "of c")));
}

TEST_F(RecordFile, MayBeLongAndHaveLongLines) {
  // Longer than a block of 4 MiB, and lines across the ends of many blocks.
  Texts ranks;
  for (int host = 0; host < 300000; ++host) ranks.push_back(fmt::format(R"({{"rank":{0},"host":"node{0:06}"}})", host));
  std::string text =
      fmt::format("{{\"kind\":\"context\",\"program\":\"pairwise_bw\",\"rank_map\":[{}]}}\n", fmt::join(ranks, ","));
  ASSERT_GT(text.size(), std::size_t{9} << 20);
  const int readings = 60000;
  for (int i = 0; i < readings; ++i) {
    text += reading_line(fmt::format("node{:06}", i), fmt::format("node{:06}", i + 1), i / 100,
                         fmt::format(R"("note":"{}")", std::string(static_cast<std::size_t>(i % 97), 'x')));
  }
  const Records records = read({text});
  EXPECT_EQ(records.sweep.hosts.size(), 300000U);
  ASSERT_EQ(records.sweep.readings.size(), static_cast<std::size_t>(readings));
  for (int i = 0; i < readings; ++i) {
    const Reading& reading = records.sweep.readings[static_cast<std::size_t>(i)];
    ASSERT_EQ(reading.from, i);
    ASSERT_EQ(reading.to, i + 1);
    ASSERT_EQ(reading.round, i / 100);
  }
}

}  // namespace record_file_test
