// Compression in the DEFLATE format by ISA-L, part by part, so that several threads can share a stream.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace attnscope {

/// `bytes` in the DEFLATE format (RFC 1951), a whole number of bytes long: parts in order, of which only the
/// last is compressed as `last`, are one stream. Throws Error(backend) if ISA-L fails.
std::string deflate_part(std::span<const std::uint8_t> bytes, bool last);

}  // namespace attnscope
