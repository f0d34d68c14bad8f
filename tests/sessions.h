// Sessions that tests were written for and that are no examples.
#pragma once

#include <string>

#include "core/session/session.h"

namespace attnscope::test {

/// The file of "random-alignment" (an encoder and decoder with the weights as drawn, over Bahdanau's
/// sentence) or "random-encoder-decoder" (the same without attention).
inline std::string session_file(const std::string& name) {
    return std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/sessions/" + name + ".json";
}
inline Session test_session(const std::string& name) { return load_session(session_file(name)); }

}  // namespace attnscope::test
