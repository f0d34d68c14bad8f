#include "core/files/deflate.h"

#include <fmt/format.h>

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/error.h"

namespace attnscope {
namespace {

// Level 3 takes half as long again and saves nothing in heatmaps and screens.
constexpr int k_level = 2;
/// ISA-L (2.30, 2.31) hashes the third byte of a stream by the address of `isal_zstream`, so that the same
/// bytes are not always compressed in the same way (bench/RESULTS.md). So few bytes alone are compressed by
/// another function, which is right; they come first.
constexpr std::size_t k_first_bytes = 16;

class Deflater {
public:
    Deflater() {
        isal_deflate_init(stream_.get());
        stream_->level = k_level;
        stream_->level_buf = table_->data();
        stream_->level_buf_size = static_cast<std::uint32_t>(table_->size());
    }

    /// Appends these bytes, compressed, to `compressed`, up to a whole byte.
    void add(std::span<const std::uint8_t> bytes, int flush, bool last, std::string& compressed) {
        stream_->flush = static_cast<std::uint16_t>(flush);
        stream_->end_of_stream = last ? 1 : 0;
        stream_->next_in = const_cast<std::uint8_t*>(bytes.data());
        stream_->avail_in = static_cast<std::uint32_t>(bytes.size());
        do {
            const std::size_t done = compressed.size();
            compressed.resize(done + bytes.size() / 2 + 1024);
            stream_->next_out = reinterpret_cast<std::uint8_t*>(compressed.data()) + done;
            stream_->avail_out = static_cast<std::uint32_t>(compressed.size() - done);
            if (const int status = isal_deflate(stream_.get()); status != COMP_OK)
                throw Error(ErrorKind::backend,
                            fmt::format("ISA-L cannot compress the picture ({})", status));
            compressed.resize(compressed.size() - stream_->avail_out);
        } while (stream_->avail_out == 0);
    }

private:
    using Table = std::array<std::uint8_t, ISAL_DEF_LVL2_DEFAULT>;
    std::unique_ptr<isal_zstream> stream_ = std::make_unique<isal_zstream>();
    std::unique_ptr<Table> table_ = std::make_unique<Table>();
};

}  // namespace

std::string deflate_part(std::span<const std::uint8_t> bytes, bool last) {
    const std::size_t first = std::min(bytes.size(), k_first_bytes);
    Deflater deflater;
    std::string compressed;
    deflater.add(bytes.first(first), SYNC_FLUSH, false, compressed);
    deflater.add(bytes.subspan(first), FULL_FLUSH, last, compressed);
    return compressed;
}

}  // namespace attnscope
