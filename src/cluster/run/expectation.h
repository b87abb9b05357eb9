// What the links between the ranks of a job allow, and a run beside it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/run/identity.h"
#include "cluster/run/preset.h"
#include "common/core/options.h"
#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/record/context.h"
#include "common/record/expected.h"
#include "common/report/sink.h"

namespace fabricbench::expected {

/// What a short message takes from the memory of one host to that of another: at both ends, and in each switch.
struct Latency {
  Seconds ends = 0;  ///< 0: unknown
  Seconds of_switch = 0;
};

/// What links carry in one direction, of the host or GPU with the slowest.
struct LinkRate {
  double line = 0;      ///< bytes per second with headers; 0: unknown
  double payload = 0;   ///< bytes per second without headers; 0: unknown
  Latency latency{};    ///< of a message through them
  std::string words{};  ///< such as `1 x 100 Gbit/s (mlx5_0:1), 98.0 % of it payload`; if unknown, why
};

/// The share of payload in what a device sends: of full frames of TCP over IPv4 with timestamps at the MTU of an
/// interface (1500 if unknown), or of RDMA packets of 4096 bytes at a port. Source: IEEE 802.3 (38 bytes around each
/// frame), RFC 9293 and 7323 (52 bytes of headers), InfiniBand Architecture Specification volume 1 (26 bytes around
/// each packet), its Annex A17 for RoCEv2 (82 bytes with those of Ethernet and IP).
[[nodiscard]] double payload_share(const host::NetworkDevice& device);

/// Whether the speed that a device reports limits what it carries. That of virtual devices is only a name.
[[nodiscard]] bool has_real_speed(const host::NetworkDevice& device);

/// Of RDMA ports; that of TCP over an interface depends on the system, and is unknown. Source: what vendors state for
/// ConnectX-6 and later adapters (below 0.6 us between applications), Quantum switches (130 ns) and Spectrum switches
/// (300 ns, cut-through).
[[nodiscard]] Latency latency_of(const host::NetworkDevice& device);

/// Of the NICs that carried the data between hosts; with NCCL, of all RDMA ports like these. `line_rate`: of each NIC
/// in bytes per second, in place of what the system reports; 0: as it reports.
[[nodiscard]] LinkRate nic_rate(const Context& context, const baseline::DeviceBytes& bytes, double line_rate);

/// Of the NVLinks of the GPUs of one host.
[[nodiscard]] LinkRate nvlink_rate(const Context& context);

/// How far messages go between the hosts of a job.
class Paths {
 public:
  /// `context` is kept by reference.
  explicit Paths(const Context& context);

  /// The switches on the longest path between two hosts of a group, from what the scheduler knows of them; 0: unknown.
  [[nodiscard]] int most_switches(const GroupFacts& group) const;

  /// The time of the short messages that one operation of a group has to wait for, one after the other, if nothing
  /// delays them: log2(h) of them between h hosts, of which one takes the longest path and the others pass one switch.
  /// Where the switches are unknown, one is counted. 0: unknown, or several operations were under way at the same time.
  /// Source: Chan et al., Collective communication: theory, practice, and experience (2007), for their number.
  [[nodiscard]] Seconds path_latency(const GroupFacts& group, const Latency& latency) const;

 private:
  const Context& context_;
  std::map<std::string_view, std::string_view> switches_of_;  // by host
};

struct ExpectationSettings {
  double required = 0;   ///< share of the expected bus bandwidth that the best row of each series has to reach; 0: none
  double line_rate = 0;  ///< of each NIC in bytes per second; 0: as the system reports
};

/// `bytes`: what the NICs of each host moved during these rows. Rows of different sizes that are otherwise alike are a
/// series.
[[nodiscard]] Expectation expect(const Context& context, const std::vector<MeasuredRow>& rows,
                                 const baseline::DeviceBytes& bytes, const ExpectationSettings& settings);

/// For the end of the run, a line each: all rows if something is required.
[[nodiscard]] std::vector<std::string> lines_of(const Expectation& expectation);

/// A warning about rows that are faster than their links, if there are any; else nothing.
[[nodiscard]] std::vector<std::string> warnings_of(const Expectation& expectation);

/// Holds a run against what its links allow (--expect) and against published figures (--preset). Without these options
/// it warns of figures above what the links allow.
class ExpectationSink final : public Sink {
 public:
  /// Reads the preset. Throws Error as find_preset and read_preset do.
  explicit ExpectationSink(const ExpectationOptions& options);

  void begin(const Context& context) override { context_ = context; }
  void record(const AnyRecord& record) override;
  /// Changes the exit status of a run that ended well to that of the expectation, or of a strict preset.
  void conclude(Ending& ending, const Outputs& outputs) override;
  void end(const Ending& /*ending*/) override {}

 private:
  void keep(MeasuredRow row);
  void hold_against_links(Ending& ending, const Outputs& outputs) const;
  void hold_against_preset(Ending& ending, const Outputs& outputs) const;

  ExpectationSettings settings_;
  std::optional<Preset> preset_;
  bool strict_ = false;
  Context context_;
  std::vector<MeasuredRow> rows_;
  std::map<std::pair<baseline::RowKey, int>, std::size_t> place_of_;  // in rows_, by group too
  baseline::DeviceBytes bytes_;
};

}  // namespace fabricbench::expected
