// JPEG files, read with libjpeg.
#pragma once

#include <string_view>

#include "core/attention/image.h"

namespace attnscope {

/// Whether the bytes begin as a JPEG file does.
bool is_jpeg(std::string_view bytes);

/// Turned as the camera says (Exif's orientation, Exif 2.32 §4.6.4). Throws Error(bad_input), one line that
/// begins with `source`, for bytes that are no JPEG file, are cut off or damaged, have four inks (CMYK) or
/// more than k_max_jpeg_scans; Error(too_large), before decoding, for more than `most_pixels`.
Image decode_jpeg(std::string_view bytes, std::string_view source, std::int64_t most_pixels);

}  // namespace attnscope
