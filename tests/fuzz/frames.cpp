// What arrives at a rank's TCP port, and what ranks tell each other of themselves.

#include <algorithm>

#include "common/backends/sockets/handshake.h"
#include "common/backends/sockets/rendezvous.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_frames(std::string_view input) {
  sockets::HelloBytes bytes{};
  std::transform(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(input.size(), bytes.size())),
                 bytes.begin(), [](char each) { return static_cast<std::byte>(each); });
  if (const auto hello = sockets::decode(bytes)) require(sockets::encode(*hello) == bytes);

  const sockets::Announcement read = sockets::parse_announcement(std::string(input));
  const std::string text = sockets::to_text(read);
  require(sockets::to_text(sockets::parse_announcement(text)) == text);
}
