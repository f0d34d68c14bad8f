// The system calls that write_file() makes.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <functional>

namespace attnscope {

/// Each call behaves as its manual says: −1 and errno on failure. Tests replace them with failing ones.
struct FileCalls {
    std::function<int(const char*, struct stat*)> status = [](const char* path, struct stat* info) {
        return ::stat(path, info);
    };
    std::function<int(const char*, struct stat*)> link_status = [](const char* path, struct stat* info) {
        return ::lstat(path, info);
    };
    std::function<int(const char*, int, mode_t)> open = [](const char* path, int flags, mode_t mode) {
        return ::open(path, flags, mode);
    };
    std::function<int(int, mode_t)> fchmod = ::fchmod;
    std::function<ssize_t(int, const void*, std::size_t)> write = ::write;
    std::function<int(int)> fsync = ::fsync;
    std::function<int(int)> close = ::close;
    std::function<int(const char*, const char*)> rename = std::rename;
};

}  // namespace attnscope
