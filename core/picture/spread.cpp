#include "core/picture/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

std::optional<Spread> spread_of(std::span<const MaskedMatrix> frames) {
    if (frames.empty()) return std::nullopt;
    const Eigen::Index rows = frames.front().values.rows(), columns = frames.front().values.cols();
    for (const MaskedMatrix& frame : frames)
        if (frame.values.rows() != rows || frame.values.cols() != columns) return std::nullopt;
    const Matrix zero = Matrix::Zero(rows, columns);
    Spread spread{zero, zero, zero, zero, zero};
    for (Eigen::Index i = 0; i < zero.size(); ++i) {
        double sum = 0, squares = 0;
        int count = 0;
        float least = std::numeric_limits<float>::infinity(), most = -least;
        const auto each = [&](const auto& act) {
            for (const MaskedMatrix& frame : frames) {
                const float value = frame.values.data()[i];
                const bool open = frame.open.size() == 0 || frame.open.data()[i] != 0;
                if (open && std::isfinite(value)) act(value);
            }
        };
        each([&](float value) {
            sum += value;
            ++count;
            least = std::min(least, value);
            most = std::max(most, value);
        });
        if (count == 0) continue;
        const double mean = sum / count;
        each([&](float value) { squares += (value - mean) * (value - mean); });
        spread.mean.data()[i] = static_cast<float>(mean);
        spread.deviation.data()[i] = static_cast<float>(std::sqrt(squares / count));
        spread.least.data()[i] = least;
        spread.most.data()[i] = most;
        spread.count.data()[i] = static_cast<float>(count);
    }
    return spread;
}

}  // namespace attnscope
