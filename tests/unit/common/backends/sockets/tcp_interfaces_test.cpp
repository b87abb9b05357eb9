// Which of a host's addresses are taken.

#include "common/backends/sockets/interfaces.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_interfaces_test {

OwnAddress own(const std::string& address, const std::string& mask) {
  return {*parse_address(address), *parse_address(mask)};
}

std::vector<Interface> some_interfaces() {
  return {{"lo", true, true, {own("127.0.0.1", "255.0.0.0")}},
          {"eth0",
           true,
           true,
           {own("10.0.0.1", "255.255.255.0"), own("fd00::1", "ffff:ffff:ffff:ffff::"),
            own("fe80::1", "ffff:ffff:ffff:ffff::")}},
          {"eth1", true, false, {own("10.0.1.1", "255.255.255.0")}},
          {"ib0", false, false, {}},
          {"ib1", true, true, {}},
          {"usb0", true, true, {own("169.254.3.1", "255.255.0.0")}}};
}

Texts chosen(const std::string& asked) {
  Texts texts;
  for (const OwnAddress& one : choose_addresses(asked, some_interfaces())) texts.push_back(to_text(one.address));
  return texts;
}

TEST(ChooseAddresses, TakesAllThatAreUpAndReachFurtherThanTheirLink) {
  EXPECT_EQ(chosen(""), (Texts{"127.0.0.1", "10.0.0.1", "fd00::1"}));
}

TEST(ChooseAddresses, TakesAnInterfaceByItsNameItsAddressOrItsNetwork) {
  EXPECT_EQ(chosen("eth0"), (Texts{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(chosen("10.0.0.1"), (Texts{"10.0.0.1"}));
  EXPECT_EQ(chosen("10.0.0.77"), (Texts{"10.0.0.1"}));
  EXPECT_EQ(chosen("fd00::77"), (Texts{"fd00::1"}));
  EXPECT_EQ(chosen("usb0"), (Texts{"169.254.3.1"}));
}

TEST(ChooseAddresses, SaysWhatIsWrongAndWhatIsThere) {
  const std::string there =
      "choose one of: lo (127.0.0.1), eth0 (10.0.0.1, fd00::1, fe80::1), eth1 (no link), "
      "ib0 (down), ib1 (no address), usb0 (169.254.3.1)";
  struct Case {
    std::string asked;
    ExitStatus status;
    std::string wrong;
  };
  const Case cases[] = {
      {"ib0", ExitStatus::kMissing, "is down; set it up, or "},
      {"eth1", ExitStatus::kMissing, "has no link; set it up, or "},
      {"ib1", ExitStatus::kMissing, "has no address that other hosts could connect to; set it up, or "},
      {"eth7", ExitStatus::kUsage, "is neither an interface nor in the network of one; "},
      {"10.9.9.9", ExitStatus::kUsage, "is neither an interface nor in the network of one; "}};
  for (const Case& one : cases) {
    const Outcome outcome = outcome_of([&] { (void)chosen(one.asked); });
    EXPECT_EQ(outcome.status, one.status);
    EXPECT_EQ(outcome.error, fmt::format("--interface: '{}' {}{}", one.asked, one.wrong, there));
  }
  EXPECT_EQ(outcome_of([&] { (void)chosen("10.0.1.9"); }).error.find("--interface: 'eth1' has no link"), 0U);
}

TEST(Interfaces, HaveALoopback) {
  const std::vector<Interface> known = interfaces();
  EXPECT_EQ(interface_of(*parse_address("127.0.0.1"), known), "lo") << listed(known);
  EXPECT_EQ(interface_of(*parse_address("192.0.2.255"), known), "");
}

}  // namespace tcp_interfaces_test
