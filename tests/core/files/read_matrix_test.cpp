#include "core/files/read_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/export/matrix_files.h"
#include "core/mechanism/evaluate.h"
#include "tests/written.h"

namespace attnscope {
namespace {

Matrix csv(std::string_view text) { return matrix_from_csv(text, "a.csv"); }

std::string refusal(Matrix (*read)(std::string_view, std::string_view), std::string_view text) {
    try {
        read(text, "a.csv");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        return error.what();
    }
    ADD_FAILURE() << "not refused: " << text;
    return {};
}

Matrix matrix(std::initializer_list<std::initializer_list<float>> rows) {
    Matrix m(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows.begin()->size()));
    Eigen::Index r = 0;
    for (const auto& row : rows) {
        Eigen::Index c = 0;
        for (const float value : row) m(r, c++) = value;
        ++r;
    }
    return m;
}

std::string npy(const std::string& header, const std::string& data) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return bytes + header + data;
}

TEST(ReadMatrixTest, CellsStandApartByCommasSemicolonsTabsOrSpaces) {
    const Matrix expected = matrix({{1, -2.5f}, {3e2f, 4}});
    for (const char* text :
         {"1,-2.5\n3e2,4\n", "1;-2.5\r\n3e2;4", "1\t-2.5\n3e2\t4\n", "  1   -2.5\n3e2 +4  \n\n"})
        EXPECT_EQ(csv(text), expected) << text;
    EXPECT_EQ(csv("7"), matrix({{7}}));
}

TEST(ReadMatrixTest, LabelsArePassedOver) {
    const Matrix expected = matrix({{1, 2}, {3, 4}});
    EXPECT_EQ(csv(",you,help\nyou,1,2\nhelp,3,4\n"), expected);
    EXPECT_EQ(csv("you,help\n1,2\n3,4\n"), expected);
    EXPECT_EQ(csv("you,1,2\nhelp,3,4\n"), expected);
    EXPECT_EQ(csv("\xEF\xBB\xBF\"a, \"\"b\"\"\",c\n1,2\n3,4\n"), expected);
}

TEST(ReadMatrixTest, ReadsWhatTheProgramExports) {
    const Trace trace = evaluate(Experiment{});
    for (const char* name : {"scores", "embedding", "mask"}) {
        const Stage& stage = *trace.find_named(name);
        EXPECT_EQ(csv(test::written_csv(trace, stage, {})), Matrix(stage.buffer.host().head(0))) << name;
        EXPECT_EQ(matrix_from_npy(test::written_npy(stage, {}), "a.npy"), Matrix(stage.buffer.host().head(0)))
            << name;
    }
}

TEST(ReadMatrixTest, WhatIsNotFiniteHasWords) {
    const Matrix m = csv("nan,inf,-inf,NaN,Infinity\n");
    EXPECT_TRUE(std::isnan(m(0, 0)));
    EXPECT_EQ(m(0, 1), INFINITY);
    EXPECT_EQ(m(0, 2), -INFINITY);
    EXPECT_TRUE(std::isnan(m(0, 3)));
    EXPECT_EQ(m(0, 4), INFINITY);
}

TEST(ReadMatrixTest, ABadCellIsNamedByLineAndPlace) {
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n3,\n"),
              "a.csv: line 2, cell 2 is empty: write a number, or nan where there is none");
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n\n3,x\n"),
              "a.csv: line 3, cell 2 \"x\" is not a number: write a number, nan or inf");
    EXPECT_EQ(refusal(matrix_from_csv, "1,5;2\n3;4\n"),
              "a.csv: line 1, cell 1 \"1,5\" has a decimal comma: write numbers with a point");
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n3,4,5\n"),
              "a.csv: line 2 has 3 numbers and line 1 has 2: make all rows the same length");
    EXPECT_EQ(refusal(matrix_from_csv, "1e39\n"),
              "a.csv: line 1, cell 1 \"1e39\" is beyond the range of float32: write inf");
    EXPECT_EQ(refusal(matrix_from_csv, " \n"), "a.csv: it has no numbers: give one row or more");
}

