#include "app/document/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

int open_private(const fs::path& file) { return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

/// Whether the open file is the one that the path names now.
bool is_at(int file, const fs::path& path) {
    struct stat opened {
    }, named{};
    return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

StateLock::StateLock(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    fs::create_directories(folder, error);
    path_ = fs::path(folder) / "lock";
    // Whoever held it before may remove the file between its opening here and its locking.
    do {
        if (file_ >= 0) ::close(file_);
        file_ = open_private(path_);
        if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0) held_ = errno != EWOULDBLOCK;
    } while (file_ >= 0 && held_ && !is_at(file_, path_));
}

StateLock::~StateLock() {
    if (file_ < 0) return;
    std::error_code error;
    if (held_) fs::remove(path_, error);
    if (held_) fs::remove(path_.parent_path(), error);  // only a folder that nothing was kept in is empty
    ::close(file_);
}

TrialMark::TrialMark(const std::string& folder)
    : file_(folder.empty() ? fs::path() : fs::path(folder) / "on-trial") {}

TrialMark::~TrialMark() {
    if (known_) set(false);
}

bool TrialMark::is_set() const {
    std::error_code error;
    return !file_.empty() && fs::exists(file_, error);
}

void TrialMark::set(bool on) {
    if (file_.empty() || known_ == on) return;
    known_ = on;
    std::error_code error;
    if (!on) {
        fs::remove(file_, error);
    } else if (const int file = open_private(file_); file >= 0) {
        ::close(file);
    }
}

}  // namespace attnscope
