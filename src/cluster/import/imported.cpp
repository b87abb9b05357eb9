#include "cluster/import/imported.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kMostNames = 10'000;

void check_number(std::size_t number, std::string_view what) {
  if (number <= kMostNames) return;
  throw Error(ExitStatus::kNotJudged,
              fmt::format("there are more than {} different {}; is a column about something else?", kMostNames, what));
}

}  // namespace

Imported::Imported() { static_cast<void>(rails.number_of("")); }

std::int16_t Imported::kind_of(const ImportedKind& given) {
  // A broken log may have a size below 0.
  const ImportedKind kind{one_line(given.test), std::max(given.size_bytes, ImportedKind::kNoSize)};
  const auto known = std::ranges::find(kinds, kind);
  if (known != kinds.end()) return static_cast<std::int16_t>(known - kinds.begin());
  kinds.push_back(kind);
  check_number(kinds.size(), "tests and sizes");
  return static_cast<std::int16_t>(kinds.size() - 1);
}

std::int16_t Imported::rail_of(std::string_view name) {
  const std::int32_t number = rails.number_of(one_line(name));
  check_number(rails.names().size(), "rails");
  return static_cast<std::int16_t>(number);
}

Reading Imported::between(std::string_view from, std::string_view to, const ImportedKind& kind) {
  Reading reading;
  reading.from = hosts.number_of(as_host_name(from));
  reading.to = hosts.number_of(as_host_name(to));
  reading.test = kind_of(kind);
  reading.concurrent = 0;
  return reading;
}

void Imported::add(Reading reading, double rate, std::int64_t line) {
  if (!std::isfinite(rate) || rate > kMostRate || rate < 0) {
    lose(line, fmt::format("{:g} GB/s is not a link's bandwidth", rate / 1e9));
    return;
  }
  if (rate == 0) {
    add_failed(reading, "the figure is 0");
    return;
  }
  reading.outcome = Outcome::kMeasured;
  reading.rate = static_cast<float>(rate);
  readings.push_back(reading);
}

void Imported::add_failed(Reading reading, std::string reason) {
  add_without_rate(reading, Outcome::kFailed, std::move(reason));
}

void Imported::add_failed_run(const Reading& reading, std::string reason) {
  const auto test_of = [&](const Reading& one) -> const std::string& {
    return kinds[static_cast<std::size_t>(one.test)].test;
  };
  const bool was_repeated = std::ranges::any_of(readings, [&](const Reading& other) {
    const bool same_test = test_of(reading).empty() || test_of(reading) == test_of(other);
    return other.from == reading.from && other.to == reading.to && same_test && other.outcome != Outcome::kFailed;
  });
  if (was_repeated) return note(0, fmt::format("a run that failed and was repeated is left out: {}", reason));
  add_failed(reading, std::move(reason));
}

void Imported::add_wrong(Reading reading, std::string reason) {
  add_without_rate(reading, Outcome::kWrong, "wrong data: " + std::move(reason));
}

void Imported::add_without_rate(Reading reading, Outcome outcome, std::string reason) {
  reading.outcome = outcome;
  reading.rate = 0;
  reasons.emplace_back(readings.size(), std::move(reason));
  readings.push_back(reading);
}

Endpoints::Endpoints(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
  for (std::string& host : hosts_) host = as_host_name(host);
  std::unordered_map<std::string, int> ranks;
  for (const std::string& host : hosts_) rails_.push_back(fmt::format("rank{}", ranks[host]++));
  if (ranks.size() == hosts_.size()) rails_.clear();
}

void Endpoints::add_hosts(Imported& found) const {
  for (const std::string& host : hosts_) static_cast<void>(found.hosts.number_of(host));
}

Reading Endpoints::between(Imported& found, std::size_t from, std::size_t to, const ImportedKind& kind) const {
  Reading reading = found.between(hosts_[from], hosts_[to], kind);
  if (rails_.empty()) return reading;
  reading.from_rail = found.rail_of(rails_[from]);
  reading.to_rail = found.rail_of(rails_[to]);
  return reading;
}

bool is_symmetric(const HostMatrix& matrix) {
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (matrix.rows[i][j] != matrix.rows[j][i]) return false;
    }
  }
  return true;
}

void add_matrix(Imported& found, const HostMatrix& matrix, const ImportedKind& kind, double unit) {
  const Endpoints ranks(matrix.hosts);
  ranks.add_hosts(found);
  const bool both_ways = is_symmetric(matrix);
  for (std::size_t from = 0; from < ranks.size(); ++from) {
    for (std::size_t to = both_ways ? from + 1 : 0; to < ranks.size(); ++to) {
      const auto& figure = matrix.rows[from][to];
      if (from == to || !figure || *figure == 0) continue;
      Reading reading = ranks.between(found, from, to, kind);
      reading.both_ways = both_ways;
      found.add(reading, *figure * unit, matrix.lines[from]);
    }
  }
}

}  // namespace fabricbench::cluster
