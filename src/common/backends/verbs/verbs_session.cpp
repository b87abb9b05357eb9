#include "common/backends/verbs/verbs_session.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/verbs/background_stream.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/record/packing.h"

namespace fabricbench::verbs {
namespace {

constexpr int kMostReceives = 1 << 15;  // where the device does not say

/// The depth from -t or -r, checked against the device's limit.
int checked_depth(std::int64_t asked, const PortFacts& port, const char* option) {
  if (port.most_requests == 0 || asked <= port.most_requests) return static_cast<int>(asked);
  throw UsageError(fmt::format("{} {}: a work queue of {} has at most {} entries; lower it", option, asked, port.device,
                               port.most_requests));
}

void check_atomics(const VerbsSettings& settings, const PortFacts& port) {
  if (settings.verb != Verb::kAtomic || port.atomics) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("verbs: {} has no atomic operations (ibv_devinfo -v: atomic_cap); choose "
                          "another device with -d",
                          port.device));
}

/// The queue that packets wait in depends on these. Class 0 of RoCE has to be seen too: in most fabrics its queue may
/// lose packets.
std::string classes_text(const NegotiatedSettings& negotiated) {
  std::string text;
  if (negotiated.service_level > 0) text += fmt::format(", service level {}", negotiated.service_level);
  if (negotiated.traffic_class > 0) {
    text += fmt::format(", traffic class {}", negotiated.traffic_class);
  } else if (negotiated.own.port.ethernet) {
    text += negotiated.by_rdma_cm ? ", rdma_cm's default traffic class" : ", traffic class 0";
  }
  return text;
}

std::string retransmission_text(const Retransmission& chosen) {
  constexpr Seconds kUnit = 4.096e-6;
  const Retransmission usual;
  std::string text;
  if (chosen.timeout == 0) {
    text += ", no acknowledgement timeout";
  } else if (chosen.timeout != usual.timeout) {
    text += fmt::format(", acknowledgement timeout {:.3g} ms", std::ldexp(kUnit, chosen.timeout) * 1e3);
  }
  if (chosen.retries != usual.retries)
    text += fmt::format(", {} {}", chosen.retries, chosen.retries == 1 ? "retry" : "retries");
  return text;
}

}  // namespace

std::string route_details(const NegotiatedSettings& negotiated) {
  std::string text;
  const auto& [first, second, key] = negotiated.agreed.partitions;
  if ((key | kFullMember) != kDefaultPartition || first != 0 || second != 0) {
    text += fmt::format(", partition {:#06x} (indices {} and {})", key, first, second);
  }
  const bool has_global_route = negotiated.agreed.has_global_route && !negotiated.by_rdma_cm;
  if (has_global_route && !negotiated.own.port.ethernet) text += ", global route header";
  text += classes_text(negotiated);
  if (!negotiated.flow_labels.empty()) text += fmt::format(", flow labels {}", fmt::join(negotiated.flow_labels, " "));
  return text + retransmission_text(negotiated.retransmission);
}

Bytes inline_bytes_wanted(const VerbsSettings& settings) {
  constexpr Bytes kFlag = 8;
  const bool has_flag = settings.seen_by == SeenBy::kReader;
  if (!settings.in_host_memory) return has_flag ? kFlag : 0;  // the processor copies inline data
  if (settings.verb != Verb::kWrite && settings.verb != Verb::kSend) return 0;
  if (settings.verb == Verb::kWrite && settings.options.transport == Transport::kSrd) return 0;
  if (settings.options.inlined) return static_cast<Bytes>(*settings.options.inlined);
  constexpr Bytes kWrites = 220;
  constexpr Bytes kSends = 236;
  if (!settings.latency) return 0;
  return settings.verb == Verb::kWrite ? kWrites : kSends;
}

bool relaxes_pcie_order(const VerbsSettings& settings) {
  return !settings.options.strict_pcie_order && !polls_last_byte(settings) && settings.seen_by != SeenBy::kReader;
}

