#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/heat_map.h"
#include "common/core/options.h"
#include "common/record/columns.h"
#include "common/record/context.h"
#include "common/record/json.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"
#include "common/report/banner.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostEndpoints = 64;  // with a row each, and columns in the map
constexpr std::size_t kWorstEndpoints = 32;
// An endpoint that is down fails with all others, and must not hide other failures.
constexpr std::int64_t kMostTroubleOfOne = 8;
constexpr std::int64_t kMostTroubleLines = 200;
constexpr std::size_t kMostFindings = 16;
constexpr int kWidth = 8;  // of a figure

std::string rate_figure(double bandwidth) { return readable(bandwidth / 1e9, kWidth); }

std::string microseconds(Seconds time) { return readable(time * 1e6, kWidth); }

/// The figure of one direction; `-` if nothing was measured.
std::string figure(const EndpointSummary::Direction& direction, double bandwidth) {
  return direction.readings > 0 ? rate_figure(bandwidth) : "-";
}

/// The figure with its share of `usual`.
std::string compared(double bandwidth, double usual) {
  return fmt::format("{} GB/s, {:.0f} % of the median", rate_figure(bandwidth), 100 * bandwidth / usual);
}

std::string what_is_paired(const Context& context) {
  const std::size_t endpoints = context.ranks.size();
  switch (paired(context)) {
    case EndpointLevel::kHost: return fmt::format("{} hosts, the first rank of each", endpoints);
    case EndpointLevel::kGpu: return fmt::format("{} GPUs", endpoints);
    default: return fmt::format("{} ranks", endpoints);
  }
}

std::string sweep_line(const Context& context) {
  const Options& options = context.options;
  const char* bound = options.find ? "at most " : "";
  const char* meetings = options.schedule == ScheduleKind::kShift ? "flows" : "pairs";
  return fmt::format(
      "# Sweep: {}; schedule: {}; rounds: {}{}; {} at once: {}; size: {} bytes; window: {} messages; seed: {}\n",
      what_is_paired(context), name(options.schedule), bound, context.rounds, meetings, most_at_once(context),
      options.sizes.max_bytes, options.window, context.seed);
}

std::string method_line(const Options& options) {
  const std::string windows = options.iterations
                                  ? fmt::format("{} windows", *options.iterations)
                                  : fmt::format("windows for about {}", readable_seconds(options.time_budget));
  return fmt::format(
      "# Method: {} in each direction of a pair, given up after {}; GB/s: the median over its windows; us: half a "
      "round trip of 8 bytes\n",
      windows, readable_seconds(options.pair_timeout));
}

std::string devices(const Context& context) {
  if (context.ranks.size() <= kMostEndpoints) return device_lines(context);
  return fmt::format("#\n# Using devices: {} ranks; the file of --json lists them\n", context.ranks.size());
}

std::string status_text(ReadingStatus status) {
  return status == ReadingStatus::kNotTried ? "not tried" : std::string(name(status));
}

/// The sort key of an endpoint, worst first: the lower of its medians, 0 if one direction failed altogether.
double lower_median(const EndpointSummary& summary) {
  double lower = std::numeric_limits<double>::infinity();
  for (const EndpointSummary::Direction& direction : {summary.sent, summary.received}) {
    if (direction.readings > 0 || summary.failed > 0) lower = std::min(lower, direction.median);
  }
  return lower;
}

std::vector<EndpointSummary> worst(std::vector<EndpointSummary> summaries) {
  std::stable_sort(summaries.begin(), summaries.end(), [](const EndpointSummary& a, const EndpointSummary& b) {
    return lower_median(a) < lower_median(b);
  });
  summaries.erase(summaries.begin() + static_cast<std::ptrdiff_t>(std::min(summaries.size(), kWorstEndpoints)),
                  summaries.end());
  return summaries;
}

/// The fields of a row or of a header line.
struct Fields {
  std::string number, name;
  std::string sent, least_sent, to;
  std::string received, least_received, from;
  std::string latency, readings, failed;
};

std::string line(const Fields& fields, std::size_t name_width) {
  return fmt::format("{:>6}  {:<{}}  {:>8}  {:>8}  {:<{}}  {:>8}  {:>8}  {:<{}}  {:>8}  {:>8}  {:>6}\n", fields.number,
                     fields.name, name_width, fields.sent, fields.least_sent, fields.to, name_width, fields.received,
                     fields.least_received, fields.from, name_width, fields.latency, fields.readings, fields.failed);
}

std::string header(std::size_t name_width) {
  std::string sides = line({"", "", "sent", "", "", "received", "", "", "", "", ""}, name_width);
  std::string titles = line(
      {"", "name", "median", "least", "to", "median", "least", "from", "latency", "readings", "failed"}, name_width);
  std::string units = line({"", "", "(GB/s)", "(GB/s)", "", "(GB/s)", "(GB/s)", "", "(us)", "", ""}, name_width);
  for (std::string* text : {&sides, &titles, &units}) {
    text->front() = '#';
    text->replace(text->find_last_not_of(" \n") + 1, std::string::npos, "\n");
  }
  return "#\n" + sides + titles + units;
}

