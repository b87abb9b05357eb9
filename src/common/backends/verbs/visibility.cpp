#include "common/backends/verbs/visibility.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/datatype.h"
#include "common/core/error.h"
#include "common/record/packing.h"

namespace fabricbench::verbs {
namespace {

constexpr std::uint64_t kCheckEvery = 1021;  // odd, so that both kinds of message are checked; rare, so that
constexpr std::size_t kNumberPlaces = kNumberBytes / sizeof(std::uint64_t);
constexpr Seconds kReaderPatience = 5;  // the reader's extra wait: the processor's timeout has the better message

/// A message is a list of two requests, of which only the last is signaled.
RequestWindowSettings flow_of(RequestWindowSettings settings) {
  settings.latency = false;
  settings.options.depth = kReaderDepth;
  settings.options.post_list = 2;
  settings.options.moderation = kReaderDepth / 2;
  settings.options.write_with_immediate = false;
  settings.options.events = false;
  settings.verb = Verb::kWrite;
  settings.receive_depth = 0;
  return settings;
}

/// Number of warm-up messages of each kind; fewer for long messages.
int warmup_messages(std::size_t bytes) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const std::size_t pairs = kMostBytes / std::max<std::size_t>(2 * bytes, 1);
  return 2 * static_cast<int>(std::clamp<std::size_t>(pairs, 1, 8));
}

bool is_complement(std::uint64_t number) { return number % 2 != 0; }

/// One read at a time, waited for.
RequestWindowSettings reads_of(RequestWindowSettings settings) {
  settings.verb = Verb::kRead;
  settings.latency = true;
  settings.inline_bytes = 0;
  settings.receive_depth = 0;
  settings.options.post_list = 1;
  settings.options.write_with_immediate = false;
  settings.options.events = false;
  return settings;
}

constexpr int kRoundTrips = 300;
constexpr Seconds kLeastPatience = 5;

}  // namespace

HostReader::~HostReader() { (void)end(); }

void HostReader::launch(const ReaderTask& task) {
  const auto now_ns = [] { return static_cast<std::uint64_t>(now() * 1e9); };
  try {
    thread_ = std::thread([task, words = words_.get(), now_ns] {
      read_on_host(task, *words, now_ns, [] { std::this_thread::yield(); });
    });
  } catch (const std::system_error& error) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot start the thread that reads in place of a GPU: {}; raise the limit on processes "
                            "(ulimit -u)",
                            error.what()));
  }
}

void HostReader::join() {
  if (thread_.joinable()) thread_.join();
}

ReaderBackend::ReaderBackend(Parts parts, const RequestWindowSettings& settings)
    : parts_(std::move(parts)), settings_(flow_of(settings)), window_(parts_.connection, settings_) {
  task_.flag = reinterpret_cast<std::uint64_t*>(parts_.flag.data);
  task_.limit_ns = static_cast<std::uint64_t>((settings.options.stall_timeout + kReaderPatience) * 1e9);
}

ReaderBackend::~ReaderBackend() { let_reader_go(); }

void ReaderBackend::let_reader_go() noexcept {
  try {
    stop_reading();
  } catch (const Error&) {
    parts_.reader.abandon();  // an earlier message has reported the failure of its device
  }
}

void ReaderBackend::forget_block(const std::byte* data) noexcept {
  let_reader_go();
  std::erase_if(blocks_, [data](const Block& block) { return block.data == data; });
}

void ReaderBackend::abandon() noexcept {
  abandoned_ = true;
  parts_.reader.abandon();
}

const Block& ReaderBackend::block_of(const std::byte* data) const {
  const auto found =
      std::find_if(blocks_.begin(), blocks_.end(), [data](const Block& block) { return block.holds(data); });
  if (found == blocks_.end()) throw_outside();
  return *found;
}

/// Stops the reader before the following work, such as the caller's writes into buffers: a GPU's driver may wait for
/// everything that runs there.
void ReaderBackend::announce(std::size_t message_bytes) {
  stop_reading();
  bytes_ = message_bytes;
}

void ReaderBackend::prepare(std::span<const std::byte> send, std::span<std::byte> recv) {
  stop_reading();
  found_ = {};
  visit_from_ = received_ + 1;
  send_base_ = send.data();
  send_key_ = block_of(send.data()).key;
  const Block& into = block_of(recv.data());
  target_ = {into.remote.address + static_cast<std::uint64_t>(recv.data() - into.data), into.remote.key};
  if (complement_.bytes < bytes_) complement_ = parts_.make_block(send.size());
  const ComplementSums other =
      sums_of_other(make_complement(parts_.memory, send.first(bytes_), {complement_.data, bytes_}));
  task_.payload = reinterpret_cast<const std::uint64_t*>(recv.data());
  task_.bytes = bytes_;
  task_.first = visit_from_;
  task_.sums[0] = other.original;
  task_.sums[1] = other.complement;
  const int warmup = warmup_messages(bytes_);
  task_.checked_before = visit_from_ + static_cast<std::uint64_t>(warmup);
  task_.check_every = kCheckEvery;
  parts_.reader.begin(task_);
  exchange(warmup);
}

