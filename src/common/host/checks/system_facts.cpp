#include "common/host/checks/system_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <link.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "common/host/checks/view.h"
#include "common/host/environment.h"
#include "common/host/files.h"
#include "common/host/identity.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& rest, int error) {
  throw NotSeen("system/" + rest, std::generic_category().message(error), error == ENOENT);
}

/// Bits of a mask that are set.
template <typename Bytes>
int prefix_length(const Bytes& mask) {
  int bits = 0;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&mask);
  for (std::size_t i = 0; i < sizeof mask; ++i) bits += std::popcount(bytes[i]);
  return bits;
}

/// `10.0.0.7/24`; empty for what is no IP address.
std::string address_text(const ifaddrs& entry) {
  const int family = entry.ifa_addr == nullptr ? AF_UNSPEC : entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return "";
  std::array<char, NI_MAXHOST> text{};
  const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (::getnameinfo(entry.ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "";
  std::string address = std::string(text.data()).substr(0, std::string_view(text.data()).find('%'));
  if (entry.ifa_netmask == nullptr) return address;
  const int bits = family == AF_INET
                       ? prefix_length(reinterpret_cast<const sockaddr_in*>(entry.ifa_netmask)->sin_addr)
                       : prefix_length(reinterpret_cast<const sockaddr_in6*>(entry.ifa_netmask)->sin6_addr);
  return fmt::format("{}/{}", address, bits);
}

std::string free_bytes(const std::string& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) refuse("free" + path, errno);
  return fmt::format("{} {}", facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize);
}

/// The addresses of a name, each once, in one line each.
std::string addresses_of(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  if (error != 0) throw NotSeen("system/address/" + name, ::gai_strerror(error), error == EAI_NONAME);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::set<std::string> texts;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
      texts.insert(text.data());
    }
  }
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

/// Whether a device can be opened as a job opens it: the kernel may refuse a node that is there, by its mode or by the
/// devices of a control group.
std::string whether_opens(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) {
    ::close(descriptor);
    return "yes";
  }
  if (errno == EPERM || errno == EACCES || errno == ENXIO || errno == ENODEV) {
    return std::generic_category().message(errno);
  }
  refuse("opens" + path, errno);
}

const char* link_state(unsigned flags) {
  if ((flags & IFF_UP) == 0) return "down";
  return (flags & IFF_RUNNING) != 0 ? "up" : "no-carrier";
}

std::string interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) refuse("interfaces", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::set<std::string> lines;
  std::set<std::string> with_address;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const std::string address = address_text(*each);
    if (address.empty()) continue;
    with_address.insert(each->ifa_name);
    lines.insert(fmt::format("{} {} {}\n", each->ifa_name, link_state(each->ifa_flags), address));
  }
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (with_address.count(each->ifa_name) > 0) continue;
    lines.insert(fmt::format("{} {}\n", each->ifa_name, link_state(each->ifa_flags)));
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string home() {
  const passwd* const user = ::getpwuid(::getuid());  // NOLINT(concurrency-mt-unsafe): nobody else asks
  if (user == nullptr || user->pw_dir == nullptr) throw NotSeen("system/home", "the user is not in the list of users");
  return user->pw_dir;
}

/// Source: adjtimex(2).
std::string clock_state() {
  timex facts{};
  const int state = ::adjtimex(&facts);
  if (state < 0) refuse("clock", errno);
  const bool is_synchronized = (facts.status & STA_UNSYNC) == 0 && state != TIME_ERROR;
  return fmt::format("{} {}", is_synchronized ? "synchronized" : "unsynchronized", facts.maxerror);
}

std::string program_path(const std::string& name) {
  std::error_code error;
  const fs::path path = fs::canonical(found_on_path(name), error);
  if (error) throw NotSeen("system/program/" + name, "is not on the PATH", true);
  return path.string();
}

std::string program_hash() {
  const auto program = read_text("/proc/self/exe");
  if (!program) refuse("program_hash", EACCES);
  return fmt::format("{:016x}", hash_of(*program));
}

std::string load(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fmt::format("fails {}", ::dlerror());  // NOLINT(concurrency-mt-unsafe): a child
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return "loads " + name;
  std::error_code error;
  const fs::path real = fs::canonical(map->l_name, error);
  return fmt::format("loads {}", error ? map->l_name : real.string());
}

/// What the other end of a pipe says until it closes it, or nothing if that takes too long.
std::optional<std::string> read_within(int descriptor, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::string text;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 1024> part{};
    const ssize_t bytes = ::read(descriptor, part.data(), part.size());
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

/// A library runs code when it is loaded: in a child, what that does and how long it takes is of no consequence here.
std::string whether_library_loads(const std::string& name) {
  constexpr std::chrono::seconds kLimit(5);
  const std::string rest = "library/" + name;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) refuse(rest, errno);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string answer = load(name);
    ::_exit(::write(ends[1], answer.data(), answer.size()) > 0 ? 0 : 1);
  }
  const int error = errno;
  ::close(ends[1]);
  const auto answer = child > 0 ? read_within(ends[0], kLimit) : std::nullopt;
  ::close(ends[0]);
  if (child < 0) refuse(rest, error);
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  if (!answer) throw NotSeen("system/" + rest, fmt::format("took more than {} s to load", kLimit.count()));
  return answer->empty() ? "fails: the process that loads it ends" : *answer;
}

}  // namespace

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text(*each);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets any
  if (value == nullptr) throw NotSeen("env/" + name, "is not set", true);
  return value;
}

std::string system_fact(const std::string& rest) {
  const auto behind = [&](std::string_view begin) { return rest.substr(begin.size()); };
  if (rest == "host_name") return host_name();
  if (rest == "kernel") return kernel_release();
  if (rest == "interfaces") return interfaces();
  if (rest == "home") return home();
  if (rest == "clock") return clock_state();
  if (rest == "program_hash") return program_hash();
  if (rest.starts_with("free/")) return free_bytes(behind("free"));
  if (rest.starts_with("opens/")) return whether_opens(behind("opens"));
  if (rest.starts_with("address/")) return addresses_of(behind("address/"));
  if (rest.starts_with("program/")) return program_path(behind("program/"));
  if (rest.starts_with("library/")) return whether_library_loads(behind("library/"));
  throw NotSeen("system/" + rest, "is not known");
}

}  // namespace fabricbench::host
