#include "common/backends/nccl/library.h"

#include <array>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

constexpr int kOldest = 21800;

struct FeatureFacts {
  Feature feature;
  int since;
  const char* what;
};

/// From NCCL's nccl.h and src/include/plugin/profiler of each release.
constexpr std::array<FeatureFacts, 11> kFeatures = {{
    {Feature::kMemory, 21900, "ncclMemAlloc"},
    {Feature::kRegistration, 21900, "buffer registration (ncclCommRegister)"},
    {Feature::kChoices, 22400, "a profiler interface that names the algorithm"},
    {Feature::kEightBitFloats, 22400, "8-bit floating-point types"},
    {Feature::kCtaPolicy, 22700, "a CTA policy"},
    {Feature::kWindows, 22700, "symmetric windows (ncclCommWindowRegister)"},
    {Feature::kNativeAllToAll, 22800, "ncclAlltoAll, ncclGather and ncclScatter"},
    {Feature::kLinkCentric, 22800, "NVLink-centric scheduling"},
    {Feature::kDeviceApi, 22800, "a device API (ncclDevCommCreate)"},
    {Feature::kOneSided, 22900, "ncclPutSignal and ncclWaitSignal"},
    {Feature::kMostPeers, 23000, "a limit of peers (maxP2pPeers)"},
}};

constexpr const FeatureFacts& facts_of(Feature feature) { return kFeatures[static_cast<std::size_t>(feature)]; }

/// nullptr if the library does not have the symbol.
template <typename Function>
void find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

void* open(const std::string& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    throw Error(ExitStatus::kMissing,
                fmt::format("nccl: {}; install NCCL (the package libnccl2 of NVIDIA's repository), or set "
                            "LD_LIBRARY_PATH to the folder that has it",
                            dlerror()));
  }
  return handle;
}

/// What to do about a problem; empty if NCCL's own words say all that is known.
std::string advice_on(std::string_view detail) {
  const auto has = [detail](std::string_view words) { return detail.find(words) != std::string_view::npos; };
  const bool names_setting = has("are using the same GPU");  // since 2.30
  if (!has("Duplicate GPU detected") && !names_setting) return "";
  return fmt::format(
      "; NCCL wants a GPU for each rank: start at most as many ranks on a host as it has GPUs and leave out --device{}",
      names_setting ? "" : fmt::format(", or set {}", kSharedGpuSetting));
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

int header_version() { return NCCL_VERSION_CODE; }

Library::Library(const std::string& file) : handle_(open(file)) {
  load_required();
  load_optional();
  if (functions_.get_version != nullptr) {
    const ncclResult_t result = functions_.get_version(&version_);
    if (missing_.empty()) check(*this, result, "ncclGetVersion");
  }
  if (version_ < kOldest || !missing_.empty()) {
    throw Error(ExitStatus::kMissing,
                fmt::format("nccl: {} is NCCL {}{}; NCCL {} or newer is needed: install a newer one, or set "
                            "LD_LIBRARY_PATH to the folder of a newer one",
                            file, version_text(version_), missing_.empty() ? "" : " and has no " + missing_,
                            version_text(kOldest)));
  }
}

void Library::load_required() {
  const auto require = [this](const char* symbol, auto& function) {
    find(handle_.get(), symbol, function);
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  };
  require("ncclGetVersion", functions_.get_version);
  require("ncclGetUniqueId", functions_.get_unique_id);
  require("ncclCommInitRankConfig", functions_.init_rank);
  require("ncclCommDestroy", functions_.destroy);
  require("ncclCommAbort", functions_.abort);
  require("ncclCommGetAsyncError", functions_.async_error);
  require("ncclGetErrorString", functions_.error_string);
  require("ncclGetLastError", functions_.last_error);
  require("ncclRedOpCreatePreMulSum", functions_.create_mulsum);
  require("ncclRedOpDestroy", functions_.destroy_reduction);
  require("ncclGroupStart", functions_.group_start);
  require("ncclGroupEnd", functions_.group_end);
  require("ncclAllReduce", functions_.all_reduce);
  require("ncclAllGather", functions_.all_gather);
  require("ncclReduceScatter", functions_.reduce_scatter);
  require("ncclBroadcast", functions_.broadcast);
  require("ncclReduce", functions_.reduce);
  require("ncclSend", functions_.send);
  require("ncclRecv", functions_.recv);
}

void Library::load_optional() {
  find(handle_.get(), "ncclMemAlloc", functions_.allocate);
  find(handle_.get(), "ncclMemFree", functions_.release);
  find(handle_.get(), "ncclCommRegister", functions_.enrol);
  find(handle_.get(), "ncclCommDeregister", functions_.withdraw);
  find(handle_.get(), "ncclCommWindowRegister", functions_.open_window);
  find(handle_.get(), "ncclCommWindowDeregister", functions_.close_window);
  find(handle_.get(), "ncclAlltoAll", functions_.all_to_all);
  find(handle_.get(), "ncclGather", functions_.gather);
  find(handle_.get(), "ncclScatter", functions_.scatter);
  find(handle_.get(), "ncclDevCommCreate", functions_.create_device_communicator);
  find(handle_.get(), "ncclDevCommDestroy", functions_.destroy_device_communicator);
  find(handle_.get(), "ncclPutSignal", functions_.put_signal);
  find(handle_.get(), "ncclSignal", functions_.signal);
  find(handle_.get(), "ncclWaitSignal", functions_.wait_signal);
  find(handle_.get(), "ncclCommQueryProperties", functions_.query_properties);
}

bool Library::has(Feature feature) const {
  switch (feature) {
    case Feature::kMemory: return functions_.allocate != nullptr && functions_.release != nullptr;
    case Feature::kRegistration: return functions_.enrol != nullptr && functions_.withdraw != nullptr;
    case Feature::kWindows: return functions_.open_window != nullptr && functions_.close_window != nullptr;
    case Feature::kNativeAllToAll:
      return functions_.all_to_all != nullptr && functions_.gather != nullptr && functions_.scatter != nullptr;
    case Feature::kDeviceApi:
      return functions_.create_device_communicator != nullptr && functions_.destroy_device_communicator != nullptr;
    case Feature::kOneSided:
      return functions_.put_signal != nullptr && functions_.signal != nullptr && functions_.wait_signal != nullptr;
    case Feature::kChoices:
    case Feature::kEightBitFloats:
    case Feature::kCtaPolicy:
    case Feature::kLinkCentric:
    case Feature::kMostPeers: break;
  }
  return version_ >= facts_of(feature).since;
}

std::string Library::why_not(Feature feature) const {
  if (has(feature)) return "";
  const FeatureFacts& facts = facts_of(feature);
  return fmt::format("NCCL {} does not have {}; NCCL {} and newer do", version_text(version_), facts.what,
                     version_text(facts.since));
}

std::string last_error(const Library& library) {
  const char* text = library.functions().last_error(nullptr);
  std::string line = text != nullptr ? text : "";
  while (!line.empty() && (line.back() == '\n' || line.back() == '.')) line.pop_back();
  return line;
}

std::string problem_text(const Library& library, ncclResult_t result, const char* call) {
  const std::string detail = last_error(library);
  return fmt::format("{}: {}{}{}{}", call, library.functions().error_string(result), detail.empty() ? "" : ": ", detail,
                     advice_on(detail));
}

void fail(const Library& library, ncclResult_t result, const char* call, std::string_view place) {
  throw Error(ExitStatus::kFailure,
              fmt::format("nccl: {}{}{}", place, place.empty() ? "" : ": ", problem_text(library, result, call)));
}

}  // namespace fabricbench::nccl
