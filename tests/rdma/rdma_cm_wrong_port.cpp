// Connects over rdma_cm to a port of this host's device that nobody listens at, and prints what the program would say.
// Exit status: 0 where it was refused.

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/cm_endpoints.h"
#include "common/backends/rdma_cm/side.h"
#include "common/backends/verbs/device.h"
#include "common/core/clock.h"
#include "common/core/error.h"

using namespace fabricbench;

namespace {

/// The text of the error that ends the attempt; empty where it connects.
std::string refusal(std::uint16_t port) {
  const verbs::PortFacts own = verbs::open_device("", 0).port;
  const verbs::Gid gid = rdma_cm::addressable(own, std::nullopt).front();
  const auto endpoints = rdma_cm::open_endpoints({own.device, gid, Transport::kRc, 1, 8, 5});
  endpoints->set_peer(gid, {port, 0});
  rdma_cm::ActiveSide side(*endpoints, {Transport::kRc, 1, 5, "nobody", now});
  side.begin({0, 1});
  side.prepare();
  try {
    side.meet();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int main() {
  try {
    const std::string text = refusal(1);  // which only root could listen at
    std::puts(text.c_str());
    return text.empty() ? 1 : 0;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
