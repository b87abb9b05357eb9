// What needs no communicator: loading, versions, and the binary interfaces that are declared by ourselves.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/library.h"
#include "common/backends/nccl/nccl_session.h"
#include "common/backends/nccl/profiler_plugin.h"
#include "common/backends/nccl_device/device_collectives.h"
#include "common/core/error.h"

namespace fabricbench::nccl {
namespace nccl_library_test {

std::string fake(const std::string& version) {
  return std::string(FAKE_NCCL_DIRECTORY) + "/nccl-" + version + "/libnccl.so.2";
}

TEST(NcclLibrary, WritesVersionsAsNcclDoes) {
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(21800), "2.18.0");
  EXPECT_EQ(version_text(23010), "2.30.10");
  EXPECT_GE(header_version(), 21800);
}

TEST(NcclLibrary, FindsWhatALibraryHas) {
  const Library library(fake("2.28"));
  EXPECT_EQ(library.version(), 22809);
  for (const Feature feature :
       {Feature::kMemory, Feature::kRegistration, Feature::kChoices, Feature::kEightBitFloats, Feature::kCtaPolicy,
        Feature::kWindows, Feature::kNativeAllToAll, Feature::kLinkCentric, Feature::kDeviceApi}) {
    EXPECT_TRUE(library.has(feature)) << static_cast<int>(feature);
    EXPECT_EQ(library.why_not(feature), "");
  }
}

TEST(NcclLibrary, KnowsWhatCameAfterItsHeaders) {
  const Library newer(fake("2.30"));
  EXPECT_TRUE(newer.has(Feature::kOneSided) && newer.has(Feature::kMostPeers));
  const Library library(fake("2.28"));
  EXPECT_FALSE(library.has(Feature::kMostPeers));
  EXPECT_EQ(library.why_not(Feature::kOneSided),
            "NCCL 2.28.9 does not have ncclPutSignal and ncclWaitSignal; NCCL 2.29.0 and newer do");
}

TEST(NcclLibrary, SaysWhatALibraryLacks) {
  const Library library(fake("2.18"));
  EXPECT_EQ(library.version(), 21806);
  EXPECT_FALSE(library.has(Feature::kMemory));
  EXPECT_FALSE(library.has(Feature::kCtaPolicy));
  EXPECT_EQ(library.why_not(Feature::kNativeAllToAll),
            "NCCL 2.18.6 does not have ncclAlltoAll, ncclGather and ncclScatter; NCCL 2.28.0 and newer do");
}

TEST(NcclLibrary, HasKernelsForOneMinorVersionOnly) {
  using nccl_device::Implementation;
  const int minor = header_version() / 100 * 100;
  const auto why_not = [](int version) { return nccl_device::why_not(version, Implementation::kLsa); };
  if (why_not(header_version()).empty()) {
    EXPECT_EQ(why_not(minor), "") << "another patch version";
  }
  for (const int other : {21805, 22707, minor + 100}) EXPECT_FALSE(why_not(other).empty()) << other;
}

TEST(NcclLibrary, HasKernelsForAdaptersSinceTheirPatchVersion) {
  using nccl_device::Implementation;
  if (header_version() / 100 != 228 || !nccl_device::why_not(22809, Implementation::kLsa).empty()) return;
  for (const Implementation implementation : {Implementation::kGin, Implementation::kGinAndLsa}) {
    EXPECT_EQ(nccl_device::why_not(22807, implementation), "");
    EXPECT_NE(nccl_device::why_not(22803, implementation).find("(GIN) came with NCCL 2.28.7"), std::string::npos);
  }
  EXPECT_EQ(nccl_device::why_not(22803, Implementation::kLsaVectors), "");
}

TEST(NcclLibrary, TakesTheNumbersOfNcclTests) {
  using nccl_device::implementation_of;
  for (const bool all_to_all : {false, true}) {
    for (int option = 1; option <= 4; ++option) {
      EXPECT_EQ(option_of(implementation_of(option, all_to_all)), option);
      EXPECT_EQ(uses_gin(implementation_of(option, all_to_all)), all_to_all && option > 2);
      EXPECT_EQ(uses_multimem(implementation_of(option, all_to_all)), !all_to_all && option > 2);
    }
  }
}

TEST(NcclLibrary, SaysWhatToInstall) {
  try {
    const Library library("libnot_there.so.2");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    const std::string text = error.what();
    EXPECT_NE(text.find("libnot_there.so.2"), std::string::npos) << text;
    EXPECT_NE(text.find("libnccl2"), std::string::npos) << text;
    EXPECT_NE(text.find("LD_LIBRARY_PATH"), std::string::npos) << text;
  }
}

TEST(NcclLibrary, RefusesALibraryThatIsNotNccl) {
  try {
    const Library library("libm.so.6");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(std::string(error.what()).find("has no ncclGetVersion"), std::string::npos) << error.what();
  }
}

/// As ncclConfig_t of NCCL 2.30 has them, and 2.18 its first 48 bytes.
TEST(NcclLibrary, LaysTheConfigurationOutAsNcclDoes) {
  static_assert(offsetof(Config, size) == 0 && offsetof(Config, magic) == 8 && offsetof(Config, version) == 12);
  static_assert(offsetof(Config, blocking) == 16 && offsetof(Config, cga_cluster_size) == 20);
  static_assert(offsetof(Config, min_ctas) == 24 && offsetof(Config, max_ctas) == 28);
  static_assert(offsetof(Config, net_name) == 32 && offsetof(Config, split_share) == 40);
  static_assert(offsetof(Config, traffic_class) == 44 && offsetof(Config, communicator_name) == 48);
  static_assert(offsetof(Config, collnet_enable) == 56 && offsetof(Config, cta_policy) == 60);
  static_assert(offsetof(Config, shrink_share) == 64 && offsetof(Config, nvls_ctas) == 68);
  static_assert(offsetof(Config, channels_per_net_peer) == 72 && offsetof(Config, nvlink_centric) == 76);
  static_assert(offsetof(Config, graph_usage_mode) == 80 && offsetof(Config, rma_contexts) == 84);
  static_assert(offsetof(Config, max_p2p_peers) == 88 && sizeof(Config) == 96);
}

/// As ncclCommProperties_t of NCCL 2.29.7 and ncclWaitSignalDesc_t of 2.29 have them.
TEST(NcclLibrary, LaysOneSidedOperationsOutAsNcclDoes) {
  static_assert(offsetof(Properties, rank) == 16 && offsetof(Properties, device_api) == 32);
  static_assert(offsetof(Properties, multimem) == 33 && offsetof(Properties, gin_type) == 36);
  static_assert(offsetof(Properties, lsa_teams) == 40 && offsetof(Properties, host_rma) == 44);
  static_assert(offsetof(Properties, railed_gin_type) == 48 && sizeof(Properties) == 56);
  static_assert(offsetof(AwaitedSignals, peer) == 4 && offsetof(AwaitedSignals, index) == 8);
  static_assert(sizeof(AwaitedSignals) == 16);
}

/// Begin of the union of events, from NCCL's profiler_v2.h to profiler_v5.h.
constexpr std::size_t kUnion = 24;

template <typename Event>
constexpr bool kHeadIsRight = offsetof(Event, type) == 0 && offsetof(Event, parent) == 8 &&
                              offsetof(Event, rank) == 16 && offsetof(Event, collective) == kUnion;

TEST(NcclProfilerInterface, LaysEventsOutAsNcclDoes) {
  using namespace plugin;
  static_assert(kHeadIsRight<EventV2> && kHeadIsRight<EventV3> && kHeadIsRight<EventV4> && kHeadIsRight<EventV5>);
  static_assert(sizeof(EventV4::type) == 1 && sizeof(EventV5::type) == 8);

  static_assert(offsetof(CollectiveV2, root) == 56 && offsetof(CollectiveV2, datatype) == 64);
  static_assert(offsetof(CollectiveV2, traffic_bytes) == 72 && offsetof(CollectiveV2, most_channels) == 80);
  static_assert(offsetof(CollectiveV2, algorithm) == 88 && offsetof(CollectiveV2, protocol) == 96);

  static_assert(offsetof(CollectiveV3, most_channels) == 72 && offsetof(CollectiveV3, warps) == 73);
  static_assert(offsetof(CollectiveV3, algorithm) == 80 && offsetof(CollectiveV3, protocol) == 88);

  static_assert(offsetof(CollectiveV4, sequence) == 0 && offsetof(CollectiveV4, function) == 8);
  static_assert(offsetof(CollectiveV4, most_channels) == 56 && offsetof(CollectiveV4, warps) == 57);
  static_assert(offsetof(CollectiveV4, algorithm) == 64 && offsetof(CollectiveV4, protocol) == 72);
}

TEST(NcclProfilerInterface, TakesNoteOfNothingUnexpected) {
  int mask = -1;
  void* context = &mask;
  ASSERT_EQ(ncclProfiler_v5.init(&context, 1, &mask, nullptr, 1, 1, 0, nullptr), 0);
  EXPECT_EQ(mask, 0) << "timed loops would call us";
  observe_choices(true);
  EXPECT_EQ(mask, 1 << 1);

  plugin::EventV5 event{};
  void* handle = nullptr;
  EXPECT_EQ(ncclProfiler_v5.start_event(context, &handle, nullptr), 0);
  EXPECT_NE(handle, nullptr) << "NCCL 2.24 skips the collectives of a group without a handle";
  EXPECT_EQ(ncclProfiler_v5.start_event(context, nullptr, &event), 0);
  event.type = plugin::kCollective;
  EXPECT_EQ(ncclProfiler_v5.start_event(context, &handle, &event), 0);
  EXPECT_FALSE(last_choice()) << "without names";

  event.collective.algorithm = "NVLS";
  event.collective.protocol = "a protocol whose name is longer than any that there is today";
  event.collective.most_channels = 16;
  EXPECT_EQ(ncclProfiler_v5.start_event(context, &handle, &event), 0);
  ASSERT_TRUE(last_choice());
  EXPECT_EQ(last_choice()->algorithm, "NVLS");
  EXPECT_EQ(last_choice()->protocol.size(), 31U);
  EXPECT_EQ(last_choice()->channels, 16);
  observe_choices(false);
  EXPECT_EQ(mask, 0);
  EXPECT_EQ(ncclProfiler_v5.init(&context, 1, nullptr, nullptr, 1, 1, 0, nullptr), 0);
}

TEST(NcclMemoryReport, WritesAmountsAsNcclTestsDoes) {
  EXPECT_EQ(memory_text(0), "0.00 B");
  EXPECT_EQ(memory_text(1023), "1023 B");
  EXPECT_EQ(memory_text(Bytes{1} << 20), "1.00 MB");
  EXPECT_EQ(memory_text(Bytes{1234} << 20), "1.21 GB");
  EXPECT_EQ(memory_text(Bytes{34} << 30), "34.0 GB");
  EXPECT_EQ(memory_text(Bytes{2000} << 30), "2000 GB");
}

}  // namespace nccl_library_test
}  // namespace fabricbench::nccl
