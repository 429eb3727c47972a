// SPDX-License-Identifier: BSD-3-Clause
// What the tests of collectives on device memory share: arrays of elements with and without gaps in host or device
// memory, and the three forms of a collective.
#pragma once

#include "device_memory.hpp"

#include <functional>
#include <string>
#include <vector>

#if OMPI_MAJOR_VERSION < 5  // where persistent collectives are an extension
#include <mpi-ext.h>
#define TEST_PERSISTENT(name) MPIX_##name##_init
#else
#define TEST_PERSISTENT(name) MPI_##name##_init
#endif

namespace test {

constexpr int guard = -7;  // in all that is not data

// An element: `stride` ints, of which those at `data` are data.
struct Shape {
    const char* name;
    MPI_Datatype type;
    MPI_Op sum;
    int stride;
    std::vector<int> data;
};

inline void add_gapped(void* in, void* inout, int* length, MPI_Datatype*) {
    for (int element = 0; element < *length; ++element) {
        for (const int at : {0, 2}) {
            static_cast<int*>(inout)[4 * element + at] += static_cast<int*>(in)[4 * element + at];
        }
    }
}

// Elements in one piece, and elements of four ints of which the second and the last are somebody else's.
class Shapes {
public:
    Shapes() {
        MPI_Datatype every_other = MPI_DATATYPE_NULL;
        MPI_Datatype gapped = MPI_DATATYPE_NULL;
        MPI_Op sum = MPI_OP_NULL;
        MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
        MPI_Type_create_resized(every_other, 0, 4 * sizeof(int), &gapped);
        MPI_Type_free(&every_other);
        MPI_Type_commit(&gapped);
        MPI_Op_create(add_gapped, 1, &sum);
        all = {{"ints", MPI_INT, MPI_SUM, 1, {0}}, {"elements with gaps", gapped, sum, 4, {0, 2}}};
    }
    Shapes(const Shapes&) = delete;
    Shapes& operator=(const Shapes&) = delete;
    ~Shapes() {
        MPI_Type_free(&all[1].type);
        MPI_Op_free(&all[1].sum);
    }
    std::vector<Shape> all;
};

enum class Place { host, device };

// Value of the datum `k` of an element.
using Values = std::function<int(int element, int k)>;

// What is being tested, for messages.
inline std::string& current_call() {
    static std::string name;
    return name;
}

inline int untouched(int, int) {
    return guard;
}

class Array {
public:
    Array(const Driver& driver, Place place, const Shape& shape, int elements)
        : driver_(&driver), place_(place), shape_(&shape), image_(static_cast<std::size_t>(elements) * shape.stride) {
        if (place == Place::device) {
            memory_ = static_cast<int*>(driver.allocate((image_.size() + 1) * sizeof(int)));
        }
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() {
        if (memory_ != nullptr) {
            driver_->free(memory_);
        }
    }

    int* address() { return place_ == Place::device ? memory_ : image_.data(); }
    int elements() const { return static_cast<int>(image_.size()) / shape_->stride; }
    bool on_device() const { return place_ == Place::device; }

    void fill(const Values& values) {
        for (int& number : image_) {
            number = guard;
        }
        for (int element = 0; element < elements(); ++element) {
            for (std::size_t k = 0; k < shape_->data.size(); ++k) {
                image_[element * shape_->stride + shape_->data[k]] = values(element, static_cast<int>(k));
            }
        }
        if (on_device() && !image_.empty()) {
            driver_->upload(memory_, image_.data(), image_.size() * sizeof(int));
        }
    }
    // Data has these values, and everything else is as it was.
    void expect(const Values& values) {
        if (on_device() && !image_.empty()) {
            driver_->download(image_.data(), memory_, image_.size() * sizeof(int));
        }
        std::vector<int> expected(image_.size(), guard);
        for (int element = 0; element < elements(); ++element) {
            for (std::size_t k = 0; k < shape_->data.size(); ++k) {
                expected[element * shape_->stride + shape_->data[k]] = values(element, static_cast<int>(k));
            }
        }
        for (std::size_t i = 0; i < image_.size(); ++i) {
            require(image_[i] == expected[i], "%s: number %zu of %zu is %d and not %d", current_call().c_str(), i,
                    image_.size(), image_[i], expected[i]);
        }
    }

private:
    const Driver* driver_;
    Place place_;
    const Shape* shape_;
    std::vector<int> image_;
    int* memory_ = nullptr;
};

enum class Form { blocking, nonblocking, persistent };

inline const char* name_of(Form form) {
    return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

struct Forms {
    std::function<int()> blocking;
    std::function<int(MPI_Request*)> start;
    std::function<int(MPI_Request*)> init;
};

// Runs one form between `prepare` and `check`; persistent requests three times.
inline void run(Form form, const Forms& forms, const std::function<void()>& prepare,
                const std::function<void()>& check) {
    const char* what = current_call().c_str();
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == Form::persistent) {
        require(forms.init(&request) == MPI_SUCCESS, "%s_init failed", what);
        for (int round = 0; round < 3; ++round) {
            prepare();
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check();
        }
        MPI_Request_free(&request);
        require(request == MPI_REQUEST_NULL, "%s: the freed request is not MPI_REQUEST_NULL", what);
        return;
    }
    prepare();
    if (form == Form::blocking) {
        require(forms.blocking() == MPI_SUCCESS, "%s failed", what);
    } else {
        require(forms.start(&request) == MPI_SUCCESS, "starting %s failed", what);
        int done = 0;
        while (done == 0) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
    check();
}

}  // namespace test

// The three forms of one collective on the same arguments; the second name is that of the nonblocking one.
#define TEST_FORMS(name, iname, ...)                                                                         \
    test::Forms {                                                                                            \
        [&] { return MPI_##name(__VA_ARGS__); },                                                             \
            [&](MPI_Request* request) { return MPI_##iname(__VA_ARGS__, request); },                         \
            [&](MPI_Request* request) { return TEST_PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, request); } \
    }
