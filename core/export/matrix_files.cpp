#include "core/export/matrix_files.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
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

/// Written as four bytes, lowest first, whatever the machine's byte order.
void append_little_endian(std::string& bytes, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
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

std::string npy(const std::string& shape, std::span<const float> values) {
    std::string bytes = npy_header(shape);
    bytes.reserve(bytes.size() + values.size() * sizeof(float));
    for (const float value : values) append_little_endian(bytes, value);
    return bytes;
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

/// The values of a part, with its labels.
struct ExportedPart {
    Matrix values;
    std::vector<std::string> rows, columns;
};
ExportedPart exported(const Trace& trace, const Stage& stage, const ShownMatrix& shown,
                      const std::optional<Region>& chosen) {
    const Region region = exported_region(stage, chosen);
    ExportedPart part{values_in(shown, region), {}, {}};
    for (int i = region.row; i < region.end_row(); ++i) part.rows.push_back(trace.row_label(stage, i));
    for (int j = region.column; j < region.end_column(); ++j)
        part.columns.push_back(trace.column_label(stage, j, shown.head));
    return part;
}

}  // namespace

std::string to_csv(const Trace& trace, const Stage& stage, const HeadChoice& head, const Progress& progress,
                   const std::optional<Region>& region) {
    const auto [values, rows, columns] = exported(trace, stage, shown_matrix(stage, head), region);
    std::string text;
    for (const std::string& label : columns) {
        text += ',';
        text += csv_field(label);
    }
    text += "\n";
    for (Eigen::Index r = 0; r < values.rows(); ++r) {
        report(progress, static_cast<double>(r) / static_cast<double>(values.rows()));
        text += csv_field(rows[static_cast<std::size_t>(r)]);
        for (Eigen::Index c = 0; c < values.cols(); ++c) {
            text += ',';
            text += exact_text(values(r, c));
        }
        text += "\n";
    }
    return text;
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
    return npy(fmt::format("{}, {}", matrix.rows(), matrix.cols()),
               {matrix.data(), static_cast<std::size_t>(matrix.size())});
}

std::string to_npy(const Stage& stage, const HeadChoice& head, const std::optional<Region>& chosen) {
    const Shape& shape = stage.shape();
    const Region region = exported_region(stage, chosen);
    if (head.kind != HeadChoice::Kind::all || !shape.per_head)
        return to_npy(values_in(shown_matrix(stage, head), region));
    const Shape part{.heads = shape.heads, .rows = region.rows, .columns = region.columns};
    Tensor values(part);
    for (int h = 0; h < shape.heads; ++h) stage.buffer.read(h, region, values.head(h));
    return npy(fmt::format("{}, {}, {}", part.heads, part.rows, part.columns), values.values());
}

std::string to_json(const Trace& trace, const Stage& stage, const HeadChoice& head, const Progress& progress,
                    const std::optional<Region>& region) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const auto [values, rows, columns] = exported(trace, stage, shown, region);
    std::string text = fmt::format(
        "{{\"stage\": \"{}\", \"head\": {}, \"shape\": [{}, {}],\n\"rows\": {},\n\"columns\": {},\n\"data\": "
        "[",
        stage.name(), json_head(stage, shown), values.rows(), values.cols(), json_labels(rows),
        json_labels(columns));
    for (Eigen::Index r = 0; r < values.rows(); ++r) {
        report(progress, static_cast<double>(r) / static_cast<double>(values.rows()));
        text += r == 0 ? "\n[" : ",\n[";
        for (Eigen::Index c = 0; c < values.cols(); ++c) {
            if (c > 0) text += ", ";
            text += json_number(values(r, c));
        }
        text += "]";
    }
    return text + "\n]}\n";
}

}  // namespace attnscope
