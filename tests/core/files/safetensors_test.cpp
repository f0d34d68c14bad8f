// Safetensors files: tensors come back to the bit, and a file that breaks a rule of the format is refused.
#include "core/files/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

/// A file made by hand: the header as it is, its length before it.
std::string file_of(const std::string& header, const std::string& data = "") {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
    return bytes + header + data;
}

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

/// `"name":{…}` as a header has it.
std::string entry(const std::string& name, const std::string& shape, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

Tensors read(const std::string& bytes) { return tensors_from_safetensors(bytes, "run.safetensors"); }

std::string refusal_of(const std::string& bytes, std::string_view required = "") {
    try {
        tensors_from_safetensors(bytes, "run.safetensors", required);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        const std::string message = error.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message;
    }
    return "accepted";
}

Tensors of_bits(std::initializer_list<std::uint32_t> bits) {
    Matrix values(1, static_cast<Eigen::Index>(bits.size()));
    Eigen::Index i = 0;
    for (const std::uint32_t each : bits) values(0, i++) = std::bit_cast<float>(each);
    Tensors tensors;
    tensors.tensors.push_back({"W", values});
    return tensors;
}

// The bytes of the format's specification, written down one by one.
TEST(SafetensorsTest, AFileWrittenByHandIsRead) {
    const std::string bytes(
        "\x90\x00\x00\x00\x00\x00\x00\x00"
        "{\"__metadata__\":{\"format\":\"pt\"},"                             // 32 bytes
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"   // 54
        "\"W\":{\"shape\":[2,1],\"data_offsets\":[0,8],\"dtype\":\"F32\"}}"  // 55
        "   "                                                                // 3
        "\x00\x00\x80\x3f\x00\x00\x00\xc0"                                   // W: 1, -2
        "\x00\x00\x00\x3f\x00\x00\x40\x40",                                  // b: 0.5, 3
        8 + 144 + 16);
    const Tensors tensors = read(bytes);
    EXPECT_EQ(tensors.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
    ASSERT_EQ(tensors.tensors.size(), 2u);
    EXPECT_EQ(tensors.tensors[0].name, "W");
    EXPECT_FALSE(tensors.tensors[0].is_vector);
    EXPECT_EQ(tensors.tensors[0].values, (Matrix(2, 1) << 1, -2).finished());
    EXPECT_EQ(tensors.tensors[1].name, "b");
    EXPECT_TRUE(tensors.tensors[1].is_vector);
    EXPECT_EQ(tensors.tensors[1].values, (Matrix(1, 2) << 0.5f, 3).finished());
}

TEST(SafetensorsTest, WhatIsWrittenIsTheFormat) {
    Tensors tensors;
    tensors.metadata["k"] = "a \"b\"\n";
    tensors.tensors.push_back({"W", (Matrix(1, 2) << 1, -2).finished()});
    tensors.tensors.push_back({"b", (Matrix(1, 1) << 0.5f).finished(), true});
    std::string header = R"({"__metadata__":{"k":"a \"b\"\n"},)" + entry("W", "[1,2]", "[0,8]") + "," +
                         entry("b", "[1]", "[8,12]") + "}";
    while (header.size() % 8 != 0) header += ' ';
    EXPECT_EQ(to_safetensors(tensors),
              file_of(header, std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x00\x3f", 12)));
    EXPECT_EQ(to_safetensors(Tensors{}), file_of("{}      "));
}

TEST(SafetensorsTest, EveryNumberComesBackToTheBit) {
    // ±0, the least denormals, the largest numbers, ±∞, a quiet and a signaling NaN with a payload.
    const Tensors tensors = of_bits({0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x7f7fffff, 0xff7fffff,
                                     0x7f800000, 0xff800000, 0x7fc00000, 0xffc00123, 0x7f800001, 0x3f800000});
    const Matrix &values = tensors.tensors[0].values, back = read(to_safetensors(tensors)).tensors[0].values;
    ASSERT_EQ(back.size(), values.size());
    EXPECT_EQ(std::memcmp(back.data(), values.data(), 13 * sizeof(float)), 0);
}

TEST(SafetensorsTest, NamesShapesRanksAndMetadataComeBack) {
    Tensors tensors;
    tensors.metadata = {{"", ""}, {"attnscope", "{\"note\": \"Grüße 😀\\n\"}"}};
    tensors.tensors.push_back({"2.W_q", Matrix::Random(3, 5)});
    tensors.tensors.push_back({"1.b_1", Matrix::Random(1, 4), true});
    tensors.tensors.push_back({"ein \"Name\"", Matrix::Random(1, 4)});
    const Tensors again = read(to_safetensors(tensors));
    EXPECT_EQ(again.metadata, tensors.metadata);
    ASSERT_EQ(again.tensors.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again.tensors[i].name, tensors.tensors[i].name);
        EXPECT_EQ(again.tensors[i].is_vector, tensors.tensors[i].is_vector);
        EXPECT_EQ(again.tensors[i].values, tensors.tensors[i].values);
    }
}

TEST(SafetensorsTest, AHeaderMayHaveSpacesAfterItAndNoTensor) {
    EXPECT_TRUE(read(file_of("{}")).tensors.empty());
    EXPECT_TRUE(read(file_of("{}     ")).tensors.empty());
    EXPECT_TRUE(read(file_of(R"({"__metadata__":{}})")).metadata.empty());
}

TEST(SafetensorsTest, WhatBreaksARuleOfTheFormatIsRefused) {
    const std::string W = entry("W", "[1]", "[0,4]"), again = ": save it again with safetensors' save_file",
                      copy = ": the file is not a safetensors file, or is damaged; copy it again";
    const auto tensor = [](const std::string& fields) {
        return file_of("{\"W\":{" + fields + "}}", zeros(4));
    };
    struct Row {
        std::string bytes, message;
    };
    const Row rows[] = {
        {"", "the file is cut off within its first 8 bytes: copy it again"},
        {zeros(7), "the file is cut off within its first 8 bytes: copy it again"},
        {zeros(8), "its header does not begin with {" + copy},
        {zeros(8) + "{}", "its header does not begin with {" + copy},
        {file_of("{}").substr(0, 8),
         "the file is cut off: its header has 2 bytes, and 0 are there; copy it again"},
        {file_of("{}").substr(0, 9),
         "the file is cut off: its header has 2 bytes, and 1 are there; copy it again"},
        {file_of(" {}"), "its header does not begin with {" + copy},
        {file_of("[]"), "its header does not begin with {" + copy},
        {std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10),
         "its first 8 bytes announce a header of 100000001 bytes, and the limit is 100000000" + copy},
        {std::string(8, '\xff') + "{}",
         "its first 8 bytes announce a header of 18446744073709551615 bytes, and the limit is 100000000" +
             copy},
        {"version https://git-lfs.github.com/spec/v1\n",
         "its first 8 bytes announce a header of 2336927755350992246 bytes, and the limit is 100000000" +
             copy},
        // JSON
        {file_of("{"), "its header is not valid JSON at byte 10" + again},
        {file_of("{} x"), "its header is not valid JSON at byte 12" + again},
        {file_of("{}" + zeros(2)), "its header is not valid JSON at byte 11" + again},
        {file_of("{" + W + ",}", zeros(4)), "its header is not valid JSON at byte 63" + again},
        {file_of("{\"\xff\":{}}"), "its header is not valid JSON at byte 11" + again},
        {file_of(R"({"W":1})"), "the tensor \"W\" is not an object {…}" + again},
        {file_of(R"({"W":[]})"), "the tensor \"W\" is not an object {…}" + again},
        {file_of(R"({"W":null})"), "the tensor \"W\" is not an object {…}" + again},
        {file_of(R"({"__metadata__":"x"})"), "__metadata__ is not an object {…}" + again},
        {file_of(R"({"__metadata__":{"k":1}})"), "the key \"k\" of __metadata__ is not a string" + again},
        {file_of(R"({"__metadata__":{"k":{}}})"), "the key \"k\" of __metadata__ is not a string" + again},
        // names
        {file_of("{" + W + "," + W + "}", zeros(4)),
         "the tensor \"W\" appears twice in the header: give each a name of its own"},
        {file_of("{" + W + "," + entry("\\u0057", "[1]", "[4,8]") + "}", zeros(8)),
         "the tensor \"W\" appears twice in the header: give each a name of its own"},
        {file_of(R"({"__metadata__":{"k":"1","k":"2"}})"),
         "the key \"k\" of __metadata__ appears twice in the header: give each a name of its own"},
        {file_of(R"({"__metadata__":{},"__metadata__":{}})"),
         "__metadata__ appears twice in the header: give each a name of its own"},
        {tensor(R"("dtype":"F32","dtype":"F32")"),
         "the field \"dtype\" of the tensor \"W\" appears twice in the header: give each a name of its own"},
        // fields
        {tensor(R"("dtype":"F32","shape":[1])"),
         "the tensor \"W\" lacks one of dtype, shape and data_offsets" + again},
        {tensor(R"("strides":[1])"),
         "the field \"strides\" of the tensor \"W\" is not a field of the format" + again},
        {tensor(R"("dtype":[])"), "the field \"dtype\" of the tensor \"W\" is not a string" + again},
        {tensor(R"("shape":"1")"), "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("shape":[1.5])"),
         "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("shape":[-1])"), "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("shape":[[1]])"),
         "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("shape":[18446744073709551616])"),
         "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])"),
         "the field \"shape\" of the tensor \"W\" is not a list of sizes" + again},
        {tensor(R"("data_offsets":[0])"),
         "the field \"data_offsets\" of the tensor \"W\" is not two whole numbers, [begin, end]" + again},
        {tensor(R"("data_offsets":[0,4,8])"),
         "the field \"data_offsets\" of the tensor \"W\" is not two whole numbers, [begin, end]" + again},
        // types and shapes
        {file_of(R"({"W":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", zeros(4)),
         "the tensor \"W\" has the type \"BF16\": save it as float32 (F32)"},
        {file_of("{" + entry("W", "[]", "[0,4]") + "}", zeros(4)),
         "the tensor \"W\" has the shape []: a vector has one dimension and a matrix has two"},
        {file_of("{" + entry("W", "[1,1,1]", "[0,4]") + "}", zeros(4)),
         "the tensor \"W\" has the shape [1, 1, 1]: a vector has one dimension and a matrix has two"},
        {file_of("{" + entry("W", "[0]", "[0,0]") + "}"),
         "the tensor \"W\": it has no numbers: give one row or more"},
        {file_of("{" + entry("W", "[2,1]", "[0,4]") + "}", zeros(4)),
         "the tensor \"W\" of shape [2, 1] takes 8 bytes as F32, and its data_offsets span 4" + again},
        // 2⁶² · 4 · 4 bytes are 0 in 64 bits.
        {file_of("{" + entry("W", "[4611686018427387904,4]", "[0,0]") + "}"),
         "the tensor \"W\": it has 4611686018427387904 × 4 numbers, and a matrix may have at most 65536 rows "
         "and columns and 67108864 numbers in total: use a part of it"},
        // offsets
        {file_of("{" + entry("W", "[1]", "[4,0]") + "}", zeros(4)),
         "the tensor \"W\" ends at byte 0 and begins at 4" + again},
        {file_of("{" + W + "}", zeros(3)),
         "the file is cut off: its tensors have 4 bytes, and 3 are there; copy it again"},
        {file_of("{" + entry("W", "[1]", "[0,18446744073709551615]") + "}", zeros(4)),
         "the file is cut off: its tensors have 18446744073709551615 bytes, and 4 are there; copy it again"},
        {file_of("{" + W + "}", zeros(5)), "1 bytes that belong to no tensor follow the last one" + again},
        {file_of("{}", zeros(1)), "1 bytes that belong to no tensor follow the last one" + again},
        {file_of("{" + entry("W", "[1]", "[4,8]") + "}", zeros(8)),
         "there is a gap of 4 bytes before the tensor \"W\": leave no bytes between tensors"},
        {file_of("{" + W + "," + entry("b", "[1]", "[8,12]") + "}", zeros(12)),
         "there is a gap of 4 bytes before the tensor \"b\": leave no bytes between tensors"},
        {file_of("{" + entry("b", "[1]", "[2,6]") + "," + W + "}", zeros(6)),
         "the tensor \"b\" begins at byte 2, and the one before ends at 4: they overlap; save them without "
         "overlap"},
        {file_of("{" + W + "," + entry("b", "[1]", "[0,4]") + "}", zeros(4)),
         "the tensor \"b\" begins at byte 0, and the one before ends at 4: they overlap; save them without "
         "overlap"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(refusal_of(row.bytes), "run.safetensors: " + row.message)
            << message_text(row.bytes.substr(0, 150), 200);
}

