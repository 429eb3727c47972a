// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/node.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

namespace peercoll::simulator {

namespace {

bool read_number(const std::string& word, std::uint64_t& value) {
    char* end = nullptr;
    value = std::strtoull(word.c_str(), &end, 10);
    return !word.empty() && word[0] >= '0' && word[0] <= '9' && *end == '\0';
}

// "3", "0-3" or "all".
bool read_devices(const std::string& word, std::size_t count, std::size_t& first, std::size_t& last) {
    if (word == "all") {
        first = 0;
        last = count - 1;
        return count > 0;
    }
    const std::size_t dash = word.find('-');
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (!read_number(word.substr(0, dash), low)) {
        return false;
    }
    high = low;
    if (dash != std::string::npos && !read_number(word.substr(dash + 1), high)) {
        return false;
    }
    first = low;
    last = high;
    return low <= high && high < count;
}

bool read_uuid(const std::string& word, Uuid& uuid) {
    std::string digits;
    for (const char letter : word) {
        if (letter != '-') {
            digits += letter;
        }
    }
    if (digits.size() != 32 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return false;
    }
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        uuid[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
    }
    return true;
}

class Parser {
public:
    explicit Parser(Node& node) : node_(node) {}

    // False: `expected` says what the line should have been.
    bool line(const std::vector<std::string>& words, std::string& expected) {
        const auto rule = rules_.find(words[0]);
        if (rule == rules_.end()) {
            expected = "a known word at its beginning (see the README of the simulated devices)";
            return false;
        }
        expected = rule->second.form;
        return rule->second.read(words);
    }

private:
    struct Rule {
        const char* form;
        std::function<bool(const std::vector<std::string>&)> read;
    };

    bool number(const std::vector<std::string>& words, std::uint64_t most,
                const std::function<void(std::uint64_t)>& use) {
        std::uint64_t value = 0;
        if (words.size() != 2 || !read_number(words[1], value) || value > most) {
            return false;
        }
        use(value);
        return true;
    }

    bool for_devices(const std::vector<std::string>& words, const std::function<bool(DeviceProperties&)>& use) {
        std::size_t first = 0;
        std::size_t last = 0;
        if (words.size() < 3 || !read_devices(words[1], node_.devices.size(), first, last)) {
            return false;
        }
        for (std::size_t device = first; device <= last; ++device) {
            if (!use(node_.devices[device])) {
                return false;
            }
        }
        return true;
    }

    bool path(const std::vector<std::string>& words) {
        std::size_t from[2] = {};
        std::size_t to[2] = {};
        const std::size_t count = node_.devices.size();
        if (words.size() != 4 || !read_devices(words[1], count, from[0], from[1]) ||
            !read_devices(words[2], count, to[0], to[1])) {
            return false;
        }
        Link link;
        if (words[3] == "no") {
            link.access = false;
        } else if (words[3] == "loses_stores") {
            link.stores_lost = true;
        } else if (words[3] == "loses_all") {
            link.stores_lost = link.copies_lost = true;
        } else if (words[3] != "yes") {
            return false;
        }
        for (std::size_t i = from[0]; i <= from[1]; ++i) {
            for (std::size_t j = to[0]; j <= to[1]; ++j) {
                if (i != j) {
                    node_.links[i * count + j] = link;
                }
            }
        }
        return true;
    }

