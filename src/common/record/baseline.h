// The records of baselines: those of their files, and those of a run that was compared with one.
#pragma once

#include <compare>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "common/core/names.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench::baseline {

/// Version of these records; a file of a later one is refused.
inline constexpr std::int64_t kBaselineVersion = 1;

/// The first line of the file. It counts the launches, so that a file that was cut off does not pass for a whole one.
struct FileStart {
  std::int64_t version = 0;
  std::int64_t launches = 0;
};

/// The subject of a row: rows of several launches with the same key are comparable.
struct RowKey {
  std::string subject;    ///< the pair, group or GPU that was measured; empty: the whole job
  std::string test;       ///< such as the direction of a copy; empty: what the program measures
  std::string datatype;   ///< empty: none
  std::string reduction;  ///< empty: none
  std::int64_t root = -1;
  std::string placement;  ///< `out_of_place` or `in_place`; empty: none
  Bytes size = 0;

  auto operator<=>(const RowKey&) const = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
  /// The same test at all sizes.
  [[nodiscard]] RowKey without_size() const {
    RowKey key = *this;
    key.size = 0;
    return key;
  }
};

/// A row of a launch.
struct RowTimes {
  RowKey key;
  Seconds time = 0;             ///< the median over epochs
  std::vector<Seconds> epochs;  ///< the median of each; empty: unknown
  double busbw = 0;             ///< bytes per second
  std::string algorithm;        ///< and protocol, as the library chose them; empty: unknown
  double processor_wait = 0;    ///< as Measurement has it
};

/// One run of a program.
struct LaunchStart {
  std::time_t began = 0;
  std::string allocation;       ///< the scheduler's job; empty: none
  std::string label;            ///< the user's name for the run
  record::Texts identity;       ///< what has to be equal where figures are compared, by key
  record::Texts circumstances;  ///< what may differ, and is told
  std::int64_t rows = 0;        ///< lines that follow
};

struct Launch {
  LaunchStart start;
  std::vector<RowTimes> rows;
  std::size_t text_hash = 0;  ///< of the log that it was read from, and not recorded; 0: it was recorded
};

/// What became of a row since the baseline.
enum class RowVerdict {
  kSame,  ///< a slowdown of the wanted size would have been seen
  kFaster,
  kSlower,
  kUndecided,  ///< neither, and such a slowdown may hide in the noise
};
constexpr auto names_of(RowVerdict) {
  return std::to_array<std::string_view>({"same", "faster", "slower", "undecided"});
}

/// Ratios are of times: the launches to be judged over the baseline. Empty: the baseline has too few launches to tell.
struct Judgement {
  RowVerdict verdict = RowVerdict::kUndecided;
  double ratio = 1;
  std::optional<double> low;  ///< of the 95 % interval of the ratio
  std::optional<double> high;
  std::optional<double> least_slowdown;  ///< share of the time; the smallest that is found with a probability of 97.5 %
  Seconds usual = 0;                     ///< of the baseline
  std::optional<Seconds> usual_low;      ///< of the interval that has the next launch's median with 95 % probability
  std::optional<Seconds> usual_high;
};

/// Small and large messages fail for different reasons, so each kind has its own share of false alarms.
enum class Gate {
  kLatency,  ///< below half of the baseline's highest bandwidth: below Hockney's half-performance length
  kBandwidth
};
constexpr auto names_of(Gate) { return std::to_array<std::string_view>({"latency", "bandwidth"}); }

/// One row of a run beside the baseline.
struct RowComparison {
  RowKey key;
  Gate gate = Gate::kBandwidth;
  std::int64_t launches = 0;  ///< of the baseline, with this row
  Seconds time = 0;           ///< of the run: the median over its launches
  Judgement judgement;
  std::string algorithm_before;  ///< set if the library chooses another one than in every launch of the baseline
  std::string algorithm;
};

/// A lasting change in the history of a baseline.
struct HistoryChange {
  std::optional<RowKey> key;  ///< of the row; empty: all rows together
  std::time_t since = 0;      ///< the first launch of the new level
  double ratio = 1;           ///< of times: after over before
  double false_alarm = 1;     ///< probability that chance shows such a change
};

/// A key whose values differ between launches.
struct Difference {
  std::string key;
  std::string before;  ///< in the baseline; empty: it has none
  std::string now;     ///< empty: none
};

/// A run beside a baseline.
struct BaselineComparison {
  int exit_status = 0;
  std::string headline;                   ///< one sentence
  std::int64_t launches = 0;              ///< comparable ones of the baseline
  std::int64_t fresh = 0;                 ///< launches of the run
  bool days_known = false;                ///< whether the baseline has launches of several days
  std::vector<Difference> differences;    ///< why nothing was compared; or, as `carried_by`, why the run fails
  std::vector<Difference> allowed;        ///< compared in spite of these
  std::vector<Difference> circumstances;  ///< for readers
  std::vector<RowComparison> rows;        ///< each series in the order of sizes; lines of their own in files
  std::vector<HistoryChange> changes;     ///< since the first launch; lines of their own in files
  std::vector<RowKey> missing;            ///< rows of the baseline that the run lacks
  std::vector<RowKey> added;              ///< rows of the run that the baseline lacks
};

/// The fields of a row's key.
template <typename Visitor, typename Key>
void describe_key(Visitor& visitor, Key& key) {
  using namespace record;
  visitor("subject", null_if_none(key.subject), "pair, group or GPU; null: the whole job");
  visitor("test", null_if_none(key.test),
          "direction of a copy, or step of a connection; null: what the program measures");
  visitor("datatype", null_if_none(key.datatype), "null: none");
  visitor("reduction", null_if_none(key.reduction), "null: none");
  visitor("root", key.root, "root rank; -1: none");
  visitor("placement", null_if_none(key.placement), "`out_of_place` or `in_place`; null: none");
  visitor("size_bytes", natural(key.size), "size of a message");
}

