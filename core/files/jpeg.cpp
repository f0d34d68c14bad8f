#include "core/files/jpeg.h"

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include <string>

#include "core/error.h"
#include "core/files/bad_file.h"
#include "core/files/picture_size.h"
#include "core/limits.h"

namespace attnscope {
namespace {

/// Where libjpeg reports its errors.
struct Reader {
    jpeg_decompress_struct jpeg{};
    jpeg_error_mgr errors{};
    std::jmp_buf back{};
    char message[JMSG_LENGTH_MAX] = "";
    jpeg_progress_mgr progress{};
    bool cut_off = false;
    bool damaged = false;
    bool too_many_scans = false;
};

Reader& reader_of(j_common_ptr jpeg) { return *static_cast<Reader*>(jpeg->client_data); }

void fail(j_common_ptr jpeg) {
    Reader& reader = reader_of(jpeg);
    jpeg->err->format_message(jpeg, reader.message);
    std::longjmp(reader.back, 1);
}

/// libjpeg warns and fills missing data with gray, which is treated as an error.
void warn(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    Reader& reader = reader_of(jpeg);
    const int code = jpeg->err->msg_code;
    reader.cut_off = reader.cut_off || code == JWRN_JPEG_EOF;
    reader.damaged = reader.damaged || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE;
}

void say_nothing(j_common_ptr) {}

/// Called now and then while libjpeg reads the file.
void watch_scans(j_common_ptr jpeg) {
    Reader& reader = reader_of(jpeg);
    if (reader.jpeg.input_scan_number <= k_max_jpeg_scans) return;
    reader.too_many_scans = true;
    std::longjmp(reader.back, 1);
}

// No object with a destructor lives in the following two functions: libjpeg leaves them by longjmp.

bool read_header(Reader& reader, std::string_view bytes) {
    reader.jpeg.err = jpeg_std_error(&reader.errors);
    reader.errors.error_exit = fail;
    reader.errors.emit_message = warn;
    reader.errors.output_message = say_nothing;
    reader.jpeg.client_data = &reader;
    if (setjmp(reader.back)) return false;
    jpeg_create_decompress(&reader.jpeg);
    jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&reader.jpeg, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&reader.jpeg, TRUE);
    return true;
}

bool read_pixels(Reader& reader, std::uint8_t* rgb) {
    if (setjmp(reader.back)) return false;
    reader.jpeg.out_color_space = JCS_RGB;
    reader.jpeg.dct_method = JDCT_ISLOW;
    reader.progress.progress_monitor = watch_scans;
    reader.jpeg.progress = &reader.progress;
    jpeg_start_decompress(&reader.jpeg);
    while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
        JSAMPROW row = rgb + std::size_t{3} * reader.jpeg.output_width * reader.jpeg.output_scanline;
        jpeg_read_scanlines(&reader.jpeg, &row, 1);
    }
    jpeg_finish_decompress(&reader.jpeg);
    return true;
}

/// A whole number in Exif, whose byte order varies; 0 beyond the end.
unsigned exif_number(std::string_view exif, std::size_t at, std::size_t size, bool big_endian) {
    if (at > exif.size() || exif.size() - at < size) return 0;
    unsigned number = 0;
    for (std::size_t i = 0; i < size; ++i)
        number = number << 8 | static_cast<std::uint8_t>(exif[at + (big_endian ? i : size - 1 - i)]);
    return number;
}

/// The orientation, 1 … 8; 1 (upright) if none is given.
unsigned orientation(const jpeg_decompress_struct& jpeg) {
    constexpr std::string_view k_name{"Exif\0\0", 6};
    constexpr unsigned k_orientation = 0x0112;
    constexpr std::size_t k_entry = 12;
    for (jpeg_saved_marker_ptr marker = jpeg.marker_list; marker; marker = marker->next) {
        std::string_view exif(reinterpret_cast<const char*>(marker->data), marker->data_length);
        if (!exif.starts_with(k_name)) continue;
        exif.remove_prefix(k_name.size());
        const bool big = exif.starts_with("MM");
        const std::size_t directory = exif_number(exif, 4, 4, big);
        const unsigned entries = exif_number(exif, directory, 2, big);
        for (unsigned i = 0; i < entries; ++i) {
            const std::size_t entry = directory + 2 + i * k_entry;
            if (exif_number(exif, entry, 2, big) != k_orientation) continue;
            const unsigned value = exif_number(exif, entry + 8, 2, big);
            return value >= 1 && value <= 8 ? value : 1;
        }
    }
    return 1;
}

/// The eight orientations as three bits; 5 … 8 swap rows and columns.
Image turned(Image image, unsigned orientation) {
    if (orientation == 1) return image;
    const bool swap = orientation >= 5;
    const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    Image out{swap ? image.height : image.width, swap ? image.width : image.height, {}};
    out.rgb.reserve(image.rgb.size());
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x) {
            const int column = swap ? y : x, row = swap ? x : y;
            const std::uint8_t* pixel = image.pixel(from_right ? image.width - 1 - column : column,
                                                    from_below ? image.height - 1 - row : row);
            out.rgb.insert(out.rgb.end(), pixel, pixel + 3);
        }
    return out;
}

/// Frees libjpeg's memory, however the decoding ends.
struct Release {
    Reader& reader;
    ~Release() { jpeg_destroy_decompress(&reader.jpeg); }
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

Image decode_jpeg(std::string_view bytes, std::string_view source, std::int64_t most_pixels) {
    if (!is_jpeg(bytes)) throw_bad(source, "is not a JPEG picture");
    Reader reader;
    const Release release{reader};
    const auto throw_damaged = [&] {
        if (reader.too_many_scans)
            throw_bad(source,
                      fmt::format("has more than {} scans: save it again with fewer", k_max_jpeg_scans));
        if (reader.cut_off) throw_bad(source, "is cut off: copy it again");
        throw_bad(source, "is damaged (" + std::string(reader.message) + "): copy it again");
    };
    if (!read_header(reader, bytes)) throw_damaged();
    const jpeg_decompress_struct& jpeg = reader.jpeg;
    require_bearable_picture(source, jpeg.image_width, jpeg.image_height, most_pixels);
    if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK)
        throw_bad(source, "is a CMYK JPEG: save it as RGB");
    const unsigned held = orientation(jpeg);  // read now, because decoding discards the markers
    Image image{static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height), {}};
    image.rgb.resize(std::size_t{3} * jpeg.image_width * jpeg.image_height);
    if (!read_pixels(reader, image.rgb.data()) || reader.cut_off) throw_damaged();
    if (reader.damaged) throw_bad(source, "is damaged: copy it again");
    return turned(std::move(image), held);
}

}  // namespace attnscope
