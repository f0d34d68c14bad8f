#include "core/files/gif.h"

#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr int k_last_lasts = 4;
constexpr int k_colors = 256;

void require(int result) {
    if (result == GIF_ERROR) throw Error(ErrorKind::backend, "giflib cannot write the film");
}

struct CloseGif {
    void operator()(GifFileType* gif) const { EGifCloseFile(gif, nullptr); }
};
struct FreeMap {
    void operator()(ColorMapObject* map) const { GifFreeMapObject(map); }
};
using Map = std::unique_ptr<ColorMapObject, FreeMap>;

int append(GifFileType* gif, const GifByteType* bytes, int count) {
    static_cast<std::string*>(gif->UserData)
        ->append(reinterpret_cast<const char*>(bytes), std::size_t(count));
    return count;
}

/// Writes the extension, known to every viewer, that repeats the film forever.
void put_loop(GifFileType* gif) {
    constexpr std::array<GifByteType, 3> k_forever{1, 0, 0};
    require(EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE));
    require(EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0"));
    require(EGifPutExtensionBlock(gif, k_forever.size(), k_forever.data()));
    require(EGifPutExtensionTrailer(gif));
}

void put_duration(GifFileType* gif, int milliseconds) {
    const GraphicsControlBlock block{.DisposalMode = DISPOSE_DO_NOT,
                                     .UserInputFlag = false,
                                     .DelayTime = milliseconds / 10,
                                     .TransparentColor = NO_TRANSPARENT_COLOR};
    std::array<GifByteType, 4> bytes{};
    EGifGCBToExtension(&block, bytes.data());
    require(EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, bytes.size(), bytes.data()));
}

void put_frame(GifFileType* gif, const Pixels& frame, int width, int height) {
    const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    std::array<std::vector<GifByteType>, 3> planes;
    for (std::size_t c = 0; c < planes.size(); ++c) {
        planes[c].assign(size, frame.bytes[c]);
        for (int y = 0; y < frame.height; ++y)
            for (int x = 0; x < frame.width; ++x)
                planes[c][static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                          static_cast<std::size_t>(x)] =
                    frame.bytes[3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.width) +
                                     static_cast<std::size_t>(x)) +
                                c];
    }
    int colors = k_colors;
    const Map map(GifMakeMapObject(k_colors, nullptr));
    std::vector<GifByteType> indices(size);
    require(map ? GifQuantizeBuffer(static_cast<unsigned>(width), static_cast<unsigned>(height), &colors,
                                    planes[0].data(), planes[1].data(), planes[2].data(), indices.data(),
                                    map->Colors)
                : GIF_ERROR);
    require(EGifPutImageDesc(gif, 0, 0, width, height, false, map.get()));
    for (int y = 0; y < height; ++y)
        require(EGifPutLine(gif, indices.data() + static_cast<std::ptrdiff_t>(y) * width, width));
}

}  // namespace

std::string encode_gif(std::span<const Pixels> frames, int milliseconds, const Progress& progress) {
    int width = 0, height = 0;
    for (const Pixels& frame : frames) {
        const auto size = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
        if (frame.channels != 3 || size == 0 || frame.bytes.size() != 3 * size)
            throw Error(ErrorKind::bad_input, "a frame of a film needs RGB pixels");
        width = std::max(width, frame.width);
        height = std::max(height, frame.height);
    }
    if (frames.empty()) throw Error(ErrorKind::bad_input, "a film needs at least one frame");
    constexpr int k_most = std::numeric_limits<std::uint16_t>::max();
    if (width > k_most || height > k_most)
        throw Error(ErrorKind::too_large,
                    fmt::format("the film is {} × {} pixels and a GIF has at most {} a side: "
                                "choose a smaller cell size",
                                width, height, k_most));
    std::string bytes;
    int problem = 0;
    std::unique_ptr<GifFileType, CloseGif> gif(EGifOpen(&bytes, append, &problem));
    if (!gif) throw Error(ErrorKind::backend, "giflib cannot begin the film");
    EGifSetGifVersion(gif.get(), true);
    constexpr int k_bits = 8;
    require(EGifPutScreenDesc(gif.get(), width, height, k_bits, 0, nullptr));
    put_loop(gif.get());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        report(progress, static_cast<double>(i) / static_cast<double>(frames.size()));
        put_duration(gif.get(), i + 1 == frames.size() ? k_last_lasts * milliseconds : milliseconds);
        put_frame(gif.get(), frames[i], width, height);
    }
    require(EGifCloseFile(gif.release(), nullptr));  // which writes the end
    return bytes;
}

}  // namespace attnscope