/// Prints the results of a sweep over pairs: a line for every failed reading as soon as it fails, and at the end a row
/// per endpoint, the drawn matrix, and a summary of all readings. Every line but the rows is marked with `#`.
/// docs/output.md describes it. It keeps O(N) data for N endpoints.
class SweepTableSink final : public Table {
 public:
  /// `colour`: whether the map uses a terminal's colours.
  SweepTableSink(OutputFile output, bool colour) : Table(std::move(output)), colour_(colour) {}

  void begin(const Context& context) override {
    context_ = context;
    names_ = endpoint_names(context);
    trouble_.assign(names_.size(), 0);
    if (context.options.quiet) return;
    output_.write(starting_lines(context) + sweep_line(context) + backend_lines(context) +
                  method_line(context.options) + devices(context) + notice_lines(context));
  }
  void record(const AnyRecord& record) override {
    if (const auto* reading = record.as<PairReading>()) add(*reading);
    if (const auto* summary = record.as<EndpointSummary>()) summaries_.push_back(*summary);
    if (const auto* verdict = record.as<SweepVerdict>()) verdict_ = *verdict;
    if (const auto* row = record.as<MatrixRow>(); row != nullptr && names_.size() <= kMostEndpoints) {
      receivers_.push_back(*row);
    }
    if (const auto* round = record.as<SweepRound>(); round != nullptr && !context_.options.quiet) {
      output_.write(fmt::format("# Find: round {}: {}\n", round->round, round->why));
    }
  }
  void end(const Ending& ending) override {
    output_.write(table() + map() + wrong_line(ending) + closing_lines() + concluding_lines(context_, ending, ""));
  }
  void abandon(const Ending& ending) override {
    std::string text;
    if (!summaries_.empty())
      text = "#\n# Cut short: the rows below are of the readings made until then\n" + table() + map();
    if (bandwidths_.values() > 0 || failed_ > 0) text += closing_lines();
    output_.write(text + ended_early_line(context_, ending));
  }

