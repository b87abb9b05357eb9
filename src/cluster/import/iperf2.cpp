#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/import/iperf_rows.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

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
  ToolRun way;  ///< what all directions have in common
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
      run_.way.failure = one_line(line);
    } else if (const auto row = iperf_row_in(line)) {
      take_row(lines, *row);
    }
  }

  void begin_run(const TextLines& lines) {
    const bool udp = run_.udp;
    finish();
    run_ = {};
    run_.udp = udp;
    run_.way.begin = lines.begin();
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
    run_.way.behind_rows = lines.end();
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

  void finish();

  const ImportSource& source_;
  Imported found_;
  std::vector<ToolRun> runs_;
  Iperf2Run run_;
  std::set<std::string, std::less<>> own_ports_;
  bool any_connection_ = false;
};

/// Adds the directions of which all streams have a figure.
void Iperf2Reader::finish() {
  if (any_connection_) run_.way.test = run_.udp ? "iperf2_udp" : "iperf2";
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
    run_.way.backwards = from_server;
    run_.way.rows = {sum};
    if (runs_.size() > before) runs_.back().has_ended = true;  // the text belongs to the last one
    runs_.push_back(run_.way);
  }
  if (runs_.size() == before) runs_.push_back(std::move(run_.way));
}

}  // namespace

Imported read_iperf2(const ImportSource& source) { return Iperf2Reader(source).read(); }

}  // namespace fabricbench::cluster
