#include "cluster/hosts/host_list.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

/// A number of 18 digits fits in 64 bits, and no cluster counts further.
constexpr std::size_t kMostDigits = 18;
constexpr std::int64_t kMostSlots = 1'000'000;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, is_digit);
}

bool is_blank(char character) { return std::isspace(static_cast<unsigned char>(character)) != 0; }

std::int64_t number_in(std::string_view digits) {
  std::int64_t number = 0;
  for (const char digit : digits) number = 10 * number + (digit - '0');
  return number;
}

/// An item of a list, such as `r[1-2]n[01-16]:8`, and where it stands.
struct ListItem {
  std::string_view text;
  std::string_view where;

  [[noreturn]] void refuse(std::string_view what) const {
    throw UsageError(fmt::format("{}: '{}': {}", where, text, what));
  }
};

/// Numbers that a bracket holds: `01-16`, `20` or `0-6/2`.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  std::size_t digits = 1;  ///< minimum width; shorter numbers have leading zeros

  [[nodiscard]] std::int64_t numbers() const { return (last - first) / step + 1; }
};

Range range_in(std::string_view text, const ListItem& item) {
  const auto refuse = [&](std::string_view what) { item.refuse(fmt::format("'{}' in the brackets {}", text, what)); };
  const std::size_t slash = text.find('/');
  const std::string_view both = text.substr(0, slash);
  const std::size_t dash = both.find('-');
  const std::string_view first = both.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : both.substr(dash + 1);
  const std::string_view step = slash == std::string_view::npos ? "1" : text.substr(slash + 1);
  if (!is_number(first) || !is_number(last) || !is_number(step)) {
    refuse("is not a range of numbers; write one such as 01-16, 20 or 0-6/2");
  }
  const Range range = {number_in(first), number_in(last), number_in(step), first.size()};
  if (range.step == 0) refuse("has a step of 0; write 1 or more");
  if (range.last < range.first) refuse("runs backwards; write the smaller number first");
  if (last.front() == '0' && last.size() != first.size()) {
    refuse("has ends of different width; write both with the same number of digits, such as 01-16");
  }
  return range;
}

/// A part of a name: text, or the numbers of a bracket.
struct Part {
  std::string_view text;
  std::vector<Range> ranges;  ///< empty: the part is text

  [[nodiscard]] std::int64_t names() const {
    if (ranges.empty()) return 1;
    std::int64_t all = 0;
    for (const Range& range : ranges) all += std::min(range.numbers(), kMostHosts + 1);
    return all;
  }
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;; ++begin) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end;
  }
}

std::vector<Part> parts_of(std::string_view name, const ListItem& item) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t open = std::min(name.find('[', at), name.size());
    if (open > at) parts.push_back({name.substr(at, open - at), {}});
    if (open == name.size()) break;
    const std::size_t close = name.find(']', open);
    Part& numbers = parts.emplace_back();
    for (const std::string_view range : split(name.substr(open + 1, close - open - 1), ',')) {
      numbers.ranges.push_back(range_in(range, item));
    }
    at = close + 1;
  }
  return parts;
}

/// All names that `parts` make, the last numbers changing first.
std::vector<std::string> names_of(const std::vector<Part>& parts) {
  std::vector<std::string> names = {""};
  for (const Part& part : parts) {
    if (part.ranges.empty()) {
      for (std::string& name : names) name += part.text;
      continue;
    }
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const Range& range : part.ranges) {
        for (std::int64_t number = range.first; number <= range.last; number += range.step) {
          longer.push_back(fmt::format("{}{:0{}}", name, number, range.digits));
        }
      }
    }
    names = std::move(longer);
  }
  return names;
}

/// Whether an item is an IPv6 address, whose colons are no slots: a name has one colon at most.
bool is_ipv6(std::string_view text) { return std::ranges::count(text, ':') >= 2; }

void check_characters(std::string_view name, const ListItem& item) {
  if (name.empty() || name.back() == '@') item.refuse("there is no host name in it");
  if (name.front() == '@') {
    item.refuse(fmt::format("groups are ClusterShell's; give the hosts, such as \"$(nodeset -e {})\"", name));
  }
  if (const std::string fault = fault_of_host_name(name); !fault.empty()) {
    item.refuse(
        fmt::format("it {}; hosts are written as node01, node[01-16], alice@node01, 10.0.0.1 or fe80::1", fault));
  }
}

std::optional<std::int64_t> slots_in(std::string_view text, const ListItem& item) {
  if (text == "*") return std::nullopt;  // Open MPI 5: as many as it has
  if (!is_number(text) || number_in(text) < 1 || number_in(text) > kMostSlots) {
    item.refuse(
        fmt::format("'{}' is not a number of slots; write one from 1 to {}, such as node01:8", text, kMostSlots));
  }
  return number_in(text);
}

/// Whether brackets match, and are not nested.
void check_brackets(const ListItem& item) {
  bool open = false;
  for (const char character : item.text) {
    if (character == '[' && open) item.refuse("there is a '[' within brackets; close the first one with ']'");
    if (character == ']' && !open) item.refuse("there is a ']' without a '[' before it");
    if (character == '[' || character == ']') open = character == '[';
  }
  if (open) item.refuse("its '[' is not closed; write the ']'");
}

/// A parsed item.
struct NamedHosts {
  std::vector<std::string> names;
  std::optional<std::int64_t> slots;
};

/// `[fe80::1]` or `[fe80::1]:8`, with `user` (`alice@` or nothing) before it.
NamedHosts bracketed_address(std::string_view user, std::string_view text, const ListItem& item) {
  const std::size_t close = text.find(']');
  const std::string_view address = text.substr(1, close - 1);
  const std::string_view rest = text.substr(close + 1);
  check_characters(fmt::format("{}{}", user, address), item);
  if (!rest.empty() && rest.front() != ':')
    item.refuse("after an address in brackets only slots may follow, such as :8");
  return {{fmt::format("{}{}", user, address)}, rest.empty() ? std::nullopt : slots_in(rest.substr(1), item)};
}

