#include "core/files/png.h"

#include <fmt/format.h>

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/files/bad_file.h"
#include "core/files/deflate.h"
#include "core/limits.h"

namespace attnscope {
namespace {

constexpr std::string_view k_signature{"\x89PNG\r\n\x1a\n", 8};

// ---- writing
// --------------------------------------------------------------------------------------------------

struct Sink {
    const ByteSink& to;
    std::string failure = {};
    std::exception_ptr thrown = {};  ///< by `to`: an exception must not pass through libpng
};

void append(png_structp png, png_bytep data, png_size_t size) {
    auto* sink = static_cast<Sink*>(png_get_io_ptr(png));
    try {
        sink->to({reinterpret_cast<const char*>(data), size});
    } catch (...) {
        sink->thrown = std::current_exception();
    }
    if (sink->thrown) png_error(png, "its bytes cannot be written");
}

void flush(png_structp) {}

void fail(png_structp png, png_const_charp message) {
    // Where the sink has thrown, memory may be short, and nothing may be thrown here.
    if (auto* sink = static_cast<Sink*>(png_get_error_ptr(png)); !sink->thrown) sink->failure = message;
    png_longjmp(png, 1);
}

void warn(png_structp, png_const_charp) {}

/// libpng's writer; `info` is nullptr if there is not enough memory for it.
struct Writer {
    explicit Writer(Sink& sink) : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, fail, warn)) {
        if (png) info = png_create_info_struct(png);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { png_destroy_write_struct(&png, &info); }

    png_structp png;
    png_infop info = nullptr;
};

/// The colors of a picture that has no more than 256, such as a heatmap of one pixel a cell: it is then
/// stored as one byte a pixel.
class Palette {
public:
    /// nullopt if there are more colors, or transparent ones.
    static std::optional<Palette> of(const PixelRows& pixels) {
        if (pixels.channels != 3) return std::nullopt;
        Palette palette;
        std::vector<std::uint8_t> row(static_cast<std::size_t>(pixels.width) * 3);
        for (int y = 0; y < pixels.height; ++y) {
            pixels.read(y, row.data());
            for (std::size_t at = 0; at < row.size(); at += 3)
                if (!palette.add(row.data() + at)) return std::nullopt;
        }
        return palette;
    }

    std::span<const png_color> colors() const { return {colors_.data(), static_cast<std::size_t>(count_)}; }
    /// The palette indices of `count` pixels.
    void number(const std::uint8_t* pixels, int count, std::uint8_t* numbers) const {
        for (int x = 0; x < count; ++x, pixels += 3)
            numbers[x] = static_cast<std::uint8_t>(at(pixels).number);
    }

private:
    struct Entry {
        std::uint32_t color = 0;
        int number = -1;  ///< none
    };
    static constexpr std::size_t k_places = 1024;

    static std::uint32_t color_of(const std::uint8_t* pixel) {
        return static_cast<std::uint32_t>(pixel[0] << 16 | pixel[1] << 8 | pixel[2]);
    }
    /// The entry of the color, or the free one where it would be.
    const Entry& at(const std::uint8_t* pixel) const {
        const std::uint32_t color = color_of(pixel);
        std::size_t place = color * 2654435761U >> 22;
        while (entries_[place].number >= 0 && entries_[place].color != color) place = (place + 1) % k_places;
        return entries_[place];
    }
    bool add(const std::uint8_t* pixel) {
        auto& entry = const_cast<Entry&>(at(pixel));
        if (entry.number >= 0) return true;
        if (count_ == static_cast<int>(colors_.size())) return false;
        entry = {color_of(pixel), count_};
        colors_[static_cast<std::size_t>(count_++)] = {pixel[0], pixel[1], pixel[2]};
        return true;
    }

    std::array<Entry, k_places> entries_{};
    std::array<png_color, 256> colors_{};
    int count_ = 0;
};

/// The bytes of a picture's rows, as they are compressed.
struct Stored {
    const PixelRows& pixels;
    const Palette* palette;  ///< nullptr: its colors themselves

