// A reader for each kind of results: from a text to readings and notes, nothing else. What is no result of the kind is
// passed over, and noted where it looks like one. All throw UsageError where the unit of figures is not clear.
#pragma once

#include <string_view>

#include "cluster/import/imported.h"

namespace fabricbench::cluster {

/// What perftest writes with --out_json, also of several runs. Without a unit, which their messages per second
/// tell.
[[nodiscard]] Imported read_perftest_json(const ImportSource& source);

/// A log of iperf3, as text or JSON, of the pair that its name tells, the client first. What the receiver got: bits are
/// in powers of 1000, bytes in powers of 1024.
[[nodiscard]] Imported read_iperf3(const ImportSource& source);

/// A log of iperf 2, in the same way. All streams together; of datagrams what the receiver got.
[[nodiscard]] Imported read_iperf2(const ImportSource& source);

/// A log of the Intel MPI Benchmarks: tests of two processes with a bandwidth, which all but Uniband have of both
/// directions.
[[nodiscard]] Imported read_imb(const ImportSource& source);

/// What mpiGraph prints. Figures are in 2^20 bytes per second; what receivers saw goes before what senders saw.
[[nodiscard]] Imported read_mpigraph(const ImportSource& source);

/// The HTML page of hp2p. Figures are in 2^20 bytes per second, of an exchange both ways.
[[nodiscard]] Imported read_hp2p(const ImportSource& source);

/// ClusterKit's bandwidth.txt or JSON with the names of hosts and a matrix.
[[nodiscard]] Imported read_clusterkit(const ImportSource& source);

/// Lines with a sender, a receiver and a figure, below a line that names the columns; or a matrix with a line and a
/// column for each host, whose lines are senders unless the first field says that they receive.
[[nodiscard]] Imported read_csv(const ImportSource& source);
[[nodiscard]] bool is_csv(std::string_view text);

}  // namespace fabricbench::cluster
