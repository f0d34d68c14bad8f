#include "app/actions/files.h"

#include <algorithm>
#include <chrono>

#include "core/canceled.h"
#include "core/error.h"
#include "core/files/decode_image.h"
#include "core/files/file.h"
#include "core/files/png.h"
#include "core/learn/training_run.h"
#include "core/session/applies.h"
#include "core/session/examples.h"
#include "core/session/text_file.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds k_longest_wait{500};  ///< for the reader of a pipe that is saved to

/// Resets what belonged to the previous session: zoom, the second field, notices.
void reset_interaction(ActionContext& c) {
    c.saved.closed_note.clear();
    c.interaction.zoom = {};
    c.interaction.second_sentence_open = false;
    c.interaction.notice = {};
}

/// The theme is the user's choice: a session that was just made does not change it.
void open_unnamed_with_theme(ActionContext& c, Session session) {
    session.presentation.theme = c.document.presentation().theme;
    c.document.open(std::move(session), "");
    reset_interaction(c);
}

std::string lower_extension(const std::filesystem::path& path) { return lower(path.extension().string()); }

bool is_picture_file(std::string_view extension) {
    return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

bool is_text_file(std::string_view extension) {
    return extension == ".txt" || extension == ".md" || extension == ".text";
}

/// Whether a file whose name does not tell is text: UTF-8, and not a session.
bool is_text(const std::string& bytes, const std::string&) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool is_session = first != bytes.npos && bytes[first] == '{';
    return !is_session && bytes.find('\0') == bytes.npos && is_utf8(bytes);
}

bool is_plain_picture(const std::string& bytes, const std::string&) {
    return is_image(bytes) && !has_png_session(bytes);
}

// Each overload applies what was read and returns what it did, for the notice.

std::string take(ActionContext& context, const std::string& path, Session session) {
    context.document.open(std::move(session), is_session_file(path) ? path : "");
    reset_interaction(context);
    remember_file(context.saved, path);
    return "opened ";
}

std::string take(ActionContext& context, const std::string& path, const CustomImage& image) {
    if (const std::string reason = why_no_image(context); !reason.empty())
        throw Error(ErrorKind::bad_input,
                    path + " is a picture, which this experiment does not use: " + reason);
    use_image(context, image);
    remember_file(context.saved, path);
    return "loaded the picture ";
}

std::string take(ActionContext& context, const std::string& path, const std::string& text) {
    remember_file(context.saved, path);
    if (context.document.why_unused(option_named("corpus")).empty()) {
        Experiment other = learning_from(context.document.experiment(), text);
        context.document.change([&](Session& s) { s.experiment = std::move(other); });
        return "read the training text ";
    }
    context.document.change([&](Session& s) { s.experiment.input.text = text; });
    return "read the sentence from ";
}

}  // namespace

/// A word that is typed adds a row and a column and leaves the scores of the others alone; projections as
/// layers are drawn in practice make weights that are neither all alike nor all on one key.
void new_session(ActionContext& c) {
    Session session;
    session.experiment.input.vocabulary = VocabularyOrder::stable;
    session.experiment.attention.projection = Projection::xavier;
    open_unnamed_with_theme(c, std::move(session));
}

std::string why_no_image(const ActionContext& c) {
    Experiment alone = c.document.experiment();
    alone.input.text2.clear();
    return why_unused(option_named("image"), alone);
}

void use_image(ActionContext& c, const CustomImage& image) {
    c.document.change([&](Session& s) {
        s.experiment.input.image = image;
        s.experiment.input.text2.clear();
        s.presentation.view = ViewKind::image;
        s.presentation.unlock();
    });
    c.interaction.zoom = {};
    c.interaction.second_sentence_open = false;
}

void remove_picture(ActionContext& c) {
    c.document.change([](Session& s) {
        s.experiment.input.image.reset();
        s.presentation.view = ViewKind::pipeline;
        s.presentation.unlock();
    });
    c.interaction.zoom = {};
}

bool can_be_opened(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    return is_session_file(path.string()) || extension == ".svg" || is_picture_file(extension) ||
           is_text_file(extension);
}

bool is_matrix_file(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    return extension == ".csv" || extension == ".npy";
}

void open_example(ActionContext& context, const std::string& name) {
    open_unnamed_with_theme(context, load_example(name));
    context.interaction.notice = {"opened the example " + name, false};
}

void open_question(ActionContext& context, const Question& question) {
    open_unnamed_with_theme(context, answer(question));
    context.interaction.notice = {"opened an answer to: " + std::string(question.text), false};
}

OpenedFile read_to_open(const std::string& file, bool as_picture) {
    const std::string path = std::filesystem::absolute(file).string();
    const std::string extension = lower_extension(path);
    if (as_picture) return {path, read_image(path)};
    if (is_text_file(extension)) return {path, read_text_file(path)};
    if (is_picture_file(extension) && opened(path, is_plain_picture)) return {path, read_image(path)};
    std::error_code ignored;
    if (!can_be_opened(path) && std::filesystem::is_regular_file(path, ignored) && opened(path, is_text))
        return {path, read_text_file(path)};
    return {path, load_session(path)};
}

void take_opened(ActionContext& context, OpenedFile file) {
    const std::string done =
        std::visit([&](auto& content) { return take(context, file.path, std::move(content)); }, file.content);
    context.interaction.notice = {done + file.path, false};
}

void save_file(ActionContext& context, const std::string& file) {
    const std::string path = std::filesystem::absolute(file).string();
    const auto last = std::chrono::steady_clock::now() + k_longest_wait;
    try {
        write_file(path, session_bytes(context.document.session(), path),
                   [&] { return std::chrono::steady_clock::now() < last; });
    } catch (const Canceled&) {
        throw Error(ErrorKind::io, "cannot write " + path + ": nothing reads from this pipe");
    }
    context.document.saved_as(path);
    remember_file(context.saved, path);
    context.interaction.notice = {"saved " + path, false};
}

}  // namespace attnscope
