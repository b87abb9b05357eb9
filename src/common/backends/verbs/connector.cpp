#include "common/backends/verbs/connector.h"

#include <algorithm>
#include <cstddef>

#include "common/backends/verbs/explain.h"

namespace fabricbench::verbs {
namespace {

constexpr std::uint8_t kRetriesForEver = 7;  // if the receiver has no room yet; our own time limit ends the wait

constexpr std::uint8_t kHopLimit = 64;

Gid gid_of(const PortFacts& port, int index) {
  const auto found =
      std::find_if(port.gids.begin(), port.gids.end(), [index](const Gid& gid) { return gid.index == index; });
  return found == port.gids.end() ? Gid{} : *found;
}

void connect_one(ibv_qp* queue_pair, std::size_t which, const NegotiatedSettings& negotiated) {
  ibv_qp_attr to_receive{};
  to_receive.qp_state = IBV_QPS_RTR;
  to_receive.path_mtu = mtu_code(negotiated.agreed.mtu);
  to_receive.dest_qp_num = negotiated.peer.queue_pairs.at(which);
  to_receive.rq_psn = negotiated.peer.sequence_numbers.at(which);
  to_receive.ah_attr = negotiated.path_to_peer(which);
  int mask = IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_AV;
  set_limits_to_receive(to_receive, mask, negotiated.transport, negotiated.agreed.outstanding);
  modify(queue_pair, to_receive, mask, "RTR");
  ibv_qp_attr to_send{};
  to_send.qp_state = IBV_QPS_RTS;
  to_send.sq_psn = negotiated.own.sequence_numbers.at(which);
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  set_limits_to_send(to_send, mask, negotiated.transport, negotiated.agreed.outstanding, negotiated.retransmission);
  modify(queue_pair, to_send, mask, "RTS");
}

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

Gid NegotiatedSettings::own_gid() const { return gid_of(own.port, first ? agreed.gids.first : agreed.gids.second); }

Gid NegotiatedSettings::peer_gid() const { return gid_of(peer.port, first ? agreed.gids.second : agreed.gids.first); }

ibv_ah_attr NegotiatedSettings::path_to_peer(std::size_t queue_pair) const {
  ibv_ah_attr to{};
  to.port_num = static_cast<std::uint8_t>(own.port.port);
  to.sl = static_cast<std::uint8_t>(service_level);
  to.dlid = static_cast<std::uint16_t>(peer.port.lid);
  if (agreed.has_global_route) {
    const Gid gid = peer_gid();
    to.is_global = 1;
    to.grh.sgid_index = static_cast<std::uint8_t>(own_gid().index);
    to.grh.hop_limit = kHopLimit;
    to.grh.flow_label = flow_label(queue_pair);
    to.grh.traffic_class = static_cast<std::uint8_t>(traffic_class);
    std::copy(gid.raw.begin(), gid.raw.end(), to.grh.dgid.raw);
  }
  return to;
}

Connected DirectConnector::connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                                   const std::string& /*listening addresses*/) {
  Connected connected;
  connected.mtu = negotiated.agreed.mtu;
  connected.peer_key = kQueueKey;
  const bool datagrams = negotiated.transport == Transport::kUd;
  for (std::size_t i = 0; i < own.all.size(); ++i) {
    ibv_qp* const queue_pair = own.all[i].get();
    make_initial(queue_pair, {.transport = negotiated.transport,
                              .port = negotiated.own.port.port,
                              .partition = negotiated.partition_index(),
                              .queue_key = kQueueKey,
                              .atomics = own.device.port.atomics});
    if (datagrams) {
      make_ready_for_datagrams(queue_pair, negotiated.own.sequence_numbers.at(i));
    } else {
      connect_one(queue_pair, i, negotiated);
    }
  }
  if (datagrams) {
    ibv_ah_attr to = negotiated.path_to_peer(0);
    connected.to_peer.reset(ibv_create_ah(own.domain, &to));
    check(connected.to_peer != nullptr, "ibv_create_ah");
  }
  return connected;
}

}  // namespace fabricbench::verbs
