// Results of other tools: which kinds there are, how to tell them, and the way from a file to readings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/import/imported.h"

namespace fabricbench::cluster {

enum class ImportKind : std::uint8_t {
  kNcclTests,
  kOsu,
  kPerftest,
  kIperf3,
  kIperf2,
  kImb,
  kMpiGraph,
  kHp2p,
  kClusterKit,
  kCsv
};

/// As `--import` takes it, such as `nccl-tests`.
[[nodiscard]] std::string_view name_of(ImportKind kind);

/// All names, for help and messages: `nccl-tests, osu, ...`.
[[nodiscard]] std::string import_kind_names(std::string_view between = ", ");

/// The kind of a name, also of a program's, such as `ib_write_bw`; nothing where there is none.
[[nodiscard]] std::optional<ImportKind> import_kind_named(std::string_view name);

/// Whether a file of the kind is of one pair, which its name may tell.
[[nodiscard]] bool is_of_a_pair(ImportKind kind);

/// What wrote a text, by words that no other tool prints.
[[nodiscard]] std::vector<ImportKind> kinds_in(std::string_view text);

/// The same; nothing where none or several could have.
[[nodiscard]] std::optional<ImportKind> recognise(std::string_view text);

/// The tool that wrote a text, if it is one that is not read; empty where nothing tells.
[[nodiscard]] std::string_view unread_tool_of(std::string_view text);

/// What a file of a kind holds, whose lines may have labels (logs.h). Throws UsageError where the unit of figures is
/// not clear.
[[nodiscard]] Imported import_results(ImportKind kind, const ImportSource& source);

/// What a file tells that nothing is recognised in: a failed pair, by its name and its words of failure, or a note.
[[nodiscard]] Imported import_unrecognised(const ImportSource& source);

}  // namespace fabricbench::cluster
