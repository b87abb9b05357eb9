#include "cluster/fabric/discover_text.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::fabric {
namespace {

using cluster::trimmed;

constexpr std::string_view kBlanks = " \t\r";

/// Takes what a line begins with, piece by piece.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(trimmed(text)) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }

  bool take(std::string_view piece) {
    if (!rest_.starts_with(piece)) return false;
    drop(piece.size());
    return true;
  }

  /// Up to the next blank.
  std::string_view word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlanks));
    drop(word.size());
    return word;
  }

  /// Up to `end`, which is taken too.
  std::optional<std::string_view> until(std::string_view end) {
    const std::size_t found = rest_.find(end);
    if (found == std::string_view::npos) return std::nullopt;
    const std::string_view before = rest_.substr(0, found);
    drop(found + end.size());
    return before;
  }

 private:
  void drop(std::size_t count) { rest_ = trimmed(rest_.substr(count)); }

  std::string_view rest_;
};

/// A text that is a number as a whole.
template <typename Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  const bool is_number = text.find_first_not_of(base == 16 ? "0123456789abcdefABCDEFx" : "0123456789") == text.npos;
  return is_number ? number_at<Number>(text, base) : std::nullopt;
}

/// `4xHDR`, or `4x` and `HDR` put together. An unknown speed is `???`.
std::optional<Rate> rate_in(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos || cross + 1 == text.size()) return std::nullopt;
  const auto lanes = number_in<int>(text.substr(0, cross));
  if (!lanes) return std::nullopt;
  return Rate{*lanes, std::string(text.substr(cross + 1))};
}

