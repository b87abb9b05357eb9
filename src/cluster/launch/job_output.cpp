#include "cluster/launch/job_output.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "cluster/launch/children.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

/// Of messages that come with every failed job, or with good ones.
constexpr std::array<std::string_view, 3> kEmptyWords = {"WARNING", "Primary job",
                                                         "mpirun detected that one or more processes exited"};

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& letter : small) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return small;
}

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.starts_with(word); });
}

/// The beginning of a text of UTF-8, of so many characters.
std::string_view first_characters(std::string_view text, std::size_t most) {
  for (std::size_t place = 0; place < text.size(); ++place) {
    const bool begins = (static_cast<unsigned char>(text[place]) & 0xC0U) != 0x80;
    if (begins && most-- == 0) return text.substr(0, place);
  }
  return text;
}

/// A launcher's messages between dashed lines, and the lines outside such blocks.
struct Blocks {
  std::vector<std::string> inside;
  std::vector<std::string_view> outside;
};

Blocks blocks_of(std::string_view text) {
  constexpr std::size_t kFewestDashes = 20;
  Blocks blocks;
  bool is_inside = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.size() >= kFewestDashes && line.find_first_not_of('-') == std::string_view::npos) {
      is_inside = !is_inside;
      if (is_inside) blocks.inside.emplace_back();
    } else if (is_inside) {
      blocks.inside.back() += fmt::format("{}\n", line);
    } else {
      blocks.outside.push_back(line);
    }
  }
  std::erase_if(blocks.inside, [](const std::string& block) {
    const std::string_view words = without_spaces(block);
    return words.empty() || begins_with_one_of(words, kEmptyWords);
  });
  return blocks;
}

/// The word behind the last `key`; empty: there is none.
std::string_view word_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = without_spaces(text.substr(at + key.size()));
  return rest.substr(0, rest.find_first_of(kSpaces));
}

std::string first_paragraph(std::string_view block) {
  std::string paragraph;
  for (const std::string_view line : lines_of(without_spaces(block))) {
    if (without_spaces(line).empty()) break;
    paragraph += fmt::format("{} ", line);
  }
  return cleaned_line(paragraph);
}

std::string said_by_launcher(Texts texts) {
  if (std::string line = said_by_agent(texts); !line.empty()) return line;
  std::vector<std::string> blocks;
  for (const std::string_view text : texts) {
    for (std::string& block : blocks_of(text).inside) blocks.push_back(std::move(block));
  }
  for (const std::string& block : blocks) {
    const std::string_view from = word_behind(block, "Local host:");
    const std::string_view to = word_behind(block, "Remote host:");
    if (block.find("unable to complete a TCP connection") != std::string::npos && !from.empty() && !to.empty()) {
      return fmt::format("no TCP connection from {} to {}, where mpirun runs", from, to);
    }
  }
  for (const std::string& block : blocks) {
    if (block.find("unable to reliably start one or more daemons") != std::string::npos) {
      return "mpirun could not start its daemon on a host, and the launch agent said nothing";
    }
  }
  return blocks.empty() ? "" : first_paragraph(blocks.front());
}

/// Whether a line has a message of this program, in small letters with a colon and a blank, that is no warning.
bool is_complaint_of(const std::string& beginning, std::string_view line) {
  const std::string small = in_small_letters(line);
  for (std::size_t at = small.find(beginning); at != std::string::npos; at = small.find(beginning, at + 1)) {
    const std::string_view rest = std::string_view(small).substr(at + beginning.size());
    const bool begins = at == 0 || kSpaces.find(small[at - 1]) != std::string_view::npos;
    if (begins && !rest.starts_with("warning") && !rest.starts_with("note")) return true;
  }
  return false;
}

}  // namespace

bool is_timed_out(int status) { return status == kMpirunTimedOut || status == kTimedOut || status == kKilled; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string cleaned_line(std::string_view text, std::size_t most) {
  constexpr std::string_view kDots = "...";
  std::string line;
  for (const char letter : text) {
    const bool is_blank = (letter >= 0 && letter <= ' ') || letter == 0x7f;
    if (!is_blank) line += letter;
    if (is_blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  line = printable(line);
  if (first_characters(line, most).size() == line.size()) return line;
  return fmt::format("{}{}", first_characters(line, most - kDots.size()), kDots);
}

void for_each_record(std::string_view text,
                     const std::function<void(const std::string& kind, record::LineReader& reader)>& take) {
  record::LineReader reader;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t begin = line.find("{\"kind\":");
    if (begin == std::string_view::npos) continue;
    try {
      const std::string kind(reader.open(line.substr(begin)));
      take(kind, reader);
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
}

bool has_record(std::string_view text, std::string_view kind) {
  bool found = false;
  for_each_record(text, [&](const std::string& each, record::LineReader&) { found = found || each == kind; });
  return found;
}

std::string short_host_name(std::string_view host) {
  std::string name = in_small_letters(host.substr(host.rfind('@') + 1));
  if (name.starts_with('[')) name.erase(0, 1);
  if (name.ends_with(']')) name.pop_back();
  const bool is_address =
      name.find(':') != std::string::npos || name.find_first_not_of("0123456789.") == std::string::npos;
  return is_address ? name : name.substr(0, name.find('.'));
}

std::string said_by_agent(Texts texts, std::span<const std::string_view> without) {
  for (const std::string_view text : texts) {
    for (const std::string_view line : blocks_of(text).outside) {
      if (without_spaces(line).empty() || line.starts_with('{') || line.starts_with('#')) continue;
      if (begins_with_one_of(line, without)) continue;
      if (in_small_letters(line).find("warning") == std::string::npos) return cleaned_line(line);
    }
  }
  return "";
}

std::string first_complaint(std::string_view program, Texts texts) {
  const std::string beginning = in_small_letters(program) + ": ";
  for (const std::string_view text : texts) {
    for (const std::string_view line : lines_of(text)) {
      if (!line.starts_with('{') && is_complaint_of(beginning, line)) return cleaned_line(line);
    }
  }
  return said_by_launcher(texts);
}

}  // namespace fabricbench::cluster
