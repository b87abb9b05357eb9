#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/device.h"
#include "common/core/ownership.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// A type of connection that only one provider has, and that verbs itself can neither create nor address: what sets its
/// queue pairs apart from those of others. Requests are posted by ibv_wr_*, see ProviderConnection.
class ProviderTransport : public InterfaceBase {
 public:
  /// A queue pair in the reset state, to which ibv_wr_* post; null on failure, with errno. The type in `wanted` is
  /// ignored.
  [[nodiscard]] virtual QueuePair create(ibv_pd* domain, const ibv_qp_init_attr& wanted) = 0;
  /// Gets ready to be reached, once the ranks have agreed; returns the number by which each queue pair is reached.
  /// Throws Error (missing).
  [[nodiscard]] virtual std::vector<std::uint32_t> open_to_peer(const NegotiatedSettings& negotiated,
                                                                const OwnQueuePairs& own) = 0;
  /// Brings the queue pairs into the state in which they send; `numbers` are the other rank's from open_to_peer.
  /// Returns the path MTU in bytes; 0: there is none. Throws Error (missing).
  [[nodiscard]] virtual int connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                                    std::span<const std::uint32_t> numbers) = 0;
  /// Gives the request that is being made on a queue pair its destination.
  virtual void set_destination(std::size_t queue_pair, ibv_qp_ex& making) = 0;

  /// The largest message of the verb that it was opened for, if the port's own limit is not what counts.
  [[nodiscard]] virtual std::optional<Bytes> largest_message() const { return std::nullopt; }
  /// The remote access that memory is registered with (ibv_access_flags), if it may not be that to all operations.
  [[nodiscard]] virtual std::optional<int> remote_access() const { return std::nullopt; }
  /// Whether requests of a queue pair complete in the order in which they were posted. If not, all must be signaled.
  [[nodiscard]] virtual bool completes_in_order() const = 0;
  /// See VerbsConnection::keeps_order.
  [[nodiscard]] virtual std::optional<bool> keeps_order() const = 0;
};

/// The operations that requests of this verb are made of (enum ibv_qp_create_send_ops_flags).
[[nodiscard]] constexpr std::uint64_t operations_of(Verb verb) {
  switch (verb) {
    case Verb::kWrite: return IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    case Verb::kRead: return IBV_QP_EX_WITH_RDMA_READ;
    case Verb::kAtomic: return IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
    default: return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  }
}

/// `wanted` for the calls of providers, with the operations of the verb.
[[nodiscard]] ibv_qp_init_attr_ex extended(ibv_pd* domain, const ibv_qp_init_attr& wanted, Verb verb);

/// The functions of libmlx5 that DC needs.
inline constexpr const char* kKnowsMlx5 = "mlx5dv_is_supported";
inline constexpr const char* kCreateDc = "mlx5dv_create_qp";
inline constexpr const char* kExtendDc = "mlx5dv_qp_ex_from_ibv_qp_ex";

/// DC (Dynamically Connected) of mlx5 adapters, as reliable and as ordered as RC: a queue pair, the initiator (DCI),
/// sends to any number of targets (DCT) of other processes, one after the other, which saves connections. Here each has
/// one, as in perftest. Targets take their receives from a shared queue. Throws Error (missing): no library, or not an
/// mlx5 device.
[[nodiscard]] std::unique_ptr<ProviderTransport> open_dc(const OpenDevice& device, Verb verb,
                                                         const std::string& library = "libmlx5.so.1");

/// The functions of libefa that SRD needs.
inline constexpr const char* kCreateSrd = "efadv_create_qp_ex";
inline constexpr const char* kQueryEfa = "efadv_query_device";

/// SRD (Scalable Reliable Datagram) of EFA adapters, which spread a queue pair's packets over many paths: every message
/// arrives once, but in any order, and so do completions. Throws Error (missing): no library, not an EFA device, or one
/// without RDMA reads or writes, if that is the verb.
[[nodiscard]] std::unique_ptr<ProviderTransport> open_srd(const OpenDevice& device, Verb verb,
                                                          const std::string& library = "libefa.so.1");

/// The library of a provider of libibverbs, such as libmlx5.so.1, which only an option needs: loaded at run time, so
/// that programs start without it. It is the copy that libibverbs uses itself, if the device is of this provider.
class ProviderLibrary {
 public:
  /// Words for messages.
  struct Need {
    std::string option;  ///< what needs the library, such as `-c SRD`
    std::string advice;  ///< what to do without it
  };

  /// Throws Error (missing) with the reason if the library cannot be loaded.
  ProviderLibrary(std::string name, Need need);

  /// Throws Error (missing) if the library does not have it, as one of an older rdma-core.
  template <typename Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

 private:
  [[nodiscard]] void* address_of(const char* function) const;

  std::string name_;
  Need need_;
  Handle<void, &dlclose> library_;
};

}  // namespace fabricbench::verbs
