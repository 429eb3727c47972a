// SPDX-License-Identifier: BSD-3-Clause
// How the two processes of a behaviour talk: small messages and descriptors over a socket pair, never without a limit.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace peercoll::conformance {

// The other process ended or fell silent: what it says about itself is the better explanation.
struct OtherProcessLost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset();
        fd_ = std::exchange(other.fd_, -1);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return fd_; }
    void reset();

private:
    int fd_ = -1;
};

class Channel {
public:
    Channel() = default;
    explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

    static std::pair<Channel, Channel> make_pair();

    // Steps of the conversation. hear() fails if the other one said something else.
    void say(std::string_view word);
    void hear(std::string_view word);

    template <typename T>
    void send(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        send_bytes(std::as_bytes(std::span(&value, 1)), -1);
    }
    template <typename T>
    T receive() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        receive_bytes(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }

    void send_descriptor(int fd);
    Descriptor receive_descriptor();

    // Waits until the other process has closed its end, as every end of a process does.
    void hear_end();

private:
    void wait_readable();
    void send_bytes(std::span<const std::byte> bytes, int fd);
    Descriptor receive_bytes(std::span<std::byte> bytes);

    Descriptor socket_;
};

}  // namespace peercoll::conformance
