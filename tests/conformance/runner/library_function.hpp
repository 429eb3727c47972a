// SPDX-License-Identifier: BSD-3-Clause
// A function of the vendor's library, found by its name. One that the library does not have makes the behaviour a
// skipped one.
#pragma once

#include "tests/conformance/runner/scene.hpp"

#include <string>

namespace peercoll::conformance {

// `find`: the address of a symbol in the library, null if it is not there.
template <void* (*find)(const char* symbol), typename Signature>
class LibraryFunction;

template <void* (*find)(const char* symbol), typename Result, typename... Arguments>
class LibraryFunction<find, Result(Arguments...)> {
public:
    explicit LibraryFunction(const char* symbol)
        : symbol_(symbol), function_(reinterpret_cast<Result (*)(Arguments...)>(find(symbol))) {}

    Result operator()(Arguments... arguments) const {
        if (function_ == nullptr) throw SkipReason(std::string("the library has no ") + symbol_);
        return function_(arguments...);
    }
    explicit operator bool() const { return function_ != nullptr; }

private:
    const char* symbol_;
    Result (*function_)(Arguments...);
};

}  // namespace peercoll::conformance
