#include "common/backends/verbs/host_reader.h"

#include <system_error>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/read_on_host.h"

namespace fabricbench::verbs {

HostReader::~HostReader() { (void)end(); }

void HostReader::launch(const ReaderTask& task) {
  const auto now_ns = [] { return static_cast<std::uint64_t>(now() * 1e9); };
  try {
    thread_ = std::thread([task, words = words_.get(), now_ns] {
      read_on_host(task, *words, now_ns, [] { std::this_thread::yield(); });
    });
  } catch (const std::system_error& error) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot start the thread that reads in place of a GPU: {}; raise the limit on processes "
                            "(ulimit -u)",
                            error.what()));
  }
}

void HostReader::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace fabricbench::verbs
