// What arrives at a rank's TCP port, and what ranks tell each other of themselves.

#include <algorithm>
#include <stdexcept>

#include "common/backends/sockets/handshake.h"
#include "common/backends/sockets/rendezvous.h"
#include "common/record/packing.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_frames(std::string_view input) {
  sockets::HandshakeBytes bytes{};
  std::transform(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(input.size(), bytes.size())),
                 bytes.begin(), [](char each) { return static_cast<std::byte>(each); });
  if (const auto message = sockets::decode(bytes)) require(sockets::encode(*message) == bytes);

  try {
    require(record::pack(record::unpack<sockets::RankAddresses>(input)) == input);
  } catch (const std::invalid_argument&) {  // no addresses
  }
}
