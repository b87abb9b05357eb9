#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/imported.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

using nlohmann::json;

/// A line of iperf 2 or 3, `[SUM][TX-C]  0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec  0  sender`.
struct IperfRow {
  std::string_view stream;  ///< `5`, `*5` or `SUM`
  std::string_view role;    ///< `TX-C`; mostly empty
  double begin_s = 0;
  double end_s = 0;
  double rate = 0;        ///< bytes per second: bits are in powers of 1000, bytes in powers of 1024
  std::string_view rest;  ///< behind the rate
};

/// What stands in square brackets at the beginning, which is cut off; nothing where there are none.
std::optional<std::string_view> take_brackets(std::string_view& line) {
  line = trimmed(line);
  const std::size_t close = line.find(']');
  if (!line.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view inside = trimmed(line.substr(1, close - 1));
  line.remove_prefix(close + 1);
  return inside;
}

/// Bytes per second in one unit such as `Gbits/sec` or `MBytes/sec`; a MByte has 2^20 bytes.
std::optional<double> iperf_unit_of(std::string_view unit) {
  if (!unit.ends_with("Bytes/sec") || unit.size() < 10) return unit_in(unit);
  return unit_in(fmt::format("{}i{}", unit.front(), unit.substr(1)));
}

/// Seconds of `0.00-10.00`, which older versions write as `0.0- 1.0`.
bool take_interval(IperfRow& row, std::string_view text) {
  std::string interval(text);
  std::erase(interval, ' ');
  const std::size_t dash = interval.find('-');
  if (dash == std::string::npos) return false;
  const auto begin = number_in(std::string_view(interval).substr(0, dash));
  const auto end = number_in(std::string_view(interval).substr(dash + 1));
  if (!begin || !end) return false;
  row.begin_s = *begin;
  row.end_s = *end;
  return true;
}

/// Nothing where the line is none.
std::optional<IperfRow> iperf_row_in(std::string_view line) {
  IperfRow row;
  const auto stream = take_brackets(line);
  if (!stream) return std::nullopt;
  row.stream = *stream;
  row.role = take_brackets(line).value_or("");
  const std::size_t sec = line.find(" sec ");
  if (sec == std::string_view::npos || !take_interval(row, line.substr(0, sec))) return std::nullopt;
  const auto words = words_of(line.substr(sec));
  const auto unit = std::ranges::find_if(words, [](std::string_view word) { return word.ends_with("/sec"); });
  if (unit == words.begin() || unit == words.end()) return std::nullopt;
  const auto value = number_in(unit[-1]);
  const auto bytes = iperf_unit_of(*unit);
  if (!value || !bytes) return std::nullopt;
  row.rate = *value * *bytes;
  row.rest = line.substr(static_cast<std::size_t>(unit->data() + unit->size() - line.data()));
  return row;
}

/// The row of one stream, in one direction, that tells of all of its time.
struct Iperf2Stream {
  double rate = 0;
  double end_s = 0;
  double last_s = 0;  ///< the end of the last interval; behind end_s where the log is cut off
  std::int64_t line = 0;
  bool of_receiver = false;  ///< of datagrams
};

/// Connections that run together, and their figures. A direction is 1 where the server sends.
struct Iperf2Run {
  std::map<std::string, bool, std::less<>> from_server;      ///< by the number of a connection
  std::array<std::size_t, 2> connections{};                  ///< by direction
  std::map<std::string, Iperf2Stream, std::less<>> streams;  ///< by number, `*5` for what comes back on 5
  bool has_sum = false;
  bool udp = false;
  ToolRun direction;  ///< what all directions have in common
};

/// The number behind one of the words `port`.
std::string_view port_in(std::string_view line, std::size_t which) {
  const auto words = words_of(line);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "port" && which-- == 0) return words[i + 1];
  }
  return "";
}

