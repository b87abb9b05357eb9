// The window of requests on each queue pair, their signals, and what is lost, on fake queue pairs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/backends/verbs/request_window.h"
#include "common/core/error.h"
#include "fake_connection.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::test;
using namespace fabricbench::verbs;

namespace verbs_flow_test {

constexpr Seconds kLimit = 5;
constexpr int kPollsPerLook = 1000;  // at the clock

RequestWindowSettings writes(std::int64_t depth, std::int64_t moderation = 1) {
  RequestWindowSettings settings{.verb = Verb::kWrite};
  settings.options.depth = depth;
  settings.options.moderation = moderation;
  settings.options.stall_timeout = kLimit;
  return settings;
}

RequestWindowSettings sends(std::int64_t receive_depth) {
  RequestWindowSettings settings = writes(8);
  settings.verb = Verb::kSend;
  settings.receive_depth = receive_depth;
  return settings;
}

RequestWindowSettings datagrams(std::int64_t receive_depth) {
  RequestWindowSettings settings = sends(receive_depth);
  settings.transport = Transport::kUd;
  settings.datagram_patience = kLimit;
  return settings;
}

void start(RequestWindow& window, int messages) {
  for (int i = 0; i < messages; ++i) window.start({nullptr, 64, 1}, {0, 2});
}

std::vector<int> signaled_of(const FakeConnection& connection) {
  std::vector<int> signaled;
  int number = 0;
  for (const auto& post : connection.posts) {
    for (const Request& request : post.requests) {
      ++number;
      if (request.signaled) signaled.push_back(number);
    }
  }
  return signaled;
}

TEST(FlowWindow, NeverHasMoreRequestsUnderWayThanItsDepth) {
  for (const std::int64_t depth : {1, 2, 7, 128}) {
    FakeConnection connection;
    RequestWindow window(connection, writes(depth));
    start(window, 500);
    window.finish();
    EXPECT_EQ(connection.most_under_way, depth);
    EXPECT_EQ(connection.posts.size(), 500U);
  }
}

TEST(FlowWindow, IsKeptFullWhereCompletionsComeOneByOne) {
  FakeConnection connection;
  connection.polled_at_once = 1;
  RequestWindow window(connection, writes(16));
  start(window, 100);
  EXPECT_EQ(connection.polls, 100 - 16) << "one for each message once the window is full";
  window.finish();
}

TEST(FlowWindow, HoldsBackTheLastRequestUntilItIsFinished) {
  FakeConnection connection;
  RequestWindow window(connection, writes(16));
  start(window, 3);
  EXPECT_EQ(connection.posts.size(), 2U);
  window.flush();
  EXPECT_EQ(connection.posts.size(), 3U);
}

TEST(FlowModeration, SignalsEverySoManythAndTheLast) {
  FakeConnection connection;
  RequestWindow window(connection, writes(16, 4));
  start(window, 10);
  window.finish();
  EXPECT_EQ(signaled_of(connection), (std::vector<int>{4, 8, 10}));
  start(window, 4);  // counted from the last one
  window.finish();
  EXPECT_EQ(signaled_of(connection), (std::vector<int>{4, 8, 10, 14}));
}

TEST(FlowModeration, IsAtMostHalfOfTheDepthSoThatTheQueueDoesNotRunDry) {
  FakeConnection connection;
  RequestWindow window(connection, writes(8, 100));
  start(window, 40);
  window.finish();
  EXPECT_EQ(signaled_of(connection).front(), 4);
  EXPECT_LE(connection.most_under_way, 8);
}

TEST(FlowModeration, IsThatOfTheSizeWhicheverCameBefore) {
  FakeConnection connection;
  RequestWindow window(connection, writes(8, 0));
  const auto begin = [&](std::uint32_t bytes, int messages) {
    for (int i = 0; i < messages; ++i) window.start({nullptr, bytes, 1}, {0, 2});
    window.finish();
  };
  begin(8192, 5);  // half of the depth, and the last
  EXPECT_EQ(signaled_of(connection), (std::vector<int>{4, 5}));
  begin(8193, 3);
  EXPECT_EQ(signaled_of(connection), (std::vector<int>{4, 5, 6, 7, 8}));
  begin(8192, 5);
  EXPECT_EQ(signaled_of(connection), (std::vector<int>{4, 5, 6, 7, 8, 12, 13}));
}

TEST(FlowModeration, IsPerftestsWhereNobodyAsked) {
  EXPECT_EQ(moderation_of({}, 8192, 512), 100);
  EXPECT_EQ(moderation_of({}, 8193, 512), 1);
  EXPECT_EQ(moderation_of({}, 64, 128), 64);
  EXPECT_EQ(moderation_of({}, 64, 1), 1);
}

TEST(FlowPostList, HandsRequestsOverTogether) {
  FakeConnection connection;
  RequestWindowSettings settings = writes(16);
  settings.options.post_list = 4;
  RequestWindow window(connection, settings);
  start(window, 10);
  window.finish();
  std::vector<std::size_t> sizes;
  for (const auto& post : connection.posts) sizes.push_back(post.requests.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 2}));
}

