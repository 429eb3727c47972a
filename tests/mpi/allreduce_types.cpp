// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce over every predefined datatype and every operation defined for it, in place and not, must be served by
// peercoll and give the exact result. Inputs are small integers in the type's own representation, so that every order
// of evaluation is exact; minima and maxima also see the ends of the type's range.
#include "support.hpp"

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using test::require;

const std::vector<int> counts = {1, 3, 64, 1000, 20011};
const test::Totals* totals = nullptr;
int checked = 0;

// A small number that depends on the rank and the element: -3 .. 3 (0 .. 3 for unsigned types).
int small_number(int rank, int element) {
    return (rank * 5 + element * 3) % 7 - 3;
}

template <typename T>
T as(int number) {
    if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(number < 0 ? -number : number);
    } else {
        return static_cast<T>(number);
    }
}

// Runs one reduction twice, in place and not, and compares each element bit by bit (`same` decides).
template <typename T, typename Input, typename Fold, typename Same>
void reduce(MPI_Datatype datatype, const char* type_name, MPI_Op op, const char* op_name, Input input, Fold fold,
            Same same) {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    for (const int count : counts) {
        std::vector<T> mine(count), result(count), in_place(count), expected(count);
        for (int element = 0; element < count; ++element) {
            mine[element] = in_place[element] = input(rank, element);
            expected[element] = input(0, element);
            for (int other = 1; other < size; ++other) {
                expected[element] = fold(expected[element], input(other, element));
            }
        }
        const auto served = totals->allreduce_served.read();
        require(MPI_Allreduce(mine.data(), result.data(), count, datatype, op, MPI_COMM_WORLD) == MPI_SUCCESS &&
                    MPI_Allreduce(MPI_IN_PLACE, in_place.data(), count, datatype, op, MPI_COMM_WORLD) == MPI_SUCCESS,
                "%s of %s returned an error", op_name, type_name);
        for (int element = 0; element < count; ++element) {
            require(same(result[element], expected[element]), "%s of %s: element %d of %d is wrong", op_name, type_name,
                    element, count);
            require(same(in_place[element], expected[element]), "%s of %s in place: element %d of %d is wrong", op_name,
                    type_name, element, count);
        }
        require(totals->allreduce_served.read() == served + 2, "%s of %s was not served", op_name, type_name);
        ++checked;
    }
}

// Datatypes of Fortran kinds that the library was configured without have no size.
bool exists(MPI_Datatype datatype, std::size_t size, const char* name) {
    int library_size = 0;
    if (datatype == MPI_DATATYPE_NULL || MPI_Type_size(datatype, &library_size) != MPI_SUCCESS || library_size == 0) {
        return false;
    }
    require(static_cast<std::size_t>(library_size) == size, "%s has %d bytes in this library, the test expects %zu",
            name, library_size, size);
    return true;
}

const auto equal = [](const auto& a, const auto& b) { return a == b; };

enum class Language { C, Fortran };

