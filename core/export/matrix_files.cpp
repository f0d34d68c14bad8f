#include "core/export/matrix_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

/// The text as LaTeX prints it: its special characters escaped, white space as spaces.
std::string latex_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (std::string_view("#$%&_{}").find(c) != std::string_view::npos)
            (escaped += '\\') += c;
        else if (c == '\\')
            escaped += "\\textbackslash{}";
        else if (c == '^' || c == '~')
            escaped += std::string("\\") + c + "{}";
        else if (c == '<' || c == '>' || c == '|')
            escaped += std::string("$") + c + "$";  // other characters in the font encoding OT1
        else
            escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return escaped;
}

/// A number in math mode, whose minus is one. "1e-09" becomes 1 \cdot 10^{-9}.
std::string latex_number(float value, std::optional<int> decimals) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "$\\infty$" : "$-\\infty$";
    const std::string text = decimals ? fixed_text(value, *decimals) : cell_text(value);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return "$" + text + "$";
    return fmt::format("${} \\cdot 10^{{{}}}$", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

/// Four bytes each, lowest first, whatever the machine's byte order.
std::string little_endian(std::span<const float> values) {
    std::string bytes(values.size_bytes(), '\0');
    std::memcpy(bytes.data(), values.data(), values.size_bytes());
    for (std::size_t at = 0; std::endian::native == std::endian::big && at < bytes.size();
         at += sizeof(float))
        std::reverse(&bytes[at], &bytes[at] + sizeof(float));
    return bytes;
}

/// Magic, version, header length and header, padded with spaces so that the data starts at a multiple of 64.
std::string npy_header(const std::string& shape) {
    constexpr std::size_t k_before = 10;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.append(63 - (k_before + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + header;
}

/// JSON has no numbers that are not finite.
std::string json_number(float value) {
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value > 0 ? "\"inf\"" : "null";
    return exact_text(value);
}

std::string json_labels(const std::vector<std::string>& labels) {
    return nlohmann::json(labels).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_head(const Stage& stage, const ShownMatrix& shown) {
    if (!stage.shape().per_head) return "null";
    return shown.mean ? "\"mean\"" : std::to_string(shown.head + 1);
}

/// The labels of the columns of a part.
std::vector<std::string> labels_of_columns(const Trace& trace, const Stage& stage, const ShownMatrix& shown,
                                           const Region& part) {
    std::vector<std::string> labels;
    for (int j = part.column; j < part.end_column(); ++j)
        labels.push_back(trace.column_label(stage, j, shown.head));
    return labels;
}

double part_done(int row, const Region& part) { return static_cast<double>(row) / part.rows; }

}  // namespace

void write_csv(const Trace& trace, const Stage& stage, const HeadChoice& head, const ByteSink& to,
               const Progress& progress, const std::optional<Region>& region) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const Region part = exported_region(stage, region);
    require_written(part);
    std::string line;
    for (const std::string& label : labels_of_columns(trace, stage, shown, part)) {
        line += ',';
        line += csv_field(label);
    }
    to(line += '\n');
    for_each_row(shown, part, [&](int row, std::span<const float> values) {
        report(progress, part_done(row, part));
        line = csv_field(trace.row_label(stage, part.row + row));
        for (const float value : values) {
            line += ',';
            line += exact_text(value);
        }
        to(line += '\n');
    });
}

std::string to_latex(const Trace& trace, const Stage& stage, const HeadChoice& head,
                     std::optional<int> decimals) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const Matrix values = shown.values();
    const std::vector<std::string> rows = row_labels(trace, stage);
    std::string text =
        fmt::format("\\begin{{tabular}}{{l{}}}\n", std::string(static_cast<std::size_t>(values.cols()), 'r'));
    for (const std::string& label : column_labels(trace, stage, shown.head))
        text += " & " + latex_text(label);
    text += " \\\\\n\\hline\n";
    for (int r = 0; r < shown.rows(); ++r) {
        text += latex_text(rows[static_cast<std::size_t>(r)]);
        for (int c = 0; c < shown.columns(); ++c) text += " & " + latex_number(values(r, c), decimals);
        text += " \\\\\n";
    }
    return text + "\\end{tabular}\n";
}

std::string to_npy(const Matrix& matrix) {
    return npy_header(fmt::format("{}, {}", matrix.rows(), matrix.cols())) +
           little_endian({matrix.data(), static_cast<std::size_t>(matrix.size())});
}

void write_npy(const Stage& stage, const HeadChoice& head, const ByteSink& to, const Progress& progress,
               const std::optional<Region>& region) {
    const Region part = exported_region(stage, region);
    require_written(part);
    std::vector<ShownMatrix> matrices;
    std::string shape = fmt::format("{}, {}", part.rows, part.columns);
    if (head.kind == HeadChoice::Kind::all && stage.shape().per_head) {
        for (int h = 0; h < stage.shape().heads; ++h) matrices.push_back({&stage.buffer, h, false});
        shape = fmt::format("{}, {}", stage.shape().heads, shape);
    } else {
        matrices.push_back(shown_matrix(stage, head));
    }
    to(npy_header(shape));
    for (std::size_t m = 0; m < matrices.size(); ++m)
        for_each_row(matrices[m], part, [&](int row, std::span<const float> values) {
            report(progress,
                   (static_cast<double>(m) + part_done(row, part)) / static_cast<double>(matrices.size()));
            to(little_endian(values));
        });
}

void write_json(const Trace& trace, const Stage& stage, const HeadChoice& head, const ByteSink& to,
                const Progress& progress, const std::optional<Region>& region) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const Region part = exported_region(stage, region);
    require_written(part);
    std::vector<std::string> rows;
    for (int i = part.row; i < part.end_row(); ++i) rows.push_back(trace.row_label(stage, i));
    to(fmt::format(
        "{{\"stage\": \"{}\", \"head\": {}, \"shape\": [{}, {}],\n\"rows\": {},\n\"columns\": {},\n\"data\": "
        "[",
        stage.name(), json_head(stage, shown), part.rows, part.columns, json_labels(rows),
        json_labels(labels_of_columns(trace, stage, shown, part))));
    for_each_row(shown, part, [&](int row, std::span<const float> values) {
        report(progress, part_done(row, part));
        std::string line = row == 0 ? "\n[" : ",\n[";
        for (std::size_t c = 0; c < values.size(); ++c) {
            if (c > 0) line += ", ";
            line += json_number(values[c]);
        }
        to(line += ']');
    });
    to("\n]}\n");
}

}  // namespace attnscope
