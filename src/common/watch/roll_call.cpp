#include "common/watch/roll_call.h"

namespace fabricbench {

bool RollCall::is_due(Seconds now) {
  if (now < next_) return false;
  next_ = now + patience_ / 8;
  return true;
}

std::vector<int> RollCall::gone(Seconds now) const {
  std::vector<int> ranks;
  for (const auto& [rank, silence] : silences(now)) {
    if (silence > patience_) ranks.push_back(rank);
  }
  return ranks;
}

std::map<int, Seconds> RollCall::silences(Seconds now) const {
  std::map<int, Seconds> silences;
  for (const auto& [rank, heard] : heard_) silences[rank] = now - heard;
  return silences;
}

}  // namespace fabricbench