template <typename T>
void integer(MPI_Datatype datatype, const char* name, Language language = Language::C) {
    if (!exists(datatype, sizeof(T), name)) {
        return;
    }
    using Limits = std::numeric_limits<T>;
    const auto number = [](int rank, int element) { return as<T>(small_number(rank, element)); };
    const auto factor = [](int rank, int element) { return static_cast<T>((rank + element) % 3 == 0 ? 2 : 1); };
    const auto extreme = [](int rank, int element) {
        const T values[] = {Limits::max(), Limits::min(), T(1), T(Limits::max() - 1), T(Limits::min() + 1), T(2), T(0)};
        return values[(rank * 2 + element) % 7];
    };
    const auto truth = [](int rank, int element) {
        return static_cast<T>((rank + element) % 3 == 0 ? 0 : element % 5 + 1);
    };
    const auto bits = [](int rank, int element) {
        return static_cast<T>(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(rank * 131 + element + 1));
    };
    reduce<T>(
        datatype, name, MPI_SUM, "SUM", number, [](T a, T b) { return T(a + b); }, equal);
    reduce<T>(
        datatype, name, MPI_PROD, "PROD", factor, [](T a, T b) { return T(a * b); }, equal);
    reduce<T>(
        datatype, name, MPI_MIN, "MIN", extreme, [](T a, T b) { return b < a ? b : a; }, equal);
    reduce<T>(
        datatype, name, MPI_MAX, "MAX", extreme, [](T a, T b) { return b > a ? b : a; }, equal);
    if (language == Language::C) {  // Fortran has LOGICAL for these
        reduce<T>(
            datatype, name, MPI_LAND, "LAND", truth, [](T a, T b) { return T(a && b); }, equal);
        reduce<T>(
            datatype, name, MPI_LOR, "LOR", truth, [](T a, T b) { return T(a || b); }, equal);
        reduce<T>(
            datatype, name, MPI_LXOR, "LXOR", truth, [](T a, T b) { return T(!a != !b); }, equal);
    }
    reduce<T>(
        datatype, name, MPI_BAND, "BAND", bits, [](T a, T b) { return T(a & b); }, equal);
    reduce<T>(
        datatype, name, MPI_BOR, "BOR", bits, [](T a, T b) { return T(a | b); }, equal);
    reduce<T>(
        datatype, name, MPI_BXOR, "BXOR", bits, [](T a, T b) { return T(a ^ b); }, equal);
}

template <typename T>
void real(MPI_Datatype datatype, const char* name) {
    if (!exists(datatype, sizeof(T), name)) {
        return;
    }
    // A third part that only a type of full precision keeps: 1 + 2^-20 and so on are exact in float and wider.
    const auto number = [](int rank, int element) { return T(small_number(rank, element)) + T(1) / T(1 << 16); };
    const auto factor = [](int rank, int element) {
        return T((rank + element) % 3 == 0 ? -2 : 1) / T(element % 2 + 1);
    };
    reduce<T>(
        datatype, name, MPI_SUM, "SUM", number, [](T a, T b) { return a + b; }, equal);
    reduce<T>(
        datatype, name, MPI_PROD, "PROD", factor, [](T a, T b) { return a * b; }, equal);
    reduce<T>(
        datatype, name, MPI_MIN, "MIN", number, [](T a, T b) { return b < a ? b : a; }, equal);
    reduce<T>(
        datatype, name, MPI_MAX, "MAX", number, [](T a, T b) { return b > a ? b : a; }, equal);
}

// Two parts of T, without std::complex, which lacks __float128.
template <typename T>
struct Complex {
    T real, imaginary;
    bool operator==(const Complex& other) const { return real == other.real && imaginary == other.imaginary; }
};

