// Reads the records of sweeps over pairs of hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/name_index.h"
#include "cluster/readings.h"
#include "cluster/tools/device_index.h"
#include "cluster/tools/line_source.h"
#include "common/record/read.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// The contents of all files.
struct Records {
  Sweep sweep;
  std::vector<std::string> notices;  ///< for people: lines that were left out, and why
};

/// Merges record files of one or several runs: JSON Lines of pairwise_bw --json or of scripts/sweep_pairs.sh. Later
/// runs and files get later rounds, unless they count on by themselves. Lines and keys that are not of a sweep are
/// ignored.
class RecordReader {
 public:
  /// Adds hosts of the sweep, in this order. Hosts in files come after them.
  explicit RecordReader(const std::vector<std::string>& hosts = {});

  /// Reads a file, or standard input, which is `-`. Throws Error: with kMissing where it cannot be read, and with
  /// kNotJudged where it is no file of records or a line is broken, with the line's number. A last line that was cut
  /// off, as kill -9 leaves one, is passed over, and noticed.
  void read(const std::string& path);

  /// Reads a file of lines `HOST LEAF`, with `#` before comments. HOST may be a list such as node[01-16], also of hosts
  /// that are not in the sweep. Throws Error with kMissing, and UsageError that names the line.
  void read_locality(const std::string& path);

  /// Begins a run that no file of records holds; its records follow by `take`. `name` is for messages.
  void begin_run(const std::string& name);
  /// Takes one reading of the run, or names its hosts. Throws std::invalid_argument that says what is wrong with it.
  void take(const RecordedReading& record);
  void take(const SweepStart& start);

  /// Returns all that was read. To be called once, at the end.
  [[nodiscard]] Records finish();

 private:
  /// The properties of a run, from its records.
  struct Run {
    std::string name;                  // of the file, in messages
    std::string program;               // from the context line
    std::vector<std::string> rail_of;  // by endpoint, where hosts have several
    bool any_line = false;             // could be read
    bool of_a_sweep = false;           // whether one was
    bool first_reading_to_come = true;
    bool of_new_file = true;
    std::int32_t added_rounds = 0;
  };

  void check_version(std::int64_t version);
  [[nodiscard]] bool take_end(const Line& line);
  void refuse_unless_cut_off(const Line& line, std::string_view problem);
  void take_line(std::string_view line, std::size_t capacity);
  void take_context();
  void take_locality(const HostLocality& locality);
  [[nodiscard]] Reading reading_of(const RecordedReading& record);
  [[nodiscard]] std::int16_t rail_of(std::string_view name, const std::optional<std::int64_t>& endpoint);
  [[nodiscard]] std::int16_t kind_of(const RecordedReading& record);
  [[nodiscard]] std::int32_t round_of(const RecordedReading& record);
  void keep_routes(const RecordedReading& record);
  void keep_reason(const Reading& reading, std::string_view reason);
  void sort_rails();
  void set_leaves();

  /// A kind's number, by what makes it.
  struct Kind {
    std::string test;
    std::int64_t size = 0;
  };

  record::LineReader line_reader_;
  Run run_;
  Sweep sweep_;
  NameIndex hosts_;
  NameIndex rails_;
  DeviceIndex devices_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, std::string> leaves_;  // by host, also of hosts that are not in the sweep
  std::vector<std::int32_t> reasons_kept_;               // by host
  std::int32_t last_round_ = -1;
  std::int64_t within_a_host_ = 0;
  std::int64_t without_figure_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace fabricbench::cluster
