#pragma once

// Ranks that are threads of one process and meet on its loopback.

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/backends/sockets/rendezvous.h"
#include "common/backends/sockets/tcp_session.h"
#include "common/core/error.h"

namespace fabricbench::test {

using sockets::Gather;
using sockets::TcpSession;
using sockets::TcpSettings;

using Data = std::vector<std::uint8_t>;
using Texts = std::vector<std::string>;

inline constexpr DataType kByte = DataType::kUint8;
inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr Seconds kGenerous = 50;  // nobody waits for so long: a test that fails ends, before it is ended

/// A gather function for threads. `first` may change what was gathered in the first round.
class Rounds {
 public:
  Rounds(int ranks, std::function<void(Texts&)> first)
      : texts_(static_cast<std::size_t>(ranks)), first_(std::move(first)), all_here_(ranks) {}

  Gather of(int rank) {
    return [this, rank](const std::string& text) {
      texts_[static_cast<std::size_t>(rank)] = text;
      all_here_.arrive_and_wait();
      if (rank == 0 && first_) std::exchange(first_, nullptr)(texts_);
      all_here_.arrive_and_wait();
      Texts gathered = texts_;
      all_here_.arrive_and_wait();  // nobody writes the next round's before all have read
      return gathered;
    };
  }

 private:
  Texts texts_;
  std::function<void(Texts&)> first_;
  std::barrier<> all_here_;
};

struct Outcome {
  std::string error;  // empty: none
  ExitStatus status = ExitStatus::kOk;
};

using Body = std::function<void(int rank, TcpSession&)>;

[[nodiscard]] inline Outcome outcome_of(const std::function<void()>& body) {
  Outcome outcome;
  try {
    body();
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.status = error.status();
  }
  return outcome;
}

/// Runs the body on every rank of a job, and says how it ended on each.
[[nodiscard]] inline std::vector<Outcome> run(int ranks, const TcpSettings& settings, const Body& body,
                                              std::function<void(Texts&)> first = nullptr) {
  Rounds rounds(ranks, std::move(first));
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  threads.reserve(outcomes.size());
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      outcomes[static_cast<std::size_t>(rank)] = outcome_of([&] {
        TcpSettings own = settings;
        own.name = fmt::format("rank {} on node", rank);
        TcpSession session(rank, ranks, rounds.of(rank), own);
        body(rank, session);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

inline void expect_success(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.error, "");
}

[[nodiscard]] inline TcpSettings with_streams(int streams) {
  TcpSettings settings;
  settings.network = "loopback of node";
  settings.streams = streams;
  settings.time_limit_s = kGenerous;
  settings.connect_limit_s = kGenerous;
  return settings;
}

/// Bytes that differ by sender, message and place.
[[nodiscard]] inline Data message(int from, std::size_t number, std::size_t bytes) {
  Data data(bytes);
  std::uint64_t state = static_cast<std::uint64_t>(from) * 7919U + number * 104729U + 1U;
  for (std::size_t place = 0; place < bytes; place += sizeof state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t word = state ^ (state >> 32);  // the lower bits alone would soon come again
    std::memcpy(data.data() + place, &word, std::min(sizeof word, bytes - place));
  }
  return data;
}

/// Sends messages of these sizes to each of the others and receives theirs, all at once, and compares.
inline void exchange_all(int rank, int ranks, Backend& backend, const std::vector<std::size_t>& sizes) {
  std::vector<Data> sent;
  for (std::size_t i = 0; i < sizes.size(); ++i) sent.push_back(message(rank, i, sizes[i]));
  std::vector<std::vector<Data>> received(static_cast<std::size_t>(ranks));
  for (int other = 0; other < ranks; ++other) {
    if (other == rank) continue;
    auto& from_other = received[static_cast<std::size_t>(other)];
    for (const std::size_t size : sizes) from_other.emplace_back(size);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      backend.start_send(sent[i].data(), sizes[i], kByte, other);
      backend.start_recv(from_other[i].data(), sizes[i], kByte, other);
    }
  }
  backend.finish();
  for (int other = 0; other < ranks; ++other) {
    if (other == rank) continue;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(received[static_cast<std::size_t>(other)][i] == message(other, i, sizes[i]))
          << "message " << i << " from rank " << other << " to rank " << rank;
    }
  }
}

}  // namespace fabricbench::test