template <typename T>
void complex(MPI_Datatype datatype, const char* name) {
    if (!exists(datatype, sizeof(Complex<T>), name)) {
        return;
    }
    const auto number = [](int rank, int element) {
        return Complex<T>{T(small_number(rank, element)), T(small_number(element, rank))};
    };
    const auto unit = [](int rank, int element) {  // i, -1, -i, 1, and 1 + i
        const Complex<T> units[] = {{0, 1}, {-1, 0}, {0, -1}, {1, 0}, {1, 1}};
        return units[(rank + element) % 5];
    };
    const auto add = [](Complex<T> a, Complex<T> b) { return Complex<T>{a.real + b.real, a.imaginary + b.imaginary}; };
    const auto multiply = [](Complex<T> a, Complex<T> b) {
        return Complex<T>{a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
    };
    reduce<Complex<T>>(datatype, name, MPI_SUM, "SUM", number, add, equal);
    reduce<Complex<T>>(datatype, name, MPI_PROD, "PROD", unit, multiply, equal);
}

// C bool and Fortran LOGICAL: true is 1.
template <typename T>
void logical(MPI_Datatype datatype, const char* name) {
    if (!exists(datatype, sizeof(T), name)) {
        return;
    }
    const auto truth = [](int rank, int element) { return T((rank * 2 + element) % 3 != 0); };
    reduce<T>(
        datatype, name, MPI_LAND, "LAND", truth, [](T a, T b) { return T(a && b); }, equal);
    reduce<T>(
        datatype, name, MPI_LOR, "LOR", truth, [](T a, T b) { return T(a || b); }, equal);
    reduce<T>(
        datatype, name, MPI_LXOR, "LXOR", truth, [](T a, T b) { return T(a != b); }, equal);
}

template <typename Value, typename Index>
void pair(MPI_Datatype datatype, const char* name, std::size_t size) {
    if (!exists(datatype, size, name)) {
        return;
    }
    struct Pair {
        Value value;
        Index index;
    };
    // Values tie between ranks, so that the index decides.
    const auto input = [](int rank, int element) {
        Pair pair{};
        pair.value = Value(small_number(rank / 2, element));
        pair.index = Index((rank * 3 + element) % 11);
        return pair;
    };
    const auto keep = [](bool better, Pair a, Pair b) {
        return better || (a.value == b.value && b.index < a.index) ? b : a;
    };
    const auto same = [](Pair a, Pair b) { return a.value == b.value && a.index == b.index; };
    reduce<Pair>(
        datatype, name, MPI_MINLOC, "MINLOC", input, [&](Pair a, Pair b) { return keep(b.value < a.value, a, b); },
        same);
    reduce<Pair>(
        datatype, name, MPI_MAXLOC, "MAXLOC", input, [&](Pair a, Pair b) { return keep(b.value > a.value, a, b); },
        same);
}

void bytes() {
    const auto bits = [](int rank, int element) { return std::uint8_t(rank * 37 + element * 11); };
    using T = std::uint8_t;
    reduce<T>(
        MPI_BYTE, "MPI_BYTE", MPI_BAND, "BAND", bits, [](T a, T b) { return T(a & b); }, equal);
    reduce<T>(
        MPI_BYTE, "MPI_BYTE", MPI_BOR, "BOR", bits, [](T a, T b) { return T(a | b); }, equal);
    reduce<T>(
        MPI_BYTE, "MPI_BYTE", MPI_BXOR, "BXOR", bits, [](T a, T b) { return T(a ^ b); }, equal);
}

#define NAMED(type) type, #type

void c_types() {
    integer<signed char>(NAMED(MPI_SIGNED_CHAR));
    integer<unsigned char>(NAMED(MPI_UNSIGNED_CHAR));
    integer<short>(NAMED(MPI_SHORT));
    integer<unsigned short>(NAMED(MPI_UNSIGNED_SHORT));
    integer<int>(NAMED(MPI_INT));
    integer<unsigned>(NAMED(MPI_UNSIGNED));
    integer<long>(NAMED(MPI_LONG));
    integer<unsigned long>(NAMED(MPI_UNSIGNED_LONG));
    integer<long long>(NAMED(MPI_LONG_LONG));
    integer<unsigned long long>(NAMED(MPI_UNSIGNED_LONG_LONG));
    integer<std::int8_t>(NAMED(MPI_INT8_T));
    integer<std::uint8_t>(NAMED(MPI_UINT8_T));
    integer<std::int16_t>(NAMED(MPI_INT16_T));
    integer<std::uint16_t>(NAMED(MPI_UINT16_T));
    integer<std::int32_t>(NAMED(MPI_INT32_T));
    integer<std::uint32_t>(NAMED(MPI_UINT32_T));
    integer<std::int64_t>(NAMED(MPI_INT64_T));
    integer<std::uint64_t>(NAMED(MPI_UINT64_T));
    integer<MPI_Aint>(NAMED(MPI_AINT));
    integer<MPI_Offset>(NAMED(MPI_OFFSET));
    integer<MPI_Count>(NAMED(MPI_COUNT));
    real<float>(NAMED(MPI_FLOAT));
    real<double>(NAMED(MPI_DOUBLE));
    real<long double>(NAMED(MPI_LONG_DOUBLE));
    complex<float>(NAMED(MPI_C_FLOAT_COMPLEX));
    complex<double>(NAMED(MPI_C_DOUBLE_COMPLEX));
    complex<long double>(NAMED(MPI_C_LONG_DOUBLE_COMPLEX));
    logical<std::uint8_t>(NAMED(MPI_C_BOOL));
    logical<std::uint8_t>(NAMED(MPI_CXX_BOOL));
    complex<float>(NAMED(MPI_CXX_FLOAT_COMPLEX));
    complex<double>(NAMED(MPI_CXX_DOUBLE_COMPLEX));
    complex<long double>(NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX));
    bytes();
    pair<float, int>(NAMED(MPI_FLOAT_INT), 8);
    pair<double, int>(NAMED(MPI_DOUBLE_INT), 12);
    pair<long, int>(NAMED(MPI_LONG_INT), 12);
    pair<int, int>(NAMED(MPI_2INT), 8);
    pair<short, int>(NAMED(MPI_SHORT_INT), 6);
    pair<long double, int>(NAMED(MPI_LONG_DOUBLE_INT), 20);
}

