// The formats of the files that leave the program.
#pragma once

#include <array>

#include "core/choice.h"

namespace attnscope {

/// A file format, named by its extension; `gif` holds all frames of a film.
enum class FileFormat { png, svg, pdf, csv, npy, json, gif };
constexpr auto choice_names(FileFormat) {
    using enum FileFormat;
    return std::to_array<ChoiceName<FileFormat>>(
        {{png, "png"}, {svg, "svg"}, {pdf, "pdf"}, {csv, "csv"}, {npy, "npy"}, {json, "json"}, {gif, "gif"}});
}

}  // namespace attnscope
