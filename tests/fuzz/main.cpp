// libFuzzer's program: `attnscope_fuzz --target=csv [libFuzzer's flags] FOLDER…`; scripts/fuzz runs every
// target.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/targets.h"

namespace {

const attnscope::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    constexpr std::string_view k_flag = "--target=";  // libFuzzer passes over what begins with two dashes
    for (int i = 1; i < *argc; ++i)
        if (const std::string_view argument = (*argv)[i]; argument.starts_with(k_flag))
            chosen = attnscope::fuzz::find_target(argument.substr(k_flag.size()));
    if (chosen) return 0;
    std::cerr << "attnscope_fuzz needs --target=NAME, one of:\n";
    for (const attnscope::fuzz::Target& target : attnscope::fuzz::targets())
        std::cerr << "  " << target.name << ": " << target.what << '\n';
    std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen->run({reinterpret_cast<const char*>(data), size});
    return 0;
}
