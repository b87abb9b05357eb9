#include "common/host/huge_pages.h"

#include <string_view>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

std::uint64_t number_at(const std::filesystem::path& file, std::string_view key) {
  const auto text = find_value(file, key).value_or("");
  const std::string_view view = text;
  return parse_integer<std::uint64_t>(view.substr(0, view.find(' '))).value_or(0);
}

}  // namespace

HugePages huge_pages(const std::filesystem::path& root) {
  constexpr std::uint64_t kBytesPerUnit = 1024;  // the line reads `Hugepagesize:   2048 kB`
  const std::filesystem::path file = root / "proc/meminfo";
  const std::uint64_t free = number_at(file, "HugePages_Free");
  const std::uint64_t promised = number_at(file, "HugePages_Rsvd");
  return {number_at(file, "Hugepagesize") * kBytesPerUnit, number_at(file, "HugePages_Total"),
          free > promised ? free - promised : 0};
}

}  // namespace fabricbench::host
