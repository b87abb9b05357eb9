#include "common/backends/sockets/announcement.h"

#include <exception>
#include <sstream>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

/// An exit status on the first line, and the result or the error on the others.
std::string outcome(ExitStatus status, const std::string& text) {
  return fmt::format("{}\n{}", static_cast<int>(status), text);
}

std::string outcome_of(const std::string& name, const std::function<std::string()>& make) {
  try {
    return outcome(ExitStatus::kOk, make());
  } catch (const Error& error) {
    return outcome(error.status(), fmt::format("{}: {}", name, error.what()));
  } catch (const std::exception& error) {
    return outcome(ExitStatus::kFailure, fmt::format("{}: {}", name, error.what()));
  }
}

[[noreturn]] void rethrow(ExitStatus status, const std::string& message) {
  if (status == ExitStatus::kUsage) throw UsageError(message);
  throw Error(status, message);
}

}  // namespace

std::string to_text(const Announcement& announcement) {
  std::string text = fmt::format("{}\n{}\n{}\n", announcement.name, announcement.network, announcement.job);
  for (const SocketAddress& endpoint : announcement.endpoints) {
    text += fmt::format("{} {}\n", to_text(endpoint.address), endpoint.port);
  }
  return text;
}

Announcement parse_announcement(const std::string& text) {
  std::istringstream stream(text);
  Announcement announcement;
  std::getline(stream, announcement.name);
  std::getline(stream, announcement.network);
  stream >> announcement.job;
  std::string address;
  std::uint16_t port = 0;
  while (stream >> address >> port) {
    if (const auto parsed = parse_address(address)) announcement.endpoints.push_back({*parsed, port});
  }
  return announcement;
}

std::vector<std::string> exchange(const Gather& gather, const std::string& name,
                                  const std::function<std::string()>& make) {
  std::vector<std::string> texts = gather(outcome_of(name, make));
  for (std::string& text : texts) {
    const std::size_t end = text.find('\n');
    const auto status = static_cast<ExitStatus>(std::stoi(text.substr(0, end)));
    text.erase(0, end + 1);
    if (status != ExitStatus::kOk) rethrow(status, text);
  }
  return texts;
}

}  // namespace fabricbench::sockets
