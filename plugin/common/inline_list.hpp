// SPDX-License-Identifier: BSD-3-Clause
// InlineList: up to N plain values in the object itself. For lists that are made in every call: nothing is allocated,
// and only what is there is initialised and copied.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

namespace peercoll {

template <typename T, std::size_t N>
class InlineList {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    // Not "= default", which would clear the memory where a list is value-initialised.
    InlineList() noexcept {}  // NOLINT(modernize-use-equals-default)
    InlineList(const InlineList& other) noexcept { copy(other); }
    InlineList& operator=(const InlineList& other) noexcept {
        if (this != &other) copy(other);
        return *this;
    }
    ~InlineList() = default;

    void push_back(const T& value) {
        assert(size_ < N);
        new (storage_ + sizeof(T) * size_) T(value);
        ++size_;
    }
    void clear() { size_ = 0; }
    // Keeps the first `size`.
    void shorten(std::size_t size) {
        assert(size <= size_);
        size_ = size;
    }
    // Leaves out those for which `unwanted` holds.
    template <typename Predicate>
    void erase_if(Predicate unwanted) {
        std::size_t kept = 0;
        for (const T& value : *this)
            if (!unwanted(value)) (*this)[kept++] = value;
        size_ = kept;
    }

    T* data() { return reinterpret_cast<T*>(storage_); }
    const T* data() const { return reinterpret_cast<const T*>(storage_); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }

private:
    void copy(const InlineList& other) noexcept {
        size_ = other.size_;
        std::memcpy(storage_, other.storage_, sizeof(T) * size_);
    }

    std::size_t size_ = 0;
    alignas(T) std::byte storage_[sizeof(T) * N];
};

}  // namespace peercoll
