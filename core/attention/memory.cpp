#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "core/attention/evaluate.h"

namespace attnscope {
namespace {

constexpr std::size_t k_unlimited = std::numeric_limits<std::size_t>::max();

/// A number of bytes in a one-line file; k_unlimited if there is none ("max").
std::size_t read_bytes(const std::string& path) {
    std::ifstream file(path);
    std::size_t bytes = 0;
    return file >> bytes ? bytes : k_unlimited;
}

/// MemAvailable of /proc/meminfo.
std::size_t machine_available() {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    std::size_t kibibytes = 0;
    while (file >> name >> kibibytes) {
        if (name == "MemAvailable:") return kibibytes * 1024;
        std::getline(file, unit);
    }
    return k_unlimited;
}

std::size_t left(std::size_t limit, std::size_t used) {
    if (limit == k_unlimited || used == k_unlimited) return k_unlimited;
    return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t available_memory() {
    const std::string v1 = "/sys/fs/cgroup/memory/memory.";
    return std::min(
        {machine_available(),
         left(read_bytes("/sys/fs/cgroup/memory.max"), read_bytes("/sys/fs/cgroup/memory.current")),
         left(read_bytes(v1 + "limit_in_bytes"), read_bytes(v1 + "usage_in_bytes"))});
}

}  // namespace attnscope
