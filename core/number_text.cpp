#include "core/number_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace attnscope {
std::string cell_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
    if (value == 0) return "0";
    const double magnitude = std::abs(value);
    // The bounds are where the next shorter notation rounds up: 9.995 is "9.99" or "10.0".
    if (magnitude < 0.0005 || magnitude >= 99999.5) return fmt::format("{:.0e}", value);
    const int decimals = magnitude < 1.0005 ? 3 : magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
    return fixed_text(value, decimals);
}

std::string reading_text(double value) {
    if (value == 0 || std::abs(value) >= 0.0005 || std::isnan(value)) return cell_text(value);
    return value > 0 ? "< 0.001" : "> -0.001";
}

std::string weight_text(double value) { return value > 0 && value < 0.0005 ? "<.001" : cell_text(value); }

std::string short_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
    return fmt::format("{:.3g}", value == 0 ? 0 : value);
}

std::string digits_text(double value, int digits) {
    const double magnitude = std::abs(value), power = std::floor(std::log10(magnitude));
    if (power + 1 >= digits && magnitude < 99999.5) return fixed_text(value, 0);
    const double size = std::pow(10.0, digits - 1 - power);
    return short_text(value == 0 || !std::isfinite(size) ? value : std::round(value * size) / size);
}

std::string size_text(std::int64_t rows, std::int64_t columns) {
    return fmt::format("{} × {}", rows, columns);
}

std::string fixed_text(double value, int decimals) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
    return text;
}

std::string shortest_text(double value) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string exact_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return fmt::format("{:.9g}", value);
}

}  // namespace attnscope
