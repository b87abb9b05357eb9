#include "cluster/run/launch_recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

constexpr double kRounding = 0.001;  // of times in files

std::string algorithm_of(const std::optional<LibraryChoice>& choice) {
  return choice ? fmt::format("{} {}", choice->algorithm, choice->protocol) : std::string();
}

std::string end_of(const ReadingEnd& end) {
  return end.rail.empty() ? std::string(end.host) : fmt::format("{} {}", end.host, end.rail);
}

}  // namespace

RowKey key_of(const Row& row, const Context& context, const char* placement) {
  RowKey key;
  const auto group = static_cast<std::size_t>(row.group);
  if (context.groups.size() > 1 && group < context.groups.size()) {
    key.subject = fmt::format("ranks {} ({})", context.groups[group].ranks, context.groups[group].hosts);
  }
  key.datatype = name(row.datatype);
  if (row.reduction != Reduction::kNone) key.reduction = name(row.reduction);
  key.root = row.root;
  key.placement = placement;
  key.size = row.size;
  return key;
}

std::string contradiction_in(const RowTimes& row) {
  if (!(row.time > 0)) return "time_us_median is not above 0";
  const auto is_no_time = [](Seconds time) { return !(time > 0) || !std::isfinite(time); };
  if (std::any_of(row.epochs.begin(), row.epochs.end(), is_no_time))
    return "epoch_times_us has a time that is not above 0";
  if (!(row.busbw >= 0) || !std::isfinite(row.busbw)) return "busbw_gb_per_s is no rate";
  if (row.epochs.empty()) return "";
  const double of_epochs = median(row.epochs);
  if (std::abs(of_epochs / row.time - 1) < kRounding) return "";
  return fmt::format("time_us_median is {:.6g}, and the median of its epochs is {:.6g}", row.time * 1e6,
                     of_epochs * 1e6);
}

double most_waited(const Launch& launch) {
  double most = 0;
  for (const RowTimes& row : launch.rows) most = std::max(most, row.processor_wait);
  return most;
}

void LaunchRecorder::take(const Row& row) {
  for_each_measurement(row, context_, [&](RowKey key, const Measurement& measured) {
    RowTimes times;
    times.key = std::move(key);
    times.time = measured.summary.median;
    times.epochs = measured.summary.epoch_medians;
    times.busbw = measured.busbw;
    times.algorithm = algorithm_of(measured.choice);
    times.processor_wait = measured.processor_wait;
    payload_ += static_cast<double>(row.size) * static_cast<double>(measured.iterations.value_or(0));
    count_bytes(measured.nics, bytes_);
    add(std::move(times));
  });
}

void LaunchRecorder::take(const PairReading& reading) {
  if (!(reading.bandwidth > 0)) return;
  RowTimes times;
  times.key.subject = fmt::format("{} to {}", end_of(reading.from_end), end_of(reading.to_end));
  times.key.size = reading.size;
  times.time = static_cast<double>(reading.size) / reading.bandwidth;
  times.busbw = reading.bandwidth;
  times.epochs = {times.time};
  times.processor_wait = reading.processor_wait;
  add(std::move(times));
}

void LaunchRecorder::take(const CopyRow& row) {
  if (!(row.summary.median > 0)) return;
  RowTimes times;
  times.key.subject = fmt::format("{} GPU {}", row.host, row.gpu.pci);
  if (row.peer) times.key.subject += " to GPU " + row.peer->pci;
  times.key.test = name(row.kind);
  if (row.memory_node) times.key.test += fmt::format(" NUMA node {}", *row.memory_node);
  if (row.over_host) times.key.test += " over host memory";
  times.key.size = row.size;
  times.time = row.summary.median;
  times.epochs = row.summary.epoch_medians;
  times.busbw = row.bandwidth;
  add(std::move(times));
}

void LaunchRecorder::take(int pair, const ConnectTimes& step) {
  if (!step.median || !(*step.median > 0)) return;
  RowTimes times;
  const auto group = static_cast<std::size_t>(pair);
  times.key.subject = group < context_.groups.size()
                          ? fmt::format("ranks {} ({})", context_.groups[group].ranks, context_.groups[group].hosts)
                          : fmt::format("pair {}", pair);
  times.key.test = name(step.step);
  times.time = *step.median;
  add(std::move(times));
}

void LaunchRecorder::add(RowTimes row) {
  const auto [known, is_new] = place_of_.try_emplace(row.key, rows_.size());
  if (is_new) {
    rows_.push_back(std::move(row));
    return;
  }
  RowTimes& first = rows_[known->second];
  first.processor_wait = std::max(first.processor_wait, row.processor_wait);
  first.epochs.insert(first.epochs.end(), row.epochs.begin(), row.epochs.end());
  if (first.epochs.empty()) return;
  const double before = first.time;
  first.time = median(first.epochs);
  first.busbw *= before / first.time;
}

Launch LaunchRecorder::finish() const {
  Launch launch;
  launch.start.began = context_.started;
  launch.start.allocation = allocation_of(context_);
  for (const auto& [key, value] : context_.option_values) {
    if (key == "label") launch.start.label = value;
  }
  launch.start.identity = identity_of(context_, bytes_, payload_);
  launch.start.circumstances = circumstances_of(context_);
  launch.rows = rows_;
  launch.start.rows = static_cast<std::int64_t>(rows_.size());
  return launch;
}

}  // namespace fabricbench::baseline
