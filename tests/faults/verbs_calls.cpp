// Functions of libibverbs that may go wrong. Those that verbs.h calls through the context are put there when a device
// is opened.

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faulty_calls.h"

using fabricbench::test::Function;
using fabricbench::test::next;

namespace {

/// A null pointer where it fails.
template <typename Made, typename... Parameters>
Made* made(Function& function, int error, Made* (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  if (!function.fails()) return real(arguments...);
  errno = error;
  return nullptr;
}

/// What failed without errno, which keeps what it was.
template <typename... Parameters>
int done(Function& function, int failure, int (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return function.fails() ? failure : real(arguments...);
}

/// Of the provider, by context.
ibv_context_ops g_real{};

int post_send(ibv_qp* queue_pair, ibv_send_wr* first, ibv_send_wr** refused) {
  static Function self("ibv_post_send");
  *refused = first;
  return done(self, ENOMEM, g_real.post_send, queue_pair, first, refused);
}

int post_recv(ibv_qp* queue_pair, ibv_recv_wr* first, ibv_recv_wr** refused) {
  static Function self("ibv_post_recv");
  *refused = first;
  return done(self, ENOMEM, g_real.post_recv, queue_pair, first, refused);
}

int post_srq_recv(ibv_srq* queue, ibv_recv_wr* first, ibv_recv_wr** refused) {
  static Function self("ibv_post_srq_recv");
  *refused = first;
  return done(self, ENOMEM, g_real.post_srq_recv, queue, first, refused);
}

int poll_cq(ibv_cq* queue, int most, ibv_wc* taken) {
  static Function self("ibv_poll_cq");
  return done(self, -1, g_real.poll_cq, queue, most, taken);
}

int req_notify_cq(ibv_cq* queue, int solicited_only) {
  static Function self("ibv_req_notify_cq");
  return done(self, EINVAL, g_real.req_notify_cq, queue, solicited_only);
}

/// All devices are taken to be of one provider.
void come_between(ibv_context& context) {
  if (context.ops.poll_cq == poll_cq) return;
  g_real = context.ops;
  context.ops.post_send = post_send;
  context.ops.post_recv = post_recv;
  context.ops.post_srq_recv = post_srq_recv;
  context.ops.poll_cq = poll_cq;
  context.ops.req_notify_cq = req_notify_cq;
}

}  // namespace

extern "C" {

// In parentheses, as verbs.h has macros of some of these names.
ibv_device**(ibv_get_device_list)(int* count) {
  static Function self("ibv_get_device_list");
  return made(self, EPERM, next<ibv_device**(int*)>("ibv_get_device_list"), count);
}

void(ibv_free_device_list)(ibv_device** list) {
  static Function self("ibv_free_device_list");
  if (!self.fails()) next<void(ibv_device**)>("ibv_free_device_list")(list);
}

ibv_context*(ibv_open_device)(ibv_device* device) {
  static Function self("ibv_open_device");
  ibv_context* const context = made(self, EMFILE, next<ibv_context*(ibv_device*)>("ibv_open_device"), device);
  if (context != nullptr) come_between(*context);
  return context;
}

int(ibv_close_device)(ibv_context* context) {
  static Function self("ibv_close_device");
  return done(self, -1, next<int(ibv_context*)>("ibv_close_device"), context);
}

int(ibv_query_device)(ibv_context* context, ibv_device_attr* limits) {
  static Function self("ibv_query_device");
  return done(self, EIO, next<int(ibv_context*, ibv_device_attr*)>("ibv_query_device"), context, limits);
}

int(ibv_query_port)(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  static Function self("ibv_query_port");
  static auto* const real = next<int(ibv_context*, std::uint8_t, _compat_ibv_port_attr*)>("ibv_query_port");
  return done(self, EIO, real, context, port, attributes);
}

int(ibv_query_pkey)(ibv_context* context, std::uint8_t port, int index, __be16* key) {
  static Function self("ibv_query_pkey");
  static auto* const real = next<int(ibv_context*, std::uint8_t, int, __be16*)>("ibv_query_pkey");
  return done(self, -1, real, context, port, index, key);
}

int(ibv_query_gid)(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  static Function self("ibv_query_gid");
  static auto* const real = next<int(ibv_context*, std::uint8_t, int, ibv_gid*)>("ibv_query_gid");
  return done(self, -1, real, context, port, index, gid);
}

ssize_t(_ibv_query_gid_table)(ibv_context* context, ibv_gid_entry* entries, std::size_t most, std::uint32_t flags,
                              std::size_t entry_size) {
  static Function self("ibv_query_gid_table");
  using Query = ssize_t(ibv_context*, ibv_gid_entry*, std::size_t, std::uint32_t, std::size_t);
  if (self.fails()) return -EOPNOTSUPP;
  return next<Query>("_ibv_query_gid_table")(context, entries, most, flags, entry_size);
}

ibv_pd*(ibv_alloc_pd)(ibv_context* context) {
  static Function self("ibv_alloc_pd");
  return made(self, ENOMEM, next<ibv_pd*(ibv_context*)>("ibv_alloc_pd"), context);
}

int(ibv_dealloc_pd)(ibv_pd* domain) {
  static Function self("ibv_dealloc_pd");
  return done(self, EBUSY, next<int(ibv_pd*)>("ibv_dealloc_pd"), domain);
}

ibv_mr*(ibv_reg_mr)(ibv_pd* domain, void* data, std::size_t bytes, int access) {
  static Function self("ibv_reg_mr");
  return made(self, ENOMEM, next<ibv_mr*(ibv_pd*, void*, std::size_t, int)>("ibv_reg_mr"), domain, data, bytes, access);
}

ibv_mr*(ibv_reg_mr_iova2)(ibv_pd* domain, void* data, std::size_t bytes, std::uint64_t address, unsigned access) {
  static Function self("ibv_reg_mr_iova2");
  using Register = ibv_mr*(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned);
  return made(self, ENOMEM, next<Register>("ibv_reg_mr_iova2"), domain, data, bytes, address, access);
}

ibv_mr*(ibv_reg_dmabuf_mr)(ibv_pd* domain, std::uint64_t offset, std::size_t bytes, std::uint64_t address, int file,
                           int access) {
  static Function makes("ibv_reg_dmabuf_mr");
  static Function asks("ibv_reg_dmabuf_mr_without_file");  // whether the device can do it
  Function& self = file < 0 ? asks : makes;
  using Register = ibv_mr*(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int);
  return made(self, EOPNOTSUPP, next<Register>("ibv_reg_dmabuf_mr"), domain, offset, bytes, address, file, access);
}

int(ibv_dereg_mr)(ibv_mr* region) {
  static Function self("ibv_dereg_mr");
  return done(self, EBUSY, next<int(ibv_mr*)>("ibv_dereg_mr"), region);
}

ibv_comp_channel*(ibv_create_comp_channel)(ibv_context* context) {
  static Function self("ibv_create_comp_channel");
  return made(self, EMFILE, next<ibv_comp_channel*(ibv_context*)>("ibv_create_comp_channel"), context);
}

int(ibv_destroy_comp_channel)(ibv_comp_channel* channel) {
  static Function self("ibv_destroy_comp_channel");
  return done(self, EBUSY, next<int(ibv_comp_channel*)>("ibv_destroy_comp_channel"), channel);
}

int(ibv_get_cq_event)(ibv_comp_channel* channel, ibv_cq** queue, void** context) {
  static Function self("ibv_get_cq_event");
  if (self.fails()) {
    errno = EIO;
    return -1;
  }
  return next<int(ibv_comp_channel*, ibv_cq**, void**)>("ibv_get_cq_event")(channel, queue, context);
}

void(ibv_ack_cq_events)(ibv_cq* queue, unsigned events) {
  static Function self("ibv_ack_cq_events");
  if (!self.fails()) next<void(ibv_cq*, unsigned)>("ibv_ack_cq_events")(queue, events);
}

ibv_cq*(ibv_create_cq)(ibv_context* context, int entries, void* own, ibv_comp_channel* channel, int vector) {
  static Function self("ibv_create_cq");
  static auto* const real = next<ibv_cq*(ibv_context*, int, void*, ibv_comp_channel*, int)>("ibv_create_cq");
  return made(self, ENOMEM, real, context, entries, own, channel, vector);
}

int(ibv_destroy_cq)(ibv_cq* queue) {
  static Function self("ibv_destroy_cq");
  return done(self, EBUSY, next<int(ibv_cq*)>("ibv_destroy_cq"), queue);
}

ibv_srq*(ibv_create_srq)(ibv_pd* domain, ibv_srq_init_attr* wanted) {
  static Function self("ibv_create_srq");
  return made(self, ENOMEM, next<ibv_srq*(ibv_pd*, ibv_srq_init_attr*)>("ibv_create_srq"), domain, wanted);
}

int(ibv_destroy_srq)(ibv_srq* queue) {
  static Function self("ibv_destroy_srq");
  return done(self, EBUSY, next<int(ibv_srq*)>("ibv_destroy_srq"), queue);
}

ibv_qp*(ibv_create_qp)(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  static Function self("ibv_create_qp");
  return made(self, ENOMEM, next<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)>("ibv_create_qp"), domain, wanted);
}

int(ibv_modify_qp)(ibv_qp* queue_pair, ibv_qp_attr* wanted, int mask) {
  static Function self("ibv_modify_qp");
  return done(self, EINVAL, next<int(ibv_qp*, ibv_qp_attr*, int)>("ibv_modify_qp"), queue_pair, wanted, mask);
}

int(ibv_destroy_qp)(ibv_qp* queue_pair) {
  static Function self("ibv_destroy_qp");
  return done(self, EBUSY, next<int(ibv_qp*)>("ibv_destroy_qp"), queue_pair);
}

ibv_ah*(ibv_create_ah)(ibv_pd* domain, ibv_ah_attr* way) {
  static Function self("ibv_create_ah");
  return made(self, ENETUNREACH, next<ibv_ah*(ibv_pd*, ibv_ah_attr*)>("ibv_create_ah"), domain, way);
}

int(ibv_destroy_ah)(ibv_ah* way) {
  static Function self("ibv_destroy_ah");
  return done(self, EBUSY, next<int(ibv_ah*)>("ibv_destroy_ah"), way);
}

}  // extern "C"
