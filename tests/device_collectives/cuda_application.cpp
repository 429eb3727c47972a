// SPDX-License-Identifier: BSD-3-Clause
// An application of CUDA's driver: contexts that are retained and pushed, and memory of all kinds.
#include "plugin/device/cuda/driver_types.hpp"
#include "tests/device_collectives/application.hpp"

#include <array>

namespace peercoll::test {

namespace {

using cuda::CuAddress;

constexpr std::size_t granule = std::size_t{2} << 20;  // of physical memory
constexpr int posix_descriptor = 1;                    // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int pinned_on_device = 1;                    // CU_MEM_ALLOCATION_TYPE_PINNED

struct PoolProperties {  // CUmemPoolProps
    int type;
    int handle_types;
    cuda::CuLocation location;
    void* windows_attributes;
    std::size_t most_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};

class CudaApplication : public Application {
public:
    CudaApplication(const Face& face, const Machine& machine, bool start) : Application(face, machine) {
        if (start && loaded()) {
            expect("cuInit", 0U);
            expect("cuDeviceGetCount", &devices_);
        }
    }
    ~CudaApplication() override { leave_all(); }
    CudaApplication(const CudaApplication&) = delete;
    CudaApplication& operator=(const CudaApplication&) = delete;

    // The primary context, as the CUDA runtime does.
    void enter(int device) const override {
        cuda::CuContext context = nullptr;
        expect("cuDevicePrimaryCtxRetain", &context, ordinal(device));
        expect("cuCtxPushCurrent_v2", context);
    }
    void leave(int device) const override {
        cuda::CuContext popped = nullptr;
        expect("cuCtxPopCurrent_v2", &popped);
        expect("cuDevicePrimaryCtxRelease_v2", ordinal(device));
    }

    Piece allocate(Memory kind, std::size_t bytes, int wanted) const override {
        const int device = ordinal(wanted);
        CuAddress address = 0;
        void* memory = nullptr;
        switch (kind) {
            case Memory::Pinned:
                expect("cuMemHostAlloc", &memory, bytes, 0U);
                return {reinterpret_cast<std::uintptr_t>(memory), bytes, nullptr};
            case Memory::Managed:
                expect("cuMemAllocManaged", &address, bytes, 1U);
                return {address, bytes, nullptr};
            case Memory::DefaultPool:
                expect("cuMemAllocAsync", &address, bytes, cuda::CuStream{nullptr});
                expect("cuCtxSynchronize");
                return {address, bytes, nullptr};
            case Memory::SharedPool:
                return from_shared_pool(bytes, device);
            case Memory::Physical:
                return physical(bytes, 0, device);
            case Memory::SharedPhysical:
                return physical(bytes, posix_descriptor, device);
            default:
                expect("cuMemAlloc_v2", &address, bytes);
                return {address, bytes, nullptr};
        }
    }

    void free(Memory kind, const Piece& piece) const override {
        switch (kind) {
            case Memory::Pinned:
                expect("cuMemFreeHost", reinterpret_cast<void*>(piece.address));
                break;
            case Memory::DefaultPool:
            case Memory::SharedPool:
                expect("cuMemFreeAsync", CuAddress{piece.address}, cuda::CuStream{nullptr});
                expect("cuCtxSynchronize");
                if (piece.pool != nullptr) {
                    expect("cuMemPoolDestroy", static_cast<cuda::CuMemoryPool>(piece.pool));
                }
                break;
            case Memory::Physical:
            case Memory::SharedPhysical:
                expect("cuMemUnmap", CuAddress{piece.address}, piece.bytes);
                expect("cuMemAddressFree", CuAddress{piece.address}, piece.bytes);
                break;
            default:
                expect("cuMemFree_v2", CuAddress{piece.address});
        }
    }

    void upload(std::uint64_t to, const void* from, std::size_t bytes) const override {
        expect("cuMemcpyHtoD_v2", CuAddress{to}, from, bytes);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) const override {
        expect("cuMemcpyDtoH_v2", to, CuAddress{from}, bytes);
    }

    std::uint64_t bytes_in_use() const override {
        std::size_t unused = 0;
        std::size_t all = 0;
        expect("cuMemGetInfo_v2", &unused, &all);
        return all - unused;
    }
    std::string pci_id(int device) const override {
        std::array<char, 16> text{};
        expect("cuDeviceGetPCIBusId", text.data(), static_cast<int>(text.size()), ordinal(device));
        return text.data();
    }

private:
    // A machine may have fewer devices than a test's node; ranks share them then.
    int ordinal(int device) const { return face().simulated || devices_ == 0 ? device : device % devices_; }

    int devices_ = 0;

    Piece from_shared_pool(std::size_t bytes, int device) const {
        PoolProperties properties{};
        properties.type = pinned_on_device;
        properties.handle_types = posix_descriptor;
        properties.location = {cuda::location_device, device};
        cuda::CuMemoryPool pool = nullptr;
        expect("cuMemPoolCreate", &pool, static_cast<const PoolProperties*>(&properties));
        CuAddress address = 0;
        expect("cuMemAllocFromPoolAsync", &address, bytes, pool, cuda::CuStream{nullptr});
        expect("cuCtxSynchronize");
        return {address, bytes, pool};
    }

    Piece physical(std::size_t wanted, int handle_types, int device) const {
        const std::size_t bytes = (wanted + granule - 1) / granule * granule;
        cuda::CuAllocationProperties properties{};
        properties.type = pinned_on_device;
        properties.handle_types = handle_types;
        properties.location = {cuda::location_device, device};
        cuda::CuAllocation allocation = 0;
        expect("cuMemCreate", &allocation, bytes, static_cast<const cuda::CuAllocationProperties*>(&properties), 0ULL);
        CuAddress address = 0;
        expect("cuMemAddressReserve", &address, bytes, std::size_t{0}, CuAddress{0}, 0ULL);
        expect("cuMemMap", address, bytes, std::size_t{0}, allocation, 0ULL);
        const cuda::CuAccess access = {{cuda::location_device, device}, cuda::access_read_write};
        expect("cuMemSetAccess", address, bytes, &access, std::size_t{1});
        expect("cuMemRelease", allocation);
        return {address, bytes, nullptr};
    }
};

}  // namespace

std::unique_ptr<Application> load_cuda_application(const Face& face, const Machine& machine, bool start) {
    return std::make_unique<CudaApplication>(face, machine, start);
}

}  // namespace peercoll::test
