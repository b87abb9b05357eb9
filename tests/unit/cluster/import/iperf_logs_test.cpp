// Readers of logs of iperf 3 and iperf 2.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace iperf_logs_test {

using Texts = std::vector<std::string>;

const std::string kConnecting = "Connecting to host n2, port 5201\n";
const std::string kReverse = "Reverse mode, remote host n2 is sending\n";
const std::string kTitle = "[ ID] Interval           Transfer     Bitrate         Retr\n";
const std::string kSeparator = "- - - - - - - - - - - - - - - - - - - - - - - - -\n";

/// A run of one stream.
std::string run(const std::string& gigabits, const std::string& mode = "") {
  return kConnecting + mode + "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n" +
         "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
         "[  5]   0.00-1.00   sec  1.10 GBytes  9.45 Gbits/sec    0   1.5 MBytes\n" +
         kSeparator + kTitle +
         fmt::format(
             "[  5]   0.00-10.00  sec  11.0 GBytes  {0}1 Gbits/sec    0             sender\n"
             "[  5]   0.00-10.04  sec  11.0 GBytes  {0} Gbits/sec                  receiver\n\niperf Done.\n",
             gigabits);
}

Imported iperf3(const std::string& text) { return read_as(ImportKind::kIperf3, "n1_n2.log", text); }

TEST(Iperf3, TellsWhatArrived) {
  EXPECT_EQ(told(iperf3(run("8.00"))), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(with_carriage_returns(run("8.00")))), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(run("8.00", kReverse))), (Texts{"n2 > n1 iperf3 -1 = 1"}));
  EXPECT_EQ(
      told(iperf3("[  5]   0.00-10.04  sec  11.0 GBytes  100 MBytes/sec                  receiver\niperf Done.\n")),
      (Texts{"n1 > n2 iperf3 -1 = 0.104858"}));
  EXPECT_EQ(noted(read_as(ImportKind::kIperf3, "log", run("8.00"))).size(), 1U);
}

TEST(Iperf3, TellsEachRunOfALogInItsDirection) {
  EXPECT_EQ(told(iperf3(run("8.00", kReverse) + run("4.00") + run("2.00", kReverse))),
            (Texts{"n2 > n1 iperf3 -1 = 1", "n1 > n2 iperf3 -1 = 0.5", "n2 > n1 iperf3 -1 = 0.25"}));
}

TEST(Iperf3, CountsTheRunThatWorkedAfterOneThatDidNot) {
  const std::string busy = "iperf3: error - the server is busy running a test. try again later\n";
  for (const std::string between : {"", "waiting 5 s\n", "ssh: Warning: Permanently added 'n2' to the list\n"}) {
    EXPECT_EQ(told(iperf3(busy + between + run("8.00"))), (Texts{"n1 > n2 iperf3 -1 = 1"})) << between;
  }
  // The server answers, so that nothing is dead.
  EXPECT_EQ(told(iperf3(kConnecting + busy + kConnecting + busy)), Texts{});
  EXPECT_EQ(noted(iperf3(kConnecting + busy + kConnecting + busy)),
            (Texts{"0: iperf3: error - the server is busy running a test. try again later"}));
  const std::string refused = "iperf3: error - unable to connect to server: Connection refused\n";
  for (const std::string& text : {refused + kConnecting + busy, busy + refused}) {
    EXPECT_EQ(told(iperf3(text)), (Texts{"n1 > n2 iperf3 -1 = failed: " + refused.substr(0, refused.size() - 1)}));
  }
  EXPECT_EQ(told(iperf3(refused + run("8.00"))), (Texts{"n1 > n2 iperf3 -1 = 1"}));
}

