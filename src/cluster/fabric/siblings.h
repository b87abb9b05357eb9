// Cables between switches, and what is expected of them: what the siblings of two switches do. Siblings are the leaves
// that share spines, the spines that share leaves.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/fabric/fabric.h"
#include "cluster/fabric/shape.h"

namespace fabricbench::fabric {

using SwitchPair = std::pair<std::size_t, std::size_t>;  ///< a switch and one of the next tier
using Neighbours = std::map<std::size_t, std::set<std::size_t>>;

/// `above`: by the neighbours of the next tier; else by those below.
class Siblings {
 public:
  Siblings(const Fabric& fabric, const Shape& shape);

  [[nodiscard]] const Neighbours& neighbours(bool above) const { return above ? up_ : down_; }
  [[nodiscard]] const std::vector<std::size_t>& of(std::size_t one, bool above) const;

  [[nodiscard]] const std::vector<std::size_t>& cables(SwitchPair pair) const;
  [[nodiscard]] int count(SwitchPair pair) const { return static_cast<int>(cables(pair).size()); }

  /// Number of cables that two switches should have; nothing: there are no siblings, or they disagree.
  [[nodiscard]] std::optional<int> expected_count(SwitchPair pair) const;

  /// Where a port of this number leads from most of a switch's siblings.
  [[nodiscard]] std::optional<std::size_t> usual_neighbour(std::size_t one, int port, bool above) const;

 private:
  void add(std::size_t cable);
  void find(bool above);
  [[nodiscard]] std::map<std::size_t, std::size_t> alike(std::size_t one, bool above) const;
  [[nodiscard]] bool are_of_two_rails(std::size_t one, std::size_t other) const;
  [[nodiscard]] std::size_t ports_alike(std::size_t one, std::size_t other, bool above) const;
  [[nodiscard]] std::optional<int> usual_count(SwitchPair pair) const;
  [[nodiscard]] std::optional<bool> are_connected_elsewhere(SwitchPair pair) const;

  const Fabric& fabric_;
  const Shape& shape_;
  std::map<SwitchPair, std::vector<std::size_t>> cables_;
  Neighbours up_;
  Neighbours down_;
  std::map<std::pair<std::size_t, bool>, std::vector<std::size_t>> siblings_;
};

}  // namespace fabricbench::fabric
