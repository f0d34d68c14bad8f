#include "core/export/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "core/canceled.h"
#include "core/files/file.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

/// The names of a run's columns, each behind a comma.
std::string csv_header(const Course& course) {
    std::vector<std::string> names{"loss", "accuracy", "gradient norm"};
    for (std::size_t i = 0; !course.records.empty() && i < course.records.front().patterns.size(); ++i) {
        const auto [layer, head] = head_place(course.start, i);
        names.push_back(mechanism_rule(course.start.mechanism).has_layers
                            ? fmt::format("layer {} head {}", layer, head)
                            : std::string(task_of(course.start.training.task).pattern));
    }
    std::string text;
    for (const std::string& name : names)
        text += "," + (course.variation.empty() ? name : course.variation + ": " + name);
    return text;
}

/// A step's numbers, each behind a comma; of a step that was not taken only the commas.
std::string csv_cells(const Course& course, std::size_t step) {
    if (course.records.empty()) return ",,,";
    if (step >= course.records.size()) return std::string(3 + course.records.front().patterns.size(), ',');
    const StepRecord& record = course.records[step];
    std::string text = fmt::format(",{},{},{}", shortest_text(record.loss), shortest_text(record.accuracy),
                                   shortest_text(record.norm));
    for (const float score : record.patterns) text += "," + exact_text(score);
    return text;
}

std::string csv(std::span<const Course> courses, ThemeKind) {
    std::string text = "step";
    std::size_t steps = 0;
    for (const Course& course : courses) {
        text += csv_header(course);
        steps = std::max(steps, course.records.size());
    }
    text += "\n";
    for (std::size_t i = 0; i < steps; ++i) {
        text += std::to_string(i + 1);
        for (const Course& course : courses) text += csv_cells(course, i);
        text += "\n";
    }
    return text;
}

template <std::string (*render)(const CurvePicture&, const TextFace&)>
std::string picture(std::span<const Course> courses, ThemeKind theme) {
    const Course& run = courses.front();
    const Training& training = run.start.training;
    const Task& task = task_of(training.task);
    CurvePicture drawn{
        .title = fmt::format("Training: {}", name_of(task.choice)),
        .subtitle = fmt::format("{}  ·  {} steps of {}, batch {}", task.summary, run.records.size(),
                                name_of(training.optimizer.kind), training.batch),
        .curves = run_curves(run.records, task, theme_of(theme)),
        .theme = theme};
    for (const Course& beside : courses.subspan(1)) {
        drawn.subtitle += fmt::format("  ·  dashed: {}", beside.variation);
        std::ranges::move(run_curves_beside(beside.records, task, theme_of(theme), beside.variation),
                          std::back_inserter(drawn.curves));
    }
    return render(drawn, TextFace());
}

constexpr std::array k_curve_formats = {CurveFormat{FileFormat::csv, "a row for each step", csv},
                                        CurveFormat{FileFormat::svg, "the curves", picture<curve_svg>},
                                        CurveFormat{FileFormat::png, "the curves", picture<curve_png>},
                                        CurveFormat{FileFormat::pdf, "the curves", picture<curve_pdf>}};

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

std::span<const CurveFormat> curve_formats() { return k_curve_formats; }

std::vector<std::string> export_curves(std::span<const Course> courses, ThemeKind theme,
                                       std::span<const FileFormat> formats, const std::string& folder,
                                       const ExportProgress& progress) {
    std::vector<std::string> paths;
    const auto go_on = [&] {
        return !progress || progress({.done = paths.size(), .of = formats.size(), .part = 0});
    };
    clear_abandoned_files(folder);
    try {
        for (const FileFormat format : formats) {
            if (!go_on()) break;
            const std::string file = fmt::format("{}.{}", k_curves_file, name_of(format));
            const std::string path = (std::filesystem::path(folder) / file).string();
            write_file(path, curve_format_of(file)->bytes(courses, theme), go_on);
            paths.push_back(path);
        }
    } catch (const Canceled&) {
        // The files written so far are complete.
    }
    return paths;
}

const CurveFormat* curve_format_of(std::string_view file) {
    const auto found = std::ranges::find_if(k_curve_formats, [&](const CurveFormat& format) {
        return file.ends_with("." + std::string(name_of(format.choice)));
    });
    return found == k_curve_formats.end() ? nullptr : &*found;
}

}  // namespace attnscope
