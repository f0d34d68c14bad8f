// Two proofs side by side, step by step.
#pragma once

#include <string>

#include "app/panels/inspector_column.h"
#include "core/graph/explain.h"

namespace attnscope {

/// The heads of the two columns of numbers, above them; the width that a column has.
float proof_column_width(const Ui& ui);
void proof_table_heads(const Column& c, const std::string& first, const std::string& second);

/// How the second number of a line that differs is drawn: highlighted as a change, or plain, as it belongs to
/// another cell.
enum class Differs { marked, plain };
/// The steps of both proofs; those with the same label, whatever its numbers, stand on one line, and the last
/// line has both values. A click on a number copies it.
void proof_table(const Column& c, const Proof& first, const Proof& second, Differs differs);

/// One more line of the table: a label, what it means, and both numbers.
struct ProofTableLine {
    std::string label, help;
    double first, second;
};
void proof_table_line(const Column& c, const ProofTableLine& line, Differs differs);

/// The largest open number of a proof's row but for the cell's own; −1 if there is none.
int rival_of(const Proof& proof, int own);

}  // namespace attnscope
