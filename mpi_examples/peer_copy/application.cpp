// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_examples/peer_copy/application.hpp"

#include "mpi_examples/peer_copy/failure.hpp"

#include <dlfcn.h>

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace peercoll::peer_copy {

namespace {

// Stays loaded: vendors' libraries do not like to be unloaded.
class Library {
public:
    Library(const std::string& wanted, const std::vector<std::string>& usual) {
        std::vector<std::string> problems;
        for (const std::string& name : wanted.empty() ? usual : std::vector<std::string>{wanted}) {
            handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
            if (handle_ != nullptr) return;
            problems.emplace_back(::dlerror());
        }
        throw Failure(fmt::format("the vendor's library cannot be loaded: {}", fmt::join(problems, "; ")));
    }
    template <typename Function>
    void find(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(::dlsym(handle_, name));
        if (function == nullptr) throw Failure(fmt::format("the vendor's library has no {}", name));
    }

private:
    void* handle_ = nullptr;
};

void require_zero(int code, const std::string& what) {
    if (code != 0) throw Failure(fmt::format("{} answered {}, expected 0", what, code));
}

// Retains the primary contexts, as CUDA's own runtime does. cuInit is left to peercoll, which says more about a
// failure.
class CudaApplication : public Application {
public:
    explicit CudaApplication(const std::string& library) : library_(library, {"libcuda.so.1"}) {
        library_.find(get_, "cuDeviceGet");
        library_.find(retain_, "cuDevicePrimaryCtxRetain");
        library_.find(release_, "cuDevicePrimaryCtxRelease_v2");
    }
    ~CudaApplication() override {
        for (const int device : retained_) release_(device);
    }
    void stop() override {
        while (!retained_.empty()) {
            const int device = retained_.back();
            retained_.pop_back();
            require_zero(release_(device), fmt::format("cuDevicePrimaryCtxRelease of device {}", device));
        }
    }
    CudaApplication(const CudaApplication&) = delete;
    CudaApplication& operator=(const CudaApplication&) = delete;

    void use(std::int32_t device) override {
        int handle = 0;
        void* context = nullptr;
        require_zero(get_(&handle, device), fmt::format("cuDeviceGet of device {}", device));
        require_zero(retain_(&context, handle), fmt::format("cuDevicePrimaryCtxRetain of device {}", device));
        retained_.push_back(handle);
    }

private:
    Library library_;
    int (*get_)(int*, int) = nullptr;
    int (*retain_)(void**, int) = nullptr;
    int (*release_)(int) = nullptr;
    std::vector<int> retained_;
};

// Newest first; the name without a number comes with development packages only. Contexts come by themselves.
class HipApplication : public Application {
public:
    explicit HipApplication(const std::string& library)
        : library_(library, {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {}
    void use(std::int32_t) override {}
    void stop() override {}

private:
    Library library_;
};

// aclInit and aclFinalize around everything, aclrtSetDevice and aclrtResetDevice around each device.
class AscendApplication : public Application {
public:
    explicit AscendApplication(const std::string& library) : library_(library, {"libascendcl.so", "libacl_rt.so"}) {
        library_.find(finalize_, "aclFinalize");
        library_.find(set_device_, "aclrtSetDevice");
        library_.find(reset_device_, "aclrtResetDevice");
        int (*init)(const char*) = nullptr;
        library_.find(init, "aclInit");
        require_zero(init(nullptr), "aclInit");
        started_ = true;
    }
    ~AscendApplication() override {
        for (const std::int32_t device : set_) reset_device_(device);
        if (started_) finalize_();
    }
    void stop() override {
        while (!set_.empty()) {
            const std::int32_t device = set_.back();
            set_.pop_back();
            require_zero(reset_device_(device), fmt::format("aclrtResetDevice of device {}", device));
        }
        started_ = false;
        require_zero(finalize_(), "aclFinalize");
    }
    AscendApplication(const AscendApplication&) = delete;
    AscendApplication& operator=(const AscendApplication&) = delete;

    void use(std::int32_t device) override {
        require_zero(set_device_(device), fmt::format("aclrtSetDevice of device {}", device));
        set_.push_back(device);
    }

private:
    Library library_;
    int (*set_device_)(std::int32_t) = nullptr;
    int (*reset_device_)(std::int32_t) = nullptr;
    int (*finalize_)() = nullptr;
    bool started_ = false;
    std::vector<std::int32_t> set_;
};

}  // namespace

std::unique_ptr<Application> Application::start(const std::string& runtime, const std::string& library) {
    if (runtime == "cuda") return std::make_unique<CudaApplication>(library);
    if (runtime == "hip") return std::make_unique<HipApplication>(library);
    if (runtime == "ascend") return std::make_unique<AscendApplication>(library);
    throw Failure(fmt::format("how a program uses '{}' is not known here: expected cuda, hip or ascend", runtime));
}

}  // namespace peercoll::peer_copy