bool polls_last_byte(const VerbsSettings& settings) {
  return settings.verb == Verb::kWrite && settings.latency && !settings.options.write_with_immediate &&
         !settings.seen_by;
}

std::string unequal_queue_pairs(const std::vector<std::uint64_t>& completed) {
  constexpr std::uint64_t kEnough = 50;  // of the fastest
  constexpr std::uint64_t kMany = 1000;
  const auto [least, most] = std::minmax_element(completed.begin(), completed.end());
  const double equal = *most < kMany ? 0.5 : 0.8;  // a few messages more or less are chance
  if (least == most || *most < kEnough || static_cast<double>(*least) >= equal * static_cast<double>(*most)) return "";
  const auto all = static_cast<double>(std::accumulate(completed.begin(), completed.end(), std::uint64_t{0}));
  std::vector<std::string> shares;
  shares.reserve(completed.size());
  for (const std::uint64_t of_one : completed) {
    shares.push_back(fmt::format("{:.1f}", 100 * static_cast<double>(of_one) / all));
  }
  return fmt::format(
      "used queue pairs that carried {} % of its messages: those that carried fewer are slower, as where two "
      "share one link of a bond or one path through the fabric",
      fmt::join(shares, ", "));
}

Bytes bytes_for_messages(Bytes available, std::optional<SeenBy> seen_by) {
  return seen_by == SeenBy::kReader ? available / 3 * 2 : available;
}

VerbsSession::VerbsSession(VerbsSettings settings, std::unique_ptr<BufferSource> buffers,
                           std::unique_ptr<Connector> connector, int rank, Gather gather, VerbsBackend::Barrier barrier)
    : buffers_(std::move(buffers)),
      settings_(std::move(settings)),
      rank_(rank),
      gather_(std::move(gather)),
      barrier_(std::move(barrier)),
      device_(open_device(settings_.options.device, static_cast<int>(settings_.options.port))),
      counted_before_(read_port(device_.port.device, device_.port.port)),
      connector_(std::move(connector)) {
  check_atomics(settings_, device_.port);
  settings_.in_host_memory = buffers_->on_host();
  relaxed_order_ = relaxes_pcie_order(settings_);
  const RdmaOptions& options = settings_.options;
  device_.port.gids = connector_->usable_gids(device_.port, options.gid);
  connection_ = open_connection(device_, ConnectionSettings{.transport = options.transport,
                                                            .verb = settings_.verb,
                                                            .queue_pairs = static_cast<int>(options.queue_pairs),
                                                            .depth = depth(),
                                                            .receive_depth = room_for_receives(),
                                                            .shared_receives = options.shared_receives,
                                                            .inline_bytes = inline_bytes_wanted(settings_),
                                                            .events = options.events,
                                                            .one_at_a_time = settings_.latency,
                                                            .data_direct = options.data_direct,
                                                            .relaxed_order = relaxed_order_});
  try_memory();
  backend_ = std::make_unique<VerbsBackend>(*connection_, window_settings(), barrier_, exchange());
}

VerbsBackend::Exchange VerbsSession::exchange() const {
  return [this](const std::string& own) { return gather_(own).at(static_cast<std::size_t>(1 - rank_)); };
}

int VerbsSession::depth() const {
  if (settings_.seen_by == SeenBy::kReader) return kReaderDepth;
  return checked_depth(depth_of(settings_.options, settings_.latency), device_.port, "-t");
}

RequestWindowSettings VerbsSession::window_settings() const {
  RequestWindowSettings window{
      .verb = settings_.verb, .transport = settings_.options.transport, .latency = settings_.latency};
  window.options = settings_.options;
  window.inline_bytes = std::min(inline_bytes_wanted(settings_), connection_->inline_bytes());
  window.receive_depth = receive_depth();
  return window;
}

VerbsSession::~VerbsSession() {
  background_.reset();  // it is over with the messages
  seen_.reset();        // it uses the blocks
  for (Registered& made : blocks_) {
    made.region.reset();
    buffers_->release(made.data);
  }
}

