// Random choices for random experiments.
#pragma once

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "core/experiment/experiment.h"
#include "core/experiment/masks.h"

namespace attnscope::test {

/// Throws the same on every machine, unlike the standard distributions.
class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    /// The first throws are two bytes each; the text has to live as long.
    explicit Dice(std::string_view bytes) : bytes_(bytes) {}
    int below(int n) { return static_cast<int>(next() % static_cast<unsigned>(n)); }
    bool one_in(int n) { return below(n) == 0; }
    int from_to(int low, int high) { return low + below(high - low + 1); }
    float real() { return static_cast<float>(from_to(-1000, 1000)) / 700; }
    template <typename T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[below(static_cast<int>(choices.size()))];
    }
    template <typename Table>
    auto choice_of(const Table& table) {
        return table[static_cast<std::size_t>(below(static_cast<int>(table.size())))].choice;
    }
    ProjectionSeed seed() {
        using enum ProjectionSeed::Kind;
        const ProjectionSeed::Kind kind = of({same, proceed, own});
        return {kind, kind == own ? Seed(below(1000)) : Seed()};
    }
    Matrix matrix(int rows, int columns) {
        Matrix m(rows, columns);
        for (float& x : m.reshaped()) x = real();
        return m;
    }
    Matrix bits(int rows, int columns) {
        Matrix m(rows, columns);
        for (float& x : m.reshaped()) x = one_in(3) ? 0.0f : 1.0f;
        return m;
    }

private:
    unsigned next() {
        if (bytes_.size() < 2) return static_cast<unsigned>(engine_());
        const unsigned low = static_cast<unsigned char>(bytes_[0]),
                       high = static_cast<unsigned char>(bytes_[1]);
        bytes_.remove_prefix(2);
        return high << 8 | low;
    }

    std::string_view bytes_;
    std::mt19937 engine_;
};

/// A sentence of one to thirteen words.
inline std::string random_text(Dice& dice) {
    return dice.of<const char*>({"Can you help me to translate this sentence", "to be or not to be", "one",
                                 "Straße, STRASSE and \"quotes\"", "日本語 and l'été",
                                 "a b c d e f g h i j k l m"});
}

/// A rule of the mask for that many queries.
/// A rule of any kind of the table, with arguments that are small.
inline MaskRule random_rule(Dice& dice, int queries) {
    const MaskKind& kind =
        mask_kinds()[static_cast<std::size_t>(dice.below(static_cast<int>(mask_kinds().size())))];
    MaskRule rule{kind.choice, kind.first(queries)};
    if (kind.choice == MaskForm::valid && dice.one_in(2))
        rule.arguments.resize(static_cast<std::size_t>(queries));
    for (std::int64_t& argument : rule.arguments) argument = dice.from_to(1, 6);
    return rule;
}

}  // namespace attnscope::test