TEST(Iperf3, TellsAllStreamsTogether) {
  const std::string rows =
      "[  5]   0.00-9.00  sec  1 GBytes  1.00 Gbits/sec   0  sender\n"
      "[  5]   0.00-9.00  sec  1 GBytes  1.00 Gbits/sec   receiver\n"
      "[  7]   0.00-9.00  sec  1 GBytes  1.00 Gbits/sec   0  sender\n"
      "[  7]   0.00-9.00  sec  1 GBytes  1.00 Gbits/sec   receiver\n";
  const std::string sum =
      "[SUM]   0.00-9.00  sec  2 GBytes  2.00 Gbits/sec   0  sender\n"
      "[SUM]   0.00-9.00  sec  2 GBytes  1.60 Gbits/sec   receiver\niperf Done.\n";
  EXPECT_EQ(told(iperf3(kTitle + rows + sum)), (Texts{"n1 > n2 iperf3 -1 = 0.2"}));
  // Cut off before the sum, also where only one stream has told its figures.
  EXPECT_EQ(told(iperf3(kTitle + rows)), Texts{});
  EXPECT_EQ(
      noted(iperf3(kTitle + rows)),
      (Texts{"0: the log ends without a result, after '[  7]   0.00-9.00  sec  1 GBytes  1.00 Gbits/sec   receiver'"}));
  const std::string two =
      "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
      "[  7] local 10.0.0.1 port 40002 connected to 10.0.0.2 port 5201\n";
  EXPECT_EQ(told(iperf3(two + kTitle + rows.substr(0, rows.find("[  7]")))), Texts{});
}

TEST(Iperf3, TellsBothDirectionsOfBidir) {
  const std::string two =
      "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
      "[  7] local 10.0.0.1 port 40002 connected to 10.0.0.2 port 5201\n"
      "[ ID][Role] Interval           Transfer     Bitrate         Retr\n";
  const std::string rows =
      "[  5][TX-C]   0.00-9.00  sec  1 GBytes  8.00 Gbits/sec   0  sender\n"
      "[  5][TX-C]   0.00-9.00  sec  1 GBytes  8.00 Gbits/sec   receiver\n"
      "[  7][RX-C]   0.00-9.00  sec  1 GBytes  4.00 Gbits/sec   receiver\n";
  EXPECT_EQ(told(iperf3(kConnecting + two + kSeparator + two.substr(two.rfind("[ ID]")) + rows + "iperf Done.\n")),
            (Texts{"n2 > n1 iperf3 -1 = 0.5", "n1 > n2 iperf3 -1 = 1"}));
  // Ended from outside before the second direction, and in it.
  EXPECT_EQ(told(iperf3(two + rows.substr(0, rows.find("[  7]")))), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(two + rows)), (Texts{"n2 > n1 iperf3 -1 = 0.5", "n1 > n2 iperf3 -1 = 1"}));
}

TEST(Iperf3, LeavesOutWhatTheServerSaysInTheClientsLog) {
  std::string text = run("8.00");
  text.insert(text.find("\niperf Done."),
              "\nServer output:\nAccepted connection from 10.0.0.1, port 4\n"
              "[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40000\n" +
                  kSeparator + kTitle +
                  "[  5]   0.00-10.00  sec  11.0 GBytes  4.00 Gbits/sec                  receiver\n\n");
  EXPECT_EQ(told(iperf3(text)), (Texts{"n1 > n2 iperf3 -1 = 1"}));
}

TEST(Iperf3, IsReadFromTheServer) {
  const auto served = [](const std::string& title, const std::string& rows) {
    return "Server listening on 5201\nAccepted connection from 10.0.0.1, port 4\n"
           "[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40000\n" +
           title + kSeparator + kTitle + rows;
  };
  const std::string receives = "[ ID] Interval           Transfer     Bitrate\n";
  const std::string sends = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n";
  const Imported found =
      iperf3(served(receives, "[  5]   0.00-10.00  sec  11.0 GBytes  8.00 Gbits/sec                  receiver\n") +
             served(sends, "[  5]   0.00-10.00  sec  11.0 GBytes  4.00 Gbits/sec    0             sender\n"));
  EXPECT_EQ(told(found), (Texts{"n1 > n2 iperf3 -1 = 1", "n2 > n1 iperf3 -1 = 0.5"}));
  EXPECT_TRUE(found.of_server);
  EXPECT_EQ(noted(found), Texts{});
  // Version 3.1, which has a 0 for the other end.
  EXPECT_EQ(told(iperf3(served(receives,
                               "[  5]   0.00-10.00  sec  0.00 Bytes  0.00 bits/sec    0             sender\n"
                               "[  5]   0.00-10.00  sec  11.0 GBytes  8.00 Gbits/sec     receiver\n"))),
            (Texts{"n1 > n2 iperf3 -1 = 1"}));
}