/// Registers a small block first, so that obstacles for larger ones show before anything is measured.
void VerbsSession::try_memory() {
  constexpr std::size_t kBytes = 4096;
  const auto release = [this](std::byte* block) { buffers_->release(block); };
  const std::unique_ptr<std::byte, decltype(release)> data(buffers_->allocate(kBytes), release);
  method_ = connection_->register_block(*buffers_, data.get(), kBytes).method;
}

/// Where a last byte is polled, also for the case that it turns out to prove nothing.
int VerbsSession::room_for_receives() const {
  const PortFacts& port = device_.port;
  if (settings_.options.shared_receives) {
    return static_cast<int>(polls_last_byte(settings_) ? settings_.options.receive_depth : receive_depth());
  }
  if (!polls_last_byte(settings_)) return checked_depth(receive_depth(), port, "-r");
  const int most = port.most_requests > 0 ? port.most_requests : kMostReceives;
  return static_cast<int>(std::min<std::int64_t>(settings_.options.receive_depth, most));
}

/// Writes, reads and atomics need no receives.
std::int64_t VerbsSession::receive_depth() const {
  const bool takes = settings_.verb == Verb::kSend || settings_.options.write_with_immediate;
  return takes ? settings_.options.receive_depth : 0;
}

std::string VerbsSession::connect_info() const {
  ConnectInfo own = connection_->connect_info(settings_.host);
  own.rank = settings_.rank;
  return record::pack(own);
}

std::string VerbsSession::agree_with(const std::vector<std::string>& connect_infos) {
  for (const std::string& text : connect_infos) both_.push_back(record::unpack<ConnectInfo>(text));
  const RdmaOptions& options = settings_.options;
  negotiated_.transport = options.transport;
  negotiated_.service_level = static_cast<int>(options.service_level);
  negotiated_.traffic_class = static_cast<int>(options.traffic_class);
  negotiated_.limit = options.stall_timeout;
  negotiated_.own = both_.at(static_cast<std::size_t>(rank_));
  negotiated_.own.port = device_.port;  // with what the other end need not know
  negotiated_.peer = both_.at(static_cast<std::size_t>(1 - rank_));
  for (const std::int64_t label : options.flow_labels) {
    negotiated_.flow_labels.push_back(static_cast<std::uint32_t>(label));
  }
  negotiated_.retransmission = {static_cast<int>(options.acknowledge_timeout), static_cast<int>(options.retries)};
  negotiated_.agreed = agree(both_[0], both_[1],
                             {.mtu = options.mtu,
                              .outstanding = options.outstanding,
                              .gid = options.gid,
                              .partition = options.partition,
                              .global_route = options.traffic_class > 0 || !options.flow_labels.empty(),
                              .by_rdma_cm = options.by_rdma_cm});
  negotiated_.first = rank_ == 0;
  negotiated_.by_rdma_cm = options.by_rdma_cm;
  return connection_->listen(*connector_, negotiated_);
}

void VerbsSession::connect(const std::vector<std::string>& listen_infos) {
  connection_->connect(*connector_, negotiated_, listen_infos.at(static_cast<std::size_t>(1 - rank_)));
}

void VerbsSession::see_with(std::unique_ptr<MessageReader> reader) {
  seen_ = std::make_unique<VisibilityParts>(*settings_.seen_by, std::move(reader),
                                            VisibilitySurroundings{.device = device_,
                                                                   .connection = *connection_,
                                                                   .messages = *backend_,
                                                                   .buffers = *buffers_,
                                                                   .negotiated = negotiated_,
                                                                   .window = window_settings(),
                                                                   .rank = rank_,
                                                                   .gather = gather_,
                                                                   .barrier = barrier_});
}

Backend& VerbsSession::backend(int /*local_rank*/) {
  if (VisibilityBackend* const seen = seen_backend(); seen != nullptr) return *seen;
  return *backend_;
}

MemoryPath VerbsSession::memory_path() const {
  return {host_memory_rate_, obstacles_, seen_ ? std::optional(seen_->round_trip()) : std::nullopt};
}

