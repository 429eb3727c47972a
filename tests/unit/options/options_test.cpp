// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace peercoll {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Result {
    Status status;
    Options options;
    std::vector<OptionSetting> settings;
    std::vector<std::string> warnings;

    OptionSetting setting(std::string_view name) const {
        const auto found =
            std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.name == name; });
        return found == settings.end() ? OptionSetting{} : *found;
    }
};

Result read(const std::vector<std::string>& environment, const std::vector<std::string>& caller = {}) {
    std::vector<const char*> block;
    for (const std::string& entry : environment) block.push_back(entry.c_str());
    block.push_back(nullptr);
    Result result;
    result.status =
        read_options(block.data(), caller, "MCA parameter", result.options, result.settings, result.warnings);
    return result;
}

void expect_defaults(const Options& options) {
    EXPECT_EQ(options.allreduce_algorithm, AllreduceAlgorithm::Auto);
    EXPECT_EQ(options.broadcast_algorithm, BroadcastAlgorithm::Auto);
    EXPECT_EQ(options.trials, TrialsChoice::On);
    EXPECT_EQ(options.order, Order::Topology);
    EXPECT_EQ(options.groups, GroupLevel::Auto);
    EXPECT_EQ(options.single_copy, SingleCopyChoice::Auto);
    EXPECT_EQ(options.segment, SegmentKind::Auto);
    EXPECT_EQ(options.segment_size, std::nullopt);
    EXPECT_EQ(options.wait, WaitMode::Auto);
    EXPECT_EQ(options.timeout, std::nullopt);
    EXPECT_EQ(options.peer_check, 1000ms);
    EXPECT_EQ(options.log, LogLevel::Warn);
    EXPECT_EQ(options.statistics, StatisticsOutput::Off);
    EXPECT_EQ(options.topology_file, "");
    EXPECT_EQ(options.devices, Devices::On);
    EXPECT_EQ(options.device_runtimes, "");
    EXPECT_EQ(options.device_algorithm, DeviceAlgorithm::Auto);
    EXPECT_EQ(options.executors, Executors::Auto);
    EXPECT_EQ(options.peer_access, PeerLevel::All);
    EXPECT_EQ(options.peer_veto, "");
    EXPECT_EQ(options.peer_proof, PeerProof::On);
    EXPECT_EQ(options.peer_proof_limit, 5000ms);
    EXPECT_EQ(options.mapping_cache, 68719476736U);  // 64 GiB
}

TEST(Options, WithoutAnyTextTheDefaultsAreInForce) {
    const Result result = read({});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    expect_defaults(result.options);
    ASSERT_EQ(result.settings.size(), option_table().size());
    for (std::size_t i = 0; i < option_table().size(); ++i) {
        EXPECT_EQ(result.settings[i].name, option_table()[i].name);
        EXPECT_EQ(result.settings[i].value, option_table()[i].default_value);
        EXPECT_EQ(result.settings[i].origin, "default");
    }
    EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Options, TheDefaultTextOfEachRowParsesToTheDefaultValue) {
    std::vector<std::string> caller;
    for (const OptionRow& row : option_table()) {
        caller.push_back(std::string(row.name) + "=" + std::string(row.default_value));
    }
    const Result result = read({}, caller);
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    expect_defaults(result.options);
}

TEST(Options, EveryRowIsDocumentedInOneSentenceAndHasItsOwnName) {
    std::set<std::string_view> names;
    for (const OptionRow& row : option_table()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(row.meaning.back(), '.') << row.name;
        EXPECT_FALSE(row.values.empty()) << row.name;
        for (const std::string_view text : {row.name, row.meaning, row.values, row.default_value}) {
            EXPECT_EQ(std::string_view(text.data()), text) << "not a C string in " << row.name;
        }
    }
    EXPECT_EQ(names.size(), 24U);
}

// Every word that the table shows must be accepted by its row and be shown back; its enumerator is the word's position.
TEST(Options, EveryWordOfTheTableIsAccepted) {
    for (const OptionRow& row : option_table()) {
        if (row.values.find('|') == std::string_view::npos) continue;
        std::string words(row.values);
        std::replace(words.begin(), words.end(), '|', ' ');
        std::istringstream stream(words);
        for (std::string word; stream >> word;) {
            const std::string name(row.name);
            const Result result = read({}, {name + "=" + word});
            EXPECT_TRUE(result.status.ok()) << result.status.sentence();
            EXPECT_EQ(result.setting(name).value, word);
        }
    }
}

