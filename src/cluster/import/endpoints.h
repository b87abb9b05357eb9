#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// A figure for each host with each other one. Rows send.
struct HostMatrix {
  std::vector<std::string> hosts;
  std::vector<std::vector<std::optional<double>>> rows;
  std::vector<std::int64_t> lines;  ///< by row
};

/// Whether both places of each pair have the same value, which then is of both directions together.
[[nodiscard]] bool is_symmetric(const HostMatrix& matrix);

/// Adds all figures but 0, which means that the two were not measured.
void add_matrix(Imported& found, const HostMatrix& matrix, const ImportedKind& kind, double unit);

}  // namespace fabricbench::cluster