class Iperf2Reader {
 public:
  explicit Iperf2Reader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines, trimmed(lines.line()));
    finish();
    add_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines, std::string_view line) {
    const bool listens = line.starts_with("Server listening on ");
    if (listens || line.starts_with("Client connecting to ")) {
      if (!run_.streams.empty()) begin_run(lines);
      run_.udp = has(line, " UDP ");
      if (listens) own_ports_.emplace(port_in(line, 0));
    } else if (line.starts_with('[') && has(line, " connected with ")) {
      connect(lines, line);
    } else if (has(line, "did not receive ack of last datagram")) {
      run_.direction.failure = one_line(line);
    } else if (const auto row = iperf_row_in(line)) {
      take_row(lines, *row);
    }
  }

  void begin_run(const TextLines& lines) {
    const bool udp = run_.udp;
    finish();
    run_ = {};
    run_.udp = udp;
    run_.direction.begin = lines.begin();
  }

  /// `[  3] local 10.0.0.5 port 54321 connected with 10.0.0.6 port 5001 (full-duplex)`. What comes in to a server is
  /// the client's, and what comes in to a client the server's.
  void connect(const TextLines& lines, std::string_view line) {
    const bool incoming = own_ports_.contains(port_in(line, 0));
    if (!any_connection_) found_.of_server = incoming;
    any_connection_ = true;
    if (found_.of_server && incoming && !run_.streams.empty()) begin_run(lines);
    const std::string number(trimmed(line.substr(1, line.find(']') - 1)));
    const bool from_server = incoming != found_.of_server || has(line, "(reverse)");
    run_.from_server[number] = from_server;
    ++run_.connections[from_server ? 1 : 0];
    if (has(line, "(full-duplex)")) ++run_.connections[1];
  }

  void take_row(const TextLines& lines, const IperfRow& row) {
    run_.direction.behind_rows = lines.end();
    if (row.stream.starts_with("SUM")) {
      run_.has_sum = true;
      return;
    }
    Iperf2Stream& stream = run_.streams[std::string(row.stream)];
    const bool of_receiver = has(row.rest, "%)");  // lost datagrams
    if (row.begin_s > 0) {
      stream.last_s = row.end_s;
    } else if (of_receiver || (!stream.of_receiver && row.end_s >= stream.end_s)) {
      stream = {row.rate, row.end_s, stream.last_s, lines.number(), of_receiver};
    }
  }

  [[nodiscard]] bool is_from_server(const std::string& number) const {
    const auto known = run_.from_server.find(number);
    return number.starts_with('*') || (known != run_.from_server.end() && known->second);
  }

  /// Adds the directions of which all streams have a figure.
  void finish() {
    if (any_connection_) run_.direction.test = run_.udp ? "iperf2_udp" : "iperf2";
    const std::size_t before = runs_.size();
    for (const bool from_server : {true, false}) {
      SizeRow sum{ImportedKind::kNoSize, 0, 0, ""};
      std::size_t streams = 0;
      for (const auto& [number, stream] : run_.streams) {
        const bool is_whole = stream.end_s >= stream.last_s && (stream.of_receiver || !run_.udp);
        if (is_from_server(number) != from_server || !is_whole) continue;
        sum.rate += stream.rate;
        sum.line = stream.line;
        ++streams;
      }
      const std::size_t expected = run_.connections[from_server ? 1 : 0];
      const bool is_cut = streams < expected || (streams > std::max<std::size_t>(expected, 1) && !run_.has_sum);
      if (streams == 0 || is_cut) continue;
      run_.direction.backwards = from_server;
      run_.direction.rows = {sum};
      if (runs_.size() > before) runs_.back().has_ended = true;  // the text belongs to the last one
      runs_.push_back(run_.direction);
    }
    if (runs_.size() == before) runs_.push_back(std::move(run_.direction));
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<ToolRun> runs_;
  Iperf2Run run_;
  std::set<std::string, std::less<>> own_ports_;
  bool any_connection_ = false;
};

