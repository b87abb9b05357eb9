#include "common/backends/rdma/seen.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/backends/gpu/gpu_readers.h"
#include "common/backends/verbs/host_reader.h"
#include "common/core/shortened_list.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

std::unique_ptr<Reader> reader_for(const verbs::VerbsSession& session) {
  const std::vector<int> devices = session.devices();
  if (devices.empty()) return std::make_unique<verbs::HostReader>();
  return gpu::open_reader(devices.front());
}

const char* meaning_of(SeenBy seen_by) {
  switch (seen_by) {
    case SeenBy::kCompletion:
      return "a message counts when the processor has polled its completion; whether the GPU can see it then is not "
             "checked";
    case SeenBy::kFlush:
      return "a message counts when the processor has polled its completion and read its last bytes back through the "
             "adapter, after which a GPU could see it";
    case SeenBy::kReader: break;
  }
  return "a message counts when its reader has seen it and has told the processor";
}

}  // namespace

verbs::VerbsSettings settings_to_see(verbs::VerbsSettings settings, SeenBy seen_by) {
  settings.seen_by = seen_by;
  settings.options.write_with_immediate = seen_by != SeenBy::kReader;
  return settings;
}

void open_reader(const Team& team, verbs::VerbsSession& session) {
  (void)everywhere(team.world(), [&] {
    session.see_with(reader_for(session));
    return true;
  });
}

std::vector<std::string> seen_notices(const Team& team, const verbs::VerbsSession& session, SeenBy seen_by) {
  constexpr std::size_t kMostRanks = 16;  // in the banner
  const char* const part =
      seen_by == SeenBy::kReader ? "part of every time below, not subtracted" : "no part of the times below";
  const double round_trip_us = session.memory_path().reader_round_trip.value_or(0) * 1e6;
  const std::string own = fmt::format("Rank {}: local ping-pong of the processor and the reader, {}: {:.3g} us, {}",
                                      team.process_in_job(), session.reader(), round_trip_us, part);
  std::vector<std::string> notices = {fmt::format("Seen by {}: {}", name(seen_by), meaning_of(seen_by))};
  for (std::string& line :
       shortened(all_gather(team.world(), own), kMostRanks, "more ranks, in the JSON file (reader_round_trip_us)")) {
    notices.push_back(std::move(line));
  }
  return notices;
}

}  // namespace fabricbench
