// Reads files in the background, so that the window lives whatever it is asked to open.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/io/session.h"

namespace attnscope {

/// What a file holds: a session, a picture to look at, or a sentence.
struct OpenedFile {
    std::string path;  ///< absolute
    std::variant<Session, GivenImage, std::string> content;
};

/// One file at a time: the newest one asked for counts, and what an older one holds is dropped.
class Opener {
public:
    struct Outcome {
        std::optional<OpenedFile> file;
        std::string problem;  ///< why there is none
    };

    /// `wake` is called from the reading thread when there is an outcome, maybe after the opener is gone.
    explicit Opener(std::function<void()> wake);
    /// A file that is still being read is left to its thread, which has all that it needs.
    ~Opener() { cancel(); }
    Opener(const Opener&) = delete;
    Opener& operator=(const Opener&) = delete;

    /// Calls `read`, which may throw, on a thread of its own.
    void start(std::string name, std::function<OpenedFile()> read);
    /// What is being read is dropped.
    void cancel();
    /// Of the newest file.
    bool running() const;
    /// It runs since more than half a second: long enough to be shown.
    bool takes_long() const;
    const std::string& name() const { return name_; }
    /// No thread reads any more, not even what was dropped.
    bool ended() const;
    /// The outcome, once.
    std::optional<Outcome> take();
    /// Waits for the newest file; for tests.
    void wait() const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    std::string name_;
    std::chrono::steady_clock::time_point started_;
};

}  // namespace attnscope
