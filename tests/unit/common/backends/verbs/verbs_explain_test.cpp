// What errors of libibverbs are said to mean.

#include "common/backends/verbs/explain.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <set>
#include <string>

#include "common/backends/verbs/device.h"
#include "missing_error.h"

using namespace fabricbench;
using namespace fabricbench::verbs;
using fabricbench::test::missing_error;

namespace verbs_explain_test {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ExplainStatus, SaysSomethingElseOfEach) {
  std::set<std::string> texts;
  for (int status = IBV_WC_SUCCESS; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
    const std::string text = explain_status(static_cast<ibv_wc_status>(status));
    EXPECT_FALSE(has(text, "(status ")) << text;
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(IBV_WC_TM_RNDV_INCOMPLETE) + 1);
}

TEST(ExplainStatus, NamesLikelyCauses) {
  EXPECT_EQ(
      explain_status(IBV_WC_RETRY_EXC_ERR),
      "retry exceeded: no acknowledgement came; the link or the other end is down, the GID (-x) is wrong, the path "
      "MTU (-m) is larger than what switches let through, a firewall drops UDP port 4791 (RoCE), or packets are "
      "lost for lack of flow control (PFC); a path that is gone for moments takes a longer timeout (-u 20)");
  EXPECT_EQ(explain_status(IBV_WC_REM_ACCESS_ERR),
            "remote access error: the other end's memory region does not allow this; its process has ended, the key or "
            "address is wrong or no longer valid, or an atomic's address is not a multiple of 8");
  EXPECT_TRUE(has(explain_status(IBV_WC_RNR_RETRY_EXC_ERR), "give it more receives (-r)"));
  EXPECT_TRUE(has(explain_status(IBV_WC_WR_FLUSH_ERR), "an earlier completion"));
}

TEST(ExplainStatus, FallsBackOnTheLibrarysWords) {
  EXPECT_TRUE(has(explain_status(static_cast<ibv_wc_status>(31)), " (status 31)"));
}

TEST(ExitStatusOf, IsATimeoutWhereTheOtherSideDidNotAnswer) {
  const std::set<ibv_wc_status> timeouts = {IBV_WC_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_RESP_TIMEOUT_ERR};
  for (int number = IBV_WC_LOC_LEN_ERR; number <= IBV_WC_TM_RNDV_INCOMPLETE; ++number) {
    const auto status = static_cast<ibv_wc_status>(number);
    EXPECT_EQ(exit_status_of(status), timeouts.count(status) == 1 ? ExitStatus::kTimeout : ExitStatus::kFailure)
        << number;
  }
}

TEST(ExplainRegistration, OfAGpusMemoryAsksForPeermemOrDmaBuf) {
  EXPECT_EQ(
      explain_registration(EFAULT, 8 << 20),
      "verbs: ibv_reg_mr of 8 MiB: Bad address (EFAULT); this is not memory that the kernel may pin: GPU memory needs "
      "the module nvidia-peermem (modprobe nvidia-peermem) or dma-buf (the GPU's open kernel modules and Linux "
      "5.12); host memory must be mapped and writable");
}

TEST(ExplainNoMemory, TellsTheLimitOnLockedMemory) {
  EXPECT_EQ(explain_no_memory(64 << 10, "take less"),
            "the limit on locked memory is 64 KiB; set it to unlimited (ulimit -l unlimited; memlock in "
            "/etc/security/limits.conf; LimitMEMLOCK=infinity of slurmd; --ulimit memlock=-1 of a container), or take "
            "less");
}

TEST(ExplainNoMemory, LooksElsewhereWhereLockedMemoryIsNotLimited) {
  EXPECT_EQ(explain_no_memory(RLIM_INFINITY, "take less"),
            "locked memory is not limited here, so the host, the cgroup or the device has none left; take less");
}

TEST(ExplainNoMemory, IsAskedOfThisProcess) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  EXPECT_EQ(explain_registration(ENOMEM, 1 << 20), "verbs: ibv_reg_mr of 1 MiB: Cannot allocate memory (ENOMEM); " +
                                                       explain_no_memory(limit.rlim_cur, "take smaller messages (-e)"));
  EXPECT_EQ(explain_call("ibv_create_qp", ENOMEM),
            "verbs: ibv_create_qp: Cannot allocate memory (ENOMEM); " +
                explain_no_memory(limit.rlim_cur, "take fewer queue pairs (-q), or a smaller -t or -r"));
}

TEST(ExplainRegistration, OfOtherErrors) {
  EXPECT_EQ(
      explain_registration(EOPNOTSUPP, 512),
      "verbs: ibv_reg_mr of 512 B: Operation not supported (EOPNOTSUPP); this device or its driver cannot do that");
  EXPECT_EQ(explain_registration(EINVAL, 512),
            "verbs: ibv_reg_mr of 512 B: Invalid argument (EINVAL); the device does not take a region of this size or "
            "with these rights");
  EXPECT_EQ(explain_registration(EBADF, 512), "verbs: ibv_reg_mr of 512 B: Bad file descriptor (EBADF)");
}

