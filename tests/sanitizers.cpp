// Options and suppressions for the sanitizers of the `asan` and `tsan` builds.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "tests/sanitized.h"

// Freed memory stays poisoned until so much more is freed. With 256 MB, the default, a quarter of the time
// goes into page faults. A block remembers ten calls that led
// to it, not thirty, which saves a tenth of the time.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=32:malloc_context_size=10"; }

// A large block, which the allocator maps anew each time, is filled with zeros in pages of 2 MB, not of 4 kB.
extern "C" void __sanitizer_malloc_hook(const volatile void* block, std::size_t size);
extern "C" void __sanitizer_malloc_hook(const volatile void* block, std::size_t size) {
    constexpr std::size_t k_page = 2 << 20;
    if (size < 2 * k_page) return;
    auto* bytes = static_cast<unsigned char*>(const_cast<void*>(block));
    const std::size_t before = (k_page - reinterpret_cast<std::uintptr_t>(bytes) % k_page) % k_page;
    madvise(bytes + before, (size - before) / k_page * k_page, MADV_HUGEPAGE);
}

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return attnscope::test::k_suppressed_leaks; }

// These are not built for the thread checker, which does not see their locks and takes two threads that write
// text for a race.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
    return "called_from_lib:libcairo.so\n"
           "called_from_lib:libfontconfig.so\n"
           "called_from_lib:libglib-2.0.so\n"
           "called_from_lib:libgobject-2.0.so\n"
           "called_from_lib:libpango-1.0.so\n"
           "called_from_lib:libpangocairo-1.0.so\n"
           "called_from_lib:libpangoft2-1.0.so\n";
}
