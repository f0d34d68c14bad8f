// Cuts a picture into patches.
#pragma once

#include <functional>
#include <string>

#include "core/image/image.h"
#include "core/tensor/tensor.h"

namespace attnscope {

inline constexpr int k_max_grid = 32;
inline constexpr int k_max_patch_size = 64;
/// Experiments and sessions keep at most this many pixels per side of a picture.
inline constexpr int k_max_image_side = 448;

/// The central square of an image (an odd pixel is cut off at the right or bottom), reduced by area averaging
/// to `largest` pixels per side if it is larger, each average rounded to the nearest byte. A square that is
/// small enough is kept as it is.
Image central_square(const Image& image, int largest = k_max_image_side);

/// Resamples the central square of an image to `side` × `side` pixels by area averaging, from top to bottom:
/// `row(y, pixels)` receives 3 · side values of 0 … 1, each Σ overlap · byte ÷ (255 · area), the sums exact,
/// rounded once to float32.
void resample(const Image& image, int side, const std::function<void(int y, const float* pixels)>& row);

/// The central square of an image, resampled to (grid · patch)² pixels and cut into grid × grid patches:
/// grid² × 3·patch², the patches row by row from the top left, each flattened pixel by pixel, row by row, as
/// red, green, blue.
Tensor image_patches(const Image& image, int grid, int patch_size);

/// "2,5": the row and column of a patch, counted from 1.
std::string patch_label(int patch, int grid);
/// "3,1 green": the row, column and channel of one number of a patch, counted from 1.
std::string pixel_label(int index, int patch_size);

}  // namespace attnscope
