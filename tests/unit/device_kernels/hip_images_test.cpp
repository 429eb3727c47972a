// SPDX-License-Identifier: BSD-3-Clause
// The images that hipcc made, as they lie in this program: each family's bundle has a code object for every
// architecture, of that architecture, with exactly the family's kernels.
#include "collectives/reduction/device/fold_parameters.hpp"
#include "collectives/reduction/device/hip_kernel_image.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>

namespace peercoll::test {
namespace {

using Bytes = std::span<const char>;

// A copy, so that alignment does not matter; nothing is read outside of `bytes`.
template <typename T>
T read_at(Bytes bytes, std::size_t offset) {
    T value{};
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) {
        ADD_FAILURE() << "reading " << sizeof value << " bytes at " << offset << " of " << bytes.size();
        return value;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

Bytes part(Bytes bytes, std::size_t offset, std::size_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        ADD_FAILURE() << "the part of " << size << " bytes at " << offset << " is not inside of " << bytes.size();
        return {};
    }
    return bytes.subspan(offset, size);
}

std::string text_at(Bytes bytes, std::size_t offset) {
    const Bytes rest = part(bytes, offset, bytes.size() - std::min(offset, bytes.size()));
    return {rest.data(), strnlen(rest.data(), rest.size())};
}

// Code objects by architecture. A bundle begins with a magic text and a count; each entry has an offset, a size, and a
// name such as "hipv4-amdgcn-amd-amdhsa--gfx90a".
std::map<std::string, Bytes> code_objects(Bytes bundle) {
    const std::string magic = "__CLANG_OFFLOAD_BUNDLE__";
    std::map<std::string, Bytes> found;
    EXPECT_EQ(std::string(bundle.data(), std::min(bundle.size(), magic.size())), magic);
    std::size_t at = magic.size();
    const auto count = read_at<std::uint64_t>(bundle, at);
    at += 8;
    for (std::uint64_t i = 0; i < count && i < 64; ++i) {
        const auto offset = read_at<std::uint64_t>(bundle, at);
        const auto size = read_at<std::uint64_t>(bundle, at + 8);
        const auto name_size = read_at<std::uint64_t>(bundle, at + 16);
        const Bytes name = part(bundle, at + 24, name_size);
        at += 24 + name_size;
        const std::string text(name.data(), name.size());
        const std::size_t dashes = text.find("--");
        // The host's entry is empty.
        if (text.starts_with("hip") && dashes != std::string::npos)
            found[text.substr(dashes + 2)] = part(bundle, offset, size);
    }
    return found;
}

// The kernels that a code object gives to the outside: each has a descriptor, "<name>.kd".
std::set<std::string> kernels_of(Bytes object) {
    std::set<std::string> kernels;
    const auto header = read_at<Elf64_Ehdr>(object, 0);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const auto section = read_at<Elf64_Shdr>(object, header.e_shoff + i * header.e_shentsize);
        if (section.sh_type != SHT_DYNSYM) continue;
        const auto strings = read_at<Elf64_Shdr>(object, header.e_shoff + section.sh_link * header.e_shentsize);
        const Bytes names = part(object, strings.sh_offset, strings.sh_size);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read_at<Elf64_Sym>(object, section.sh_offset + at);
            const std::string name = text_at(names, symbol.st_name);
            if (symbol.st_shndx != SHN_UNDEF && name.ends_with(".kd")) kernels.insert(name.substr(0, name.size() - 3));
        }
    }
    return kernels;
}

std::set<std::string> kernels_of_family(int family) {
    std::set<std::string> kernels;
    for (std::size_t i = 0; fold_kernel_name_at(i) != nullptr; ++i)
        if (fold_kernel_family_at(i) == family) kernels.insert(fold_kernel_name_at(i));
    return kernels;
}

std::set<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::set<std::string> words;
    for (std::string word; in >> word;) words.insert(word);
    return words;
}

// By LLVM's list of AMD's machines (EF_AMDGPU_MACH), for those of Debian's compiler.
const std::map<std::string, unsigned> machines = {
    {"gfx906", 0x2f}, {"gfx908", 0x30}, {"gfx90a", 0x3f}, {"gfx1030", 0x36}};

class HipImages : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Families, HipImages, testing::Range(0, fold_kernel_families));

TEST_P(HipImages, HaveEachArchitectureWithTheFamilysKernels) {
    const KernelImage* const image = hip_kernel_image(GetParam());
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(words_of(image->text), words_of(PEERCOLL_HIP_ARCHITECTURES));
    const std::set<std::string> expected = kernels_of_family(GetParam());
    ASSERT_FALSE(expected.empty());
    const auto objects = code_objects({static_cast<const char*>(image->data), image->bytes});
    EXPECT_EQ(objects.size(), words_of(image->text).size());
    for (const std::string& architecture : words_of(image->text)) {
        SCOPED_TRACE(architecture);
        ASSERT_TRUE(objects.contains(architecture));
        const Bytes object = objects.at(architecture);
        const auto header = read_at<Elf64_Ehdr>(object, 0);
        ASSERT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
        EXPECT_EQ(header.e_machine, 224) << "AMD's devices";
        if (machines.contains(architecture)) {
            EXPECT_EQ(header.e_flags & 0xff, machines.at(architecture));
        }
        EXPECT_EQ(kernels_of(object), expected);
    }
}

TEST(HipImages, AreForTheArchitecturesThatDebiansCompilerHas) {
    if (std::string(PEERCOLL_HIPCC) != "/usr/bin/hipcc") GTEST_SKIP() << "compiled by " << PEERCOLL_HIPCC;
    const std::set<std::string> built = words_of(PEERCOLL_HIP_ARCHITECTURES);
    for (const auto& [architecture, machine] : machines) EXPECT_TRUE(built.contains(architecture)) << architecture;
}

TEST(HipImages, ThereAreNoneBesidesTheFamilies) {
    EXPECT_EQ(hip_kernel_image(-1), nullptr);
    EXPECT_EQ(hip_kernel_image(fold_kernel_families), nullptr);
}

}  // namespace
}  // namespace peercoll::test
