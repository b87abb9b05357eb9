#include "cluster/run/preset.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/host/files.h"
#include "common/record/read.h"

namespace fabricbench::expected {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".jsonl";

class PresetReader {
 public:
  explicit PresetReader(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] Preset read(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (preset_.start.version < 1) fail("there is no line of kind `preset`");
    if (preset_.figures.empty()) fail("there is no line of kind `preset_figure`");
    return std::move(preset_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ExitStatus::kNotJudged, fmt::format("{}{}: {}; docs/output.md has the format of presets", name_,
                                                    number_ > 0 ? fmt::format(":{}", number_) : "", problem));
  }

  void take(std::string_view line) {
    try {
      const std::string_view kind = lines_.open(line);
      if (kind == "preset") {
        preset_.start = lines_.read<PresetStart>();
      } else if (kind == "preset_figure") {
        preset_.figures.push_back(lines_.read<PresetFigure>());
      } else {
        fail(fmt::format("a line of kind '{}' does not belong here", printable(std::string(kind))));
      }
    } catch (const std::invalid_argument& problem) {
      fail(fmt::format("this is no line of a preset ({})", problem.what()));
    }
    check();
  }

  void check() const {
    if (preset_.start.version < 1) fail("the first line has to be of kind `preset`, with its preset_version");
    if (preset_.start.version > kPresetVersion) {
      fail(fmt::format("preset_version is {}, and this program reads up to {}", preset_.start.version, kPresetVersion));
    }
    if (preset_.figures.empty()) return;
    const PresetFigure& figure = preset_.figures.back();
    if (figure.program.empty()) fail("the figure names no program");
    if (figure.source.empty()) fail("the figure names no source");
    if (!(figure.least > 0) && !(figure.most_time > 0)) fail("neither least_gb_per_s nor most_us is above 0");
    if (figure.usual > 0 && figure.usual < figure.least) fail("usual_gb_per_s is below least_gb_per_s");
    if (figure.to > 0 && figure.to < figure.from) fail("to_bytes is below from_bytes");
  }

  std::string name_;
  std::size_t number_ = 0;
  record::LineReader lines_;
  Preset preset_;
};

bool is_for(const PresetFigure& figure, const Context& context) {
  if (figure.program != context.program) return false;
  if (figure.hosts > 0 && figure.hosts != context.hosts) return false;
  if (figure.ranks > 0 && static_cast<std::size_t>(figure.ranks) != context.ranks.size()) return false;
  return figure.gpu.empty() || std::all_of(context.ranks.begin(), context.ranks.end(), [&](const RankFacts& rank) {
           return rank.gpu && rank.gpu->model.find(figure.gpu) != std::string::npos;
         });
}

PresetComparison beside(const PresetFigure& figure, const std::string& preset, const std::vector<MeasuredRow>& rows) {
  PresetComparison comparison{.preset = preset, .figure = figure};
  const bool by_time = figure.most_time > 0;
  for (const MeasuredRow& row : rows) {
    if (row.key.size < figure.from || (figure.to > 0 && row.key.size > figure.to)) continue;
    const bool is_first = comparison.time <= 0;
    if (!is_first && (by_time ? row.time >= comparison.time : row.busbw <= comparison.busbw)) continue;
    comparison.size = row.key.size;
    comparison.busbw = row.busbw;
    comparison.time = row.time;
  }
  if (comparison.time <= 0) return comparison;
  const bool reached = by_time ? comparison.time <= figure.most_time : comparison.busbw >= figure.least;
  comparison.verdict = reached ? PresetVerdict::kReached : PresetVerdict::kBelow;
  return comparison;
}

/// Of which model the GPUs are, for a message.
std::string gpus_of(const Context& context) {
  const auto& ranks = context.ranks;
  const auto with_gpu = std::find_if(ranks.begin(), ranks.end(), [](const RankFacts& rank) { return rank.gpu; });
  return with_gpu == ranks.end() ? "without GPUs" : fmt::format("and {}", with_gpu->gpu->model);
}

std::string sizes_of(const PresetFigure& figure) {
  if (figure.to == 0) return fmt::format("{} and more", readable_bytes(figure.from));
  if (figure.from == figure.to) return readable_bytes(figure.from);
  return fmt::format("{} to {}", readable_bytes(figure.from), readable_bytes(figure.to));
}

std::string required_by(const PresetFigure& figure) {
  if (figure.most_time > 0) return fmt::format("at most {}", readable_seconds(figure.most_time));
  return figure.usual > 0 ? fmt::format("at least {:.4g} GB/s, usually {:.4g}", figure.least / 1e9, figure.usual / 1e9)
                          : fmt::format("at least {:.4g} GB/s", figure.least / 1e9);
}

std::string line_of(const PresetComparison& comparison) {
  const PresetFigure& figure = comparison.figure;
  const std::string published = fmt::format("published: {} ({})", required_by(figure), figure.source);
  if (comparison.verdict == PresetVerdict::kNotMeasured) {
    return fmt::format("Preset {}: no row of {} was measured; {}", comparison.preset, sizes_of(figure), published);
  }
  const std::string had =
      figure.most_time > 0 ? readable_seconds(comparison.time) : fmt::format("{:.4g} GB/s", comparison.busbw / 1e9);
  const char* const missed = figure.most_time > 0 ? "SLOWER than what is published" : "BELOW what is published";
  return fmt::format("Preset {}: {} at {}, {}; {}", comparison.preset, had, readable_bytes(comparison.size),
                     comparison.verdict == PresetVerdict::kReached ? "as published" : missed, published);
}

}  // namespace

