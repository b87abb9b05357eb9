// Orders hosts so that hosts with similar rates stand next to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fabricbench::cluster {

/// The profile of each host: its rates with all others, in percent of the usual rate.
class Profiles {
 public:
  /// `shares`: a square matrix, by receiver and then by sender; 1 is the usual rate, not a number: not measured. A host
  /// has its best share with itself, and its median share with partners that it was not measured with.
  Profiles(std::span<const float> shares, std::size_t hosts);

  [[nodiscard]] std::size_t hosts() const { return hosts_; }
  /// The mean difference of two hosts, in percent, over all partners and both directions. A partner counts for at most
  /// 30, so that a failed pair does not outweigh all others.
  [[nodiscard]] double difference(std::int32_t a, std::int32_t b) const;

 private:
  std::size_t hosts_;
  std::vector<std::uint8_t> percent_;  // by host: what it receives from each, then what it sends to each
};

/// The hosts in an order in which alike ones stand together. `hosts` come in the order that is wanted where nothing
/// speaks against it. Each joins the first class of whose first host it differs by less than `alike` percent; the
/// classes follow each other from the largest on, the next one always the one least different from the last (nearest
/// neighbour). Where most hosts are like no other, there are no classes, and `hosts` come back as they are. The same
/// profiles give the same order. Takes steps in proportion to hosts times classes times partners.
[[nodiscard]] std::vector<std::int32_t> in_order_of_likeness(const Profiles& profiles,
                                                             std::span<const std::int32_t> hosts, double alike);

}  // namespace fabricbench::cluster
