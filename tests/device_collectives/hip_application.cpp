// SPDX-License-Identifier: BSD-3-Clause
// An application of HIP: a current device for each thread, and memory as hipMalloc and its relatives give it.
#include "tests/device_collectives/application.hpp"

#include <array>

namespace peercoll::test {

namespace {

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

class HipApplication : public Application {
public:
    HipApplication(const Face& face, const Machine& machine) : Application(face, machine) {}
    ~HipApplication() override { leave_all(); }
    HipApplication(const HipApplication&) = delete;
    HipApplication& operator=(const HipApplication&) = delete;

    void enter(int device) const override { expect("hipSetDevice", device); }
    void leave(int) const override {}  // HIP counts no users of a device

    Piece allocate(Memory kind, std::size_t bytes, int) const override {
        void* memory = nullptr;
        switch (kind) {
            case Memory::Pinned:
                expect("hipHostMalloc", &memory, bytes, 0U);
                break;
            case Memory::Managed:
                expect("hipMallocManaged", &memory, bytes, 1U);
                break;
            case Memory::DefaultPool:
                expect("hipMallocAsync", &memory, bytes, no_stream);
                expect("hipDeviceSynchronize");
                break;
            case Memory::Device:
                expect("hipMalloc", &memory, bytes);
                break;
            default:
                ADD_FAILURE() << "applications of HIP have no " << kind << " memory";
        }
        return {reinterpret_cast<std::uintptr_t>(memory), bytes, nullptr};
    }

    void free(Memory kind, const Piece& piece) const override {
        switch (kind) {
            case Memory::Pinned:
                expect("hipHostFree", pointer(piece.address));
                break;
            case Memory::DefaultPool:
                expect("hipFreeAsync", pointer(piece.address), no_stream);
                expect("hipDeviceSynchronize");
                break;
            default:
                expect("hipFree", pointer(piece.address));
        }
    }

    void upload(std::uint64_t to, const void* from, std::size_t bytes) const override {
        constexpr int host_to_device = 1;
        expect("hipMemcpy", pointer(to), from, bytes, host_to_device);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) const override {
        constexpr int device_to_host = 2;
        expect("hipMemcpy", to, static_cast<const void*>(pointer(from)), bytes, device_to_host);
    }

    std::uint64_t bytes_in_use() const override {
        std::size_t unused = 0;
        std::size_t all = 0;
        expect("hipMemGetInfo", &unused, &all);
        return all - unused;
    }
    std::string pci_id(int device) const override {
        std::array<char, 16> text{};
        expect("hipDeviceGetPCIBusId", text.data(), static_cast<int>(text.size()), device);
        return text.data();
    }

private:
    static constexpr void* no_stream = nullptr;
};

}  // namespace

std::unique_ptr<Application> load_hip_application(const Face& face, const Machine& machine) {
    return std::make_unique<HipApplication>(face, machine);
}

}  // namespace peercoll::test
