#include "common/rdma/agreement_watch.h"

#include <chrono>
#include <utility>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

// Looking now and then costs less than being woken for every agreement, of which there are thousands a second.
constexpr auto kInterval = std::chrono::milliseconds(50);

}  // namespace

AgreementWatch::AgreementWatch(std::function<void(const std::string&)> end)
    : end_(std::move(end)), thread_([this] { watch(); }) {}

AgreementWatch::~AgreementWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void AgreementWatch::arm(Seconds limit, std::string text) {
  const std::lock_guard lock(mutex_);
  deadline_ = now() + limit;
  text_ = std::move(text);
}

void AgreementWatch::disarm() {
  const std::lock_guard lock(mutex_);
  deadline_ = 0;
}

void AgreementWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    if (deadline_ == 0 || now() < deadline_) continue;
    deadline_ = 0;
    end_(text_);
  }
}

}  // namespace fabricbench
