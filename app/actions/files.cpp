#include "app/actions/files.h"

#include <algorithm>

#include "core/error.h"
#include "core/io/applies.h"
#include "core/io/examples.h"
#include "core/io/file.h"
#include "core/io/image.h"
#include "core/io/png.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

/// What belonged to the session before goes with it.
void begin_anew(ActionContext& c) {
    c.saved.closed_note.clear();
    c.interaction.zoom = {};
    c.interaction.second_sentence_open = false;
    c.interaction.notice = {};
}

/// What the window looks like is the person's, not that of a session made just now.
void open_unnamed_with_theme(ActionContext& c, Session session) {
    session.presentation.theme = c.document.presentation().theme;
    c.document.open(std::move(session), "");
    begin_anew(c);
}

std::string lower_extension(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return extension;
}

bool is_picture_file(std::string_view extension) {
    return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

bool is_text_file(std::string_view extension) {
    return extension == ".txt" || extension == ".md" || extension == ".text";
}

}  // namespace

void new_session(ActionContext& c) { open_unnamed_with_theme(c, Session{}); }

std::string why_no_image(const ActionContext& c) {
    Experiment alone = c.document.experiment();
    alone.text2.clear();
    return why_unused(*find_option("image"), alone);
}

void look_at(ActionContext& c, const GivenImage& image) {
    c.document.change([&](Session& s) {
        s.experiment.image = image;
        s.experiment.text2.clear();
        s.presentation.view = "image";
        s.presentation.locked.reset();
    });
    c.interaction.zoom = {};
    c.interaction.second_sentence_open = false;
}

void remove_picture(ActionContext& c) {
    c.document.change([](Session& s) {
        s.experiment.image.reset();
        s.presentation.view = "pipeline";
        s.presentation.locked.reset();
    });
    c.interaction.zoom = {};
}

bool can_be_opened(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    return extension == ".json" || extension == ".svg" || is_picture_file(extension) ||
           is_text_file(extension);
}

void open_example(ActionContext& context, const std::string& name) {
    open_unnamed_with_theme(context, load_example(name));
    context.interaction.notice = {"opened the example " + name, false};
}

void open_file(ActionContext& context, const std::string& file) {
    const std::string path = std::filesystem::absolute(file).string();
    const std::string extension = lower_extension(path);
    if (is_text_file(extension)) {
        std::string text = read_file(path);
        require_utf8(text);
        std::ranges::replace(text, '\n', ' ');
        std::erase(text, '\r');
        context.document.change([&](Session& s) { s.experiment.text = text; });
        context.interaction.notice = {"the sentence is the text of " + path, false};
        return;
    }
    if (is_picture_file(extension)) {
        const std::string bytes = read_file(path);
        if (is_image(bytes) && !has_png_session(bytes)) return open_picture(context, path);
    }
    context.document.open(load_session(path), extension == ".json" ? path : "");
    begin_anew(context);
    remember_file(context.saved, path);
    context.interaction.notice = {"opened " + path, false};
}

void open_picture(ActionContext& context, const std::string& file) {
    const std::string path = std::filesystem::absolute(file).string();
    if (const std::string reason = why_no_image(context); !reason.empty())
        throw Error(ErrorKind::bad_input, path + " is a picture and none is looked at: " + reason);
    look_at(context, read_image(path));
    remember_file(context.saved, path);
    context.interaction.notice = {"looking at " + path, false};
}

void save_file(ActionContext& context, const std::string& file) {
    const std::string path = std::filesystem::absolute(file).string();
    write_file(path, to_json(context.document.session()));
    context.document.saved_as(path);
    remember_file(context.saved, path);
    context.interaction.notice = {"saved " + path, false};
}

}  // namespace attnscope