TEST(Iperf3, TellsOfDatagramsWhatArrived) {
  const std::string title = "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n";
  const std::string interval = "[  4]   0.00-1.00   sec  119 MBytes  1000 Mbits/sec  15230  \n";
  // Versions 3.0 and 3.1 have one row, with the share that was lost.
  EXPECT_EQ(told(iperf3(kConnecting + "[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n" +
                        interval + kSeparator + title +
                        "[  4]   0.00-10.00  sec  1.16 GBytes  1000 Mbits/sec  0.068 ms  38075/152300 (25%)  \n"
                        "[  4] Sent 152300 datagrams\n\niperf Done.\n")),
            (Texts{"n1 > n2 iperf3_udp -1 = 0.09375"}));
  // Of the server of 3.1, whose intervals end like the result.
  EXPECT_EQ(told(iperf3("Accepted connection from 10.0.0.1, port 4\n" + title +
                        "[  4]   0.00-1.00   sec  119 MBytes  80 Mbits/sec  0.068 ms  0/15230 (0%)  \n" + kSeparator +
                        title + "[  4]   0.00-10.00  sec  1.16 GBytes  800 Mbits/sec  0.068 ms  0/152300 (0%)  \n")),
            (Texts{"n1 > n2 iperf3_udp -1 = 0.1"}));
  EXPECT_EQ(told(iperf3(kConnecting + kSeparator + title +
                        "[  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  0.000 ms  0/191 (0%)  sender\n"
                        "[  5]   0.00-1.00   sec  5.97 MBytes  40.0 Mbits/sec  0.007 ms  38/191 (20%)  receiver\n")),
            (Texts{"n1 > n2 iperf3_udp -1 = 0.005"}));
  EXPECT_EQ(told(iperf3(kConnecting + kSeparator + title +
                        "[  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  0.000 ms  0/191 (0%)  sender\n")),
            Texts{});
}

TEST(Iperf3, FailsWithItsReason) {
  EXPECT_EQ(told(iperf3("iperf3: error - unable to connect to server: Connection refused\n")),
            (Texts{"n1 > n2 iperf3 -1 = failed: iperf3: error - unable to connect to server: Connection refused"}));
  EXPECT_EQ(told(iperf3(R"({"start":{},"end":{},"error":"control socket has closed"})")),
            (Texts{"n1 > n2 iperf3 -1 = failed: control socket has closed"}));
}

