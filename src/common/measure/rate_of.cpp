#include "common/measure/rate_of.h"

#include <algorithm>
#include <vector>

#include "common/core/clock.h"
#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr int kMessages = 16;  // per window
constexpr Seconds kBudget = 0.2;
constexpr double kFewestWindows = 5;
constexpr double kMostWindows = 1000;

}  // namespace

double rate_of(Session& session, const Test& test, std::span<const std::byte> send, std::span<std::byte> recv,
               const mpi::Communicator& pair) {
  Backend& backend = session.backend(0);
  backend.prepare(send, recv);
  ReceiveTime receiving;
  const Operands operands{.send = send.data(),
                          .recv = recv.data(),
                          .count = send.size(),
                          .datatype = DataType::kUint8,
                          .reduction = Reduction::kNone,
                          .root = -1,
                          .rank = pair.rank(),
                          .ranks = pair.size(),
                          .stage = 0,
                          .counts = nullptr,
                          .receiving = &receiving};
  const Windows& of_test = *test.windows();
  const auto window = [&] {
    const Seconds began = now();
    receiving.began = began;
    for (int i = 0; i < kMessages; ++i) test.start(backend, operands);
    of_test.finish(backend, operands);
    const Seconds took = now() - began;
    of_test.answer(backend, operands);
    return took;
  };
  (void)window();
  const double fit = kBudget / pair.max(window());
  const auto windows = static_cast<int>(std::clamp(fit, kFewestWindows, kMostWindows));
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(windows));
  for (int i = 0; i < windows; ++i) times.push_back(window());
  backend.wait_for_remote_writes();
  // The rank that only receives may have nothing to wait for.
  const Seconds time = pair.max(median(times));
  return test.counted_share(pair.size()) * static_cast<double>(send.size()) * kMessages / time;
}

}  // namespace fabricbench