    int color_type() const {
        return palette                ? PNG_COLOR_TYPE_PALETTE
               : pixels.channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA
                                      : PNG_COLOR_TYPE_RGB;
    }
    std::size_t source_bytes() const {
        return static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.channels);
    }
    /// The bytes of a row, its filter not counted.
    std::size_t row_bytes() const {
        return palette ? static_cast<std::size_t>(pixels.width) : source_bytes();
    }
    /// Appends the filter of a row and the filtered row. Rows repeat down a cell: their difference from the
    /// row above, nullptr in the first, is zeros, which compress well. Otherwise a heatmap consists of flat
    /// areas, whose repetition compresses better without a filter.
    void append(const std::vector<std::uint8_t>& row, const std::vector<std::uint8_t>* above,
                std::vector<std::uint8_t>& to) const {
        const bool repeats = above && row == *above;
        to.push_back(repeats ? PNG_FILTER_VALUE_UP : PNG_FILTER_VALUE_NONE);
        if (!palette && !repeats) {
            to.insert(to.end(), row.begin(), row.end());
            return;
        }
        to.resize(to.size() + row_bytes());
        if (!repeats) palette->number(row.data(), pixels.width, to.data() + to.size() - row_bytes());
    }
    /// Some rows as they are compressed, one after the other.
    std::vector<std::uint8_t> rows(int first, int count) const {
        std::vector<std::uint8_t> all, row(source_bytes()), above(source_bytes());
        all.reserve(static_cast<std::size_t>(count) * (row_bytes() + 1));
        if (first > 0) pixels.read(first - 1, above.data());
        for (int y = first; y < first + count; ++y) {
            pixels.read(y, row.data());
            append(row, y > 0 ? &above : nullptr, all);
            std::swap(row, above);
        }
        return all;
    }
};

/// Everything before the pixels. No object with a destructor lives in this function: libpng leaves it by
/// longjmp.
bool write_header(png_structp png, png_infop info, Sink* sink, const Stored& stored, png_text* texts,
                  int count) {
    const PixelRows& pixels = stored.pixels;
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_write_fn(png, sink, append, flush);
    png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height),
                 8, stored.color_type(), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (stored.palette)
        png_set_PLTE(png, info, stored.palette->colors().data(),
                     static_cast<int>(stored.palette->colors().size()));
    if (pixels.dpi) {
        const auto per_meter = static_cast<png_uint_32>(std::lround(*pixels.dpi / 0.0254));
        png_set_pHYs(png, info, per_meter, per_meter, PNG_RESOLUTION_METER);
    }
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (count > 0) png_set_text(png, info, texts, count);
    png_write_info(png, info);
    return true;
}

/// Writes a chunk with its checksum. libpng leaves this function by longjmp, too.
bool write_chunk(png_structp png, const char* name, const std::string& data) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_write_chunk(png, reinterpret_cast<png_const_bytep>(name),
                    reinterpret_cast<png_const_bytep>(data.data()), data.size());
    return true;
}

/// The rows of a picture as a zlib stream (RFC 1950), made in parts of about a mebibyte,
/// or of one row if that is longer; each by one thread.
class PixelStream {
public:
    explicit PixelStream(const Stored& stored) : stored_(stored) {
        constexpr std::size_t k_part = 1 << 20;
        rows_per_part_ = static_cast<int>(std::max<std::size_t>(1, k_part / (stored.row_bytes() + 1)));
    }
    bool ended() const { return next_ == stored_.pixels.height; }
    double part_done() const { return static_cast<double>(next_) / stored_.pixels.height; }

    /// The next parts of the stream.
    std::vector<std::string> take() {
        constexpr int k_parts_at_once = 32;
        const int rows = std::min(stored_.pixels.height - next_, rows_per_part_ * k_parts_at_once);
        std::vector<Part> made(static_cast<std::size_t>((rows + rows_per_part_ - 1) / rows_per_part_));
        const auto make = [&](std::ptrdiff_t index) {
            const int first = next_ + static_cast<int>(index) * rows_per_part_;
            made[static_cast<std::size_t>(index)] =
                part(first, std::min(rows_per_part_, next_ + rows - first));
        };
        if (made.size() > 1)
            run_parallel(std::ssize(made), make);
        else
            make(0);
        std::vector<std::string> parts;
        for (Part& part : made) {
            checksum_ = adler32_combine(checksum_, part.checksum, part.size);
            parts.push_back(std::move(part.bytes));
        }
        if (next_ == 0)
            parts.front().insert(0, "\x78\x01");  // DEFLATE, a window of 32 KiB, the fastest compression
        next_ += rows;
        for (int shift = 24; ended() && shift >= 0; shift -= 8)
            parts.back() += static_cast<char>(checksum_ >> shift);
        return parts;
    }

private:
    struct Part {
        std::string bytes;
        uLong checksum = 0;
        z_off_t size = 0;  ///< of what it unpacks to
    };

