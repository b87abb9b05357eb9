#include "common/host/checks/settings.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

constexpr const char* kEnvironment = "the environment";

/// Adds what a file says of variables that are not set yet. `prefix`: of the variables, where the file leaves it out.
void add_file(Look& look, const std::string& file, const std::string& prefix, Settings& settings) {
  const auto text = look.text_if_any(file);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) break;  // of UCX: from here on, only on some processors and boards
    const std::size_t sign = line.find('=');
    if (sign == std::string::npos || line.starts_with('#')) continue;
    std::string name = line.substr(0, sign);
    std::string value = line.substr(sign + 1);
    if (prefix != "NCCL_") {  // which takes blanks as they are
      name = without_blanks(name);
      value = without_blanks(value);
    }
    if (!name.starts_with(prefix)) name.insert(0, prefix == "OMPI_MCA_" ? prefix : "");
    settings.try_emplace(name, Setting{value, file});
  }
}

/// Where Open MPI is installed.
std::optional<std::string> mpi_prefix(Look& look) {
  if (auto prefix = look.text_if_any("env/OPAL_PREFIX")) return prefix;
  const auto launcher = look.text_if_any("system/program/mpirun");
  if (!launcher) return std::nullopt;
  return std::filesystem::path(*launcher).parent_path().parent_path().string();
}

}  // namespace

Settings environment_settings(Look& look, std::string_view beginning) {
  Settings settings;
  for (const std::string& name : look.names("env")) {
    if (!name.starts_with(beginning)) continue;
    if (auto value = look.text_if_any("env/" + name)) settings[name] = {*value, kEnvironment};
  }
  return settings;
}

std::vector<std::string> nccl_files(Look& look) {
  const auto named = look.text_if_any("env/NCCL_CONF_FILE");
  return {named && !named->empty() ? *named : look.text("system/home") + "/.nccl.conf", "/etc/nccl.conf"};
}

Settings nccl_settings(Look& look) {
  Settings settings = environment_settings(look, "NCCL_");
  for (const std::string& file : nccl_files(look)) add_file(look, file, "NCCL_", settings);
  return settings;
}

Settings ucx_settings(Look& look) {
  Settings settings = environment_settings(look, "UCX_");
  for (const char* variable : {"env/UCX_CONFIG_DIR", "env/HOME"}) {
    if (const auto folder = look.text_if_any(variable)) add_file(look, *folder + "/ucx.conf", "UCX_", settings);
  }
  add_file(look, "/etc/ucx/ucx.conf", "UCX_", settings);
  return settings;
}

Settings mpi_settings(Look& look) {
  Settings settings = environment_settings(look, "OMPI_MCA_");
  if (const auto home = look.text_if_any("env/HOME"))
    add_file(look, *home + "/.openmpi/mca-params.conf", "OMPI_MCA_", settings);
  const auto prefix = mpi_prefix(look);
  if (!prefix) return settings;
  add_file(look, *prefix + "/etc/openmpi-mca-params.conf", "OMPI_MCA_", settings);
  if (*prefix == "/usr") add_file(look, "/etc/openmpi/openmpi-mca-params.conf", "OMPI_MCA_", settings);
  return settings;
}

std::optional<Setting> find_setting(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  if (found == settings.end() || found->second.value.empty()) return std::nullopt;
  return found->second;
}

std::optional<Setting> find_nccl_setting(Look& look, const std::string& name) {
  return find_setting(nccl_settings(look), name);
}

NameList NameList::of(std::string_view text) {
  NameList list;
  list.excludes = text.starts_with('^');
  if (list.excludes) text.remove_prefix(1);
  list.is_exact = text.starts_with('=');
  if (list.is_exact) text.remove_prefix(1);
  std::istringstream words{std::string(text)};
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t colon = word.find(':');
    ListedName listed{word.substr(0, colon)};
    if (colon != std::string::npos) listed.port = word.substr(colon + 1);
    if (!listed.name.empty()) list.names.push_back(std::move(listed));
  }
  return list;
}

bool NameList::matches(const ListedName& listed, const std::string& name) const {
  return is_exact ? name == listed.name : name.starts_with(listed.name);
}

bool NameList::selects(const std::string& name) const {
  if (names.empty()) return true;
  return excludes !=
         std::any_of(names.begin(), names.end(), [&](const ListedName& listed) { return matches(listed, name); });
}

}  // namespace fabricbench::host
