#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/failure.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

using nlohmann::json;

/// A rate and its line. The receiver's rate takes precedence over the sender's.
struct Iperf3Figure {
  double rate = 0;  ///< bytes per second
  std::int64_t line = 1;
  bool of_receiver = false;
  bool of_all_streams = false;
};

/// The rates of a log: from client to server, and from server to client.
struct Iperf3Directions {
  std::optional<Iperf3Figure> from_client;
  std::optional<Iperf3Figure> from_server;
  bool udp = false;
  bool of_iperf3 = false;  ///< anything in it is
  std::string error;
};

void keep_better(std::optional<Iperf3Figure>& kept, const Iperf3Figure& figure) {
  const auto worth = [](const Iperf3Figure& one) { return std::pair(one.of_all_streams, one.of_receiver); };
  if (!kept || worth(figure) >= worth(*kept)) kept = figure;
}

/// Bytes per second in one unit such as `Gbits/sec` or `MBytes/sec`; iperf3's MByte has 2^20 bytes.
std::optional<double> iperf3_unit_of(std::string_view unit) {
  if (!unit.ends_with("Bytes/sec") || unit.size() < 10) return unit_in(unit);
  return unit_in(fmt::format("{}i{}", unit.front(), unit.substr(1)));
}

/// A line of the summary, `[SUM][TX-C]  0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec  0  sender`.
class Iperf3TextReader {
 public:
  Iperf3Directions read(std::string_view text) {
    for (TextLines lines(text); lines.next();) take(lines);
    return found_;
  }

 private:
  void take(const TextLines& lines) {
    const std::string_view line = trimmed(lines.line());
    reverse_ |= line.starts_with("Reverse mode");
    found_.udp |= has(line, "Jitter") && has(line, "Datagrams");
    found_.of_iperf3 |= line.starts_with("iperf3:") || line.starts_with("iperf Done") || line.starts_with("[ ID]");
    if (line.starts_with("iperf3:") && found_.error.empty()) found_.error = one_line(line);
    if (line.starts_with('[') && (line.ends_with("sender") || line.ends_with("receiver"))) take_summary(lines, line);
  }

  void take_summary(const TextLines& lines, std::string_view line) {
    const auto words = words_of(line);
    const auto unit =
        std::find_if(words.begin(), words.end(), [](std::string_view word) { return word.ends_with("/sec"); });
    const auto bytes = unit == words.end() ? std::nullopt : iperf3_unit_of(*unit);
    const auto value = bytes && unit != words.begin() ? number_in(unit[-1]) : std::nullopt;
    if (!value) return;
    const Iperf3Figure figure{*value * *bytes, lines.number(), line.ends_with("receiver"), line.starts_with("[SUM]")};
    const bool from_server = has(line, "[RX-C]") || (reverse_ && !has(line, "[TX-C]"));
    keep_better(from_server ? found_.from_server : found_.from_client, figure);
  }

  Iperf3Directions found_;
  bool reverse_ = false;
};

/// Of a sum in `end`; nothing where it is not there.
std::optional<double> iperf3_rate_of(const json& end, const char* key) {
  const auto sum = end.find(key);
  if (sum == end.end() || !sum->is_object()) return std::nullopt;
  const auto bits = sum->find("bits_per_second");
  if (bits == sum->end() || !bits->is_number()) return std::nullopt;
  return bits->get<double>() * kBit;
}

/// The received rate, or else the sent one; of UDP without lost packets.
std::optional<Iperf3Figure> arrived(const json& end, const std::string& suffix) {
  if (const auto rate = iperf3_rate_of(end, ("sum_received" + suffix).c_str()))
    return Iperf3Figure{*rate, 1, true, true};
  if (const auto rate = iperf3_rate_of(end, ("sum_sent" + suffix).c_str())) return Iperf3Figure{*rate, 1, false, true};
  const auto rate = iperf3_rate_of(end, ("sum" + suffix).c_str());
  if (!rate) return std::nullopt;
  const json& sum = end[("sum" + suffix)];
  const auto lost = sum.find("lost_percent");
  const double share = lost != sum.end() && lost->is_number() ? lost->get<double>() / 100 : 0;
  return Iperf3Figure{*rate * (1 - share), 1, false, true};
}

/// A value behind two keys, or null.
json value_at(const json& root, const char* outer, const char* inner) {
  const auto object = root.find(outer);
  if (object == root.end() || !object->is_object()) return nullptr;
  const auto value = object->find(inner);
  return value == object->end() ? json(nullptr) : *value;
}

Iperf3Directions read_iperf3_json(const json& root) {
  Iperf3Directions found;
  found.of_iperf3 = root.contains("start") || root.contains("end") || root.contains("error");
  if (const auto error = root.find("error"); error != root.end() && error->is_string()) {
    found.error = one_line(error->get<std::string>());
  }
  const json protocol = value_at(root, "start", "test_start");
  if (protocol.is_object()) {
    found.udp = protocol.value("protocol", json()) == "UDP";
  }
  const auto is_set = [&](const char* key) {
    const json value = protocol.is_object() ? protocol.value(key, json()) : json();
    return value.is_number() && value.get<double>() != 0;
  };
  const auto end = root.find("end");
  if (end == root.end() || !end->is_object()) return found;
  (is_set("reverse") ? found.from_server : found.from_client) = arrived(*end, "");
  if (is_set("bidir")) found.from_server = arrived(*end, "_bidir_reverse");
  return found;
}

}  // namespace

Imported read_iperf3(const ImportSource& source) {
  Imported found;
  const auto pair = pair_in_name(source.path);
  if (!pair) {
    found.note(0, fmt::format("its name does not contain the pair; {}", kHowToName));
    return found;
  }
  const bool is_json = trimmed(source.text).starts_with('{');
  const json root = is_json ? json::parse(source.text, nullptr, false) : json();
  const bool cut_off = root.is_discarded();
  const Iperf3Directions log = root.is_object() ? read_iperf3_json(root) : Iperf3TextReader().read(source.text);
  const ImportedKind kind{log.udp ? "iperf3_udp" : log.of_iperf3 || cut_off ? "iperf3" : "", ImportedKind::kNoSize};
  const auto add = [&](const PairName& way, const Iperf3Figure& figure) {
    if (!figure.of_receiver)
      found.note(figure.line, "the log has no figure of the receiver, so the figure of the sender counts");
    found.add(found.between(way.from, way.to, kind), figure.rate, figure.line);
  };
  if (!log.error.empty() || (!log.from_client && !log.from_server)) {
    std::string why = cut_off ? "the JSON is broken or cut off" : why_it_failed(source.text);
    found.add_failed(found.between(pair->from, pair->to, kind), log.error.empty() ? why : log.error);
    return found;
  }
  if (log.from_client) add(*pair, *log.from_client);
  if (log.from_server) add({pair->to, pair->from}, *log.from_server);
  return found;
}

}  // namespace fabricbench::cluster
