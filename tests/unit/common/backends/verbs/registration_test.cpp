// By which way a device is given memory, and what is said where there is none.

#include "common/backends/verbs/registration.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "fake_mlx5.h"
#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "missing_error.h"
#include "scoped_variable.h"

using namespace fabricbench;
using namespace fabricbench::verbs;
using test::fake_verbs_memory;
using test::missing_error;
using test::ScopedVariable;

namespace registration_test {

constexpr std::size_t kBytes = 4096;
constexpr std::uint64_t kOffset = 64;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

bool is_open(int file) { return fcntl(file, F_GETFD) != -1; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Without the library's name in front.
std::string unnamed(const std::string& text) { return text.substr(text.find(' ') + 1); }

/// A GPU's memory, as far as it is registered.
class FakeGpuMemory final : public BufferSource {
 public:
  [[nodiscard]] std::string description() const override { return "memory of GPU 3 (Fake GPU)"; }
  [[nodiscard]] Memory& memory() override { return memory_; }
  [[nodiscard]] std::byte* allocate(std::size_t /*bytes*/) override { return block_.data(); }
  void release(std::byte* /*block*/) noexcept override {}
  [[nodiscard]] bool on_host() const override { return false; }
  [[nodiscard]] std::string why_no_dma_buf() const override { return why_no_dma_buf_; }
  [[nodiscard]] DmaBuf export_dma_buf(const std::byte* /*block*/, std::size_t /*bytes*/, bool over_pcie) override {
    if (!why_no_export_.empty()) throw Error(ExitStatus::kMissing, why_no_export_);
    over_pcie_ = over_pcie;
    file_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return {file_, kOffset};
  }

  std::string why_no_dma_buf_;
  std::string why_no_export_;
  bool over_pcie_ = false;
  int file_ = -1;  // the one exported last

 private:
  std::array<std::byte, kBytes> block_{};
  HostMemory memory_;
};

class Registering : public testing::Test {
 protected:
  Registering() {
    fake_verbs_memory() = {};
    domain_.context = &test::fake_verbs().add("mlx5_7").context;
  }
  ~Registering() override {
    EXPECT_EQ(fake_verbs_memory().regions, 0) << "given back with its owner";
    test::fake_verbs().devices.clear();
  }

  [[nodiscard]] RegistrationSettings settings() {
    RegistrationSettings settings;
    settings.domain = &domain_;
    settings.access = kAccess;
    settings.root = root_.path();
    settings.mlx5_library = FABRICBENCH_FAKE_MLX5;
    return settings;
  }
  Registration registered() { return register_memory(settings(), gpu_, gpu_.allocate(kBytes), kBytes); }
  std::string refusal() {
    return missing_error([this] { (void)registered(); });
  }

  ibv_pd domain_{};
  test::FakeRoot root_;
  FakeGpuMemory gpu_;
};

TEST_F(Registering, HostMemoryAsItsPages) {
  HostBuffers host;
  std::byte* const data = host.allocate(kBytes);
  EXPECT_EQ(register_memory(settings(), host, data, kBytes).method, RegistrationMethod::kHost);
  EXPECT_EQ(fake_verbs_memory().pages_registered, 1);
  EXPECT_EQ(fake_verbs_memory().dma_bufs_registered, 0);
  fake_verbs_memory().pages_error = ENOMEM;
  EXPECT_EQ(missing_error([&] { (void)register_memory(settings(), host, data, kBytes); }),
            explain_registration(ENOMEM, kBytes));
  host.release(data);
}

TEST_F(Registering, GpuMemoryByDmaBufFirst) {
  root_.write("sys/module/nvidia_peermem/version", "1");
  EXPECT_EQ(registered().method, RegistrationMethod::kDmaBuf);
  const auto& call = fake_verbs_memory().last;
  EXPECT_EQ(call.offset, kOffset);
  EXPECT_EQ(call.bytes, kBytes);
  EXPECT_EQ(call.address, reinterpret_cast<std::uint64_t>(gpu_.allocate(kBytes)));
  EXPECT_EQ(call.file, gpu_.file_);
  EXPECT_EQ(call.access, kAccess);
  EXPECT_TRUE(call.open);
  EXPECT_FALSE(is_open(gpu_.file_));
  EXPECT_FALSE(gpu_.over_pcie_);
  EXPECT_EQ(fake_verbs_memory().pages_registered, 0);
}

TEST_F(Registering, GpuMemoryByTheModuleWhereDmaBufFails) {
  root_.write("sys/module/nvidia_peermem/version", "1");
  gpu_.why_no_dma_buf_ = "an old driver";
  EXPECT_EQ(registered().method, RegistrationMethod::kPeerMemory);
  gpu_.why_no_dma_buf_ = "";
  for (const int error : {EOPNOTSUPP, EPROTONOSUPPORT, EINVAL}) {
    fake_verbs_memory().probe_error = error;
    EXPECT_EQ(registered().method, RegistrationMethod::kPeerMemory) << error;
  }
  EXPECT_EQ(gpu_.file_, -1) << "nothing is exported for a device that takes none";
  fake_verbs_memory().probe_error = EBADF;
  fake_verbs_memory().dma_buf_error = EIO;
  EXPECT_EQ(registered().method, RegistrationMethod::kPeerMemory);
  EXPECT_FALSE(is_open(gpu_.file_));
  gpu_.why_no_export_ = "it will not";
  EXPECT_EQ(registered().method, RegistrationMethod::kPeerMemory);
}

TEST_F(Registering, EveryModuleThatLendsMemory) {
  for (const char* file : {"sys/module/nvidia_peermem/version", "sys/kernel/mm/memory_peers/nv_mem/version",
                           "sys/kernel/mm/memory_peers/nv_mem_nc/version", "sys/module/nv_peer_mem/version"}) {
    const test::FakeRoot root;
    EXPECT_EQ(peer_memory_module(root.path()), "");
    root.write(file, "1");
    EXPECT_EQ(peer_memory_module(root.path()), std::string("/") + file);
  }
}

TEST_F(Registering, SaysWhyEachWayFailedAndNeverTakesHostMemory) {
  fake_verbs_memory().probe_error = EOPNOTSUPP;
  EXPECT_EQ(
      refusal(),
      "verbs: mlx5_7 cannot register 4 KiB of memory of GPU 3 (Fake GPU); by dma-buf: the device's driver does not "
      "support it (EOPNOTSUPP); it needs Linux 5.12 or newer, and a driver and a libibverbs of the same release; by "
      "nvidia-peermem: its module is not loaded (modprobe nvidia-peermem); make one of them work, or measure host "
      "memory with --memory host");
  EXPECT_EQ(fake_verbs_memory().pages_registered, 0) << "without the module that is an error that says little";
  root_.write("sys/module/nv_peer_mem/version", "1");
  fake_verbs_memory().pages_error = EFAULT;
  EXPECT_TRUE(has(refusal(), "by nvidia-peermem: /sys/module/nv_peer_mem/version is there, and " +
                                 unnamed(explain_registration(EFAULT, kBytes))))
      << refusal();
}

TEST_F(Registering, SaysWhyDmaBufFailed) {
  gpu_.why_no_dma_buf_ = "the driver of GPU 3 exports none";
  EXPECT_TRUE(has(refusal(), "by dma-buf: the driver of GPU 3 exports none; by")) << refusal();
  gpu_.why_no_dma_buf_ = "";
  gpu_.why_no_export_ = "it will not";
  EXPECT_TRUE(has(refusal(), "by dma-buf: it will not; by")) << refusal();
  gpu_.why_no_export_ = "";
  fake_verbs_memory().dma_buf_error = EIO;
  EXPECT_TRUE(has(refusal(), "by dma-buf: " + unnamed(explain_call("ibv_reg_dmabuf_mr", EIO)))) << refusal();
  EXPECT_FALSE(is_open(gpu_.file_));
  fake_verbs_memory().probe_error = EPROTONOSUPPORT;
  EXPECT_TRUE(has(refusal(), "does not support it (EPROTONOSUPPORT)")) << refusal();
  fake_verbs_memory().probe_error = ENOSYS;
  EXPECT_TRUE(has(refusal(), "by dma-buf: " + unnamed(explain_call("ibv_reg_dmabuf_mr", ENOSYS)))) << refusal();
}

class ByDataDirect : public Registering {
 protected:
  [[nodiscard]] RegistrationSettings direct(const std::string& library = FABRICBENCH_FAKE_MLX5) {
    RegistrationSettings made = settings();
    made.data_direct = true;
    made.mlx5_library = library;
    return made;
  }
  std::string refusal(const RegistrationSettings& made) {
    return missing_error([&] { (void)register_memory(made, gpu_, gpu_.allocate(kBytes), kBytes); });
  }

  void* const library_ = dlopen(FABRICBENCH_FAKE_MLX5, RTLD_NOW);  // so that it remembers
};

TEST_F(ByDataDirect, MemoryIsExportedOverPciExpress) {
  ASSERT_NE(library_, nullptr) << dlerror();
  {
    const Registration made = register_memory(direct(), gpu_, gpu_.allocate(kBytes), kBytes);
    EXPECT_EQ(made.method, RegistrationMethod::kDataDirect);
    ++fake_verbs_memory().regions;  // the library's own, which ibv_dereg_mr gives back
  }
  const auto asked = reinterpret_cast<FakeMlx5Registration (*)()>(dlsym(library_, "fake_mlx5_registered_last"))();
  EXPECT_EQ(asked.offset, kOffset);
  EXPECT_EQ(asked.bytes, kBytes);
  EXPECT_EQ(asked.address, reinterpret_cast<std::uint64_t>(gpu_.allocate(kBytes)));
  EXPECT_EQ(asked.file, gpu_.file_);
  EXPECT_TRUE(asked.open);
  EXPECT_EQ(asked.access, kAccess);
  EXPECT_EQ(asked.mlx5_access, 1);
  EXPECT_TRUE(gpu_.over_pcie_);
  EXPECT_FALSE(is_open(gpu_.file_));
  EXPECT_EQ(fake_verbs_memory().dma_bufs_registered, 0);
}

TEST_F(ByDataDirect, SaysWhatIsMissing) {
  EXPECT_TRUE(has(refusal(direct("/nowhere/libmlx5.so.1")),
                  "--data-direct: /nowhere/libmlx5.so.1 cannot be loaded (/nowhere/libmlx5.so.1: cannot open"));
  EXPECT_EQ(
      refusal(direct("libm.so.6")),
      "--data-direct: libm.so.6 has no mlx5dv_get_data_direct_sysfs_path; install rdma-core 54 or newer, or leave "
      "--data-direct out");
  {
    const ScopedVariable without("FAKE_MLX5_NO_DATA_DIRECT", "1");
    EXPECT_TRUE(has(refusal(direct()), "--data-direct: mlx5_7 has no Data Direct (No such device); it needs"));
  }
  {
    const ScopedVariable without("FAKE_MLX5_NO_REGION", "1");
    EXPECT_EQ(refusal(direct()), "--data-direct: " + unnamed(explain_call("mlx5dv_reg_dmabuf_mr", EOPNOTSUPP)));
    EXPECT_FALSE(is_open(gpu_.file_));
  }
  gpu_.why_no_dma_buf_ = "an old driver";
  EXPECT_EQ(refusal(direct()), "--data-direct needs a dma-buf, and an old driver");
}

TEST_F(ByDataDirect, IsNotForHostMemory) {
  HostBuffers host;
  std::array<std::byte, 8> data{};
  EXPECT_THROW((void)register_memory(direct(), host, data.data(), data.size()), UsageError);
}

TEST(NameOfAWay, IsWhatUsersKnowItBy) {
  EXPECT_EQ(name(RegistrationMethod::kHost), "");
  EXPECT_EQ(name(RegistrationMethod::kDmaBuf), "dma-buf");
  EXPECT_EQ(name(RegistrationMethod::kPeerMemory), "nvidia-peermem");
  EXPECT_EQ(name(RegistrationMethod::kDataDirect), "dma-buf and Data Direct");
}

}  // namespace registration_test