/// A rate and its line. The receiver's rate takes precedence over the sender's, and a sum over one stream.
struct Iperf3Figure {
  double rate = 0;  ///< bytes per second
  std::int64_t line = 1;
  bool of_receiver = false;
  bool of_all_streams = false;
};

/// One direction of a run.
struct Iperf3Direction {
  std::optional<Iperf3Figure> figure;
  std::set<std::string, std::less<>> streams;  ///< those with a figure

  void take(std::string_view stream, const Iperf3Figure& next) {
    const auto worth = [](const Iperf3Figure& one) { return std::pair(one.of_all_streams, one.of_receiver); };
    if (!next.of_all_streams) streams.emplace(stream);
    if (!figure || worth(next) >= worth(*figure)) figure = next;
  }
};

/// What a run has printed.
struct Iperf3Run {
  Iperf3Direction from_client;
  Iperf3Direction from_server;
  bool udp = false;
  bool of_server = false;        ///< the server printed it, which knows its own end only
  bool server_sends = false;     ///< of text without roles
  bool was_interrupted = false;  ///< so that the other end has told nothing
  std::size_t connections = 0;
  std::size_t directions = 1;
  ToolRun direction;  ///< what both directions have in common

  [[nodiscard]] bool has_figures() const { return from_client.figure || from_server.figure; }
};

/// With another client, so that it tells nothing of the pair.
bool was_busy(const Iperf3Run& run) { return has(run.direction.failure, "server is busy"); }

/// Adds a figure, but for the 0 of an end that told nothing.
void take_figure(Iperf3Run& run, bool from_server, std::string_view stream, const Iperf3Figure& figure) {
  const bool unknown = figure.rate == 0 && (run.of_server || (run.was_interrupted && figure.of_receiver));
  if (!unknown) (from_server ? run.from_server : run.from_client).take(stream, figure);
}

class Iperf3TextReader {
 public:
  std::vector<Iperf3Run> read(std::string_view text) {
    run_.was_interrupted = interrupted_ = has(text, "iperf3: interrupt");
    for (TextLines lines(text); lines.next();) take(lines, trimmed(lines.line()));
    runs_.push_back(std::move(run_));
    return std::move(runs_);
  }

 private:
  void take(const TextLines& lines, std::string_view line) {
    of_other_end_ |= line.starts_with("Server output:");
    if (line.starts_with("iperf Done.")) {
      run_.direction.has_ended = true;
      of_other_end_ = false;
    }
    if (of_other_end_) return;
    if (line.starts_with("Connecting to host") || line.starts_with("Accepted connection from")) begin_run(lines, line);
    const bool is_first = run_.direction.failure.empty() || was_busy(run_);
    if (line.starts_with("iperf3: error") && is_first) run_.direction.failure = one_line(line);
    if (has(line, " connected to ")) ++run_.connections;
    run_.server_sends |= line.starts_with("Reverse mode");
    if (line.starts_with("[ ID]")) take_title(line);
    take_row(lines, line);
    if (!lines.is_whole() && line.starts_with('[')) run_.direction.cut_line = lines.number();
    // Between intervals there is such a line as well, but no title.
    if (!line.starts_with("Test Complete")) behind_separator_ = line.starts_with("- - - -");
  }

  void begin_run(const TextLines& lines, std::string_view line) {
    // An attempt that met a busy server has printed nothing else.
    if (run_.connections > 0 || run_.has_figures() || !run_.direction.failure.empty()) {
      runs_.push_back(std::exchange(run_, {}));
      run_.direction.begin = lines.begin();
    }
    run_.of_server = line.starts_with("Accepted");
    run_.was_interrupted = interrupted_;
    in_summary_ = false;
  }

  void take_title(std::string_view line) {
    run_.udp |= has(line, "Datagrams");
    if (has(line, "[Role]")) run_.directions = 2;
    run_.server_sends |= run_.of_server && has_any(line, {"Cwnd", " Total Datagrams"}) && !has(line, "Jitter");
    in_summary_ |= behind_separator_;
  }

