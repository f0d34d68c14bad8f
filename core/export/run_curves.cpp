#include "core/export/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/files/file.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

std::string csv(const Experiment& start, std::span<const StepRecord> records, ThemeKind) {
    std::string text = "step,loss,accuracy,gradient norm";
    for (std::size_t i = 0; !records.empty() && i < records.front().patterns.size(); ++i) {
        const auto [layer, head] = head_place(start, i);
        text += start.mechanism == MechanismKind::seq2seq
                    ? "," + std::string(task_of(start.training.task).pattern)
                    : fmt::format(",layer {} head {}", layer, head);
    }
    text += "\n";
    for (std::size_t i = 0; i < records.size(); ++i) {
        const StepRecord& record = records[i];
        text += fmt::format("{},{},{},{}", i + 1, shortest_text(record.loss), shortest_text(record.accuracy),
                            shortest_text(record.norm));
        for (const float score : record.patterns) text += "," + exact_text(score);
        text += "\n";
    }
    return text;
}

template <std::string (*render)(const CurvePicture&, const TextFace&)>
std::string picture(const Experiment& start, std::span<const StepRecord> records, ThemeKind theme) {
    const Task& task = task_of(start.training.task);
    return render({.title = fmt::format("Training: {}", name_of(task.choice)),
                   .subtitle = fmt::format("{}  ·  {} steps of {}, batch {}", task.summary, records.size(),
                                           name_of(start.training.optimizer.kind), start.training.batch),
                   .curves = run_curves(records, task, theme_of(theme)),
                   .theme = theme},
                  TextFace());
}

constexpr std::array k_formats = {CurveFormat{"csv", csv}, CurveFormat{"svg", picture<curve_svg>},
                                  CurveFormat{"png", picture<curve_png>},
                                  CurveFormat{"pdf", picture<curve_pdf>}};

}  // namespace

std::vector<Curve> run_curves(std::span<const StepRecord> records, const Task& task, const Theme& theme) {
    Curve loss{"loss", theme.warning, true, {}}, accuracy{"accuracy", theme.heads, false, {}},
        pattern{std::string(task.pattern) + " score", theme.accent, false, {}};
    for (const StepRecord& record : records) {
        loss.values.push_back(record.loss);
        accuracy.values.push_back(record.accuracy);
        if (!record.patterns.empty()) pattern.values.push_back(record.best_pattern());
    }
    if (records.empty()) return {};
    std::vector<Curve> curves{std::move(loss), std::move(accuracy)};
    if (!pattern.values.empty()) curves.push_back(std::move(pattern));
    return curves;
}

std::vector<Curve> run_curves_beside(std::span<const StepRecord> records, const Task& task,
                                     const Theme& theme, const std::string& name) {
    std::vector<Curve> curves = run_curves(records, task, theme);
    for (Curve& curve : curves) {
        curve.name = &curve == &curves.front() ? name : "";
        curve.is_dashed = true;
    }
    return curves;
}

std::span<const CurveFormat> curve_formats() { return k_formats; }

std::vector<std::string> export_curves(const Experiment& start, std::span<const StepRecord> records,
                                       ThemeKind theme, std::span<const std::string> formats,
                                       const std::string& folder, const ExportProgress& progress) {
    std::vector<std::string> paths;
    for (const std::string& name : formats) {
        const std::string file = fmt::format("{}.{}", k_curves_file, name);
        if (progress && !progress({.done = paths.size(), .of = formats.size(), .part = 0})) break;
        const std::string path = (std::filesystem::path(folder) / file).string();
        write_file(path, curve_format_of(file)->bytes(start, records, theme));
        paths.push_back(path);
    }
    return paths;
}

const CurveFormat* curve_format_of(std::string_view file) {
    const auto found = std::ranges::find_if(
        k_formats, [&](const CurveFormat& format) { return file.ends_with("." + std::string(format.name)); });
    return found == k_formats.end() ? nullptr : &*found;
}

}  // namespace attnscope
