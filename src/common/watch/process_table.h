#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"

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
class FailureDetector {
 public:
  /// `patience`: the time without a word after which a process is gone; above 0. `rank`: of this process.
  explicit FailureDetector(Seconds patience, int rank = 0) : patience_(patience), jitter_(rank) {}

  /// True, and not again for a sixteenth to an eighth of the patience: this process is to say that it is there.
  [[nodiscard]] bool is_due(Seconds now);
  void hear(int rank, Seconds now) { last_heard_[rank] = {now, now, 0}; }
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
  struct LastHeard {
    Seconds heard;
    Seconds asked;  // or heard
    int times_asked;
  };

  Seconds patience_;
  Seconds next_ = 0;
  Jitter jitter_;
  std::map<int, LastHeard> last_heard_;
};

/// The report of a rank that makes no progress.
struct ProcessReport {
  std::uint64_t steps = 0;
  Seconds stuck_s = 0;
  std::string activity;
  double busy =
      1;  ///< share of the time since the last progress that its main thread had a processor or waited for one
  bool idle = false;   ///< whether it only waits for the others to end: nobody waits for it
  Seconds deaf_s = 0;  ///< since anything of the first process has arrived; 0: it just has, or this is that one
};

/// Carries reports to rank 0 by UDP, independently of MPI. Each report is one datagram to every address of rank 0's
/// host, or to its loopback if all ranks are on one host, until rank 0 has answered: it answers all that it hears, and
/// says which address that had come by. A job whose hosts cannot reach each other by UDP still ends; its ranks then
/// count as silent. Besides, ranks say that they are there.
class ProcessTable : NotCopied {
 public:
  using Bytes = std::vector<std::uint8_t>;
  /// Returns what rank 0 passed, on every rank.
  using Share = std::function<Bytes(Bytes)>;

  /// Collective: rank 0 opens a socket and tells all ranks its addresses.
  explicit ProcessTable(const mpi::Communicator& world);
  /// The same without MPI. `on_one_host`: whether all ranks are.
  ProcessTable(int rank, int size, bool on_one_host, const Share& share);
  ~ProcessTable();

  /// Sends this rank's report. On rank 0: records it, together with all reports that have arrived.
  void report(const ProcessReport& report);

  /// On ranks other than 0: says that this rank is there.
  void say_here();
  /// On ranks other than 0: says that this rank has ended MPI, after so many steps, and is soon gone.
  void say_goodbye(std::uint64_t steps);
  /// On ranks other than 0: whether rank 0 has answered that, or has never been heard.
  [[nodiscard]] bool may_go() const { return may_go_ || !has_heard_first_; }
  /// On rank 0: who was heard, and has not said goodbye.
  [[nodiscard]] std::vector<int> present() const;
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  /// Whose word has arrived since the last call: on rank 0 that of any rank, on others that of rank 0.
  [[nodiscard]] std::set<int> listen();
  /// Asks these ranks for a word, as far as they were ever heard. They answer when they listen next.
  void ask(const std::vector<int>& ranks);

  /// On rank 0: tells the others that it ends the job, and says why.
  void tell_end();
  /// On others: whether it has.
  [[nodiscard]] bool is_ended() const { return is_ended_; }

  /// On rank 0: asks these ranks, which have reported, to print their stacks.
  void ask_for_stacks(const std::vector<int>& ranks);
  /// On others: whether rank 0 has asked since the last call.
  [[nodiscard]] bool is_asked_for_stack();

  /// On rank 0: the last report of each rank that sent one.
  [[nodiscard]] const std::map<int, ProcessReport>& reports() const { return reports_; }

 private:
  enum class Purpose : std::uint8_t;
  struct Datagram;
  /// Of a rank that rank 0 has heard.
  struct Sender {
    sockaddr_in address;
    std::uint8_t address_index;  // which of rank 0's addresses its last word came by
  };

  [[nodiscard]] std::optional<sockaddr_in> bind_to(in_addr_t address) const;
  [[nodiscard]] Bytes open_and_list_addresses(bool on_one_host);
  void send(Datagram datagram);
  void send(Purpose purpose, std::uint64_t steps = 0);
  void take_down_all();
  void say(Purpose purpose, const Sender& to);
  void take_down(const Datagram& datagram, const sockaddr_in& from);

  int rank_;
  int size_;
  int socket_ = -1;
  std::uint64_t job_ = 0;  // random, so that another job's datagrams are ignored
  std::vector<sockaddr_in> addresses_;
  std::optional<std::size_t> address_index_;  // the one of them that rank 0 has answered for; empty: all of them
  int unanswered_ = 0;                        // datagrams since rank 0's last word
  std::map<int, ProcessReport> reports_;
  std::map<int, Sender> senders_;
  std::set<int> gone_;  // who has said goodbye
  bool has_heard_first_ = false;
  bool may_go_ = false;
  bool is_ended_ = false;
  bool asked_for_stack_ = false;
  std::set<int> here_;  // who was heard since the last look
};

/// Takes down who was heard, says now and then that this process is there too, and asks who has been silent for long.
/// To be called at every look. Returns whether it has said so now.
bool keep_in_touch(ProcessTable& table, FailureDetector& roll, Seconds now);

/// For a process that has ended MPI, to be called again and again, `waited` seconds after the first time: returns
/// whether it may go. Rank 0 waits for all that it has heard, since they may be stuck in the end of MPI. The others
/// wait until it knows that they are not. `steps`: as in ProcessReport.
[[nodiscard]] bool take_leave(ProcessTable& table, FailureDetector& roll, std::uint64_t steps, Seconds waited,
                              Seconds now);

// Who keeps the others waiting, from what the ranks report.

/// The most ranks that are named one by one.
inline constexpr std::size_t kMostNamed = 16;

/// What is said of a rank that sends nothing. `silences`: the time since each rank was heard, as far as known.
[[nodiscard]] std::string silent_text(int rank, const std::map<int, Seconds>& silences);

/// The findings from the process table, a line each. `reports`: of the processes that answered, by process. `names`: of
/// all processes. `silences`: as for silent_text.
[[nodiscard]] std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                                      const std::vector<std::string>& names,
                                                      const std::map<int, Seconds>& silences);

/// The ranks whose stack may show why, ascending, a few at most: those that are behind or asleep; if none is, the first
/// ones that wait. Only ranks that report can be asked.
[[nodiscard]] std::vector<int> ranks_to_ask(const std::map<int, ProcessReport>& reports);

}  // namespace fabricbench
