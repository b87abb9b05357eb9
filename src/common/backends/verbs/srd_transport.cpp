#include "common/backends/verbs/provider_transport.h"

#include <infiniband/efadv.h>

#include <cerrno>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr std::uint32_t kCanRead = EFADV_DEVICE_ATTR_CAPS_RDMA_READ;
constexpr std::uint32_t kRetriesUnready = EFADV_DEVICE_ATTR_CAPS_RNR_RETRY;
constexpr std::uint32_t kCanWrite = 1 << 3;  // EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE, which headers before 2023 lack
constexpr std::uint32_t kOnlyTheData = 1;    // parts of a receive; unlike UD's it has no header

/// Source: providers/efa of rdma-core, drivers/infiniband/hw/efa of Linux.
class SrdTransport final : public ProviderTransport {
 public:
  SrdTransport(const OpenDevice& device, Verb verb, const std::string& library)
      : library_(library, {"-c SRD",
                           "install EFA's provider for libibverbs (ibverbs-providers); adapters that are not "
                           "EFA take -c RC"}),
        create_(library_.function<decltype(&efadv_create_qp_ex)>(kCreateSrd)),
        verb_(verb) {
    query(device.context.get());
    check_verb(device.port.device);
  }

  [[nodiscard]] QueuePair create(ibv_pd* domain, const ibv_qp_init_attr& wanted) override {
    ibv_qp_init_attr_ex attributes = extended(domain, wanted, verb_);
    attributes.cap.max_recv_sge = kOnlyTheData;
    efadv_qp_init_attr type{};
    type.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD;
    return QueuePair(create_(domain->context, &attributes, &type, sizeof type));
  }

  [[nodiscard]] std::vector<std::uint32_t> open_to_peer(const NegotiatedSettings& /*negotiated*/,
                                                        const OwnQueuePairs& own) override {
    std::vector<std::uint32_t> numbers;
    for (const QueuePair& each : own.all) numbers.push_back(each->qp_num);
    return numbers;
  }

  [[nodiscard]] int connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                            std::span<const std::uint32_t> numbers) override {
    numbers_.assign(numbers.begin(), numbers.end());
    const bool retries = (facts_.device_caps & kRetriesUnready) != 0;
    for (std::size_t i = 0; i < own.all.size(); ++i) {
      ibv_qp* const queue_pair = own.all[i].get();
      make_initial(queue_pair, {.transport = Transport::kSrd,
                                .port = negotiated.own.port.port,
                                .partition = negotiated.partition_index(),
                                .queue_key = kQueueKey});
      make_ready_for_datagrams(queue_pair, negotiated.own.sequence_numbers.at(i), retries);
    }
    ibv_ah_attr path = negotiated.path_to_peer(0);
    to_peer_.reset(ibv_create_ah(own.domain, &path));
    check(to_peer_ != nullptr, "ibv_create_ah");
    return 0;  // the adapter cuts messages by itself
  }

  void set_destination(std::size_t queue_pair, ibv_qp_ex& making) override {
    ibv_wr_set_ud_addr(&making, to_peer_.get(), numbers_[queue_pair], kQueueKey);
  }

  [[nodiscard]] std::optional<Bytes> largest_message() const override {
    return verb_ == Verb::kSend ? std::nullopt : std::optional<Bytes>(facts_.max_rdma_size);
  }
  /// A device refuses memory with rights that it has no operation for.
  [[nodiscard]] std::optional<int> remote_access() const override {
    if (verb_ == Verb::kWrite) return IBV_ACCESS_REMOTE_WRITE;
    return verb_ == Verb::kRead ? IBV_ACCESS_REMOTE_READ : 0;
  }
  [[nodiscard]] bool completes_in_order() const override { return false; }
  [[nodiscard]] std::optional<bool> keeps_order() const override { return false; }

 private:
  void query(ibv_context* device) {
    const int error = library_.function<decltype(&efadv_query_device)>(kQueryEfa)(device, &facts_, sizeof facts_);
    if (error == EOPNOTSUPP) {
      throw Error(ExitStatus::kMissing, fmt::format("-c SRD: {} is not an EFA device, and only those have SRD; use -c "
                                                    "RC, or choose an EFA device with -d",
                                                    ibv_get_device_name(device->device)));
    }
    check_returned(error, kQueryEfa);
  }

  void check_verb(const std::string& device) const {
    const bool lacks_writes = verb_ == Verb::kWrite && (facts_.device_caps & kCanWrite) == 0;
    const bool lacks_reads = verb_ == Verb::kRead && (facts_.device_caps & kCanRead) == 0;
    if (!lacks_writes && !lacks_reads) return;
    throw Error(ExitStatus::kMissing,
                fmt::format("-c SRD: {} has no RDMA {}s, as EFA of an early generation; use rdma_send_bw or "
                            "rdma_send_lat, which every EFA device can carry out",
                            device, name(verb_)));
  }

  ProviderLibrary library_;
  decltype(&efadv_create_qp_ex) create_;
  Verb verb_;
  efadv_device_attr facts_{};
  AddressHandle to_peer_;
  std::vector<std::uint32_t> numbers_;  // the other rank's queue pairs
};

}  // namespace

std::unique_ptr<ProviderTransport> open_srd(const OpenDevice& device, Verb verb, const std::string& library) {
  return std::make_unique<SrdTransport>(device, verb, library);
}

}  // namespace fabricbench::verbs
