// Reads a matrix from a file or from pasted text.
#pragma once

#include <string>
#include <string_view>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Reads CSV or NPY, recognized by content. Throws Error(io) as read_file(), Error(bad_input) as the two
/// functions below and for bytes that are neither.
Matrix read_matrix(const std::string& path);

/// Rows of numbers, with cells separated by commas, semicolons, tabs or spaces (the first of these that the
/// text has); the first row and the first column may be labels, as write_csv writes them. `nan`, `inf`,
/// `-inf` in any case are numbers. Throws Error(bad_input) that starts with `source` and names line and cell:
/// an empty cell, a word, a decimal comma, rows of different lengths, a number beyond float32, a whole number
/// that float32 would round (with a decimal point it is rounded like any fraction), no numbers at all. Commas
/// that are certainly or very likely decimal ("0,28" over "0,04", over "0,43") are refused, too; a space
/// beside one makes it a separator. "1,5" over "2,5" are two columns: if one is required, the message about
/// the shape says that commas separate.
Matrix matrix_from_csv(std::string_view text, std::string_view source);

/// NumPy's format, versions 1 to 3: booleans, integers and floating point of up to 64 bits, either byte
/// order, either element order; one dimension is read as one row. Floating point is rounded to float32.
/// Throws Error(bad_input) that starts with `source` and names the unknown version, the type or shape that is
/// not a matrix of numbers, the number of extra bytes, the place of a number beyond float32 or of an integer
/// that float32 would round, or that the file is truncated.
Matrix matrix_from_npy(std::string_view bytes, std::string_view source);

/// Whether `text` is a whole number, without point or exponent, that differs from `value`, its float32.
bool is_rounded_whole(std::string_view text, float value);

/// Throws unless a matrix may have this size: 1 … 65,536 rows and columns each, 2²⁶ cells in total.
void require_matrix_size(std::size_t rows, std::size_t columns, std::string_view source);

}  // namespace attnscope