    Part part(int first, int count) const {
        const std::vector<std::uint8_t> rows = stored_.rows(first, count);
        return {.bytes = deflate_part(rows, first + count == stored_.pixels.height),
                .checksum = adler32_z(1, rows.data(), rows.size()),
                .size = static_cast<z_off_t>(rows.size())};
    }

    const Stored& stored_;
    int rows_per_part_ = 1;
    int next_ = 0;  ///< the first row that was not taken
    uLong checksum_ = 1;
};

bool write_pixels(png_structp png, const Stored& stored, const Progress& progress) {
    for (PixelStream stream(stored); !stream.ended();) {
        report(progress, stream.part_done());
        for (const std::string& part : stream.take())
            if (!write_chunk(png, "IDAT", part)) return false;
    }
    report(progress, 1);
    return write_chunk(png, "IEND", "");
}

png_text text_chunk(const PngText& text) {
    png_text chunk{};
    chunk.compression = PNG_ITXT_COMPRESSION_zTXt;
    chunk.key = const_cast<png_charp>(text.key.c_str());
    chunk.text = const_cast<png_charp>(text.value.c_str());
    chunk.itxt_length = text.value.size();
    return chunk;
}

bool is_sized(int width, int height, int channels) {
    return width > 0 && height > 0 && (channels == 3 || channels == 4);
}

void require_pixels(const Pixels& pixels) {
    if (is_sized(pixels.width, pixels.height, pixels.channels) &&
        pixels.bytes.size() == static_cast<std::size_t>(pixels.width) *
                                   static_cast<std::size_t>(pixels.height) *
                                   static_cast<std::size_t>(pixels.channels)) {
        return;
    }
    throw Error(ErrorKind::bad_input, fmt::format("cannot write a PNG of {} × {} pixels from {} bytes",
                                                  pixels.width, pixels.height, pixels.bytes.size()));
}

// ---- reading
// --------------------------------------------------------------------------------------------------

const Bytef* as_bytes(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

struct Chunk {
    std::string_view type;
    std::string_view data;
};

/// Removes the next chunk from the front of `rest`, its checksum verified.
Chunk next_chunk(std::string_view& rest, std::string_view source) {
    constexpr std::size_t k_frame = 12;  // length, type, checksum
    const std::size_t length = rest.size() < 4 ? 0 : big_endian(rest);
    if (rest.size() < k_frame || rest.size() - k_frame < length) {
        throw_cut_off(source);
    }
    const std::string_view checked = rest.substr(4, 4 + length);
    const std::uint32_t sum = big_endian(rest.substr(8 + length));
    if (crc32_z(0, as_bytes(checked), checked.size()) != sum) {
        throw_bad(source,
                  "is damaged (wrong checksum of a chunk): copy it again, or export the picture again");
    }
    rest.remove_prefix(k_frame + length);
    return {checked.substr(0, 4), checked.substr(4)};
}

[[noreturn]] void throw_damaged_session(std::string_view source) {
    throw_bad(source, "holds a damaged attnscope session: export the picture again");
}

/// Unpacks the whole of `data`, one zlib stream. Never allocates more than a block beyond `most` bytes.
std::string inflated(std::string_view data, std::size_t most, std::string_view source) {
    constexpr std::size_t k_block = 65536;
    z_stream stream{};
    if (data.size() > std::numeric_limits<uInt>::max() || inflateInit(&stream) != Z_OK)
        throw_damaged_session(source);
    const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, &inflateEnd);
    stream.next_in = const_cast<Bytef*>(as_bytes(data));
    stream.avail_in = static_cast<uInt>(data.size());
    std::string text;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        std::array<Bytef, k_block> block;
        stream.next_out = block.data();
        stream.avail_out = k_block;
        status = inflate(&stream, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END) throw_damaged_session(source);
        text.append(reinterpret_cast<const char*>(block.data()), k_block - stream.avail_out);
        if (text.size() > most) throw_large_session(source, most);
    }
    return text;
}

