#include "core/memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
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

/// The number at the start of a file; k_unlimited if there is none ("max").
std::size_t read_number(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::size_t bytes = 0;
    return file >> bytes ? bytes : k_unlimited;
}

/// MemAvailable from /proc/meminfo.
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

/// What `ulimit -v` leaves of the address space.
std::size_t address_space_left() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return k_unlimited;
    const std::size_t pages = read_number("/proc/self/statm");
    if (pages == k_unlimited) return k_unlimited;
    return left(limit.rlim_cur, pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

/// A control group hierarchy: where it is mounted, and the files that hold limit and usage.
struct Hierarchy {
    const char* mount;
    const char* limit;
    const char* used;
};
constexpr Hierarchy k_version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};
constexpr Hierarchy k_version_2{"sys/fs/cgroup", "memory.max", "memory.current"};

/// What the group and its ancestors leave. A group that is missing, as when a container sees its own group as
/// the root, has no limit of its own.
std::size_t least_left(const std::filesystem::path& root, const Hierarchy& hierarchy,
                       std::filesystem::path group) {
    std::size_t least = k_unlimited;
    while (true) {
        const std::filesystem::path folder = root / hierarchy.mount / group;
        least = std::min(least,
                         left(read_number(folder / hierarchy.limit), read_number(folder / hierarchy.used)));
        if (group.empty()) return least;
        group = group.parent_path();
    }
}

/// Whether a list such as "cpu,memory" contains the memory controller.
bool has_memory(const std::string& controllers) {
    return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::size_t control_group_memory(const std::filesystem::path& root) {
    std::size_t least = std::min(least_left(root, k_version_1, {}), least_left(root, k_version_2, {}));
    std::ifstream file(root / "proc/self/cgroup");
    // A line is NUMBER:CONTROLLERS:/PATH; version 2 has the number 0 and no controllers.
    for (std::string number, controllers, path; std::getline(file, number, ':') &&
                                                std::getline(file, controllers, ':') &&
                                                std::getline(file, path);) {
        if (!controllers.empty() && !has_memory(controllers)) continue;
        const std::filesystem::path group = std::filesystem::path(path).relative_path();
        least = std::min(least, least_left(root, controllers.empty() ? k_version_2 : k_version_1, group));
    }
    return least;
}

std::size_t available_memory() {
    return std::min({machine_available(), address_space_left(), control_group_memory()});
}

void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace attnscope