TEST(Iperf3, FailsNotWhereNothingIsSaidOfAFailure) {
  EXPECT_EQ(told(iperf3(kConnecting)), Texts{});
  EXPECT_EQ(noted(iperf3(kConnecting)),
            (Texts{"0: the log ends without a result, after 'Connecting to host n2, port 5201'"}));
  EXPECT_EQ(noted(iperf3(R"({"start":{"ver)")), (Texts{"1: the JSON is cut off"}));
  EXPECT_EQ(noted(iperf3("{\"start\": x}")), (Texts{"1: the JSON is broken"}));
  for (const char* text : {R"({"start":[],"end":{"sum_received":5,"sum_sent":{"bits_per_second":"x"}}})", "{}",
                           R"({"event":7})", R"({"event":"end","data":[]})", R"({"start":{"test_start":7},"end":7})"}) {
    EXPECT_EQ(told(iperf3(text)), Texts{}) << text;
    EXPECT_EQ(noted(iperf3(text)).size(), 1U) << text;
  }
}

TEST(Iperf3, HasTheSendersFigureWhereItWasInterrupted) {
  const Imported found = iperf3("iperf3: interrupt - the client has terminated\n" + kConnecting + kSeparator + kTitle +
                                "[  5]   0.00-1.52   sec  3.32 GBytes  8.00 Gbits/sec   26             sender\n"
                                "[  5]   0.00-1.52   sec  0.00 Bytes  0.00 bits/sec                  receiver\n");
  EXPECT_EQ(told(found), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(noted(found), (Texts{"5: the log has no figure of the receiver, so the figure of the sender counts"}));
}

/// A document; `flags` stand in test_start.
std::string document(const std::string& flags, const std::string& end) {
  return R"({"start":{"version":"iperf 3.12","test_start":{"protocol":"TCP")" + flags + R"(}},"end":{)" + end + "}}\n";
}

std::string sum(const std::string& key, const std::string& bits) {
  return "\"" + key + "\":{\"bits_per_second\":" + bits + "}";
}

TEST(Iperf3Json, TellsWhatArrived) {
  const std::string end = sum("sum_sent", "9e9") + "," + sum("sum_received", "8e9");
  EXPECT_EQ(told(iperf3(document(R"(,"reverse":0)", end))), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(document(R"(,"reverse":1)", end))), (Texts{"n2 > n1 iperf3 -1 = 1"}));
  const Imported sent = iperf3(document("", sum("sum_sent", "8e9")));
  EXPECT_EQ(told(sent), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(noted(sent), (Texts{"1: the log has no figure of the receiver, so the figure of the sender counts"}));
  EXPECT_EQ(told(iperf3(R"({"start":{"test_start":{"protocol":"UDP"}},"end":{"sum":{"bits_per_second":8e9,)"
                        R"("lost_percent":25}}})")),
            (Texts{"n1 > n2 iperf3_udp -1 = 0.75"}));
}

TEST(Iperf3Json, TellsBothDirectionsOfBidirInAllVersions) {
  const Texts both = {"n2 > n1 iperf3 -1 = 0.5", "n1 > n2 iperf3 -1 = 1"};
  const std::string there = sum("sum_sent", "8e9") + "," + sum("sum_received", "8e9");
  const std::string back = "," + sum("sum_sent_bidir_reverse", "4e9") + "," + sum("sum_received_bidir_reverse", "4e9");
  EXPECT_EQ(told(iperf3(document(R"(,"bidir":1)", there + back))), both);
  EXPECT_EQ(told(iperf3(document("", there + back))), both);  // 3.10.2 to 3.12
  EXPECT_EQ(told(iperf3(document("", there + "," + sum("sum_sent", "4e9") + "," + sum("sum_received", "4e9")))),
            both);  // 3.7 to 3.10
}

TEST(Iperf3Json, MayHaveSeveralDocuments) {
  const std::string good = document("", sum("sum_received", "8e9"));
  EXPECT_EQ(told(iperf3(good + document(R"(,"reverse":1)", sum("sum_received", "4e9")))),
            (Texts{"n1 > n2 iperf3 -1 = 1", "n2 > n1 iperf3 -1 = 0.5"}));
  EXPECT_EQ(told(iperf3("[" + good + "," + good + "]")), (Texts{"n1 > n2 iperf3 -1 = 1", "n1 > n2 iperf3 -1 = 1"}));
  const std::string busy = R"({"start":{},"end":{},"error":"the server is busy"})";
  EXPECT_EQ(told(iperf3(busy + "\n" + good)), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  const Imported cut = iperf3(good + good.substr(0, 40));
  EXPECT_EQ(told(cut), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_EQ(noted(cut), (Texts{"2: the JSON is cut off"}));
}

TEST(Iperf3Json, IsReadAsAStream) {
  const std::string stream =
      R"({"event":"start","data":{"version":"iperf 3.17","test_start":{"protocol":"TCP","reverse":1}}})"
      "\n"
      R"({"event":"interval","data":{"sum":{"bits_per_second":9e9}}})"
      "\n"
      R"({"event":"end","data":{"sum_sent":{"bits_per_second":9e9},"sum_received":{"bits_per_second":8e9}}})"
      "\n";
  EXPECT_EQ(told(iperf3(stream)), (Texts{"n2 > n1 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(stream + stream)), (Texts{"n2 > n1 iperf3 -1 = 1", "n2 > n1 iperf3 -1 = 1"}));
  // --json-stream-full-output repeats all of it.
  EXPECT_EQ(told(iperf3(stream + document(R"(,"reverse":1)", sum("sum_received", "8e9")))),
            (Texts{"n2 > n1 iperf3 -1 = 1"}));
  EXPECT_EQ(told(iperf3(R"({"event":"start","data":{"version":"iperf 3.17"}}{"event":"error","data":"no route"})"
                        R"({"event":"end","data":{}})")),
            (Texts{"n1 > n2 iperf3 -1 = failed: no route"}));
}

TEST(Iperf3Json, IsReadFromTheServer) {
  const std::string start =
      R"({"start":{"version":"iperf 3.12","accepted_connection":{"host":"n1"},"test_start":{"protocol":"TCP"}},"end":{)";
  const Imported found = iperf3(start + sum("sum_sent", "0") + "," + sum("sum_received", "8e9") + "}}");
  EXPECT_EQ(told(found), (Texts{"n1 > n2 iperf3 -1 = 1"}));
  EXPECT_TRUE(found.of_server);
}

const std::string kClient =
    "------------------------------------------------------------\nClient connecting to n2, TCP port 5001\n"
    "TCP window size: 85.0 KByte (default)\n------------------------------------------------------------\n";
const std::string kServer =
    "------------------------------------------------------------\nServer listening on TCP port 5001\n"
    "TCP window size:  128 KByte (default)\n------------------------------------------------------------\n";
const std::string kTitle2 = "[ ID] Interval       Transfer     Bandwidth\n";

std::string outgoing(const std::string& number, const std::string& more = "") {
  return "[" + number + "] local 10.0.0.1 port 4" + number.substr(2) + " connected with 10.0.0.2 port 5001" + more +
         "\n";
}

std::string incoming(const std::string& number, const std::string& more = "") {
  return "[" + number + "] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 4" + number.substr(2) + more + "\n";
}

std::string row2(const std::string& number, const std::string& gigabits, const std::string& interval = " 0.0-10.0") {
  return "[" + number + "] " + interval + " sec  6.59 GBytes  " + gigabits + " Gbits/sec\n";
}

Imported iperf2(const std::string& text) { return read_as(ImportKind::kIperf2, "n1_n2.log", text); }

TEST(Iperf2, TellsTheWholeTime) {
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + kTitle2 + row2("  3", "8.00"))), (Texts{"n1 > n2 iperf2 -1 = 1"}));
  const std::string intervals =
      row2("  3", "9.00", " 0.0- 1.0") + row2("  3", "7.00", " 1.0- 2.0") + row2("  3", "9.00", " 2.0- 3.0");
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + kTitle2 + intervals + row2("  3", "8.00", " 0.0- 3.0"))),
            (Texts{"n1 > n2 iperf2 -1 = 1"}));
  // Cut off: the first second is not all of it.
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + kTitle2 + intervals)), Texts{});
  EXPECT_EQ(
      told(iperf2(kClient + "[  1] local 10.0.0.1 port 4 connected with 10.0.0.2 port 5001 (sock=3)\n"
                            "[  1] 0.0000-2.0077 sec  5549 MBytes  100 MBytes/sec  28842/0   1534K/1577(3) us  7\n")),
      (Texts{"n1 > n2 iperf2 -1 = 0.104858"}));
}

