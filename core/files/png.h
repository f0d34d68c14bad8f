// PNG files, with the picture's session embedded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/byte_sink.h"
#include "core/limits.h"
#include "core/progress.h"

namespace attnscope {

/// Pixels row by row from the top; 3 (RGB) or 4 (RGBA) bytes each.
struct Pixels {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::vector<std::uint8_t> bytes;
    std::optional<double> dpi = {};  ///< pixels per inch, stored in a PNG

    bool operator==(const Pixels&) const = default;
};

/// Pixels that are somewhere else: `read(y, row)` writes row y (from 0, the top), width × channels bytes. It
/// is called by several threads at once.
struct PixelRows {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::optional<double> dpi = {};
    std::function<void(int y, std::uint8_t* row)> read;
};

/// A text chunk, stored as compressed UTF-8 (iTXt). Keys are 1 to 79 Latin letters.
struct PngText {
    std::string key;
    std::string value;
};

inline constexpr std::string_view k_png_session_key = "attnscope-session";

/// Writes a PNG file, part by part, without time or software version: the same pixels and texts give the same
/// bytes, on any number of threads; another kind of processor, or ISA-L in another version, may compress
/// otherwise. Throws Error(bad_input) unless width and height are at least 1; Error(backend) if libpng or
/// ISA-L fails; Canceled; what `to` throws.
void write_png(const PixelRows& pixels, std::span<const PngText> texts, const ByteSink& to,
               const Progress& progress = {});

/// The bytes that write_png() writes. Throws Error(bad_input) unless there are width × height × channels
/// bytes, and as write_png().
std::string encode_png(const Pixels& pixels, std::span<const PngText> texts, const Progress& progress = {});

/// Throws Error(bad_input) naming `source` for bytes that are not a complete PNG file.
Pixels decode_png(std::string_view bytes, std::string_view source);

/// Whether the bytes start like a PNG file.
bool is_png(std::string_view bytes);

/// Whether a PNG file, which may be truncated, holds a session.
bool has_png_session(std::string_view bytes);

/// The session embedded in an exported picture. Throws Error(bad_input), one line naming `source`, for bytes
/// that are not a PNG file, that are truncated or damaged anywhere, or without a session; Error(too_large),
/// before allocating it, for a session of more than `most` bytes.
std::string read_png_session(std::string_view bytes, std::string_view source,
                             std::size_t most = k_max_picture_session_bytes);

}  // namespace attnscope
