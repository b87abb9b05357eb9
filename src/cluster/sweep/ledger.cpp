#include "cluster/sweep/ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"

namespace fabricbench::sweep {
namespace {

constexpr std::size_t kMostNamed = 8;

}  // namespace

Report report_of(std::int64_t step, const Flows& flows, const StepResult& result, Bytes size, bool has_abandoned) {
  Report report;
  report.step = step;
  report.has_abandoned = has_abandoned;
  if (!flows.from) return report;
  report.from = flows.from;
  report.status = result.status;
  report.windows = static_cast<std::int64_t>(result.windows.size());
  report.messages = result.messages;
  report.latency = result.latency;
  report.processor_wait = result.processor_wait;
  report.wrong = result.wrong;
  if (!result.windows.empty()) {
    const double bytes = static_cast<double>(size) * static_cast<double>(result.messages);
    report.bandwidth = bytes / median(result.windows);
    report.least_bandwidth = bytes / *std::ranges::max_element(result.windows);
    report.most_bandwidth = bytes / *std::ranges::min_element(result.windows);
  }
  report.reason = result.reason;
  return report;
}

Ledger::Ledger(std::vector<std::string> names, Bytes size, std::function<void(PairReading)> publish, double required)
    : names_(std::move(names)),
      size_(size),
      publish_(std::move(publish)),
      required_(required),
      reported_(names_.size(), 1) {}

void Ledger::begin(const SweepStep& step) {
  step_ = step;
  std::ranges::fill(reported_, 0);
  waiting_ = reported_.size();
}

void Ledger::note(int endpoint, const Report& report) {
  std::uint8_t& reported = reported_[static_cast<std::size_t>(endpoint)];
  if (reported == 0) --waiting_;
  reported = 1;
  has_abandoned_ = has_abandoned_ || report.has_abandoned;
  if (!report.from) return;
  ++readings_;
  carried_ += size_ * static_cast<Bytes>(report.messages * report.windows);
  if (report.status == ReadingStatus::kTimeout || report.status == ReadingStatus::kNotTried) ++timed_out_;
  if (report.status == ReadingStatus::kWrong) ++wrong_;
  if (report.processor_wait > 0) ++waited_;
  most_waited_ = std::max(most_waited_, report.processor_wait);
  if (report.status == ReadingStatus::kOk && report.bandwidth < required_) judge(report, endpoint);
  publish_({.round = step_.round,
            .concurrent = static_cast<int>(step_.meetings.size()),
            .from = *report.from,
            .to = endpoint,
            .from_end = {},
            .to_end = {},
            .test = {},
            .size = size_,
            .status = report.status,
            .bandwidth = report.bandwidth,
            .least_bandwidth = report.least_bandwidth,
            .most_bandwidth = report.most_bandwidth,
            .windows = report.windows,
            .messages = report.messages,
            .latency = report.latency,
            .processor_wait = report.processor_wait,
            .wrong = report.wrong,
            .reason = report.reason});
}

/// Of a reading below what is required.
void Ledger::judge(const Report& report, int to) {
  ++slow_;
  if (!slowest_ || report.bandwidth < slowest_->bandwidth) slowest_ = Slowest{*report.from, to, report.bandwidth};
}

std::string Ledger::missing() const {
  std::vector<std::string> missing;
  for (std::size_t endpoint = 0; endpoint < reported_.size() && missing.size() < kMostNamed; ++endpoint) {
    if (reported_[endpoint] != 0) continue;
    const Flows flows = flows_of(step_, static_cast<int>(endpoint));
    const std::optional<int> other = flows.to ? flows.to : flows.from;
    missing.push_back(!other
                          ? names_[endpoint]
                          : fmt::format("{} (to meet {})", names_[endpoint], names_[static_cast<std::size_t>(*other)]));
  }
  const std::size_t more = waiting_ - missing.size();
  return fmt::format("{}{}", fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<int> Ledger::missing_endpoints() const {
  std::vector<int> missing;
  for (std::size_t endpoint = 0; endpoint < reported_.size(); ++endpoint) {
    if (reported_[endpoint] == 0) missing.push_back(static_cast<int>(endpoint));
  }
  return missing;
}

Ending Ledger::ending() const {
  Ending ending;
  ending.wrong_checks = static_cast<std::uint64_t>(wrong_);
  ExitStatus status = ExitStatus::kOk;
  ending.reason = "all pairs were measured";
  ending.precision = "Precision: a reading is one visit to a pair, and has no interval; repeat what matters";
  if (waited_ > 0)
    ending.notes.push_back(waited_note(fmt::format("{} of {} readings", waited_, readings_), most_waited_));
  if (required_ > 0 && waited_ > 0) {
    status = ExitStatus::kNotJudged;
    ending.reason = waited_text(most_waited_);
  } else if (required_ > 0) {
    ending.fast_enough = slow_ + timed_out_ + wrong_ == 0;
  }
  if (slowest_ && waited_ == 0) {
    status = ExitStatus::kTooSlow;
    ending.reason = fmt::format(
        "{} of {} readings are below {:g} GB/s, which --min-bw requires; the slowest is {} -> {}, {:.4g} GB/s", slow_,
        readings_, required_ / 1e9, names_[static_cast<std::size_t>(slowest_->from)],
        names_[static_cast<std::size_t>(slowest_->to)], slowest_->bandwidth / 1e9);
  }
  if (timed_out_ > 0) {
    status = ExitStatus::kTimeout;
    ending.reason = fmt::format("{} of {} readings could not be taken within the time limit", timed_out_, readings_);
  }
  if (wrong_ > 0) {
    status = ExitStatus::kWrongData;
    ending.reason = fmt::format("{} of {} readings found wrong data", wrong_, readings_);
  }
  ending.exit_status = static_cast<int>(status);
  return ending;
}

}  // namespace fabricbench::sweep
