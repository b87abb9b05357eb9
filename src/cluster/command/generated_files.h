// The files that describe_records writes: their contents follow from the programs' sources.
#pragma once

#include <string>

#include "common/record/schema.h"

namespace fabricbench::cluster {

/// All types of records that the programs write, in the order of the documentation.
[[nodiscard]] record::Descriptions record_types();

/// `page` with the tables of records filled in. A table stands between lines `<!-- record: NAME -->` and `<!-- end of
/// record -->`, whose contents are replaced. Throws std::invalid_argument if a name is unknown, or if a record has no
/// place.
[[nodiscard]] std::string with_tables(const std::string& page, const record::Descriptions& types);

/// `page` with the table of checks between `<!-- checks -->` and `<!-- end of checks -->`. Throws std::invalid_argument
/// where it has no place.
[[nodiscard]] std::string with_checks(const std::string& page);

/// `page` with a table of programs between `<!-- programs -->` and `<!-- end of programs -->`, and one of the tool's
/// options between each `<!-- options: TOOL -->` and `<!-- end of options -->`. Throws std::invalid_argument where a
/// table has no place.
[[nodiscard]] std::string with_tables_of_other_tools(const std::string& page);

}  // namespace fabricbench::cluster