fs::path find_preset(const std::string& preset, const std::vector<fs::path>& folders) {
  std::error_code error;
  if (fs::is_regular_file(preset, error)) return preset;
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    fs::path file = folder / (preset + std::string(kEnding));
    if (preset.find('/') == std::string::npos && fs::is_regular_file(file, error)) return file;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == kEnding) names.insert(entry.path().stem());
    }
  }
  throw Error(ExitStatus::kMissing,
              fmt::format("there is no preset '{}', and no such file; {}", printable(preset),
                          names.empty() ? "give the file of a preset"
                                        : fmt::format("give a file, or one of {}", fmt::join(names, ", "))));
}

Preset read_preset(const fs::path& file) {
  const auto text = host::read_text(file);
  if (!text) throw Error(ExitStatus::kMissing, fmt::format("cannot read the preset '{}'", printable(file.string())));
  return PresetReader(printable(file.string())).read(*text);
}

std::vector<PresetComparison> compare(const Preset& preset, const Context& context,
                                      const std::vector<MeasuredRow>& rows) {
  std::vector<PresetComparison> figures;
  for (const PresetFigure& figure : preset.figures) {
    if (is_for(figure, context)) figures.push_back(beside(figure, preset.start.name, rows));
  }
  return figures;
}

PresetOutcome outcome_of(const Preset& preset, const Context& context, const std::vector<PresetComparison>& figures) {
  PresetOutcome outcome;
  const auto conclude = [&](ExitStatus status, std::string headline) {
    outcome.exit_status = static_cast<int>(status);
    outcome.headline = std::move(headline);
  };
  const auto count = [&](PresetVerdict verdict) {
    return std::count_if(figures.begin(), figures.end(), [&](const auto& each) { return each.verdict == verdict; });
  };
  for (const PresetComparison& each : figures) outcome.lines.push_back(printable(line_of(each)));
  const auto below = count(PresetVerdict::kBelow);
  const auto unknown = count(PresetVerdict::kNotMeasured);
  if (figures.empty()) {
    conclude(ExitStatus::kNotJudged,
             fmt::format("preset {} has no figure for {} with {} rank{} on {} host{} {}", printable(preset.start.name),
                         context.program, context.ranks.size(), context.ranks.size() == 1 ? "" : "s", context.hosts,
                         context.hosts == 1 ? "" : "s", gpus_of(context)));
    outcome.lines.push_back("P" + outcome.headline.substr(1));
  } else if (below > 0) {
    conclude(ExitStatus::kTooSlow, fmt::format("{} of {} published figures of preset {} are not reached", below,
                                               figures.size(), printable(preset.start.name)));
  } else if (unknown > 0) {
    conclude(ExitStatus::kNotJudged, fmt::format("{} of {} published figures of preset {} were not measured", unknown,
                                                 figures.size(), printable(preset.start.name)));
  }
  return outcome;
}

}  // namespace fabricbench::expected