/// The sums of the other rank's messages. After it returns, both ranks' buffers are ready for messages.
ComplementSums ReaderBackend::sums_of_other(const ComplementSums& own) {
  const std::vector<std::string> both = parts_.gather(record::pack(std::pair(own.original, own.complement)));
  const auto [original, complement] =
      record::unpack<std::pair<std::uint64_t, std::uint64_t>>(both.at(static_cast<std::size_t>(1 - parts_.rank)));
  return {original, complement};
}

/// Messages there and back. The ranks take turns: a rank that sends before it has received would overwrite data that
/// the other rank's reader is still checking.
void ReaderBackend::exchange(int messages) {
  for (int i = 0; i < messages; ++i) {
    if (parts_.rank != 0) wait_for_reader();
    send(send_base_, 0, DataType::kInt8, 0);
    if (parts_.rank == 0) wait_for_reader();
  }
}

void ReaderBackend::send(const void* buffer, std::size_t /*count*/, DataType /*datatype*/, int /*to*/) {
  const std::uint64_t number = ++sent_;
  if (bytes_ > 0) {
    LocalPart data{const_cast<std::byte*>(static_cast<const std::byte*>(buffer)), static_cast<std::uint32_t>(bytes_),
                   send_key_, parts_.on_host};
    const auto offset = data.data - send_base_;
    if (is_complement(number)) {
      data.data = complement_.data + offset;
      data.key = complement_.key;
    }
    window_.start(data, {target_.address + static_cast<std::uint64_t>(offset), target_.key});
  }
  std::byte* const place = parts_.numbers.data + number % kNumberPlaces * sizeof number;
  std::memcpy(place, &number, sizeof number);
  window_.start({place, sizeof number, parts_.numbers.key}, parts_.flag.remote);
  window_.flush();
}

void ReaderBackend::recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*from*/) {
  wait_for_reader();
}

void ReaderBackend::wait_for_reader() {
  constexpr int kSpinsPerLook = 1000;
  const std::uint64_t number = ++received_;
  (void)window_.poll();  // sent requests may have completed meanwhile, and nothing else is to be done now
  Seconds since = 0;
  for (int spins = 1; !has_come(parts_.reader.seen(), number); ++spins) {
    if (spins % kSpinsPerLook != 0) continue;
    if (since == 0) since = now();
    look(since);
  }
}

/// Restarts a reader that timed out while this rank was not waiting for it.
void ReaderBackend::look(Seconds since) {
  if (abandoned_) throw Error(ExitStatus::kFailure, "verbs: gave up the operations in flight");
  (void)window_.poll();
  if (parts_.reader.has_stopped()) {
    stop_reading();
    task_.first = received_;
    parts_.reader.begin(task_);
  }
  window_.check_patience(since, "the reader to see a message");
  std::this_thread::yield();
}

void ReaderBackend::stop_reading() {
  const ReaderFindings now_found = parts_.reader.end();
  found_.checked += now_found.checked;
  if (found_.wrong == 0) {
    found_.first_wrong = now_found.first_wrong;
    found_.expected = now_found.expected;
    found_.got = now_found.got;
  }
  found_.wrong += now_found.wrong;
}

/// The harness checks its own kind of message.
void ReaderBackend::wait_for_remote_writes() {
  if (is_complement(sent_)) exchange(1);
  window_.finish();
  stop_reading();
  parts_.barrier();
}

std::optional<Mismatch> ReaderBackend::own_mismatch() {
  if (found_.wrong == 0) return std::nullopt;
  Mismatch mismatch;
  mismatch.count = found_.wrong;
  mismatch.first_offset = found_.first_wrong - visit_from_;
  mismatch.expected = fmt::format("a message with the sum {:#018x} when its number was seen", found_.expected);
  mismatch.got = fmt::format("{:#018x}", found_.got);
  return mismatch;
}

FlushBackend::FlushBackend(VerbsBackend& messages, Connection& loopback, const RequestWindowSettings& settings,
                           const LocalPart& into, Known known)
    : messages_(messages), window_(loopback, reads_of(settings)), into_(into), known_(std::move(known)) {}

void FlushBackend::forget_block(const std::byte* data) noexcept {
  if (known_at_ != data) return;
  known_.forget();
  known_at_ = nullptr;
}

