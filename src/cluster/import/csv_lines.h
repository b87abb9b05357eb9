// Lines of files of spreadsheets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// The separator of a line's fields: comma, semicolon or tab, whichever is most frequent.
[[nodiscard]] char csv_separator(std::string_view line);

/// The fields of a line. One may stand in quotation marks, which are doubled within.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);

/// Whether a word, in whichever case, is one of these in lower case.
[[nodiscard]] bool is_among(std::string_view word, const std::vector<std::string_view>& words);
[[nodiscard]] bool is_missing_value(std::string_view value);
[[nodiscard]] bool is_word_of_failure(std::string_view value);

/// What a sender, or a receiver, may be called.
[[nodiscard]] const std::vector<std::string_view>& words_for_sender();
[[nodiscard]] const std::vector<std::string_view>& words_for_receiver();

/// The unit in a title: `GB/s`, `bandwidth (Gb/s)`, `rate[MiB/s]`, `Gbps`, or our own name.
[[nodiscard]] std::optional<double> unit_in_title(std::string_view title);

}  // namespace fabricbench::cluster
