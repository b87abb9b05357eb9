// Requests as libibverbs wants them.

#include <endian.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "common/backends/verbs/verbs_connection.h"

namespace fabricbench::verbs {
namespace verbs_work_request_test {

/// As posted in a list whose requests had other values before.
ibv_send_wr made_of(const Request& request, ibv_sge& part) {
  ibv_send_wr made{};
  made.send_flags = IBV_SEND_SOLICITED | IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  made.num_sge = 7;
  set_work_request(request, part, made);
  set_target(request, made);
  return made;
}

ibv_send_wr made_of(const Request& request) {
  ibv_sge part{};
  return made_of(request, part);
}

TEST(WorkRequest, HasThePartThatIsSent) {
  std::byte data{};
  Request request;
  request.local = {&data, 4096, 17, true};
  ibv_sge part{};
  const ibv_send_wr made = made_of(request, part);
  EXPECT_EQ(made.sg_list, &part);
  EXPECT_EQ(made.num_sge, 1);
  EXPECT_EQ(part.addr, reinterpret_cast<std::uint64_t>(&data));
  EXPECT_EQ(part.length, 4096U);
  EXPECT_EQ(part.lkey, 17U);
  request.local.bytes = 0;
  EXPECT_EQ(made_of(request).num_sge, 0) << "nothing is sent";
}

TEST(WorkRequest, IsInlineAndSignaledWhereThatIsWanted) {
  for (const bool is_inline : {false, true}) {
    for (const bool signaled : {false, true}) {
      Request request;
      request.is_inline = is_inline;
      request.signaled = signaled;
      unsigned wanted = 0;
      if (is_inline) wanted |= IBV_SEND_INLINE;
      if (signaled) wanted |= IBV_SEND_SIGNALED;
      EXPECT_EQ(made_of(request).send_flags, wanted);
    }
  }
}

TEST(WorkRequest, HasTheOperationOfItsVerb) {
  const auto operation_of = [](Verb verb, bool immediate, AtomicKind atomic = AtomicKind::kFetchAndAdd) {
    Request request;
    request.verb = verb;
    request.atomic = atomic;
    if (immediate) request.immediate = 0x01020304;
    const ibv_send_wr made = made_of(request);
    EXPECT_EQ(made.imm_data, immediate ? htobe32(0x01020304) : 0U);
    return made.opcode;
  };
  EXPECT_EQ(operation_of(Verb::kSend, false), IBV_WR_SEND);
  EXPECT_EQ(operation_of(Verb::kSend, true), IBV_WR_SEND_WITH_IMM);
  EXPECT_EQ(operation_of(Verb::kWrite, false), IBV_WR_RDMA_WRITE);
  EXPECT_EQ(operation_of(Verb::kWrite, true), IBV_WR_RDMA_WRITE_WITH_IMM);
  EXPECT_EQ(operation_of(Verb::kRead, false), IBV_WR_RDMA_READ);
  EXPECT_EQ(operation_of(Verb::kAtomic, false), IBV_WR_ATOMIC_FETCH_AND_ADD);
  EXPECT_EQ(operation_of(Verb::kAtomic, false, AtomicKind::kCompareAndSwap), IBV_WR_ATOMIC_CMP_AND_SWP);
}

TEST(WorkRequest, GoesToTheOtherSidesMemory) {
  Request request;
  request.remote = {0x1234567890, 99};
  for (const Verb verb : {Verb::kWrite, Verb::kRead}) {
    request.verb = verb;
    const ibv_send_wr made = made_of(request);
    EXPECT_EQ(made.wr.rdma.remote_addr, 0x1234567890U);
    EXPECT_EQ(made.wr.rdma.rkey, 99U);
  }
  request.verb = Verb::kAtomic;
  const ibv_send_wr adds = made_of(request);
  EXPECT_EQ(adds.wr.atomic.remote_addr, 0x1234567890U);
  EXPECT_EQ(adds.wr.atomic.rkey, 99U);
  EXPECT_EQ(adds.wr.atomic.compare_add, 1U) << "that is added";
  request.atomic = AtomicKind::kCompareAndSwap;
  request.compare = 41;
  const ibv_send_wr swaps = made_of(request);
  EXPECT_EQ(swaps.wr.atomic.compare_add, 41U);
  EXPECT_EQ(swaps.wr.atomic.swap, 42U);
}

}  // namespace verbs_work_request_test
}  // namespace fabricbench::verbs