/// For a message of no bytes, reads the buffer's first bytes.
void FlushBackend::recv(void* buffer, std::size_t count, DataType datatype, int from) {
  messages_.recv(buffer, count, datatype, from);
  const std::size_t bytes = count * facts(datatype).size;
  const std::size_t read = bytes == 0 ? into_.bytes : std::min<std::size_t>(bytes, into_.bytes);
  const std::byte* const last = static_cast<const std::byte*>(buffer) + std::max(bytes, read) - read;
  window_.start({into_.data, static_cast<std::uint32_t>(read), into_.key},
                {reinterpret_cast<std::uint64_t>(last), key_});
  window_.finish();
}

void FlushBackend::prepare(std::span<const std::byte> send, std::span<std::byte> recv) {
  if (known_at_ != recv.data()) {
    key_ = known_.make(recv);
    known_at_ = recv.data();
  }
  messages_.prepare(send, recv);
}

class VisibilityParts::Loopback {
 public:
  /// Uses the port and the GID of the pair's connection. Throws Error (missing).
  Loopback(const OpenDevice& device, const NegotiatedSettings& negotiated, bool data_direct)
      : connection_(device, ConnectionSettings{.data_direct = data_direct}),
        read_region_(connection_.register_memory(read_.data(), read_.size())) {
    NegotiatedSettings own = negotiated;
    own.transport = Transport::kRc;
    own.own = connection_.connect_info(negotiated.own.host);
    own.peer = own.own;
    const int gid = negotiated.own_gid().index;
    own.agreed.gids = {gid, gid, negotiated.agreed.gids.description};
    DirectConnector connector;
    connection_.connect(connector, own, connector.listen(own));
  }

  [[nodiscard]] Connection& connection() { return connection_; }
  /// The host memory that reads write to.
  [[nodiscard]] LocalPart into() {
    return {read_.data(), static_cast<std::uint32_t>(read_.size()), read_region_->lkey};
  }
  /// Registers memory of `source` in place of the previous memory. Returns its rkey. Throws Error (missing).
  [[nodiscard]] std::uint32_t make_known(BufferSource& source, std::span<std::byte> memory) {
    known_ = connection_.register_block(source, memory.data(), memory.size()).region;
    return known_->rkey;
  }
  /// Deregisters the memory, which is about to be released.
  void forget() noexcept { known_.reset(); }

 private:
  VerbsConnection connection_;
  std::array<std::byte, 8> read_{};
  MemoryRegion read_region_;
  MemoryRegion known_;
};

VisibilityParts::VisibilityParts(SeenBy seen_by, std::unique_ptr<MessageReader> reader, VisibilitySurroundings around)
    : seen_by_(seen_by), around_(std::move(around)), reader_(std::move(reader)) {
  const Seconds patience = std::max(kLeastPatience, around_.window.options.stall_timeout);
  round_trip_ = reader_->round_trip(kRoundTrips, patience);
  if (seen_by_ == SeenBy::kFlush) open_flush();
  if (seen_by_ != SeenBy::kReader) return;
  numbers_ = std::make_unique<std::array<std::byte, kNumberBytes>>();
  numbers_region_ = around_.connection.register_memory(numbers_->data(), numbers_->size());
}

VisibilityParts::~VisibilityParts() {
  backend_.reset();  // ends the reader
  reader_.reset();
  for (OwnBlock& block : blocks_) {
    block.region.reset();
    around_.buffers.release(block.data);
  }
}

void VisibilityParts::open_flush() {
  loopback_ = std::make_unique<Loopback>(around_.device, around_.negotiated, around_.window.options.data_direct);
  const auto make_known = [this](std::span<std::byte> recv) { return loopback_->make_known(around_.buffers, recv); };
  const auto forget = [this] { loopback_->forget(); };
  backend_ = std::make_unique<FlushBackend>(around_.messages, loopback_->connection(), around_.window,
                                            loopback_->into(), FlushBackend::Known{make_known, forget});
}

void VisibilityParts::use_flag(const Block& flag) {
  around_.buffers.memory().set({flag.data, flag.bytes}, 0);
  ReaderBackend::Parts parts{
      .connection = around_.connection,
      .reader = *reader_,
      .memory = around_.buffers.memory(),
      .rank = around_.rank,
      .gather = around_.gather,
      .barrier = around_.barrier,
      .make_block = [this](std::size_t bytes) { return make_block(bytes); },
      .flag = flag,
      .numbers = {numbers_->data(), static_cast<std::uint32_t>(numbers_->size()), numbers_region_->lkey},
      .on_host = around_.buffers.on_host()};
  backend_ = std::make_unique<ReaderBackend>(std::move(parts), around_.window);
}

LocalPart VisibilityParts::make_block(std::size_t bytes) {
  blocks_.push_back({around_.buffers.allocate(bytes), {}});
  OwnBlock& made = blocks_.back();
  made.region = around_.connection.register_block(around_.buffers, made.data, bytes).region;
  return {made.data, static_cast<std::uint32_t>(bytes), made.region->lkey};
}

}  // namespace fabricbench::verbs
