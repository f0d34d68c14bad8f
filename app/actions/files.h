// What comes in by files and goes out to them: sessions, pictures, texts.
#pragma once

#include <filesystem>

#include "app/actions/actions.h"
#include "app/document/opener.h"

namespace attnscope {

/// The window keeps its theme, as with an example.
void new_session(ActionContext& context);
/// A file that open_file knows what to do with, by its suffix.
bool can_be_opened(const std::filesystem::path& path);
/// An example; the window keeps its theme. Throws Error.
void open_example(ActionContext& context, const std::string& name);
/// Reads a session, an exported picture, or a text file, which is a sentence; a picture without a session, or
/// any `as_picture`, is one to look at. From any thread. Throws Error.
OpenedFile read_to_open(const std::string& file, bool as_picture = false);
/// What was read is the session, the sentence or the experiment's image from now on. Throws Error.
void take_opened(ActionContext& context, OpenedFile file);
/// Throws Error(io).
void save_file(ActionContext& context, const std::string& file);

/// Why no picture is looked at, which would take the second sentence's place; empty: one may be.
std::string why_no_image(const ActionContext& context);
/// The picture takes the second sentence's place.
void look_at(ActionContext& context, const GivenImage& image);
void remove_picture(ActionContext& context);

}  // namespace attnscope
