// The course of a training run: as curves to draw, and as a table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/export/export.h"
#include "core/learn/training_run.h"
#include "core/picture/curve_picture.h"

namespace attnscope {

/// A run, and the steps that it took.
struct Course {
    Experiment start;
    std::vector<StepRecord> records;
    std::string variation = {};  ///< how it differs from the run that it was trained beside: "no positions"
};

/// The loss, the share of targets that were right and, where the task has a pattern, the score of the head
/// that shows it best.
std::vector<Curve> run_curves(std::span<const StepRecord> records, const Task& task, const Theme& theme);
/// The curves of a run beside it: dashed, with one name for all.
std::vector<Curve> run_curves_beside(std::span<const StepRecord> records, const Task& task,
                                     const Theme& theme, const std::string& name);

/// A file format for the curves of a run, or of a run and those trained beside it.
struct CurveFormat {
    FileFormat choice;
    std::string_view summary;
    std::string (*bytes)(std::span<const Course> courses, ThemeKind theme);
};

/// csv, svg, png, pdf. A CSV file has a row for each step: step, loss, accuracy, gradient norm, and the score
/// of each head ("layer 1 head 2"); then the same of a run beside it, behind its name ("no positions: loss").
/// A run that took fewer steps leaves the later rows empty.
std::span<const CurveFormat> curve_formats();
/// The name of the files, without extension.
inline constexpr std::string_view k_curves_file = "training";
/// Writes the course of runs into an existing folder, in each of the formats, which are among
/// curve_formats(); returns the paths of those that are complete when `progress` ends it. Throws as
/// write_file.
std::vector<std::string> export_curves(std::span<const Course> courses, ThemeKind theme,
                                       std::span<const FileFormat> formats, const std::string& folder,
                                       const ExportProgress& progress = {});
/// The format whose extension the file's name has; nullptr if there is none.
const CurveFormat* curve_format_of(std::string_view file);

}  // namespace attnscope