TEST(Iperf2, TellsAllStreamsTogether) {
  const std::string rows = row2("  3", "2.00") + row2("  4", "6.00");
  const std::string sum = row2("SUM", "8.10");
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + outgoing("  4") + kTitle2 + rows + sum)),
            (Texts{"n1 > n2 iperf2 -1 = 1"}));
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + outgoing("  4") + kTitle2 + row2("  3", "2.00"))), Texts{});
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + kTitle2 + rows + sum)), (Texts{"n1 > n2 iperf2 -1 = 1"}));
  EXPECT_EQ(told(iperf2(kClient + outgoing("  3") + kTitle2 + rows)), Texts{});
}

TEST(Iperf2, TellsDirections) {
  const Texts both = {"n2 > n1 iperf2 -1 = 0.5", "n1 > n2 iperf2 -1 = 1"};
  // -d and -r: the server connects as well.
  EXPECT_EQ(told(iperf2(kServer + kClient + outgoing("  4") + incoming("  5") + kTitle2 + row2("  5", "4.00") +
                        row2("  4", "8.00"))),
            both);
  EXPECT_EQ(told(iperf2(kServer + kClient + outgoing("  4") + kTitle2 + row2("  4", "8.00") + incoming("  5") +
                        row2("  5", "4.00"))),
            both);
  EXPECT_EQ(told(iperf2(kClient + outgoing("  1", " (full-duplex)") + kTitle2 + row2("  1", "8.00") +
                        row2(" *1", "4.00") + row2("SUM", "12.0"))),
            both);
  EXPECT_EQ(told(iperf2(kClient + outgoing("  1", " (full-duplex)") + kTitle2 + row2("  1", "8.00"))),
            (Texts{"n1 > n2 iperf2 -1 = 1"}));
  EXPECT_EQ(told(iperf2(kClient + outgoing("  1", " (reverse)") + kTitle2 + row2(" *1", "4.00"))),
            (Texts{"n2 > n1 iperf2 -1 = 0.5"}));
}

