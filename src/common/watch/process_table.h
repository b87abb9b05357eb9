#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <netinet/in.h>

#include "common/core/units.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// The report of a rank that makes no progress.
struct ProcessReport {
  std::uint64_t steps = 0;
  Seconds stuck_s = 0;
  std::string activity;
  double busy =
      1;  ///< share of the time since the last progress that its main thread had a processor or waited for one
  bool resting = false;  ///< whether it only waits for the others to end: nobody waits for it
  Seconds deaf_s = 0;    ///< since anything of the first process has arrived; 0: it just has, or this is that one
};

/// Carries reports to rank 0 by UDP, independently of MPI. Each report is one datagram to every address of rank 0's
/// host, or to its loopback if all ranks are on one host, and is repeated, so it needs no answer. A job whose hosts
/// cannot reach each other by UDP still ends; its ranks then count as silent. Besides, ranks say that they are there,
/// and rank 0 answers.
class ProcessTable {
 public:
  /// Collective: rank 0 opens a socket and tells all ranks its addresses.
  explicit ProcessTable(const mpi::Communicator& world);
  ProcessTable(const ProcessTable&) = delete;
  ProcessTable& operator=(const ProcessTable&) = delete;
  ~ProcessTable();

  /// Sends this rank's report. On rank 0: records it, together with all reports that have arrived.
  void report(const ProcessReport& report);

  /// Says that this rank is there. Returns whose word has arrived since the last call: on rank 0 that of any rank, on
  /// others that of rank 0.
  [[nodiscard]] std::set<int> say_here();

  /// On rank 0: asks these ranks, which have reported, to print their stacks.
  void ask_for_stacks(const std::vector<int>& ranks);
  /// On others: whether rank 0 has asked since the last call.
  [[nodiscard]] bool is_asked_for_stack();

  /// On rank 0: the last report of each rank that sent one.
  [[nodiscard]] const std::map<int, ProcessReport>& reports() const { return reports_; }

 private:
  enum class Purpose : std::uint8_t;
  struct Datagram;
  [[nodiscard]] std::optional<sockaddr_in> bind_to(in_addr_t address) const;
  [[nodiscard]] std::vector<std::uint8_t> open_and_list_addresses(bool on_one_host);
  void send(const Datagram& datagram);
  void take_down_all();
  void say(Purpose purpose, const sockaddr_in& to);
  void take_down(const Datagram& datagram, const sockaddr_in& from);

  int rank_;
  int size_;
  int socket_ = -1;
  std::uint64_t job_ = 0;  // random, so that another job's datagrams are ignored
  std::vector<sockaddr_in> addresses_;
  std::map<int, ProcessReport> reports_;
  std::map<int, sockaddr_in> senders_;  // of the reports
  bool asked_for_stack_ = false;
  std::set<int> here_;  // who said so since the last look
};

}  // namespace fabricbench
