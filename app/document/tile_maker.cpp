#include "app/document/tile_maker.h"

#include <algorithm>
#include <utility>

#include "core/canceled.h"

namespace attnscope {
namespace {

constexpr int k_preview_bands = 64;
constexpr int k_sampled_rows = 256;

bool is_sample(const TileRequest& request) {
    return request.what == TileRequest::What::preview && !is_of_pairs(*request.stage->info);
}

Matrix computed(const TileRequest& request, const std::stop_token& cancel) {
    const Buffer& buffer = request.head < 0 ? request.stage->buffer.mean(cancel) : request.stage->buffer;
    const int head = std::max(request.head, 0);
    if (is_sample(request)) return buffer.on_demand()->sample(head, k_sampled_rows, cancel);
    if (request.what == TileRequest::What::preview)
        return buffer.on_demand()->preview(head, k_preview_bands, request.pool, cancel);
    return buffer.on_demand()->tile(head, request.level, request.pool, request.region, cancel);
}

std::size_t bytes_of_tile(const Matrix& values) {
    return static_cast<std::size_t>(values.size()) * sizeof(float);
}

}  // namespace

TileMaker::TileMaker(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& end) { run(end); }) {}

TileMaker::~TileMaker() {
    const std::lock_guard lock(mutex_);
    asked_.clear();
    cancel_.request_stop();
    thread_.request_stop();
}

void TileMaker::begin_frame(bool surveys) {
    const std::lock_guard lock(mutex_);
    asked_.clear();
    surveys_ = surveys;
    if (surveys_) stop_sample();
    std::erase_if(made_, [&](const Made& made) {
        const bool is_gone = made.stage.expired();
        if (is_gone) bytes_ -= bytes_of_tile(*made.values);
        return is_gone;
    });
}

/// What is computed next; the end if nothing is.
std::vector<TileRequest>::const_iterator TileMaker::next() const {
    const auto tile = std::ranges::find(asked_, TileRequest::What::tile, &TileRequest::what);
    if (tile != asked_.end()) return tile;
    const auto preview = std::ranges::find_if_not(asked_, is_sample);
    return preview != asked_.end() || surveys_ ? preview : asked_.begin();
}

void TileMaker::stop_sample() {
    if (running_ && is_sample(*running_)) cancel_.request_stop();
}

std::shared_ptr<const Matrix> TileMaker::find(const TileRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(made_, [&](const Made& made) { return made.is(request); });
    if (found != made_.end()) {
        made_.splice(made_.begin(), made_, found);
        return made_.front().values->size() > 0 ? made_.front().values : nullptr;
    }
    if (running_ == request || std::ranges::find(asked_, request) != asked_.end()) return nullptr;
    asked_.push_back(request);
    if (!is_sample(request)) stop_sample();
    changed_.notify_all();
    return nullptr;
}

bool TileMaker::update() {
    const std::lock_guard lock(mutex_);
    return std::exchange(has_news_, false);
}

bool TileMaker::busy() const {
    const std::lock_guard lock(mutex_);
    return running_ || !asked_.empty();
}

void TileMaker::wait() const {
    std::unique_lock lock(mutex_);
    // Samples that wait for a survey are not waited for.
    changed_.wait(lock, [&] { return !running_ && next() == asked_.end(); });
}

void TileMaker::run(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, end, [&] { return next() != asked_.end(); })) {
        running_ = *next();
        asked_.erase(next());
        cancel_ = {};
        const TileRequest request = *running_;
        const std::stop_token cancel = cancel_.get_token();
        lock.unlock();
        std::shared_ptr<const Matrix> values;
        try {
            values = std::make_shared<const Matrix>(computed(request, cancel));
        } catch (const Canceled&) {
        } catch (const std::exception&) {  // no memory: what is known already stays on screen
            values = std::make_shared<const Matrix>();
        }
        lock.lock();
        running_.reset();
        if (values) {
            has_news_ = true;
            bytes_ += bytes_of_tile(*values);
            made_.push_front({request.stage, request.head, request.what, request.level, request.region,
                              request.pool, std::move(values)});
            while (bytes_ > k_kept_bytes && made_.size() > 1) {
                bytes_ -= bytes_of_tile(*made_.back().values);
                made_.pop_back();
            }
        }
        changed_.notify_all();
        lock.unlock();
        if (wake_) wake_();
        lock.lock();
    }
}

}  // namespace attnscope
