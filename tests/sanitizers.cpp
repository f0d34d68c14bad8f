// What the leak checker of `asan` builds is to pass over.

// fontconfig keeps pointers as offsets, which the checker does not follow: the machine's own configuration,
// which pango loads once per process in a thread of its own, looks like a leak of a few hundred bytes.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig.so\n"; }
