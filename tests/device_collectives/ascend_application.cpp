// SPDX-License-Identifier: BSD-3-Clause
// An application of Ascend's ACL: initialised first, a device chosen and given back by each thread, copies that say
// their kind.
#include "tests/device_collectives/application.hpp"

#include <array>

namespace peercoll::test {

namespace {

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

class AscendApplication : public Application {
public:
    AscendApplication(const Face& face, const Machine& machine, bool start) : Application(face, machine) {
        if (start && loaded()) {
            expect("aclInit", static_cast<const char*>(nullptr));
        }
    }
    ~AscendApplication() override { leave_all(); }
    AscendApplication(const AscendApplication&) = delete;
    AscendApplication& operator=(const AscendApplication&) = delete;

    void enter(int device) const override { expect("aclrtSetDevice", device); }
    void leave(int device) const override { expect("aclrtResetDevice", device); }

    Piece allocate(Memory kind, std::size_t bytes, int) const override {
        void* memory = nullptr;
        if (kind == Memory::Pinned) {
            expect("aclrtMallocHost", &memory, bytes);
        } else if (kind == Memory::Device) {
            constexpr int huge_pages_first = 0;
            expect("aclrtMalloc", &memory, bytes, huge_pages_first);
        } else {
            ADD_FAILURE() << "applications of ACL have no " << kind << " memory";
        }
        return {reinterpret_cast<std::uintptr_t>(memory), bytes, nullptr};
    }
    void free(Memory kind, const Piece& piece) const override {
        expect(kind == Memory::Pinned ? "aclrtFreeHost" : "aclrtFree", pointer(piece.address));
    }

    void upload(std::uint64_t to, const void* from, std::size_t bytes) const override {
        constexpr int host_to_device = 1;
        expect("aclrtMemcpy", pointer(to), bytes, from, bytes, host_to_device);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) const override {
        constexpr int device_to_host = 2;
        expect("aclrtMemcpy", to, bytes, static_cast<const void*>(pointer(from)), bytes, device_to_host);
    }

    std::uint64_t bytes_in_use() const override {
        constexpr int device_memory = 1;
        std::size_t unused = 0;
        std::size_t all = 0;
        expect("aclrtGetMemInfo", device_memory, &unused, &all);
        return all - unused;
    }
    std::string pci_id(int device) const override {
        std::array<char, 16> text{};
        expect("aclrtDeviceGetPCIBusId", device, text.data(), static_cast<int>(text.size()));
        return text.data();
    }
};

}  // namespace

std::unique_ptr<Application> load_ascend_application(const Face& face, const Machine& machine, bool start) {
    return std::make_unique<AscendApplication>(face, machine, start);
}

}  // namespace peercoll::test
