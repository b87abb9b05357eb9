// Reads the records of sweeps over pairs of hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/command/input_file.h"
#include "cluster/command/recorded_runs.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/field.h"
#include "common/record/read.h"
#include "common/record/reading.h"
#include "common/record/row.h"

namespace fabricbench::cluster {

/// Numbers devices and routes in the order of their first use.
class DeviceIndex {
 public:
  /// The number of the route of one end of a reading, on this host; Route::kNone if the end has no devices. A device
  /// without a GUID or UUID is identified by its host. Throws std::invalid_argument with the problem.
  [[nodiscard]] std::int32_t route_of(std::string_view host, const ReadingEnd& end);

  /// Moves all devices and routes into a sweep; this object is empty afterwards.
  void give(Sweep& sweep);

 private:
  [[nodiscard]] std::int32_t device_of(DeviceKind kind, std::string_view id, std::string_view name,
                                       std::string_view host);
  [[nodiscard]] Route make_route(std::string_view host, const ReadingEnd& end);

  std::vector<Device> devices_;
  std::map<std::pair<DeviceKind, std::string>, std::int32_t> numbers_;  // of devices
  std::vector<Route> routes_;
  std::unordered_map<std::string, std::int32_t> known_;  // routes by their description
  std::string key_;                                      // of the last route asked for
};

/// A record with a higher bandwidth is an error: no link is that fast.
inline constexpr double kMostGbPerSecond = 1e6;

/// The contents of all files.
struct Records {
  Sweep sweep;
  std::vector<std::string> notices;  ///< for readers: skipped records, and why
};

/// Combines record files, JSON Lines of pairwise_bw --json or scripts/sweep_pairs.sh, of one or several runs. Runs come
/// in the order of their times, whatever the order of the files, and a reading that is in several files counts once;
/// see join. Ignores lines and keys that do not belong to a sweep.
class RecordReader {
 public:
  /// `hosts`: hosts known to be part of the sweep, in this order; further hosts of the files follow.
  explicit RecordReader(const std::vector<std::string>& hosts = {});

  /// Reads a file, or standard input for `-`. Throws Error: kMissing if it cannot be read, and kNotJudged with the
  /// line's number if it has no records or a broken line. A truncated last line, as after kill -9, is skipped with a
  /// notice.
  void read(const std::string& path);

  /// Reads a file of lines `HOST LEAF`, with comments after `#`. HOST may be a list such as node[01-16], and may
  /// contain hosts outside the sweep. Throws Error with kMissing, and UsageError with the line.
  void read_locality(const std::string& path);

  /// Begins a file, or results whose records follow by `take` instead. `name` is for messages.
  void begin_file(const std::string& name);
  /// Adds one reading of the run, or its hosts. Throws std::invalid_argument with the problem.
  void take(const RecordedReading& record);
  void take(const SweepStart& start);

  /// Everything read so far. Call it once, at the end.
  [[nodiscard]] Records finish();

 private:
  /// Throws std::invalid_argument if it is no host's name.
  [[nodiscard]] std::int32_t number_of_host(std::string_view name);
  /// The file that is being read.
  struct File {
    std::string name;                  // for messages
    std::string program;               // from the context line
    std::vector<std::string> rail_of;  // by endpoint, if hosts have several
    bool any_line = false;             // whether any line was readable
    bool of_a_sweep = false;           // whether any line was from a sweep
  };

  void check_version(std::int64_t version);
  [[nodiscard]] bool take_end(const Line& line);
  void refuse_unless_cut_off(const Line& line, std::string_view problem);
  void take_line(std::string_view line, std::size_t capacity);
  void begin_run(const std::string& began, const std::vector<std::string>& hosts);
  void take_context();
  void take_locality(const HostLocality& locality);
  [[nodiscard]] Reading reading_of(const RecordedReading& record);
  [[nodiscard]] std::int16_t rail_of(std::string_view name, const std::optional<std::int64_t>& endpoint);
  [[nodiscard]] std::string_view test_of(const RecordedReading& record) const;
  [[nodiscard]] std::int16_t kind_of(const RecordedReading& record);
  void keep_routes(const RecordedReading& record);
  void keep_reason(const Reading& reading, std::string_view reason);
  void tell_of_readings_left_out(std::int64_t copies);
  void sort_rails();
  void set_leaves();

  record::LineReader line_reader_;
  File file_;
  std::vector<RecordedRun> runs_;
  KnownReadings known_;
  std::size_t given_hosts_ = 0;
  Sweep sweep_;  // of all runs, once they are joined; until then only the names of kinds
  NameIndex hosts_;
  NameIndex rails_;
  DeviceIndex devices_;
  NameIndex kinds_;                                      // by size and test
  std::unordered_map<std::string, std::string> leaves_;  // by host, including hosts outside the sweep
  std::int64_t copies_ = 0;
  std::int64_t within_a_host_ = 0;
  std::int64_t without_figure_ = 0;
  std::vector<std::string> notices_;
};

// Whether the record of a run can be read: its version, the names of its hosts, its numbers of groups and ranks.

/// The first keys of a context, which say whether the rest can be read.
struct ContextVersion {
  std::int64_t schema_version = 0;
};

template <typename Visitor, record::Of<ContextVersion> Record>
void describe(Visitor& visitor, Record& context) {
  visitor("schema_version", context.schema_version, "");
}

/// Why a context cannot be read as a whole; empty if it can.
[[nodiscard]] std::string why_unreadable(const ContextVersion& context);

/// Each throws std::invalid_argument, with the name, where a host's name does not keep to the rule of common/core. A
/// record may come from anywhere, and names go to terminals, files and commands.
void check_hosts(const Context& context);
void check_hosts(const Row& row);
void check_hosts(const CopyRow& row);
void check_hosts(const PairReading& reading);

/// The groups and ranks of a run, which the other lines of its record call by number. Each function throws
/// std::invalid_argument for a line with the number of something that the run does not have.
class RecordNumbers {
 public:
  explicit RecordNumbers(const Context& context);

  void check(const Row& row) const;
  void check(const EpochRecord& epoch) const;
  void check(const ConnectRow& row) const;
  void check(const PairReading& reading) const;
  void check(const EndpointSummary& summary) const;

 private:
  void require_group(int group) const;
  void require_endpoint(int endpoint) const;

  RowKind row_kind_;
  std::size_t groups_;
  std::size_t endpoints_;
};

}  // namespace fabricbench::cluster
