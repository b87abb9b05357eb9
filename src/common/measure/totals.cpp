#include "common/measure/totals.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/statistics.h"
#include "common/core/wording.h"
#include "common/measure/operation.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostWrongLines = 20;
constexpr std::size_t kMostUnrepeatedLines = 20;

std::string label_of(const Row& row, bool in_place, RowKind row_kind) {
  return describe(Case{row.size, {}, row.datatype, row.reduction, row.root, in_place}, row_kind);
}

/// Where epochs are added up: those of one pass over all sizes are near in time. -n has no epochs, but sizes.
RankCounts::Block block_of(const Row& row, std::int64_t epoch, const Options& options) {
  constexpr std::int64_t kKinds = 1000;
  const std::int64_t kind = static_cast<std::int64_t>(row.datatype) * kKinds + static_cast<std::int64_t>(row.reduction);
  const std::int64_t root = row.root + 1;
  return {root * kKinds * kKinds + kind, options.iterations ? static_cast<std::int64_t>(row.size) : epoch};
}

/// The mean of a rank's values; 0 if there are none.
double mean_of(const std::vector<double>& sums, int rank, std::int64_t count) {
  const auto index = static_cast<std::size_t>(rank);
  return index < sums.size() && count > 0 ? sums[index] / static_cast<double>(count) : 0;
}

/// Rounded down, and without an exponent: what is found must not be exaggerated.
std::string two_digits(double value) {
  constexpr double kRounding = 1e-9;
  if (value >= 10) return fmt::format("{:.0f}", std::floor(value));
  const double places = value >= 1 ? 10 : 100;
  return fmt::format("{:g}", std::floor(value * places * (1 + kRounding)) / places);
}

}  // namespace

void Totals::add(const Row& row, const std::string& test, RowKind row_kind) {
  for (const bool in_place : {false, true}) {
    const auto& measured = in_place ? row.in_place : row.out_of_place;
    if (!measured) continue;
    const std::string label = label_of(row, in_place, row_kind);
    add(row, *measured, label);
    note_data(row, *measured, fmt::format("{} {}", test, label));
    if (measured->wrong.value_or(0) == 0) continue;
    wrong_checks_ += measured->wrong_ranks;
    const std::uint64_t messages = measured->wrong_messages.value_or(0);
    const std::uint64_t operations = measured->wrong_operations.value_or(0);
    const std::string of_what = messages > 0     ? " of " + counted(messages, "message")
                                : operations > 0 ? " of " + counted(operations, "operation")
                                                 : "";
    const std::string line =
        fmt::format("wrong data in {} {}: {}{} over {}; {}", test, label, counted(*measured->wrong, "element"), of_what,
                    counted(measured->wrong_ranks, "rank"), measured->first_wrong);
    fmt::print(stderr, "fabricbench: {}\n", line);
    if (wrong_data_.size() < kMostWrongLines) wrong_data_.push_back(line);
  }
}

void Totals::add(const Row& row, const Measurement& measured, const std::string& label) {
  const Summary& summary = measured.summary;
  OfGroup& group = groups_[row.group];
  group.busbw += measured.busbw;
  ++group.measurements;
  compare_ranks(row, measured);
  late_ += summary.late;
  if (!options_.iterations && summary.epochs < options_.epochs) ++shortened_;
  started_by_barrier_ += summary.common_start ? 0 : 1;
  const bool all_lost = measured.lost.value_or(0) > 0 && measured.message_rate == 0;
  if (all_lost) ++all_lost_;
  if (measured.background_rate == 0) ++without_load_;
  if (summary.resolution == 0 && (summary.median <= 0 || summary.min < 0)) ++without_time_;
  if (measured.processor_wait > 0) {
    most_waited_ = std::max(most_waited_, measured.processor_wait);
    waited_sizes_.insert(row.size);
    ++waited_;
  }
  if (summary.median < summary.resolution) {
    ++below_resolution_;
    coarsest_resolution_ = std::max(coarsest_resolution_, summary.resolution);
  }
  fewest_epochs_ = measurements_ == 0 ? summary.epochs : std::min(fewest_epochs_, summary.epochs);
  most_epochs_ = std::max(most_epochs_, summary.epochs);
  ++measurements_;
  const Figures figures{row.group, row.size, measured.algbw, all_lost ? 0 : summary.median};
  if (!group.largest || figures.size >= group.largest->size) group.largest = figures;
  note_extremes(figures);
  if (!summary.interval) return;
  ++with_interval_;
  const double half_width = summary.interval->half_width();
  if (half_width * 100 <= options_.target_precision_percent) ++precise_;
  if (widest_case_.empty() || half_width > widest_ + 1e-9) {  // more than a rounding error
    widest_ = half_width;
    widest_case_ = label;
  }
}