TEST(ExplainCall, NamesTheCallTheErrorAndWhatToDo) {
  struct Case {
    const char* call;
    int error;
    std::string words;
    std::string part;
  };
  const Case cases[] = {
      {"ibv_open_device", ENOSYS, "Function not implemented (ENOSYS); ", "the kernel has no RDMA support"},
      {"ibv_open_device", EACCES, "Permission denied (EACCES); ", "/dev/infiniband/uverbs*"},
      {"ibv_alloc_pd", EPERM, "Operation not permitted (EPERM); ", "/dev/infiniband/uverbs*"},
      {"ibv_open_device", ENOENT, "No such file or directory (ENOENT); ", "--device=/dev/infiniband"},
      {"ibv_open_device", EMFILE, "Too many open files (EMFILE); ", "ulimit -n"},
      {"ibv_create_qp", ENOMEM, "Cannot allocate memory (ENOMEM); ", "locked memory"},
      {"ibv_create_qp", EINVAL, "Invalid argument (EINVAL); ", "take a smaller -t, -r or -I"},
      {"ibv_create_cq", EINVAL, "Invalid argument (EINVAL); ", "take a smaller -t, -r or -q"},
      {"ibv_modify_qp", EINVAL, "Invalid argument (EINVAL); ", "the GID (-x), the MTU (-m), the LID"},
      {"ibv_modify_qp to RTR", EINVAL, "Invalid argument (EINVAL); ", "the GID (-x), the MTU (-m), the LID"},
      {"ibv_create_ah", EINVAL, "Invalid argument (EINVAL); ", "the GID (-x) or the LID"},
      {"ibv_modify_qp", ENETUNREACH, "Network is unreachable (ENETUNREACH); ", "no route"},
      {"ibv_modify_qp", EHOSTUNREACH, "No route to host (EHOSTUNREACH); ", "ip neigh"},
      {"ibv_modify_qp", ETIMEDOUT, "Connection timed out (ETIMEDOUT); ", "not resolved in time"},
      {"ibv_create_qp", EOPNOTSUPP, "Operation not supported (EOPNOTSUPP); ", "cannot do that"},
      {"ibv_create_qp", EPROTONOSUPPORT, "Protocol not supported (EPROTONOSUPPORT); ", "cannot do that"},
      {"ibv_create_qp", ENOSPC, "No space left on device (ENOSPC); ", "fewer queue pairs"},
      {"ibv_create_qp", EAGAIN, "Resource temporarily unavailable (EAGAIN); ", "short of resources"},
      {"ibv_query_port", EIO, "Input/output error (EIO); ", "dmesg"},
      {"ibv_query_port", ENODEV, "No such device (ENODEV); ", "dmesg"}};
  for (const Case& one : cases) {
    const std::string text = explain_call(one.call, one.error);
    EXPECT_EQ(text.find(std::string("verbs: ") + one.call + ": " + one.words), 0U) << text;
    EXPECT_TRUE(has(text, one.part)) << text;
  }
}

TEST(ExplainCall, LeavesWhatItDoesNotKnowToTheCLibrary) {
  EXPECT_EQ(explain_call("ibv_query_port", EINVAL), "verbs: ibv_query_port: Invalid argument (EINVAL)");
  EXPECT_EQ(explain_call("ibv_query_port", EXDEV),
            "verbs: ibv_query_port: Invalid cross-device link (errno " + std::to_string(EXDEV) + ")");
}

TEST(NameOfAPortState, IsTheSpecifications) {
  EXPECT_STREQ(name(IBV_PORT_NOP), "NOP");
  EXPECT_STREQ(name(IBV_PORT_DOWN), "DOWN");
  EXPECT_STREQ(name(IBV_PORT_INIT), "INIT");
  EXPECT_STREQ(name(IBV_PORT_ARMED), "ARMED");
  EXPECT_STREQ(name(IBV_PORT_ACTIVE), "ACTIVE");
  EXPECT_STREQ(name(IBV_PORT_ACTIVE_DEFER), "ACTIVE_DEFER");
  EXPECT_STREQ(name(static_cast<ibv_port_state>(7)), "unknown");
}

TEST(Check, TakesTheErrorFromErrno) {
  errno = EMFILE;
  check(true, "ibv_alloc_pd");
  EXPECT_EQ(missing_error([] { check(false, "ibv_alloc_pd"); }), explain_call("ibv_alloc_pd", EMFILE));
}

TEST(CheckReturned, TakesTheErrorFromTheResult) {
  errno = EMFILE;
  check_returned(0, "ibv_modify_qp");
  EXPECT_EQ(missing_error([] { check_returned(EINVAL, "ibv_modify_qp"); }), explain_call("ibv_modify_qp", EINVAL));
  errno = EMFILE;
  EXPECT_EQ(missing_error([] { check_returned(-1, "ibv_modify_qp"); }), explain_call("ibv_modify_qp", EMFILE));
}

TEST(OpenDevice, OfThisMachineIsActiveOrSaysWhyThereIsNone) {
  const std::string error = missing_error([] { EXPECT_TRUE(open_device("", 0).port.active); });
  const bool known = error.empty() || has(error, "the kernel has no RDMA support (ENOSYS)") || has(error, "no RDMA ");
  EXPECT_TRUE(known) << error;
}

}  // namespace verbs_explain_test
