#include "common/harness/row_packing.h"

#include <cstring>
#include <type_traits>

namespace fabricbench {
namespace {

/// Writes values one behind the other.
class Packer {
 public:
  template <typename T>
  void raw(T& value) {
    packed_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename Container>
  void resize(Container& container) {
    std::uint64_t size = container.size();
    raw(size);
  }
  template <typename T>
  bool engage(std::optional<T>& value) {
    bool engaged = value.has_value();
    raw(engaged);
    return engaged;
  }
  [[nodiscard]] std::string take() { return std::move(packed_); }

 private:
  std::string packed_;
};

/// Reads them back.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : packed_(packed) {}
  template <typename T>
  void raw(T& value) {
    std::memcpy(&value, packed_.data(), sizeof value);
    packed_.remove_prefix(sizeof value);
  }
  template <typename Container>
  void resize(Container& container) {
    std::uint64_t size = 0;
    raw(size);
    container.resize(size);
  }
  template <typename T>
  bool engage(std::optional<T>& value) {
    bool engaged = false;
    raw(engaged);
    if (engaged) value.emplace();
    return engaged;
  }

 private:
  std::string_view packed_;
};

// Each type's fields are named once, for both directions.
template <typename Archive, typename T>
void fields(Archive& archive, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  archive.raw(value);
}

template <typename Archive>
void fields(Archive& archive, std::string& text) {
  archive.resize(text);
  for (char& character : text) archive.raw(character);
}

template <typename Archive, typename T>
void fields(Archive& archive, std::vector<T>& values) {
  archive.resize(values);
  for (T& value : values) fields(archive, value);
}

template <typename Archive, typename T>
void fields(Archive& archive, std::optional<T>& value) {
  if (archive.engage(value)) fields(archive, *value);
}

template <typename Archive>
void fields(Archive& archive, LibraryChoice& choice) {
  fields(archive, choice.algorithm);
  fields(archive, choice.protocol);
  fields(archive, choice.channels);
}

template <typename Archive>
void fields(Archive& archive, WireBytes& wire) {
  fields(archive, wire.host);
  fields(archive, wire.name);
  fields(archive, wire.sent);
  fields(archive, wire.received);
}

template <typename Archive>
void fields(Archive& archive, Measurement& measured) {
  fields(archive, measured.summary);
  fields(archive, measured.cpu_time);
  fields(archive, measured.host_time);
  fields(archive, measured.rank_times);
  fields(archive, measured.algbw);
  fields(archive, measured.busbw);
  fields(archive, measured.message_rate);
  fields(archive, measured.directions);
  fields(archive, measured.retransmitted);
  fields(archive, measured.iterations);
  fields(archive, measured.operations_per_sample);
  fields(archive, measured.wrong);
  fields(archive, measured.wrong_ranks);
  fields(archive, measured.first_wrong);
  fields(archive, measured.choice);
  fields(archive, measured.iteration_times);
  fields(archive, measured.wires);
  fields(archive, measured.lost);
  fields(archive, measured.samples);
}

template <typename Archive>
void fields(Archive& archive, CopyGpu& gpu) {
  fields(archive, gpu.device);
  fields(archive, gpu.pci);
  fields(archive, gpu.model);
  fields(archive, gpu.numa_node);
}

template <typename Archive>
void fields(Archive& archive, CopyBound& bound) {
  fields(archive, bound.bytes_per_s);
  fields(archive, bound.by);
}

/// All that is known before copies are compared.
template <typename Archive>
void fields(Archive& archive, CopyRow& row) {
  fields(archive, row.host);
  fields(archive, row.gpu);
  fields(archive, row.kind);
  fields(archive, row.memory_node);
  fields(archive, row.peer);
  fields(archive, row.over_host);
  fields(archive, row.size);
  fields(archive, row.summary);
  fields(archive, row.bandwidth);
  fields(archive, row.directions);
  fields(archive, row.bound);
  fields(archive, row.wrong);
  fields(archive, row.first_wrong);
}

template <typename Archive>
void fields(Archive& archive, Row& row) {
  fields(archive, row.size);
  fields(archive, row.count);
  fields(archive, row.datatype);
  fields(archive, row.reduction);
  fields(archive, row.root);
  fields(archive, row.group);
  fields(archive, row.traffic);
  fields(archive, row.skipped);
  fields(archive, row.out_of_place);
  fields(archive, row.in_place);
  fields(archive, row.finished);
}

template <typename Archive>
void fields(Archive& archive, ConnectRow& row) {
  fields(archive, row.pair);
  fields(archive, row.steps);
  fields(archive, row.connections);
  fields(archive, row.failed);
  fields(archive, row.rate);
  fields(archive, row.messages);
  fields(archive, row.lost);
  fields(archive, row.wrong);
  fields(archive, row.first_wrong);
  fields(archive, row.status);
  fields(archive, row.problem);
}

}  // namespace

std::string pack(const std::vector<Row>& rows) {
  std::vector<Row> copy = rows;
  Packer packer;
  fields(packer, copy);
  return packer.take();
}

std::vector<Row> unpack(std::string_view packed) {
  std::vector<Row> rows;
  Unpacker unpacker(packed);
  fields(unpacker, rows);
  return rows;
}

std::string pack(const std::vector<CopyRow>& rows) {
  std::vector<CopyRow> copy = rows;
  Packer packer;
  fields(packer, copy);
  return packer.take();
}

std::vector<CopyRow> unpack_copies(std::string_view packed) {
  std::vector<CopyRow> rows;
  Unpacker unpacker(packed);
  fields(unpacker, rows);
  return rows;
}

std::string pack(const ConnectRow& row) {
  ConnectRow copy = row;
  Packer packer;
  fields(packer, copy);
  return packer.take();
}

ConnectRow unpack_connections(std::string_view packed) {
  ConnectRow row;
  Unpacker unpacker(packed);
  fields(unpacker, row);
  return row;
}

std::string pack(EpochRecord record) {
  Packer packer;
  fields(packer, record);
  return packer.take();
}

EpochRecord unpack_epoch(std::string_view packed) {
  EpochRecord record;
  Unpacker unpacker(packed);
  fields(unpacker, record);
  return record;
}

}  // namespace fabricbench
