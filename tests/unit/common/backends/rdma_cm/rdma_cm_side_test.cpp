#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

/// What three connections at the same time are answered; each waits for its own event.
void answer_three(FakeLinks& links) {
  links.answer_all(EventKind::kAddressResolved);
  links.answer_all(EventKind::kRouteResolved);
  links.answer(EventKind::kEstablished, 1, 0, 2);
  links.answer(EventKind::kEstablished, 1, 0, 0);
  links.answer(EventKind::kEstablished, 1, 0, 1);
  for (std::size_t link = 0; link < 3; ++link) {
    for (std::uint32_t number = 0; number < 3; ++number) links.coming.push_back({number, false, link});
  }
  links.answer_all(EventKind::kDisconnected);
}

TEST(RdmaCmBatch, StartsEachStepOnAllConnections) {
  FakeLinks links(kBytes, 3);
  answer_three(links);
  ConnectingSide side(links, settings_for(links, Transport::kRc, 3));
  const Series series = make_connections(side, 3, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(series.made, 3);
  const auto place = [&](const std::string& call) {
    return std::find(links.calls.begin(), links.calls.end(), call) - links.calls.begin();
  };
  EXPECT_LT(place("2: resolve_address"), place("0: resolve_route"));
  EXPECT_LT(place("2: resolve_route"), place("0: connect"));
  EXPECT_LT(place("2: connect"), place("0: send 0"));
  EXPECT_LT(place("2: send 2"), place("0: disconnect"));
  std::vector<Seconds> connecting = side.findings().times[static_cast<std::size_t>(ConnectStep::kConnect)];
  ASSERT_EQ(connecting.size(), 3U);
  EXPECT_NEAR(connecting[0], 1, 1e-9) << "of connection 2, whose event was the first";
  EXPECT_NEAR(connecting[2], 3, 1e-9);
  EXPECT_NEAR(side.findings().took[static_cast<std::size_t>(ConnectStep::kConnect)], 3, 1e-9);
}

TEST(RdmaCmBatch, FollowsTheOneBeforeWithNewNumbers) {
  FakeLinks links(kBytes, 2);
  links.answer_all(EventKind::kConnectRequest);
  links.answer(EventKind::kConnectRequest);
  links.coming = {{0, false, 0}, {0, false, 1}, {0, false, 0}};
  links.side = 0;
  SideSettings settings = settings_for(links, Transport::kUd, 2);
  settings.messages = 1;
  AcceptingSide side(links, settings);
  const Series series = make_connections(side, 3, agree_alone);
  EXPECT_EQ(series.made, 3);
  EXPECT_EQ(side.findings().wrong, 0U) << side.findings().first_wrong;
  EXPECT_EQ(links.begun, (std::vector<std::pair<std::uint64_t, std::size_t>>{{0, 2}, {2, 1}}));
}

TEST(RdmaCmBatch, IsAcceptedInTheOrderOfItsRequests) {
  FakeLinks links(kBytes, 3);
  links.side = 0;
  links.answer(EventKind::kConnectRequest, 0, 0, 1);
  links.answer(EventKind::kConnectRequest, 0, 0, 2);
  links.answer(EventKind::kEstablished, 0, 0, 1);
  links.answer(EventKind::kConnectRequest, 0, 0, 0);
  links.answer(EventKind::kEstablished, 0, 0, 2);
  links.answer(EventKind::kEstablished, 0, 0, 0);
  AcceptingSide side(links, settings_for(links, Transport::kRc, 3));
  for (std::uint32_t number = 0; number < 3; ++number) {
    for (std::size_t link = 0; link < 3; ++link) links.coming.push_back({number, false, link});
  }
  side.begin({0, 3});
  side.meet();
  EXPECT_EQ(std::vector<std::string>(links.calls.begin(), links.calls.begin() + 3),
            (std::vector<std::string>{"1: accept", "2: accept", "0: accept"}));
}

TEST(RdmaCmBatch, NamesTheFirstThatFailedAndCountsTheOthers) {
  FakeLinks links(kBytes, 4);
  links.answer_all(EventKind::kAddressResolved);
  links.answer_all(EventKind::kRouteResolved);
  links.answer(EventKind::kEstablished, 0, 0, 3);
  links.answer(EventKind::kUnreachable, 0, -110, 2);
  links.answer(EventKind::kEstablished, 0, 0, 0);
  ConnectingSide side(links, settings_for(links, Transport::kRc, 4));
  const Series series = make_connections(side, 4, agree_alone);
  EXPECT_EQ(series.made, 0);
  EXPECT_EQ(series.problem.status, ExitStatus::kTimeout);
  const std::string& text = series.problem.text;
  EXPECT_EQ(text.find("connection 2: connecting with rank 1 on node-07: RDMA_CM_EVENT_UNREACHABLE"), 0U) << text;
  EXPECT_TRUE(text.ends_with("; 2 of the 4 connections made at the same time failed in this step")) << text;
  EXPECT_EQ(side.findings().failed, 2U) << "connection 1 had no answer";
  EXPECT_EQ(links.calls.back(), "close");
}

TEST(RdmaCmBatch, EndsWhereNothingComesWhoeverElseWasAnswered) {
  FakeLinks links(kBytes, 3);
  links.answer(EventKind::kAddressResolved, 4, 0, 0);
  links.answer(EventKind::kOther, 4);
  ConnectingSide side(links, settings_for(links, Transport::kRc, 3));
  side.begin({0, 3});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.text.find("connection 1: resolving the address of rank 1 on node-07: nothing came within 5 s"), 0U)
      << problem.text;
  EXPECT_NEAR(links.time, 9, 1e-9) << "the answer begins the time again, and events of nobody do not";
}

