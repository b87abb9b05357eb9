#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cluster/command/imported_files.h"
#include "cluster/import/pair_name.h"

namespace fabricbench::cluster {
namespace {

/// The properties that comparable readings share.
struct LogStratum {
  std::string test;
  std::int64_t size_bytes = ImportedKind::kNoSize;
  std::string from_rail;
  std::string to_rail;
  bool both_ways = false;

  auto operator<=>(const LogStratum&) const = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

LogStratum stratum_of(const Imported& found, const Reading& reading) {
  const ImportedKind& kind = found.kinds[static_cast<std::size_t>(reading.test)];
  const auto rail = [&](std::int16_t place) { return found.rails.names()[static_cast<std::size_t>(place)]; };
  return {kind.test, kind.size_bytes, rail(reading.from_rail), rail(reading.to_rail), reading.both_ways};
}

/// Whether rails matter. If all named rails have the same name and other readings have none, the name stands for the
/// only GPU of some runs, not for another rail.
bool rails_differ(const ImportedFiles& imported) {
  std::set<std::string> names;
  for (const ImportedFiles::File& file : imported.files) {
    for (const Reading& reading : file.found.readings) {
      const LogStratum stratum = stratum_of(file.found, reading);
      names.insert({stratum.from_rail, stratum.to_rail});
    }
  }
  return names.size() > 2 || names.count("") == 0;
}

/// For a log without a result: the size that others have reached, and other missing properties.
class Norm {
 public:
  explicit Norm(const ImportedFiles& imported) {
    for (const ImportedFiles::File& file : imported.files) {
      for (const Reading& reading : file.found.readings) {
        if (reading.outcome == Outcome::kMeasured) ++counts_[stratum_of(file.found, reading)];
      }
    }
  }

  [[nodiscard]] LogStratum complete(LogStratum failed, ImportKind kind) const {
    const LogStratum* likeliest = nullptr;
    std::int64_t most = 0;
    for (const auto& [stratum, count] : counts_) {
      if ((!failed.test.empty() && stratum.test != failed.test) || count <= most) continue;
      likeliest = &stratum;
      most = count;
    }
    if (likeliest != nullptr) {
      const bool knows_rails = !failed.from_rail.empty() || !failed.to_rail.empty();
      return {likeliest->test, likeliest->size_bytes, knows_rails ? failed.from_rail : likeliest->from_rail,
              knows_rails ? failed.to_rail : likeliest->to_rail, likeliest->both_ways};
    }
    if (failed.test.empty()) failed.test = name_of(kind);
    return failed;
  }

 private:
  std::map<LogStratum, std::int64_t> counts_;
};

/// Hosts under one name each: the short one where files have both that and a full one.
class Hosts {
 public:
  explicit Hosts(const ImportedFiles& imported) {
    std::set<std::string, std::less<>> given;
    std::map<std::string, std::set<std::string>, std::less<>> full_names;  // by the short one
    for (const ImportedFiles::File& file : imported.files) {
      given.insert(file.found.hosts.names().begin(), file.found.hosts.names().end());
    }
    for (const std::string& host : given) {
      if (short_name(host) != host) full_names[std::string(short_name(host))].insert(host);
    }
    for (const auto& [name, full] : full_names) {
      if (full.size() == 1 && given.contains(name)) short_of_.emplace(*full.begin(), name);
    }
  }

  [[nodiscard]] std::string_view name(const Imported& found, std::int32_t host) const {
    const std::string& given = found.hosts.names()[static_cast<std::size_t>(host)];
    const auto known = short_of_.find(given);
    return known == short_of_.end() ? given : known->second;
  }

  [[nodiscard]] std::vector<std::string> all(const ImportedFiles& imported) const {
    NameIndex hosts;
    for (const ImportedFiles::File& file : imported.files) {
      const auto number = static_cast<std::int32_t>(file.found.hosts.names().size());
      for (std::int32_t host = 0; host < number; ++host) static_cast<void>(hosts.number_of(name(file.found, host)));
    }
    return hosts.take();
  }

 private:
  std::map<std::string, std::string, std::less<>> short_of_;
};

ReadingStatus status_of(Outcome outcome) {
  if (outcome == Outcome::kMeasured) return ReadingStatus::kOk;
  return outcome == Outcome::kWrong ? ReadingStatus::kWrong : ReadingStatus::kFailed;
}

RecordedReading record_of(const Imported& found, const Hosts& hosts, const Reading& reading,
                          const LogStratum& stratum) {
  RecordedReading record;
  record.from_end.host = hosts.name(found, reading.from);
  record.to_end.host = hosts.name(found, reading.to);
  record.from_end.rail = stratum.from_rail;
  record.to_end.rail = stratum.to_rail;
  record.test = stratum.test;
  if (stratum.size_bytes != ImportedKind::kNoSize) record.size = stratum.size_bytes;
  record.both_ways = stratum.both_ways;
  record.concurrent = reading.concurrent;
  record.status = status_of(reading.outcome);
  if (reading.outcome == Outcome::kMeasured) record.bandwidth = static_cast<double>(reading.rate);
  return record;
}

}  // namespace

void give_records(const ImportedFiles& imported, const RecordTaker& take) {
  const Hosts hosts(imported);
  SweepStart start{hosts.all(imported)};
  start.not_understood = imported.not_understood;
  take.start(start);
  const Norm norm(imported);
  const bool has_rails = rails_differ(imported);
  // Of readings without an order: the first one of every pair is in round 0, the second in round 1.
  std::map<std::tuple<std::string_view, std::string_view, LogStratum>, std::int32_t> repetitions;
  std::int64_t rounds = 0;  // from files that have them
  for (const ImportedFiles::File& file : imported.files) {
    const Imported& found = file.found;
    std::int32_t last = -1;
    auto reason = found.reasons.begin();
    auto gpus = found.gpus.begin();
    for (std::size_t i = 0; i < found.readings.size(); ++i) {
      const Reading& reading = found.readings[i];
      LogStratum stratum = stratum_of(found, reading);
      const bool is_measured = reading.outcome == Outcome::kMeasured;
      if (!is_measured && stratum.size_bytes == ImportedKind::kNoSize) stratum = norm.complete(stratum, file.kind);
      if (!has_rails) stratum.from_rail = stratum.to_rail = "";
      RecordedReading record = record_of(found, hosts, reading, stratum);
      if (reason != found.reasons.end() && reason->first == i) record.reason = (reason++)->second;
      if (gpus != found.gpus.end() && gpus->reading == i) {
        record.from_end.gpu = gpus->from;
        record.to_end.gpu = (gpus++)->to;
      }
      last = std::max(last, reading.round);
      record.round = found.rounds_are_known ? rounds + reading.round
                                            : repetitions[{record.from_end.host, record.to_end.host, stratum}]++;
      take.reading(record);
    }
    if (found.rounds_are_known) rounds += last + 1;
  }
}

}  // namespace fabricbench::cluster
