#pragma once

#include "common/record/schema.h"

namespace fabricbench::cluster {

/// All types of records that the programs write, in the order of the documentation.
[[nodiscard]] record::Descriptions record_types();

/// `page` with the tables of all records in it that it asks for by lines `<!-- record: NAME -->`, each followed by one
/// `<!-- end of record -->`; what stood between them is replaced. Throws std::invalid_argument where one is not known,
/// or a record has no place.
[[nodiscard]] std::string with_tables(const std::string& page, const record::Descriptions& types);

}  // namespace fabricbench::cluster
