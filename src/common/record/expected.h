// The records of a run beside what its hardware allows, and beside published figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/names.h"
#include "common/core/units.h"
#include "common/record/baseline.h"
#include "common/record/field.h"

namespace fabricbench::expected {

/// A row beside what its links allow.
enum class Reach {
  kReached,      ///< the best row of its series has the required share
  kBelow,        ///< the best row of its series has not
  kAboveLimit,   ///< faster than the links: a figure, a rate or a counter is wrong
  kNotRequired,  ///< nothing is required, or another size of the series is faster
  kUnknown       ///< the rate of the links is unknown
};
constexpr auto names_of(Reach) {
  return std::to_array<std::string_view>({"reached", "below", "above_limit", "not_required", "unknown"});
}

struct RowExpectation {
  baseline::RowKey key;
  double busbw = 0;          ///< bytes per second, as the two below
  double expected = 0;       ///< 0: unknown
  double limit = 0;          ///< the most that is possible; 0: unknown
  Seconds path_latency = 0;  ///< of the short messages that one operation waits for; 0: unknown, or it waits for none
  Reach verdict = Reach::kUnknown;

  /// 0: unknown.
  [[nodiscard]] double share() const { return expected > 0 ? busbw / expected : 0; }
};

/// A run beside what its links allow.
struct Expectation {
  int exit_status = 0;
  std::string headline{};              ///< one sentence
  double required = 0;                 ///< share; 0: none
  std::string links{};                 ///< the links and their rate, or why it is unknown
  double payload = 0;                  ///< bytes per second in one direction, without headers; 0: unknown
  std::vector<RowExpectation> rows{};  ///< lines of their own in files
};

/// Version of the files of presets; a later one is refused.
inline constexpr std::int64_t kPresetVersion = 1;

/// The first line of a file of published figures.
struct PresetStart {
  std::int64_t version = 0;
  std::string name;
  std::string description;
};

/// What others measured on a kind of system.
struct PresetFigure {
  std::string program;
  std::string gpu;         ///< part of the model's name; empty: any, or none
  std::int64_t hosts = 0;  ///< 0: any number
  std::int64_t ranks = 0;  ///< 0: any number
  Bytes from = 0;          ///< smallest size
  Bytes to = 0;            ///< largest size; 0: none
  double usual = 0;        ///< bus bandwidth in bytes per second; 0: see most_time
  double least = 0;        ///< bus bandwidth below which something is wrong; 0: see most_time
  Seconds most_time = 0;   ///< time above which something is wrong; 0: none
  std::string source;
};

enum class PresetVerdict { kReached, kBelow, kNotMeasured };
constexpr auto names_of(PresetVerdict) { return std::to_array<std::string_view>({"reached", "below", "not_measured"}); }

/// A run beside a published figure.
struct PresetComparison {
  std::string preset;
  PresetFigure figure;
  PresetVerdict verdict = PresetVerdict::kNotMeasured;
  Bytes size = 0;    ///< of the best row; 0: none
  double busbw = 0;  ///< of that row, in bytes per second
  Seconds time = 0;  ///< of that row
};

template <typename Visitor, record::Of<RowExpectation> Record>
void describe(Visitor& visitor, Record& row) {
  using namespace record;
  visitor.line("row_expectation", "A row beside what its links allow, if their rate is known or `--expect` is given");
  baseline::describe_key(visitor, row.key);
  visitor("verdict", row.verdict, "with `--expect`, the row with the highest bandwidth of all sizes is judged");
  visitor("busbw_gb_per_s", gb_per_s(row.busbw), "bus bandwidth of the row");
  visitor("expected_gb_per_s", null_if_none(gb_per_s(row.expected)),
          "bus bandwidth that the best common algorithm reaches at the rate of the links and with the path latency; "
          "null: unknown");
  visitor("path_latency_us", null_if_none(us(row.path_latency)),
          "time of the short messages that an operation waits for, through adapters and switches; null: unknown, or "
          "several operations were under way at the same time");
  visitor("limit_gb_per_s", null_if_none(gb_per_s(row.limit)),
          "the most that any algorithm could reach; null: unknown");
  visitor.derived("share_percent", row.expected > 0 ? std::optional(100 * row.share()) : std::nullopt,
                  "bus bandwidth relative to the expected one; null: unknown");
}

template <typename Visitor, record::Of<Expectation> Record>
void describe(Visitor& visitor, Record& expectation) {
  using namespace record;
  visitor.line("expectation", "The outcome of all rows beside what the links allow");
  visitor("exit_status", natural(expectation.exit_status), "0 reached or not required, 6 below, 7 cannot be judged");
  visitor("headline", expectation.headline, "one sentence for readers");
  visitor("required_percent", percent(expectation.required), "value of `--expect`; 0: none");
  visitor("links", expectation.links, "the links and their rate, or why it is unknown");
  visitor("payload_gb_per_s", null_if_none(gb_per_s(expectation.payload)),
          "rate of the links in one direction without headers, of the host with the slowest; null: unknown");
  visitor.internal(expectation.rows);
}

template <typename Visitor, record::Of<PresetStart> Record>
void describe(Visitor& visitor, Record& preset) {
  using namespace record;
  visitor.line("preset", "The first line of a file of published figures");
  visitor("preset_version", natural(preset.version), "readers refuse later versions");
  visitor("name", preset.name, "name of the preset");
  visitor("description", preset.description, "the systems that it is for");
}

/// The keys of a figure.
template <typename Visitor, typename Figure>
void describe_figure(Visitor& visitor, Figure& figure) {
  using namespace record;
  visitor("program", figure.program, "the program");
  visitor("gpu", null_if_none(figure.gpu), "part of the name of the GPU model; null: any, or none");
  visitor("hosts", natural(figure.hosts), "number of hosts; 0: any");
  visitor("ranks", natural(figure.ranks), "number of ranks; 0: any");
  visitor("from_bytes", natural(figure.from), "smallest size");
  visitor("to_bytes", natural(figure.to), "largest size; 0: none");
  visitor("usual_gb_per_s", null_if_none(gb_per_s(figure.usual)), "published bus bandwidth; null: none");
  visitor("least_gb_per_s", null_if_none(gb_per_s(figure.least)), "bus bandwidth below which something is wrong");
  visitor("most_us", null_if_none(us(figure.most_time)), "time above which something is wrong; null: none");
  visitor("source", figure.source, "who published it");
}

template <typename Visitor, record::Of<PresetFigure> Record>
void describe(Visitor& visitor, Record& figure) {
  visitor.line("preset_figure", "In a file of published figures, one figure");
  describe_figure(visitor, figure);
}

template <typename Visitor, record::Of<PresetComparison> Record>
void describe(Visitor& visitor, Record& comparison) {
  using namespace record;
  visitor.line("preset_comparison", "With `--preset`, a published figure beside the run");
  visitor("preset", comparison.preset, "name of the preset");
  visitor("verdict", comparison.verdict, "`not_measured`: no row has such a size");
  visitor("size_bytes", natural(comparison.size), "size of the best row; 0: none");
  visitor("busbw_gb_per_s", null_if_none(gb_per_s(comparison.busbw)), "bus bandwidth of that row; null: none");
  visitor("time_us_median", null_if_none(us(comparison.time)), "time of that row; null: none");
  describe_figure(visitor, comparison.figure);
}

}  // namespace fabricbench::expected
