// Whether a host is slow all the time, or now and then.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// How steady the readings of a blamed effect are.
struct Steadiness {
  std::int64_t readings = 0;
  std::int64_t fast = 0;               ///< far above the cap, which a lasting fault does not allow
  std::int32_t repeated = 0;           ///< partners that were met more than once
  std::int32_t mixed = 0;              ///< of them, fast once and slow once
  std::vector<std::int32_t> met_once;  ///< hosts: fast ones and slow ones alternate

  /// Too many readings are fast for a lasting fault.
  [[nodiscard]] bool is_in_doubt() const;
  /// Partners were met again, fast once and slow once: the fault comes and goes, and is not theirs.
  [[nodiscard]] bool comes_and_goes() const;
  /// Enough partners were met again, and each stayed as fast or as slow as it was.
  [[nodiscard]] bool lasts() const;
};

[[nodiscard]] Steadiness steadiness_of(const Model& model, const UnitEffect& found);

/// Takes hosts that are slow now and then out of `units.blamed`, and returns them. Their readings stay explained. Adds
/// follow-ups with the same partners for hosts that are not decided.
[[nodiscard]] std::vector<FlappingHost> take_unsteady(const Model& model, UnitEffects& units, Verdict& verdict);

}  // namespace fabricbench::cluster
