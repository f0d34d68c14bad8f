// The course of a training run: as curves to draw, and as a table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/export/export.h"
#include "core/learn/training_run.h"
#include "core/picture/curve_picture.h"

namespace attnscope {

/// The loss, the share of targets that were right and, where the task has a pattern, the score of the head
/// that shows it best.
std::vector<Curve> run_curves(std::span<const StepRecord> records, const Task& task, const Theme& theme);
/// Those of a run beside it: dashed, with one name for all.
std::vector<Curve> run_curves_beside(std::span<const StepRecord> records, const Task& task,
                                     const Theme& theme, const std::string& name);

/// A file of the course of a run, by its extension.
struct CurveFormat {
    std::string_view name;
    std::string (*bytes)(const Experiment& start, std::span<const StepRecord> records, ThemeKind theme);
};

/// csv, svg, png, pdf. A CSV file has a row for each step: step, loss, accuracy, gradient norm, and the score
/// of each head ("layer 1 head 2").
std::span<const CurveFormat> curve_formats();
/// The files' name, without what names the format.
inline constexpr std::string_view k_curves_file = "training";
/// Writes the course of a run into an existing folder, in each of the formats; returns the paths. Throws as
/// write_file.
std::vector<std::string> export_curves(const Experiment& start, std::span<const StepRecord> records,
                                       ThemeKind theme, std::span<const std::string> formats,
                                       const std::string& folder, const ExportProgress& progress = {});
/// By the end of a file's name; nullptr for another.
const CurveFormat* curve_format_of(std::string_view file);

}  // namespace attnscope
