// What all outputs of a sweep over pairs say alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/options.h"
#include "common/report/context.h"
#include "common/report/reading.h"

namespace fabricbench {

/// What a reading does not say of itself. Of a program that is no sweep, nothing.
struct SweepFacts {
  struct Place {
    int rank = 0;
    std::string host;
    std::string rail;        ///< which of its host: its GPU or local rank; empty where each host has one
    std::string gpu{};       ///< its PCI address; empty: it has none
    std::string gpu_uuid{};  ///< empty: not known
  };
  std::vector<Place> endpoints;
  std::string test;     ///< the program's name
  bool checked = true;  ///< whether data is compared with what was sent
};
[[nodiscard]] SweepFacts sweep_facts(const Context& context);

/// Nothing where none was compared.
[[nodiscard]] std::optional<std::uint64_t> wrong_elements(const PairReading& reading, const SweepFacts& facts);

/// What is paired; never Level::kAuto.
[[nodiscard]] Level paired(const Context& context);

/// A name for every endpoint: its host, or `host:r3` with its rank where the host has several.
[[nodiscard]] std::vector<std::string> endpoint_names(const Context& context);

/// How many pairs a round has at most; with ScheduleKind::kShift, how many flows.
[[nodiscard]] std::int64_t most_at_once(const Context& context);

/// As JSON and CSV have it: `ok`, `wrong`, `timeout` or `not_tried`.
[[nodiscard]] std::string_view name(ReadingStatus status);

}  // namespace fabricbench
