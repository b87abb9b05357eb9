#include "common/backends/rdma_cm/endpoint.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace fabricbench::rdma_cm {
namespace {

/// The reasons of rejections that occur in practice. Source: InfiniBand specification 12.6.7.2.
const char* words_of_rejection(int reason) {
  switch (reason) {
    case 1: return "no queue pair";
    case 3: return "no resources";
    case 4: return "timeout";
    case 6: return "invalid communication ID";
    case 8: return "nobody listens there";
    case 9: return "invalid transport service type";
    case 10: return "stale connection";
    case 12: return "invalid GID";
    case 28: return "by the program that listens";
    default: return "see the InfiniBand specification, 12.6.7.2";
  }
}

std::string words_of_status(const Event& event) {
  if (event.status < 0) return std::strerror(-event.status);
  if (event.status == 0) return "no reason given";
  return event.kind == EventKind::kRejected ? words_of_rejection(event.status) : "see the kernel's log (dmesg)";
}

const char* advice(EventKind kind) {
  switch (kind) {
    case EventKind::kAddressError:
      return "the address of the other rank does not answer, or this device cannot reach it; are both interfaces up "
             "and "
             "in one network (ip neigh, ip route get)?";
    case EventKind::kRouteError:
      return "no path to the other rank's port was found; on InfiniBand check the subnet manager (sminfo), on RoCE "
             ""
             "the route (ip route get)";
    case EventKind::kConnectError:
      return "the queue pair could not be connected; do both ports have the same MTU and VLAN (ibv_devinfo, ip link)?";
    case EventKind::kUnreachable:
      return "requests to connect are not answered; is the other rank's port up, and do UDP port 4791 (RoCE v2) and "
             "MADs "
             "pass the firewall?";
    case EventKind::kRejected:
      return "the other rank's host refused; is its address on the device chosen there, and does it have queue "
             "pairs and memory left (ulimit -l)?";
    case EventKind::kDisconnected: return "the other rank disconnected; see its messages";
    case EventKind::kDeviceRemoved: return "the device was removed; see the kernel's log (dmesg)";
    case EventKind::kAddressChange:
      return "the interface's hardware address changed, as in a bond's failover; try again";
    default: return "unexpected event; try again";
  }
}

const char* doing(ConnectStep step) {
  switch (step) {
    case ConnectStep::kResolveAddress: return "resolving the address of";
    case ConnectStep::kResolveRoute: return "resolving the route to";
    case ConnectStep::kConnect: return "connecting with";
    case ConnectStep::kFirstMessage: return "exchanging messages with";
    case ConnectStep::kDisconnect: return "disconnecting from";
  }
  return "";
}

}  // namespace

std::string in_step(ConnectStep step, const std::string& peer, const std::string& why) {
  return fmt::format("{} {}: {}", doing(step), peer, why);
}

std::string_view name(EventKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {
      "RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
      "RDMA_CM_EVENT_ROUTE_ERROR",   "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR", "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
      "RDMA_CM_EVENT_ESTABLISHED",   "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_ADDR_CHANGE",   "another event of rdma_cm"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string explain(const Event& event) {
  return fmt::format("{} (status {}, {}): {}", name(event.kind), event.status, words_of_status(event),
                     advice(event.kind));
}

std::string explain_silence(ConnectStep step, Seconds limit) {
  const char* why = "";
  switch (step) {
    case ConnectStep::kResolveAddress:
      why = "its address does not answer; is its interface up, and are both in one network (ip neigh, ip route get)?";
      break;
    case ConnectStep::kResolveRoute:
      why = "no answer about the path; on InfiniBand check the subnet manager (sminfo), on RoCE the route";
      break;
    case ConnectStep::kConnect:
      why =
          "requests to connect or their answers do not arrive; is its port up, and do UDP port 4791 (RoCE v2) and MADs "
          "pass the firewall?";
      break;
    case ConnectStep::kFirstMessage:
      why =
          "the connection is established and carries no messages; are packets lost, is the MTU larger than a switch "
          "allows, or does flow control block everything?";
      break;
    case ConnectStep::kDisconnect:
      why = "the disconnect was not answered; are packets lost, or did the other rank hang?";
      break;
  }
  return fmt::format("nothing came within {}, by --stall-timeout: {}", readable_seconds(limit), why);
}

}  // namespace fabricbench::rdma_cm