TEST(FlowQueuePairs, TakeTurns) {
  FakeConnection connection(3);
  RequestWindow window(connection, writes(4));
  start(window, 8);
  window.finish();
  std::vector<int> counts(3);
  for (const auto& post : connection.posts) counts[static_cast<std::size_t>(post.queue_pair)] += 1;
  EXPECT_EQ(counts, (std::vector<int>{3, 3, 2}));
  EXPECT_EQ(window.take_started(), (std::vector<std::uint64_t>{3, 3, 2}));
  EXPECT_EQ(window.take_started(), (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(FlowQueuePairs, ArePassedOverWhileTheyHaveNoRoom) {
  FakeConnection connection(3);
  connection.completes = [](int queue_pair) { return queue_pair != 1; };
  RequestWindow window(connection, writes(4));
  start(window, 100);
  EXPECT_EQ(window.completed().at(1), 0U);
  connection.completes = [](int) { return true; };
  window.finish();
  const std::vector<std::uint64_t> completed = window.completed();
  EXPECT_EQ(completed.at(1), 4U) << "its depth";
  EXPECT_EQ(completed.at(0) + completed.at(2), 96U);
}

RequestWindowSettings one_at_a_time(Verb verb) {
  RequestWindowSettings settings = writes(2);
  settings.verb = verb;
  settings.latency = true;
  return settings;
}

TEST(FlowReady, IsTheSameRequestUnderTheNextNumber) {
  FakeConnection connection;
  RequestWindow window(connection, one_at_a_time(Verb::kRead));
  ASSERT_TRUE(window.make_ready({nullptr, 64, 1}, {0, 2}));
  EXPECT_TRUE(connection.posts.empty());
  for (int i = 0; i < 3; ++i) {
    window.start_ready(1);
    EXPECT_FALSE(window.is_idle());
    window.finish();
  }
  ASSERT_EQ(connection.posts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Request& request = connection.posts[i].requests.front();
    EXPECT_EQ(request.number, i + 1);
    EXPECT_EQ(request.local.bytes, 64U);
    EXPECT_EQ(request.remote.key, 2U);
    EXPECT_TRUE(request.signaled);
  }
  EXPECT_EQ(window.take_started(), (std::vector<std::uint64_t>{3}));
}

TEST(FlowReady, WaitsForRoom) {
  FakeConnection connection;
  RequestWindow window(connection, one_at_a_time(Verb::kRead));
  ASSERT_TRUE(window.make_ready({nullptr, 64, 1}, {0, 2}));
  window.start_ready(5);
  EXPECT_EQ(connection.posts.size(), 5U);
  EXPECT_EQ(connection.most_under_way, 1);
}

TEST(FlowReady, IsSignaledLikeAnyRequest) {
  for (const std::int64_t at_once : {1, 3, 8}) {
    std::vector<std::vector<int>> signaled;
    for (const bool ready : {false, true}) {
      FakeConnection connection;
      RequestWindowSettings settings = writes(16, 4);
      settings.options.post_list = at_once;
      RequestWindow window(connection, settings);
      if (ready) {
        ASSERT_TRUE(window.make_ready({nullptr, 64, 1}, {0, 2}));
        window.start_ready(100);
      } else {
        start(window, 100);
      }
      window.finish();
      EXPECT_LE(connection.most_under_way, 16);
      signaled.push_back(signaled_of(connection));
    }
    EXPECT_EQ(signaled.at(0), signaled.at(1));
    EXPECT_EQ(signaled.at(1).back(), 100);
  }
}

TEST(FlowReady, GivesWayToARequestOfAnotherPlace) {
  FakeConnection connection;
  RequestWindow window(connection, writes(16));
  ASSERT_TRUE(window.make_ready({nullptr, 64, 1}, {0, 2}));
  window.start_ready(3);
  window.start({nullptr, 8, 1}, {0, 2});
  ASSERT_TRUE(window.make_ready({nullptr, 32, 1}, {0, 2}));
  window.start_ready(2);
  window.finish();
  std::vector<std::uint32_t> sizes;
  for (const auto& post : connection.posts) sizes.push_back(post.requests.front().local.bytes);
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{64, 64, 64, 8, 32, 32}));
}

/// The requests of a stream of messages that may be spread, by queue pair, in the order of their posting.
std::vector<std::vector<Request>> spread_out(std::uint32_t bytes, std::int64_t post_list, int queue_pairs) {
  FakeConnection connection(queue_pairs);
  RequestWindowSettings settings = writes(128);
  settings.options.post_list = post_list;
  RequestWindow window(connection, settings);
  std::vector<std::byte> own(static_cast<std::size_t>(queue_pairs) * kSpread);
  window.spread_over({own.data(), static_cast<std::uint32_t>(own.size()), 7}, {1 << 20, 8});
  EXPECT_TRUE(window.make_ready({nullptr, bytes, 1}, {64, 2}));
  window.start_ready(400);
  window.finish();
  std::vector<std::vector<Request>> found(static_cast<std::size_t>(queue_pairs));
  for (const auto& post : connection.posts) {
    std::vector<Request>& of_one = found.at(static_cast<std::size_t>(post.queue_pair));
    of_one.insert(of_one.end(), post.requests.begin(), post.requests.end());
  }
  for (Request& request : found.front()) {
    if (request.remote.key != 8) continue;
    const auto offset = static_cast<std::uint64_t>(request.local.data - own.data());
    EXPECT_EQ(request.remote.address, (1 << 20) + offset) << "the same place at both ends";
    EXPECT_EQ(request.local.key, 7U);
  }
  return found;
}

std::set<std::uint64_t> places_of(const std::vector<Request>& requests) {
  std::set<std::uint64_t> places;
  for (const Request& request : requests) places.insert(request.remote.address);
  return places;
}

TEST(FlowSpread, TakesEveryLineOfAPageAndTheUsualPlaceFirst) {
  for (const std::int64_t post_list : {1, 5, 32, 128}) {
    for (const std::uint32_t bytes : {8U, 64U, 65U, 1000U, 4096U}) {
      SCOPED_TRACE(fmt::format("-l {}, {} bytes", post_list, bytes));
      const std::vector<Request> requests = spread_out(bytes, post_list, 1).front();
      ASSERT_EQ(requests.size(), 400U);
      const std::size_t lines = kSpread / ((bytes + kLine - 1) / kLine * kLine);
      EXPECT_EQ(places_of(requests).size(), lines);
      const auto first = requests.begin() + std::min<std::ptrdiff_t>(post_list, 400);
      EXPECT_TRUE(places_of({requests.begin(), first}).contains(64)) << "which is checked";
      for (const std::uint64_t place : places_of(requests)) {
        EXPECT_TRUE(place == 64 || (place >= (1 << 20) && place + bytes <= (1 << 20) + kSpread)) << place;
      }
    }
  }
}

TEST(FlowSpread, GivesEachQueuePairItsOwnPlaces) {
  const std::vector<std::vector<Request>> found = spread_out(8, 4, 3);
  std::set<std::uint64_t> all;
  std::size_t places = 0;
  for (const std::vector<Request>& of_one : found) {
    const std::set<std::uint64_t> own = places_of(of_one);
    places += own.size();
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(places, 3 * kSpread / kLine);
  EXPECT_EQ(all.size(), places);
}

TEST(FlowSpread, IsNotForMessagesLargerThanAPage) {
  EXPECT_EQ(places_of(spread_out(4097, 1, 1).front()), std::set<std::uint64_t>{64});
}

TEST(FlowReady, IsRefusedWhereMoreChangesThanTheNumber) {
  RequestWindowSettings swaps = one_at_a_time(Verb::kAtomic);
  swaps.options.atomic = AtomicKind::kCompareAndSwap;
  RequestWindowSettings numbered = one_at_a_time(Verb::kSend);
  numbered.transport = Transport::kUd;
  RequestWindowSettings immediate = one_at_a_time(Verb::kWrite);
  immediate.options.write_with_immediate = true;
  for (const RequestWindowSettings& settings : {swaps, numbered, immediate}) {
    FakeConnection connection;
    RequestWindow window(connection, settings);
    EXPECT_FALSE(window.make_ready({nullptr, 64, 1}, {0, 2}));
  }
}

/// When messages of 64 bytes started under a limit of 64,000 bytes per second: one each millisecond.
std::vector<double> starts_at_pace(RequestWindowSettings settings, bool ready, int messages) {
  const ScriptedClock clock(1000, 1e-5);
  FakeConnection connection;
  settings.options.rate_limit = 64e3;
  RequestWindow window(connection, settings);
  std::vector<double> starts;
  std::size_t seen = 0;
  connection.before_poll = [&] {
    for (; seen < connection.posts.size(); ++seen) starts.push_back(clock.shows() - 1000);
  };
  if (ready) {
    EXPECT_TRUE(window.make_ready({nullptr, 64, 1}, {0, 2}));
    window.start_ready(static_cast<std::uint64_t>(messages));
  } else {
    start(window, messages);
  }
  window.finish();
  return starts;
}

TEST(FlowPace, IsTheRateThatIsAllowed) {
  for (const bool ready : {false, true}) {
    const std::vector<double> starts = starts_at_pace(writes(16), ready, 20);
    ASSERT_EQ(starts.size(), 20U);
    for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_NEAR(starts[i], static_cast<double>(i) * 1e-3, 1e-4);
  }
}

TEST(FlowPace, IsThatOfWholeBursts) {
  RequestWindowSettings settings = writes(16);
  settings.options.burst = 5;
  const std::vector<double> starts = starts_at_pace(settings, true, 20);
  ASSERT_EQ(starts.size(), 20U);
  for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_NEAR(starts[i], static_cast<double>(i / 5) * 5e-3, 1e-4);
}

TEST(Pace, DoesNotMakeUpForMoreThanABurst) {
  Pace pace(100, 1);  // messages of 10 bytes: ten a second
  EXPECT_EQ(pace.take(5, 10, 50), 1U);
  EXPECT_EQ(pace.take(5, 10, 50.05), 0U);
  EXPECT_EQ(pace.take(5, 10, 60), 1U) << "100 late";
  EXPECT_EQ(pace.take(5, 10, 60), 1U) << "one is made up for";
  EXPECT_EQ(pace.take(5, 10, 60), 0U);
}

TEST(FlowStall, EndsTheJobWhereNothingCompletesAnyMore) {
  const ScriptedClock clock(1000, 1);
  FakeConnection connection;
  connection.polled_at_once = 0;
  RequestWindow window(connection, writes(4));
  start(window, 2);
  try {
    window.finish();
    FAIL() << "it came to an end";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_EQ(
        std::string(error.what()).find("verbs: waited 5 s in vain for requests to complete; the other end is a fake"),
        0U)
        << error.what();
  }
  // The first reading begins the wait, and each look takes another one: 1 to 5 s later.
  EXPECT_EQ(clock.readings(), 6);
  EXPECT_EQ(connection.polls, 5 * kPollsPerLook);
}

TEST(FlowStall, IsNotLookedForWhereThereIsNoLimit) {
  const ScriptedClock clock(1000, 1000);
  FakeConnection connection;
  connection.polled_at_once = 0;
  connection.before_poll = [&] { connection.polled_at_once = connection.polls < 10 * kPollsPerLook ? 0 : 1; };
  RequestWindowSettings settings = writes(4);
  settings.options.stall_timeout = 0;
  RequestWindow window(connection, settings);
  start(window, 1);
  window.finish();
  EXPECT_GE(connection.polls, 10 * kPollsPerLook);
}

TEST(FlowStall, OfUcSaysThatMessagesMayHaveBeenLost) {
  for (const Transport transport : {Transport::kRc, Transport::kUc}) {
    const ScriptedClock clock(1000, kLimit);
    FakeConnection connection;
    RequestWindowSettings settings = sends(16);
    settings.transport = transport;
    RequestWindow window(connection, settings);
    window.receive_into({});
    try {
      window.receive();
      FAIL() << "nothing was sent";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kTimeout);
      const bool says = std::string(error.what()).find("UC does not retransmit") != std::string::npos;
      EXPECT_EQ(says, transport == Transport::kUc) << error.what();
    }
  }
}

TEST(FlowStall, IsNoneWhereEverySoOftenSomethingCompletes) {
  FakeConnection connection;
  connection.polled_at_once = 0;
  connection.before_poll = [&] { connection.polled_at_once = connection.polls % (5 * kPollsPerLook) == 0 ? 1 : 0; };
  const ScriptedClock clock(1000, 1);         // so that each completion takes 4 of the 5 s
  for (const std::int64_t depth : {1, 20}) {  // in a wait for each, and in one wait for all
    RequestWindow window(connection, writes(depth));
    start(window, 20);
    window.finish();
  }
  EXPECT_EQ(connection.posts.size(), 40U);
  EXPECT_GT(clock.shows(), 1000 + 20 * kLimit);
}

TEST(FlowEvents, AreSleptForWhereNothingHasCompleted) {
  FakeConnection connection;
  connection.polled_at_once = 0;
  connection.before_poll = [&] { connection.polled_at_once = connection.polls % 3 == 0 ? 1 : 0; };
  const ScriptedClock clock;
  RequestWindowSettings settings = writes(1);
  settings.options.events = true;
  RequestWindow window(connection, settings);
  start(window, 10);
  window.finish();
  EXPECT_GT(connection.sleeps, 10);
}

TEST(FlowEvents, AreWaitedForNoLongerThanAnythingElse) {
  const ScriptedClock clock(1000, 1);
  FakeConnection connection;
  connection.polled_at_once = 0;
  RequestWindowSettings settings = writes(1);
  settings.options.events = true;
  RequestWindow window(connection, settings);
  start(window, 1);
  EXPECT_THROW(window.finish(), Error);
  EXPECT_EQ(connection.sleeps, 5);
}

/// Two ends of messages.
struct Ends {
  explicit Ends(const RequestWindowSettings& settings, int queue_pairs = 1)
      : sender_end(queue_pairs, settings.options.shared_receives),
        receiver_end(queue_pairs, settings.options.shared_receives),
        sender(sender_end, settings),
        receiver(receiver_end, settings) {
    FakeConnection::connect(sender_end, receiver_end);
    receiver.receive_into({buffer.data(), static_cast<std::uint32_t>(buffer.size()), 1});
  }

  std::vector<std::byte> message = std::vector<std::byte>(64, std::byte{7});
  std::vector<std::byte> buffer = std::vector<std::byte>(64);
  FakeConnection sender_end;
  FakeConnection receiver_end;
  RequestWindow sender;
  RequestWindow receiver;

  void exchange(int messages) {
    for (int i = 0; i < messages; ++i) {
      sender.start({message.data(), 64, 1}, {});
      sender.flush();
      receiver.expect();
      receiver.poll();
    }
    sender.finish();
    receiver.finish();
  }
};

TEST(FlowReceives, AreFilledOnceAndPostedAgainBeforeTheyRunOut) {
  Ends ends(sends(16));
  EXPECT_EQ(ends.receiver_end.receives_left(), 16);
  ends.exchange(200);
  EXPECT_EQ(ends.receiver_end.most_receives(), 16);
  EXPECT_GT(ends.receiver_end.receives_left(), 13);
  EXPECT_EQ(ends.buffer, ends.message);
}

TEST(FlowReceives, AreNotFilledWhereMessagesTakeNone) {
  Ends ends(writes(8));
  EXPECT_EQ(ends.receiver_end.receives_left(), 0);
}

TEST(FlowReceives, OfOneQueueForAllAreAsManyHoweverManyQueuePairsTakeThem) {
  RequestWindowSettings settings = sends(16);
  settings.options.shared_receives = true;
  Ends ends(settings, 4);
  EXPECT_EQ(ends.receiver_end.receives_left(), 16);
  ends.exchange(201);
  EXPECT_EQ(ends.receiver_end.most_receives(), 16);
  EXPECT_GT(ends.receiver_end.receives_left(), 13);
  for (const int queue : {1, 2, 3}) EXPECT_EQ(ends.receiver_end.receives_left(queue), 0);
  EXPECT_EQ(ends.buffer, ends.message);
}

TEST(FlowDatagrams, ThatShareReceivesAreStillCountedByQueuePair) {
  const ScriptedClock clock(1000, 1);
  RequestWindowSettings settings = datagrams(64);
  settings.options.shared_receives = true;
  Ends ends(settings, 4);
  ends.sender_end.arrivals = [](std::size_t number) { return number % 10 == 3 ? 0 : number == 20 ? 2 : 1; };
  ends.exchange(100);
  EXPECT_EQ(ends.receiver.lost(), 10U);
  EXPECT_EQ(ends.receiver.duplicated(), 1U);
  EXPECT_EQ(ends.receiver.reordered(), 0U) << "each queue pair numbers its own";
  EXPECT_EQ(ends.receiver_end.most_receives(), 64);
}

TEST(FlowDatagrams, AreCountedWhereNoneIsLost) {
  Ends ends(datagrams(64), 2);
  ends.exchange(100);
  EXPECT_EQ(ends.receiver.lost(), 0U);
}

/// A datagram is given up when none has come for the patience, which begins anew with each that comes.
TEST(FlowDatagrams, AreWaitedForAsLongAsTheirPatience) {
  Ends ends(datagrams(64));
  ends.sender_end.arrivals = [](std::size_t number) { return number == 0 ? 0 : 1; };
  const auto send = [&] {
    ends.sender.start({ends.message.data(), 64, 1}, {});
    ends.sender.flush();
  };
  const ScriptedClock clock(1000, 1);
  send();  // the one that is lost
  for (int i = 0; i < 4; ++i) ends.receiver.expect();
  const int polls = ends.receiver_end.polls;
  ends.receiver_end.before_poll = [&, next = 1]() mutable {
    const int waited = ends.receiver_end.polls - polls;
    if (next > 3 || waited < next * 4 * kPollsPerLook) return;
    ++next;
    send();
  };
  ends.receiver.finish();
  EXPECT_EQ(ends.receiver.lost(), 1U);
  const int waited = ends.receiver_end.polls - polls;
  EXPECT_GT(waited, (12 + 4) * kPollsPerLook) << "and for the last one as long as for the others";
  EXPECT_LT(waited, (12 + 7) * kPollsPerLook);
}

TEST(FlowDatagrams, ThatAreLostAreCountedAndHoldNothingUp) {
  const ScriptedClock clock(1000, 1);
  Ends ends(datagrams(64));
  ends.sender_end.arrivals = [](std::size_t number) { return number % 10 == 3 ? 0 : 1; };
  ends.exchange(100);
  EXPECT_EQ(ends.receiver.lost(), 10U);
  ends.exchange(100);  // those given up are not waited for again
  EXPECT_EQ(ends.receiver.lost(), 20U);
}

TEST(FlowDatagrams, ThatComeTwiceAreCountedOnce) {
  Ends ends(datagrams(64));
  ends.sender_end.arrivals = [](std::size_t number) { return number == 5 ? 2 : 1; };
  ends.exchange(20);
  EXPECT_EQ(ends.receiver.lost(), 0U);
  EXPECT_EQ(ends.receiver.duplicated(), 1U);
}

TEST(FlowDatagrams, OfALatencyAreGivenUpOneByOne) {
  const ScriptedClock clock(1000, 1);
  RequestWindowSettings settings = datagrams(64);
  settings.latency = true;
  Ends ends(settings);
  ends.sender_end.arrivals = [](std::size_t number) { return number == 1 ? 0 : 1; };
  for (int i = 0; i < 4; ++i) {
    ends.sender.start({ends.message.data(), 64, 1}, {});
    ends.sender.flush();
    ends.receiver.receive();
  }
  EXPECT_EQ(ends.receiver.lost(), 1U);
}

TEST(DatagramsInOrder, AreNeitherReorderedNorDuplicated) {
  Datagrams came;
  for (std::uint32_t i = 0; i < 200000; ++i) came.arrive(i);
  EXPECT_EQ(came.arrived(), 200000U);
  EXPECT_EQ(came.reordered(), 0U);
  EXPECT_EQ(came.duplicated(), 0U);
}

TEST(DatagramsOutOfOrder, AreToldFromThoseThatComeTwice) {
  Datagrams came;
  for (const std::uint32_t number : {0U, 1U, 4U, 2U, 4U, 5U, 2U, 3U}) came.arrive(number);
  EXPECT_EQ(came.arrived(), 6U);
  EXPECT_EQ(came.reordered(), 2U);   // 2 and 3
  EXPECT_EQ(came.duplicated(), 2U);  // 4 and 2
  EXPECT_EQ(came.next(), 6U);
}

TEST(DatagramsAfterAGap, ForgetWhatTheyRememberOfNumbersLongAgo) {
  Datagrams came;
  came.arrive(0);
  came.arrive(65536);  // the place of 0
  came.arrive(65536 + 5);
  came.arrive(65536 + 3);
  EXPECT_EQ(came.reordered(), 1U);
  EXPECT_EQ(came.duplicated(), 0U);
  EXPECT_EQ(came.arrived(), 4U);
}

}  // namespace verbs_flow_test
