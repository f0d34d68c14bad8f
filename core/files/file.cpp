#include "core/files/file.h"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/canceled.h"
#include "core/utf8.h"

namespace attnscope {

namespace fs = std::filesystem;

std::string file_advice(int error) {
    switch (error) {
        case ENOENT: return "no such file or folder: check the path";
        case ENOTDIR: return "a part of the path is not a folder: check the path";
        case EISDIR: return "it is a folder: name a file";
        case ELOOP: return "its links form a loop: choose another path";
        case EACCES:
        case EPERM: return "permission denied: choose another place or change its permissions";
        case EROFS: return "the disk is read-only: choose another place";
        case ENOSPC:
        case EDQUOT: return "the disk is full: free some space or choose another place";
        case ENAMETOOLONG: return "the name is too long: choose a shorter one";
        case EFBIG: return "the file is too large for this disk: choose another place";
        case EPIPE: return "its reader has closed the pipe";
        case EINTR: return "interrupted";
        default: return std::generic_category().message(error);
    }
}

namespace {

[[noreturn]] void throw_read(const std::string& path, int error) {
    throw Error(ErrorKind::io, "cannot read " + source_name(path) + ": " + file_advice(error));
}

[[noreturn]] void throw_write(const std::string& path, const std::string& why) {
    const std::string name = path == "-" ? "standard output" : path.empty() ? "\"\"" : path;
    throw Error(ErrorKind::io, "cannot write " + name + ": " + why);
}

[[noreturn]] void throw_write(const std::string& path, int error) { throw_write(path, file_advice(error)); }

/// Closes the descriptor on destruction.
class Descriptor {
public:
    Descriptor(int number, const FileCalls& calls) : number_(number), calls_(calls) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    /// Closes it; 0, or the error: a network disk may report only here that it is full.
    int close() { return calls_.close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

private:
    int number_;
    const FileCalls& calls_;
};

/// Writes all bytes; 0, or the error, which may be EINTR because a pipe may wait forever.
int write_all(int descriptor, std::string_view bytes, const FileCalls& calls) {
    while (!bytes.empty()) {
        const ssize_t written = calls.write(descriptor, bytes.data(), bytes.size());
        if (written < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// Passes the bytes of a source on, about a mebibyte at a time.
void write_in_blocks(const ByteSource& source, const ByteSink& write) {
    constexpr std::size_t k_at_once = std::size_t{1} << 20;
    std::string waiting;
    source([&](std::string_view bytes) {
        if (waiting.empty() && bytes.size() >= k_at_once) return write(bytes);
        waiting += bytes;
        if (waiting.size() < k_at_once) return;
        write(waiting);
        waiting.clear();
    });
    write(waiting);
}

/// Throws as write_file().
void write_all(int descriptor, const ByteSource& source, const std::string& path, const FileCalls& calls) {
    write_in_blocks(source, [&](std::string_view bytes) {
        if (const int error = write_all(descriptor, bytes, calls); error != 0) throw_write(path, error);
    });
}

constexpr std::string_view k_temporary_mark = ".attnscope-", k_temporary_end = ".part";

/// ".weights.png.attnscope-4711-0.part": hidden; written by process 4711, its first attempt.
std::string temporary_name(const std::string& target, int attempt) {
    // Long names are cut to stay within a file system's 255 bytes.
    const std::string start = target.substr(0, code_point_begin(target, 200));
    return fmt::format(".{}{}{}-{}{}", start, k_temporary_mark, ::getpid(), attempt, k_temporary_end);
}

/// The process that a temporary file has its name from; nullopt for other names.
std::optional<pid_t> writer_of(std::string_view name) {
    const std::size_t mark = name.rfind(k_temporary_mark);
    if (!name.starts_with('.') || !name.ends_with(k_temporary_end) || mark == name.npos) return std::nullopt;
    std::string_view numbers = name.substr(mark + k_temporary_mark.size());
    numbers.remove_suffix(k_temporary_end.size());
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    const std::size_t hyphen = numbers.find('-');
    pid_t process = 0;
    const bool is_named =
        hyphen != numbers.npos && hyphen + 1 < numbers.size() &&
        std::ranges::all_of(numbers.substr(hyphen + 1), is_digit) &&
        std::from_chars(numbers.data(), numbers.data() + hyphen, process).ptr == numbers.data() + hyphen &&
        process > 0;
    return is_named ? std::optional(process) : std::nullopt;
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

/// A temporary file, removed unless it was moved to its place.
class TemporaryFile {
public:
    /// Created beside `target`, because only within a folder is a rename atomic.
    TemporaryFile(const fs::path& target, mode_t mode, const std::string& path, const FileCalls& calls)
        : calls_(calls) {
        for (int attempt = 0; number_ < 0; ++attempt) {
            path_ = target.parent_path() / temporary_name(target.filename().string(), attempt);
            number_ = calls.open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            if (number_ < 0 && (errno != EEXIST || attempt > 1000)) throw_write(path, errno);
        }
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!moved_) ::unlink(path_.c_str());
    }
    int number() const { return number_; }
    int move_to(const fs::path& target) {
        if (calls_.rename(path_.c_str(), target.c_str()) != 0) return errno;
        moved_ = true;
        return 0;
    }

private:
    const FileCalls& calls_;
    fs::path path_;
    int number_ = -1;
    bool moved_ = false;
};

/// Waits a moment, or until the descriptor takes bytes (−1: only a moment); 0, or EINTR.
int wait_for_room(int descriptor, const MayWait& may_wait) {
    constexpr int k_milliseconds = 50;
    if (may_wait && !may_wait()) throw Canceled{};
    struct pollfd room {
        .fd = descriptor, .events = POLLOUT, .revents = 0
    };
    return ::poll(&room, 1, k_milliseconds) < 0 ? errno : 0;
}

/// What cannot be replaced is written without blocking: a signal that comes between two calls would not end
/// one that blocks.
void write_directly(const std::string& path, const ByteSource& source, const MayWait& may_wait,
                    const FileCalls& calls) {
    int number = -1;
    while ((number = calls.open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK, 0)) < 0) {
        const int error = errno == ENXIO ? wait_for_room(-1, may_wait) : errno;  // a pipe without a reader
        if (error != 0) throw_write(path, error);
    }
    Descriptor file(number, calls);
    write_in_blocks(source, [&](std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = calls.write(number, bytes.data(), bytes.size());
            if (written >= 0) bytes.remove_prefix(static_cast<std::size_t>(written));
            const int error = written >= 0 ? 0 : errno == EAGAIN ? wait_for_room(number, may_wait) : errno;
            if (error != 0) throw_write(path, error);
        }
    });
    if (const int error = file.close(); error != 0) throw_write(path, error);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// Syncs the folder's entry to the disk; not every file system supports this, so failing is not an error.
void sync_folder(const fs::path& folder, const FileCalls& calls) {
    const Descriptor descriptor(calls.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), calls);
    if (descriptor.number() >= 0) calls.fsync(descriptor.number());
}

void replace(const fs::path& target, const struct stat* existing, const ByteSource& bytes,
             const std::string& path, const FileCalls& calls) {
    TemporaryFile temporary(target, 0666, path, calls);
    Descriptor file(temporary.number(), calls);
    if (existing && calls.fchmod(file.number(), existing->st_mode & 07777) != 0) throw_write(path, errno);
    write_all(file.number(), bytes, path, calls);
    int error = calls.fsync(file.number()) != 0 ? errno : 0;
    if (error == 0) error = file.close();
    if (error == 0) error = temporary.move_to(target);
    if (error != 0) throw_write(path, error);
    sync_folder(folder_of(target), calls);
}

/// Whether something exists at `path`, by either of two calls; only ENOENT means that nothing does.
bool found(const std::function<int(const char*, struct stat*)>& tell, const fs::path& at, struct stat& info,
           const std::string& path) {
    if (tell(at.c_str(), &info) == 0) return true;
    if (errno != ENOENT) throw_write(path, errno);
    return false;
}

/// The rule of Linux's fs.protected_symlinks, which may be switched off.
void require_trusted(const fs::path& at, const struct stat& link, const std::string& path,
                     const FileCalls& calls) {
    struct stat folder {};
    if (calls.status(folder_of(at).c_str(), &folder) != 0) throw_write(path, errno);
    const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (shared && link.st_uid != ::geteuid() && link.st_uid != folder.st_uid)
        throw_write(path, "links of other users in a shared folder are not followed: choose another place");
}

/// The target of a link, so that the link is kept; also if the target does not exist yet.
fs::path resolved(const std::string& path, const FileCalls& calls) {
    constexpr int k_most_links = 40;  // the limit of Linux
    fs::path target = path;
    struct stat info {};
    for (int links = 0; found(calls.link_status, target, info, path) && S_ISLNK(info.st_mode); ++links) {
        if (links == k_most_links) throw_write(path, ELOOP);
        require_trusted(target, info, path, calls);
        std::error_code error;
        const fs::path next = fs::read_symlink(target, error);
        if (error) throw_write(path, error.value());
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void replace_existing(const std::string& path, const struct stat& existing, const ByteSource& bytes,
                      const FileCalls& calls) {
    // A rename checks the folder's permissions only: a file that may not be written must not be replaced
    // either.
    if (::access(path.c_str(), W_OK) != 0) throw_write(path, errno);
    const fs::path target = resolved(path, calls);
    struct stat info {};
    if (!found(calls.link_status, target, info, path) || !same_file(info, existing))
        throw_write(path, "it was replaced in the meantime: try again");
    replace(target, &existing, bytes, path, calls);
}

/// Bytes of unknown number. One string that grows would take up to three times their room.
class Blocks {
public:
    explicit Blocks(std::size_t expected) : block_(std::max(expected, k_least_block)) {}
    void append(std::string_view bytes) {
        if (blocks_.empty() || blocks_.back().size() + bytes.size() > block_) {
            if (!blocks_.empty()) block_ = k_block;
            blocks_.emplace_back().reserve(block_);
        }
        blocks_.back() += bytes;
        size_ += bytes.size();
    }
    std::size_t size() const { return size_; }
    /// The first block, of k_least_block bytes and more.
    std::string_view start() const { return blocks_.front(); }
    std::string joined() && {
        if (blocks_.empty()) return {};
        if (blocks_.size() == 1) return std::move(blocks_.front());
        std::string all;
        all.reserve(size_);
        for (; !blocks_.empty(); blocks_.pop_front()) all += blocks_.front();
        return all;
    }

private:
    static constexpr std::size_t k_least_block = 2 * k_file_start_bytes, k_block = std::size_t{1} << 20;
    std::deque<std::string> blocks_;
    std::size_t block_, size_ = 0;
};

}  // namespace

std::string source_name(const std::string& path) {
    return path == "-" ? "standard input" : path.empty() ? "\"\"" : path;
}

std::string read_file(const std::string& path, std::size_t most, const CheckStart& check_start) {
    const FileCalls calls;
    const Descriptor opened(path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), calls);
    const int file = path == "-" ? STDIN_FILENO : opened.number();
    if (file < 0) throw_read(path, errno);
    const auto throw_large = [&] {
        throw Error(ErrorKind::too_large,
                    fmt::format("{} is larger than the limit of {} bytes: use a smaller file",
                                source_name(path), most));
    };
    std::size_t expected = 0;
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode)) expected = static_cast<std::size_t>(info.st_size);
    if (expected > most) throw_large();
    Blocks blocks(expected);
    bool checked = !check_start;
    std::array<char, 65536> block;
    for (;;) {
        const ssize_t count = ::read(file, block.data(), block.size());
        if (count == 0) return std::move(blocks).joined();
        if (count < 0 && errno != EINTR) throw_read(path, errno);
        if (count < 0) continue;
        if (static_cast<std::size_t>(count) > most - blocks.size()) throw_large();
        blocks.append({block.data(), static_cast<std::size_t>(count)});
        if (checked || blocks.size() < k_file_start_bytes) continue;
        check_start(blocks.start().substr(0, k_file_start_bytes), source_name(path));
        checked = true;
    }
}

void write_file(const std::string& path, const ByteSource& bytes, const MayWait& may_wait,
                const FileCalls& calls) {
    if (path == "-") return write_all(STDOUT_FILENO, bytes, path, calls);
    if (path.empty()) throw_write(path, ENOENT);
    struct stat existing {};
    if (!found(calls.status, path, existing, path))
        replace(resolved(path, calls), nullptr, bytes, path, calls);
    else if (S_ISDIR(existing.st_mode))
        throw_write(path, EISDIR);
    else if (S_ISREG(existing.st_mode))
        replace_existing(path, existing, bytes, calls);
    else
        write_directly(path, bytes, may_wait, calls);
}

void write_file(const std::string& path, std::string_view bytes, const MayWait& may_wait,
                const FileCalls& calls) {
    write_file(path, ByteSource([&](const ByteSink& to) { to(bytes); }), may_wait, calls);
}

void clear_abandoned_files(const std::string& folder) noexcept {
    constexpr std::chrono::hours k_old{1};
    try {
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            std::error_code error;
            const std::optional<pid_t> writer = writer_of(entry.path().filename().string());
            if (!writer || is_running(*writer) || entry.is_symlink(error) || !entry.is_regular_file(error))
                continue;
            const fs::file_time_type written = entry.last_write_time(error);
            if (!error && fs::file_time_type::clock::now() - written > k_old) fs::remove(entry.path(), error);
        }
    } catch (const std::exception&) {
        // Files that cannot be listed or removed are left.
    }
}

}  // namespace attnscope
