// Input pictures, from files; every format that can be read is recognized here.
#pragma once

#include <string>
#include <string_view>

#include "core/image/image.h"
#include "core/limits.h"

namespace attnscope {

/// Decodes PNG or JPEG, recognized by content: transparency is blended over white, 16 bits become 8, a JPEG
/// is rotated by its Exif orientation. Throws Error(bad_input), one line that starts with `source`, for bytes
/// that are neither, are truncated or damaged, or are a CMYK JPEG; Error(too_large) beyond
/// k_max_image_pixels.
Image decode_image(std::string_view bytes, std::string_view source);

/// The central square of the picture in a file, as stored in experiments. Throws as read_file and
/// decode_image.
CustomImage read_image(const std::string& path);

/// Converts to "data:image/png;base64,…", and from a data URL with a PNG or JPEG to the central square of its
/// picture. The latter throws Error(bad_input).
std::string image_to_data_url(const Image& image);
CustomImage image_from_data_url(std::string_view url);

/// Whether the bytes start like a PNG or a JPEG file.
bool is_image(std::string_view bytes);

}  // namespace attnscope
