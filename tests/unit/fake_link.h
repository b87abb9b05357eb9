#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/link.h"
#include "common/backends/rdma_cm/message.h"
#include "common/backends/rdma_cm/side.h"
#include "common/core/error.h"
#include "common/core/pattern.h"
#include "fake_cm_events.h"

namespace fabricbench::test {

/// A link whose events and messages a test lays out, on a clock that only waiting moves.
class FakeLink final : public rdma_cm::Link, public FakeCmEvents {
 public:
  static constexpr Seconds kPoll = 0.001;  // what polling takes

  struct Coming {
    std::uint32_t number;
    bool spoiled = false;
  };

  std::vector<std::string> calls;
  std::deque<Coming> coming;  ///< one each poll
  int side = 1;               ///< who sends what comes
  std::uint64_t connection = 0;
  std::uint32_t not_acknowledged = 0;  ///< of the messages sent
  std::string refused_call;            ///< that throws

  explicit FakeLink(std::size_t bytes) : own_(bytes) {}

  [[nodiscard]] std::function<Seconds()> clock() {
    return [this] { return time; };
  }

  void resolve_address() override { call("resolve_address"); }
  void resolve_route() override { call("resolve_route"); }
  void connect() override { call("connect"); }
  void accept() override { call("accept"); }
  void disconnect() override { call("disconnect"); }
  void close() noexcept override { calls.emplace_back("close"); }

  [[nodiscard]] std::optional<rdma_cm::Event> next_event(Seconds longest) override { return wait(longest); }

  [[nodiscard]] std::span<std::byte> message(std::uint32_t number) override {
    std::vector<std::byte>& data = sent_[number];
    data.resize(own_);
    return data;
  }
  void send(std::uint32_t number) override {
    calls.push_back("send " + std::to_string(number));
    ++pending_;
  }
  [[nodiscard]] rdma_cm::Completions poll() override {
    time += kPoll;
    rdma_cm::Completions completions;
    if (pending_ > not_acknowledged) {
      completions.sent = pending_ - not_acknowledged;
      pending_ = not_acknowledged;
    }
    if (!coming.empty() && (side == 0 || !sent_.empty())) arrive(completions);
    return completions;
  }

 private:
  void call(const std::string& name) {
    calls.push_back(name);
    if (name == refused_call) throw Error(ExitStatus::kMissing, "refused");
  }
  void arrive(rdma_cm::Completions& completions) {
    const Coming next = coming.front();
    coming.pop_front();
    std::vector<std::byte>& data = received_.emplace_back(own_);
    rdma_cm::fill_message({side, connection, next.number}, data);
    if (next.spoiled) data.back() = static_cast<std::byte>(pattern::kPoisonByte);
    completions.arrivals.push_back({next.number, data});
  }

  std::size_t own_;
  std::map<std::uint32_t, std::vector<std::byte>> sent_;
  std::deque<std::vector<std::byte>> received_;
  std::uint32_t pending_ = 0;
};

}  // namespace fabricbench::test