TEST(ReadMatrixTest, DecimalCommasAreRefusedWhereCommasSeparate) {
    const auto one_number = [](const char* line, const char* typed, const char* point, const char* two) {
        return std::string("a.csv: line ") + line + ": \"" + typed +
               "\" may be one number with a decimal comma: write " + point +
               "; if these are two numbers, put a space between them: " + two;
    };
    const auto refused = [](std::string_view text) { return refusal(matrix_from_csv, text); };
    EXPECT_EQ(refused("0,28\n0,43\n0,04\n"), one_number("3", "0,04", "0.04", "0, 04"));
    EXPECT_EQ(refused("0,28\n0,43"), one_number("1", "0,28", "0.28", "0, 28"));
    EXPECT_EQ(refused("12,5\n-0,5"), one_number("2", "-0,5", "-0.5", "-0, 5"));
    EXPECT_EQ(refused("1,50,2,25\n3,07,4,12"), one_number("2", "3,07", "3.07", "3, 07"));
    EXPECT_EQ(refused("2,83e-01\n4,36e-01"), one_number("1", "2,83e-01", "2.83e-01", "2, 83e-01"));
    EXPECT_EQ(refused("weight\n1,5\n2,7"), one_number("2", "1,5", "1.5", "1, 5"));
    EXPECT_EQ(refused("you,1,5\nhelp,2,07"), one_number("2", "2,07", "2.07", "2, 07"));
    EXPECT_EQ(refused("to you,1,5\nto help,2,07"), one_number("2", "2,07", "2.07", "2, 07"));
    EXPECT_EQ(refused("you 0,28\nhelp 0,43"), one_number("1", "0,28", "0.28", "0, 28"));
    EXPECT_EQ(refused("1,5 2,5\n3,5 4,5"),
              "a.csv: line 1, cell 2 \"5 2\" is not a number: if 1,5 has a decimal comma, write 1.5, "
              "otherwise separate all numbers by commas");
    EXPECT_TRUE(
        refused("1 2,5\n3 4,5").starts_with("a.csv: line 1, cell 1 \"1 2\" is not a number: if 2,5 "));
    EXPECT_EQ(
        refused("0,28\n1\n"),
        "a.csv: line 2 has 1 number and line 1 has 2: make all rows the same length; if 0,28 has a decimal "
        "comma, write 0.28");
}

TEST(ReadMatrixTest, WholeNumbersBetweenCommasAreNotDecimalCommas) {
    EXPECT_EQ(csv("1,2\n3,4"), matrix({{1, 2}, {3, 4}}));
    EXPECT_EQ(csv("0, 28\n0, 43\n0, 04"), matrix({{0, 28}, {0, 43}, {0, 4}}));
    EXPECT_EQ(csv("0,1\n0,0\n0,1"), matrix({{0, 1}, {0, 0}, {0, 1}})) << "a mask";
    EXPECT_EQ(csv("0,28"), matrix({{0, 28}})) << "rows of a table";
    EXPECT_EQ(csv("0,-28\n0,43"), matrix({{0, -28}, {0, 43}}));
    EXPECT_EQ(csv("0,28\n0,4.5"), matrix({{0, 28}, {0, 4.5f}}));
    EXPECT_EQ(csv("01,02\n03,04"), matrix({{1, 2}, {3, 4}}));
    EXPECT_EQ(csv("0,28,1\n0,43,2"), matrix({{0, 28, 1}, {0, 43, 2}}));
    EXPECT_EQ(csv("word,count\n0,28\n0,43"), matrix({{0, 28}, {0, 43}}));
    EXPECT_EQ(csv("0;28\n0;04"), matrix({{0, 28}, {0, 4}}));
    EXPECT_EQ(csv("0 28\n0 04"), matrix({{0, 28}, {0, 4}}));
}

