#include "common/watch/thread_stack.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

namespace fabricbench {
namespace {

constexpr int kNotYet = -1;
constexpr int kOfTheHandler = 2;  // itself, and the frame that the kernel makes for it

std::array<void*, 64> frames{};  // written by the handler
std::atomic<int> depth{kNotYet};

extern "C" void keep_frames(int /*signal*/) {
  depth.store(backtrace(frames.data(), static_cast<int>(frames.size())), std::memory_order_release);
}

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  return name ? name.get() : symbol;
}

std::string line_of(void* frame) {
  Dl_info found{};
  if (dladdr(frame, &found) == 0 || found.dli_fname == nullptr) return fmt::format("{}", frame);
  const std::string file = std::filesystem::path(found.dli_fname).filename();
  if (found.dli_sname != nullptr) return fmt::format("{} ({})", readable(found.dli_sname), file);
  const auto offset = reinterpret_cast<std::uintptr_t>(frame) - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  return fmt::format("{} + {:#x}", file, offset);
}

/// What the kernel says of a thread that does not answer.
std::string where_kept(pid_t thread) {
  std::string place;
  std::ifstream(fmt::format("/proc/self/task/{}/wchan", thread)) >> place;
  return place.empty() || place == "0" ? "" : fmt::format("; the kernel keeps it in {}", place);
}

}  // namespace

ThreadStack::ThreadStack() : thread_(pthread_self()), id_(gettid()) {
  static_cast<void>(backtrace(frames.data(), 1));  // loads what it needs, which a handler must not
  struct sigaction action {};
  action.sa_handler = keep_frames;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
}

ThreadStack::~ThreadStack() { std::signal(SIGRTMIN, SIG_IGN); }

std::vector<std::string> ThreadStack::read() const {
  constexpr int kLooks = 100;
  constexpr std::chrono::milliseconds kPause(10);
  depth = kNotYet;
  pthread_kill(thread_, SIGRTMIN);
  for (int look = 0; look < kLooks && depth.load(std::memory_order_acquire) == kNotYet; ++look) {
    std::this_thread::sleep_for(kPause);
  }
  if (depth == kNotYet) return {fmt::format("no stack: the thread does not answer{}", where_kept(id_))};
  std::vector<std::string> lines;
  for (int frame = kOfTheHandler; frame < depth; ++frame) {
    lines.push_back(line_of(frames.at(static_cast<std::size_t>(frame))));
  }
  return lines;
}

}  // namespace fabricbench
