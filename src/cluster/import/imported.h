// What the readers of other tools' results find in a file: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/name_index.h"
#include "cluster/readings.h"

namespace fabricbench::cluster {

/// A file that somebody else's program has written.
struct ImportSource {
  std::string path;       ///< in messages; the last part may name the pair
  std::string_view text;  ///< all that it holds, without a byte order mark
  double unit = 0;        ///< bytes per second of what the file calls 1, where it names no unit; 0: nobody said
};

/// What was measured: figures of one kind are comparable.
struct ImportedKind {
  std::string test;  ///< such as `ib_write_bw`; empty: the file does not say
  std::int64_t size_bytes = kNoSize;
  static constexpr std::int64_t kNoSize = -1;

  friend bool operator==(const ImportedKind&, const ImportedKind&) = default;
};

/// What was not understood or not taken, for people.
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

/// What a file holds. Readings have the places of hosts, rails and kinds in here.
class Imported {
 public:
  static constexpr double kMostRate = 1e15;  ///< bytes per second; more is a slip, not a link

  Imported();

  NameIndex hosts;
  NameIndex rails;  ///< the first has no name
  std::vector<ImportedKind> kinds;
  std::vector<Reading> readings;
  std::vector<std::pair<std::size_t, std::string>> reasons;  ///< why a reading failed, by its place in `readings`
  std::vector<ImportedGpus> gpus;                            ///< in the order of readings, of some of them
  std::vector<ImportNote> notes;
  std::int64_t smaller_sizes = 0;  ///< figures of message sizes below the largest one of their run, which are left out
  bool rounds_are_known = false;   ///< readings say in which round they were taken
  bool by_name_only = false;       ///< nothing in the file is of the kind: there is a failed pair because of its name

  /// The place of a kind or a rail, whose name is made printable. Throws Error where there are thousands.
  [[nodiscard]] std::int16_t kind_of(const ImportedKind& given);
  [[nodiscard]] std::int16_t rail_of(std::string_view name);
  /// A reading between two hosts, without a figure as yet.
  [[nodiscard]] Reading between(std::string_view from, std::string_view to, const ImportedKind& kind);
  /// With a figure in bytes per second. One that is no rate makes a failed reading, or a note where it is absurd.
  void add(Reading reading, double rate, std::int64_t line);
  void add_failed(Reading reading, std::string reason);
  void note(std::int64_t line, std::string text) { notes.push_back({line, std::move(text)}); }
};

}  // namespace fabricbench::cluster
