// Suppressions for the sanitizers of the `asan` and `tsan` builds.

// fontconfig keeps pointers as offsets, which the checker does not follow: the machine's own configuration,
// which pango loads once per process in a thread of its own, looks like a leak of a few hundred bytes.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig.so\n"; }

// pango, fontconfig and glib are not built for the thread checker, which then cannot see their locks and
// takes two threads that write text for a race.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
