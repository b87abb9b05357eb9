#pragma once

#include <map>
#include <random>
#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// Makes pauses differ, so that processes that have met at one time do not go on speaking at one time.
class Jitter {
 public:
  explicit Jitter(int rank) : random_(static_cast<unsigned>(rank) + 1) {}
  /// Between half of the pause and all of it.
  [[nodiscard]] Seconds shorten(Seconds pause) {
    return pause * std::uniform_real_distribution<double>(0.5, 1)(random_);
  }

 private:
  std::minstd_rand random_;
};

/// Decides which processes of a job are gone, by when each was heard last. Rank 0 hears all, and the others hear rank
/// 0. Who was never heard does not count: its datagrams may not get through. Datagrams get lost, so who is silent is
/// asked again and again before it is gone. Reads no clock: its caller passes the times.
class RollCall {
 public:
  /// `patience`: the time without a word after which a process is gone; above 0. `rank`: of this process.
  explicit RollCall(Seconds patience, int rank = 0) : patience_(patience), jitter_(rank) {}

  /// True, and not again for a sixteenth to an eighth of the patience: this process is to say that it is there.
  [[nodiscard]] bool is_due(Seconds now);
  void hear(int rank, Seconds now) { last_words_[rank] = {now, now, 0}; }
  /// Who has been silent for a quarter of the patience, and is to be asked now. Each is asked at least eight
  /// times before it is gone.
  [[nodiscard]] std::vector<int> to_ask(Seconds now);
  /// Whether somebody will soon be gone, so that no answer may be missed.
  [[nodiscard]] bool is_anxious(Seconds now) const;
  /// By rank.
  [[nodiscard]] std::vector<int> gone(Seconds now) const;
  /// The time without a word of each rank that was heard.
  [[nodiscard]] std::map<int, Seconds> silences(Seconds now) const;

 private:
  struct LastWord {
    Seconds heard;
    Seconds asked;  // or heard
    int times_asked;
  };

  Seconds patience_;
  Seconds next_ = 0;
  Jitter jitter_;
  std::map<int, LastWord> last_words_;
};

}  // namespace fabricbench
