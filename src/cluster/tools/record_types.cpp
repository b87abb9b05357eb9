#include "cluster/tools/record_types.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "cluster/tools/verdict_record.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/reading.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::cluster {

record::Descriptions record_types() {
  record::Descriptions types;
  const auto add = [&types]<typename... Records>() { (record::add_description<Records>(types), ...); };
  add.operator()<Context, EpochRecord, Row, PairReading, SweepRound, SilentEndpoints, EndpointSummary, SweepVerdict,
                 CopyRow, ConnectionStep, Ending, SweepStart, HostLocality, RecordedReading, VerdictRecord>();
  return types;
}

std::string with_tables(const std::string& page, const record::Descriptions& types) {
  constexpr std::string_view kBegin = "<!-- record: ";
  constexpr std::string_view kBeginEnd = " -->\n";
  constexpr std::string_view kEnd = "<!-- end of record -->";
  std::set<std::string> left;
  for (const record::Description& type : types) left.insert(type.name);
  std::string made;
  std::size_t done = 0;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, done)) {
    const std::size_t name_at = at + kBegin.size();
    const std::size_t name_end = page.find(kBeginEnd, name_at);
    const std::size_t end = page.find(kEnd, name_at);
    if (name_end == std::string::npos || end == std::string::npos) {
      throw std::invalid_argument(fmt::format("'{}' without its end", page.substr(at, 40)));
    }
    const std::string name = page.substr(name_at, name_end - name_at);
    const auto type = std::find_if(types.begin(), types.end(), [&](const auto& each) { return each.name == name; });
    if (type == types.end()) throw std::invalid_argument(fmt::format("there is no record '{}'", name));
    left.erase(name);
    made += page.substr(done, name_end + kBeginEnd.size() - done) + "\n" + record::table_of(*type) + "\n";
    done = end;
  }
  if (!left.empty()) throw std::invalid_argument(fmt::format("record '{}' has no place", *left.begin()));
  return made + page.substr(done);
}

}  // namespace fabricbench::cluster
