// What holds for all checks on all hosts.

#include "common/host/checks/checks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include <fmt/format.h>

#include "common/host/checks/fake_host.h"
#include "fake_root.h"

namespace fabricbench::host {
namespace {

using Facts = std::vector<HostFact>;

/// All that checks say, for messages of tests.
std::string said_by(const CheckResult& result) {
  std::string text;
  for (const CheckFinding& each : result.findings) text += fmt::format("\n  {} {}", each.device, each.measured);
  for (const UnseenSource& each : result.unseen) text += fmt::format("\n  unseen {}: {}", each.source, each.reason);
  return fmt::format("{} outcome {}{}", result.check, static_cast<int>(result.outcome), text);
}

TEST(ChecksTest, FindNothingOnHealthyHosts) {
  for (const auto& [name, make] : healthy_hosts()) {
    const FakeHost host = make();
    for (const CheckResult& result : examine(host).results) {
      const bool is_quiet = result.outcome == CheckOutcome::kOk || result.outcome == CheckOutcome::kAbsent;
      EXPECT_TRUE(is_quiet) << name << ": " << said_by(result);
    }
  }
}

/// Whether a check still says ok, or that there is nothing of the kind, though it could not see this.
bool is_blind_to(const Check& check, const FakeHost& host) {
  const CheckOutcome outcome = run_check(check, host).outcome;
  return outcome == CheckOutcome::kOk || outcome == CheckOutcome::kAbsent;
}

TEST(ChecksTest, AreNeverOkAboutWhatIsDenied) {
  for (const auto& [name, make] : healthy_hosts()) {
    for (const Check& check : all_checks()) {
      const FakeHost host = make();
      ASSERT_NE(run_check(check, host).outcome, CheckOutcome::kFinding);
      for (const std::string& asked : host.asked()) {
        FakeHost other = host;
        other.deny(asked);
        EXPECT_FALSE(is_blind_to(check, other)) << name << ": " << check.name << " without " << asked;
      }
    }
  }
}

/// What is not there may be an answer: then it is another one, or nothing of the kind. What the host never had cannot
/// be taken away; to be denied it is in the test above.
TEST(ChecksTest, AreNeverOkAsBeforeAboutWhatIsTakenAway) {
  for (const auto& [name, make] : healthy_hosts()) {
    for (const Check& check : all_checks()) {
      const FakeHost host = make();
      const CheckResult before = run_check(check, host);
      if (before.outcome != CheckOutcome::kOk) continue;
      for (const std::string& asked : host.answered()) {
        FakeHost other = host;
        other.take_away(asked);
        const CheckResult after = run_check(check, other);
        const bool is_same = after.outcome == CheckOutcome::kOk && after.facts == before.facts;
        EXPECT_FALSE(is_same) << name << ": " << check.name << " without " << asked;
      }
    }
  }
}

TEST(ChecksTest, HaveNamesOfTheirOwnAndSayWhatTheyRead) {
  std::set<std::string_view> names;
  for (const Check& check : all_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_FALSE(check.what.empty()) << check.name;
    EXPECT_FALSE(check.reads.empty()) << check.name;
    EXPECT_NE(check.look, nullptr) << check.name;
  }
}

TEST(ChecksTest, CompareOnlyWhatTheyDeclare) {
  for (const auto& [name, make] : healthy_hosts()) {
    const FakeHost host = make();
    for (const Check& check : all_checks()) {
      std::set<std::string_view> keys;
      for (const Compared& compared : check.compared) keys.insert(compared.key);
      for (const HostFact& fact : run_check(check, host).facts) EXPECT_EQ(keys.count(fact.key), 1U) << fact.key;
    }
  }
}

bool is_absent(const View& view, const std::string& source) {
  try {
    static_cast<void>(view.text(source));
  } catch (const NotSeen& reason) {
    return reason.is_absent();
  }
  return false;
}

/// A copy with /sys/class and /etc says nothing of what is elsewhere.
TEST(FolderViewTest, KnowsOnlyWhatItsFirstFoldersShow) {
  const test::FakeRoot root;
  root.make_directory("sys/class");
  root.make_directory("etc");
  const FolderView copy(root.path());
  for (const char* source : {"/sys/class/infiniband", "/sys/class/net/eth0/mtu", "/etc/nccl.conf", "/etc/ucx/ucx.conf"})
    EXPECT_TRUE(is_absent(copy, source)) << source;
  for (const char* source : {"/sys/bus/pci/devices", "/proc/net/bonding", "/home/anna/ucx.conf", "env/NCCL_IB_HCA"})
    EXPECT_FALSE(is_absent(copy, source)) << source;
}

/// A check that reads nothing cannot say ok.
TEST(ChecksTest, CouldNotCheckWithoutReadingAnything) {
  const Check idle{.name = "idle", .what = "", .reads = "", .look = [](Look& /*look*/) {}};
  EXPECT_EQ(run_check(idle, host_with_nothing()).outcome, CheckOutcome::kNotChecked);
}

}  // namespace
}  // namespace fabricbench::host
