// A stream of RDMA writes between two queue pairs of the fake libibverbs, for message_cost.py to count instructions.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/backends/rdma/rdma_test.h"
#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/verbs_backend.h"
#include "common/backends/verbs/verbs_connection.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_queue_pairs.h"

namespace {

using namespace fabricbench;
using namespace fabricbench::verbs;

constexpr std::int64_t kWindow = 1000;
constexpr std::size_t kBytes = 8;

OpenDevice open_fake() {
  test::FakeVerbsDevice& fake = test::fake_verbs().add("fake0");
  ibv_port_attr port{};
  port.state = IBV_PORT_ACTIVE;
  fake.ports = {port};
  test::add_data_path(fake.context);
  OpenDevice device;
  device.context.reset(&fake.context);
  device.port.device = "fake0";
  device.port.mtu = 4096;
  return device;
}

void stream(std::int64_t messages, std::int64_t post_list) {
  Options options;
  options.rdma.post_list = post_list;
  RequestStream writes("rdma_write_bw", Verb::kWrite);
  writes.configure(options);
  const OpenDevice device = open_fake();
  VerbsConnection connection(device, {.depth = static_cast<int>(options.rdma.depth)});
  verbs::NegotiatedSettings negotiated;
  negotiated.own = negotiated.peer = connection.connect_info("here");
  negotiated.agreed.mtu = device.port.mtu;
  DirectConnector connector;
  connection.connect(connector, negotiated, "");

  std::array<std::byte, kBytes> sent{};
  std::array<std::byte, kBytes> received{};
  const auto block = [](std::array<std::byte, kBytes>& data) {
    return Block{data.data(), data.size(), 1, {reinterpret_cast<std::uint64_t>(data.data()), 2}};
  };
  VerbsBackend backend(connection, {.verb = Verb::kWrite, .options = options.rdma}, [] {}, {});
  backend.add_block(block(sent));
  backend.add_block(block(received));
  std::array<std::byte, kSpread> spread{};
  backend.spread_over({spread.data(), spread.size(), 1, {reinterpret_cast<std::uint64_t>(spread.data()), 2}});
  backend.prepare(sent, received);
  ReceiveTime receiving;
  const Operands operands{.send = sent.data(),
                          .recv = received.data(),
                          .count = kBytes,
                          .datatype = DataType::kInt8,
                          .reduction = Reduction::kNone,
                          .root = -1,
                          .rank = 0,
                          .ranks = 2,
                          .stage = 0,
                          .counts = nullptr,
                          .receiving = &receiving};
  for (std::int64_t left = messages; left > 0; left -= kWindow) {
    writes.start_many(backend, operands, std::min(left, kWindow));
    writes.windows()->finish(backend, operands);
  }
}

std::int64_t number_in(const char* text) {
  std::int64_t number = 0;
  const char* const end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end ? number : 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t messages = count == 3 ? number_in(arguments[1]) : 0;
  const std::int64_t post_list = count == 3 ? number_in(arguments[2]) : 0;
  if (messages < 1 || post_list < 1) {
    std::fputs("usage: message_cost MESSAGES POST_LIST\n\nCalled by message_cost.py.\n", stderr);
    return 2;
  }
  stream(messages, post_list);
  return 0;
}
