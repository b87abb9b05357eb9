#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/side.h"
#include "fake_endpoint.h"

using namespace fabricbench;
using namespace fabricbench::rdma_cm;
using test::FakeEndpoints;

namespace rdma_cm_side_test {

constexpr std::size_t kBytes = 20;

SideSettings settings_for(FakeEndpoints& endpoint, Transport transport = Transport::kRc, std::size_t parallel = 1) {
  return {transport, 3, 5.0, "rank 1 on node-07", endpoint.clock(), parallel};
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

void let_all_come(FakeEndpoints& endpoint) {
  for (std::uint32_t number = 0; number < 3; ++number) endpoint.coming.push_back({number});
}

void answer_a_connection(FakeEndpoints& endpoint) {
  endpoint.answer(EventKind::kAddressResolved, 0.25);
  endpoint.answer(EventKind::kRouteResolved, 0.5);
  endpoint.answer(EventKind::kEstablished, 1);
  endpoint.answer(EventKind::kDisconnected, 2);
  let_all_come(endpoint);
}

Problem agree_alone(const Problem& own) { return own; }

TEST(RdmaCmSide, ConnectsStepByStepAndTakesTheirTimes) {
  FakeEndpoints endpoint(kBytes);
  answer_a_connection(endpoint);
  ActiveSide side(endpoint, settings_for(endpoint));
  const Series series = make_connections(side, 1, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(series.made, 1);
  EXPECT_NEAR(series.took, 3.75, 0.1);
  EXPECT_EQ(endpoint.calls, (std::vector<std::string>{"resolve_address", "resolve_route", "connect", "send 0", "send 1",
                                                      "send 2", "disconnect", "close"}));
  const SideResults& findings = side.findings();
  const std::vector<Seconds> expected = {0.25, 0.5, 1, FakeEndpoints::kPoll, 2};
  for (std::size_t step = 0; step < kConnectSteps; ++step) {
    ASSERT_EQ(findings.times[step].size(), 1U) << step;
    EXPECT_NEAR(findings.times[step][0], expected[step], 1e-9) << step;
  }
  EXPECT_EQ(findings.lost + findings.wrong, 0U);
}

TEST(RdmaCmSide, AcceptsAndAnswersTheFirstMessage) {
  FakeEndpoints endpoint(kBytes);
  endpoint.side = 0;
  endpoint.answer(EventKind::kConnectRequest);
  endpoint.answer(EventKind::kOther);
  endpoint.answer(EventKind::kEstablished);
  endpoint.answer(EventKind::kDisconnected);
  let_all_come(endpoint);
  PassiveSide side(endpoint, settings_for(endpoint));
  const Series series = make_connections(side, 1, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(endpoint.calls, (std::vector<std::string>{"accept", "send 0", "send 1", "send 2", "disconnect", "close"}));
}

TEST(RdmaCmSide, DatagramsHaveNothingToEnd) {
  FakeEndpoints endpoint(kBytes);
  endpoint.side = 0;
  endpoint.answer(EventKind::kConnectRequest);
  let_all_come(endpoint);
  PassiveSide side(endpoint, settings_for(endpoint, Transport::kUd));
  EXPECT_EQ(make_connections(side, 1, agree_alone).problem.text, "");
  EXPECT_EQ(std::count(endpoint.calls.begin(), endpoint.calls.end(), "disconnect"), 0);
}

TEST(RdmaCmSide, NamesPeerStepAndEventOfAFailure) {
  FakeEndpoints endpoint(kBytes);
  endpoint.answer(EventKind::kAddressResolved);
  endpoint.answer(EventKind::kRouteResolved);
  endpoint.answer(EventKind::kRejected, 0, 8);
  ActiveSide side(endpoint, settings_for(endpoint));
  const Series series = make_connections(side, 5, agree_alone);
  EXPECT_EQ(series.made, 0);
  EXPECT_EQ(series.problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(series.problem.text.find(
                "connection 0: connecting with rank 1 on node-07: RDMA_CM_EVENT_REJECTED (status 8, nobody "
                "listens there): "),
            0U)
      << series.problem.text;
  EXPECT_EQ(endpoint.calls.back(), "close");
}

TEST(RdmaCmSide, EndsAStepThatTakesTooLong) {
  FakeEndpoints endpoint(kBytes);
  ActiveSide side(endpoint, settings_for(endpoint));
  side.begin({2, 1});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(problem.text.find("connection 2: resolving the address of rank 1 on node-07: nothing came within 5 s"), 0U)
      << problem.text;
  EXPECT_NEAR(endpoint.time, 5, 1e-9);
}

TEST(RdmaCmSide, NamesTheStepOfACallThatIsRefused) {
  FakeEndpoints endpoint(kBytes);
  endpoint.answer(EventKind::kAddressResolved);
  endpoint.refused_call = "resolve_route";
  ActiveSide side(endpoint, settings_for(endpoint));
  side.begin({2, 1});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kMissing);
  EXPECT_EQ(problem.text, "connection 2: resolving the route to rank 1 on node-07: refused");
}

TEST(RdmaCmSide, EndsWithTheOtherSidesProblem) {
  FakeEndpoints endpoint(kBytes);
  PassiveSide side(endpoint, settings_for(endpoint));
  const auto other_failed = [](const Problem&) { return Problem{ExitStatus::kTimeout, "of the other"}; };
  const Series series = make_connections(side, 5, other_failed);
  EXPECT_EQ(series.problem.text, "of the other");
  EXPECT_EQ(endpoint.calls, (std::vector<std::string>{"close"})) << "it waits for no request";
}

/// What three connections at the same time are answered; each waits for its own event.
void answer_three(FakeEndpoints& endpoints) {
  endpoints.answer_all(EventKind::kAddressResolved);
  endpoints.answer_all(EventKind::kRouteResolved);
  endpoints.answer(EventKind::kEstablished, 1, 0, 2);
  endpoints.answer(EventKind::kEstablished, 1, 0, 0);
  endpoints.answer(EventKind::kEstablished, 1, 0, 1);
  for (std::size_t endpoint = 0; endpoint < 3; ++endpoint) {
    for (std::uint32_t number = 0; number < 3; ++number) endpoints.coming.push_back({number, false, endpoint});
  }
  endpoints.answer_all(EventKind::kDisconnected);
}

TEST(RdmaCmBatch, StartsEachStepOnAllConnections) {
  FakeEndpoints endpoints(kBytes, 3);
  answer_three(endpoints);
  ActiveSide side(endpoints, settings_for(endpoints, Transport::kRc, 3));
  const Series series = make_connections(side, 3, agree_alone);
  EXPECT_EQ(series.problem.text, "");
  EXPECT_EQ(series.made, 3);
  const auto place = [&](const std::string& call) {
    return std::find(endpoints.calls.begin(), endpoints.calls.end(), call) - endpoints.calls.begin();
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
  FakeEndpoints endpoints(kBytes, 2);
  endpoints.answer_all(EventKind::kConnectRequest);
  endpoints.answer(EventKind::kConnectRequest);
  endpoints.coming = {{0, false, 0}, {0, false, 1}, {0, false, 0}};
  endpoints.side = 0;
  SideSettings settings = settings_for(endpoints, Transport::kUd, 2);
  settings.messages = 1;
  PassiveSide side(endpoints, settings);
  const Series series = make_connections(side, 3, agree_alone);
  EXPECT_EQ(series.made, 3);
  EXPECT_EQ(side.findings().wrong, 0U) << side.findings().first_wrong;
  EXPECT_EQ(endpoints.begun, (std::vector<std::pair<std::uint64_t, std::size_t>>{{0, 2}, {2, 1}}));
}

TEST(RdmaCmBatch, IsAcceptedInTheOrderOfItsRequests) {
  FakeEndpoints endpoints(kBytes, 3);
  endpoints.side = 0;
  endpoints.answer(EventKind::kConnectRequest, 0, 0, 1);
  endpoints.answer(EventKind::kConnectRequest, 0, 0, 2);
  endpoints.answer(EventKind::kEstablished, 0, 0, 1);
  endpoints.answer(EventKind::kConnectRequest, 0, 0, 0);
  endpoints.answer(EventKind::kEstablished, 0, 0, 2);
  endpoints.answer(EventKind::kEstablished, 0, 0, 0);
  PassiveSide side(endpoints, settings_for(endpoints, Transport::kRc, 3));
  for (std::uint32_t number = 0; number < 3; ++number) {
    for (std::size_t endpoint = 0; endpoint < 3; ++endpoint) endpoints.coming.push_back({number, false, endpoint});
  }
  side.begin({0, 3});
  side.meet();
  EXPECT_EQ(std::vector<std::string>(endpoints.calls.begin(), endpoints.calls.begin() + 3),
            (std::vector<std::string>{"1: accept", "2: accept", "0: accept"}));
}

TEST(RdmaCmBatch, NamesTheFirstThatFailedAndCountsTheOthers) {
  FakeEndpoints endpoints(kBytes, 4);
  endpoints.answer_all(EventKind::kAddressResolved);
  endpoints.answer_all(EventKind::kRouteResolved);
  endpoints.answer(EventKind::kEstablished, 0, 0, 3);
  endpoints.answer(EventKind::kUnreachable, 0, -110, 2);
  endpoints.answer(EventKind::kEstablished, 0, 0, 0);
  ActiveSide side(endpoints, settings_for(endpoints, Transport::kRc, 4));
  const Series series = make_connections(side, 4, agree_alone);
  EXPECT_EQ(series.made, 0);
  EXPECT_EQ(series.problem.status, ExitStatus::kTimeout);
  const std::string& text = series.problem.text;
  EXPECT_EQ(text.find("connection 2: connecting with rank 1 on node-07: RDMA_CM_EVENT_UNREACHABLE"), 0U) << text;
  EXPECT_TRUE(text.ends_with("; 2 of the 4 connections made at the same time failed in this step")) << text;
  EXPECT_EQ(side.findings().failed, 2U) << "connection 1 had no answer";
  EXPECT_EQ(endpoints.calls.back(), "close");
}

TEST(RdmaCmBatch, EndsWhereNothingComesWhoeverElseWasAnswered) {
  FakeEndpoints endpoints(kBytes, 3);
  endpoints.answer(EventKind::kAddressResolved, 4, 0, 0);
  endpoints.answer(EventKind::kOther, 4);
  ActiveSide side(endpoints, settings_for(endpoints, Transport::kRc, 3));
  side.begin({0, 3});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.text.find("connection 1: resolving the address of rank 1 on node-07: nothing came within 5 s"), 0U)
      << problem.text;
  EXPECT_NEAR(endpoints.time, 9, 1e-9) << "the answer begins the time again, and events of nobody do not";
}

TEST(RdmaCmBatch, GoesOnWhereOneIsRefused) {
  FakeEndpoints endpoints(kBytes, 2);
  endpoints.answer_all(EventKind::kAddressResolved);
  endpoints.refused_call = "resolve_route";
  ActiveSide side(endpoints, settings_for(endpoints, Transport::kRc, 2));
  side.begin({8, 2});
  const Problem problem = problem_of([&] { side.prepare(); });
  EXPECT_EQ(problem.status, ExitStatus::kMissing);
  EXPECT_EQ(problem.text,
            "connection 8: resolving the route to rank 1 on node-07: refused; 2 of the 2 connections made at the same "
            "time failed in this step");
}

TEST(RdmaCmBatch, ExchangesMessagesOfTheOthersWhereARequestFails) {
  FakeEndpoints endpoints(kBytes, 2);
  const SideSettings settings = settings_for(endpoints, Transport::kRc, 2);
  for (std::uint32_t number = 0; number < 3; ++number) endpoints.coming.push_back({number, false, 1});
  endpoints.broken = {0};
  BatchStep step(ConnectStep::kFirstMessage, {0, 2}, settings);
  const std::vector<MessageResults> all = BatchMessages(endpoints, settings, step, true).exchange_messages();
  EXPECT_EQ(step.failed(), 1U);
  EXPECT_EQ(all.at(1).lost, 0U);
  EXPECT_TRUE(all.at(1).first.has_value());
  EXPECT_EQ(problem_of([&] { step.raise(); }).text, "connection 0: exchanging messages with rank 1 on node-07: broken");
}

TEST(RdmaCmBatch, WaitsForTheDatagramsOfEachConnection) {
  FakeEndpoints endpoints(kBytes, 2);
  endpoints.side = 0;
  const SideSettings settings = settings_for(endpoints, Transport::kUd, 2);
  for (std::uint32_t number = 0; number < 3; ++number) endpoints.coming.push_back({number, false, 1});
  BatchStep step(ConnectStep::kFirstMessage, {0, 2}, settings);
  const std::vector<MessageResults> all = BatchMessages(endpoints, settings, step, false).exchange_messages();
  EXPECT_EQ(step.failed(), 0U);
  EXPECT_EQ(all.at(0).lost, 3U);
  EXPECT_EQ(all.at(1).lost, 0U);
  EXPECT_GT(endpoints.time, 5) << "the other side may need long until it sends over connection 0";
}

/// The messages of one connection. Throws the error that ends it.
MessageResults exchange(FakeEndpoints& endpoint, const SideSettings& settings, std::uint64_t connection,
                        bool connects) {
  BatchStep step(ConnectStep::kFirstMessage, {connection, 1}, settings);
  const std::vector<MessageResults> all = BatchMessages(endpoint, settings, step, connects).exchange_messages();
  step.raise();
  return all.at(0);
}

TEST(RdmaCmExchange, CountsDatagramsThatAreLost) {
  FakeEndpoints endpoint(kBytes);
  endpoint.coming = {{2}, {2}};
  const SideSettings settings = settings_for(endpoint, Transport::kUd);
  const MessageResults exchanged = exchange(endpoint, settings, 0, true);
  EXPECT_EQ(exchanged.lost, 2U) << "one came twice";
  EXPECT_EQ(exchanged.wrong, 0U);
  EXPECT_TRUE(exchanged.first.has_value());
  EXPECT_LT(endpoint.time, 1) << "it does not wait for the time limit";
}

TEST(RdmaCmExchange, DoesNotHangWhereAllDatagramsAreLost) {
  for (const bool connects : {true, false}) {
    FakeEndpoints endpoint(kBytes);
    const SideSettings settings = settings_for(endpoint, Transport::kUd);
    const MessageResults exchanged = exchange(endpoint, settings, 0, connects);
    EXPECT_EQ(exchanged.lost, 3U);
    EXPECT_FALSE(exchanged.first.has_value());
    EXPECT_LT(endpoint.time, 6);
  }
}

TEST(RdmaCmExchange, EndsWhereAConnectionLosesMessages) {
  FakeEndpoints endpoint(kBytes);
  endpoint.coming = {{0}, {1}};
  const SideSettings settings = settings_for(endpoint);
  const Problem problem = problem_of([&] { (void)exchange(endpoint, settings, 0, true); });
  EXPECT_EQ(problem.status, ExitStatus::kTimeout);
  EXPECT_EQ(problem.text.find("connection 0: exchanging messages with rank 1 on node-07: 2 of 3 messages have arrived; "
                              "nothing came within 5 s"),
            0U)
      << problem.text;
}

TEST(RdmaCmExchange, EndsWhereAMessageIsNotAcknowledged) {
  FakeEndpoints endpoint(kBytes);
  let_all_come(endpoint);
  endpoint.not_acknowledged = 1;
  const SideSettings settings = settings_for(endpoint);
  const Problem problem = problem_of([&] { (void)exchange(endpoint, settings, 0, true); });
  EXPECT_EQ(
      problem.text.find("connection 0: exchanging messages with rank 1 on node-07: 2 of 3 messages were acknowledged"),
      0U)
      << problem.text;
}

TEST(RdmaCmExchange, FindsWrongBytesAndMessagesOfAnotherConnection) {
  FakeEndpoints endpoint(kBytes);
  endpoint.coming = {{0}, {1, true}, {2}};
  const SideSettings settings = settings_for(endpoint);
  const MessageResults spoiled = exchange(endpoint, settings, 0, true);
  EXPECT_EQ(spoiled.wrong, 1U);
  EXPECT_EQ(spoiled.first_wrong.find("message 1 of connection 0, byte 19: expected 0x"), 0U) << spoiled.first_wrong;

  FakeEndpoints stale(kBytes);
  let_all_come(stale);
  const SideSettings others = settings_for(stale);
  EXPECT_EQ(exchange(stale, others, 1, true).wrong, 3U);
}

TEST(RdmaCmExchange, DoesNotTrustTheNumberOfAMessage) {
  FakeEndpoints endpoint(kBytes);
  endpoint.coming = {{7}, {0}, {1}, {2}};
  const SideSettings settings = settings_for(endpoint);
  EXPECT_EQ(exchange(endpoint, settings, 0, true).wrong, 1U);
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
