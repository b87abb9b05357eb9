// An InfiniBand fabric as it was seen: nodes and the cables between their ports. It knows nothing of the text or the
// library that it came from.
#pragma once

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace fabricbench::fabric {

enum class NodeKind { kSwitch, kAdapter, kRouter };

struct Node {
  NodeKind kind = NodeKind::kSwitch;
  std::uint64_t guid = 0;
  std::string name;             ///< node description without the blanks around it
  int port_count = 0;           ///< 0: unknown
  std::uint32_t device_id = 0;  ///< 0: unknown
  int lid = 0;                  ///< 0: none, or unknown
};

struct End {
  std::size_t node = 0;
  int port = 0;
  auto operator<=>(const End&) const = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

/// Width and speed of a cable, such as 4 lanes of `HDR`.
struct Rate {
  int lanes = 0;
  std::string speed;
  auto operator<=>(const Rate&) const = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

struct Cable {
  End a;
  End b;
  Rate rate;
  [[nodiscard]] End other(std::size_t node) const { return a.node == node ? b : a; }
  [[nodiscard]] End own(std::size_t node) const { return a.node == node ? a : b; }
};

struct Fabric {
  std::vector<Node> nodes;
  std::vector<Cable> cables;
};

/// Gb/s of one lane; 0 for a name that is not known.
[[nodiscard]] double lane_speed(const std::string& speed);

/// Such as `4xHDR`.
[[nodiscard]] std::string text_of(const Rate& rate);

/// The host of an adapter and the adapter's name there, from its description: `node01 mlx5_0`. A description that
/// names no host, such as a firmware's own, is the host's name as a whole.
struct AdapterName {
  std::string host;
  std::string device;
};
[[nodiscard]] AdapterName adapter_name(const Node& node);

/// A node's name in messages: `ib1` of `MF0;ib1:SX6036/U1`, `ib1/L01` of `MF0;ib1:MCS8500/L01/U1`, or the GUID.
[[nodiscard]] std::string shown_name(const Node& node);

/// Whether an adapter serves the fabric itself, as aggregation nodes of switches and ports of UFM do.
[[nodiscard]] bool serves_the_fabric(const Node& node);

/// The number that a text begins with; `0x` may stand before one of base 16.
template <typename Number>
[[nodiscard]] std::optional<Number> number_at(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// A name with its numbers apart: `r1n07-ib` is `r#n#-ib`, 1 and 7.
struct NumberedName {
  std::string shape;
  std::vector<std::int64_t> numbers;
  std::vector<std::size_t> digits;  ///< of numbers with zeros before them; else 0
};
[[nodiscard]] NumberedName numbered_name(std::string_view name);

}  // namespace fabricbench::fabric
