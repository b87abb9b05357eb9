#include "common/backends/rdma_cm/channel.h"
#include "common/record/packing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace fabricbench::rdma_cm {
namespace {

constexpr std::uint64_t kSecret = 0xfedcba9876543210;

/// What a listener gets of a request with this private data.
std::optional<std::uint32_t> heard(const PrivateData& private_data, std::size_t bytes, Transport transport) {
  rdma_cm_event request{};
  if (transport == Transport::kUd) {
    request.param.ud.private_data = private_data.data();
    request.param.ud.private_data_len = static_cast<std::uint8_t>(bytes);
  } else {
    request.param.conn.private_data = private_data.data();
    request.param.conn.private_data_len = static_cast<std::uint8_t>(bytes);
  }
  return number_in(request, transport, kSecret);
}

TEST(ListenInfo, IsTheSameAtTheOtherRank) {
  const ListenInfo read = record::unpack<ListenInfo>(record::pack(ListenInfo{65535, UINT64_MAX}));
  EXPECT_EQ(read.port, 65535);
  EXPECT_EQ(read.secret, UINT64_MAX);
}

TEST(ListenInfo, LetsInWhoBringsTheSecret) {
  for (const Transport transport : {Transport::kRc, Transport::kUd}) {
    const PrivateData private_data = make_private_data(kSecret, 0x01020304);
    EXPECT_EQ(heard(private_data, private_data.size(), transport), 0x01020304U);
  }
}

TEST(ListenInfo, LetsNobodyElseIn) {
  const PrivateData own = make_private_data(kSecret, 7);
  for (std::size_t place = 0; place < sizeof kSecret; ++place) {
    PrivateData wrong = own;
    wrong[place] ^= std::byte{1};
    EXPECT_EQ(heard(wrong, wrong.size(), Transport::kRc), std::nullopt) << place;
  }
  EXPECT_EQ(heard(own, own.size() - 1, Transport::kRc), std::nullopt);
  EXPECT_EQ(heard(own, 0, Transport::kUd), std::nullopt);
  EXPECT_EQ(number_in(rdma_cm_event{}, Transport::kRc, kSecret), std::nullopt) << "no private data at all";
}

}  // namespace
}  // namespace fabricbench::rdma_cm