TEST(Options, WordsMeanTheirEnumerators) {
    const Result result =
        read({"PEERCOLL_ALLREDUCE_ALGORITHM=single_copy", "PEERCOLL_BROADCAST_ALGORITHM=grouped", "PEERCOLL_ORDER=rank",
              "PEERCOLL_GROUPS=numa", "PEERCOLL_SINGLE_COPY=xpmem", "PEERCOLL_SEGMENT=shm", "PEERCOLL_WAIT=sleep",
              "PEERCOLL_LOG=debug", "PEERCOLL_STATISTICS=all", "PEERCOLL_TOPOLOGY_FILE=/some/Where.xml"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_EQ(result.options.allreduce_algorithm, AllreduceAlgorithm::SingleCopy);
    EXPECT_EQ(result.options.broadcast_algorithm, BroadcastAlgorithm::Grouped);
    EXPECT_EQ(result.options.order, Order::Rank);
    EXPECT_EQ(result.options.groups, GroupLevel::Numa);
    EXPECT_EQ(result.options.single_copy, SingleCopyChoice::Xpmem);
    EXPECT_EQ(result.options.segment, SegmentKind::Shm);
    EXPECT_EQ(result.options.wait, WaitMode::Sleep);
    EXPECT_EQ(result.options.log, LogLevel::Debug);
    EXPECT_EQ(result.options.statistics, StatisticsOutput::All);
    EXPECT_EQ(result.options.topology_file, "/some/Where.xml");
}

TEST(Options, UpperAndLowerCaseAreTheSame) {
    const Result result = read({"PEERCOLL_WAIT=Spin"}, {"LOG=INFO", "segment_size=2MIB"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_EQ(result.options.wait, WaitMode::Spin);
    EXPECT_EQ(result.setting("wait").value, "spin");
    EXPECT_EQ(result.options.log, LogLevel::Info);
    EXPECT_EQ(result.options.segment_size, 2097152U);
}

TEST(Options, TheCallerWinsOverTheEnvironmentAndTheOriginTellsIt) {
    const Result result = read({"PEERCOLL_WAIT=spin", "PEERCOLL_LOG=error"}, {"wait=yield", "wait=sleep"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_EQ(result.options.wait, WaitMode::Sleep);
    EXPECT_EQ(result.setting("wait").origin, "MCA parameter");
    EXPECT_EQ(result.setting("log").origin, "environment");
    EXPECT_EQ(result.setting("order").origin, "default");
}

TEST(Options, AnOptionCanBeSetBackToAutoOrOff) {
    const Result result = read({"PEERCOLL_SEGMENT_SIZE=1MiB", "PEERCOLL_TIMEOUT=5s"},
                               {"segment_size=auto", "timeout=OFF", "peer_check=off"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_EQ(result.options.segment_size, std::nullopt);
    EXPECT_EQ(result.options.timeout, std::nullopt);
    EXPECT_EQ(result.options.peer_check, std::nullopt);
}

TEST(Options, ABadValueNamesTheVariableAndWhatItTakes) {
    EXPECT_EQ(read({"PEERCOLL_WAIT=fast"}).status.sentence(),
              "environment variable PEERCOLL_WAIT: \"fast\" is not one of auto|spin|yield|sleep");
    EXPECT_EQ(read({}, {"wait=fast"}).status.sentence(),
              "MCA parameter wait: \"fast\" is not one of auto|spin|yield|sleep");
    EXPECT_EQ(read({"PEERCOLL_SEGMENT_SIZE=1KiB"}).status.sentence(),
              "environment variable PEERCOLL_SEGMENT_SIZE: \"1KiB\" is not auto or a size from 64KiB to 1GiB");
    EXPECT_EQ(read({}, {"timeout=5"}).status.sentence(),
              "MCA parameter timeout: \"5\" is not off or a duration from 1ms to 24h");
    EXPECT_EQ(read({"PEERCOLL_WAIT="}).status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
}

TEST(Options, ABadValueInTheEnvironmentIsAnErrorEvenIfTheCallerSetsTheOption) {
    EXPECT_FALSE(read({"PEERCOLL_WAIT=fast"}, {"wait=spin"}).status.ok());
}

TEST(Options, LimitsAreIncluded) {
    EXPECT_EQ(read({}, {"segment_size=65536"}).options.segment_size, 65536U);
    EXPECT_EQ(read({}, {"segment_size=1G"}).options.segment_size, 1073741824U);
    EXPECT_FALSE(read({}, {"segment_size=65535"}).status.ok());
    EXPECT_FALSE(read({}, {"segment_size=1073741825"}).status.ok());
    EXPECT_EQ(read({}, {"timeout=1ms"}).options.timeout, 1ms);
    EXPECT_EQ(read({}, {"timeout=24h"}).options.timeout, 86400000ms);
    EXPECT_FALSE(read({}, {"timeout=0ms"}).status.ok());
    EXPECT_FALSE(read({}, {"timeout=86400001ms"}).status.ok());
}

TEST(Options, AFailureChangesNothing) {
    Options options;
    options.wait = WaitMode::Sleep;
    std::vector<OptionSetting> settings{{"kept", "kept", "kept"}};
    std::vector<std::string> warnings{"kept"};
    const Status status = read_options(nullptr, {"order=rank", "wait=fast"}, "caller", options, settings, warnings);
    EXPECT_EQ(status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(options.trials, TrialsChoice::On);
    EXPECT_EQ(options.order, Order::Topology);
    EXPECT_EQ(options.wait, WaitMode::Sleep);
    EXPECT_EQ(settings.size(), 1U);
    EXPECT_EQ(settings[0].name, "kept");
    EXPECT_THAT(warnings, ElementsAre("kept"));
}

TEST(Options, AnUnknownNameInTheEnvironmentIsAWarningWithASuggestion) {
    const Result result = read({"PEERCOLL_WIAT=spin", "PEERCOLL_WAIT=spin", "PEERCOLL_SOMETHING_ELSE=1", "OTHER=x"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_EQ(result.options.wait, WaitMode::Spin);
    EXPECT_THAT(result.warnings,
                ElementsAre("unknown option PEERCOLL_WIAT in the environment; did you mean PEERCOLL_WAIT?",
                            "unknown option PEERCOLL_SOMETHING_ELSE in the environment"));
}

TEST(Options, VariablesOfOtherPartsOfTheProjectAreLeftToThem) {
    const Result result = read({"PEERCOLL_UCX_TLS=tcp", "PEERCOLL_UCX_=", "PEERCOLL_SIMULATOR_NODE=/some/file.node"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_THAT(result.warnings, IsEmpty());
    expect_defaults(result.options);
}

TEST(Options, OnlyTheWholePrefixMakesAVariableAnotherPartsOwn) {
    const Result result = read({"PEERCOLL_UCX=tcp", "PEERCOLL_UCXTLS=tcp", "PEERCOLL_ucx_TLS=tcp",
                                "PEERCOLL_SIMULATOR=on", "MY_PEERCOLL_UCX_TLS=tcp"});
    ASSERT_TRUE(result.status.ok()) << result.status.sentence();
    EXPECT_THAT(result.warnings, ElementsAre("unknown option PEERCOLL_UCX in the environment",
                                             "unknown option PEERCOLL_UCXTLS in the environment",
                                             "unknown option PEERCOLL_ucx_TLS in the environment",
                                             "unknown option PEERCOLL_SIMULATOR in the environment"));
}

// An option of a caller has no such prefix: what another part reads from the environment is no option of the library.
TEST(Options, TheCallerCannotSetVariablesOfOtherParts) {
    EXPECT_EQ(read({}, {"ucx_tls=tcp"}).status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
}

TEST(Options, AVariableInLowerCaseIsNotTheOption) {
    const Result result = read({"PEERCOLL_wait=spin"});
    EXPECT_EQ(result.options.wait, WaitMode::Auto);
    EXPECT_THAT(result.warnings,
                ElementsAre("unknown option PEERCOLL_wait in the environment; did you mean PEERCOLL_WAIT?"));
}

TEST(Options, AnUnknownNameOfTheCallerIsAnError) {
    EXPECT_EQ(read({}, {"single-copy=off"}).status.sentence(),
              "MCA parameter single-copy: there is no option of this name; did you mean single_copy?");
    EXPECT_EQ(read({}, {"quux=1"}).status.sentence(), "MCA parameter quux: there is no option of this name");
    EXPECT_EQ(read({}, {"wait"}).status.sentence(), "MCA parameter \"wait\": expected name=value");
}

}  // namespace
}  // namespace peercoll
