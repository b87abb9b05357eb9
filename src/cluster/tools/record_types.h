#pragma once

#include "common/record/schema.h"

namespace fabricbench::cluster {

/// All types of records that the programs write, in the order of the documentation.
[[nodiscard]] record::Descriptions record_types();

/// `page` with the tables of records filled in. A table stands between lines `<!-- record: NAME -->` and `<!-- end of
/// record -->`, whose contents are replaced. Throws std::invalid_argument if a name is unknown, or if a record has no
/// place.
[[nodiscard]] std::string with_tables(const std::string& page, const record::Descriptions& types);

}  // namespace fabricbench::cluster
