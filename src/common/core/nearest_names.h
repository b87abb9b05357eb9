// The names that somebody may have meant by one that does not exist.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {

/// Letters to change, add, take away or swap with the next to make `to` of `from`; at most 1 where `from` is the
/// beginning of `to`, because perftest and nccl-tests take shortened names.
[[nodiscard]] std::size_t name_distance(std::string_view from, std::string_view to);

/// A name that exists, as readers are told it, and how far it is from the given one.
struct NearName {
  std::size_t distance;
  std::string text;
};

/// The texts of up to three names that may be slips of `given`, nearest first.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view given, std::vector<NearName> names);

/// The same for a message: `the nearest is --minbytes`, or `the nearest are list, table`; empty if there is none.
[[nodiscard]] std::string the_nearest(std::string_view given, std::vector<NearName> names);

}  // namespace fabricbench