TEST(SafetensorsTest, AFileCutOffAnywhereIsRefused) {
    const std::string whole = to_safetensors(of_bits({1, 2, 3}));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(refusal_of(whole.substr(0, size)).find("cut off"), std::string::npos) << size;
    EXPECT_NE(refusal_of(whole + "x"), "accepted");
}

TEST(SafetensorsTest, ANameInAMessageIsShortAndOneLine) {
    const std::string name = "a\\n" + std::string(5000, 'x') + "\\u202e";
    const std::string message = refusal_of(file_of("{" + entry(name, "[1,1,1]", "[0,4]") + "}", zeros(4)));
    EXPECT_LT(message.size(), 250u);
    EXPECT_EQ(message.find("\u202e"), std::string::npos);
}

TEST(SafetensorsTest, MoreTensorsThanAnyFileHasAreRefused) {
    std::string header = "{", metadata = R"({"__metadata__":{)";
    for (std::size_t i = 0; i <= k_max_tensors; ++i) {
        const std::string name = std::to_string(i), comma = i == 0 ? "" : ",";
        header +=
            comma + entry(name, "[1]", "[" + std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]");
        metadata += comma + "\"" + name + "\":\"\"";
    }
    const std::string message =
        "run.safetensors: its header has more than 10000 names: use a file with fewer tensors";
    EXPECT_EQ(refusal_of(file_of(header + "}", zeros(4 * k_max_tensors + 4))), message);
    EXPECT_EQ(refusal_of(file_of(metadata + "}}")), message);
}