  void take_row(const TextLines& lines, std::string_view line) {
    const bool of_receiver = line.ends_with("receiver");
    const bool has_word = of_receiver || line.ends_with("sender");
    const bool of_old_udp = in_summary_ && run_.udp && line.ends_with("%)");  // up to 3.1: one row, without a word
    const auto row = has_word || of_old_udp ? iperf_row_in(line) : std::nullopt;
    if (!row) return;
    Iperf3Figure figure{row->rate, lines.number(), of_receiver || of_old_udp, row->stream == "SUM"};
    if (of_old_udp) figure.rate *= 1 - lost_share_in(row->rest);
    const bool from_server = row->role.empty() ? run_.server_sends : row->role == "RX-C" || row->role == "TX-S";
    take_figure(run_, from_server, row->stream, figure);
    run_.direction.behind_rows = lines.end();
  }

  /// Of `0.068 ms  10/159 (6.3%)`.
  static double lost_share_in(std::string_view rest) {
    const std::size_t open = rest.rfind('(');
    const std::size_t percent = rest.rfind('%');
    if (open == std::string_view::npos || percent < open) return 0;
    return number_in(rest.substr(open + 1, percent - open - 1)).value_or(0) / 100;
  }

  std::vector<Iperf3Run> runs_;
  Iperf3Run run_;
  bool interrupted_ = false;
  bool in_summary_ = false;
  bool behind_separator_ = false;
  bool of_other_end_ = false;  ///< lines of --get-server-output
};

/// A value behind two keys, or null.
json value_at(const json& root, const std::string& outer, const char* inner) {
  const auto object = root.find(outer);
  if (object == root.end() || !object->is_object()) return nullptr;
  const auto value = object->find(inner);
  return value == object->end() ? json(nullptr) : *value;
}

/// Runs as JSON: a document each, or with --json-stream one for each event.
class Iperf3JsonReader {
 public:
  explicit Iperf3JsonReader(Imported& found) : found_(found) {}

  std::vector<Iperf3Run> read(std::string_view text) {
    for (const JsonDocument& document : json_documents(text)) {
      line_ += std::count(text.begin() + static_cast<std::ptrdiff_t>(begin_),
                          text.begin() + static_cast<std::ptrdiff_t>(document.begin), '\n');
      begin_ = document.begin;
      take(document);
    }
    return std::move(runs_);
  }

 private:
  void take(const JsonDocument& document) {
    json sums = json::object();
    const json root = parse(document.text, sums);
    if (root.is_discarded()) {
      return found_.note(line_, document.is_whole ? "the JSON is broken" : "the JSON is cut off");
    }
    const json event = root.value("event", json());
    const bool behind_events = std::exchange(is_stream_, event.is_string());
    if (event.is_null() && behind_events) return;  // --json-stream-full-output repeats them
    if (event.is_null() || event == "start" || runs_.empty()) runs_.emplace_back().direction.begin = begin_;
    Iperf3Run& run = runs_.back();
    run.direction.behind_rows = begin_ + document.text.size();
    take_start(run, root.value(event.is_null() ? "start" : "data", json::object()));
    const json error = event == "error" ? root.value("data", json()) : root.value("error", json());
    if (error.is_string()) run.direction.failure = one_line(error.get<std::string>());
    run.was_interrupted = has(run.direction.failure, "interrupt");
    run.direction.has_ended |= event.is_null() || event == "end";
    if (event.is_null() || event == "end") take_sums(run, sums);
  }

  /// Versions 3.7 to 3.10 have keys twice with --bidir: the second time for what the server sends, as later ones name
  /// it.
  static json parse(std::string_view text, json& sums) {
    std::string outer;
    std::string inner;
    const auto keep = [&](int depth, json::parse_event_t event, const json& parsed) {
      if (event == json::parse_event_t::key && depth == 1) outer = parsed.get<std::string>();
      if (event == json::parse_event_t::key && depth == 2) inner = parsed.get<std::string>();
      if (event == json::parse_event_t::object_end && depth == 2 && (outer == "end" || outer == "data")) {
        sums[sums.contains(inner) ? inner + kFromServer : inner] = parsed;
      }
      return true;
    };
    return json::parse(text, keep, false);
  }

