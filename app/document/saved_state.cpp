#include "app/document/saved_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/experiment/overridable.h"
#include "core/export/matrix_files.h"
#include "core/files/decode_image.h"
#include "core/files/file.h"
#include "core/files/png.h"
#include "core/files/read_matrix.h"
#include "core/gpu/choice.h"
#include "core/session/json_text.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_recent_files = 10;
constexpr char k_aside[] = ".unreadable";
constexpr char k_kept[] = "kept";           ///< key in the session file: the values that are stored as parts
constexpr char k_kept_pinned[] = "pinned";  ///< in it: those of the pinned experiment

fs::path session_file(const std::string& folder) { return fs::path(folder) / "session.json"; }
fs::path window_file(const std::string& folder) { return fs::path(folder) / "window.json"; }
fs::path part_folder(const std::string& folder) { return fs::path(folder) / "parts"; }

std::string window_json(const SavedState& state) {
    const PanelLayout& panels = state.panels;
    const Json json = {{"file", state.file},
                       {"recent_files", state.recent_files},
                       {"width", state.width},
                       {"height", state.height},
                       {"scale", state.scale},
                       {"export_folder", state.export_folder},
                       {"closed_note", state.closed_note},
                       {"toured", state.toured},
                       {"folded_sections", panels.folded_sections},
                       {"panels",
                        {{"experiment_open", panels.experiment_open},
                         {"inspector_open", panels.inspector_open},
                         {"experiment_width", panels.experiment_width},
                         {"inspector_width", panels.inspector_width}}},
                       {"backend", name_of(state.backend)}};
    return json.dump(2) + "\n";
}

/// Renames a file that cannot be read to a new name, so that no earlier one is overwritten. Returns that
/// name.
std::string set_aside(const fs::path& file) {
    std::error_code error;
    std::string aside = file.string() + k_aside;
    for (int n = 2; fs::exists(aside, error); ++n) aside = fmt::format("{}{}{}", file.string(), k_aside, n);
    fs::rename(file, aside, error);
    return error ? file.string() : aside;
}

// Setting permissions may not be supported by the file system: the state is saved all the same.

void make_private_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (const auto status = fs::status(folder, error); !error && status.permissions() != fs::perms::owner_all)
        fs::permissions(folder, fs::perms::owner_all, error);
}

void write_private(const fs::path& file, std::string_view bytes) {
    constexpr auto k_owner_alone = fs::perms::owner_read | fs::perms::owner_write;
    write_file(file.string(), bytes);
    std::error_code error;
    if (const auto status = fs::status(file, error); !error && status.permissions() != k_owner_alone)
        fs::permissions(file, k_owner_alone, error);
}

std::string bytes_of(const CustomMatrix& matrix) { return to_npy(matrix.values()); }
std::string bytes_of(const CustomImage& given) {
    const Image& image = given.image();
    return encode_png({.width = image.width, .height = image.height, .channels = 3, .bytes = image.rgb}, {});
}

/// The hash and the size of the content: a collision is practically impossible.
std::string part_name(std::string_view bytes) {
    return fmt::format("{}-{}", std::hash<std::string_view>{}(bytes), bytes.size());
}

/// A file of the saved state. Throws Error(io), also for a pipe, which would be waited for.
std::string read_kept(const fs::path& file) {
    std::error_code error;
    if (const auto type = fs::status(file, error).type();
        type != fs::file_type::regular && type != fs::file_type::not_found)
        throw Error(ErrorKind::io, "cannot read " + file.string() + ": it is not a regular file");
    return read_file(file.string());
}

std::string read_part(const std::string& folder, const std::string& name) {
    if (name.empty() || name.starts_with(".") || name.find('/') != std::string::npos)
        throw Error(ErrorKind::bad_input,
                    k_kept + (": " + quoted_value(name)) + " is not the name of a part");
    return read_kept(part_folder(folder) / name);
}

Session read_session(const std::string& folder, const fs::path& file) {
    return session_from_state(read_kept(file), file.string(),
                              [&](const std::string& name) { return read_part(folder, name); });
}

/// The fields of an object, each of which may be missing.
class Fields {
public:
    Fields(const Json& json, std::string_view source, std::string where)
        : json_(json), source_(source), where_(std::move(where)) {
        require_object(json, source, where_);
    }