void Totals::add_idle(const Row& row, const IdleShares& shares, Idleness& sums) const {
  ++sums.measurements;
  sums.shares.resize(shares.by_rank.size());
  for (std::size_t rank = 0; rank < shares.by_rank.size(); ++rank) sums.shares[rank] += shares.by_rank[rank];
  for (std::size_t epoch = 0; epoch < shares.most_idle.size(); ++epoch) {
    const auto block = block_of(row, static_cast<std::int64_t>(epoch), options_);
    sums.most_idle.add(block, shares.most_idle[epoch], shares.most[epoch]);
  }
}

void Totals::compare_ranks(const Row& row, const Measurement& measured) {
  OfGroup& group = groups_[row.group];
  const std::size_t ranks = measured.rank_means.size();
  if (ranks < 2) return;
  if (measured.stopped.by_rank.size() == ranks) {
    add_idle(row, measured.stopped, group.stopped);
    add_idle(row, measured.waiting, group.waiting);
  }
  if (row.root >= 0 && options_.root != kAllRoots) return;
  std::map<std::int64_t, std::int64_t> samples;  // by epoch
  for (const TimesSlowest& count : measured.summary.times_slowest) samples[count.epoch] += count.samples;
  for (const TimesSlowest& count : measured.summary.times_slowest) {
    group.samples[count.rank] += count.samples;
    const double share = static_cast<double>(count.samples) / static_cast<double>(samples[count.epoch]);
    group.slowest.add(block_of(row, count.epoch, options_), count.rank, share);
  }
  ++group.compared;
  group.excess.resize(ranks);
  group.excess_time.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Seconds others = median_of_others(measured.rank_means, rank);
    if (!(others > 0)) continue;
    group.excess[rank] += measured.rank_means[rank] / others - 1;
    group.excess_time[rank] += measured.rank_means[rank] - others;
  }
}

void Totals::note_data(const Row& row, const Measurement& measured, const std::string& what) {
  if (measured.checked_messages) {
    checked_messages_ = checked_messages_.value_or(0) + *measured.checked_messages;
    wrong_messages_ += measured.wrong_messages.value_or(0);
  }
  checked_operations_ += measured.checked_operations.value_or(0);
  if (measured.checking_share) checking_shares_.push_back(*measured.checking_share);
  if (measured.checked_bits_share) {
    double& share = checked_bits_[{row.datatype, row.reduction}];
    share = std::max(share, *measured.checked_bits_share);
  }
  if (!measured.repeatable) return;
  ++repeated_;
  if (!*measured.repeatable) unrepeated_.push_back(fmt::format("{}: other bits on {}", what, measured.unrepeated));
}

std::string Totals::checked_line() const {
  if (checked_messages_) {
    return fmt::format("Every message was checked: {} messages, {} wrong", with_commas(*checked_messages_),
                       with_commas(wrong_messages_));
  }
  if (checked_operations_ == 0) return "";
  if (!checking_shares_.empty()) {
    return fmt::format(
        "Every measured operation was checked: {}; filling and checking buffers took {:.0f} % of the time",
        with_commas(checked_operations_), 100 * median(checking_shares_));
  }
  constexpr double kRare = 1000;
  return fmt::format("{} {} checked, which finds corruption of 1 in {} with 95 %, and of 1 in {} with {} %",
                     with_commas(checked_operations_), checked_operations_ == 1 ? "operation was" : "operations were",
                     two_digits(rarest_found(checked_operations_, 0.95)), kRare,
                     two_digits(100 * chance_to_find(checked_operations_, kRare)));
}

std::string Totals::waited_line() const {
  constexpr std::size_t kMostSizes = 8;
  if (waited_ == 0) return "";
  std::vector<std::string> sizes;
  for (const Bytes size : waited_sizes_) sizes.push_back(fmt::format("{}", size));
  const std::string which =
      waited_ == measurements_
          ? "all measurements"
          : fmt::format("{} of {} measurements (sizes: {})", waited_, measurements_,
                        fmt::join(fabricbench::shortened(std::move(sizes), kMostSizes, "more"), ", "));
  return waited_note(which, most_waited_);
}

