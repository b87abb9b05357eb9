#pragma once

#include "common/record/schema.h"

namespace fabricbench::cluster {

/// All types of records that the programs write, in the order of the documentation.
[[nodiscard]] record::Descriptions record_types();

/// `page` with the tables of records filled in. A table stands between lines `<!-- record: NAME -->` and `<!-- end of
/// record -->`, whose contents are replaced. Throws std::invalid_argument if a name is unknown, or if a record has no
/// place.
[[nodiscard]] std::string with_tables(const std::string& page, const record::Descriptions& types);

/// scripts/record_types.py: the types of the keys of every record, and the records of each kind of line.
[[nodiscard]] std::string types_for_python(const record::Descriptions& types);

}  // namespace fabricbench::cluster
