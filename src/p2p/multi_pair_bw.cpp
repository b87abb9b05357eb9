// multi_pair_bw: windows of messages from one half of the ranks to the other, all pairs at once.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class MultiPairBandwidth final : public OneWay {
 public:
  [[nodiscard]] std::string_view name() const override { return "multi_pair_bw"; }
  [[nodiscard]] std::string_view default_pairs(const Options& /*options*/, bool /*one_host*/) const override {
    return "adjacent";
  }
};

}  // namespace

int multi_pair_bw(int argc, char** argv) {
  return run_program(
      message_program("multi_pair_bw",
                      "Bandwidth of messages from one half of the ranks to the other, all pairs at once.", true),
      MultiPairBandwidth(), argc, argv);
}

}  // namespace fabricbench