void VerbsSession::abandon() noexcept {
  connection_->abandon();
  if (VisibilityBackend* const seen = seen_backend(); seen != nullptr) seen->abandon();
  if (background_) background_->abandon();
}

void VerbsSession::load_with(std::unique_ptr<BackgroundStream> stream) { background_ = std::move(stream); }

std::uint64_t VerbsSession::completed_requests() const {
  const std::vector<std::uint64_t> completed = backend_->window().completed();
  return std::accumulate(completed.begin(), completed.end(), std::uint64_t{0});
}

/// Without the order of a write's bytes its last one proves nothing, and a number may overtake the data before it. The
/// completion of a write with immediate data proves that all of it is there.
void VerbsSession::match_arrivals() {
  const bool by_flag = settings_.seen_by == SeenBy::kReader;
  if (!by_flag && !polls_last_byte(settings_)) return;
  const bool kept = connection_->keeps_order().value_or(true);
  const std::vector<std::string> both = gather_(kept ? "kept" : "");
  const auto loser = std::find(both.begin(), both.end(), "");
  if (loser == both.end()) return;
  if (by_flag) {
    const ConnectInfo& end = both_.at(static_cast<std::size_t>(loser - both.begin()));
    arrival_ = fmt::format(
        ", but {} of host {} does not promise to keep the order of data, as with adaptive routing: a "
        "number may be seen before its message (--seen-by cq+flush is safe)",
        end.port.device, end.host);
    return;
  }
  settings_.options.write_with_immediate = true;
  arrival_ = ", writes with immediate data because the adapter does not promise to keep the order of a write's bytes";
  backend_ = std::make_unique<VerbsBackend>(*connection_, window_settings(), barrier_, exchange());
}

void VerbsSession::finish_opening() {
  match_arrivals();
  if (seen_ && seen_->takes_flag()) seen_->use_flag(register_block(sizeof(std::uint64_t)));
  const bool is_stream = settings_.spreads && !settings_.latency && !settings_.seen_by;
  const bool by_address = settings_.verb == Verb::kWrite || settings_.verb == Verb::kRead;
  if (is_stream && by_address && !settings_.options.write_with_immediate) {
    backend_->spread_over(register_block(static_cast<std::size_t>(settings_.options.queue_pairs) * kSpread));
  }
  if (settings_.verb != Verb::kAtomic) return;
  const std::size_t bytes = static_cast<std::size_t>(settings_.options.queue_pairs) * kCounterStride;
  const Block counters = register_block(bytes);
  backend_->set_counters(counters, register_block(bytes), buffers_->memory());
}

std::string VerbsSession::route() const {
  const auto end = [](const ConnectInfo& of) { return fmt::format("{} port {}", of.port.device, of.port.port); };
  const GidPair& gids = negotiated_.agreed.gids;
  const std::string how = connector_->description();
  const std::string mtu = connection_->mtu() > 0 ? fmt::format(", MTU {}", connection_->mtu()) : "";
  return fmt::format("{} to {}, {}, GID indices {} and {}{}{}{}{}", end(both_.at(0)), end(both_.at(1)),
                     gids.description, gids.first, gids.second, mtu, route_details(negotiated_),
                     how.empty() ? "" : ", ", how) +
         arrival_;
}

std::string VerbsSession::registered() const {
  const std::string method = name(method_);
  const Bytes wanted = inline_bytes_wanted(settings_);
  const Bytes granted = connection_->inline_bytes();
  const std::string less =
      granted < wanted ? fmt::format(", inline up to {} B ({} B is more than the device takes)", granted, wanted) : "";
  return fmt::format("{}{}, {} PCIe ordering{}", buffers_->description(), method.empty() ? "" : " by " + method,
                     relaxed_order_ ? "relaxed" : "strict", less);
}

std::optional<Bytes> VerbsSession::device_memory() const {
  const std::optional<Bytes> all = buffers_->available();
  return all ? std::optional(bytes_for_messages(*all, settings_.seen_by)) : std::nullopt;
}

