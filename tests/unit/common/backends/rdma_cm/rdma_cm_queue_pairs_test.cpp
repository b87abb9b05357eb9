// How rdma_cm connects queue pairs: which steps in which order, on either side, and what is said where one fails.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/backends/rdma_cm/cm_connector.h"
#include "common/core/error.h"
#include "fake_cm_events.h"

using namespace fabricbench;
using namespace fabricbench::rdma_cm;

namespace rdma_cm_queue_pairs_test {

using Calls = std::vector<std::string>;

/// A handshake whose events a test lays out, on a clock that only waiting moves.
class FakeHandshake final : public QueuePairHandshake, public fabricbench::test::FakeCmEvents {
 public:
  Calls calls;
  std::string refused_call;  ///< that throws

  void begin(int queue_pair) override { calls.push_back("begin " + std::to_string(queue_pair)); }
  void resolve_address() override { call("resolve_address"); }
  void resolve_route() override { call("resolve_route"); }
  void connect() override { call("connect"); }
  void establish() override { call("establish"); }
  void accept() override { call("accept"); }

  [[nodiscard]] std::optional<Event> next_event(Seconds longest) override { return wait(longest); }

 private:
  void call(const std::string& name) {
    calls.push_back(name);
    if (name == refused_call) throw Error(ExitStatus::kMissing, "no more of these");
  }
};

QueuePairSettings settings_for(FakeHandshake& handshake, bool first, int queue_pairs = 1) {
  return {Transport::kRc,
          queue_pairs,
          first,
          5,
          [](int queue_pair) { return "mlx5_0 of node-07, queue pair " + std::to_string(queue_pair); },
          [&handshake] { return handshake.time; }};
}

void answer_a_call(FakeHandshake& handshake, EventKind last) {
  handshake.answer(EventKind::kAddressResolved);
  handshake.answer(EventKind::kRouteResolved);
  handshake.answer(last);
}

Error failure_of(FakeHandshake& handshake, const QueuePairSettings& settings) {
  try {
    connect_queue_pairs(handshake, settings);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "it connected";
  return {ExitStatus::kOk, ""};
}

TEST(RdmaCmQueuePairs, AreConnectedOneAfterTheOther) {
  FakeHandshake handshake;
  for (int i = 0; i < 2; ++i) answer_a_call(handshake, EventKind::kConnectResponse);
  connect_queue_pairs(handshake, settings_for(handshake, true, 2));
  EXPECT_EQ(handshake.calls, (Calls{"begin 0", "resolve_address", "resolve_route", "connect", "establish", "begin 1",
                                    "resolve_address", "resolve_route", "connect", "establish"}));
}

TEST(RdmaCmQueuePairs, AreAcceptedByTheSecondRank) {
  FakeHandshake handshake;
  for (int i = 0; i < 2; ++i) {
    handshake.answer(EventKind::kConnectRequest);
    handshake.answer(EventKind::kOther);
    handshake.answer(EventKind::kEstablished);
  }
  connect_queue_pairs(handshake, settings_for(handshake, false, 2));
  EXPECT_EQ(handshake.calls, (Calls{"begin 0", "accept", "begin 1", "accept"}));
  EXPECT_TRUE(handshake.events.empty());
}

TEST(RdmaCmQueuePairs, OfDatagramsAreConnectedFromBothSides) {
  for (const bool first : {true, false}) {
    FakeHandshake handshake;
    QueuePairSettings settings = settings_for(handshake, first);
    settings.transport = Transport::kUd;
    const auto call = [&] { answer_a_call(handshake, EventKind::kEstablished); };
    if (first) call();
    handshake.answer(EventKind::kConnectRequest);
    if (!first) call();
    connect_queue_pairs(handshake, settings);
    const Calls called = {"begin 0", "resolve_address", "resolve_route", "connect", "establish"};
    const Calls answered = {"begin 0", "accept"};
    Calls expected = first ? called : answered;
    for (const std::string& name : first ? answered : called) expected.push_back(name);
    EXPECT_EQ(handshake.calls, expected);
  }
}

TEST(RdmaCmQueuePairs, OfAPeerThatDoesNotAnswerAreGivenUpInTime) {
  FakeHandshake handshake;
  answer_a_call(handshake, EventKind::kConnectResponse);
  handshake.answer(EventKind::kAddressResolved);
  handshake.answer(EventKind::kRouteResolved);
  const Error error = failure_of(handshake, settings_for(handshake, true, 2));
  EXPECT_EQ(error.status(), ExitStatus::kTimeout);
  EXPECT_EQ(std::string(error.what()).find("connecting with mlx5_0 of node-07, queue pair 1: nothing came within 5 s"),
            0U)
      << error.what();
  EXPECT_EQ(handshake.time, 5);
}

TEST(RdmaCmQueuePairs, AreWaitedForAsLongAsTheOtherSideMayResolve) {
  FakeHandshake handshake;
  handshake.answer(EventKind::kConnectRequest, 14.5);
  handshake.answer(EventKind::kEstablished, 4.5);
  connect_queue_pairs(handshake, settings_for(handshake, false));
  handshake.answer(EventKind::kConnectRequest, 15.5);
  EXPECT_EQ(failure_of(handshake, settings_for(handshake, false)).status(), ExitStatus::kTimeout);
}

TEST(RdmaCmQueuePairs, ThatAreRefusedSayByWhatAndWhy) {
  FakeHandshake handshake;
  handshake.answer(EventKind::kAddressResolved);
  handshake.answer(EventKind::kRouteResolved);
  handshake.answer(EventKind::kRejected, 0, 8);
  const std::string text = failure_of(handshake, settings_for(handshake, true)).what();
  EXPECT_NE(text.find("queue pair 0: RDMA_CM_EVENT_REJECTED (status 8, nobody listens there)"), std::string::npos)
      << text;
}

TEST(RdmaCmQueuePairs, NameTheStepOfACallThatFails) {
  const std::pair<std::string, std::string> cases[] = {{"resolve_address", "resolving the address of mlx5_0"},
                                                       {"resolve_route", "resolving the route to mlx5_0"},
                                                       {"connect", "connecting with mlx5_0"},
                                                       {"establish", "connecting with mlx5_0"}};
  for (const auto& [call, begins] : cases) {
    FakeHandshake handshake;
    answer_a_call(handshake, EventKind::kConnectResponse);
    handshake.refused_call = call;
    const Error error = failure_of(handshake, settings_for(handshake, true));
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_EQ(std::string(error.what()).find(begins), 0U) << error.what();
    EXPECT_EQ(handshake.calls.back(), call);
  }
}

}  // namespace rdma_cm_queue_pairs_test
