// The session on a library that has none of the optional functions. That its operations work all the same is in
// nccl_operations_test.

#include "common/core/error.h"
#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_old_library_test {

using NcclOldLibraryTest = NcclTest;

/// The error of a session with `options`, which is that something is missing.
template <typename MakeSession>
std::string reason(MakeSession make_session, const Options& options) {
  try {
    make_session(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    return error.what();
  }
  return "no error";
}

TEST_F(NcclOldLibraryTest, SaysWhatIsTooOldForEightBitFloats) {
  const auto session = make_session();
  EXPECT_EQ(session->library(), "NCCL 2.18.6, headers " + version_text(header_version()));
  EXPECT_EQ(session->why_not(DataType::kF8e4m3, Reduction::kSum),
            "NCCL 2.18.6 does not have 8-bit floating-point types; NCCL 2.24.0 and newer do");
  EXPECT_EQ(session->why_not(DataType::kBfloat16, Reduction::kMulSum), "");
}

TEST_F(NcclOldLibraryTest, SaysWhatIsTooOldForAnOption) {
  const auto make = [this](const Options& options) { return make_session(options); };
  Options options = test_options();
  options.nccl.registration = Registration::kLocal;
  EXPECT_EQ(reason(make, options),
            "-R 1: NCCL 2.18.6 does not have buffer registration (ncclCommRegister); NCCL 2.19.0 and newer do");
  options.nccl.registration = Registration::kSymmetric;
  EXPECT_EQ(reason(make, options),
            "-R 2: NCCL 2.18.6 does not have symmetric windows (ncclCommWindowRegister); NCCL 2.27.0 and newer do");
  options = test_options();
  options.nccl.cta_policy = 1;
  EXPECT_EQ(reason(make, options), "-x: NCCL 2.18.6 does not have a CTA policy; NCCL 2.27.0 and newer do");
  options = test_options();
  options.nccl.device_implementation = 1;
  EXPECT_EQ(reason(make, options),
            "-D: NCCL 2.18.6 does not have a device API (ncclDevCommCreate); NCCL 2.28.0 and newer do");
}

TEST_F(NcclOldLibraryTest, SaysWhyChoicesAreNotKnown) {
  const auto session = make_session(test_options(), true);
  EXPECT_EQ(session->why_no_choices(),
            "NCCL 2.18.6 does not have a profiler interface that names the algorithm; NCCL 2.24.0 and newer do");
  EXPECT_EQ(session->choices(), nullptr);
}

TEST_F(NcclOldLibraryTest, AllocatesByCuda) {
  const auto session = make_session();
  const Buffers data(*session, 1 << 20);
  session->memory(0).set(data.on(0), 7);
  std::byte last{};
  session->memory(0).copy_to_host(data.on(0).last(1), &last);
  EXPECT_EQ(last, std::byte{7});
}

}  // namespace nccl_old_library_test
}  // namespace fabricbench::nccl
