#include "cluster/import/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cluster/import/logs.h"

using namespace fabricbench::cluster;

namespace import_text_test {

TEST(RateUnit, TellsBitsFromBytesAndThousandsFrom1024) {
  const std::vector<std::pair<const char*, double>> units = {
      {"B/s", 1},          {"GB/s", 1e9},         {"Gb/s", 1.25e8},      {"MiB/s", 1048576}, {"GiB/s", 1 << 30},
      {"Gbit/s", 1.25e8},  {"Gbits/sec", 1.25e8}, {"Mbits/sec", 125000}, {"kB/s", 1000},     {"KB/s", 1000},
      {"Tbit/s", 1.25e11}, {"bits/sec", 0.125},   {"Gbps", 1.25e8},      {"gbps", 1.25e8},   {"GBps", 1e9},
      {"MBytes/sec", 1e6}, {"Gib/s", 134217728},  {" MB/s ", 1e6}};
  for (const auto& [unit, bytes] : units) EXPECT_EQ(unit_in(unit), bytes) << unit;
}

TEST(RateUnit, IsNoneWhereItCouldBeTwo) {
  for (const char* unit : {"", "gb/s", "mb/s", "GB", "G/s", "/s", "s", "bandwidth", "us", "XB/s", "GB/min", "Gx/s"}) {
    EXPECT_EQ(unit_in(unit), std::nullopt) << unit;
  }
}

TEST(Lines, EndAnyWay) {
  TextLines lines("a\r\n\nb");
  std::vector<std::string> all;
  while (lines.next()) all.emplace_back(lines.line());
  EXPECT_EQ(all, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines.number(), 3);
  EXPECT_EQ(lines.end(), 5U);
  EXPECT_FALSE(TextLines("").next());
}

const std::string kLog =
    "-----\n                    RDMA_Write BW Test\n\n Dual-port       : OFF\n #bytes     #iterations\n 65536   "
    "5000\n-----\n";

/// The log with a label before each line; `#` in it is the number of the line.
std::string labelled(std::string_view label) {
  std::string text;
  for (TextLines lines(kLog); lines.next();) {
    for (const char letter : label) text += letter == '#' ? std::to_string(lines.number()) : std::string(1, letter);
    text.append(lines.line()) += '\n';
  }
  return text;
}

/// The lines without blanks at their ends, which the width of a label may change.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  for (TextLines lines(text); lines.next();) all.emplace_back(trimmed(lines.line()));
  return all;
}

TEST(Labels, AreTakenAway) {
  for (const char* label : {
           "2024-07-29T12:34:56.78901#Z ",                // kubectl logs --timestamps, docker logs -t
           "2024-07-29T12:34:56.78901#Z stdout F ",       // /var/log/pods (CRI)
           "2024-07-29T12:34:5#+00:00 ",                  // journalctl -o short-iso, Slurm
           "[pod/launcher-x#kq/mpi] ",                    // kubectl logs --prefix
           "[pod/launcher/mpi] 2024-07-29T12:34:56.#Z ",  // both
           "launcher-x2kq mpi ",                          // stern
           "launcher-1  | ",                              // docker compose
           "Jul 29 12:34:5# node01 slurmd[#]: ",          // journalctl, syslog
           "Jul 29 12:34:5# ",                            // ts
           "00:00:0# ",                                   // ts -i
           "172225649#.123456 ",                          // ts %.s
           "[2024-07-29 12:34:5#] ",                      // scripts
           "n01: ",                                       // pdsh
           "node-01.cluster.local: ",                     // clush
           "0: ",                                         // srun --label
           "[0] ",                                        // mpiexec -l of Hydra and Intel
           "[0#] ",                                       // ranks
           "[node01:0] ",                                 // mpirun --prepend-rank, Hydra's -prepend-pattern
           "[1,0]<stdout>:",                              // mpirun --tag-output of Open MPI 4
           "[1,0]<stdout>: ",                             // of Open MPI 5
           "[prterun-node01-2#@1,0]<stdout>: ",           // of Open MPI 5 by name
           "Mon Jul 29 12:34:5# 2024[1,0]<stdout>:",      // with --timestamp-output
           "Mon Jul 29 12:34:5# 2024<stdout>:",           // that alone
           "node01\t",
           "node01 | ",
           "<14>1 ",
           "node01> ",
           "(node01) ",
       }) {
    const PlainLog log = without_labels(labelled(label));
    EXPECT_EQ(lines_of(log.text), lines_of(kLog)) << label;
    EXPECT_EQ(log.label, "") << label;
  }
}

/// The log with each line as a JSON object, which has `before` and `behind` around it.
std::string in_json(std::string_view before, std::string_view behind) {
  std::string text;
  for (TextLines lines(kLog); lines.next();) {
    text.append(before);
    for (const char letter : lines.line()) text += letter == '\t' ? std::string("\\t") : std::string(1, letter);
    text.append(behind) += '\n';
  }
  return text;
}

