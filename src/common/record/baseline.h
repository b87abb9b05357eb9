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
template <typename Form, typename Key>
void describe_key(Form& form, Key& key) {
  using namespace record;
  form("subject", null_if_none(key.subject), "pair, group or GPU; null: the whole job");
  form("test", null_if_none(key.test), "direction of a copy, or step of a connection; null: what the program measures");
  form("datatype", null_if_none(key.datatype), "null: none");
  form("reduction", null_if_none(key.reduction), "null: none");
  form("root", key.root, "root rank; -1: none");
  form("placement", null_if_none(key.placement), "`out_of_place` or `in_place`; null: none");
  form("size_bytes", natural(key.size), "size of a message");
}

template <typename Form, record::Of<FileStart> Record>
void describe(Form& form, Record& start) {
  using namespace record;
  form.line("baseline", "The first line of a file of baselines");
  form("baseline_version", natural(start.version), "readers refuse later versions");
  form("launches", natural(start.launches), "number of launches in the file");
}

template <typename Form, record::Of<LaunchStart> Record>
void describe(Form& form, Record& launch) {
  using namespace record;
  form.line("launch", "In a file of baselines, before the rows of each launch");
  form("began_utc", utc(launch.began), "when the launch began");
  form("allocation", null_if_none(launch.allocation), "job of the scheduler; null: none");
  form("label", null_if_none(launch.label), "value of `--label`");
  form("identity", launch.identity, "what has to be equal for figures to be compared");
  form("circumstances", launch.circumstances, "what may differ between comparable launches");
  form("rows", natural(launch.rows), "number of lines with rows that follow");
}

template <typename Form, record::Of<RowTimes> Record>
void describe(Form& form, Record& row) {
  using namespace record;
  form.line("row_times", "In a file of baselines, a row of a launch");
  describe_key(form, row.key);
  form("time_us_median", us(row.time), "median over epochs");
  form("epoch_times_us", us(row.epochs), "median of each epoch");
  form("busbw_gb_per_s", null_if_none(gb_per_s(row.busbw)), "bus bandwidth; null: none");
  form("algorithm", null_if_none(row.algorithm), "algorithm and protocol that the library chose; null: unknown");
  form("processor_wait_share", left_out_if_none(row.processor_wait),
       "see `measurement`: a launch with such a row is not compared; missing if there was no such wait");
}

template <typename Form, record::Of<RowKey> Record>
void describe(Form& form, Record& key) {
  form.part("row_key", "A row of a baseline");
  describe_key(form, key);
}

template <typename Form, record::Of<Difference> Record>
void describe(Form& form, Record& difference) {
  using namespace record;
  form.part("difference", "A key whose values differ between the baseline and the run");
  form("key", difference.key, "the key, of `identity` or of `circumstances`");
  form("before", null_if_none(difference.before), "value in the baseline; null: none");
  form("now", null_if_none(difference.now), "value in the run; null: none");
}

template <typename Form, record::Of<RowComparison> Record>
void describe(Form& form, Record& row) {
  using namespace record;
  auto& judgement = row.judgement;
  form.line("row_comparison", "With `--baseline`, a row beside the baseline");
  describe_key(form, row.key);
  form("gate", row.gate, "`latency` below half of the baseline's highest bandwidth, else `bandwidth`");
  form("verdict", judgement.verdict, "`undecided`: neither slower nor faster, and the noise could hide a slowdown");
  form("launches", natural(row.launches), "launches of the baseline with this row");
  form("usual_us", us(judgement.usual), "median time of the baseline");
  form("usual_us_low", us(judgement.usual_low),
       "the next launch's median is above this, and below the next, with a probability of 95 %; null: unknown");
  form("usual_us_high", us(judgement.usual_high), "upper end");
  form("time_us_median", us(row.time), "time of this run, the median over its launches");
  form("ratio", judgement.ratio, "that time relative to the baseline's");
  form("ratio_low", judgement.low, "lower end of its 95 % interval; null: unknown");
  form("ratio_high", judgement.high, "upper end");
  form("least_slowdown_percent", percent(judgement.least_slowdown),
       "the smallest slowdown that would have been found, with a probability of 97.5 %; null: none");
  form("algorithm_before", null_if_none(row.algorithm_before),
       "algorithm and protocol in the baseline, if the library chooses others now; else null");
  form("algorithm", null_if_none(row.algorithm), "those that it chooses now; else null");
}

template <typename Form, record::Of<HistoryChange> Record>
void describe(Form& form, Record& change) {
  using namespace record;
  form.line("history_change", "With `--baseline`, a lasting change since the first launch of the baseline");
  form("row", change.key, "null: all rows together");
  form("since_utc", utc(change.since), "the first launch, or day, of the new level");
  form("ratio", change.ratio, "times from there on relative to those before");
  form("false_alarm_probability", change.false_alarm, "probability that chance alone shows such a change");
}

template <typename Form, record::Of<BaselineComparison> Record>
void describe(Form& form, Record& comparison) {
  using namespace record;
  form.line("baseline_comparison", "With `--baseline`, the outcome of all rows");
  form("exit_status", natural(comparison.exit_status), "0 as fast, 6 slower, 7 cannot be judged");
  form("headline", comparison.headline, "one sentence for readers");
  form("launches", natural(comparison.launches), "comparable launches of the baseline");
  form("judged_launches", natural(comparison.fresh), "launches of this run");
  form("days_known", comparison.days_known, "whether the baseline has launches of several days");
  form("differences", comparison.differences, "why nothing was compared, or what carried the data instead");
  form("allowed", comparison.allowed, "differences that `--allow` lets pass");
  form("circumstances", comparison.circumstances, "other differences, for readers");
  form("missing", comparison.missing, "rows of the baseline that the run lacks");
  form("added", comparison.added, "rows of the run that the baseline lacks");
  form.hidden(comparison.rows, comparison.changes);
}

}  // namespace fabricbench::baseline
