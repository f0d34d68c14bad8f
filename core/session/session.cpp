#include "core/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/files/file.h"
#include "core/files/jpeg.h"
#include "core/files/png.h"
#include "core/files/read_matrix.h"
#include "core/files/safetensors.h"
#include "core/files/svg.h"
#include "core/limits.h"
#include "core/number_text.h"
#include "core/session/json_text.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr int k_version = 1;
[[noreturn]] void refuse_unknown(std::string_view source, const std::string& path, const std::string& name,
                                 std::span<const std::string> known, const std::string& what = "field") {
    const std::string near = nearest_name(name, known);
    refuse_json(source, "",
                "the " + what + " " + quoted_value(path + name) + " is unknown" +
                    (near.empty() ? ": remove it" : "; did you mean \"" + near + "\"?"));
}

Json number_json(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    // Nine digits tell all float32 numbers apart; a whole number keeps all of its digits.
    return std::abs(value) < 1e6f ? std::strtod(exact_text(value).c_str(), nullptr) : value;
}

float number_from(const Json& json, std::string_view source, const std::string& where) {
    if (json.is_number()) {
        const auto value = json.get<float>();
        if (std::isinf(value))
            refuse_json(source, where, quoted_value(json) + " is beyond the range of float32: write \"inf\"");
        if (is_rounded_whole(json.dump(), value)) refuse_rounded(source, where, json.dump(), value);
        return value;
    }
    if (json == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (json == "inf") return std::numeric_limits<float>::infinity();
    if (json == "-inf") return -std::numeric_limits<float>::infinity();
    refuse_json(source, where, "expected a number, \"nan\", \"inf\" or \"-inf\", not " + quoted_value(json));
}

Json matrix_json(const Matrix& matrix) {
    Json rows = Json::array();
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        Json row = Json::array();
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(number_json(matrix(i, j)));
        rows.push_back(std::move(row));
    }
    return rows;
}

Matrix matrix_from(const Json& json, std::string_view source, const std::string& where) {
    if (!json.is_array() || json.empty() || !json[0].is_array() || json[0].empty())
        refuse_json(source, where, "expected a matrix as a list of rows [[…], …]");
    // Memory is allocated only once all rows have the same length: one long row among short ones would
    // otherwise determine it.
    for (std::size_t i = 0; i < json.size(); ++i)
        if (!json[i].is_array() || json[i].size() != json[0].size())
            refuse_json(source, fmt::format("{} row {}", where, i + 1),
                        fmt::format("expected {} numbers, as in row 1", json[0].size()));
    require_matrix_size(json.size(), json[0].size(), std::string(source) + ": " + where);
    Matrix matrix(static_cast<Eigen::Index>(json.size()), static_cast<Eigen::Index>(json[0].size()));
    for (std::size_t i = 0; i < json.size(); ++i) {
        const std::string row = fmt::format("{} row {}", where, i + 1);
        for (std::size_t j = 0; j < json[i].size(); ++j)
            matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                number_from(json[i][j], source, row);
    }
    return matrix;
}

void require_overridable(const std::string& name, const std::string& path, std::string_view source,
                         const std::string& what = "field") {
    if (find_overridable(name)) return;
    std::vector<std::string> known;
    for (const OverridableMatrix& each : overridable_matrices()) known.emplace_back(each.name);
    refuse_unknown(source, path, name, known, what);
}

void read_custom(Session& session, const Json& json, const std::string& path, std::string_view source) {
    require_object(json, source, path);
    for (const auto& [name, value] : json.items()) {
        require_overridable(name, path + ".", source);
        session.experiment.weights.custom.emplace(
            name, CustomMatrix(matrix_from(value, source, path + "." + name)));
    }
}

/// Reads one object of options, the experiment's or the presentation's, that stands at a path of the file.
void read_options(Session& session, const Json& json, bool experiment, const std::string& path,
                  const TypedNumbers& typed, std::string_view source) {
    require_object(json, source, path);
    std::vector<std::string> known;
    for (const Option& option : options())
        if (option.in_experiment() == experiment) known.push_back(option.json_name());
    for (const auto& [name, value] : json.items()) {
        if (experiment && name == "given") {
            read_custom(session, value, path + ".given", source);
            continue;
        }
        std::string flag = name;
        std::ranges::replace(flag, '_', '-');
        const Option* option = find_option(flag);
        if (!option || option->in_experiment() != experiment || option->json_name() != name)
            refuse_unknown(source, path + ".", name, known);
        const std::string where = path + "." + name;
        const auto as_typed = typed.find(where);
        try {
            option->set(session, {value, as_typed == typed.end() ? "" : as_typed->second});
        } catch (const Error& error) {
            throw error.in(std::string(source) + ": " + where);
        }
    }
}

