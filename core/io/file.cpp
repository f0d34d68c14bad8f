#include "core/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string advice(int error) {
    switch (error) {
        case ENOENT: return "no such file or folder: check the path";
        case ENOTDIR: return "a part of the path is no folder: check the path";
        case EISDIR: return "it is a folder: name a file";
        case EACCES:
        case EPERM: return "permission denied: choose another place or change its permissions";
        case EROFS: return "the disk is read-only: choose another place";
        case ENOSPC:
        case EDQUOT: return "the disk is full: free some space or choose another place";
        case ENAMETOOLONG: return "the name is too long: choose a shorter one";
        case EFBIG: return "the file is too large for this disk: choose another place";
        case EPIPE: return "its reader has gone";
        default: return std::generic_category().message(error);
    }
}

[[noreturn]] void throw_io(const char* action, const std::string& path, int error) {
    const std::string name = path == "-" ? action[0] == 'r' ? "standard input" : "standard output" : path;
    throw Error(ErrorKind::io, std::string("cannot ") + action + " " + name + ": " + advice(error));
}

/// Closes on the way out.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    /// 0, or what went wrong: a network disk may report only here that it is full.
    int close() { return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

private:
    int number_;
};

/// 0, or what went wrong.
int write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// A file that is removed unless it was moved to its place.
class TemporaryFile {
public:
    /// Beside `target`, as only there a rename is one step; hidden.
    TemporaryFile(const fs::path& target, mode_t mode, const std::string& path) {
        for (int attempt = 0; number_ < 0; ++attempt) {
            // Long names keep room for what is added, within a file system's 255 bytes.
            const std::string stem = target.filename().string().substr(0, 200);
            path_ = target.parent_path() /
                    ("." + stem + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part");
            number_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            if (number_ < 0 && (errno != EEXIST || attempt > 1000)) throw_io("write", path, errno);
        }
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!moved_) ::unlink(path_.c_str());
    }
    int number() const { return number_; }
    int move_to(const fs::path& target) {
        if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
        moved_ = true;
        return 0;
    }

private:
    fs::path path_;
    int number_ = -1;
    bool moved_ = false;
};

void write_directly(const std::string& path, std::string_view bytes) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0) throw_io("write", path, errno);
    int error = write_all(file.number(), bytes);
    if (error == 0) error = file.close();
    if (error != 0) throw_io("write", path, error);
}

/// The folder's entry too must reach the disk; not every file system can promise it, so failing is no error.
void sync_folder(const fs::path& folder) {
    const Descriptor descriptor(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

void replace(const fs::path& target, const struct stat* existing, std::string_view bytes,
             const std::string& path) {
    TemporaryFile temporary(target, 0666, path);
    Descriptor file(temporary.number());
    int error = existing && ::fchmod(file.number(), existing->st_mode & 07777) != 0 ? errno : 0;
    if (error == 0) error = write_all(file.number(), bytes);
    if (error == 0 && ::fsync(file.number()) != 0) error = errno;
    if (error == 0) error = file.close();
    if (error == 0) error = temporary.move_to(target);
    if (error != 0) throw_io("write", path, error);
    sync_folder(target.parent_path());
}

/// Where a link leads, so that the link stays; also when the file it names is not there yet.
fs::path resolved(const std::string& path) {
    std::error_code error;
    fs::path target = path;
    for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
        const fs::path next = fs::read_symlink(target, error);
        if (error) break;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

}  // namespace

std::string read_file(const std::string& path) {
    Descriptor opened(path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const int file = path == "-" ? STDIN_FILENO : opened.number();
    if (file < 0) throw_io("read", path, errno);
    std::string bytes;
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode))
        bytes.reserve(static_cast<std::size_t>(info.st_size));
    std::array<char, 65536> block;
    for (;;) {
        const ssize_t count = ::read(file, block.data(), block.size());
        if (count == 0) return bytes;
        if (count < 0 && errno != EINTR) throw_io("read", path, errno);
        if (count > 0) bytes.append(block.data(), static_cast<std::size_t>(count));
    }
}

void write_file(const std::string& path, std::string_view bytes) {
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, bytes);
        if (error != 0) throw_io("write", path, error);
        return;
    }
    if (path.empty()) throw_io("write", "\"\"", ENOENT);
    struct stat existing {};
    const bool exists = ::stat(path.c_str(), &existing) == 0;
    if (exists && S_ISDIR(existing.st_mode)) throw_io("write", path, EISDIR);
    if (exists && !S_ISREG(existing.st_mode)) return write_directly(path, bytes);
    // A rename asks the folder alone: a file that may not be written must not be replaced either.
    if (exists && ::access(path.c_str(), W_OK) != 0) throw_io("write", path, errno);
    replace(resolved(path), exists ? &existing : nullptr, bytes, path);
}

}  // namespace attnscope