TEST(RdmaCmBatch, GoesOnWhereOneIsRefused) {
  FakeLinks links(kBytes, 2);
  links.answer_all(EventKind::kAddressResolved);
  links.refused_call = "resolve_route";
  ConnectingSide side(links, settings_for(links, Transport::kRc, 2));
  side.begin({8, 2});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kMissing);
  EXPECT_EQ(problem.text,
            "connection 8: resolving the route to rank 1 on node-07: refused; 2 of the 2 connections made at the same "
            "time failed in this step");
}

TEST(RdmaCmBatch, ExchangesMessagesOfTheOthersWhereARequestFails) {
  FakeLinks links(kBytes, 2);
  const SideSettings settings = settings_for(links, Transport::kRc, 2);
  for (std::uint32_t number = 0; number < 3; ++number) links.coming.push_back({number, false, 1});
  links.broken = {0};
  BatchStep step(ConnectStep::kFirstMessage, {0, 2}, settings);
  const std::vector<Exchanged> all = Exchanges(links, settings, step, true).exchange_messages();
  EXPECT_EQ(step.failed(), 1U);
  EXPECT_EQ(all.at(1).lost, 0U);
  EXPECT_TRUE(all.at(1).first.has_value());
  EXPECT_EQ(problem_of([&] { step.raise(); }).text, "connection 0: exchanging messages with rank 1 on node-07: broken");
}

TEST(RdmaCmBatch, WaitsForTheDatagramsOfEachConnection) {
  FakeLinks links(kBytes, 2);
  links.side = 0;
  const SideSettings settings = settings_for(links, Transport::kUd, 2);
  for (std::uint32_t number = 0; number < 3; ++number) links.coming.push_back({number, false, 1});
  BatchStep step(ConnectStep::kFirstMessage, {0, 2}, settings);
  const std::vector<Exchanged> all = Exchanges(links, settings, step, false).exchange_messages();
  EXPECT_EQ(step.failed(), 0U);
  EXPECT_EQ(all.at(0).lost, 3U);
  EXPECT_EQ(all.at(1).lost, 0U);
  EXPECT_GT(links.time, 5) << "the other side may need long until it sends over connection 0";
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