TEST(Labels, MayBeJson) {
  const std::string docker = in_json("{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2024-07-29T12:34:56.7Z\"}");
  for (const std::string& text :
       {docker,
        in_json("{\"labels\":{\"pod\":\"a\"},\"line\":\"", "\",\"timestamp\":\"2024-07-29T12:34:56.7Z\"}"),  // logcli
        in_json("{\"_PID\": \"48211\", \"MESSAGE\": \"", "\", \"PRIORITY\": \"6\"}"),  // journalctl -o json
        in_json("{\"ts\":\"2026-03-03\",\"level\":\"info\",\"msg\":\"", "\"}"),
        in_json("time=\"2026-03-03T09:14:00Z\" level=info msg=\"", "\""),  // logfmt
        in_json("{\"log\":\"\\u001b[1mn01:\\u001b[0m ", "\\n\"}")}) {
    const PlainLog log = without_labels(text);
    EXPECT_EQ(lines_of(log.text), lines_of(kLog)) << text;
    EXPECT_EQ(log.label, "");
  }
  for (const char* line : {"{\"log\":\"8  1.0", "{\"log\":1}\n", "{}\n", "8  1.0\n"}) {
    const PlainLog log = without_labels(docker + line);
    EXPECT_EQ(log.text, docker + line);
    EXPECT_EQ(log.label, "{\"log\":\"");
  }
}

TEST(Labels, MayBeLogfmtAroundTabs) {
  EXPECT_EQ(printed_in("level=info msg=\"real\t0m1s\""), "real\t0m1s\n");
  EXPECT_EQ(printed_in("level=info msg=\"a \\\"b\\\"\""), "a \"b\"\n");
  EXPECT_EQ(printed_in("level=info msg="), std::nullopt);
}

TEST(Labels, MayBeMissingBeforeLinesOfTheLauncher) {
  const std::string notice = "mpirun has exited due to process rank 1\n";
  EXPECT_EQ(without_labels(notice + labelled("[1,0]<stdout>:") + notice).text, notice + kLog + notice);
  // Empty lines lose the blank behind the label.
  EXPECT_EQ(lines_of(without_labels("n01: # OSU MPI\nn01:\nn01: 8  1.0\n").text),
            (std::vector<std::string>{"# OSU MPI", "", "8  1.0"}));
}

TEST(Labels, AreNoneWhereTheToolsLinesStandAtTheBeginning) {
  for (const std::string& text : {kLog, std::string("[ ID] Interval\n[  5]   0.00-1.00\n[SUM]   0.00-1.00\n"),
                                  std::string("a: b\nc: d\n"), std::string()}) {
    EXPECT_EQ(without_labels(text).text, text);
  }
}

TEST(Labels, MayStandBeforeJson) {
  EXPECT_EQ(without_labels("n1: {\nn1: \"start\": {}\nn1: }\n").text, " {\n \"start\": {}\n }\n");
  EXPECT_EQ(without_labels("n1: {\"start\": {}}\n").text, " {\"start\": {}}\n");
  EXPECT_EQ(without_labels("{\"start\": {}}\n").text, "{\"start\": {}}\n");
}

TEST(Labels, ThatAreNotUnderstoodAreKept) {
  const PlainLog log = without_labels("x# OSU MPI Bandwidth Test\nx8   1.0\n");
  EXPECT_EQ(log.text, "x# OSU MPI Bandwidth Test\nx8   1.0\n");
  EXPECT_EQ(log.label, "x");
}

TEST(Labels, ColoursAreTakenAway) {
  EXPECT_EQ(without_labels("\x1b[0;32m# OSU MPI\x1b[0m\n\x1b[1m8\x1b[K  1.0\n").text, "# OSU MPI\n8  1.0\n");
  EXPECT_EQ(without_labels("a\x1b").text, "a");
  EXPECT_EQ(without_labels("a\x1b[").text, "a");
}

TEST(Numbers, AreWhole) {
  EXPECT_EQ(number_in("12.5"), 12.5);
  EXPECT_EQ(number_in("1e3"), 1000);
  for (const char* text : {"", "12x", "nan", "inf", "-inf", "1e999", "0x10", "1,5", "+"}) {
    EXPECT_EQ(number_in(text), std::nullopt) << text;
  }
  EXPECT_EQ(integer_in("42"), 42);
  EXPECT_EQ(integer_in("99999999999999999999"), std::nullopt);
  EXPECT_EQ(integer_in("1.5"), std::nullopt);
}

TEST(OneLine, IsPrintableAndShort) {
  EXPECT_EQ(one_line("  a\tb\x1b[31m\n"), "a b [31m");
  EXPECT_EQ(one_line("n\xc3\xa4"), "n??");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 240U);
}

TEST(Failure, IsToldByTheFirstLineThatTellsOne) {
  EXPECT_EQ(why_it_failed("starting\nCouldn't connect to n2:18515\nUnable to open\n"), "Couldn't connect to n2:18515");
  EXPECT_EQ(why_it_failed("a\nb\n\n"), "the log ends without a result, after 'b'");
  EXPECT_EQ(why_it_failed(" \n"), "the log is empty");
  EXPECT_EQ(why_it_failed("# columns  error\n"), "the log ends without a result, after '# columns  error'");
}

TEST(Failure, IsNoWarning) {
  EXPECT_EQ(words_of_failure_in("libibverbs: Warning: couldn't load driver\nWarning: Permanently added 'n2'\n"), "");
  EXPECT_EQ(words_of_failure_in("n1:1:1 [0] NCCL INFO Failed to open libibverbs.so[.1]\n# Errors with asterisks\n"),
            "");
  EXPECT_EQ(words_of_failure_in("n1 slots=1\nn2 slots=1\n"), "");
}

TEST(Failure, BehindAResultIsAnEndOfTheProgramOnly) {
  EXPECT_EQ(how_it_broke_off("ethernet_read_data: Couldn't read reports\n"), "");
  EXPECT_EQ(how_it_broke_off("x\nrank 1 exited on signal 9 (Killed)\n"), "rank 1 exited on signal 9 (Killed)");
}

}  // namespace import_text_test