    Node& node_;
    const std::map<std::string, Rule> rules_ = {
        {"devices",
         {"devices <0 to 64>",
          [this](const auto& words) {
              return number(words, most_devices, [this](std::uint64_t count) {
                  const Node plain = plain_node(count);
                  node_.devices = plain.devices;
                  node_.links = plain.links;
              });
          }}},
        {"driver",
         {"driver <1000 x major + 10 x minor>",
          [this](const auto& words) {
              return number(words, 99999,
                            [this](std::uint64_t value) { node_.driver_version = static_cast<int>(value); });
          }}},
        {"seed",
         {"seed <number>",
          [this](const auto& words) {
              return number(words, UINT64_MAX, [this](std::uint64_t value) { node_.seed = value; });
          }}},
        {"delay",
         {"delay <microseconds at most before an operation, up to 1000000>",
          [this](const auto& words) {
              return number(words, 1'000'000,
                            [this](std::uint64_t value) { node_.most_delay = std::chrono::microseconds(value); });
          }}},
        {"poison",
         {"poison <bytes of an allocation at most>",
          [this](const auto& words) {
              return number(words, UINT64_MAX, [this](std::uint64_t value) { node_.poison_bytes = value; });
          }}},
        {"peers",
         {"peers <most that a context can enable>",
          [this](const auto& words) {
              return number(words, most_devices, [this](std::uint64_t value) { node_.peer_limit = value; });
          }}},
        {"ipc",
         {"ipc yes|refused|overlap_refused",
          [this](const auto& words) {
              const std::string word = words.size() == 2 ? words[1] : "";
              node_.ipc_refused = word == "refused";
              node_.ipc_overlap_refused = word == "overlap_refused";
              return word == "yes" || word == "refused" || word == "overlap_refused";
          }}},
        {"hidden_import",
         {"hidden_import yes|refused",
          [this](const auto& words) {
              const std::string word = words.size() == 2 ? words[1] : "";
              node_.hidden_import_refused = word == "refused";
              return word == "yes" || word == "refused";
          }}},
        {"pinned",
         {"pinned <allocations of a process>",
          [this](const auto& words) {
              return number(words, 1'000'000, [this](std::uint64_t value) { node_.pinned_limit = value; });
          }}},
        {"memory",
         {"memory <devices> <MiB>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) {
                  std::uint64_t mebibytes = 0;
                  const bool ok = words.size() == 3 && read_number(words[2], mebibytes) && mebibytes > 0 &&
                                  mebibytes < (std::uint64_t{1} << 20);
                  device.memory_bytes = mebibytes << 20;
                  return ok;
              });
          }}},
        {"name",
         {"name <devices> <words>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) {
                  device.name = words[2];
                  for (std::size_t i = 3; i < words.size(); ++i) {
                      device.name += " " + words[i];
                  }
                  return true;
              });
          }}},
        {"uuid",
         {"uuid <device> <32 hexadecimal digits in lower case>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) { return read_uuid(words[2], device.uuid); });
          }}},
        {"pci",
         {"pci <device> <as 0000:1b:00.0>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) {
                  device.pci_id = words[2];
                  return words[2].size() == 12;
              });
          }}},
        {"numa",
         {"numa <devices> <node>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) {
                  std::uint64_t number_of_node = 0;
                  const bool ok = read_number(words[2], number_of_node) && number_of_node < 1024;
                  device.numa_node = static_cast<int>(number_of_node);
                  return ok;
              });
          }}},
        {"capability",
         {"capability <devices> <major> <minor>",
          [this](const auto& words) {
              return for_devices(words, [&](DeviceProperties& device) {
                  std::uint64_t major = 0;
                  std::uint64_t minor = 0;
                  const bool ok = words.size() == 4 && read_number(words[2], major) && major < 100 &&
                                  read_number(words[3], minor) && minor < 256;
                  device.capability_major = static_cast<int>(major);
                  device.capability_minor = static_cast<int>(minor);
                  return ok;
              });
          }}},
        {"path",
         {"path <from devices> <to devices> yes|no|loses_stores|loses_all",
          [this](const auto& words) { return path(words); }}},
    };
};

}  // namespace

int Node::device_with_uuid(const Uuid& uuid) const {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].uuid == uuid) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

Node plain_node(std::size_t count) {
    Node node;
    node.devices.resize(count);
    node.links.resize(count * count);
    for (std::size_t i = 0; i < count; ++i) {
        DeviceProperties& device = node.devices[i];
        for (std::size_t j = 0; j < device.uuid.size(); ++j) {
            device.uuid[j] = static_cast<std::uint8_t>(0x10 + 16 * j + i);
        }
        char text[16];
        std::snprintf(text, sizeof(text), "0000:%02x:00.0", static_cast<unsigned>(0x1b + 4 * i) & 0xffu);
        device.pci_id = text;
    }
    return node;
}

bool parse_node(const std::string& text, Node& node, std::string& error) {
    node = plain_node(1);
    Parser parser(node);
    std::istringstream stream(text);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        std::istringstream in(line.substr(0, line.find('#')));
        const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
        std::string expected;
        if (!words.empty() && !parser.line(words, expected)) {
            error = "line " + std::to_string(number) + " is '" + line + "', expected: " + expected;
            return false;
        }
    }
    return true;
}

bool load_node(Node& node, std::string& error) {
    const char* path = std::getenv("PEERCOLL_SIMULATOR_NODE");
    if (path == nullptr || *path == '\0') {
        node = plain_node(1);
        return true;
    }
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && !file.eof()) {
        error = std::string("PEERCOLL_SIMULATOR_NODE is '") + path + "', expected a file that can be read";
        return false;
    }
    if (!parse_node(text, node, error)) {
        error = std::string(path) + ": " + error;
        return false;
    }
    return true;
}

}  // namespace peercoll::simulator
