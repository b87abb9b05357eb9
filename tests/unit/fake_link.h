#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/rdma_cm/link.h"
#include "common/backends/rdma_cm/side.h"
#include "common/core/error.h"
#include "common/core/pattern.h"
#include "fake_cm_events.h"

namespace fabricbench::test {

/// Links whose events and messages a test lays out, on a clock that only waiting moves.
class FakeLinks final : public rdma_cm::Links, public FakeEvents<rdma_cm::LinkEvent> {
 public:
  static constexpr Seconds kPoll = 0.001;  // what polling takes

  struct Coming {
    std::uint32_t number;
    bool spoiled = false;
    std::size_t link = 0;
  };

  std::vector<std::string> calls;      ///< such as `connect`; with several links, `2: connect`
  std::deque<Coming> coming;           ///< one each poll
  std::deque<std::size_t> broken;      ///< links of which a request fails, one each poll
  int side = 1;                        ///< who sends what comes
  std::uint64_t connection = 0;        ///< of the first link
  std::uint32_t not_acknowledged = 0;  ///< of the messages sent
  std::string refused_call;            ///< that throws

  explicit FakeLinks(std::size_t bytes, std::size_t links = 1) : bytes_(bytes) {
    for (std::size_t link = 0; link < links; ++link) links_.emplace_back(*this, link);
  }

  [[nodiscard]] std::function<Seconds()> clock() {
    return [this] { return time; };
  }
  void answer(rdma_cm::EventKind kind, Seconds after = 0, int status = 0, std::size_t link = 0) {
    events.push_back({after, {link, {kind, status}}});
  }
  void answer_all(rdma_cm::EventKind kind, Seconds after = 0) {
    for (std::size_t link = 0; link < links_.size(); ++link) answer(kind, after, 0, link);
  }

  void begin(std::uint64_t first, std::size_t count) override {
    connection = first;
    begun.emplace_back(first, count);
  }
  [[nodiscard]] rdma_cm::Link& at(std::size_t link) override { return links_.at(link); }
  [[nodiscard]] std::optional<rdma_cm::LinkEvent> next_event(Seconds longest) override { return wait(longest); }
  [[nodiscard]] std::vector<rdma_cm::Completion> poll() override {
    time += kPoll;
    std::vector<rdma_cm::Completion> completions;
    if (!broken.empty()) {
      completions.push_back({broken.front(), {}, {ExitStatus::kTimeout, "broken"}});
      broken.pop_front();
    }
    for (FakeLink& link : links_) link.acknowledge(completions);
    if (!coming.empty() && (side == 0 || links_.at(coming.front().link).has_sent())) arrive(completions);
    return completions;
  }
  void close() noexcept override { calls.emplace_back("close"); }

  std::vector<std::pair<std::uint64_t, std::size_t>> begun;  ///< arguments of each `begin`

 private:
  class FakeLink final : public rdma_cm::Link {
   public:
    FakeLink(FakeLinks& all, std::size_t place) : all_(all), place_(place) {}

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
      all_.calls.push_back(all_.links_.size() > 1 ? std::to_string(place_) + ": " + name : name);
      if (name == all_.refused_call) throw Error(ExitStatus::kMissing, "refused");
    }

    FakeLinks& all_;
    std::size_t place_;
    std::map<std::uint32_t, std::vector<std::byte>> messages_;
    bool has_sent_ = false;
    std::uint32_t pending_ = 0;
  };

  void arrive(std::vector<rdma_cm::Completion>& completions) {
    const Coming next = coming.front();
    coming.pop_front();
    std::vector<std::byte>& data = received_.emplace_back(bytes_);
    rdma_cm::fill_message({side, connection + next.link, next.number}, data);
    if (next.spoiled) data.back() = static_cast<std::byte>(pattern::kPoisonByte);
    completions.push_back({next.link, rdma_cm::Arrival{next.number, data}, {}});
  }

  std::size_t bytes_;
  std::deque<FakeLink> links_;
  std::deque<std::vector<std::byte>> received_;
};

}  // namespace fabricbench::test
