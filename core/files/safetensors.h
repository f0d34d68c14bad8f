// The safetensors format (huggingface.co/docs/safetensors): a header in JSON, then the numbers of named
// tensors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The key of the metadata under which a session is stored.
inline constexpr std::string_view k_safetensors_session_key = "attnscope";

struct NamedTensor {
    std::string name;
    Matrix values;
    bool is_vector = false;  ///< of rank 1, as PyTorch has its biases: `values` is 1 × n
};

struct Tensors {
    std::map<std::string, std::string> metadata;
    std::vector<NamedTensor> tensors;  ///< in the order of their bytes; each name once, none "__metadata__"
};

/// A header padded with spaces to a multiple of 8 bytes, then the tensors in their order, as F32. The same
/// tensors give the same bytes. Throws Error(too_large) for a header or a file too large to be read again.
std::string to_safetensors(const Tensors& tensors);

/// Whether the bytes start like a safetensors file: a length below the format's limit, then `{`. No text
/// does.
bool is_safetensors(std::string_view bytes);

/// Tensors of type F32 and rank 1 or 2, to the bit. Throws Error(bad_input), one line that starts with
/// `source`, for a file that is truncated or that breaks a rule of the format: a header of at most 100 MB
/// that begins with `{`; no name twice; metadata of strings alone; tensors that cover all bytes after the
/// header, without a hole or an overlap, each as long as its shape says. The same for other types and ranks,
/// for tensors beyond the limits of a matrix, and, before any tensor is read, for metadata without the
/// key `required` (empty: none is).
Tensors tensors_from_safetensors(std::string_view bytes, std::string_view source,
                                 std::string_view required = "");

}  // namespace attnscope
