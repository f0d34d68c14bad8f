// A Session: an experiment and its presentation, as stored in files, examples, exported pictures and undo.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/experiment/experiment.h"
#include "core/limits.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// What is frozen to be compared with: A. B is the session's experiment as it is shown.
struct Pinned {
    Experiment experiment;
    HeadChoice head;
    int layer = 1;        ///< of a stack, 1 … 24
    bool on_cpu = false;  ///< computed by the CPU, even where the GPU computes what is live
    bool operator==(const Pinned&) const = default;
};

struct Session {
    Experiment experiment;
    Presentation presentation;
    std::string note;  ///< free text: what to look at
    std::optional<Pinned> pinned = {};

    bool operator==(const Session&) const = default;
};

/// `{"version": 1, "experiment": {…}, "presentation": {…}, "note": "…"}`, and what is pinned
/// as `"pinned": {"experiment": {…}, "head": "1", "layer": 1}`, indented, keys in the table's
/// order, a final newline. Every option is written, so that a file keeps its meaning when defaults change.
/// Throws Error(too_large) for more custom numbers than session_from_json accepts.
std::string to_json(const Session& session);

/// A missing field takes its default. Throws Error(bad_input) naming `source` and the path of a field that is
/// unknown (with the nearest name), repeated, of a wrong type or out of range; Error(too_large), before
/// allocating it, beyond `most_elements`.
Session session_from_json(std::string_view text, std::string_view source,
                          std::size_t most_elements = k_max_json_elements);

/// A safetensors file: the custom matrices as tensors under their names, biases and the like
/// (OverridableMatrix::is_row) as vectors, and the rest of the session in the metadata. Throws
/// Error(too_large) beyond the limits of a file.
std::string to_safetensors(const Session& session);
/// Throws as tensors_from_safetensors and session_from_json; for a tensor that is not a custom matrix, too.
Session session_from_safetensors(std::string_view bytes, std::string_view source);

/// Whether a file of this name is one that sessions are saved to: .json or .safetensors.
bool is_session_file(const std::string& file);
/// The bytes of a session in a file of this name: to_safetensors for .safetensors, else to_json.
std::string session_bytes(const Session& session, const std::string& file);

/// Reads a session, or a PNG or SVG with an embedded session; "-" is standard input. Throws Error(io) if the
/// file cannot be read, Error(bad_input) if it holds no session, Error(too_large) beyond the limits and if
/// memory does not suffice.
Session load_session(const std::string& file);

}  // namespace attnscope
