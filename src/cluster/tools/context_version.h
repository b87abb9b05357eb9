#pragma once

#include <cstdint>
#include <stdexcept>

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

/// Throws std::invalid_argument for a context that cannot be read as a whole.
inline void require_known(const ContextVersion& context) {
  if (context.schema_version < 1) throw std::invalid_argument("the context has no schema_version");
  if (context.schema_version > kSchemaVersion) {
    throw std::invalid_argument(
        fmt::format("schema_version is {}, and this program reads up to {}", context.schema_version, kSchemaVersion));
  }
}

}  // namespace fabricbench::cluster
