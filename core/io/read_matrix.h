// A matrix from a file or from pasted text.
#pragma once

#include <string>
#include <string_view>

#include "core/attention/tensor.h"

namespace attnscope {

/// CSV or NPY, by content. Throws Error(io) as read_file(), Error(bad_input) as the two below and for bytes
/// that are neither.
Matrix read_matrix(const std::string& path);

/// Rows of numbers, cells apart by commas, semicolons, tabs or blanks (the first of these that the text has);
/// the first row and the first column may be labels, as to_csv writes them. `nan`, `inf`, `-inf` in any case
/// are numbers. Throws Error(bad_input) that begins with `source` and names line and cell: an empty cell, a
/// word, a decimal comma, rows that are not equally long, a number beyond float32, a whole number that
/// float32 would round (with a point behind it, it is rounded as fractions are), nothing at all. Commas that
/// are decimal for certain or in all likelihood ("0,28" over "0,04", over "0,43") are refused, too; a blank
/// beside one makes it a separator. "1,5" over "2,5" are two columns: where one is needed, the refusal of the
/// shape says that commas separate.
Matrix matrix_from_csv(std::string_view text, std::string_view source);

/// NumPy's format, versions 1 to 3: booleans, integers and floating point of any width to 64 bits, either
/// byte order, either element order; one dimension is one row. Floating point is rounded to float32. Throws
/// Error(bad_input) that begins with `source` and names the version that is not known, the type or the shape
/// that is no matrix of numbers, the bytes behind its numbers, the place of a number beyond float32 or of an
/// integer that float32 would round, or says that the file is cut off.
Matrix matrix_from_npy(std::string_view bytes, std::string_view source);

/// Whether `text` is a whole number without point and exponent and `value`, what float32 made of it, another.
bool is_rounded_whole(std::string_view text, float value);

/// rows × columns that a matrix may have here: 1 … 65,536 each, 2²⁶ cells in all.
void require_matrix_size(std::size_t rows, std::size_t columns, std::string_view source);

}  // namespace attnscope
