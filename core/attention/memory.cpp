#include "core/attention/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace attnscope {
namespace {

constexpr std::size_t k_unlimited = std::numeric_limits<std::size_t>::max();

/// The number that a file begins with; k_unlimited if there is none ("max").
std::size_t read_number(const std::string& path) {
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

/// What ulimit -v leaves of the address space.
std::size_t address_space_left() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return k_unlimited;
    const std::size_t pages = read_number("/proc/self/statm");
    if (pages == k_unlimited) return k_unlimited;
    return left(limit.rlim_cur, pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::size_t available_memory() {
    const std::string v1 = "/sys/fs/cgroup/memory/memory.";
    return std::min(
        {machine_available(), address_space_left(),
         left(read_number("/sys/fs/cgroup/memory.max"), read_number("/sys/fs/cgroup/memory.current")),
         left(read_number(v1 + "limit_in_bytes"), read_number(v1 + "usage_in_bytes"))});
}

}  // namespace attnscope
