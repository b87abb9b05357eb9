#include "common/host/checks/checks.h"
#include "common/host/checks/settings.h"

#include <utility>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

struct Plugin {
  std::string variable;
  std::string library;  ///< what NCCL takes where the variable is not set
};

/// NCCL tries the name itself, and then as a part of the library's name. Source: NCCL's src/plugin/plugin_open.cc.
std::vector<std::string> library_names(const Plugin& plugin, const std::string& value) {
  if (value.empty()) return {plugin.library};
  const bool is_full = value.find('/') != std::string::npos || (value.starts_with("lib") && value.ends_with(".so"));
  if (is_full) return {value};
  const std::string stem = plugin.library.substr(0, plugin.library.size() - std::string_view(".so").size());
  return {value, fmt::format("{}-{}.so", stem, value)};
}

bool is_missing(const std::string& answer, const std::string& library) {
  return answer.starts_with(fmt::format("fails {}: cannot open shared object file", library));
}

/// The path of the library that loads, or why none of them does; empty: there is none of the name.
std::pair<std::string, std::string> try_to_load(Look& host, const std::vector<std::string>& libraries) {
  std::string complaint;
  for (const std::string& library : libraries) {
    const std::string answer = host.text("system/library/" + library);
    const std::size_t word = answer.find(' ') + 1;
    if (answer.starts_with("loads ")) return {answer.substr(word), ""};
    if (!is_missing(answer, library)) complaint = answer.substr(word);
  }
  return {"", complaint};
}

void examine_plugin(Look& host, const Plugin& plugin, const Settings& settings) {
  const auto setting = find_setting(settings, plugin.variable);
  const std::string value = setting ? setting->value : "";
  const bool is_wanted = value != "none" && value != "STATIC_PLUGIN";
  const auto [path, complaint] =
      is_wanted ? try_to_load(host, library_names(plugin, value)) : std::pair<std::string, std::string>();
  host.state({.key = "plugin",
              .among = plugin.variable,
              .value = !is_wanted     ? "switched off"
                       : path.empty() ? "none"
                                      : path});
  if (!path.empty() || !is_wanted || (!setting && complaint.empty())) return;
  host.report({.level = CheckLevel::kFailure,
               .device = setting ? fmt::format("{}={}", plugin.variable, value) : plugin.library,
               .measured = complaint.empty() ? "there is no such library" : "it does not load: " + complaint,
               .expected = "a library that loads",
               .expected_by = setting ? setting->origin : "it is installed",
               .consequence = "NCCL goes on without it, by verbs or sockets: on EFA at a fraction of the speed",
               .next = "LD_LIBRARY_PATH, ldd of the library; NCCL_DEBUG=INFO shows what NCCL loads"});
}

void examine_net_plugins(Look& host) {
  const Settings settings = nccl_settings(host);
  host.attempt([&] { examine_plugin(host, {"NCCL_NET_PLUGIN", "libnccl-net.so"}, settings); });
  host.attempt([&] { examine_plugin(host, {"NCCL_TUNER_PLUGIN", "libnccl-tuner.so"}, settings); });
}

/// Without NCCL nobody loads plug-ins.
std::optional<std::string> no_nccl(Look& host) {
  if (host.text("system/library/libnccl.so.2").starts_with("loads ")) return std::nullopt;
  if (find_setting(nccl_settings(host), "NCCL_NET_PLUGIN")) return std::nullopt;
  return "no NCCL";
}

}  // namespace

Check net_plugins_check() {
  return {
      .name = "net_plugins",
      .what = "Plug-ins of NCCL load, and are the same on all hosts.",
      .reads = "dlopen(3) of libnccl-net.so, libnccl-tuner.so, or of what NCCL_NET_PLUGIN and NCCL_TUNER_PLUGIN name",
      .absent = no_nccl,
      .look = examine_net_plugins,
      .compared = {{.key = "plugin",
                    .title = "plug-in of NCCL",
                    .level = CheckLevel::kFailure,
                    .consequence = "ranks speak other protocols than their peers, and hang",
                    .next = "install the same package on all hosts"}}};
}

}  // namespace fabricbench::host
