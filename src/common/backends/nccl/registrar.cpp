#include "common/backends/nccl/registrar.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/stream.h"
#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

constexpr int kSymmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC

/// Data of the registering thread, owned by it: a window waits for the other processes.
struct Work {
  std::shared_ptr<const Library> library;
  Registration kind;
  std::vector<LocalRank> local;
  std::vector<ncclComm_t> communicators;
  std::vector<std::byte*> blocks;
  std::size_t bytes;
  std::vector<void*> handles;

  void enrol() {
    for_each_rank([this](std::size_t i) {
      const Functions& nccl = library->functions();
      if (kind == Registration::kSymmetric) {
        check(*library, nccl.open_window(communicators[i], blocks[i], bytes, &handles[i], kSymmetric),
              "ncclCommWindowRegister", local[i].place);
      } else {
        check(*library, nccl.enrol(communicators[i], blocks[i], bytes, &handles[i]), "ncclCommRegister",
              local[i].place);
      }
    });
  }

  void withdraw() {
    for_each_rank([this](std::size_t i) {
      if (handles[i] == nullptr) return;  // NCCL had nothing to do at registration
      const Functions& nccl = library->functions();
      if (kind == Registration::kSymmetric) {
        check(*library, nccl.close_window(communicators[i], handles[i]), "ncclCommWindowDeregister", local[i].place);
      } else {
        check(*library, nccl.withdraw(communicators[i], handles[i]), "ncclCommDeregister", local[i].place);
      }
    });
  }

  /// In a group, because the windows of the ranks wait for each other.
  template <typename Action>
  void for_each_rank(Action action) {
    Group group(*library);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const cuda::DeviceGuard device(local[i].device);
      action(i);
    }
    group.end();
  }
};

std::shared_ptr<Work> work_for(const Communicators& communicators, Registration kind,
                               const std::vector<std::byte*>& blocks, std::size_t bytes) {
  auto work =
      std::make_shared<Work>(Work{communicators.library(), kind, communicators.plan().local, {}, blocks, bytes, {}});
  for (int i = 0; i < communicators.size(); ++i) work->communicators.push_back(communicators.get(i));
  work->handles.resize(blocks.size(), nullptr);
  return work;
}

}  // namespace

Registration possible_registration(const Library& library, Registration wanted) {
  const bool local_only = !library.has(Feature::kWindows) && library.has(Feature::kRegistration);
  return wanted == Registration::kSymmetric && local_only ? Registration::kLocal : wanted;
}

Registrar::Registrar(const Communicators& communicators, Registration kind)
    : communicators_(&communicators), kind_(kind) {
  if (kind == Registration::kNone) return;
  const Feature needed = kind == Registration::kSymmetric ? Feature::kWindows : Feature::kRegistration;
  const std::string reason = communicators.library()->why_not(needed);
  if (!reason.empty()) throw Error(ExitStatus::kMissing, fmt::format("-R {}: {}", static_cast<int>(kind), reason));
}

void Registrar::enrol(const std::vector<std::byte*>& blocks, std::size_t bytes) {
  if (kind_ == Registration::kNone) return;
  const auto work = work_for(*communicators_, kind_, blocks, bytes);
  const Seconds limit = communicators_->plan().time_limit;
  if (!finish_within(limit, [work] { work->enrol(); })) {
    throw Error(ExitStatus::kTimeout,
                fmt::format("nccl: {}: a buffer was not registered within {} s", work->local.front().place, limit));
  }
  enrolled_.push_back({blocks, bytes, std::move(work->handles)});
}

void Registrar::withdraw(const std::vector<std::byte*>& blocks) noexcept {
  try {
    const auto entry = std::find_if(enrolled_.begin(), enrolled_.end(),
                                    [&](const Enrolled& one) { return one.blocks.front() == blocks.front(); });
    if (entry == enrolled_.end() || communicators_->aborted()) return;
    const auto work = work_for(*communicators_, kind_, blocks, 0);
    work->handles = std::move(entry->handles);
    enrolled_.erase(entry);
    if (!finish_within(communicators_->plan().time_limit, [work] { work->withdraw(); })) {
      fmt::print(stderr, "nccl: {}: a buffer's registration has not ended in time\n", work->local.front().place);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
}

nccl_device::Place Registrar::place_of(int local_rank, const void* address) const {
  const auto rank = static_cast<std::size_t>(local_rank);
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (const Enrolled& one : enrolled_) {
    const std::uintptr_t offset =
        begin - reinterpret_cast<std::uintptr_t>(one.blocks[rank]);  // huge if it is before the window
    if (offset >= one.bytes) continue;
    if (one.handles[rank] != nullptr) return {one.handles[rank], offset};
    throw Error(ExitStatus::kMissing,
                "nccl: NCCL makes no symmetric windows on this machine, which -D and --one-sided take");
  }
  throw Error(ExitStatus::kFailure,
              fmt::format("nccl: {}: a buffer lies in no symmetric window", communicators_->plan().local[rank].place));
}

}  // namespace fabricbench::nccl
