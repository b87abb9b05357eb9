// Files of baselines: JSON Lines of `baseline`, `launch` and `row_times`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::baseline {

/// Whether a line is the first one of a file of baselines.
[[nodiscard]] bool is_first_line(std::string_view line);

/// The launches in the text of a file. Throws Error with kNotJudged, and the line, if the text is damaged, cut off or
/// of a later version. `name` is for messages.
[[nodiscard]] std::vector<Launch> read_launches(std::string_view text, const std::string& name);

/// The launches of a file. Throws as above, and Error with kMissing if the file cannot be read.
[[nodiscard]] std::vector<Launch> read_baseline(const std::string& path);

/// The text of a file with these launches.
[[nodiscard]] std::string text_of(const std::vector<Launch>& launches);

/// Adds a launch to a file, which is created if it does not exist. Readers see the file before or after, never between;
/// writers wait for each other. Returns the number of launches. Throws as read_baseline, and UsageError if the file
/// cannot be written.
std::size_t add_launch(const std::string& path, const Launch& launch);

/// Writes a file as a whole, or not at all: readers see the old one or the new one. It keeps its permissions. One
/// writer at a time. Throws UsageError if it cannot be written, and Error (kFailure) if there is no room.
void replace_file(const std::string& path, const std::string& text);

/// Throws as add_launch would. Returns the number of launches that the file has so far.
std::size_t check_writable(const std::string& path);

}  // namespace fabricbench::baseline
