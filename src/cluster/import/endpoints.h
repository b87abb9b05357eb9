#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/import/imported.h"

namespace fabricbench::cluster {

/// The ranks of a matrix: a host may have several, which then are its rails `rank0`, `rank1` and so on.
class Endpoints {
 public:
  explicit Endpoints(std::vector<std::string> hosts);

  [[nodiscard]] std::size_t size() const { return hosts_.size(); }
  /// Makes all hosts known, also those without a reading.
  void add_hosts(Imported& found) const;
  /// Between two of them, without a figure as yet. Both are below size().
  [[nodiscard]] Reading between(Imported& found, std::size_t from, std::size_t to, const ImportedKind& kind) const;

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> rails_;  // by rank; empty where every host has one
};

}  // namespace fabricbench::cluster