NamedHosts named_by(const ListItem& item) {
  check_brackets(item);
  const std::size_t at = item.text.find('@');
  const std::size_t host = at == std::string_view::npos || at == 0 ? 0 : at + 1;
  std::string_view text = item.text.substr(host);
  if (!text.empty() && text.front() == '[' && is_ipv6(text.substr(0, text.find(']')))) {
    return bracketed_address(item.text.substr(0, host), text, item);
  }
  if (is_ipv6(text)) {
    check_characters(item.text, item);
    return {{std::string(item.text)}, std::nullopt};
  }
  NamedHosts named;
  const std::size_t colon = item.text.find(':', host);
  if (colon != std::string_view::npos) named.slots = slots_in(item.text.substr(colon + 1), item);
  const std::vector<Part> parts = parts_of(item.text.substr(0, colon), item);
  std::int64_t names = 1;
  for (const Part& part : parts) {
    names *= part.names();
    if (names > kMostHosts) item.refuse(fmt::format("that would be more than {} hosts; check the ranges", kMostHosts));
  }
  named.names = names_of(parts);
  for (const std::string& name : named.names) check_characters(name, item);
  return named;
}

/// The items of a list: what is between commas and blanks that are not within brackets.
std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool open = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char character = i < list.size() ? list[i] : ',';
    if (character == '[' || character == ']') open = character == '[';
    const bool ends = i == list.size() || is_blank(character) || (character == ',' && !open);
    if (!ends) continue;
    if (i > begin) items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
    open = false;
  }
  return items;
}

/// The words of a host file's line, without its comment. `slots = 8`, which Open MPI takes too, is one word.
std::vector<std::string> words_of(std::string_view line) {
  std::string text;
  for (const char character : line.substr(0, line.find('#'))) {
    const bool after_equals = !text.empty() && text.back() == '=';
    if (is_blank(character) && (after_equals || text.empty() || text.back() == ' ')) continue;
    if (character == '=' && !text.empty() && text.back() == ' ') text.pop_back();
    text += is_blank(character) ? ' ' : character;
  }
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

/// The slots in the words behind a host: `slots=8`. Other settings of Open MPI and MPICH are ignored.
std::optional<std::int64_t> slots_among(const std::vector<std::string>& words, std::string_view where) {
  std::optional<std::int64_t> slots;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || is_digit(word.front())) {
      ListItem{word, where}.refuse(
          fmt::format("after host '{}' only settings may follow, such as slots=8", words.front()));
    }
    const std::string_view name = word.substr(0, equals);
    if (name == "slots" || name == "count" || name == "cpu") {  // the last two are older names of Open MPI's and LAM's
      slots = slots_in(word.substr(equals + 1), {word, where});
    }
  }
  return slots;
}

std::string_view without_user(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

}  // namespace

void HostList::add(Host host) {
  const auto [known, is_new] = places_.try_emplace(std::string(without_user(host.name)), hosts_.size());
  if (is_new) {
    if (std::cmp_greater_equal(hosts_.size(), kMostHosts)) {
      throw UsageError(fmt::format("more than {} hosts; check the ranges of the lists", kMostHosts));
    }
    hosts_.push_back(std::move(host));
    return;
  }
  std::optional<std::int64_t>& slots = hosts_[known->second].slots;
  slots = slots.value_or(1) + host.slots.value_or(1);
}

void HostList::add_list(std::string_view list, std::string_view where) {
  const std::size_t before = hosts_.size();
  const auto items = items_of(list);
  for (const std::string_view text : items) {
    NamedHosts named = named_by({text, where});
    for (std::string& name : named.names) add({std::move(name), named.slots});
  }
  if (items.empty() && hosts_.size() == before) {
    throw UsageError(fmt::format("{}: there is no host in '{}'; write them as node[01-16] or a,b,c", where, list));
  }
}

void HostList::add_file(std::string_view text, std::string_view where) {
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    const std::string place = fmt::format("{}:{}", where, ++number);
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    const bool counted = words.size() % 2 == 0 && is_number(words[1]);  // `a 8 b 8`
    for (std::size_t i = 0; counted && i < words.size(); i += 2) {
      add_list(fmt::format("{}:{}", words[i], words[i + 1]), place);
    }
    if (counted) continue;
    const std::optional<std::int64_t> slots = slots_among(words, place);
    for (const std::string_view item : items_of(words.front())) {
      NamedHosts named = named_by({item, place});
      for (std::string& name : named.names) add({std::move(name), slots ? slots : named.slots});
    }
  }
}

std::vector<std::string> HostList::names() const {
  std::vector<std::string> names;
  names.reserve(hosts_.size());
  for (const Host& host : hosts_) names.push_back(host.name);
  return names;
}

std::vector<std::string> HostList::exclude(const HostList& excluded) {
  std::vector<std::string> unknown;
  for (const auto& [key, place] : excluded.places_) {
    if (places_.count(key) == 0) unknown.push_back(excluded.hosts_[place].name);
  }
  std::ranges::sort(unknown);
  std::vector<Host> kept;
  for (Host& host : hosts_) {
    if (excluded.places_.count(std::string(without_user(host.name))) == 0) kept.push_back(std::move(host));
  }
  hosts_ = std::move(kept);
  places_.clear();
  for (std::size_t i = 0; i < hosts_.size(); ++i) places_.emplace(without_user(hosts_[i].name), i);
  return unknown;
}

}  // namespace fabricbench::cluster
