#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/rdma_cm/endpoint.h"
#include "common/backends/rdma_cm/side.h"
#include "common/core/error.h"
#include "common/core/pattern.h"
#include "fake_cm_events.h"

namespace fabricbench::test {

/// Endpoints whose events and messages a test lays out, on a clock that only waiting moves.
class FakeEndpoints final : public rdma_cm::Endpoints, public FakeEvents<rdma_cm::EndpointEvent> {
 public:
  static constexpr Seconds kPoll = 0.001;  // what polling takes

  struct Coming {
    std::uint32_t number;
    bool spoiled = false;
    std::size_t endpoint = 0;
  };

  std::vector<std::string> calls;      ///< such as `connect`; with several endpoints, `2: connect`
  std::deque<Coming> coming;           ///< one each poll
  std::deque<std::size_t> broken;      ///< endpoints of which a request fails, one each poll
  int side = 1;                        ///< who sends what comes
  std::uint64_t connection = 0;        ///< of the first endpoint
  std::uint32_t not_acknowledged = 0;  ///< of the messages sent
  std::string refused_call;            ///< that throws

  explicit FakeEndpoints(std::size_t bytes, std::size_t endpoints = 1) : bytes_(bytes) {
    for (std::size_t endpoint = 0; endpoint < endpoints; ++endpoint) endpoints_.emplace_back(*this, endpoint);
  }

  [[nodiscard]] std::function<Seconds()> clock() {
    return [this] { return time; };
  }
  void answer(rdma_cm::EventKind kind, Seconds after = 0, int status = 0, std::size_t endpoint = 0) {
    events.push_back({after, {endpoint, {kind, status}}});
  }
  void answer_all(rdma_cm::EventKind kind, Seconds after = 0) {
    for (std::size_t endpoint = 0; endpoint < endpoints_.size(); ++endpoint) answer(kind, after, 0, endpoint);
  }

  void begin(std::uint64_t first, std::size_t count) override {
    connection = first;
    begun.emplace_back(first, count);
  }
  [[nodiscard]] rdma_cm::Endpoint& at(std::size_t endpoint) override { return endpoints_.at(endpoint); }
  [[nodiscard]] std::optional<rdma_cm::EndpointEvent> next_event(Seconds longest) override { return wait(longest); }
  [[nodiscard]] std::vector<rdma_cm::Completion> poll() override {
    time += kPoll;
    std::vector<rdma_cm::Completion> completions;
    if (!broken.empty()) {
      completions.push_back({broken.front(), {}, {ExitStatus::kTimeout, "broken"}});
      broken.pop_front();
    }
    for (FakeEndpoint& endpoint : endpoints_) endpoint.acknowledge(completions);
    if (!coming.empty() && (side == 0 || endpoints_.at(coming.front().endpoint).has_sent())) arrive(completions);
    return completions;
  }
  void close() noexcept override { calls.emplace_back("close"); }

  std::vector<std::pair<std::uint64_t, std::size_t>> begun;  ///< arguments of each `begin`

 private:
  class FakeEndpoint final : public rdma_cm::Endpoint {
   public:
    FakeEndpoint(FakeEndpoints& all, std::size_t place) : all_(all), place_(place) {}

    void resolve_address() override { call("resolve_address"); }
    void resolve_route() override { call("resolve_route"); }
    void connect() override { call("connect"); }
    void accept() override { call("accept"); }
    void disconnect() override { call("disconnect"); }
    [[nodiscard]] std::span<std::byte> message(std::uint32_t number) override {
      std::vector<std::byte>& data = messages_[number];
      data.resize(all_.bytes_);
      return data;
    }
    void send(std::uint32_t number) override {
      call("send " + std::to_string(number));
      has_sent_ = true;
      ++pending_;
    }

    [[nodiscard]] bool has_sent() const { return has_sent_; }
    void acknowledge(std::vector<rdma_cm::Completion>& completions) {
      for (; pending_ > all_.not_acknowledged; --pending_) completions.push_back({place_, {}, {}});
    }

   private:
    void call(const std::string& name) {
      all_.calls.push_back(all_.endpoints_.size() > 1 ? std::to_string(place_) + ": " + name : name);
      if (name == all_.refused_call) throw Error(ExitStatus::kMissing, "refused");
    }

    FakeEndpoints& all_;
    std::size_t place_;
    std::map<std::uint32_t, std::vector<std::byte>> messages_;
    bool has_sent_ = false;
    std::uint32_t pending_ = 0;
  };

  void arrive(std::vector<rdma_cm::Completion>& completions) {
    const Coming next = coming.front();
    coming.pop_front();
    std::vector<std::byte>& data = received_.emplace_back(bytes_);
    rdma_cm::fill_message({side, connection + next.endpoint, next.number}, data);
    if (next.spoiled) data.back() = static_cast<std::byte>(pattern::kPoisonByte);
    completions.push_back({next.endpoint, rdma_cm::Arrival{next.number, data}, {}});
  }

  std::size_t bytes_;
  std::deque<FakeEndpoint> endpoints_;
  std::deque<std::vector<std::byte>> received_;
};

}  // namespace fabricbench::test
