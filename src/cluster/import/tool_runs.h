// The runs of programs that a log holds, in the log's own words: what `find_slow_links --import` and `compare` judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/import/imported.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {

/// A row of a table of message sizes.
struct SizeRow {
  std::int64_t size_bytes = 0;
  std::int64_t line = 0;
  double rate = 0;                 ///< bytes per second; 0 also where the row has only a time
  std::string wrong{};             ///< what is wrong with its data; empty: nothing
  std::optional<double> time_s{};  ///< of an operation; nothing where the log does not tell it
  double algbw = 0;                ///< bytes per second; 0: not told
  std::string datatype{};
  std::string reduction{};
  std::string placement{};
  std::int64_t root = -1;
};

/// A rank, and where it ran.
struct ToolRank {
  std::string number;
  std::string host;
  std::string device;
  std::string pci;    ///< empty: not told, or no GPU
  std::string model;  ///< of the GPU
};

/// What a run of a program has printed.
struct ToolRun {
  std::string program;  ///< its title; empty: not told
  std::vector<std::pair<std::string, std::string>> settings;
  std::string test;  ///< of a pair of hosts; empty: nothing tells
  bool both_ways = false;
  bool backwards = false;    ///< the second host of the pair sends
  ImportNote other_test;     ///< why it is no bandwidth of a pair; no text: it is one
  ImportNote unknown_unit;   ///< a title without a unit that is known; no text: there is none
  bool names_hosts = false;  ///< its lines name its hosts, and not the log's name
  bool must_end = false;     ///< something closes its table, unless it broke off
  bool has_ended = false;    ///< its table is closed, so that nothing behind it counts
  std::string rail;          ///< its NIC; empty: not told
  std::string failure;       ///< as the program tells it; empty: its text may have words of failure
  ImportNote wrong;          ///< what is wrong with its data, of all sizes; no text: nothing
  std::vector<SizeRow> rows;
  std::vector<ImportNote> notes;         ///< lines of results that are not understood
  std::optional<std::int64_t> cut_line;  ///< the row in which the file ends
  std::vector<ToolRank> ranks;
  ImportNote repeated_rank;     ///< its number; no text: there is none
  bool without_mpi = false;     ///< the repeated rank was on two hosts
  std::size_t begin = 0;        ///< in the text
  std::size_t behind_rows = 0;  ///< in the text
  std::size_t closing = 0;      ///< the last closing line, in the text
};

/// A column of figures: its place, and bytes per second, or seconds, of 1.
struct FigureColumn {
  std::size_t place = 0;
  double worth = 0;
  bool is_rate = true;
};

/// Takes the row of a table in a line. The file may end within it, or it may have no figure, and be nothing.
void take_row(ToolRun& run, const TextLines& lines, std::optional<SizeRow> row);
/// The same of a line that begins with a size.
void take_row(ToolRun& run, const TextLines& lines, const FigureColumn& column);

/// The part of a log that its run number `place` printed.
[[nodiscard]] std::string_view text_of(std::string_view log, const std::vector<ToolRun>& runs, std::size_t place);

/// The runs in a log of nccl-tests; one without anything where there is none. GB/s are 10^9 bytes, busbw is of both
/// directions together.
[[nodiscard]] std::vector<ToolRun> nccl_tests_runs(std::string_view text);
/// The same of OSU. MB/s are 10^6 bytes; osu_bibw's are of both directions together.
[[nodiscard]] std::vector<ToolRun> osu_runs(std::string_view text);
/// The same of perftest. MB/s and MiB/s are 2^20 bytes, Gb/s 10^9 bits; with -b of both directions together. What
/// ib_read_bw reads comes from the server.
[[nodiscard]] std::vector<ToolRun> perftest_runs(std::string_view text);

/// Adds what the runs of a log say of the pair that the log's name, or else their lines, tell: a reading of the largest
/// size, wrong data of any size, or a failure where there are words of failure, and neither a row nor another run of
/// the test. A note where none of these is there, and where nothing tells the pair. Throws UsageError where the unit of
/// a bandwidth is not known.
void add_runs(Imported& found, const ImportSource& source, const std::vector<ToolRun>& runs);

}  // namespace fabricbench::cluster
