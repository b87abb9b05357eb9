// One line of a record file, taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

enum class RecordKind : std::uint8_t {
  kOther,     ///< nothing that is needed here
  kReading,   ///< what was measured of one pair
  kContext,   ///< what pairwise_bw says before its first reading
  kSweep,     ///< what sweep_pairs.sh says before its first reading
  kLocality,  ///< a host and its leaf
};

enum class RecordStatus : std::uint8_t {
  kOk,
  kSlow,  ///< there is a figure, and it is below the least that its run was asked for
  kFailed,
  kNotTried
};

/// What a reading says of one of its ends; empty or nothing: the key is missing or null.
struct RecordEnd {
  std::string_view nic;  ///< as its host calls it
  std::string_view nic_guid;
  std::string_view gpu;  ///< its PCI address
  std::string_view gpu_uuid;
  std::string_view switch_port;
  std::optional<double> port_gb_per_s;

  [[nodiscard]] bool is_empty() const {
    return nic.empty() && nic_guid.empty() && gpu.empty() && gpu_uuid.empty() && switch_port.empty() && !port_gb_per_s;
  }
};

/// What a line says, by its keys; the texts hold until the next line is read. Nothing: the key is missing or null.
struct Record {
  RecordKind kind = RecordKind::kOther;
  std::string_view from_host;
  std::string_view to_host;
  std::optional<std::int64_t> from;  ///< the endpoint's number
  std::optional<std::int64_t> to;
  std::optional<std::string_view> from_rail;  ///< a number too is text here
  std::optional<std::string_view> to_rail;
  RecordEnd from_end;
  RecordEnd to_end;
  std::string_view test;
  std::string_view program;
  std::optional<std::int64_t> size_bytes;
  std::optional<RecordStatus> status;
  bool both_ways = false;
  std::optional<double> bandwidth_gb_per_s;
  std::optional<std::int64_t> round;
  std::optional<std::int64_t> concurrent;
  std::string_view reason;
  std::string_view host;
  std::string_view leaf;
  std::optional<std::int64_t> schema_version;
  std::vector<std::string> hosts;  ///< of a context line by endpoint, of a sweep line those that it names
};

/// Reads lines, which are JSON objects. Unknown keys are passed over.
class RecordLineReader {
 public:
  /// Bytes that may be read behind a line.
  static const std::size_t kSpare;

  RecordLineReader();
  RecordLineReader(const RecordLineReader&) = delete;
  RecordLineReader& operator=(const RecordLineReader&) = delete;
  ~RecordLineReader();

  /// Of a line with so many readable bytes from its beginning on. Throws std::invalid_argument that says what is wrong
  /// with it.
  [[nodiscard]] const Record& read(std::string_view line, std::size_t capacity);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace fabricbench::cluster
