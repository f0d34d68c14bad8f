#include "core/files/deflate.h"

#include <zlib.h>

#include <new>

namespace attnscope {

std::string deflate_part(std::span<const std::uint8_t> bytes, bool last) {
    // What level 6 finds beyond level 2 takes six times as long and saves a seventh.
    constexpr int k_level = 2, k_raw_window = -15, k_memory = 9;
    z_stream stream{};
    if (deflateInit2(&stream, k_level, Z_DEFLATED, k_raw_window, k_memory, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    constexpr std::size_t k_flush = 16;  // what ends a part on a whole byte
    std::string compressed;
    try {
        compressed.resize(deflateBound(&stream, bytes.size()) + k_flush);
    } catch (...) {
        deflateEnd(&stream);
        throw;
    }
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    deflate(&stream, last ? Z_FINISH : Z_FULL_FLUSH);
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    return compressed;
}

}  // namespace attnscope
