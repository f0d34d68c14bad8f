// Options as text: a flag's argument, a value quoted in an error, docs/options.md.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/experiment/masks.h"
#include "core/files/decode_image.h"
#include "core/files/file.h"
#include "core/files/read_matrix.h"
#include "core/session/applies.h"
#include "core/session/option_parts.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace option_parts {

void refuse(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

std::string as_text(const OptionValue& value) {
    if (!value.json.is_string()) refuse("expected a string, not " + value.quoted());
    require_utf8(value.json.get_ref<const std::string&>());
    return value.json.get<std::string>();
}

Json seed_json(const Seed& seed) {
    return seed.negative() ? Json(static_cast<std::int64_t>(seed.bits())) : Json(seed.bits());
}

std::optional<double> parse_double(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string instead_of(std::string_view name, std::span<const std::string> known) {
    const std::string near = nearest_name(name, known);
    if (!near.empty()) return "; did you mean " + near + "?";
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return ": use one of " + all;
}

}  // namespace option_parts

namespace {

using namespace option_parts;
using enum OptionType;

constexpr std::string_view k_file_rule = "file:";

/// The result of `read`. If a file's content cannot be used, that counts as an I/O error, as if it could not
/// be read.
template <typename Read>
auto from_file(const Read& read) {
    try {
        return read();
    } catch (const Error& error) {
        throw error.kind() == ErrorKind::bad_input ? error.as(ErrorKind::io) : error;
    }
}

CustomMatrix custom_from_file(const std::string& name, const std::string& path) {
    return from_file([&] {
        Matrix values = read_matrix(path);
        check_custom_cells(name, values, source_name(path));
        return CustomMatrix(std::move(values));
    });
}

/// NAME=PATH: the file is read immediately.
void set_custom(Session& s, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) refuse("expected NAME=PATH, not " + quoted_value(std::string(text)));
    const std::string name(text.substr(0, equals));
    std::vector<std::string> known;
    for (const OverridableMatrix& each : overridable_matrices()) known.emplace_back(each.name);
    if (!find_overridable(name)) refuse(quoted_value(name) + " cannot be custom" + instead_of(name, known));
    s.experiment.weights.custom.insert_or_assign(
        name, custom_from_file(name, std::string(text.substr(equals + 1))));
}

/// A whole number if it is one; else a number or the text itself, so that the setter reports what it expects.
Json whole_from_text(std::string_view argument) {
    if (const std::optional<Seed> whole = Seed::read(argument)) return seed_json(*whole);
    if (const auto number = parse_double(argument); number && std::isfinite(*number)) return *number;
    return std::string(argument);
}

Json value_from_text(const Option& option, std::string_view argument) {
    const std::string value(argument);
    switch (option.type) {
        case text: return value;
        case boolean:
            if (value != "true" && value != "false")
                refuse("expected true or false, not " + quoted_value(value));
            return value == "true";
        case whole: return whole_from_text(argument);
        case number:
            if (const auto parsed = parse_double(argument)) return *parsed;
            refuse("expected a number, not " + quoted_value(value));
        case word_or_number: return whole_from_text(argument);
        case list: return value == "none" ? Json::array() : Json::array({value});
        case picture:
        case matrices: return value;
    }
    return nullptr;
}

/// Whether the argument is stored in a session as it is; anything else is a path.
bool is_image_word(std::string_view argument) {
    return argument == "none" || argument == "drawn" || argument.starts_with("data:");
}

/// Letters replaced, missing, added, or swapped with their neighbor (Damerau 1964).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above, row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string OptionValue::quoted() const {
    if (!json.is_number_float() || typed.empty()) return quoted_value(json);
    return message_text(typed, k_longest_quotation);
}

void set_from_text(Session& session, const Option& option, std::string_view argument) {
    try {
        if (option.type == matrices) {
            if (argument == "none") return session.experiment.weights.custom.clear();
            return set_custom(session, argument);
        }
        if (option.type == picture && !is_image_word(argument)) {
            session.experiment.input.image = from_file([&] { return read_image(std::string(argument)); });
            return;
        }
        if (option.type == list) {
            session.experiment.weights.discard("mask");
            option.set(session, {Json::array()});
            return add_from_text(session, option, argument);
        }
        option.set(session, {value_from_text(option, argument), argument});
    } catch (const Error& error) {
        throw error.at("--" + std::string(option.name));
    }
}

void add_from_text(Session& session, const Option& option, std::string_view argument) {
    if (argument == "none") {
        session.experiment.weights.discard("mask");
        return option.set(session, {Json::array()});
    }
    if (argument.starts_with(k_file_rule)) {
        session.experiment.weights.custom.insert_or_assign(
            "mask", custom_from_file("mask", std::string(argument.substr(k_file_rule.size()))));
        return;
    }
    Json rules = option.get(session);
    rules.push_back(mask_rule_text(parse_mask_rule(as_text({std::string(argument)}), "file:PATH")));
    option.set(session, {rules});
}

std::string text_of(const Session& session, const Option& option) {
    const Json value = option.get(session);
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.dump();
    std::string joined;
    for (const Json& each : value) joined += (joined.empty() ? "" : " ") + each.get<std::string>();
    return joined.empty() ? "none" : joined;
}

std::string nearest_name(std::string_view misspelled, std::span<const std::string> known) {
    std::string best;
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (const std::string& name : known) {
        const auto [shorter, longer] = std::minmax({misspelled.size(), name.size()});
        const std::size_t most = longer / 3;
        if (longer - shorter > most) continue;  // the distance is at least that
        const std::size_t distance = edit_distance(misspelled, name);
        if (distance < smallest && distance <= most) {
            smallest = distance;
            best = name;
        }
    }
    return best;
}

std::string options_markdown() {
    const auto cell = [](std::string_view value) {
        std::string escaped;
        for (const char c : value) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
        return escaped;
    };
    std::string page =
        "# Options\n\nEvery setting, as a flag and, with `_` for `-`, as a field of a session file. "
        "Generated from the table in "
        "`core/session/options.cpp`.\n";
    std::optional<OptionSection> section;
    const Session defaults;
    for (const Option& option : options()) {
        if (option.section != section) {
            section = option.section;
            page += "\n## " + std::string(name_of(option.section)) +
                    "\n\n| flag | default | what it does | applies when |\n|---|---|---|---|\n";
        }
        const std::string flag(option.name);
        page += "| `--" +
                (option.type == boolean ? flag + "`, `--no-" + flag : flag + " " + cell(option.argument)) +
                "` | " + cell(text_of(defaults, option)) + " | " + cell(option.help) + " | " +
                cell(when_used(option)) + " |\n";
    }
    return page;
}

}  // namespace attnscope