TEST(Iperf2, IsReadFromTheServer) {
  const Imported found =
      iperf2(kServer + incoming("  4") + kTitle2 + row2("  4", "8.00") + incoming("  4") + incoming("  5") + kTitle2 +
             row2("  4", "1.00") + row2("  5", "3.00") + incoming("  6", " (reverse)") + row2("  6", "2.00"));
  EXPECT_EQ(told(found), (Texts{"n1 > n2 iperf2 -1 = 1", "n1 > n2 iperf2 -1 = 0.5", "n2 > n1 iperf2 -1 = 0.25"}));
  EXPECT_TRUE(found.of_server);
  // -d: it connects back.
  EXPECT_EQ(told(iperf2(kServer + incoming("  4") + kClient + outgoing("  6") + kTitle2 + row2("  4", "8.00") +
                        row2("  6", "4.00"))),
            (Texts{"n2 > n1 iperf2 -1 = 0.5", "n1 > n2 iperf2 -1 = 1"}));
}

TEST(Iperf2, TellsOfDatagramsWhatArrived) {
  std::string client = kClient;
  client.replace(client.find("TCP port"), 3, "UDP");
  client += outgoing("  3") + kTitle2 + row2("  3", "8.00");
  EXPECT_EQ(told(iperf2(client + "[  3] Sent 8921 datagrams\n[  3] Server Report:\n"
                                 "[  3]  0.0-10.0 sec  12.5 MBytes  4.00 Gbits/sec   0.000 ms 4460/8920 (50%)\n")),
            (Texts{"n1 > n2 iperf2_udp -1 = 0.5"}));
  EXPECT_EQ(told(iperf2(client +
                        "[  3]  0.0-10.0 sec  12.5 MBytes  2.00 Gbits/sec  0.001 ms 0/8920 (0%)  -/-/-/- ms 4 pps\n")),
            (Texts{"n1 > n2 iperf2_udp -1 = 0.25"}));  // -e
  EXPECT_EQ(told(iperf2(client + "[  3] Sent 8921 datagrams\n")), Texts{});
  EXPECT_EQ(
      told(iperf2(client + "[  3] WARNING: did not receive ack of last datagram after 10 tries.\n")),
      (Texts{"n1 > n2 iperf2_udp -1 = failed: [  3] WARNING: did not receive ack of last datagram after 10 tries."}));
}

TEST(Iperf2, FailsWithItsReason) {
  EXPECT_EQ(told(iperf2(kClient + "connect failed: Connection refused\n")),
            (Texts{"n1 > n2  -1 = failed: connect failed: Connection refused"}));
  EXPECT_EQ(told(iperf2(kClient)), Texts{});
}

TEST(Iperf, MayBeCutOffAnywhere) {
  const std::string text2 = kServer + kClient + outgoing("  4") + incoming("  5") + kTitle2 + row2("  5", "4.00");
  const std::string json = document("", sum("sum_sent", "8e9") + "," + sum("sum_received", "8e9"));
  for (const auto& [kind, text] : std::vector<std::pair<ImportKind, std::string>>{
           {ImportKind::kIperf3, run("8.00", kReverse)}, {ImportKind::kIperf3, json}, {ImportKind::kIperf2, text2}}) {
    for (const std::string& part : cut_off(text)) {
      const Imported found = read_as(kind, "n1_n2.log", part);
      EXPECT_GT(found.readings.size() + found.notes.size(), 0U) << part;
      for (const Reading& reading : found.readings) EXPECT_EQ(reading.outcome, Outcome::kMeasured) << part;
    }
  }
}

}  // namespace iperf_logs_test
