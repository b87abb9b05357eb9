#include "cluster/preflight/host_view.h"

#include <string>

#include <fmt/format.h>

#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"

namespace fabricbench::cluster {
namespace {

constexpr int kCommandSeconds = 5;

std::string printed_by(const std::string& command) {
  const std::vector<std::string> words = split_words(command);
  const std::string source = "command/" + command;
  if (found_on_path(words.front()).empty()) throw host::NotSeen(source, words.front() + " is not installed");
  const Said said = said_by({{}, words}, kCommandSeconds);
  if (said.status == kTimedOut) throw host::NotSeen(source, fmt::format("took more than {} s", kCommandSeconds));
  if (said.status != 0) throw host::NotSeen(source, fmt::format("ended with status {}", said.status));
  return said.text;
}

}  // namespace

std::unique_ptr<host::View> view_of_this_host() {
  return std::make_unique<host::LiveView>(std::map<std::string, host::Provider>{{"command", printed_by}});
}

}  // namespace fabricbench::cluster
