// Whether the record of a run can be read: its version, the names of its hosts, its numbers of groups and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/field.h"
#include "common/record/reading.h"
#include "common/record/row.h"

namespace fabricbench::cluster {

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
