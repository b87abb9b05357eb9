// Which connections a session makes, and by which interface.

#include "common/backends/sockets/tcp_session.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <regex>
#include <string>

#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_session_test {

TEST(TcpSession, NamesInterfaceAndCongestionControlAndNoAddress) {
  TcpSettings settings = with_streams(4);
  settings.socket_buffer = 4096;
  const std::regex expected("TCP, 4 streams, by lo, congestion control [a-z0-9_]+, socket buffers of 4 KiB");
  expect_success(run(2, settings, [&](int /*rank*/, TcpSession& session) {
    EXPECT_TRUE(std::regex_match(session.library(), expected)) << session.library();
  }));
}

TEST(TcpSession, ConnectsOnlyThePairsThatExchangeMessages) {
  TcpSettings settings = with_streams(1);
  settings.pairs = {{2, 0}};
  const auto outcomes = run(3, settings, [](int rank, TcpSession& session) {
    std::uint8_t byte = static_cast<std::uint8_t>(rank);
    if (rank == 2) session.backend(0).send(&byte, 1, kByte, 0);
    if (rank == 0) session.backend(0).recv(&byte, 1, kByte, 2);
    EXPECT_TRUE(rank != 0 || byte == 2);
    if (rank == 1) session.backend(0).send(&byte, 1, kByte, 0);
  });
  EXPECT_EQ(outcomes[0].error, "");
  EXPECT_EQ(outcomes[1].error, "tcp: this rank has no connection to rank 0");
  EXPECT_EQ(outcomes[2].error, "");
}

/// On a loopback hardly any is, but on a busy machine a few may be.
TEST(TcpSession, TellsOfRetransmittedSegmentsWhereThereWereSome) {
  expect_success(run(2, with_streams(2), [](int rank, TcpSession& session) {
    exchange_all(rank, 2, session.backend(0), {100});
    const std::string remark = session.remark();
    std::smatch found;
    if (remark.empty()) return;
    ASSERT_TRUE(std::regex_search(remark, found, std::regex("^retransmitted ([0-9]+) TCP segments"))) << remark;
    EXPECT_GT(std::stoull(found[1]), 0U);
    EXPECT_LT(std::stoull(found[1]), 1000U);
  }));
}

TEST(TcpSession, ListsTheInterfacesWhereTheOneAskedForIsNotThere) {
  TcpSettings settings = with_streams(1);
  settings.interface = "nosuch0";
  for (const Outcome& outcome : run(2, settings, [](int /*rank*/, TcpSession& /*session*/) { FAIL(); })) {
    EXPECT_EQ(outcome.status, ExitStatus::kUsage);
    EXPECT_EQ(outcome.error.find("rank 0 on node: --interface: 'nosuch0' is neither"), 0U) << outcome.error;
    EXPECT_NE(outcome.error.find("lo (127.0.0.1"), std::string::npos) << outcome.error;
  }
}

TEST(TcpSession, TakesTheInterfaceOrTheAddressAskedFor) {
  for (const std::string asked : {"lo", "127.0.0.1", "127.9.9.9"}) {
    TcpSettings settings = with_streams(1);
    settings.interface = asked;
    expect_success(run(2, settings, [](int rank, TcpSession& session) {
      exchange_all(rank, 2, session.backend(0), {100});
      EXPECT_NE(session.library().find("by lo"), std::string::npos) << session.library();
    }));
  }
}

TEST(TcpSession, RefusesStreamsThatCannotBe) {
  for (const int streams : {0, 65}) {
    for (const Outcome& outcome : run(2, with_streams(streams), [](int, TcpSession&) { FAIL(); })) {
      EXPECT_EQ(outcome.status, ExitStatus::kUsage);
      EXPECT_EQ(outcome.error, std::to_string(streams) + " streams are not possible; use 1 to 64");
    }
  }
}

/// Beside the connections, 256 for whatever else the process has open.
TEST(TcpSession, MayOpenAsManyFilesAsItsConnectionsTake) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  expect_success(run(2, with_streams(4), [](int, TcpSession&) {}));
  rlimit after{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, 256 + 4);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace tcp_session_test