  void take_start(Iperf3Run& run, const json& start) {
    if (!start.is_object() || !start.contains("test_start")) return;
    run.of_server = start.contains("accepted_connection");
    run.udp = value_at(start, "test_start", "protocol") == "UDP";
    const json reverse = value_at(start, "test_start", "reverse");
    run.server_sends = reverse.is_number() && reverse != 0;
  }

  void take_sums(Iperf3Run& run, const json& sums) const {
    for (const auto& [key, sum] : sums.items()) {
      const json bits = sum.value("bits_per_second", json());
      if (!key.starts_with("sum") || !bits.is_number()) continue;
      Iperf3Figure figure{bits.get<double>() * kBit, line_, !key.starts_with("sum_sent"), true};
      // In UDP a sum without a word is of what was sent.
      if (!key.starts_with("sum_sent") && !key.starts_with("sum_received")) figure.rate *= 1 - lost_share_of(sum);
      take_figure(run, run.server_sends || key.ends_with(kFromServer), "", figure);
    }
  }

  static double lost_share_of(const json& sum) {
    const json percent = sum.value("lost_percent", json());
    return percent.is_number() ? percent.get<double>() / 100 : 0;
  }

  static constexpr const char* kFromServer = "_bidir_reverse";
  Imported& found_;
  std::vector<Iperf3Run> runs_;
  bool is_stream_ = false;
  std::size_t begin_ = 0;  ///< of the current document
  std::int64_t line_ = 1;  ///< the same
};

/// The directions of a run that are known as a whole: without the sum of several streams it is cut off.
void add_ways(std::vector<ToolRun>& all, const Iperf3Run& run, Imported& found) {
  const bool of_iperf3 =
      run.has_figures() || run.connections > 0 || run.direction.has_ended || !run.direction.failure.empty();
  ToolRun next = run.direction;
  next.test = run.udp ? "iperf3_udp" : of_iperf3 ? "iperf3" : "";
  const std::size_t before = all.size();
  for (const bool from_server : {true, false}) {
    const Iperf3Direction& direction = from_server ? run.from_server : run.from_client;
    const std::size_t streams = std::max(direction.streams.size(), run.connections / run.directions);
    const bool is_whole = direction.figure && (direction.figure->of_all_streams || streams <= 1);
    if (!is_whole || (run.udp && !direction.figure->of_receiver))
      continue;  // who sends datagrams does not know what arrives
    if (!direction.figure->of_receiver && !run.of_server) {
      found.note(direction.figure->line, "the log has no figure of the receiver, so the figure of the sender counts");
    }
    next.backwards = from_server;
    next.rows = {{ImportedKind::kNoSize, direction.figure->line, direction.figure->rate, ""}};
    if (all.size() > before) all.back().has_ended = true;  // the text belongs to the last one
    all.push_back(next);
  }
  if (all.size() == before && !was_busy(run)) all.push_back(std::move(next));
}

}  // namespace

Imported read_iperf2(const ImportSource& source) { return Iperf2Reader(source).read(); }

Imported read_iperf3(const ImportSource& source) {
  Imported found;
  const bool has_titles = source.text.starts_with("[ ID]") || has(source.text, "\n[ ID]");
  const bool is_json = !has_titles && has_any(source.text, {"\"start\"", "\"end\"", "\"event\""});
  const auto runs = is_json ? Iperf3JsonReader(found).read(source.text) : Iperf3TextReader().read(source.text);
  std::vector<ToolRun> directions;
  for (const Iperf3Run& run : runs) {
    found.of_server |= run.of_server;
    add_ways(directions, run, found);
  }
  if (directions.empty() && !runs.empty()) found.note(0, runs.back().direction.failure);
  add_runs(found, source, directions);
  return found;
}

}  // namespace fabricbench::cluster
