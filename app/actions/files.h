// Reading files into the document and writing it to one: sessions, pictures, texts.
#pragma once

#include <filesystem>

#include "app/actions/actions.h"
#include "app/document/opener.h"
#include "core/session/questions.h"

namespace attnscope {

/// A new session. The window keeps its theme, as it does with an example.
void new_session(ActionContext& context);
/// Whether read_to_open() reads this file by its extension; it also reads others by what is in them.
bool can_be_opened(const std::filesystem::path& path);
/// Whether a file holds a matrix, which the dialog for custom matrices reads: CSV or NPY, judged by its
/// extension.
bool is_matrix_file(const std::filesystem::path& path);
/// Opens an example; the window keeps its theme. Throws Error.
void open_example(ActionContext& context, const std::string& name);
/// Opens the session that answers the question.
void open_question(ActionContext& context, const Question& question);
/// Reads a session, an exported picture, or a text file, whose text becomes the sentence; a file with another
/// extension is text if it is UTF-8 and not a session. A picture without a session, or any picture if
/// `as_picture`, is read as the experiment's image. From any thread. Throws Error.
OpenedFile read_to_open(const std::string& file, bool as_picture = false);
/// Applies what was read: the session, the sentence or the experiment's image. Throws Error.
void take_opened(ActionContext& context, OpenedFile file);
/// Saves the session, its custom matrices as tensors where the name ends in .safetensors. Throws Error.
void save_file(ActionContext& context, const std::string& file);

/// Why the experiment cannot use an image (which would replace the second sentence); empty if it can.
std::string why_no_image(const ActionContext& context);
/// Uses the image as keys and values, in place of the second sentence.
void use_image(ActionContext& context, const CustomImage& image);
void remove_picture(ActionContext& context);

}  // namespace attnscope
