// Buffers in huge pages, of which this machine may have none.

#include "common/host/memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "common/backends/rdma/buffers.h"
#include "fake_root.h"
#include "missing_error.h"

using namespace fabricbench;
using test::FakeRoot;
using test::missing_error;

namespace huge_pages_test {

constexpr std::size_t kPage = std::size_t{2} << 20;

/// A /proc/meminfo as the kernel writes it.
void write_pages(const FakeRoot& root, int total, int free, int promised) {
  root.write("proc/meminfo", fmt::format("MemFree:         100 kB\nHugePages_Total:  {:5}\nHugePages_Free:   {:5}\n"
                                         "HugePages_Rsvd:   {:5}\nHugePages_Surp:       0\nHugepagesize:    2048 kB\n",
                                         total, free, promised));
}

TEST(HugePages, AreFreeUnlessTheyArePromised) {
  const FakeRoot root;
  write_pages(root, 40, 30, 10);
  const host::HugePages pages = host::huge_pages(root.path());
  EXPECT_EQ(pages.page_bytes, kPage);
  EXPECT_EQ(pages.total, 40U);
  EXPECT_EQ(pages.free, 20U);
}

TEST(HugePages, OfAKernelWithoutThem) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemFree: 100 kB\n");
  EXPECT_EQ(host::huge_pages(root.path()).page_bytes, 0U);
  EXPECT_EQ(missing_error([&] { const HugePageBuffers buffers(1, root.path()); }),
            "--memory hugepages: this kernel has no huge pages (/proc/meminfo: Hugepagesize); take --memory host");
}

TEST(HugePageBuffers, SayHowManyPagesThereAreAndHowToHaveMore) {
  const FakeRoot root;
  write_pages(root, 0, 0, 0);
  EXPECT_EQ(missing_error([&] { const HugePageBuffers buffers(1, root.path()); }),
            "--memory hugepages: 0 of 0 huge pages of 2 MiB are free on this host, and 1 rank there takes 2 at least; "
            "reserve more as root: echo 2 > /proc/sys/vm/nr_hugepages");
  write_pages(root, 8, 5, 2);
  EXPECT_EQ(missing_error([&] { const HugePageBuffers buffers(4, root.path()); }),
            "--memory hugepages: 3 of 8 huge pages of 2 MiB are free on this host, and 4 ranks there take 8 at least; "
            "reserve more as root: echo 13 > /proc/sys/vm/nr_hugepages");
}

TEST(HugePageBuffers, ShareWhatIsFreeInWholePagesOfTwoBuffers) {
  const FakeRoot root;
  write_pages(root, 64, 40, 0);
  EXPECT_EQ(HugePageBuffers(2, root.path()).available(), 20 * kPage);
  EXPECT_EQ(HugePageBuffers(3, root.path()).available(), 12 * kPage);
  EXPECT_EQ(HugePageBuffers(2, root.path()).description(), "host memory in huge pages of 2 MiB");
}

/// Whether that succeeds is this machine's to say: either the block is one, or the message names what is missing.
TEST(HugePageBuffers, AreOfThisKernelOrSayWhyNot) {
  const host::HugePages real = host::huge_pages();
  const FakeRoot root;
  write_pages(root, 4, 4, 0);
  HugePageBuffers buffers(1, root.path());
  std::byte* block = nullptr;
  const std::string error = missing_error([&] { block = buffers.allocate(3 * kPage - 5); });
  EXPECT_EQ(error.empty(), real.page_bytes == kPage && real.free >= 3) << error;
  if (!error.empty()) {
    EXPECT_EQ(error.find("--memory hugepages: "), 0U) << error;
    return;
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kPage, 0U);
  EXPECT_EQ(host::huge_pages().free, real.free - 3);
  buffers.memory().set({block, 3 * kPage}, 1);
  buffers.release(block);
  EXPECT_EQ(host::huge_pages().free, real.free);
}

}  // namespace huge_pages_test