std::optional<Bytes> VerbsSession::most_bytes() const { return connection_->largest_message(); }

/// The receives of lost datagrams are used for later ones, of any size.
Bytes VerbsSession::distance_of(Bytes size) const {
  return settings_.options.transport == Transport::kUd ? most_bytes().value_or(size) : size;
}

std::string VerbsSession::library() const {
  const RdmaOptions& options = settings_.options;
  return fmt::format("libibverbs, {} {}, {}, {} port {} ({}{})", name(options.transport), name(settings_.verb),
                     counted(options.queue_pairs, "queue pair"), device_.port.device, device_.port.port,
                     network_of(device_.port),
                     device_.port.rate > 0 ? fmt::format(", {:.4g} Gb/s", device_.port.rate * 8 / 1e9) : "");
}

const VerbsSession::Registered& VerbsSession::register_own(std::size_t bytes) {
  std::byte* const data = buffers_->allocate(bytes);
  blocks_.push_back({data, {}});
  Registered& made = blocks_.back();
  made.region = connection_->register_block(*buffers_, data, bytes).region;
  return made;
}

/// Collective: each rank learns the address of the other's memory, or that it has none.
Block VerbsSession::register_block(std::size_t bytes) {
  const Registered* own = nullptr;
  std::optional<Error> problem;
  try {
    own = &register_own(bytes);
  } catch (const Error& error) {
    problem = error;
  }
  const std::vector<std::string> texts = gather_(
      own == nullptr ? "" : fmt::format("{} {}", reinterpret_cast<std::uint64_t>(own->data), own->region->rkey));
  if (problem) throw *problem;
  const std::string& other = texts.at(static_cast<std::size_t>(1 - rank_));
  if (other.empty()) {
    throw Error(ExitStatus::kMissing,
                fmt::format("verbs: the other rank of the pair, on host {}, has no {} to register",
                            both_.at(static_cast<std::size_t>(1 - rank_)).host, readable_bytes(bytes)));
  }
  const std::size_t blank = other.find(' ');
  return {own->data,
          bytes,
          own->region->lkey,
          {std::stoull(other), static_cast<std::uint32_t>(std::stoul(other.substr(blank)))}};
}

std::vector<std::byte*> VerbsSession::allocate(std::size_t bytes) {
  const Block block = register_block(bytes);
  backend_->add_block(block);
  if (VisibilityBackend* const seen = seen_backend(); seen != nullptr) seen->add_block(block);
  return {block.data};
}

void VerbsSession::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) {
    if (VisibilityBackend* const seen = seen_backend(); seen != nullptr) seen->forget_block(block);
    backend_->forget_block(block);
    std::erase_if(blocks_, [block](const Registered& made) { return made.data == block; });
    buffers_->release(block);
  }
}

TransportCounters VerbsSession::counters() const {
  TransportCounters counted;
  if (background_) counted = background_->counters();
  const RequestWindow& window = backend_->window();
  if (settings_.options.transport == Transport::kUd) counted.lost_messages = window.lost();
  if (settings_.options.queue_pairs > 1 && !settings_.latency) counted.messages_by_queue_pair = window.completed();
  return counted;
}

std::string VerbsSession::remark() const {
  const RequestWindow& window = backend_->window();
  const std::string counted = growth_text(counted_before_, read_port(device_.port.device, device_.port.port));
  const std::string unequal = unequal_queue_pairs(window.completed());
  std::vector<std::string> clauses;
  if (window.duplicated() > 0) clauses.push_back(fmt::format("received {} messages twice", window.duplicated()));
  if (window.reordered() > 0)
    clauses.push_back(fmt::format("received {} messages after later ones", window.reordered()));
  if (!counted.empty()) {
    clauses.push_back(fmt::format("counted at {} port {}: {}", device_.port.device, device_.port.port, counted));
  }
  if (!unequal.empty()) clauses.push_back(unequal);
  return fmt::format("{}", fmt::join(clauses, ", "));
}

}  // namespace fabricbench::verbs
