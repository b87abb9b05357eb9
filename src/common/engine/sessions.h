#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/measure/test.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"

namespace fabricbench {

struct PairPlan;

/// The library to measure, and why it is this one.
struct BackendChoice {
  std::unique_ptr<Session> session;
  std::string name;
  std::string reason;  ///< completes "because ..."
  std::vector<std::string> notices{};
};

/// The port that this process's messages go through.
struct LocalPort {
  std::string name;  ///< such as `mlx5_0 port 1`; empty: not known
  double rate = 0;   ///< bytes per second of one direction; 0: not known
};

/// What data go over: it opens the sessions of a run.
class Sessions {
 public:
  Sessions() = default;
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  virtual ~Sessions() = default;

  /// What --pairs is where it is not given; empty: one rank each of two hosts.
  [[nodiscard]] virtual std::string_view default_pairs(const Options& /*options*/, bool /*one_host*/) const {
    return "";
  }
  /// Settles what each process uses of its host, before any pair is set up. Collective over the job, of which not all
  /// processes need be in a pair. Throws Error, the same on every process.
  virtual void settle(const mpi::Communicator& /*job*/, const PairPlan& /*plan*/, const Options& /*options*/) {}
  /// After `settle`; nothing where no port is chosen.
  [[nodiscard]] virtual LocalPort local_port() const { return {}; }
  /// Why it carries no message of this size; empty where it does.
  [[nodiscard]] virtual std::string why_not_size(Bytes /*size*/) const { return ""; }
  /// Whether it may be NCCL, which the options and the hosts decide.
  [[nodiscard]] virtual bool may_be_nccl(const Options& /*options*/) const { return false; }

  /// Opens the session of this process's ranks for `test`. Collective over the team, which must outlive the session.
  /// Throws Error, the same on every process: missing, where what is asked for is not there; usage.
  [[nodiscard]] virtual BackendChoice open(const Team& team, const Placed& placed, const Options& options,
                                           const Test& test) const = 0;
};

/// NCCL or MPI: the one asked for, or NCCL where every rank has a GPU, and else MPI.
class LibrarySessions final : public Sessions {
 public:
  [[nodiscard]] bool may_be_nccl(const Options& options) const override;
  [[nodiscard]] BackendChoice open(const Team& team, const Placed& placed, const Options& options,
                                   const Test& test) const override;
};

/// TCP connections between the ranks of each group.
class TcpSessions final : public Sessions {
 public:
  [[nodiscard]] std::string why_not_size(Bytes size) const override {
    return size == 0 ? "TCP has no message of no bytes" : "";
  }
  [[nodiscard]] BackendChoice open(const Team& team, const Placed& placed, const Options& options,
                                   const Test& test) const override;
};

}  // namespace fabricbench