    /// Sets `value` to the field, if it is there. Throws Error(bad_input) for one of another type.
    template <class Type>
    void read(const char* name, Type& value) const {
        if (!json_.contains(name)) return;
        try {
            value = json_.at(name).get<Type>();
        } catch (const Json::exception&) {
            refuse_json(source_, path(name), quoted_value(json_.at(name)) + " has another type");
        }
    }
    template <class Type>
    void read_within(const char* name, Type& value, Type least, Type most) const {
        read(name, value);
        value = std::clamp(value, least, most);
    }
    std::optional<Fields> object(const char* name) const {
        if (!json_.contains(name)) return std::nullopt;
        return Fields(json_.at(name), source_, path(name));
    }
    const Json& json() const { return json_; }

private:
    std::string path(const char* name) const { return where_.empty() ? name : where_ + "." + name; }

    const Json& json_;
    std::string_view source_;
    std::string where_;
};

/// Puts what is stored as parts back into an experiment.
void complete(Experiment& experiment, const Fields& parts, std::string_view source,
              const ReadPart& read_part) {
    if (const auto given = parts.object("given"))
        for (const auto& each : given->json().items()) {
            std::string part;
            given->read(each.key().c_str(), part);
            if (!find_overridable(each.key()))
                refuse_json(source, k_kept, quoted_value(each.key()) + " is not the name of a matrix");
            experiment.weights.set_custom(each.key(), matrix_from_npy(read_part(part), source));
        }
    std::string image;
    parts.read("image", image);
    if (!image.empty()) experiment.input.image.emplace(decode_image(read_part(image), source));
    check(experiment);
    check_custom_cells(experiment);
}

}  // namespace

std::string state_folder() {
    if (const char* xdg = std::getenv("XDG_STATE_HOME"); xdg && fs::path(xdg).is_absolute())
        return (fs::path(xdg) / "attnscope").string();
    if (const char* home = std::getenv("HOME"); home && *home)
        return (fs::path(home) / ".local/state/attnscope").string();
    return "";
}

Session session_from_state(std::string_view text, std::string_view source, const ReadPart& read_part) {
    Json json = json_from_text(text, source).json;
    if (!json.contains(k_kept)) return session_from_json(text, source);
    const Json kept = json.at(k_kept);
    json.erase(k_kept);
    Session session = session_from_json(json.dump(), source);
    const Fields parts(kept, source, k_kept);
    complete(session.experiment, parts, source, read_part);
    if (const auto pinned = parts.object(k_kept_pinned); pinned && session.pinned)
        complete(session.pinned->experiment, *pinned, source, read_part);
    return session;
}

void read_window(SavedState& state, std::string_view text, std::string_view source) {
    const Json json = json_from_text(text, source).json;
    const Fields window(json, source, "");
    SavedState read = state;
    window.read("file", read.file);
    window.read("recent_files", read.recent_files);
    window.read_within("width", read.width, 640, 16384);
    window.read_within("height", read.height, 480, 16384);
    window.read_within("scale", read.scale, k_least_scale, k_largest_scale);
    window.read("export_folder", read.export_folder);
    window.read("closed_note", read.closed_note);
    window.read("toured", read.toured);
    window.read("folded_sections", read.panels.folded_sections);
    if (const auto panels = window.object("panels")) {
        panels->read("experiment_open", read.panels.experiment_open);
        panels->read("inspector_open", read.panels.inspector_open);
        panels->read_within("experiment_width", read.panels.experiment_width, k_narrowest_panel,
                            k_widest_panel);
        panels->read_within("inspector_width", read.panels.inspector_width, k_narrowest_panel,
                            k_widest_panel);
    }
    std::string backend(name_of(read.backend));
    window.read("backend", backend);
    read.backend = parse_backend(backend);
    state = std::move(read);
}

std::optional<SavedState> load_state(const std::string& folder, std::string& problem, bool may_set_aside) {
    std::error_code error_code;
    if (folder.empty() ||
        fs::symlink_status(session_file(folder), error_code).type() == fs::file_type::not_found)
        return std::nullopt;
    SavedState state;
    try {
        state.session = read_session(folder, session_file(folder));
    } catch (const std::exception& error) {
        const std::string where =
            may_set_aside ? set_aside(session_file(folder)) : session_file(folder).string();
        problem = "the last session could not be read and is kept as " + where + ": " + problem_text(error);
        return std::nullopt;
    }
    try {
        if (fs::exists(window_file(folder), error_code))
            read_window(state, read_kept(window_file(folder)), window_file(folder).string());
    } catch (const std::exception&) {
        if (may_set_aside) set_aside(window_file(folder));  // only sizes and recent files are lost
    }
    return state;
}