void fortran_types() {
    integer<std::int32_t>(NAMED(MPI_INTEGER), Language::Fortran);
    integer<std::int8_t>(NAMED(MPI_INTEGER1), Language::Fortran);
    integer<std::int16_t>(NAMED(MPI_INTEGER2), Language::Fortran);
    integer<std::int32_t>(NAMED(MPI_INTEGER4), Language::Fortran);
    integer<std::int64_t>(NAMED(MPI_INTEGER8), Language::Fortran);
    real<float>(NAMED(MPI_REAL));
    real<float>(NAMED(MPI_REAL4));
    real<double>(NAMED(MPI_REAL8));
    real<__float128>(NAMED(MPI_REAL16));
    real<double>(NAMED(MPI_DOUBLE_PRECISION));
    complex<float>(NAMED(MPI_COMPLEX));
    complex<float>(NAMED(MPI_COMPLEX8));
    complex<double>(NAMED(MPI_COMPLEX16));
    complex<__float128>(NAMED(MPI_COMPLEX32));
    complex<double>(NAMED(MPI_DOUBLE_COMPLEX));
    logical<std::int32_t>(NAMED(MPI_LOGICAL));
    logical<std::int8_t>(NAMED(MPI_LOGICAL1));
    logical<std::int16_t>(NAMED(MPI_LOGICAL2));
    logical<std::int32_t>(NAMED(MPI_LOGICAL4));
    logical<std::int64_t>(NAMED(MPI_LOGICAL8));
    pair<float, float>(NAMED(MPI_2REAL), 8);
    pair<double, double>(NAMED(MPI_2DOUBLE_PRECISION), 16);
    pair<std::int32_t, std::int32_t>(NAMED(MPI_2INTEGER), 8);
}

// MPI_Type_create_f90_*: predefined but without a name.
void types_by_precision() {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_integer(9, &datatype);
    integer<std::int32_t>(datatype, "create_f90_integer(9)", Language::Fortran);
    MPI_Type_create_f90_integer(18, &datatype);
    integer<std::int64_t>(datatype, "create_f90_integer(18)", Language::Fortran);
    MPI_Type_create_f90_real(6, 37, &datatype);
    real<float>(datatype, "create_f90_real(6, 37)");
    MPI_Type_create_f90_real(15, 307, &datatype);
    real<double>(datatype, "create_f90_real(15, 307)");
    MPI_Type_create_f90_complex(15, 307, &datatype);
    complex<double>(datatype, "create_f90_complex(15, 307)");
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Totals all_totals;
    totals = &all_totals;
    require(totals->allreduce_served.exists(), "the peercoll component is not loaded");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    c_types();
    fortran_types();
    types_by_precision();
    require(totals->allreduce_passed_on.read() == 0, "an allreduce was passed on");
    require(checked >= 290 * static_cast<int>(counts.size()), "only %d reductions were checked", checked);
    test::passed("allreduce of every predefined datatype and operation");
    return 0;
}
