// Whether this is a build with a sanitizer, which makes everything several times slower, and what the leak
// checker suppresses.
#pragma once

#include <cstddef>

namespace attnscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_sanitized = true;  // gcc
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool k_sanitized = true;         // clang
#else
inline constexpr bool k_sanitized = false;
#endif
#else
inline constexpr bool k_sanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool k_thread_sanitized = true;  // gcc
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool k_thread_sanitized = true;  // clang
#else
inline constexpr bool k_thread_sanitized = false;
#endif
#else
inline constexpr bool k_thread_sanitized = false;
#endif

/// For the leak checker of the tests and of the processes that they start, a line for each. fontconfig keeps
/// pointers as offsets, which the checker does not follow: the machine's own configuration, which pango loads
/// once per process in a thread of its own, looks like a leak of a few hundred bytes. So does what libgomp,
/// which oneDNN asks for threads, keeps for each thread of ours that still runs at the end.
inline constexpr const char* k_suppressed_leaks = "leak:libfontconfig.so\nleak:libgomp.so\n";

/// Whether a walk over the rows of a table visits a row, from 0: all, but with a sanitizer, which looks at
/// the code that many rows share, one in `every`.
inline bool is_visited(std::size_t row, std::size_t every) { return !k_sanitized || row % every == 0; }

}  // namespace attnscope::test
