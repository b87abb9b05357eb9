// Sends whose receives have places of their own, on fake queue pairs that lose and reorder datagrams.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "common/backends/verbs/request_window.h"
#include "common/core/error.h"
#include "fake_connection.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::test;
using namespace fabricbench::verbs;

namespace verbs_flow_places_test {

using Number = std::uint64_t;  // what a message carries
constexpr std::size_t kDistance = 32;
constexpr std::size_t kPlaces = 64;
constexpr Number kNothing = ~Number{0};

RequestWindowSettings settings_of(Transport transport, std::int64_t post_list) {
  RequestWindowSettings settings{.verb = Verb::kSend};
  settings.transport = transport;
  settings.options.depth = 4;
  settings.options.moderation = 1;
  settings.options.stall_timeout = 5;
  settings.datagram_patience = 5;
  settings.options.post_list = post_list;
  settings.receive_depth = 16;
  return settings;
}

/// A sender and a receiver with places.
struct Ends {
  Ends(Transport transport, int queue_pairs, std::int64_t post_list = 1)
      : sender_end(queue_pairs),
        receiver_end(queue_pairs),
        sender(sender_end, settings_of(transport, post_list)),
        receiver(receiver_end, settings_of(transport, post_list)) {
    FakeConnection::connect(sender_end, receiver_end);
  }

  /// Sends messages that carry `first` and what follows it.
  void exchange(Number first, std::uint64_t messages) {
    for (std::size_t place = 0; place < kPlaces; ++place) put(place, kNothing);
    MessagePlaces places{.bytes = sizeof(Number), .distance = kDistance, .number = kPlaces};
    sender.receive_apart({}, places, receiver.sent());
    places.received = messages;
    receiver.receive_apart({memory.data(), static_cast<std::uint32_t>(memory.size()), 1}, places, sender.sent());
    std::vector<Number> carried(messages);
    std::iota(carried.begin(), carried.end(), first);
    for (Number& number : carried) {
      sender.start({reinterpret_cast<std::byte*>(&number), sizeof number, 1}, {});
      receiver.expect();
      (void)receiver.poll();
    }
    sender.finish();
    receiver.finish();
  }

  void put(std::size_t place, Number number) { std::memcpy(&memory[place * kDistance], &number, sizeof number); }
  [[nodiscard]] Number in(std::size_t place) const {
    Number number = 0;
    std::memcpy(&number, &memory[place * kDistance], sizeof number);
    return number;
  }

  /// The messages, by number from 0, that lie where `arrivals` says.
  [[nodiscard]] std::set<std::uint64_t> found(Number first) const {
    const std::vector<Arrivals> arrivals = receiver.arrivals().value();
    std::set<std::uint64_t> found;
    for (const Arrivals& run : arrivals) {
      EXPECT_EQ(run.messages, 1U);
      EXPECT_EQ(in(run.place), first + run.message);
      found.insert(run.message);
    }
    return found;
  }

  FakeConnection sender_end;
  FakeConnection receiver_end;
  RequestWindow sender;
  RequestWindow receiver;
  std::vector<std::byte> memory = std::vector<std::byte>(kPlaces * kDistance);
};

std::set<std::uint64_t> all_but(std::uint64_t messages, const std::set<std::uint64_t>& missing) {
  std::set<std::uint64_t> all;
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (!missing.contains(i)) all.insert(i);
  }
  return all;
}

TEST(FlowPlaces, AreThoseOfTheMessagesWhicheverQueuePairCarriesThem) {
  for (const int queue_pairs : {1, 3}) {
    Ends ends(Transport::kRc, queue_pairs);
    for (const std::uint64_t messages : {50U, 7U, 64U, 1U}) {
      ends.exchange(100, messages);
      EXPECT_FALSE(ends.receiver.arrivals().has_value());
      for (std::size_t place = 0; place < kPlaces; ++place) {
        EXPECT_EQ(ends.in(place), place < messages ? 100 + place : kNothing) << queue_pairs << " " << place;
      }
      for (int i = 0; i < queue_pairs; ++i) EXPECT_EQ(ends.receiver_end.receives_left(i), 0) << "of another place";
    }
  }
}

TEST(FlowPlaces, KeepStrictTurnsWhereOneQueuePairIsSlow) {
  Ends ends(Transport::kRc, 2);
  int polls = 0;
  ends.sender_end.completes = [&](int queue_pair) { return queue_pair == 0 || ++polls % 5 == 0; };
  ends.exchange(0, 60);
  for (std::size_t place = 0; place < 60; ++place) EXPECT_EQ(ends.in(place), place);
}

TEST(FlowPlaces, OfDatagramsAreToldByTheirNumbers) {
  Ends ends(Transport::kUd, 1);
  ends.exchange(0, 50);
  EXPECT_EQ(ends.found(0), all_but(50, {}));
  ends.exchange(1000, 60);
  EXPECT_EQ(ends.found(1000), all_but(60, {}));
}

TEST(FlowPlaces, OfLostDatagramsGoToLaterOnes) {
  const ScriptedClock clock(1000, 1);
  for (const int queue_pairs : {1, 3}) {
    Ends ends(Transport::kUd, queue_pairs);
    ends.sender_end.arrivals = [](std::size_t number) { return number % 10 == 3 ? 0 : 1; };
    ends.exchange(0, 30);
    EXPECT_EQ(ends.found(0), all_but(30, {3, 13, 23}));
    ends.exchange(100, 60);
    EXPECT_EQ(ends.found(100), all_but(60, {3, 13, 23, 33, 43, 53}));
    EXPECT_EQ(ends.receiver.lost(), 9U);
  }
}

TEST(FlowPlaces, OfOvertakenDatagramsAreNotTakenForEachOther) {
  Ends ends(Transport::kUd, 1, 2);
  ends.sender_end.is_overtaken = [](std::size_t post, std::size_t place) { return post % 5 == 2 && place == 0; };
  ends.exchange(0, 50);
  EXPECT_EQ(ends.found(0), all_but(50, {}));
  EXPECT_EQ(ends.receiver.reordered(), 5U);
}

TEST(FlowPlaces, AreAtLeastAsManyAsQueuePairs) {
  Ends ends(Transport::kRc, 100);
  EXPECT_THROW(ends.exchange(0, 1), UsageError);
}

}  // namespace verbs_flow_places_test
