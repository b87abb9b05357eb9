// Whether what is slow about a host lasts, or comes and goes.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What a blamed effect's readings say of time.
struct Steadiness {
  std::int64_t readings = 0;
  std::int64_t fast = 0;               ///< far above the cap, which nothing that lasts lets through
  std::int32_t repeated = 0;           ///< partners that were met more than once
  std::int32_t mixed = 0;              ///< of them, fast once and slow once
  std::vector<std::int32_t> met_once;  ///< hosts, fast ones and slow ones in turn

  /// Some readings are fast, too many for chance.
  [[nodiscard]] bool is_in_doubt() const;
  /// Partners that are fast and slow in turn show that it is not they.
  [[nodiscard]] bool comes_and_goes() const;
  /// Enough partners were met again to say that each stays as it was.
  [[nodiscard]] bool lasts() const;
};

[[nodiscard]] Steadiness steadiness_of(const Model& model, const UnitEffect& found);

/// Takes hosts whose slowness comes and goes out of the blamed ones, and returns them; their readings stay explained.
/// Where that is not clear yet, asks for partners to be measured again.
[[nodiscard]] std::vector<FlappingHost> take_unsteady(const Model& model, UnitEffects& units, Verdict& verdict);

}  // namespace fabricbench::cluster
