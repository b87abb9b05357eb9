#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/options.h"
#include "common/core/outlier_detection.h"
#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench {

/// The totals of a run's rows, for the closing lines. Complete on the job's first process.
class Totals {
 public:
  explicit Totals(const Options& options) : options_(options) {}

  void add(const Row& row, const std::string& test, RowKind row_kind = RowKind::kCollective);

  [[nodiscard]] std::uint64_t wrong_checks() const { return wrong_checks_; }
  /// The first findings of wrong data, a line each.
  [[nodiscard]] const std::vector<std::string>& wrong_data() const { return wrong_data_; }
  /// One line on how much was checked, and what that would have found; empty if nothing was.
  [[nodiscard]] std::string checked_line() const;
  /// One line on the bits that the checked data exercise; empty if nothing was checked.
  [[nodiscard]] std::string checked_bits_line() const;
  /// With --repeatable: the operations that gave other bits the second time, a line each, or else that none did.
  [[nodiscard]] std::vector<std::string> repeatability() const;
  [[nodiscard]] std::int64_t measurements() const { return measurements_; }
  [[nodiscard]] std::int64_t late() const { return late_; }
  /// Measurements with fewer epochs than usual, since an operation takes long for the time budget.
  [[nodiscard]] std::int64_t shortened() const { return shortened_; }
  /// Isolated: measurements that could not start by the common clock.
  [[nodiscard]] std::int64_t started_by_barrier() const { return started_by_barrier_; }
  /// Measurements whose time is below the resolution of the device's clock, and the coarsest resolution of those.
  [[nodiscard]] std::int64_t below_resolution() const { return below_resolution_; }
  [[nodiscard]] Seconds coarsest_resolution() const { return coarsest_resolution_; }
  /// The largest share of the time for which ranks waited for a processor in a measurement; 0: too small to explain
  /// anything. And one line on these measurements, empty if there are none.
  [[nodiscard]] double most_waited() const { return most_waited_; }
  [[nodiscard]] std::string waited_line() const;
  /// Measurements that took no time, or less, by the host's clock.
  [[nodiscard]] std::int64_t without_time() const { return without_time_; }
  /// The mean of a group's bus bandwidths in bytes per second; 0 if there are none.
  [[nodiscard]] double average_busbw(int group) const;
  /// The group with the lowest average. Groups of a single rank, whose average is 0 by definition, count only if there
  /// are no others.
  [[nodiscard]] int slowest_group() const;

  /// The rank of a group that was slowest most often.
  struct Slowest {
    RankCounts::Leader leader;
    double share = 0;   ///< of the group's samples
    double excess = 0;  ///< of its mean time over the median of the others', relative, as the mean over measurements
  };
  /// The slowest of the `ranks` ranks of a group. Empty unless it is so in more samples than one rank in `ranks` would
  /// be by chance, in more epochs than chance explains, and by more than nothing. Measurements in which a rank is the
  /// root, and always the same one, do not count: there ranks do different things.
  [[nodiscard]] std::optional<Slowest> slowest_rank(int group, std::int64_t ranks) const;

  /// The rank of a group that was idle for most of the time, for one reason.
  struct Idlest {
    RankCounts::Leader leader;
    double share = 0;   ///< of the time: the mean over measurements
    double others = 0;  ///< the median of the other ranks' shares
  };
  /// The rank that was stopped or asleep, and the one that waited for a processor. Empty unless the others hardly ever
  /// did, and it did so more than they in more epochs than chance explains.
  [[nodiscard]] std::optional<Idlest> stopped_rank(int group, std::int64_t ranks) const {
    return idlest(of(group).stopped, ranks);
  }
  [[nodiscard]] std::optional<Idlest> waiting_rank(int group, std::int64_t ranks) const {
    return idlest(of(group).waiting, ranks);
  }

