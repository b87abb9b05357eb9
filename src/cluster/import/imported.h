// The results of other tools as plain data: what readers return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"

namespace fabricbench::cluster {

/// A file of another program.
struct ImportSource {
  std::string path;       ///< in messages; the last part may name the pair
  std::string_view text;  ///< all that it holds, without a byte order mark
  double unit = 0;        ///< bytes per second of the value 1, if the file names no unit; 0: not given
};

/// The kind of a reading. Readings of one kind are comparable.
struct ImportedKind {
  std::string test;  ///< such as `ib_write_bw`; empty: the file does not say
  std::int64_t size_bytes = kNoSize;
  static constexpr std::int64_t kNoSize = -1;

  friend bool operator==(const ImportedKind&, const ImportedKind&) = default;
};

/// For people: something that was not understood, or left out.
struct ImportNote {
  std::int64_t line = 0;  ///< from 1; 0: the file as a whole
  std::string text;
};

/// The GPUs of a reading's two sides, by their PCI addresses; empty: not told.
struct ImportedGpus {
  std::size_t reading = 0;  ///< its place in Imported::readings
  std::string from;
  std::string to;
};

/// The contents of a file. Readings refer to hosts, rails and kinds by their places here.
class Imported {
 public:
  static constexpr double kMostRate = 1e15;  ///< bytes per second; more is an error in the file

  Imported();

  NameIndex hosts;
  NameIndex rails;  ///< the first has no name
  std::vector<ImportedKind> kinds;
  std::vector<Reading> readings;
  /// Why a reading failed, or how its data were wrong, by its place in `readings`.
  std::vector<std::pair<std::size_t, std::string>> reasons;
  std::vector<ImportedGpus> gpus;  ///< in the order of readings, of some of them
  std::vector<ImportNote> notes;
  std::int64_t smaller_sizes =
      0;  ///< number of values that are left out, of smaller message sizes than the largest one of their run
  bool rounds_are_known = false;  ///< readings say in which round they were taken
  std::int64_t lost = 0;          ///< number of figures, lines and runs that were not understood, with a note each
  bool of_server = false;         ///< it is what the server of a pair printed, whose client knows as much

  /// The place of a kind or a rail, whose name is made printable. Throws Error if there are thousands.
  [[nodiscard]] std::int16_t kind_of(const ImportedKind& given);
  [[nodiscard]] std::int16_t rail_of(std::string_view name);
  /// Adds a reading between two hosts, whose names are made as_host_name, without a rate as yet.
  [[nodiscard]] Reading between(std::string_view from, std::string_view to, const ImportedKind& kind);
  /// Adds a reading with a rate, in bytes per second. 0 makes it a failed reading; an absurd rate is left out, with a
  /// note.
  void add(Reading reading, double rate, std::int64_t line);
  /// Adds a reading without a result, for which there have to be words of failure.
  void add_failed(Reading reading, std::string reason);
  /// The same, unless another run of the same test between these hosts has a result: it was tried again.
  void add_failed_run(const Reading& reading, std::string reason);
  /// Adds a reading whose data were wrong.
  void add_wrong(Reading reading, std::string reason);
  void note(std::int64_t line, std::string text) { notes.push_back({line, std::move(text)}); }
  /// The same of something that may have been a result: the other results alone do not show that all is fine.
  void lose(std::int64_t line, std::string text) {
    note(line, std::move(text));
    ++lost;
  }

 private:
  void add_without_rate(Reading reading, Outcome outcome, std::string reason);
};

/// The ranks of a matrix: a host may have several, which then are its rails `rank0`, `rank1` and so on.
class Endpoints {
 public:
  explicit Endpoints(std::vector<std::string> hosts);

  [[nodiscard]] std::size_t size() const { return hosts_.size(); }
  /// Makes all hosts known, also those without a reading.
  void add_hosts(Imported& found) const;
  /// Between two of them, without a figure as yet. Both are below size().
  [[nodiscard]] Reading between(Imported& found, std::size_t from, std::size_t to, const ImportedKind& kind) const;

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> rails_;  // by rank; empty where every host has one
};

/// A figure for each host with each other one. Rows send.
struct HostMatrix {
  std::vector<std::string> hosts;
  std::vector<std::vector<std::optional<double>>> rows;
  std::vector<std::int64_t> lines;  ///< by row
};

/// Whether both places of each pair have the same value, which then is of both directions together.
[[nodiscard]] bool is_symmetric(const HostMatrix& matrix);

/// Adds all figures but 0, which means that the two were not measured.
void add_matrix(Imported& found, const HostMatrix& matrix, const ImportedKind& kind, double unit);

// A reader for each kind of results: from a text to readings and notes, nothing else. What is no result of the kind is
// passed over, and noted where it looks like one. All throw UsageError where the unit of figures is not clear.

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
