#include "app/document/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

int open_private(const fs::path& file) { return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

}  // namespace

StateLock::StateLock(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    fs::create_directories(folder, error);
    file_ = open_private(fs::path(folder) / "lock");
    if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0) held_ = errno != EWOULDBLOCK;
}

StateLock::~StateLock() {
    if (file_ >= 0) ::close(file_);
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
