#include "common/watch/roll_call.h"

#include <algorithm>

namespace fabricbench {

bool RollCall::is_due(Seconds now) {
  if (now < next_) return false;
  next_ = now + jitter_.shorten(patience_ / 8);
  return true;
}

std::vector<int> RollCall::to_ask(Seconds now) {
  std::vector<int> ranks;
  for (auto& [rank, last] : last_words_) {
    if (now - last.heard < patience_ / 4 || now - last.asked < patience_ / 32) continue;
    last.asked = now;
    ++last.times_asked;
    ranks.push_back(rank);
  }
  return ranks;
}

bool RollCall::is_anxious(Seconds now) const {
  return std::any_of(last_words_.begin(), last_words_.end(), [&](const auto& entry) {
    const Seconds silence = now - entry.second.heard;
    return silence > patience_ / 2 && silence <= patience_;
  });
}

/// If this process itself was stopped for long, the others have been silent for as long, but were not asked.
std::vector<int> RollCall::gone(Seconds now) const {
  constexpr int kTimesAsked = 8;
  std::vector<int> ranks;
  for (const auto& [rank, last] : last_words_) {
    if (now - last.heard > patience_ && last.times_asked >= kTimesAsked) ranks.push_back(rank);
  }
  return ranks;
}

std::map<int, Seconds> RollCall::silences(Seconds now) const {
  std::map<int, Seconds> silences;
  for (const auto& [rank, last] : last_words_) silences[rank] = now - last.heard;
  return silences;
}

}  // namespace fabricbench
