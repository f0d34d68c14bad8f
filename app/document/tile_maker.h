// The thread that computes parts of matrices that are computed on demand, so that the window never waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/graph/trace.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

/// Part of a head of a stage whose values are computed on demand.
struct TileRequest {
    enum class What {
        tile,     ///< OnDemandValues::tile()
        preview,  ///< OnDemandValues::preview(), or sample() where columns are features, without the pool;
                  ///< level and region are not used
    };
    StagePtr stage;
    int head = 0;  ///< −1: the mean
    What what = What::tile;
    int level = 0;
    Region region = {};
    Pool pool = Pool::dominant;
    bool operator==(const TileRequest&) const = default;
};

/// The preview of a head as it is shown.
inline TileRequest preview_of(const StagePtr& stage, int head, const Presentation& shown) {
    return {stage, head, TileRequest::What::preview, 0, {}, pooling_of(*stage->info, shown)};
}

/// Computes what the newest frame asked for: tiles, then previews of pairs, then samples of the rest. What
/// only an older frame asked for is not begun. A running sample is stopped when anything else is asked for.
/// What is computed is kept, as far as it fits.
class TileMaker {
public:
    /// `wake` is called from the thread when a part is computed.
    explicit TileMaker(std::function<void()> wake);
    /// Cancels the running computation and waits until it stops.
    ~TileMaker();
    TileMaker(const TileMaker&) = delete;
    TileMaker& operator=(const TileMaker&) = delete;

    /// Call before the first find() of a frame. While something is surveyed, samples wait: they take all
    /// cores for seconds.
    void begin_frame(bool surveys);
    /// The part, or nullptr until it is computed; it is asked for then.
    std::shared_ptr<const Matrix> find(const TileRequest& request);
    /// Whether a part was computed since the last call.
    bool update();
    bool busy() const;
    /// Waits until nothing is asked for; for tests and measurements.
    void wait() const;

private:
    /// What was computed, for as long as its stage is in use.
    struct Made {
        std::weak_ptr<const Stage> stage;
        int head;
        TileRequest::What what;
        int level;
        Region region;
        Pool pool;
        std::shared_ptr<const Matrix> values;

        bool is(const TileRequest& of) const {
            return what == of.what && head == of.head && level == of.level && region == of.region &&
                   pool == of.pool && stage.lock() == of.stage;
        }
    };
    void run(const std::stop_token& end);

    static constexpr std::size_t k_kept_bytes = std::size_t{96} << 20;
    const std::function<void()> wake_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::list<Made> made_;  ///< the most recently used first
    std::size_t bytes_ = 0;
    std::vector<TileRequest>::const_iterator next() const;
    void stop_sample();

    std::vector<TileRequest> asked_;  ///< in this frame
    bool surveys_ = false;
    bool has_news_ = false;
    std::optional<TileRequest> running_;
    std::stop_source cancel_;
    std::jthread thread_;  ///< the last member: it uses the others
};

}  // namespace attnscope
