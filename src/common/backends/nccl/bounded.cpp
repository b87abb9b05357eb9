#include "common/backends/nccl/bounded.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace fabricbench::nccl {

bool finish_within(Seconds limit, std::function<void()> work) {
  std::packaged_task<void()> task([work = std::move(work)] { work(); });
  std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  if (limit > 0 && done.wait_for(std::chrono::duration<Seconds>(limit)) != std::future_status::ready) return false;
  done.get();
  return true;
}

}  // namespace fabricbench::nccl
