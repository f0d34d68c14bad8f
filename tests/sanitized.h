// Whether this is a build with a sanitizer, which makes everything several times slower.
#pragma once

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

}  // namespace attnscope::test