std::string Totals::checked_bits_line() const {
  if (checked_bits_.empty()) return "";
  const auto& [data, share] = *std::min_element(checked_bits_.begin(), checked_bits_.end(),
                                                [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto& [datatype, reduction] = data;
  const auto bits = static_cast<double>(8 * facts(datatype).size);
  const std::string which = fmt::format("{} {}", facts(datatype).name, name(reduction));
  const std::string among =
      checked_bits_.size() == 1 ? which : fmt::format("{}, the least of {} kinds", which, checked_bits_.size());
  return fmt::format("The checked data have both values, 0 and 1, in {:.0f} of {:.0f} bits of an element ({})",
                     share * bits, bits, among);
}

std::vector<std::string> Totals::repeatability() const {
  if (repeated_ == 0) return {};
  if (unrepeated_.empty()) return {fmt::format("Repeatable: the same bits twice in all {} cases", repeated_)};
  const std::size_t shown = std::min(unrepeated_.size(), kMostUnrepeatedLines);
  std::vector<std::string> lines{
      fmt::format("Not repeatable: the same input gave other bits in {} of {} cases", unrepeated_.size(), repeated_)};
  lines.insert(lines.end(), unrepeated_.begin(), unrepeated_.begin() + static_cast<std::ptrdiff_t>(shown));
  return lines;
}

void Totals::note_extremes(const Figures& figures) {
  if (!(figures.median > 0)) {
    if (!without_figure_) without_figure_ = figures;
    return;
  }
  OfGroup& group = groups_[figures.group];
  if (!group.least_bandwidth || figures.algbw < group.least_bandwidth->algbw) group.least_bandwidth = figures;
  if (!group.most_bandwidth || figures.algbw > group.most_bandwidth->algbw) group.most_bandwidth = figures;
  if (!largest_latency_ || figures.median > largest_latency_->median) largest_latency_ = figures;
}

const Totals::OfGroup& Totals::of(int group) const {
  static const OfGroup none;
  const auto found = groups_.find(group);
  return found == groups_.end() ? none : found->second;
}

double Totals::average_busbw(int group) const {
  const OfGroup& sums = of(group);
  return sums.measurements == 0 ? 0 : sums.busbw / static_cast<double>(sums.measurements);
}

int Totals::slowest_group() const {
  int slowest = 0;
  for (const auto& [group, sums] : groups_) {
    const double average = average_busbw(group);
    const double lowest = average_busbw(slowest);
    if (average > 0 && (lowest == 0 || average < lowest)) slowest = group;  // a single rank has 0 by definition
  }
  return slowest;
}

std::optional<Totals::Slowest> Totals::slowest_rank(int group, std::int64_t ranks) const {
  constexpr double kBeyondChance = 1.2;  // times the samples that one rank has by chance
  constexpr double kLeastExcess = 0.01;  // below, it matters to nobody
  // An operation alone ends at some ranks after others, by the library's algorithm and by their distance.
  constexpr Seconds kLeastExcessAlone = 1e-6;
  const OfGroup& sums = of(group);
  const auto leader = sums.slowest.leader(ranks);
  if (!leader) return std::nullopt;
  std::int64_t all = 0;
  for (const auto& [rank, samples] : sums.samples) all += samples;
  const double share = static_cast<double>(sums.samples.at(leader->rank)) / static_cast<double>(all);
  const double excess = mean_of(sums.excess, leader->rank, sums.compared);
  const Seconds excess_time = mean_of(sums.excess_time, leader->rank, sums.compared);
  const bool alone = options_.timing == Timing::kIsolated;
  if (share * static_cast<double>(ranks) < kBeyondChance || excess < kLeastExcess) return std::nullopt;
  if (alone && excess_time < kLeastExcessAlone) return std::nullopt;
  return Slowest{*leader, share, excess};
}

std::optional<Totals::Idlest> Totals::idlest(const Idleness& sums, std::int64_t ranks) {
  // Above this, the MPI library sleeps while it waits, or the whole host is busy.
  constexpr double kMostOfOthers = 0.05;
  constexpr double kLeastExcess = 0.05;
  const auto leader = sums.most_idle.leader(ranks);
  if (!leader) return std::nullopt;
  const auto count = static_cast<double>(sums.measurements);
  const double share = mean_of(sums.shares, leader->rank, sums.measurements);
  const double others = median_of_others(sums.shares, static_cast<std::size_t>(leader->rank)) / count;
  if (others > kMostOfOthers || share - others < kLeastExcess) return std::nullopt;
  return Idlest{*leader, share, others};
}

std::string Totals::precision_line() const {
  if (options_.iterations) return "Precision: unknown with -n; leave it out to get intervals";
  if (with_interval_ == 0) return "Precision: unknown, since an interval takes at least 6 epochs";
  constexpr double kWide = 10;  // times the figure, beyond which a number says nothing more
  const std::string widest =
      widest_ > kWide ? fmt::format("above +-{:.0f} %", kWide * 100) : fmt::format("+-{:.1f} %", widest_ * 100);
  return fmt::format(
      "Precision: 95 % interval within +-{:g} % for {} of {} measurements; widest {} ({}); {} to {} epochs",
      options_.target_precision_percent, precise_, measurements_, widest, widest_case_, fewest_epochs_, most_epochs_);
}

}  // namespace fabricbench
