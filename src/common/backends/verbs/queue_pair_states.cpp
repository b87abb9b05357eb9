#include "common/backends/verbs/queue_pair_states.h"

#include <string>

#include "common/backends/verbs/explain.h"

namespace fabricbench::verbs {
namespace {

constexpr std::uint8_t kRetriesForEver = 7;  // if the receiver has no room yet; our own time limit ends the wait

}  // namespace

void modify(ibv_qp* queue_pair, ibv_qp_attr& attributes, int mask, const char* state) {
  const int error = ibv_modify_qp(queue_pair, &attributes, mask);
  if (error != 0) check_returned(error, (std::string("ibv_modify_qp to ") + state).c_str());
}

void make_initial(ibv_qp* queue_pair, const InitialState& wanted) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = static_cast<std::uint16_t>(wanted.partition);
  attributes.port_num = static_cast<std::uint8_t>(wanted.port);
  attributes.qkey = wanted.queue_key;
  attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  if (wanted.transport == Transport::kRc) {
    attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
    if (wanted.atomics) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  }
  const bool has_key = wanted.transport == Transport::kUd || wanted.transport == Transport::kSrd;
  const int own = has_key ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  modify(queue_pair, attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | own, "INIT");
}

void set_limits_to_receive(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding) {
  if (transport != Transport::kRc) return;
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(outstanding);
  attributes.min_rnr_timer = kShortestRnrDelay;
  mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

void set_limits_to_send(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding,
                        const Retransmission& retransmission) {
  if (transport != Transport::kRc) return;
  attributes.timeout = static_cast<std::uint8_t>(retransmission.timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(retransmission.retries);
  attributes.rnr_retry = kRetriesForEver;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(outstanding);
  mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

void make_ready_for_datagrams(ibv_qp* queue_pair, std::uint32_t sequence_number, bool retries) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  modify(queue_pair, attributes, IBV_QP_STATE, "RTR");
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = sequence_number;
  attributes.rnr_retry = kRetriesForEver;
  modify(queue_pair, attributes, IBV_QP_STATE | IBV_QP_SQ_PSN | (retries ? IBV_QP_RNR_RETRY : 0), "RTS");
}

ibv_mtu mtu_code(int bytes) {
  if (bytes >= 4096) return IBV_MTU_4096;
  if (bytes >= 2048) return IBV_MTU_2048;
  if (bytes >= 1024) return IBV_MTU_1024;
  return bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

int bytes_of(ibv_mtu code) { return 128 << code; }  // Source: enum ibv_mtu, where 1 is 256

}  // namespace fabricbench::verbs
