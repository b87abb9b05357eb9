#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/exchange.h"
#include "common/backends/rdma_cm/message.h"
#include "common/backends/rdma_cm/side.h"
#include "fake_link.h"

using namespace fabricbench;
using namespace fabricbench::rdma_cm;
using test::FakeLinks;

namespace rdma_cm_side_test {

constexpr std::size_t kBytes = 20;

SideSettings settings_for(FakeLinks& link, Transport transport = Transport::kRc, std::size_t parallel = 1) {
  return {transport, 3, 5.0, "rank 1 on node-07", link.clock(), parallel};
}

/// What `act` ends with.
Problem problem_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {};
}

void let_all_come(FakeLinks& link) {
  for (std::uint32_t number = 0; number < 3; ++number) link.coming.push_back({number});
}

void answer_a_connection(FakeLinks& link) {
  link.answer(EventKind::kAddressResolved, 0.25);
  link.answer(EventKind::kRouteResolved, 0.5);
  link.answer(EventKind::kEstablished, 1);
  link.answer(EventKind::kDisconnected, 2);
  let_all_come(link);
}

Problem agree_alone(const Problem& own) { return own; }

TEST(RdmaCmSide, ConnectsStepByStepAndTakesTheirTimes) {
  FakeLinks link(kBytes);
  answer_a_connection(link);
  ConnectingSide side(link, settings_for(link));
  const Series series = make_connections(side, 1, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(series.made, 1);
  EXPECT_NEAR(series.took, 3.75, 0.1);
  EXPECT_EQ(link.calls, (std::vector<std::string>{"resolve_address", "resolve_route", "connect", "send 0", "send 1",
                                                  "send 2", "disconnect", "close"}));
  const SideResults& findings = side.findings();
  const std::vector<Seconds> expected = {0.25, 0.5, 1, FakeLinks::kPoll, 2};
  for (std::size_t step = 0; step < kConnectSteps; ++step) {
    ASSERT_EQ(findings.times[step].size(), 1U) << step;
    EXPECT_NEAR(findings.times[step][0], expected[step], 1e-9) << step;
  }
  EXPECT_EQ(findings.lost + findings.wrong, 0U);
}

TEST(RdmaCmSide, AcceptsAndAnswersTheFirstMessage) {
  FakeLinks link(kBytes);
  link.side = 0;
  link.answer(EventKind::kConnectRequest);
  link.answer(EventKind::kOther);
  link.answer(EventKind::kEstablished);
  link.answer(EventKind::kDisconnected);
  let_all_come(link);
  AcceptingSide side(link, settings_for(link));
  const Series series = make_connections(side, 1, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(link.calls, (std::vector<std::string>{"accept", "send 0", "send 1", "send 2", "disconnect", "close"}));
}

TEST(RdmaCmSide, DatagramsHaveNothingToEnd) {
  FakeLinks link(kBytes);
  link.side = 0;
  link.answer(EventKind::kConnectRequest);
  let_all_come(link);
  AcceptingSide side(link, settings_for(link, Transport::kUd));
  EXPECT_EQ(make_connections(side, 1, agree_alone).problem.text, "");
  EXPECT_EQ(std::count(link.calls.begin(), link.calls.end(), "disconnect"), 0);
}

TEST(RdmaCmSide, NamesPeerStepAndEventOfAFailure) {
  FakeLinks link(kBytes);
  link.answer(EventKind::kAddressResolved);
  link.answer(EventKind::kRouteResolved);
  link.answer(EventKind::kRejected, 0, 8);
  ConnectingSide side(link, settings_for(link));
  const Series series = make_connections(side, 5, agree_alone);
  EXPECT_EQ(series.made, 0);
  EXPECT_EQ(series.problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(series.problem.text.find(
                "connection 0: connecting with rank 1 on node-07: RDMA_CM_EVENT_REJECTED (status 8, nobody "
                "listens there): "),
            0U)
      << series.problem.text;
  EXPECT_EQ(link.calls.back(), "close");
}

TEST(RdmaCmSide, EndsAStepThatTakesTooLong) {
  FakeLinks link(kBytes);
  ConnectingSide side(link, settings_for(link));
  side.begin({2, 1});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(problem.text.find("connection 2: resolving the address of rank 1 on node-07: nothing came within 5 s"), 0U)
      << problem.text;
  EXPECT_NEAR(link.time, 5, 1e-9);
}

TEST(RdmaCmSide, NamesTheStepOfACallThatIsRefused) {
  FakeLinks link(kBytes);
  link.answer(EventKind::kAddressResolved);
  link.refused_call = "resolve_route";
  ConnectingSide side(link, settings_for(link));
  side.begin({2, 1});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kMissing);
  EXPECT_EQ(problem.text, "connection 2: resolving the route to rank 1 on node-07: refused");
}

TEST(RdmaCmSide, EndsWithTheOtherSidesProblem) {
  FakeLinks link(kBytes);
  AcceptingSide side(link, settings_for(link));
  const auto other_failed = [](const Problem&) { return Problem{ExitStatus::kTimeout, "of the other"}; };
  const Series series = make_connections(side, 5, other_failed);
  EXPECT_EQ(series.problem.text, "of the other");
  EXPECT_EQ(link.calls, (std::vector<std::string>{"close"})) << "it waits for no request";
}

/// The messages of one connection. Throws the error that ends it.
Exchanged exchange(FakeLinks& link, const SideSettings& settings, std::uint64_t connection, bool connects) {
  BatchStep step(ConnectStep::kFirstMessage, {connection, 1}, settings);
  const std::vector<Exchanged> all = Exchanges(link, settings, step, connects).exchange_messages();
  step.raise();
  return all.at(0);
}

TEST(RdmaCmExchange, CountsDatagramsThatAreLost) {
  FakeLinks link(kBytes);
  link.coming = {{2}, {2}};
  const SideSettings settings = settings_for(link, Transport::kUd);
  const Exchanged exchanged = exchange(link, settings, 0, true);
  EXPECT_EQ(exchanged.lost, 2U) << "one came twice";
  EXPECT_EQ(exchanged.wrong, 0U);
  EXPECT_TRUE(exchanged.first.has_value());
  EXPECT_LT(link.time, 1) << "it does not wait for the time limit";
}

TEST(RdmaCmExchange, DoesNotHangWhereAllDatagramsAreLost) {
  for (const bool connects : {true, false}) {
    FakeLinks link(kBytes);
    const SideSettings settings = settings_for(link, Transport::kUd);
    const Exchanged exchanged = exchange(link, settings, 0, connects);
    EXPECT_EQ(exchanged.lost, 3U);
    EXPECT_FALSE(exchanged.first.has_value());
    EXPECT_LT(link.time, 6);
  }
}

TEST(RdmaCmExchange, EndsWhereAConnectionLosesMessages) {
  FakeLinks link(kBytes);
  link.coming = {{0}, {1}};
  const SideSettings settings = settings_for(link);
  const Problem problem = problem_of([&] { (void)exchange(link, settings, 0, true); });
  EXPECT_EQ(problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(problem.text.find("connection 0: exchanging messages with rank 1 on node-07: 2 of 3 messages have arrived; "
                              "nothing came within 5 s"),
            0U)
      << problem.text;
}

TEST(RdmaCmExchange, EndsWhereAMessageIsNotAcknowledged) {
  FakeLinks link(kBytes);
  let_all_come(link);
  link.not_acknowledged = 1;
  const SideSettings settings = settings_for(link);
  const Problem problem = problem_of([&] { (void)exchange(link, settings, 0, true); });
  EXPECT_EQ(
      problem.text.find("connection 0: exchanging messages with rank 1 on node-07: 2 of 3 messages were acknowledged"),
      0U)
      << problem.text;
}

TEST(RdmaCmExchange, FindsWrongBytesAndMessagesOfAnotherConnection) {
  FakeLinks link(kBytes);
  link.coming = {{0}, {1, true}, {2}};
  const SideSettings settings = settings_for(link);
  const Exchanged spoiled = exchange(link, settings, 0, true);
  EXPECT_EQ(spoiled.wrong, 1U);
  EXPECT_EQ(spoiled.first_wrong.find("message 1 of connection 0, byte 19: expected 0x"), 0U) << spoiled.first_wrong;

  FakeLinks stale(kBytes);
  let_all_come(stale);
  const SideSettings others = settings_for(stale);
  EXPECT_EQ(exchange(stale, others, 1, true).wrong, 3U);
}

TEST(RdmaCmExchange, DoesNotTrustTheNumberOfAMessage) {
  FakeLinks link(kBytes);
  link.coming = {{7}, {0}, {1}, {2}};
  const SideSettings settings = settings_for(link);
  EXPECT_EQ(exchange(link, settings, 0, true).wrong, 1U);
}

TEST(RdmaCmMessage, NeverLooksLikePoison) {
  std::vector<std::byte> data(1000);
  fill_message({1, 5, 3}, data);
  for (std::size_t place = 0; place < data.size(); ++place) {
    EXPECT_LT(static_cast<int>(data[place]), 0x80);
    EXPECT_EQ(data[place], byte_at({1, 5, 3}, place));
  }
  EXPECT_EQ(first_wrong_byte({1, 5, 3}, data), std::nullopt);
  EXPECT_TRUE(first_wrong_byte({0, 5, 3}, data).has_value());
}

TEST(RdmaCmEvent, HasItsStatusInWords) {
  EXPECT_EQ(
      explain({EventKind::kUnreachable, -110}).find("RDMA_CM_EVENT_UNREACHABLE (status -110, Connection timed out): "),
      0U);
  EXPECT_EQ(explain({EventKind::kAddressError, -113}).find("RDMA_CM_EVENT_ADDR_ERROR (status -113, No route to host)"),
            0U);
  EXPECT_NE(explain_silence(ConnectStep::kConnect, 5).find("4791"), std::string::npos);
}

}  // namespace rdma_cm_side_test