 private:
  void add(const PairReading& reading) {
    if (reading.status != ReadingStatus::kOk) {
      ++failed_;
      output_.write(trouble_lines(reading));
      return;
    }
    if (reading.latency) latencies_.add(*reading.latency);
    if (reading.bandwidth <= 0) return;
    bandwidths_.add(reading.bandwidth);
    if (!slowest_ || reading.bandwidth < slowest_->bandwidth) slowest_ = reading;
  }
  [[nodiscard]] const std::string& name(int endpoint) const { return names_[static_cast<std::size_t>(endpoint)]; }
  /// A line on a failed reading, unless one of its endpoints has enough of them.
  [[nodiscard]] std::string trouble_lines(const PairReading& reading) {
    const std::int64_t earlier =
        std::max(trouble_[static_cast<std::size_t>(reading.from)]++, trouble_[static_cast<std::size_t>(reading.to)]++);
    if (earlier >= kMostTroubleOfOne || trouble_shown_ >= kMostTroubleLines) return "";
    std::string text = trouble_shown_++ == 0 ? "#\n" : "";
    text += fmt::format("# {}: {} -> {}, round {}: {}\n", status_text(reading.status), name(reading.from),
                        name(reading.to), reading.round, reading.reason);
    for (const int endpoint : {reading.from, reading.to}) {
      if (trouble_[static_cast<std::size_t>(endpoint)] < kMostTroubleOfOne) continue;
      text += fmt::format(
          "# {} has failed {} times: further failures of it are counted below, and are in the files of --json and "
          "--csv\n",
          name(endpoint), kMostTroubleOfOne);
    }
    if (trouble_shown_ == kMostTroubleLines) {
      text += fmt::format(
          "# {} readings have failed: further ones are counted below, and are in the files of --json and "
          "--csv\n",
          failed_);
    }
    return text;
  }
  [[nodiscard]] std::string table() const {
    std::size_t width = 0;
    for (const std::string& each : names_) width = std::max(width, each.size());
    const bool few = summaries_.size() <= kMostEndpoints;
    std::string text;
    if (!few) {
      text = fmt::format("#\n# The {} of {} endpoints with the lowest medians; --json has all\n", kWorstEndpoints,
                         summaries_.size());
    }
    text += header(width);
    const auto partner = [&](const std::optional<int>& endpoint) { return endpoint ? name(*endpoint) : "-"; };
    for (const EndpointSummary& each : few ? summaries_ : worst(summaries_)) {
      const EndpointSummary::Direction& sent = each.sent;
      const EndpointSummary::Direction& received = each.received;
      text +=
          line({fmt::to_string(each.endpoint), name(each.endpoint), figure(sent, sent.median), figure(sent, sent.least),
                partner(sent.least_partner), figure(received, received.median), figure(received, received.least),
                partner(received.least_partner), each.latency ? microseconds(*each.latency) : "-",
                fmt::to_string(sent.readings + received.readings), fmt::to_string(each.failed)},
               width);
    }
    return text;
  }
  /// The drawn matrix, or a line that says where to find it.
  [[nodiscard]] std::string map() const {
    if (context_.options.quiet) return "";
    if (names_.size() > kMostEndpoints) {
      return fmt::format(
          "#\n# Map: not drawn for more than {} endpoints; --matrix-csv writes the matrix, --json and "
          "--csv every reading\n#\n",
          kMostEndpoints);
    }
    if (receivers_.empty()) return "#\n";
    const HeatMap heat = {names_, receivers_, bandwidths_.median(), colour_,
                          verdict_ ? verdict_->layout : HeatLayout{}};
    const char* numbers = heat.layout.order.empty() ? ", by the numbers above" : "";
    return fmt::format("#\n# Map: a line per receiver, a column per sender{}\n#\n{}#\n{}#\n", numbers,
                       heat_map_lines(heat), heat_legend_lines(heat));
  }
  [[nodiscard]] std::string closing_lines() const {
    std::string text = readings_line() + verdict_lines();
    if (!slowest_) return text;
    const double usual = bandwidths_.median();
    const std::string latency =
        latencies_.values() > 0 ? fmt::format("; latency {} us", microseconds(latencies_.median())) : "";
    text += fmt::format("# {:<20} : {} GB/s{}\n", "Median", rate_figure(usual), latency);
    text += fmt::format("# {:<20} : {} -> {}: {}; round {}\n", "Slowest reading", name(slowest_->from),
                        name(slowest_->to), compared(slowest_->bandwidth, usual), slowest_->round);
    return text + slowest_endpoint_line();
  }
  [[nodiscard]] std::string readings_line() const {
    std::string text = fmt::format("# {:<20} : {} ok, {} failed", "Readings", bandwidths_.values(), failed_);
    // Each failed reading counts for two endpoints; the endpoint with clearly the most may be the cause.
    const auto most = std::max_element(trouble_.begin(), trouble_.end());
    if (failed_ > 0 && std::count(trouble_.begin(), trouble_.end(), *most) == 1) {
      text += fmt::format(", {} of them with {}", *most, name(static_cast<int>(most - trouble_.begin())));
    }
    return text + "\n";
  }
  /// The culprits, in a line each; find_slow_links prints the details.
  [[nodiscard]] std::string verdict_lines() const {
    if (!verdict_) return "";
    std::string text = fmt::format("# Find: over: {}\n", verdict_->why_over);
    const std::size_t shown = std::min(verdict_->said.size(), kMostFindings);
    for (std::size_t i = 0; i < shown; ++i) text += fmt::format("# {:<20} : {}\n", "Found", verdict_->said[i]);
    if (shown < verdict_->said.size()) {
      text += fmt::format("# {} more are in the file of --json; find_slow_links --long reads it\n",
                          verdict_->said.size() - shown);
    }
    return text;
  }
  [[nodiscard]] std::string slowest_endpoint_line() const {
    const EndpointSummary* slowest = nullptr;
    for (const EndpointSummary& each : summaries_) {
      const bool measured = each.sent.readings > 0 && each.received.readings > 0;
      if (measured && (slowest == nullptr || lower_median(each) < lower_median(*slowest))) slowest = &each;
    }
    if (slowest == nullptr) return "";
    const char* what = slowest->sent.median < slowest->received.median ? "sends" : "receives";
    return fmt::format("# {:<20} : {} {} {}\n", "Slowest endpoint", name(slowest->endpoint), what,
                       compared(lower_median(*slowest), bandwidths_.median()));
  }

  bool colour_;
  std::vector<std::string> names_;          // of the endpoints
  std::vector<std::int64_t> trouble_;       // by endpoint: number of failed readings
  std::int64_t trouble_shown_ = 0;          // lines printed for them
  std::int64_t failed_ = 0;                 // failed readings
  RunningMedian bandwidths_;                // of successful readings
  RunningMedian latencies_;                 // of successful readings
  std::optional<PairReading> slowest_;      // of successful readings
  std::vector<EndpointSummary> summaries_;  // by endpoint
  std::vector<MatrixRow> receivers_;        // kept only if the map can be drawn
  std::optional<SweepVerdict> verdict_;     // only if rounds are planned
};

}  // namespace

std::unique_ptr<Sink> make_sweep_table(OutputFile output, bool colour) {
  return std::make_unique<SweepTableSink>(std::move(output), colour);
}

}  // namespace fabricbench
