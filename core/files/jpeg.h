// JPEG files, decoded with libjpeg.
#pragma once

#include <string_view>

#include "core/image/image.h"

namespace attnscope {

/// Whether the bytes start like a JPEG file.
bool is_jpeg(std::string_view bytes);

/// Decodes a JPEG, rotated by its Exif orientation (Exif 2.32 §4.6.4). Throws Error(bad_input), one line that
/// starts with `source`, for bytes that are not a JPEG file, are truncated or damaged, are CMYK or have more
/// than k_max_jpeg_scans scans; Error(too_large), before decoding, for more than `most_pixels`.
Image decode_jpeg(std::string_view bytes, std::string_view source, std::int64_t most_pixels);

}  // namespace attnscope
