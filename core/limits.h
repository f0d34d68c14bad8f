// Limits on what is read, so that no file exhausts memory or time; each is checked before memory is
// allocated. Files that the program writes itself stay within them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnscope {

/// Bytes read from a file, pipe or device. The largest matrix as NPY, 2²⁶ numbers of 8 bytes, takes 512 MiB.
inline constexpr std::size_t k_max_file_bytes = std::size_t{576} << 20;
/// Bytes at the start of a file by which it is refused, if no format starts so, before the rest is read.
inline constexpr std::size_t k_file_start_bytes = std::size_t{64} << 10;
/// Bytes of the session embedded in a picture, unpacked. A file of 1 MB may unpack to a thousand times its
/// size.
inline constexpr std::size_t k_max_picture_session_bytes = std::size_t{64} << 20;
/// Values, lists and objects of a session in total; each takes at least 16 bytes in memory. The scores of
/// 4096 words on 4096 are 16.8 million values.
inline constexpr std::size_t k_max_json_elements = 20'000'000;
/// Values, lists and objects of a session embedded in a picture, of which the program writes fewer than 4.5
/// million: each number takes a line of at least 15 bytes. Zeros without indentation compress a thousandfold,
/// and 100 kB would otherwise take a gigabyte of memory.
inline constexpr std::size_t k_max_picture_json_elements = 5'000'000;
/// Fields of a session, at any depth; fewer than 200 are defined.
inline constexpr std::size_t k_max_json_fields = 10'000;
/// Nesting depth of lists and objects; a session has five levels.
inline constexpr std::size_t k_max_json_depth = 32;

/// Rows, and columns, of a matrix in a file.
inline constexpr std::size_t k_max_matrix_side = 65'536;
/// Numbers of a matrix in a file: 256 MiB of float32.
inline constexpr std::size_t k_max_matrix_numbers = std::size_t{1} << 26;
/// Numbers of one matrix that is written row by row, which need not fit into memory: 16 GiB of float32.
inline constexpr std::size_t k_max_written_numbers = std::size_t{1} << 32;
/// Bytes of the header of an NPY file; NumPy writes about 128.
inline constexpr std::size_t k_max_npy_header_bytes = std::size_t{64} << 10;
/// Bytes of the header of a safetensors file: the format's own limit.
inline constexpr std::size_t k_max_safetensors_header_bytes = 100'000'000;
/// Tensors in a file, and keys of its metadata; a stack of 24 layers has about 300 parameters.
inline constexpr std::size_t k_max_tensors = 10'000;

/// Bytes of a sentence: 1,048,576 words of eight, a shelf of books.
inline constexpr std::size_t k_max_text_bytes = std::size_t{8} << 20;
/// Bytes of a token; longer ones fit on no screen, and drawing them takes seconds.
inline constexpr std::size_t k_max_token_bytes = 4096;
/// Bytes of a session's note; it is copied in each frame.
inline constexpr std::size_t k_max_note_bytes = 1'000'000;
/// Bytes of a picture's title and of the names of heads, far more than fit on a page.
inline constexpr std::size_t k_max_caption_bytes = 10'000;
/// Rules of a mask. Each is evaluated for all cells, about 50 ms for 4096 words on 4096.
inline constexpr std::size_t k_max_mask_rules = 32;

/// Pixels of an input picture: 192 MB of red, green and blue.
inline constexpr std::int64_t k_max_image_pixels = 64'000'000;
/// Scans of a JPEG, each of which covers the whole picture; cameras and programs write up to 12.
inline constexpr int k_max_jpeg_scans = 50;

}  // namespace attnscope
