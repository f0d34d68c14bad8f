// Pictures to look at, from files.
#pragma once

#include <string>
#include <string_view>

#include "core/attention/image.h"
#include "core/limits.h"

namespace attnscope {

/// PNG or JPEG, by content; what is transparent stands over white, 16 bits become 8, a JPEG is turned as its
/// camera says (Exif). Throws Error(bad_input), one line that begins with `source`, for bytes that are
/// neither, are cut off or damaged, or are a JPEG of four inks; Error(too_large) beyond k_max_image_pixels.
Image decode_image(std::string_view bytes, std::string_view source);

/// The central square of the picture in a file, as experiments keep it. Throws as read_file and decode_image.
GivenImage read_image(const std::string& path);

/// "data:image/png;base64,…", and the central square of a picture of such an address (PNG or JPEG). Throws
/// Error(bad_input).
std::string image_to_data_url(const Image& image);
GivenImage image_from_data_url(std::string_view url);

/// Whether the bytes begin as a PNG or a JPEG file does.
bool is_image(std::string_view bytes);

}  // namespace attnscope