/// iTXt: key, 0, compressed?, method, language, 0, translated key, 0, text.
std::optional<std::string> session_in(const Chunk& chunk, std::size_t most, std::string_view source) {
    const std::string_view data = chunk.data;
    if (chunk.type != "iTXt" || data.substr(0, data.find('\0')) != k_png_session_key) return std::nullopt;
    const std::size_t flags = k_png_session_key.size() + 1;
    const std::size_t language = data.find('\0', flags + 2);
    const std::size_t translated = language == data.npos ? language : data.find('\0', language + 1);
    if (translated == data.npos) throw_damaged_session(source);
    const std::string_view text = data.substr(translated + 1);
    if (data[flags] != 0) return inflated(text, most, source);
    if (text.size() > most) throw_large_session(source, most);
    return std::string(text);
}

void require_png(std::string_view bytes, std::string_view source) {
    if (!is_png(bytes))
        throw_bad(source, "is not a PNG picture: open a session, or a PNG that attnscope exported");
}

}  // namespace

std::string encode_png(const Pixels& pixels, std::span<const PngText> texts, const Progress& progress) {
    require_pixels(pixels);
    const std::size_t size =
        static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.channels);
    const auto read = [&](int y, std::uint8_t* row) {
        std::memcpy(row, pixels.bytes.data() + static_cast<std::size_t>(y) * size, size);
    };
    const PixelRows rows{pixels.width, pixels.height, pixels.channels, pixels.dpi, read};
    return collected([&](const ByteSink& to) { write_png(rows, texts, to, progress); });
}

void write_png(const PixelRows& pixels, std::span<const PngText> texts, const ByteSink& to,
               const Progress& progress) {
    if (!is_sized(pixels.width, pixels.height, pixels.channels))
        throw Error(ErrorKind::bad_input, fmt::format("cannot write a PNG of {} × {} pixels of {} channels",
                                                      pixels.width, pixels.height, pixels.channels));
    Sink sink{to};
    const std::optional<Palette> palette = Palette::of(pixels);
    const Stored stored{pixels, palette ? &*palette : nullptr};
    std::vector<png_text> chunks;
    for (const PngText& text : texts) chunks.push_back(text_chunk(text));
    const Writer writer(sink);
    const bool written = writer.info &&
                         write_header(writer.png, writer.info, &sink, stored, chunks.data(),
                                      static_cast<int>(chunks.size())) &&
                         write_pixels(writer.png, stored, progress);
    if (written) return;
    if (sink.thrown) std::rethrow_exception(sink.thrown);
    throw Error(ErrorKind::backend, "libpng cannot write the picture: " +
                                        (sink.failure.empty() ? "it cannot be initialized" : sink.failure));
}

bool is_png(std::string_view bytes) { return bytes.substr(0, k_signature.size()) == k_signature; }

Pixels decode_png(std::string_view bytes, std::string_view source) {
    require_png(bytes, source);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) {
        throw_bad(source, "is damaged (" + std::string(image.message) + "): copy it again, or save it again");
    }
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // a picture without gamma is taken as sRGB
    image.format = image.format & PNG_FORMAT_FLAG_ALPHA ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    Pixels pixels{.width = static_cast<int>(image.width),
                  .height = static_cast<int>(image.height),
                  .channels = static_cast<int>(PNG_IMAGE_PIXEL_CHANNELS(image.format)),
                  .bytes = {}};
    try {
        pixels.bytes.resize(PNG_IMAGE_SIZE(image));
    } catch (...) {
        png_image_free(&image);
        throw;
    }
    if (!png_image_finish_read(&image, nullptr, pixels.bytes.data(), 0, nullptr)) {
        throw_bad(source, "is damaged (" + std::string(image.message) + "): copy it again, or save it again");
    }
    return pixels;
}

bool has_png_session(std::string_view bytes) {
    if (!is_png(bytes)) return false;
    // A chunk is its length, its type, its data and a checksum.
    for (std::string_view rest = bytes.substr(k_signature.size()); rest.size() > 8;) {
        const std::size_t length = big_endian(rest);
        const std::string_view data = rest.substr(8, length);
        if (rest.substr(4, 4) == "iTXt" && data.substr(0, data.find('\0')) == k_png_session_key) return true;
        rest.remove_prefix(std::min(rest.size(), length + 12));
    }
    return false;
}

std::string read_png_session(std::string_view bytes, std::string_view source, std::size_t most) {
    require_png(bytes, source);
    std::string_view rest = bytes.substr(k_signature.size());
    std::optional<std::string> session;
    for (;;) {
        const Chunk chunk = next_chunk(rest, source);
        if (!session) session = session_in(chunk, most, source);
        if (chunk.type == "IEND") break;
    }
    if (session) return *std::move(session);
    throw_no_session(source);
}

}  // namespace attnscope
