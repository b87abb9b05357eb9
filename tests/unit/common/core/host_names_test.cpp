#include "common/core/plain_text.h"

#include <gtest/gtest.h>

#include <string>

namespace fabricbench {
namespace host_names_test {

TEST(HostNames, OfHostsAndUsersAreTaken) {
  for (const std::string name :
       {"node01", "n", "10.0.0.1", "fe80::1%eth0", "alice@node01", "a.b-c_d@fe80::1", "_dc._x"}) {
    EXPECT_EQ(fault_of_host_name(name), "") << name;
    EXPECT_EQ(as_host_name(name), name);
  }
}

TEST(HostNames, ThatWouldBreakALineAListOrACommandAreNot) {
  for (const std::string name : {"a\nSlow: b", "a b", "a,b", "a;b", "a#", "$(a)", "a'b", "\x1b[2J", "a\\b", "a[1-2]",
                                 "caf\xc3\xa9", "a/b", "a=b", "a@b@c", "a:b@c", "a%b@c"}) {
    EXPECT_NE(fault_of_host_name(name), "") << name;
    EXPECT_EQ(fault_of_host_name(as_host_name(name)), "") << name;
  }
  EXPECT_EQ(fault_of_host_name("a;b"), "has ';', which cannot be in a host's name");
  EXPECT_EQ(fault_of_host_name("a=b@c"), "has '=', which cannot be in a user's name");
  EXPECT_EQ(as_host_name("node 1;x"), "node_1_x");
}

TEST(HostNames, ThatLookLikeOptionsAreNot) {
  for (const std::string name : {"-oProxyCommand", "-F@node", "node@-F", "--", "-oProxyCommand=x@fe80::1"}) {
    EXPECT_NE(fault_of_host_name(name).find("begins with '-', as options do"), std::string::npos) << name;
    EXPECT_EQ(fault_of_host_name(as_host_name(name)), "") << name;
  }
}

TEST(HostNames, HaveALetterOrADigitAndAreNotTooLong) {
  for (const std::string& name : {std::string("."), std::string("%"), std::string("%n"), std::string("a%b"),
                                  std::string("_.:"), std::string("alice@."), std::string(256, 'a')}) {
    EXPECT_NE(fault_of_host_name(name), "") << name;
    EXPECT_EQ(fault_of_host_name(as_host_name(name)), "") << name;
  }
  EXPECT_EQ(fault_of_host_name(std::string(255, 'a')), "");
  EXPECT_EQ(fault_of_host_name("a%b"), "has '%', which belongs to IPv6 addresses only");
}

TEST(HostNames, AreNotEmpty) {
  for (const std::string name : {"", "@node", "alice@", "@"}) {
    EXPECT_NE(fault_of_host_name(name), "") << name;
    EXPECT_EQ(fault_of_host_name(as_host_name(name)), "") << name;
  }
}

}  // namespace host_names_test
}  // namespace fabricbench
