#include "core/random/seed.h"

#include <charconv>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::string_view k_spaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(k_spaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(k_spaces) - first + 1);
}

/// Parses a number that is the whole of `text` and fits.
template <typename Integer>
bool read_whole(std::string_view text, Integer& value) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end;
}

}  // namespace

std::optional<Seed> Seed::read(std::string_view text) {
    const std::string_view number = trimmed(text);
    if (std::int64_t value = 0; read_whole(number, value)) return Seed(value);
    if (std::uint64_t value = 0; read_whole(number, value)) return from_unsigned(value);
    return std::nullopt;
}

Seed Seed::parse(std::string_view text) {
    if (const std::optional<Seed> seed = read(text)) return *seed;
    throw Error(ErrorKind::bad_input, "seed \"" + std::string(text) +
                                          "\": use a whole number from -9223372036854775808 to "
                                          "18446744073709551615");
}

std::string Seed::text() const {
    return negative_ ? std::to_string(static_cast<std::int64_t>(bits_)) : std::to_string(bits_);
}

}  // namespace attnscope
