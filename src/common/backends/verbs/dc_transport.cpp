#include "common/backends/verbs/provider_transport.h"

#include <infiniband/mlx5dv.h>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr std::uint64_t kAccessKey = 0x1ee7;  // of both ends; a target refuses messages with another one

/// Source: providers/mlx5 of rdma-core, drivers/infiniband/hw/mlx5 of Linux.
class DcTransport final : public ProviderTransport {
 public:
  DcTransport(const OpenDevice& device, Verb verb, const std::string& library)
      : library_(library, {"-c DC",
                           "install mlx5's provider for libibverbs (ibverbs-providers); adapters that are not "
                           "mlx5 take -c RC"}),
        create_(library_.function<decltype(&mlx5dv_create_qp)>(kCreateDc)),
        extend_(library_.function<decltype(&mlx5dv_qp_ex_from_ibv_qp_ex)>(kExtendDc)),
        port_(device.port),
        verb_(verb) {
    ibv_device* const own = device.context->device;
    if (library_.function<decltype(&mlx5dv_is_supported)>(kKnowsMlx5)(own)) return;
    throw Error(ExitStatus::kMissing,
                fmt::format("-c DC: {} is not an mlx5 device, and only those have DC; use -c RC, or "
                            "choose an mlx5 device with -d",
                            port_.device));
  }

  /// An initiator, which never receives.
  [[nodiscard]] QueuePair create(ibv_pd* domain, const ibv_qp_init_attr& wanted) override {
    receives_ = wanted.srq;
    ibv_qp_init_attr_ex attributes = extended(domain, wanted, verb_);
    attributes.srq = nullptr;
    attributes.cap.max_recv_wr = 0;
    attributes.cap.max_recv_sge = 0;
    mlx5dv_qp_init_attr type{};
    type.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
    type.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
    type.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
    return QueuePair(create_(domain->context, &attributes, &type));
  }

  /// A target gets its number when it becomes ready to receive.
  [[nodiscard]] std::vector<std::uint32_t> open_to_peer(const NegotiatedSettings& negotiated,
                                                        const OwnQueuePairs& own) override {
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < own.all.size(); ++i) {
      targets_.push_back(create_target(own));
      make_target_ready(targets_.back().get(), negotiated, i);
      numbers.push_back(targets_.back()->qp_num);
    }
    return numbers;
  }

  [[nodiscard]] int connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                            std::span<const std::uint32_t> numbers) override {
    for (std::size_t i = 0; i < own.all.size(); ++i) {
      make_initiator_ready(own.all[i].get(), negotiated, i);
      ibv_ah_attr path = negotiated.path_to_peer(i);
      initiators_.push_back(
          {extend_(ibv_qp_to_qp_ex(own.all[i].get())), AddressHandle(ibv_create_ah(own.domain, &path)), numbers[i]});
      check(initiators_.back().to_peer != nullptr, "ibv_create_ah");
    }
    return negotiated.agreed.mtu;
  }

  void set_destination(std::size_t queue_pair, ibv_qp_ex& /*making*/) override {
    const Initiator& initiator = initiators_[queue_pair];
    mlx5dv_wr_set_dc_addr(initiator.making, initiator.to_peer.get(), initiator.target, kAccessKey);
  }

  [[nodiscard]] bool completes_in_order() const override { return true; }

  [[nodiscard]] std::optional<bool> keeps_order() const override {
    if (!port_.tells_order) return std::nullopt;
    return ibv_query_qp_data_in_order(targets_.front().get(), IBV_WR_RDMA_WRITE, 0) == 1;
  }

 private:
  /// An initiator, and the way to its target.
  struct Initiator {
    mlx5dv_qp_ex* making;
    AddressHandle to_peer;
    std::uint32_t target;
  };

  [[nodiscard]] QueuePair create_target(const OwnQueuePairs& own) const {
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = own.all.front()->send_cq;
    attributes.recv_cq = own.all.front()->recv_cq;
    attributes.srq = receives_;
    attributes.qp_type = IBV_QPT_DRIVER;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    attributes.pd = own.domain;
    mlx5dv_qp_init_attr type{};
    type.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC;
    type.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT;
    type.dc_init_attr.dct_access_key = kAccessKey;
    QueuePair made(create_(own.domain->context, &attributes, &type));
    check(made != nullptr, "mlx5dv_create_qp of a DC target");
    return made;
  }

  void make_target_ready(ibv_qp* target, const NegotiatedSettings& negotiated, std::size_t which) const {
    make_initial(target, {.transport = Transport::kRc,
                          .port = negotiated.own.port.port,
                          .partition = negotiated.partition_index(),
                          .atomics = port_.atomics});
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = mtu_code(negotiated.agreed.mtu);
    attributes.ah_attr = negotiated.path_to_peer(which);
    attributes.min_rnr_timer = kShortestRnrDelay;
    modify(target, attributes, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER, "RTR");
  }

  static void make_initiator_ready(ibv_qp* initiator, const NegotiatedSettings& negotiated, std::size_t which) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.pkey_index = static_cast<std::uint16_t>(negotiated.partition_index());
    attributes.port_num = static_cast<std::uint8_t>(negotiated.own.port.port);
    modify(initiator, attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, "INIT");
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = mtu_code(negotiated.agreed.mtu);
    attributes.ah_attr = negotiated.path_to_peer(which);
    modify(initiator, attributes, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV, "RTR");
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = negotiated.own.sequence_numbers.at(which);
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    set_limits_to_send(attributes, mask, Transport::kRc, negotiated.agreed.outstanding, negotiated.retransmission);
    modify(initiator, attributes, mask, "RTS");
  }

  ProviderLibrary library_;
  decltype(&mlx5dv_create_qp) create_;
  decltype(&mlx5dv_qp_ex_from_ibv_qp_ex) extend_;
  const PortFacts& port_;
  Verb verb_;
  ibv_srq* receives_ = nullptr;  // the connection's
  std::vector<QueuePair> targets_;
  std::vector<Initiator> initiators_;  // by queue pair
};

}  // namespace

std::unique_ptr<ProviderTransport> open_dc(const OpenDevice& device, Verb verb, const std::string& library) {
  return std::make_unique<DcTransport>(device, verb, library);
}

}  // namespace fabricbench::verbs
