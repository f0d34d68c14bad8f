// The thread that draws what an export would write, so that the window never waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/document/newest.h"
#include "core/export/film.h"
#include "core/image/image.h"

namespace attnscope {

struct PreviewRequest {
    std::shared_ptr<const Trace> trace;
    Session session;
    ExportRequest files;
    int side;             ///< the largest of the preview, in pixels
    int film_frames = 0;  ///< of a film of the session; 0: the files of the trace
    bool operator==(const PreviewRequest&) const = default;
};

struct Preview {
    PreviewRequest of;
    std::optional<CustomImage> image;  ///< of the first picture written; nullopt if there is none
    std::string facts;                 ///< its size: "84 × 80 mm · 992 × 945 pixels"
    std::string problem;               ///< why there is none; empty: there is, or no picture is written
    KeptSurvey survey = {};            ///< that the image was made from
    std::shared_ptr<const FilmFrames> film = {};  ///< of a film in one picture, to be drawn in another style
};

/// Throws Canceled.
Preview previewed(PreviewRequest request, const Preview* before, const std::stop_token& cancel);

class Previewer : public Newest<PreviewRequest, Preview> {
public:
    explicit Previewer(std::function<void()> wake) : Newest(previewed, std::move(wake)) {}
};

}  // namespace attnscope
