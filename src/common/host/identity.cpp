#include "common/host/identity.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "common/core/plain_text.h"
#include "common/host/files.h"
#include "common/host/memory.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

// FNV-1a, 64 bits. Source: draft-eastlake-fnv, section 2. Each part ends in a zero byte, so that
// moving a character from one part to the next changes the hash.
std::uint64_t hash(std::initializer_list<std::string_view> parts) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t value = kOffsetBasis;
  for (const std::string_view part : parts) {
    for (const char character : part) {
      value = (value ^ static_cast<unsigned char>(character)) * kPrime;
    }
    value *= kPrime;
  }
  return value;
}

// The identity of one of this process's namespaces, such as `time:[4026531834]`; empty where the
// kernel has no namespaces of that type, so that all processes are in the same one.
std::string namespace_identity(const fs::path& root, std::string_view type) {
  std::error_code error;
  return fs::read_symlink(root / "proc/self/ns" / type, error).string();
}

utsname kernel_names() {
  utsname names{};
  if (uname(&names) != 0) throw std::system_error(errno, std::generic_category(), "uname");
  return names;
}

}  // namespace

std::uint64_t hash_of(std::string_view text) { return hash({text}); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "gethostname");
  }
  return as_host_name(name.data());
}

std::string name_of_process(std::int64_t rank, const std::string& host) {
  return fmt::format("rank {} on {}", rank, host);
}

std::string kernel_release() { return kernel_names().release; }

std::string processor_model(const fs::path& root) {
  const fs::path file = root / "proc/cpuinfo";
  if (const auto name = find_value(file, "model name")) return *name;
  const auto implementer = find_value(file, "CPU implementer");
  const auto part = find_value(file, "CPU part");
  if (implementer && part) return "CPU implementer " + *implementer + " part " + *part;
  return kernel_names().machine;
}

std::string boot_id(const fs::path& root) {
  const fs::path file = root / "proc/sys/kernel/random/boot_id";
  if (const auto id = read_first_line(file)) return *id;
  throw std::runtime_error("cannot read " + file.string() +
                           ", which tells this machine from others; is /proc mounted?");
}

std::uint64_t clock_domain(const fs::path& root) {
  return hash({"clock", boot_id(root), namespace_identity(root, "time")});
}

std::uint64_t network_domain(const fs::path& root) {
  return hash({"network", boot_id(root), namespace_identity(root, "net")});
}

std::uint64_t memory_domain(const fs::path& root) { return hash({"memory", boot_id(root)}); }

std::uint64_t cgroup_domain(const fs::path& root) {
  const auto limit = tightest_memory_limit(root);
  const std::string cgroup = limit ? limit->cgroup : memory_cgroup(root);
  // Two containers with cgroup namespaces of their own may both be in a cgroup called `/`.
  return hash({"cgroup", boot_id(root), namespace_identity(root, "cgroup"), cgroup});
}

}  // namespace fabricbench::host
