// A seed, as torch.manual_seed takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// A whole number from −2⁶³ to 2⁶⁴ − 1, kept exactly as written.
class Seed {
public:
    constexpr Seed(std::int64_t value = 0) : bits_(static_cast<std::uint64_t>(value)), negative_(value < 0) {}
    static constexpr Seed from_unsigned(std::uint64_t value) {
        Seed seed;
        seed.bits_ = value;
        return seed;
    }
    /// nullopt unless `text` is a whole number from -2^63 to 2^64-1; spaces around it are allowed.
    static std::optional<Seed> read(std::string_view text);
    /// Reads a seed as read() does, but throws Error(bad_input) naming the text and the range.
    static Seed parse(std::string_view text);

    /// The 64 bits passed to the generator; a negative s becomes s + 2⁶⁴.
    constexpr std::uint64_t bits() const { return bits_; }
    constexpr bool negative() const { return negative_; }
    std::string text() const;
    bool operator==(const Seed&) const = default;

private:
    std::uint64_t bits_;
    bool negative_;
};

}  // namespace attnscope