TEST(ReadMatrixTest, AnyNpyTypeAndOrderIsConverted) {
    using namespace std::string_literals;
    const Matrix expected = matrix({{1, 2}, {3, 4}});
    const auto header = [](const char* type, const char* fortran) {
        return "{'descr': '"s + type + "', 'fortran_order': " + fortran + ", 'shape': (2, 2), }\n";
    };
    EXPECT_EQ(matrix_from_npy(npy(header("|u1", "False"), "\1\2\3\4"), "a"), expected);
    EXPECT_EQ(matrix_from_npy(npy(header("|i1", "True"), "\1\3\2\4"), "a"), expected);
    EXPECT_EQ(matrix_from_npy(npy(header(">i2", "False"), "\0\1\0\2\0\3\0\4"s), "a"), expected);
    EXPECT_EQ(matrix_from_npy(npy(header("<f2", "False"), "\x00\x3c\x00\x40\x00\x42\x00\x44"s), "a"),
              expected);
    EXPECT_EQ(
        matrix_from_npy(npy(header(">f4", "False"), "\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0"s), "a"),
        expected);
    EXPECT_EQ(
        matrix_from_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", "\1\0\1"s), "a"),
        matrix({{1, 0, 1}}));
}

/// A column of numbers of one type, in this machine's order, which is little-endian.
template <typename Number>
std::string npy_column(const std::string& type, std::initializer_list<Number> numbers) {
    std::string data;
    for (const Number number : numbers) data.append(reinterpret_cast<const char*>(&number), sizeof number);
    const std::string shape = "(" + std::to_string(numbers.size()) + ", 1)";
    return npy("{'descr': '<" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

TEST(ReadMatrixTest, WhatFloat32DoesNotHoldIsRefusedAndFractionsAreRounded) {
    const auto refused = [](const std::string& bytes) { return refusal(matrix_from_npy, bytes); };
    const std::string row_2 = "a.csv: row 2, column 1 is ";
    const std::string rounds =
        ", a whole number that float32 cannot represent: numpy.save(file, array.astype('float32')) rounds it";
    EXPECT_EQ(refused(npy_column<double>("f8", {1, 1e300})),
              row_2 + "1e+300, beyond the range of float32: write inf");
    EXPECT_EQ(refused(npy_column<double>("f8", {1, -3.5e38})),
              row_2 + "-3.5e+38, beyond the range of float32: write inf");
    EXPECT_EQ(refused(npy_column<std::int64_t>("i8", {1, (std::int64_t{1} << 53) + 1})),
              row_2 + "9007199254740993" + rounds);
    EXPECT_EQ(refused(npy_column<std::int32_t>("i4", {1, -16777217})), row_2 + "-16777217" + rounds);
    EXPECT_EQ(refused(npy_column<std::uint32_t>("u4", {1, 16777217})), row_2 + "16777217" + rounds);
    EXPECT_EQ(refused(npy_column<std::uint64_t>("u8", {1, UINT64_MAX})),
              row_2 + "18446744073709551615" + rounds);
    EXPECT_EQ(matrix_from_npy(npy_column<double>("f8", {0.1, -INFINITY, 16777217.0, 1e-300}), "a"),
              matrix({{0.1f}, {-INFINITY}, {16777216}, {0}}));
    EXPECT_TRUE(std::isnan(matrix_from_npy(npy_column<double>("f8", {NAN}), "a")(0, 0)));
    EXPECT_EQ(matrix_from_npy(npy_column<std::int64_t>("i8", {16777216, 16777218, INT64_MIN, 0}), "a"),
              matrix({{16777216}, {16777218}, {-0x1p63f}, {0}}));
    EXPECT_EQ(matrix_from_npy(npy_column<std::uint64_t>("u8", {std::uint64_t{0xffffff} << 40}), "a"),
              matrix({{0xffffffp40f}}));

    EXPECT_EQ(refusal(matrix_from_csv, "1\n-16777217"),
              "a.csv: line 2, cell 1 \"-16777217\" is a whole number that float32 cannot represent: write "
              "-16777216, or add a decimal point to have it rounded");
    EXPECT_NE(refusal(matrix_from_csv, "18446744073709551617").find("write 18446744073709551616,"),
              std::string::npos);
    EXPECT_EQ(csv("16777218;16777217.;1.6777217e7;0016777216;0.1"),
              matrix({{16777218, 16777216, 16777216, 16777216, 0.1f}}));
}

TEST(ReadMatrixTest, AnNpyFileOfAVersionToComeIsRefusedByIt) {
    std::string bytes = npy_column<float>("f4", {1, 2});
    bytes[6] = 9;
    EXPECT_EQ(refusal(matrix_from_npy, bytes),
              "a.csv: it has NPY version 9, and only 1 to 3 are supported: save it again with numpy.save");
    bytes[6] = 0;
    EXPECT_NE(refusal(matrix_from_npy, bytes).find("version 0"), std::string::npos);
}

TEST(ReadMatrixTest, AnNpyFileThatIsNotAMatrixIsRefusedByName) {
    const auto header = [](const std::string& type, const std::string& shape) {
        return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    };
    EXPECT_NE(refusal(matrix_from_npy, npy(header("<c8", "(1, 1)"), "12345678")).find("\"<c8\""),
              std::string::npos);
    EXPECT_EQ(refusal(matrix_from_npy, npy(header("<f4", "(1, 1, 1)"), "1234")),
              "a.csv: its shape is (1, 1, 1): a matrix has two dimensions");
    EXPECT_NE(refusal(matrix_from_npy, npy(header("<f4", "(1, 2)"), "1234")).find("cut off"),
              std::string::npos);
    EXPECT_NE(refusal(matrix_from_npy, std::string("\x93NUMPY\x01\x00", 8)).find("cut off"),
              std::string::npos);
    EXPECT_EQ(
        refusal(matrix_from_npy, npy(header("<f4", "(9999999, 9999999)"), "1")),
        "a.csv: it has 9999999 × 9999999 numbers, and a matrix may have at most 65536 rows and columns and "
        "67108864 numbers in total: use a part of it");
    for (const char* shape : {"(-2, 2)", "(2, -2)", "(1 2)", "(a,)", "(1,,2)"})
        EXPECT_EQ(refusal(matrix_from_npy, npy(header("<f4", shape), std::string(16, '\0'))),
                  std::string("a.csv: its NPY header has the shape ") + shape +
                      ", which is invalid: save it again with numpy.save");
    EXPECT_EQ(refusal(matrix_from_npy, npy(header("<f4", "(1, 2)"), std::string(11, '\0'))),
              "a.csv: 3 extra bytes follow its 1 × 2 numbers: save a single array with numpy.save");
    EXPECT_EQ(matrix_from_npy(npy(header("<f4", "(1L, 2L)"), std::string(8, '\0')), "a"), matrix({{0, 0}}));
}

std::string long_npy(const std::string& header) {
    std::string bytes("\x93NUMPY\x02\x00", 8);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(header.size() >> shift & 0xff);
    return bytes + header;
}

TEST(ReadMatrixTest, ALongNpyHeaderIsRefusedHoweverLongItIs) {
    for (const std::size_t size : {27'000u, 60'000u}) {
        const std::string header =
            "{'descr': '" + std::string(size, 'A') + "', 'fortran_order': False, 'shape': (1,1), }";
        EXPECT_EQ(refusal(matrix_from_npy, long_npy(header)),
                  "a.csv: its numbers have the type \"" + std::string(23, 'A') + "…" + std::string(7, 'A') +
                      "\": save it as float32, numpy.save(file, array.astype('float32'))");
    }
    const std::string whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }";
    for (const std::size_t size : {std::size_t{65'537}, std::size_t{1} << 20}) {
        const std::string header = whole + std::string(size - whole.size(), ' ');
        EXPECT_EQ(refusal(matrix_from_npy, long_npy(header) + "1234"),
                  "a.csv: its NPY header has " + std::to_string(size) +
                      " bytes and the limit is 65536: save it again with numpy.save");
    }
    const std::string longest = whole + std::string(65'536 - whole.size(), ' ');
    EXPECT_EQ(matrix_from_npy(long_npy(longest) + std::string(4, '\0'), "a"), matrix({{0}}));
    // Of every kind of repetition.
    for (const char* piece :
         {"'", "(", "[", "'descr'", "'descr':", "'shape': ", "'shape': (", "1,", " ", "{"}) {
        std::string header = "{'fortran_order': True, 'descr': '<f4', 'shape': (";
        while (header.size() < 65'000) header += piece;
        EXPECT_TRUE(refusal(matrix_from_npy, long_npy(header)).size() < 200) << piece;
        EXPECT_TRUE(refusal(matrix_from_npy, long_npy(header.substr(50))).size() < 200) << piece;
    }
}

TEST(ReadMatrixTest, AnNpyHeaderIsReadHoweverItIsSpaced) {
    const std::string data(8, '\0');
    for (const char* header : {"{'descr':'<f4','fortran_order':False,'shape':(1,2)}",
                               "{ 'shape' :\t( 1 , 2 , ) ,\n'fortran_order' : True, 'descr' : '<f4' }  \n",
                               "{'shape': (2,), 'descr': '<f4', 'fortran_order': False, }"})
        EXPECT_EQ(matrix_from_npy(npy(header, data), "a"), matrix({{0, 0}})) << header;
    for (const char* header : {"", "{}", "{'descr': '<f4', 'fortran_order': False}",
                               "{'descr': <f4, 'fortran_order': False, 'shape': (1,2)}",
                               "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,2)}",
                               "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
                               "{'descr' '<f4', 'fortran_order': False, 'shape': (1,2)}",
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2"})
        EXPECT_EQ(refusal(matrix_from_npy, npy(header, data)),
                  "a.csv: its NPY header cannot be read: save it again with numpy.save")
            << header;
    EXPECT_NE(refusal(matrix_from_npy,
                      npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,2)}", data))
                  .find("\"a record\""),
              std::string::npos);
}

TEST(ReadMatrixTest, ATextThatIsNotUtf8IsRefusedByItsLine) {
    const std::string expected = "a.csv: line 2 is not UTF-8: save the file as UTF-8";
    EXPECT_EQ(refusal(matrix_from_csv, "a,b\n1,\xff\n"), expected);
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n" + std::string(31, '\x80')), expected);
    EXPECT_EQ(refusal(matrix_from_csv, ",caf\xe9\ncaf\xe9,1\n"),
              "a.csv: line 1 is not UTF-8: save the file as UTF-8");
    EXPECT_EQ(csv(",café\ncafé,1\n"), matrix({{1}}));
}

TEST(ReadMatrixTest, ACellIsQuotedWithoutControlsAndShort) {
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n3,\u202e\u009b4"),
              "a.csv: line 2, cell 2 \"\\u202e\\u009b4\" is not a number: write a number, nan or inf");
    EXPECT_EQ(refusal(matrix_from_csv, "1,2\n3," + std::string(1000, 'x')),
              "a.csv: line 2, cell 2 \"" + std::string(23, 'x') + "…" + std::string(7, 'x') +
                  "\" is not a number: write a number, nan or inf");
}

TEST(ReadMatrixTest, CellsBeyondAMatrixAreRefusedWhileTheyAreCounted) {
    const auto expect_beyond = [](const std::string& text, int line) {
        EXPECT_EQ(refusal(matrix_from_csv, text),
                  "a.csv: line " + std::to_string(line) +
                      " exceeds the limit of 65536 rows and columns and of 67108864 numbers: "
                      "use a part of the matrix");
    };
    const auto repeated = [](const std::string& piece, int times) {
        std::string text;
        for (int i = 0; i < times; ++i) text += piece;
        return text;
    };
    expect_beyond(repeated("0,", 65'537), 1);
    expect_beyond(repeated("0 ", 65'538), 1);
    expect_beyond(repeated("0\n", 65'538), 65'538);
    // 1100 rows of 61,100 cells; the last of those that fit is row 1100.
    expect_beyond(repeated(repeated(",", 61'099) + "\n", 1'101), 1'101);
    EXPECT_EQ(csv(repeated("0  ", 65'536)).cols(), 65'536);
    EXPECT_EQ(csv("x\n" + repeated("0\n", 65'536)).rows(), 65'536);
}

TEST(ReadMatrixTest, AFileOfAnotherKindIsRefusedWithoutQuotingItsBytes) {
    const std::string path = testing::TempDir() + "/read_matrix_test.bin";
    std::ofstream(path, std::ios::binary) << std::string("\x89PNG\r\n\0\1", 8);
    try {
        read_matrix(path);
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.what(),
                  path + ": neither rows of numbers (CSV) nor an NPY file: save the matrix as one of them");
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace attnscope