constexpr std::string_view k_head = "head", k_layer = "layer", k_on_cpu = "on_cpu";

/// Reads what is pinned: an experiment, and which head and layer of it are shown.
Pinned read_pinned(const Json& json, const TypedNumbers& typed, std::string_view source) {
    require_object(json, source, "pinned");
    Session session;
    Json shown = Json::object();
    bool on_cpu = false;
    for (const auto& [name, value] : json.items()) {
        if (name == "experiment")
            read_options(session, value, true, "pinned.experiment", typed, source);
        else if (name == k_head || name == k_layer)
            shown[name] = value;
        else if (name == k_on_cpu && value.is_boolean())
            on_cpu = value.get<bool>();
        else if (name == k_on_cpu)
            refuse_json(source, "pinned.on_cpu", "expected true or false");
        else
            refuse_unknown(source, "pinned.", name,
                           std::vector<std::string>{"experiment", std::string(k_head), std::string(k_layer),
                                                    std::string(k_on_cpu)});
    }
    read_options(session, shown, false, "pinned", typed, source);
    const Presentation& p = session.presentation;
    return {std::move(session.experiment), p.head, p.layer(), on_cpu};
}

void require_readable_again(const Session& session) {
    std::size_t numbers = 0;
    const auto count = [&](const Experiment& experiment) {
        for (const auto& [name, matrix] : experiment.weights.custom)
            numbers += static_cast<std::size_t>(matrix.values().size() + matrix.values().rows());
    };
    count(session.experiment);
    if (session.pinned) count(session.pinned->experiment);
    if (numbers + k_max_json_fields > k_max_json_elements)
        throw Error(
            ErrorKind::too_large,
            fmt::format("the custom matrices have {} numbers and a session holds about {}: use smaller ones, "
                        "or save it as .safetensors",
                        numbers, k_max_json_elements));
}

/// The options of the experiment or of the presentation, but for custom matrices.
Json options_json(const Session& session, bool experiment) {
    Json json = Json::object();
    for (const Option& option : options())
        if (option.in_experiment() == experiment && option.type != OptionType::matrices)
            json[option.json_name()] = option.get(session);
    return json;
}

/// What is pinned, as a session that shows it.
Session session_of(const Pinned& pinned) {
    Session session{pinned.experiment, {}, {}};
    session.presentation.head = pinned.head;
    session.presentation.set_layer(pinned.layer);
    return session;
}

/// All but the custom matrices.
Json settings_json(const Session& session) {
    Json json = {{"version", k_version},
                 {"experiment", options_json(session, true)},
                 {"presentation", options_json(session, false)},
                 {"note", session.note}};
    if (!session.pinned) return json;
    const Session pinned = session_of(*session.pinned);
    const auto shown = [&](std::string_view name) { return find_option(name)->get(pinned); };
    json["pinned"] = {{"experiment", options_json(pinned, true)},
                      {std::string(k_head), shown(k_head)},
                      {std::string(k_layer), shown(k_layer)}};
    if (session.pinned->on_cpu) json["pinned"][k_on_cpu] = true;
    return json;
}

/// The session without a check of its experiment as a whole.
Session unchecked_session(std::string_view text, std::string_view source, std::size_t most_elements) {
    const auto [json, typed] = json_from_text(text, source, most_elements);
    Session session;
    const std::vector<std::string> known = {"version", "experiment", "presentation", "note", "pinned"};
    for (const auto& [name, value] : json.items()) {
        if (name == "version") {
            if (value != k_version)
                refuse_json(source, "version",
                            fmt::format("{} is not supported: this attnscope reads version {}",
                                        quoted_value(value), k_version));
        } else if (name == "experiment") {
            read_options(session, value, true, "experiment", typed, source);
        } else if (name == "presentation") {
            read_options(session, value, false, "presentation", typed, source);
        } else if (name == "note") {
            if (!value.is_string())
                refuse_json(source, "note", "expected a string, not " + quoted_value(value));
            session.note = value.get<std::string>();
            if (session.note.size() > k_max_note_bytes)
                refuse_json(source, "note",
                            fmt::format("it has more than {} bytes: shorten it", k_max_note_bytes));
        } else if (name == "pinned") {
            session.pinned = read_pinned(value, typed, source);
        } else {
            refuse_unknown(source, "", name, known);
        }
    }
    return session;
}

void require_valid(const Experiment& experiment, std::string_view source, const char* path) {
    try {
        check(experiment);
        check_custom_cells(experiment);
    } catch (const Error& error) {
        throw error.in(std::string(source) + ": " + path);
    }
}

Session checked(Session session, std::string_view source) {
    require_valid(session.experiment, source, "experiment");
    if (session.pinned) require_valid(session.pinned->experiment, source, "pinned.experiment");
    return session;
}