  /// The figures of one measurement of messages between two ranks.
  struct Figures {
    int group = 0;
    Bytes size = 0;
    double algbw = 0;    // bytes per second
    Seconds median = 0;  // of a message
  };
  [[nodiscard]] std::int64_t measurements(int group) const { return of(group).measurements; }
  /// The figures of a group's largest message; empty if it has none.
  [[nodiscard]] const std::optional<Figures>& largest_message(int group) const { return of(group).largest; }
  /// A group's lowest and highest bandwidth; empty if it has none.
  [[nodiscard]] const std::optional<Figures>& least_bandwidth(int group) const { return of(group).least_bandwidth; }
  [[nodiscard]] const std::optional<Figures>& most_bandwidth(int group) const { return of(group).most_bandwidth; }
  /// The largest median, the first of equal ones; empty if there is none.
  [[nodiscard]] const std::optional<Figures>& largest_latency() const { return largest_latency_; }
  /// Measurements of which no message arrived.
  [[nodiscard]] std::int64_t all_lost() const { return all_lost_; }
  /// Measurements beside a stream (--background) that carried nothing meanwhile.
  [[nodiscard]] std::int64_t without_load() const { return without_load_; }
  /// The first measurement without a time, for example because all its messages were lost.
  [[nodiscard]] const std::optional<Figures>& without_figure() const { return without_figure_; }

  /// One line on the precision of the figures.
  [[nodiscard]] std::string precision_line() const;

 private:
  struct Idleness {
    RankCounts most_idle{};
    std::int64_t measurements = 0;
    std::vector<double> shares{};  // by rank: sum over these
  };
  struct OfGroup {
    double busbw = 0;  // sum
    std::int64_t measurements = 0;
    RankCounts slowest{};
    std::map<int, std::int64_t> samples{};  // by rank: those in which it was slowest
    std::int64_t compared = 0;              // measurements in these and the next two
    std::vector<double> excess{};           // by rank: sum over these, relative
    std::vector<Seconds> excess_time{};
    Idleness stopped{};
    Idleness waiting{};
    std::optional<Figures> largest{};  // of the largest message
    std::optional<Figures> least_bandwidth{};
    std::optional<Figures> most_bandwidth{};
  };
  void add(const Row& row, const Measurement& measured, const std::string& label);
  void add_idle(const Row& row, const IdleShares& shares, Idleness& sums) const;
  /// The sums of a group; of one without measurements, nothing.
  [[nodiscard]] const OfGroup& of(int group) const;
  [[nodiscard]] static std::optional<Idlest> idlest(const Idleness& sums, std::int64_t ranks);
  void compare_ranks(const Row& row, const Measurement& measured);
  void note_extremes(const Figures& figures);
  void note_data(const Row& row, const Measurement& measured, const std::string& what);

  const Options& options_;
  std::map<int, OfGroup> groups_;
  std::uint64_t wrong_checks_ = 0;
  std::vector<std::string> wrong_data_;
  std::uint64_t checked_operations_ = 0;
  std::vector<double> checking_shares_;  // of measurements of which every operation was checked
  std::optional<std::uint64_t> checked_messages_;
  std::uint64_t wrong_messages_ = 0;
  std::map<std::pair<DataType, Reduction>, double> checked_bits_;  // share, of the buffers that exercise most
  std::int64_t repeated_ = 0;
  std::vector<std::string> unrepeated_;
  std::int64_t measurements_ = 0;
  std::int64_t below_resolution_ = 0;
  Seconds coarsest_resolution_ = 0;
  std::int64_t without_time_ = 0;
  double most_waited_ = 0;
  std::int64_t waited_ = 0;  // measurements
  std::set<Bytes> waited_sizes_;
  std::int64_t all_lost_ = 0;
  std::int64_t without_load_ = 0;
  std::int64_t with_interval_ = 0;
  std::int64_t precise_ = 0;  // measurements whose interval is as narrow as asked for
  double widest_ = 0;         // the widest interval's half-width, relative
  std::string widest_case_;
  std::int64_t fewest_epochs_ = 0;
  std::int64_t most_epochs_ = 0;
  std::int64_t late_ = 0;
  std::int64_t shortened_ = 0;
  std::int64_t started_by_barrier_ = 0;
  std::optional<Figures> largest_latency_;
  std::optional<Figures> without_figure_;
};

}  // namespace fabricbench
