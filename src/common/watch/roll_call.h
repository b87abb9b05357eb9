#pragma once

#include <map>
#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// Decides which processes of a job are gone, by when each was heard last. Rank 0 hears all, and the others hear rank
/// 0. Who was never heard does not count: its datagrams may not get through. Reads no clock: its caller passes the
/// times.
class RollCall {
 public:
  /// `patience`: the time without a word after which a process is gone; above 0.
  explicit RollCall(Seconds patience) : patience_(patience) {}

  /// True, and not again for an eighth of the patience: this process is to say that it is there.
  [[nodiscard]] bool is_due(Seconds now);
  void hear(int rank, Seconds now) { heard_[rank] = now; }
  /// By rank.
  [[nodiscard]] std::vector<int> gone(Seconds now) const;
  /// The time without a word of each rank that was heard.
  [[nodiscard]] std::map<int, Seconds> silences(Seconds now) const;

 private:
  Seconds patience_;
  Seconds next_ = 0;
  std::map<int, Seconds> heard_;
};

}  // namespace fabricbench
