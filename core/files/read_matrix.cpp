#include "core/files/read_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/files/bad_file.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr std::string_view k_npy_magic("\x93NUMPY", 6);
constexpr std::size_t k_cell_quotation = 30;  ///< characters of a cell that a message quotes

// CSV

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

char separator_of(std::string_view text) {
    // A semicolon or a tab cannot be part of a number, a comma can.
    for (const char separator : {';', '\t', ','})
        if (text.find(separator) != text.npos) return separator;
    return ' ';
}

/// The cells of one line, without their quotes (RFC 4180).
std::vector<std::string> cells_of(std::string_view line, char separator) {
    std::vector<std::string> cells(1);
    bool in_quotes = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (in_quotes && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            cells.back() += line[++i];
        } else if (c == '"') {
            in_quotes = !in_quotes;
        } else if (c == separator && !in_quotes) {
            const bool another_space = separator == ' ' && cells.back().empty();
            if (!another_space) cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    for (std::string& cell : cells) cell = trimmed(cell);
    return cells;
}

/// A line that is not empty. Its cells are split on demand: stored, they would take twenty times the memory
/// of the text.
struct Line {
    int number;             ///< in the text, counted from 1
    std::string_view text;  ///< without surrounding spaces, if spaces are the separator
    char separator;

    std::vector<std::string> cells() const { return cells_of(text, separator); }
    /// The number of cells, or more if separators stand in quotes.
    std::size_t most_cells() const {
        std::size_t count = 1;
        char before = '\0';
        for (const char c : text) {
            const bool same_gap = separator == ' ' && before == ' ';
            if (c == separator && !same_gap) ++count;
            before = c;
        }
        return count;
    }
};

/// Throws if there are more rows, columns or cells than a labeled matrix may have.
std::vector<Line> lines_of(std::string_view text, std::string_view source) {
    constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
    constexpr std::size_t k_most_lines = k_max_matrix_side + 1,
                          k_most_cells = k_max_matrix_numbers + 2 * k_max_matrix_side;
    if (text.starts_with(k_byte_order_mark)) text.remove_prefix(k_byte_order_mark.size());
    const char separator = separator_of(text);
    std::vector<Line> lines;
    int number = 0;
    std::size_t cells = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        ++number;
        if (!trimmed(line).empty()) {
            lines.push_back({number, separator == ' ' ? trimmed(line) : line, separator});
            if (!is_utf8(lines.back().text))
                refuse(source, fmt::format("line {} is not UTF-8: save the file as UTF-8", number));
            const std::size_t count = lines.back().most_cells();
            cells += count;
            if (lines.size() > k_most_lines || count > k_most_lines || cells > k_most_cells)
                refuse(source, fmt::format("line {} exceeds the limit of {} rows and columns and of {} "
                                           "numbers: use a part of the matrix",
                                           number, k_max_matrix_side, k_max_matrix_numbers));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// A number that parses as ±∞ although it is written in digits is beyond float32.
std::optional<float> number_of(std::string_view cell) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc::result_out_of_range && end == cell.data() + cell.size())
        return cell.find("e-") != cell.npos || cell.find("E-") != cell.npos
                   ? 0.0f
                   : std::numeric_limits<float>::infinity();
    if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
    return static_cast<float>(value);
}

/// Whether a cell is neither a number nor several separated by spaces.
bool is_word(const std::string& cell) {
    return !cell.empty() && !std::ranges::all_of(cells_of(cell, ' '), [](const std::string& piece) {
        return number_of(piece).has_value();
    });
}

bool has_decimal_comma(const std::string& cell) {
    std::string other = cell;
    std::ranges::replace(other, ',', '.');
    return other != cell && number_of(other).has_value();
}

std::string with_point(std::string_view number) {
    std::string text(number);
    std::ranges::replace(text, ',', '.');
    return text;
}

std::size_t leading_digits(std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// Two neighboring cells that may be one number with a decimal comma.
struct Halves {
    std::string sign, whole;  ///< "-", "0"
    std::string digits;       ///< "04", or "4e-05"

    std::string text() const { return sign + whole + "," + digits; }
    /// Whether these cannot be meant as two numbers: 04, 25e-3, -0.
    bool certain() const {
        const std::size_t count = leading_digits(digits);
        const bool decimals = count > 1 && (digits[0] == '0' || count < digits.size());
        return decimals || (sign == "-" && whole == "0");
    }
};

std::optional<Halves> halves_of(std::string_view first, std::string_view second) {
    const std::size_t signs = first.starts_with('-') || first.starts_with('+') ? 1 : 0;
    const Halves halves{std::string(first.substr(0, signs)), std::string(first.substr(signs)),
                        std::string(second)};
    const bool whole = !halves.whole.empty() && leading_digits(halves.whole) == halves.whole.size() &&
                       (halves.whole.size() == 1 || halves.whole[0] != '0');
    const std::size_t digits = leading_digits(second);
    const bool ends = digits == second.size() || second[digits] == 'e' || second[digits] == 'E';
    if (!whole || digits == 0 || !ends) return std::nullopt;
    return halves;
}

/// The numbers of a line of comma-separated text if its commas were decimal, without a label in front; empty
/// if they cannot be: a space beside a comma, a cell that is not digits, an odd number of cells.
std::vector<Halves> halves_of(const Line& line, bool labeled) {
    for (const std::string_view two_cells : {", ", " ,", "\""})
        if (trimmed(line.text).find(two_cells) != line.text.npos) return {};
    std::vector<std::string> cells = line.cells();
    if (labeled) {  // "cat 0,28" is read as the label "cat 0" and 28
        cells[0].erase(0, cells[0].rfind(' ') + 1);
        if (!number_of(cells[0])) cells.erase(cells.begin());
    }
    std::vector<Halves> all;
    for (std::size_t i = 0; i + 1 < cells.size(); i += 2)
        if (const auto halves = halves_of(cells[i], cells[i + 1])) all.push_back(*halves);
    return cells.size() % 2 == 0 && all.size() == cells.size() / 2 ? all : std::vector<Halves>{};
}

/// Whole numbers are accepted. A text is refused if it can be read throughout as numbers with a decimal
/// comma, and if one of them can be nothing else, or every whole part is 0 and some fraction has two digits,
/// or there are half as many labels as columns; as many labels as columns show that each cell is a number.
void refuse_decimal_commas(std::span<const Line> lines, bool labeled, std::size_t labels,
                           std::string_view source) {
    struct Found {
        int line;
        Halves halves;
    };
    std::optional<Found> first, certain;
    std::size_t count = 0;
    bool zeros = true, long_digits = false;
    for (const Line& line : lines) {
        const std::vector<Halves> all = halves_of(line, labeled);
        if (all.empty()) return;
        for (const Halves& each : all) {
            if (!first) first = Found{line.number, each};
            if (!certain && each.certain()) certain = Found{line.number, each};
            zeros &= each.whole == "0";
            long_digits |= leading_digits(each.digits) > 1;
            ++count;
        }
    }
    const bool every_cell_labeled = labels * lines.size() == 2 * count;
    const bool half_labeled = labels > 0 && labels * lines.size() == count;
    const bool fractions = zeros && long_digits && count > 1;
    if (every_cell_labeled || (!certain && !fractions && !half_labeled)) return;
    const Found found = certain ? *certain : *first;
    const std::string text = found.halves.text();
    const std::size_t comma = text.find(',');
    refuse(
        source,
        fmt::format(
            "line {}: {} may be one number with a decimal comma: write {}; if these are two numbers, put a "
            "space between them: {}, {}",
            found.line, in_quotes(text, k_cell_quotation), with_point(text), text.substr(0, comma),
            text.substr(comma + 1)));
}

/// The first number with a decimal comma among those separated by spaces; "" if there is none.
std::string decimal_comma_in(std::string_view line) {
    for (const std::string& piece : cells_of(trimmed(line), ' '))
        if (has_decimal_comma(piece)) return piece;
    return {};
}

float checked_number(const Line& line, std::size_t column, const std::string& cell, std::string_view source) {
    const std::string where = fmt::format("line {}, cell {} ", line.number, column + 1);
    if (cell.empty()) refuse(source, where + "is empty: write a number, or nan where there is none");
    if (has_decimal_comma(cell))
        refuse(source, where + in_quotes(cell, k_cell_quotation) +
                           " has a decimal comma: write numbers with a point");
    const std::optional<float> value = number_of(cell);
    if (!value) {
        const std::string comma = is_word(cell) ? "" : decimal_comma_in(line.text);
        refuse(source,
               where + in_quotes(cell, k_cell_quotation) + " is not a number" +
                   (comma.empty() ? ": write a number, nan or inf"
                                  : ": if " + comma + " has a decimal comma, write " + with_point(comma) +
                                        ", otherwise separate all numbers by commas"));
    }
    if (std::isinf(*value) && std::isdigit(static_cast<unsigned char>(cell[cell.find_first_not_of("+-")])))
        refuse(source,
               where + in_quotes(cell, k_cell_quotation) + " is beyond the range of float32: write inf");
    if (is_rounded_whole(cell, *value))
        refuse(source, where + in_quotes(cell, k_cell_quotation) +
                           " is a whole number that float32 cannot represent: write " +
                           fixed_text(*value, 0) + ", or add a decimal point to have it rounded");
    return *value;
}

[[noreturn]] void refuse_other_length(const Line& line, const Line& first_line, std::size_t first,
                                      std::string_view source) {
    const auto numbers = [&](const Line& of) {
        const std::size_t cells = of.cells().size();
        return cells - std::min(first, cells);
    };
    const auto counted = [](std::size_t n) {
        return fmt::format("{}{}", n, n == 1 ? " number" : " numbers");
    };
    // One number in this line and a pair in the other: a column of numbers, some of them whole.
    const Line& longer = numbers(line) > numbers(first_line) ? line : first_line;
    const bool may_be_one = std::min(numbers(line), numbers(first_line)) == 1 && numbers(longer) == 2;
    const auto halves = may_be_one ? halves_of(longer, first > 0) : std::vector<Halves>{};
    refuse(source, fmt::format("line {} has {} and line {} has {}: make all rows the same length{}",
                               line.number, counted(numbers(line)), first_line.number, numbers(first_line),
                               halves.empty() ? ""
                                              : "; if " + halves[0].text() + " has a decimal comma, write " +
                                                    with_point(halves[0].text())));
}

// NPY

template <typename Number>
Number read_number(const char* bytes, bool swapped) {
    std::array<char, sizeof(Number)> copy;
    std::memcpy(copy.data(), bytes, sizeof(Number));
    if (swapped) std::ranges::reverse(copy);
    return std::bit_cast<Number>(copy);
}

struct NpyType {
    std::string_view code;  ///< without the byte order
    std::size_t size;
    /// Converts a number; nullopt if float32 cannot represent it: an integer that would be rounded, or a
    /// value out of range.
    std::optional<float> (*read)(const char* bytes, bool swapped);
    std::string (*text)(const char* bytes, bool swapped);
};

bool float32_holds(double number) {
    return std::isfinite(static_cast<float>(number)) || !std::isfinite(number);
}

template <std::integral Integer>
bool float32_holds(Integer number) {
    using Unsigned = std::make_unsigned_t<Integer>;
    const auto bits = static_cast<Unsigned>(number);
    const std::uint64_t magnitude = number < 0 ? static_cast<Unsigned>(0 - bits) : bits;
    return magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= 24;
}

template <typename Number>
std::optional<float> read_as(const char* bytes, bool swapped) {
    const auto number = read_number<Number>(bytes, swapped);
    return float32_holds(number) ? std::optional(static_cast<float>(number)) : std::nullopt;
}

template <typename Number>
std::string text_as(const char* bytes, bool swapped) {
    const auto number = read_number<Number>(bytes, swapped);
    if constexpr (std::integral<Number>) return std::to_string(number);
    return exact_text(static_cast<double>(number));
}

template <typename Number>
constexpr NpyType npy_type(std::string_view code) {
    return {code, sizeof(Number), read_as<Number>, text_as<Number>};
}

/// IEEE 754 binary16.
std::optional<float> read_half(const char* bytes, bool swapped) {
    const auto bits = read_number<std::uint16_t>(bytes, swapped);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    return sign * static_cast<float>(exponent == 0 ? std::ldexp(fraction, -24)
                                                   : std::ldexp(1024 + fraction, exponent - 25));
}

constexpr std::array k_npy_types = {
    npy_type<float>("f4"),         npy_type<double>("f8"),        NpyType{"f2", 2, read_half, nullptr},
    npy_type<std::int8_t>("i1"),   npy_type<std::int16_t>("i2"),  npy_type<std::int32_t>("i4"),
    npy_type<std::int64_t>("i8"),  npy_type<std::uint8_t>("u1"),  npy_type<std::uint16_t>("u2"),
    npy_type<std::uint32_t>("u4"), npy_type<std::uint64_t>("u8"), npy_type<std::uint8_t>("b1"),
};

[[noreturn]] void refuse_npy_number(const NpyType& type, const std::string& number, Eigen::Index row,
                                    Eigen::Index column, std::string_view source) {
    refuse(source, fmt::format("row {}, column {} is {}{}", row + 1, column + 1, number,
                               type.code[0] == 'f'
                                   ? ", beyond the range of float32: write inf"
                                   : ", a whole number that float32 cannot represent: numpy.save(file, "
                                     "array.astype('float32')) rounds it"));
}

struct NpyHeader {
    std::string type;  ///< "<f4"
    bool by_column;
    std::size_t rows, columns;
    std::size_t data;  ///< offset of the first number
};

[[noreturn]] void refuse_npy_header(std::string_view source) {
    refuse(source, "its NPY header cannot be read: save it again with numpy.save");
}

std::string_view without_spaces_before(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// The header's text after "'key':", to its end.
std::string_view value_of(std::string_view header, std::string_view quoted_key, std::string_view source) {
    const std::size_t at = header.find(quoted_key);
    if (at == header.npos) refuse_npy_header(source);
    const std::string_view rest = without_spaces_before(header.substr(at + quoted_key.size()));
    if (!rest.starts_with(':')) refuse_npy_header(source);
    return without_spaces_before(rest.substr(1));
}

/// The text between the brackets or quotes that `value` starts with.
std::string_view enclosed(std::string_view value, char open, char close, std::string_view source) {
    const std::size_t end = value.find(close, 1);
    if (!value.starts_with(open) || end == value.npos) refuse_npy_header(source);
    return value.substr(1, end - 1);
}

/// "<f4"; a list of fields is reported as "a record".
std::string_view type_in(std::string_view header, std::string_view source) {
    const std::string_view value = value_of(header, "'descr'", source);
    return value.starts_with('[') ? "a record" : enclosed(value, '\'', '\'', source);
}

bool is_by_column(std::string_view header, std::string_view source) {
    const std::string_view value = value_of(header, "'fortran_order'", source);
    if (!value.starts_with("True") && !value.starts_with("False")) refuse_npy_header(source);
    return value.starts_with("True");
}

/// "(3, 4)", as quoted in a message.
std::string shape_text(std::string_view shape) { return "(" + message_text(shape, 30) + ")"; }

/// The sizes in "3, 4" or "3,", as a header writes its shape.
std::vector<std::size_t> sizes_in(std::string_view shape, std::string_view source) {
    std::vector<std::size_t> sizes;
    std::string_view rest = trimmed(shape);
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view digits = trimmed(rest.substr(0, comma));
        if (digits.ends_with('L')) digits.remove_suffix(1);  // from Python 2's long
        std::size_t size = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
        if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
            refuse(source, "its NPY header has the shape " + shape_text(shape) +
                               ", which is invalid: save it again with numpy.save");
        sizes.push_back(size);
        rest = trimmed(rest.substr(std::min(comma + 1, rest.size())));
    }
    return sizes;
}

NpyHeader npy_header(std::string_view bytes, std::string_view source) {
    constexpr std::size_t k_version_at = 6;
    const auto byte = [&](std::size_t at) {
        if (at >= bytes.size()) refuse(source, "the NPY file is cut off: copy it again");
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
    };
    const std::size_t version = byte(k_version_at);
    if (version < 1 || version > 3)
        refuse(
            source,
            fmt::format("it has NPY version {}, and only 1 to 3 are supported: save it again with numpy.save",
                        version));
    const bool long_header = version > 1;
    std::size_t length = byte(8) | byte(9) << 8;
    if (long_header) length |= byte(10) << 16 | byte(11) << 24;
    const std::size_t start = long_header ? 12 : 10;
    if (length > k_max_npy_header_bytes)
        refuse(source,
               fmt::format("its NPY header has {} bytes and the limit is {}: save it again with numpy.save",
                           length, k_max_npy_header_bytes));
    if (length > bytes.size() - std::min(start, bytes.size()))
        refuse(source, "the NPY file is cut off: copy it again");
    const std::string_view header = bytes.substr(start, length);
    const std::string_view shape = enclosed(value_of(header, "'shape'", source), '(', ')', source);
    const std::vector<std::size_t> sizes = sizes_in(shape, source);
    if (sizes.empty() || sizes.size() > 2)
        refuse(source, "its shape is " + shape_text(shape) + ": a matrix has two dimensions");
    return {.type = std::string(type_in(header, source)),
            .by_column = is_by_column(header, source),
            .rows = sizes.size() == 1 ? 1 : sizes[0],
            .columns = sizes.back(),
            .data = start + length};
}

}  // namespace

bool is_rounded_whole(std::string_view text, float value) {
    text.remove_prefix(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    constexpr std::size_t k_always_held = 7;  // digits; 2²⁴ has eight
    return text.size() > k_always_held && leading_digits(text) == text.size() &&
           text != fixed_text(std::abs(value), 0);
}

void require_matrix_size(std::size_t rows, std::size_t columns, std::string_view source) {
    if (rows == 0 || columns == 0) refuse(source, "it has no numbers: give one row or more");
    if (rows > k_max_matrix_side || columns > k_max_matrix_side || rows * columns > k_max_matrix_numbers)
        refuse(source, fmt::format("it has {} × {} numbers, and a matrix may have at most {} rows and "
                                   "columns and {} numbers in total: use a part of it",
                                   rows, columns, k_max_matrix_side, k_max_matrix_numbers));
}

Matrix matrix_from_csv(std::string_view text, std::string_view source) {
    std::vector<Line> lines = lines_of(text, source);
    if (lines.empty()) refuse(source, "it has no numbers: give one row or more");
    const std::vector<std::string> top = lines[0].cells();
    const std::vector<std::string> second = lines.size() > 1 ? lines[1].cells() : top;
    // There are labels above the columns if the first line has a word or an empty corner, and in front of the
    // rows if the first cells below are words.
    const bool labeled_rows = lines.size() > 1 &&
                              std::all_of(lines.begin() + 1, lines.end(),
                                          [](const Line& line) { return is_word(line.cells()[0]); }) &&
                              second.size() > 1 && !has_decimal_comma(second[0]);
    const bool empty_corner = lines.size() > 1 && top[0].empty() && labeled_rows;
    const bool labeled_columns =
        lines.size() > 1 && (empty_corner || std::ranges::all_of(top, [](const std::string& cell) {
                                 return is_word(cell) && !has_decimal_comma(cell);
                             }));
    const std::size_t labels = labeled_columns ? top.size() - (top[0].empty() ? 1 : 0) : 0;
    if (labeled_columns) lines.erase(lines.begin());
    if (separator_of(text) == ',') refuse_decimal_commas(lines, labeled_rows, labels, source);
    const std::size_t first = labeled_rows ? 1 : 0;
    const std::size_t columns = lines[0].cells().size() - first;
    require_matrix_size(lines.size(), columns, source);
    Matrix matrix(static_cast<Eigen::Index>(lines.size()), static_cast<Eigen::Index>(columns));
    for (std::size_t r = 0; r < lines.size(); ++r) {
        const Line& line = lines[r];
        const std::vector<std::string> cells = line.cells();
        if (cells.size() != columns + first) refuse_other_length(line, lines[0], first, source);
        for (std::size_t c = 0; c < columns; ++c)
            matrix(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) =
                checked_number(line, c + first, cells[c + first], source);
    }
    return matrix;
}

Matrix matrix_from_npy(std::string_view bytes, std::string_view source) {
    const NpyHeader header = npy_header(bytes, source);
    const NpyType* type = nullptr;
    for (const NpyType& each : k_npy_types)
        if (header.type.size() > 1 && header.type.substr(1) == each.code) type = &each;
    if (!type)
        refuse(source, "its numbers have the type " + in_quotes(header.type, k_cell_quotation) +
                           ": save it as float32, numpy.save(file, array.astype('float32'))");
    require_matrix_size(header.rows, header.columns, source);
    const std::size_t held = bytes.size() - header.data,
                      announced = header.rows * header.columns * type->size;
    if (held > announced)
        refuse(source,
               fmt::format("{} extra bytes follow its {} × {} numbers: save a single array with numpy.save",
                           held - announced, header.rows, header.columns));
    if (held < announced)
        refuse(source, fmt::format("the NPY file is cut off: {} × {} numbers are expected; copy it again",
                                   header.rows, header.columns));
    const bool swapped = header.type[0] == (std::endian::native == std::endian::little ? '>' : '<');
    const auto rows = static_cast<Eigen::Index>(header.rows),
               columns = static_cast<Eigen::Index>(header.columns);
    Matrix matrix(rows, columns);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index c = 0; c < columns; ++c) {
            const auto at = static_cast<std::size_t>(header.by_column ? c * rows + r : r * columns + c);
            const char* number = bytes.data() + header.data + at * type->size;
            const std::optional<float> value = type->read(number, swapped);
            if (!value) refuse_npy_number(*type, type->text(number, swapped), r, c, source);
            matrix(r, c) = *value;
        }
    return matrix;
}

Matrix read_matrix(const std::string& path) {
    const auto require_known = [](std::string_view bytes, const std::string& source) {
        const bool text = bytes.find('\0') == std::string::npos;
        if (!text && !bytes.starts_with(k_npy_magic))
            refuse(source, "neither rows of numbers (CSV) nor an NPY file: save the matrix as one of them");
    };
    const auto read = [&](const std::string& bytes, const std::string& source) {
        require_known(bytes, source);
        return bytes.starts_with(k_npy_magic) ? matrix_from_npy(bytes, source)
                                              : matrix_from_csv(bytes, source);
    };
    return opened(path, read, k_max_file_bytes, require_known);
}

}  // namespace attnscope
