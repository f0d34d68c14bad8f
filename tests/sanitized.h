// Whether this is a build with a sanitizer, which makes everything several times slower.
#pragma once

#include <cstddef>

namespace attnscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_sanitized = true;  // gcc
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool k_sanitized = true;  // clang
#else
inline constexpr bool k_sanitized = false;
#endif
#else
inline constexpr bool k_sanitized = false;
#endif

/// Whether a walk over the rows of a table visits a row, from 0: all, but with a sanitizer, which looks at
/// the code that many rows share, one in `every`.
inline bool is_visited(std::size_t row, std::size_t every) { return !k_sanitized || row % every == 0; }

}  // namespace attnscope::test
