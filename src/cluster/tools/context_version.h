#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "common/core/version.h"
#include "common/record/field.h"

namespace fabricbench::cluster {

/// The first keys of a context, which say whether the rest can be read.
struct ContextVersion {
  std::int64_t schema_version = 0;
};

template <typename Form, record::Of<ContextVersion> Record>
void describe(Form& form, Record& context) {
  form("schema_version", context.schema_version, "");
}

/// Why a context cannot be read as a whole; empty if it can.
[[nodiscard]] inline std::string why_unreadable(const ContextVersion& context) {
  if (context.schema_version < 1) return "the context has no schema_version";
  if (context.schema_version <= kSchemaVersion) return "";
  return fmt::format("schema_version is {}, and this program reads up to {}", context.schema_version, kSchemaVersion);
}

}  // namespace fabricbench::cluster
