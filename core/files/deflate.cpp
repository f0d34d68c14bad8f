#include "core/files/deflate.h"

#include <fmt/format.h>

#include <isa-l/igzip_lib.h>

#include <array>
#include <memory>

#include "core/error.h"

namespace attnscope {

std::string deflate_part(std::span<const std::uint8_t> bytes, bool last) {
    // Level 3 takes half as long again and saves nothing in heatmaps and screens.
    constexpr int k_level = 2;
    using Table = std::array<std::uint8_t, ISAL_DEF_LVL2_DEFAULT>;
    const auto stream = std::make_unique<isal_zstream>();
    const auto table = std::make_unique<Table>();
    isal_deflate_init(stream.get());
    stream->level = k_level;
    stream->level_buf = table->data();
    stream->level_buf_size = static_cast<std::uint32_t>(table->size());
    stream->flush = FULL_FLUSH;  // the part ends with a whole byte
    stream->end_of_stream = last ? 1 : 0;
    stream->next_in = const_cast<std::uint8_t*>(bytes.data());
    stream->avail_in = static_cast<std::uint32_t>(bytes.size());
    std::string compressed;
    do {
        const std::size_t done = compressed.size();
        compressed.resize(done + bytes.size() / 2 + 1024);
        stream->next_out = reinterpret_cast<std::uint8_t*>(compressed.data()) + done;
        stream->avail_out = static_cast<std::uint32_t>(compressed.size() - done);
        if (const int status = isal_deflate(stream.get()); status != COMP_OK)
            throw Error(ErrorKind::backend, fmt::format("ISA-L cannot compress the picture ({})", status));
        compressed.resize(compressed.size() - stream->avail_out);
    } while (stream->avail_out == 0);
    return compressed;
}

}  // namespace attnscope