Json custom_json(const Experiment& experiment) {
    Json given = Json::object();
    for (const auto& [name, matrix] : experiment.weights.custom) given[name] = matrix_json(matrix.values());
    return given;
}

/// Before the name of a custom matrix that what is pinned has, in a safetensors file.
constexpr std::string_view k_pinned_prefix = "pinned.";

void add_tensors(Tensors& tensors, const Experiment& experiment, std::string_view prefix) {
    for (const auto& [name, matrix] : experiment.weights.custom)
        tensors.tensors.push_back({std::string(prefix) + name, matrix.values(),
                                   find_overridable(name)->is_row && matrix.values().rows() == 1});
}

/// The extension of a file's name in lower case, with its dot.
std::string extension_of(const std::string& file) {
    return lower(std::filesystem::path(file).extension().string());
}

constexpr std::string_view k_safetensors_extension = ".safetensors";

}  // namespace

std::string to_json(const Session& session) {
    require_readable_again(session);
    Json json = settings_json(session);
    json["experiment"]["given"] = custom_json(session.experiment);
    if (session.pinned) json["pinned"]["experiment"]["given"] = custom_json(session.pinned->experiment);
    return json.dump(2) + "\n";
}

Session session_from_json(std::string_view text, std::string_view source, std::size_t most_elements) {
    return checked(unchecked_session(text, source, most_elements), source);
}

std::string to_safetensors(const Session& session) {
    Tensors tensors;
    tensors.metadata[std::string(k_safetensors_session_key)] = settings_json(session).dump();
    add_tensors(tensors, session.experiment, "");
    if (session.pinned) add_tensors(tensors, session.pinned->experiment, k_pinned_prefix);
    return to_safetensors(tensors);
}

Session session_from_safetensors(std::string_view bytes, std::string_view source) {
    Tensors tensors = tensors_from_safetensors(bytes, source, k_safetensors_session_key);
    const std::string& settings = tensors.metadata.at(std::string(k_safetensors_session_key));
    Session session = unchecked_session(settings, source, k_max_json_fields);
    const char* const leave_it_out = "the file's tensors are the custom matrices: leave it out";
    if (!session.experiment.weights.custom.empty()) refuse_json(source, "experiment.given", leave_it_out);
    if (session.pinned && !session.pinned->experiment.weights.custom.empty())
        refuse_json(source, "pinned.experiment.given", leave_it_out);
    for (NamedTensor& tensor : tensors.tensors) {
        const bool pinned = session.pinned && tensor.name.starts_with(k_pinned_prefix);
        Experiment& experiment = pinned ? session.pinned->experiment : session.experiment;
        const std::string name = tensor.name.substr(pinned ? k_pinned_prefix.size() : 0);
        require_overridable(name, pinned ? std::string(k_pinned_prefix) : "", source, "tensor");
        if (experiment.training.step > 0 && !tensor.values.allFinite())
            refuse_json(source, tensor.name, "a learned parameter is not finite: the file is damaged");
        experiment.weights.custom.emplace(name, CustomMatrix(std::move(tensor.values)));
    }
    return checked(std::move(session), source);
}

bool is_session_file(const std::string& file) {
    const std::string extension = extension_of(file);
    return extension == ".json" || extension == k_safetensors_extension;
}

std::string session_bytes(const Session& session, const std::string& file) {
    return extension_of(file) == k_safetensors_extension ? to_safetensors(session) : to_json(session);
}

namespace {

Session session_of_picture(const std::string& text, const std::string& source) {
    return session_from_json(text, source, k_max_picture_json_elements);
}

Session session_from_bytes(const std::string& bytes, const std::string& source) {
    if (is_png(bytes)) return session_of_picture(read_png_session(bytes, source), source);
    if (is_svg(bytes)) return session_of_picture(read_svg_session(bytes, source), source);
    if (is_safetensors(bytes) || extension_of(source) == k_safetensors_extension)
        return session_from_safetensors(bytes, source);
    if (is_jpeg(bytes))
        throw Error(ErrorKind::bad_input,
                    source + " is a JPEG, which holds no session: use it as the picture with --image");
    if (bytes.starts_with("%PDF-"))
        throw Error(ErrorKind::bad_input,
                    source + " is a PDF, which holds no session: open the PNG or the SVG");
    return session_from_json(bytes, source);
}

/// Neither JSON nor SVG holds a zero byte: the message is that of the whole file.
void require_known_start(std::string_view start, const std::string& source) {
    if (start.find('\0') == start.npos || is_png(start) || is_safetensors(start)) return;
    session_from_bytes(std::string(start), source);
}

}  // namespace

Session load_session(const std::string& file) {
    return opened(file, session_from_bytes, k_max_file_bytes, require_known_start);
}

}  // namespace attnscope