void load_habits(const std::string& folder, SavedState& state) {
    try {
        read_window(state, read_kept(window_file(folder)), window_file(folder).string());
        state.file.clear();
    } catch (const std::exception&) {
        // There are none, or writing them failed.
    }
}

std::string StateWriter::part_of(const std::variant<CustomMatrix, CustomImage>& content) {
    const auto identity = [](const auto& part) {
        return std::visit([](const auto& each) { return each.identity(); }, part);
    };
    const auto same = [&](const Part& part) { return identity(part.content) == identity(content); };
    const auto before = std::ranges::find_if(written_, same);
    std::string file = before == written_.end() ? "" : before->file;
    if (file.empty()) {
        const std::string bytes = std::visit([](const auto& each) { return bytes_of(each); }, content);
        file = part_name(bytes);
        const fs::path path = part_folder(folder_) / file;
        if (std::error_code error; !fs::exists(path, error)) write_private(path, bytes);
    }
    parts_.push_back({content, file});
    return file;
}

/// The session as JSON, large matrices and the picture by reference: a matrix of one 0 is the placeholder of
/// each.
std::string StateWriter::session_text(Session session) {
    const auto parts_of = [&](Experiment& experiment) {
        Json parts = Json::object();
        for (auto& [name, matrix] : experiment.weights.custom) {
            if (matrix.values().size() <= k_most_inline) continue;
            parts["given"][name] = part_of(matrix);
            matrix = CustomMatrix(Matrix::Zero(1, 1));
        }
        if (auto& image = experiment.input.image; image && !(*image == drawn_picture())) {
            parts["image"] = part_of(*image);
            image.reset();
        }
        return parts;
    };
    Json kept = parts_of(session.experiment);
    if (session.pinned)
        if (Json pinned = parts_of(session.pinned->experiment); !pinned.empty())
            kept[k_kept_pinned] = std::move(pinned);
    if (kept.empty()) return to_json(session);
    Json json = Json::parse(to_json(session));
    json[k_kept] = std::move(kept);
    return json.dump(2) + "\n";
}

void StateWriter::clear_away() const {
    std::error_code error;
    const std::string aside = session_file(folder_).filename().string() + ".";
    bool any_aside = false;
    std::vector<fs::path> others;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
        any_aside = any_aside || it->path().filename().string().starts_with(aside);
        if (it->path().extension() == ".part") others.push_back(it->path());
    }
    const auto is_used = [&](const std::string& name) {
        return std::ranges::find(parts_, name, &Part::file) != parts_.end();
    };
    for (fs::directory_iterator it(part_folder(folder_), error), end; !error && it != end;
         it.increment(error))
        // A session that was set aside (session.json.unreadable) may refer to any of them.
        if (!any_aside && !is_used(it->path().filename().string())) others.push_back(it->path());
    for (const fs::path& other : others) fs::remove(other, error);
}

void StateWriter::write(const SavedState& state) {
    // If writing fails on the way, nothing is known about the content of the folder.
    const std::string window_before = std::exchange(window_text_, {});
    parts_.clear();
    make_private_folder(folder_);
    make_private_folder(part_folder(folder_));
    write_private(session_file(folder_), session_text(state.session));
    const std::string window = window_json(state);
    if (window != window_before) write_private(window_file(folder_), window);
    window_text_ = window;
    clear_away();
    written_ = std::exchange(parts_, {});
}

std::string set_session_aside(const std::string& folder) {
    const fs::path withheld = session_file(folder).string() + ".withheld";
    std::error_code error;
    fs::rename(session_file(folder), withheld, error);
    if (error) return "";
    const fs::path whole = fs::path(folder) / "last-session.json";
    try {
        write_private(whole, to_json(read_session(folder, withheld)));
    } catch (const std::exception&) {
        return set_aside(withheld);
    }
    fs::remove(withheld, error);
    return whole.string();
}

void remember_file(SavedState& state, const std::string& file) {
    std::erase(state.recent_files, file);
    state.recent_files.insert(state.recent_files.begin(), file);
    if (state.recent_files.size() > k_most_recent_files) state.recent_files.resize(k_most_recent_files);
}

}  // namespace attnscope
