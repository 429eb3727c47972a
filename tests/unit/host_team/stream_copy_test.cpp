// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/stream_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace peercoll {
namespace {

constexpr unsigned char untouched = 0xA5;

std::vector<unsigned char> pattern(std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 131 + i / 251);
    return data;
}

// Whether `copy` moved exactly [from, from + bytes) to [to, to + bytes) of a field of untouched bytes.
bool is_exact(CopyFunction copy, const std::vector<unsigned char>& source, std::vector<unsigned char>& field,
              std::size_t to, std::size_t from, std::size_t bytes) {
    std::fill(field.begin(), field.end(), untouched);
    copy(field.data() + to, source.data() + from, bytes);
    const auto is_untouched = [](unsigned char byte) { return byte == untouched; };
    const auto begin = field.begin() + static_cast<std::ptrdiff_t>(to);
    const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
    return std::all_of(field.begin(), begin, is_untouched) && std::all_of(end, field.end(), is_untouched) &&
           std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from));
}

TEST(StreamCopy, CopiesEveryByteAndNoOtherAtAnyAlignment) {
    const std::vector<unsigned char> source = pattern(512);
    std::vector<unsigned char> field(512);
    for (const CopyFunction copy : {stream_copy, copy_piece_of_many})
        for (std::size_t to = 0; to < 64; ++to)
            for (const std::size_t from : {0, 1, 3, 8, 15, 16, 31, 33, 63})
                for (std::size_t bytes = 0; bytes <= 270; bytes += bytes < 140 ? 1 : 7)
                    ASSERT_TRUE(is_exact(copy, source, field, to, from, bytes))
                        << bytes << " bytes from +" << from << " to +" << to;
}

TEST(StreamCopy, CopiesLargeMessages) {
    constexpr std::size_t most = std::size_t{3} << 20;
    const std::vector<unsigned char> source = pattern(most + 64);
    std::vector<unsigned char> field(most + 256);
    for (const CopyFunction copy : {stream_copy, copy_piece_of_many})
        for (const std::size_t bytes :
             {std::size_t{65536}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1, most - 63})
            for (const std::size_t to : {0, 1, 63})
                ASSERT_TRUE(is_exact(copy, source, field, to, 5, bytes)) << bytes << " bytes to +" << to;
}

TEST(StreamCopy, PiecesBehindOneFenceCopyWhatOneCopyDoes) {
    const std::vector<unsigned char> source = pattern(8192);
    const auto in_pieces = [](void* destination, const void* from, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes; done += 1000)
            stream_piece(static_cast<char*>(destination) + done, static_cast<const char*>(from) + done,
                         std::min<std::size_t>(1000, bytes - done));
        stream_fence();
    };
    std::vector<unsigned char> field(8192);
    for (const std::size_t bytes : {0, 999, 1000, 1001, 8000})
        EXPECT_TRUE(is_exact(in_pieces, source, field, 5, 3, bytes)) << bytes << " bytes";
}

TEST(StreamCopy, BothKindsOfStoresCopyTheSame) {
    const std::vector<unsigned char> source = pattern(1024);
    std::vector<unsigned char> field(1024);
    for (const Stores stores : {Stores::Cached, Stores::Streaming})
        for (const std::size_t bytes : {0, 1, 64, 900})
            EXPECT_TRUE(is_exact(copy_by(stores), source, field, 3, 7, bytes)) << bytes << " bytes";
}

}  // namespace
}  // namespace peercoll