template <typename Visitor, record::Of<FileStart> Record>
void describe(Visitor& visitor, Record& start) {
  using namespace record;
  visitor.line("baseline", "The first line of a file of baselines");
  visitor("baseline_version", natural(start.version), "readers refuse later versions");
  visitor("launches", natural(start.launches), "number of launches in the file");
}

template <typename Visitor, record::Of<LaunchStart> Record>
void describe(Visitor& visitor, Record& launch) {
  using namespace record;
  visitor.line("launch", "In a file of baselines, before the rows of each launch");
  visitor("began_utc", utc(launch.began), "when the launch began");
  visitor("allocation", null_if_none(launch.allocation), "job of the scheduler; null: none");
  visitor("label", null_if_none(launch.label), "value of `--label`");
  visitor("identity", launch.identity, "what has to be equal for figures to be compared");
  visitor("circumstances", launch.circumstances, "what may differ between comparable launches");
  visitor("rows", natural(launch.rows), "number of lines with rows that follow");
}

template <typename Visitor, record::Of<RowTimes> Record>
void describe(Visitor& visitor, Record& row) {
  using namespace record;
  visitor.line("row_times", "In a file of baselines, a row of a launch");
  describe_key(visitor, row.key);
  visitor("time_us_median", us(row.time), "median over epochs");
  visitor("epoch_times_us", us(row.epochs), "median of each epoch");
  visitor("busbw_gb_per_s", null_if_none(gb_per_s(row.busbw)), "bus bandwidth; null: none");
  visitor("algorithm", null_if_none(row.algorithm), "algorithm and protocol that the library chose; null: unknown");
  visitor("processor_wait_share", left_out_if_none(row.processor_wait),
          "see `measurement`: a launch with such a row is not compared; missing if there was no such wait");
}

template <typename Visitor, record::Of<RowKey> Record>
void describe(Visitor& visitor, Record& key) {
  visitor.part("row_key", "A row of a baseline");
  describe_key(visitor, key);
}

template <typename Visitor, record::Of<Difference> Record>
void describe(Visitor& visitor, Record& difference) {
  using namespace record;
  visitor.part("difference", "A key whose values differ between the baseline and the run");
  visitor("key", difference.key, "the key, of `identity` or of `circumstances`");
  visitor("before", null_if_none(difference.before), "value in the baseline; null: none");
  visitor("now", null_if_none(difference.now), "value in the run; null: none");
}

template <typename Visitor, record::Of<RowComparison> Record>
void describe(Visitor& visitor, Record& row) {
  using namespace record;
  auto& judgement = row.judgement;
  visitor.line("row_comparison", "With `--baseline`, a row beside the baseline");
  describe_key(visitor, row.key);
  visitor("gate", row.gate, "`latency` below half of the baseline's highest bandwidth, else `bandwidth`");
  visitor("verdict", judgement.verdict, "`undecided`: neither slower nor faster, and the noise could hide a slowdown");
  visitor("launches", natural(row.launches), "launches of the baseline with this row");
  visitor("usual_us", us(judgement.usual), "median time of the baseline");
  visitor("usual_us_low", us(judgement.usual_low),
          "the next launch's median is above this, and below the next, with a probability of 95 %; null: unknown");
  visitor("usual_us_high", us(judgement.usual_high), "upper end");
  visitor("time_us_median", us(row.time), "time of this run, the median over its launches");
  visitor("ratio", judgement.ratio, "that time relative to the baseline's");
  visitor("ratio_low", judgement.low, "lower end of its 95 % interval; null: unknown");
  visitor("ratio_high", judgement.high, "upper end");
  visitor("least_slowdown_percent", percent(judgement.least_slowdown),
          "the smallest slowdown that would have been found, with a probability of 97.5 %; null: none");
  visitor("algorithm_before", null_if_none(row.algorithm_before),
          "algorithm and protocol in the baseline, if the library chooses others now; else null");
  visitor("algorithm", null_if_none(row.algorithm), "those that it chooses now; else null");
}

template <typename Visitor, record::Of<HistoryChange> Record>
void describe(Visitor& visitor, Record& change) {
  using namespace record;
  visitor.line("history_change", "With `--baseline`, a lasting change since the first launch of the baseline");
  visitor("row", change.key, "null: all rows together");
  visitor("since_utc", utc(change.since), "the first launch, or day, of the new level");
  visitor("ratio", change.ratio, "times from there on relative to those before");
  visitor("false_alarm_probability", change.false_alarm, "probability that chance alone shows such a change");
}

template <typename Visitor, record::Of<BaselineComparison> Record>
void describe(Visitor& visitor, Record& comparison) {
  using namespace record;
  visitor.line("baseline_comparison", "With `--baseline`, the outcome of all rows");
  visitor("exit_status", natural(comparison.exit_status), "0 as fast, 6 slower, 7 cannot be judged");
  visitor("headline", comparison.headline, "one sentence for readers");
  visitor("launches", natural(comparison.launches), "comparable launches of the baseline");
  visitor("judged_launches", natural(comparison.fresh), "launches of this run");
  visitor("days_known", comparison.days_known, "whether the baseline has launches of several days");
  visitor("differences", comparison.differences, "why nothing was compared, or what carried the data instead");
  visitor("allowed", comparison.allowed, "differences that `--allow` lets pass");
  visitor("circumstances", comparison.circumstances, "other differences, for readers");
  visitor("missing", comparison.missing, "rows of the baseline that the run lacks");
  visitor("added", comparison.added, "rows of the run that the baseline lacks");
  visitor.internal(comparison.rows, comparison.changes);
}

}  // namespace fabricbench::baseline