TEST(SafetensorsTest, AKeyThatIsRequiredIsLookedForBeforeTheTensors) {
    const std::string half = R"("W":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})";
    const std::string lacks =
        "run.safetensors: its metadata has no \"attnscope\": open a file that attnscope wrote";
    EXPECT_EQ(refusal_of(file_of("{" + half, zeros(4)), "attnscope"), lacks);
    EXPECT_EQ(refusal_of(file_of(R"({"__metadata__":{"format":"pt"},)" + half, zeros(4)), "attnscope"),
              lacks);
    EXPECT_EQ(refusal_of(file_of(R"({"__metadata__":{"attnscope":""},)" + half, zeros(4)), "attnscope"),
              "run.safetensors: the tensor \"W\" has the type \"F16\": save it as float32 (F32)");
}

TEST(SafetensorsTest, AFileIsRecognizedByItsStart) {
    EXPECT_TRUE(is_safetensors(to_safetensors(of_bits({1}))));
    EXPECT_TRUE(is_safetensors(file_of("{}")));
    for (const char* text : {"", "{}", R"({"version": 1})", "        {", "{\n  \"ver{"})
        EXPECT_FALSE(is_safetensors(text)) << text;
    EXPECT_FALSE(is_safetensors(file_of("[]")));
    EXPECT_FALSE(is_safetensors(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)));
}

TEST(SafetensorsTest, WhatCouldNotBeReadAgainIsNotWritten) {
    Tensors tensors;
    tensors.metadata["k"] = std::string(k_max_safetensors_header_bytes, 'x');
    try {
        to_safetensors(tensors);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_STREQ(error.what(),
                     "the header has 100000032 bytes as safetensors, and the limit is 100000000: use smaller "
                     "matrices and pictures");
    }
}

TEST(SafetensorsTest, AFullDiskLeavesNoPieceAndTheOldFile) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("run.safetensors"), old = to_safetensors(of_bits({1}));
    write_file(path, old);
    FileCalls full;
    full.write = [](int, const void*, std::size_t) -> ssize_t {
        errno = ENOSPC;
        return -1;
    };
    EXPECT_THROW(write_file(path, to_safetensors(of_bits({2})), full), Error);
    EXPECT_EQ(read_file(path), old);
    EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace attnscope
