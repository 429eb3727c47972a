// SPDX-License-Identifier: BSD-3-Clause
// Our declarations against CANN's headers, whichever release they are of: the compiler is the test. What a release does
// not declare is not compared: declared_functions.inc, which CMake writes, lists those that it does. A translation unit
// of its own, as these headers define a global `dim3` in C++.
#include "plugin/device/ascend/acl_api.hpp"

#include <acl/acl.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace {

// A type as a function is called with it: enumerations are int, structs are their size.
template <std::size_t size, std::size_t alignment>
struct Bytes;

template <typename Type>
struct Plain {
    using type = Type;
};
template <typename Type>
using PlainType = typename Plain<Type>::type;
template <typename Type>
requires std::is_enum_v<Type>
struct Plain<Type> {
    using type = int;
};
template <typename Type>
requires std::is_class_v<Type>
struct Plain<Type> {
    using type = Bytes<sizeof(Type), alignof(Type)>;
};
template <>
struct Plain<unsigned long> {  // std::size_t and std::uint64_t
    using type = unsigned long long;
};
template <>
struct Plain<long> {  // std::int64_t
    using type = long long;
};
template <typename Type>
struct Plain<const Type> {
    using type = const PlainType<Type>;
};
template <typename Type>
struct Plain<Type*> {
    using type = PlainType<Type>*;
};
template <typename Result, typename... Arguments>
struct Plain<Result (*)(Arguments...)> {
    using type = PlainType<Result> (*)(PlainType<Arguments>...);
};

template <typename Ours, typename Theirs>
constexpr bool agree = std::is_same_v<PlainType<Ours>, PlainType<Theirs>>;

using F = peercoll::ascend::AclFunctions;
int compared = 0;
#define PEERCOLL_AGREES(member, function)                                                   \
    static_assert(agree<decltype(F::member), decltype(&::function)>, #function " differs"); \
    ++compared

TEST(AclDeclarations, AreThoseOfTheHeaders) {
#include "declared_functions.inc"
    EXPECT_GE(compared, 24) << "all that are required are declared by every release";
}
#undef PEERCOLL_AGREES

namespace ours = peercoll::ascend;
static_assert(ours::code::success == ACL_SUCCESS);
static_assert(ours::code::invalid_param == ACL_ERROR_INVALID_PARAM);
static_assert(ours::code::uninitialized == ACL_ERROR_UNINITIALIZE);
static_assert(ours::code::repeat_initialize == ACL_ERROR_REPEAT_INITIALIZE);
static_assert(ours::code::repeat_finalize == ACL_ERROR_REPEAT_FINALIZE);
static_assert(ours::code::bad_alloc == ACL_ERROR_BAD_ALLOC);
static_assert(ours::code::api_not_support == ACL_ERROR_API_NOT_SUPPORT);
static_assert(ours::code::invalid_device == ACL_ERROR_INVALID_DEVICE);
static_assert(ours::copy_kind::host_to_device == ACL_MEMCPY_HOST_TO_DEVICE);
static_assert(ours::copy_kind::device_to_host == ACL_MEMCPY_DEVICE_TO_HOST);
static_assert(ours::copy_kind::device_to_device == ACL_MEMCPY_DEVICE_TO_DEVICE);
static_assert(ours::malloc_huge_first_p2p == ACL_MEM_MALLOC_HUGE_FIRST_P2P);
static_assert(ours::data_type::float32 == ACL_FLOAT && ours::data_type::float16 == ACL_FLOAT16);
static_assert(ours::data_type::int8 == ACL_INT8 && ours::data_type::int16 == ACL_INT16);
static_assert(ours::data_type::int32 == ACL_INT32 && ours::data_type::uint32 == ACL_UINT32);

}  // namespace
