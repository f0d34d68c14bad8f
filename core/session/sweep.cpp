#include "core/session/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/experiment/experiment.h"
#include "core/number_text.h"
#include "core/op/normalizers.h"
#include "core/session/applies.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

using Values = std::vector<std::string>;

/// `count` numbers from `from` ÷ `reach` to `from` × `reach`, each the same factor above the one before.
std::vector<double> around(double from, double reach, int count) {
    std::vector<double> numbers;
    for (int i = 0; i < count; ++i) {
        const double part = count == 1 ? 0 : 2.0 * i / (count - 1) - 1;
        numbers.push_back(from * std::pow(reach, part));
    }
    return numbers;
}

constexpr double k_reach = 8, k_reach_of_sizes = 4;

/// The names of a closed choice's first `count` values.
template <typename Choice>
Values names_of(const Session&, int count) {
    Values names;
    for (const auto& [value, name] : choices<Choice>())
        if (std::ssize(names) < count) names.emplace_back(name);
    return names;
}

/// Global attention comes before local attention.
Values normalizations(const Session&, int count) {
    Values names;
    for (const bool is_local : {false, true})
        for (const auto& [choice, name] : choices<Normalization>())
            if (has_window(choice) == is_local && std::ssize(names) < count) names.emplace_back(name);
    return names;
}

Values seeds(const Session& session, int count) {
    Values values;
    const Seed& first = session.experiment.weights.seed;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t bits = first.bits() + static_cast<std::uint64_t>(i);
        const auto below_zero = static_cast<std::int64_t>(bits);
        const bool negative = first.negative() && below_zero < 0;
        values.push_back(negative ? std::to_string(below_zero) : std::to_string(bits));
    }
    return values;
}

Values of_numbers(double from, int count) {
    Values values;
    for (const double number : around(from, k_reach, count)) values.push_back(fmt::format("{:.3g}", number));
    return values;
}

Values temperatures(const Session& session, int count) {
    return of_numbers(session.experiment.weighting.temperature, count);
}

Values factors(const Session& session, int count) {
    const Experiment& e = session.experiment;
    return of_numbers(e.attention.scale.factor(e.key_width()), count);
}

Values sizes(const Session& session, int count) {
    const int step = session.experiment.attention.heads * 2;  // rope turns pairs of features
    Values values;
    for (const double number : around(session.experiment.input.dim, k_reach_of_sizes, count)) {
        const int size = std::clamp(static_cast<int>(std::lround(number / step)), 1, k_max_dim / step) * step;
        std::string value = std::to_string(size);
        if (values.empty() || values.back() != value) values.push_back(std::move(value));
    }
    return values;
}

/// A setting that can be swept, and the values it goes through.
struct SweepRow {
    std::string_view option;  ///< an OptionName
    std::string_view name;    ///< before the value, in a title
    std::string_view hint;    ///< what to look for
    Values (*values)(const Session& session, int count);
    bool of_numbers = true;
};
constexpr SweepRow row_of(Sweep sweep) {
    switch (sweep) {
        case Sweep::none: break;
        case Sweep::seed:
            return {OptionName("seed"), "Seed", "what stays in the mean does not come from the seed", seeds};
        case Sweep::temperature:
            return {OptionName("temperature"), "Temperature", "how the softmax sharpens and flattens",
                    temperatures};
        case Sweep::dim:
            return {OptionName("dim"), "d", "how the number of features changes the size of the scores",
                    sizes};
        case Sweep::scale:
            return {OptionName("scale"), "Scale factor", "how the factor sharpens and flattens", factors};
        case Sweep::score:
            return {OptionName("score"), "Score", "how each function compares query and key", names_of<Score>,
                    false};
        case Sweep::normalizer:
            return {OptionName("normalizer"), "Normalization", "how each function turns scores into weights",
                    normalizations, false};
    }
    return {};
}

/// "seed, temperature, dim or scale".
std::string names_of_settings() {
    std::string names;
    for (const auto& [sweep, name] : choices<Sweep>()) {
        if (sweep == Sweep::none) continue;
        const bool is_last = sweep == choices<Sweep>().back().value;
        names += (names.empty() ? "" : is_last ? " or " : ", ") + std::string(name);
    }
    return names;
}

}  // namespace

Sweep chosen_sweep(const Session& session) {
    const Presentation& presentation = session.presentation;
    if (presentation.sweep != Sweep::none || presentation.view != ViewKind::sweep) return presentation.sweep;
    for (const auto& [sweep, name] : choices<Sweep>())
        if (why_no_sweep(session, sweep).empty()) return sweep;
    return Sweep::none;
}

std::string_view option_of(Sweep sweep) { return row_of(sweep).option; }

bool sweeps_numbers(Sweep sweep) { return row_of(sweep).of_numbers; }

std::string_view hint_of(Sweep sweep) { return row_of(sweep).hint; }

std::string kind_of(Sweep sweep, const Experiment& e) {
    if (sweep != Sweep::normalizer) return "";
    const Normalizer& rule = normalizer_of(e.weighting.normalizer);
    if (!has_window(rule.choice)) return std::string(rule.kind);
    return fmt::format("{} ±{}", rule.kind, short_text(e.weighting.local_window));
}

std::string step_title(Sweep sweep, const std::string& value) {
    return fmt::format("{} {}", row_of(sweep).name, value);
}

std::string why_no_sweep(const Session& session, Sweep sweep) {
    if (sweep == Sweep::none) return "no setting is swept: choose " + names_of_settings();
    const Option& option = *find_option(option_of(sweep));
    if (const std::string why = why_unused(option, session.experiment); !why.empty())
        return fmt::format("{} does not apply here: {}", option.name, why);
    return "";
}

std::vector<SweepStep> sweep_steps(const Session& session, Sweep sweep, int count) {
    if (const std::string why = why_no_sweep(session, sweep); !why.empty())
        throw Error(ErrorKind::bad_input, why);
    const SweepRow row = row_of(sweep);
    std::vector<SweepStep> steps;
    for (std::string& value : row.values(session, count)) {
        SweepStep step{std::move(value), session};
        const bool fits = succeeds([&] {
            set_from_text(step.session, *find_option(row.option), step.value);
            check(step.session.experiment);
        });
        if (fits) steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace attnscope
