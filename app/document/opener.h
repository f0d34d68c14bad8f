// Reads files in the background, so that a slow file does not block the window.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/session/session.h"

namespace attnscope {

/// The content of a file: a session, a picture, or a sentence.
struct OpenedFile {
    std::string path;  ///< absolute
    std::variant<Session, CustomImage, std::string> content;
};

/// Reads one file at a time: only the newest request counts, older results are dropped. `File` is what
/// reading gives, one of the types named below.
template <typename File>
class FileReader {
public:
    struct Outcome {
        std::optional<File> file;
        std::string problem;  ///< why there is no content
    };

    /// `wake` is called from the reading thread when there is an outcome, possibly after the reader is gone.
    explicit FileReader(std::function<void()> wake);
    /// Abandons a file that is still being read to its thread, which owns all that it needs.
    ~FileReader() { cancel(); }
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Calls `read`, which may throw, on its own thread.
    void start(std::string name, std::function<File()> read);
    /// Drops the file being read.
    void cancel();
    /// The name of the newest file.
    bool running() const;
    /// Whether it has run for more than half a second, long enough to show progress.
    bool takes_long() const;
    const std::string& name() const { return name_; }
    /// Whether no thread is reading any more, not even a dropped file.
    bool ended() const;
    /// The outcome; returned only once.
    std::optional<Outcome> take();
    /// Waits for the newest file; for tests.
    void wait() const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    std::string name_;
    std::chrono::steady_clock::time_point started_;
};

using Opener = FileReader<OpenedFile>;
using MatrixReader = FileReader<Matrix>;
using SessionReader = FileReader<Session>;
/// A reader whose "file" is made rather than read: the script of a training run, or a picture.
using FileMaker = FileReader<std::string>;

}  // namespace attnscope
