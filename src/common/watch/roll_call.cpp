#include "common/watch/roll_call.h"

namespace fabricbench {

bool RollCall::is_due(Seconds now) {
  if (now < next_) return false;
  next_ = now + patience_ / 8;
  return true;
}

std::vector<int> RollCall::gone(Seconds now) const {
  std::vector<int> ranks;
  for (const auto& [rank, heard] : heard_) {
    if (now - heard > patience_) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace fabricbench
