// Curves over the steps of a run, as a picture.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/color.h"
#include "core/picture/text.h"
#include "core/picture/theme.h"

namespace attnscope {

/// A value for each step, from step 1.
struct Curve {
    std::string name;
    Rgb8 color;
    bool is_logarithmic;  ///< on a scale of its own at the left; else a share, 0 to 1, at the right
    std::vector<double> values = {};
    bool is_dashed = false;  ///< of a run beside; in the legend only if it has a name
};

/// The powers of ten around the positive values of the logarithmic curves; at least one decade.
struct Decades {
    int low, high;
};
Decades decades_of(const std::vector<Curve>& curves);
/// The last step of the longest.
int last_step(const std::vector<Curve>& curves);

/// How high a value stands in a plot: 0 … 1.
double height_of(const Curve& curve, Decades decades, double value);

/// Points of a curve: x and y from 0 to 1, y upward. Of many steps each point is a mean, at most `most` of
/// them.
struct CurvePoint {
    double x, y;
};
std::vector<CurvePoint> points_of(const Curve& curve, Decades decades, int most);

/// Steps to write below a plot that ends at `last`: 0 and multiples of 1, 2 or 5 times a power of ten, about
/// eight.
std::vector<int> step_ticks(int last);

/// The step after which a logarithmic curve falls most within a twentieth of the steps, if by a factor of 2
/// or more: where something is suddenly learned. nullopt if nowhere.
std::optional<int> steepest_fall(const std::vector<double>& values);

struct CurvePicture {
    std::string title, subtitle;
    std::vector<Curve> curves;  ///< the first is logarithmic
    ThemeKind theme = ThemeKind::dark;
};

/// An SVG file of 960 × 420 units, letters as shapes. The same curves give the same bytes. Throws
/// Error(backend) if cairo cannot write it.
std::string curve_svg(const CurvePicture& picture, const TextFace& face);
/// A PDF file of one page, letters as text.
std::string curve_pdf(const CurvePicture& picture, const TextFace& face);
/// A PNG file of 960 × 420 pixels.
std::string curve_png(const CurvePicture& picture, const TextFace& face);

}  // namespace attnscope