std::optional<NodeKind> kind_in(std::string_view word) {
  static const std::map<std::string_view, NodeKind> kinds = {
      {"Switch", NodeKind::kSwitch}, {"SW", NodeKind::kSwitch},  {"S", NodeKind::kSwitch},
      {"Ca", NodeKind::kAdapter},    {"CA", NodeKind::kAdapter}, {"H", NodeKind::kAdapter},
      {"Rt", NodeKind::kRouter},     {"RT", NodeKind::kRouter},  {"R", NodeKind::kRouter}};
  const auto found = kinds.find(word);
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

class DiscoverReader {
 public:
  DiscoverReader(std::string_view text, std::string_view file) : lines_(text), file_(file) {}

  Fabric read() {
    while (lines_.next()) take_line(trimmed(lines_.line()));
    if (fabric_.nodes.empty()) fail("no switch and no adapter is in this text; is it ibnetdiscover's?");
    drop_shared_names();
    return std::move(fabric_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ExitStatus::kFailure, fmt::format("{}:{}: {}", file_, lines_.number(), what));
  }

  [[noreturn]] void expect(std::string_view what) const {
    fail(fmt::format("{} expected: '{}'", what, printable(cut_short(trimmed(lines_.line()), 100))));
  }

  template <typename Value>
  Value needed(std::optional<Value> value, std::string_view what) const {
    if (!value) expect(what);
    return *std::move(value);
  }

  /// Switches without a manager all bear the name of their firmware: their GUID tells them apart.
  void drop_shared_names() {
    std::map<std::string, int> uses;
    for (const Node& node : fabric_.nodes) ++uses[node.name];
    for (Node& node : fabric_.nodes) {
      if (node.kind == NodeKind::kSwitch && uses[node.name] > 1) node.name.clear();
    }
  }

  void take_line(std::string_view line) {
    if (line.empty() || line.front() == '#' || line.starts_with("Chassis ") || line.starts_with("Non-Chassis")) return;
    if (line.front() == '[') return take_port(line);
    Scanner scanner(line);
    const std::string_view first = scanner.word();
    if (first.find('=') != std::string_view::npos) return take_property(first);
    const NodeKind kind = needed(kind_in(first), "a node, a port or a property");
    const bool is_report = first == "SW" || first == "CA" || first == "RT";
    is_report ? take_report(kind, scanner) : take_node(kind, scanner);
  }

  void take_property(std::string_view property) {
    const std::size_t equals = property.find('=');
    if (property.substr(0, equals) != "devid") return;
    device_id_ = needed(number_in<std::uint32_t>(property.substr(equals + 1), 16), "a device id");
  }

  /// `Switch 36 "S-f4521403001165a0"  # "MF0;ib5:SX6036/U1" enhanced port 0 lid 128 lmc 0`
  void take_node(NodeKind kind, Scanner scanner) {
    const int ports = needed(number_in<int>(scanner.word()), "the number of ports");
    section_ = take_identity(scanner);
    Node& node = fabric_.nodes[*section_];
    node.kind = kind;
    node.port_count = ports;
    node.device_id = std::exchange(device_id_, 0);
    take_description(scanner.rest(), node);
  }

  /// `"S-f4521403001165a0"`, new or known.
  std::size_t take_identity(Scanner& scanner) {
    if (!scanner.take("\"")) expect("a quoted node");
    const NodeKind kind = needed(kind_in(needed(scanner.until("-"), "a node")), "a node of kind S, H or R");
    return node_of(needed(number_in<std::uint64_t>(needed(scanner.until("\""), "a node"), 16), "a GUID"), kind);
  }

  /// `lid`: of an adapter's port in a report, where the two ports of one adapter are told apart.
  std::size_t node_of(std::uint64_t guid, NodeKind kind, int lid = 0) {
    const std::pair identity(guid, kind == NodeKind::kAdapter ? lid : 0);
    const auto [place, is_new] = places_.emplace(identity, fabric_.nodes.size());
    if (is_new) fabric_.nodes.push_back({kind, guid, "", 0, 0, 0});
    return place->second;
  }

  /// The quoted description and the LID behind it. Returns what follows the description.
  static std::string_view take_description(std::string_view text, Node& node) {
    const std::size_t begin = text.find('"');
    const std::size_t end = text.rfind('"');
    if (begin == std::string_view::npos || end <= begin) return text;
    if (node.name.empty()) node.name = trimmed(text.substr(begin + 1, end - begin - 1));
    Scanner scanner(text.substr(end + 1));
    while (!scanner.rest().empty()) {
      if (scanner.word() == "lid") node.lid = number_in<int>(scanner.word()).value_or(0);
    }
    return text.substr(end + 1);
  }

  /// The GUID of a port and the number on a chassis, which nobody needs.
  static void skip_details(Scanner& scanner) {
    while (scanner.take("(") ? scanner.until(")").has_value() : scanner.take("[ext") && scanner.until("]")) {
    }
  }

  /// `[1](24be05ffff98aba1) "S-f452140300115da0"[32]  # lid 57 lmc 0 "MF0;ib1:SX6036/U1" lid 64 4xQDR s=4 w=2`
  void take_port(std::string_view line) {
    if (!section_) fail("a port stands before the first node");
    Scanner scanner(line);
    const End own{*section_, port_number(scanner)};
    skip_details(scanner);
    const std::size_t peer = take_identity(scanner);
    const End other{peer, port_number(scanner)};
    const std::size_t comment = scanner.rest().find('#');
    if (comment == std::string_view::npos) fail("width and speed are missing behind '#'");
    connect(own, other, rate_behind(take_description(scanner.rest().substr(comment), fabric_.nodes[peer])));
  }

  int port_number(Scanner& scanner) const {
    const auto text = scanner.take("[") ? scanner.until("]") : std::nullopt;
    return needed(text ? number_in<int>(*text) : std::nullopt, "a port number in brackets");
  }

  Rate rate_behind(std::string_view text) const {
    Scanner scanner(text);
    while (!scanner.rest().empty()) {
      if (const auto rate = rate_in(scanner.word())) return *rate;
    }
    fail("width and speed, such as 4xHDR, are missing at the end");
  }

  End reported_end(NodeKind kind, Scanner& scanner) {
    const int lid = needed(number_in<int>(scanner.word()), "a LID");
    const int port = needed(number_in<int>(scanner.word()), "a port number");
    const auto guid = needed(number_in<std::uint64_t>(scanner.word(), 16), "a GUID");
    const std::size_t node = node_of(guid, kind, lid);
    fabric_.nodes[node].lid = lid;
    return {node, port};
  }

  /// `CA 134 1 0x7cfe9003003b4bde 4x EDR - SW 1719 10 0x7cfe9003009ce5b0 ( 'o0001 HCA-1' - 'ib-i1l1s01' )`, or without
  /// the other end: then nothing is connected, whatever speed is printed.
  void take_report(NodeKind kind, Scanner scanner) {
    const End own = reported_end(kind, scanner);
    const std::string width(scanner.word());
    const Rate rate = needed(rate_in(width + std::string(scanner.word())), "width and speed");
    if (!scanner.take("- ")) return name_from(scanner.rest(), own);
    const NodeKind other_kind = needed(kind_in(scanner.word()), "CA, SW or RT");
    const End other = reported_end(other_kind, scanner);
    const std::string_view names = scanner.rest();
    const std::size_t between = names.find("' - '");
    if (between == std::string_view::npos) fail("the names of both ends are missing");
    name_from(names.substr(0, between + 1), own);
    name_from(names.substr(between + 4), other);
    connect(own, other, rate);
  }

  void name_from(std::string_view quoted, End end) {
    const std::size_t begin = quoted.find('\'');
    const std::size_t stop = quoted.rfind('\'');
    if (begin == std::string_view::npos || stop == begin) fail("a name in single quotes is missing");
    std::string& name = fabric_.nodes[end.node].name;
    if (name.empty()) name = trimmed(quoted.substr(begin + 1, stop - begin - 1));
  }

  /// Each cable is printed at both of its ends, unless one of them has no section.
  void connect(End own, End other, Rate rate) {
    const auto known = peers_.find(own);
    const auto back = peers_.find(other);
    if ((known != peers_.end() && known->second != other) || (back != peers_.end() && back->second != own)) {
      fail("a port has another cable on an earlier line; is this the text of one run?");
    }
    if (known != peers_.end()) return;
    peers_[own] = other;
    peers_[other] = own;
    fabric_.cables.push_back({own, other, std::move(rate)});
  }

  cluster::TextLines lines_;
  std::string_view file_;
  Fabric fabric_;
  std::map<std::pair<std::uint64_t, int>, std::size_t> places_;
  std::map<End, End> peers_;
  std::optional<std::size_t> section_;
  std::uint32_t device_id_ = 0;
};

}  // namespace

Fabric read_discovered(std::string_view text, std::string_view file) {
  return DiscoverReader(without_byte_order_mark(text), file).read();
}

}  // namespace fabricbench::fabric
