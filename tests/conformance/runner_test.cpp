// SPDX-License-Identifier: BSD-3-Clause
// The runner itself: whatever a behaviour's processes do, its outcome says so, in time and with nothing left behind.
#include "tests/conformance/runner/run.hpp"
#include "tests/conformance/runner/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace peercoll::conformance {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using namespace std::chrono_literals;

Outcome outcome_of(std::vector<Role> roles, std::chrono::seconds limit = 20s) {
    const Outcome outcome = run({"a room", "a behaviour", std::move(roles)}, limit);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process was left behind";
    EXPECT_EQ(errno, ECHILD);
    return outcome;
}

TEST(ConformanceRunner, AnswersComeInTheOrderTheyWereSeenInOwnerFirst) {
    const Outcome outcome = outcome_of({[](Scene& scene) {
                                            scene.other().hear("said");
                                            scene.expect("one", 1, 1);
                                            scene.observe("two", true);
                                        },
                                        [](Scene& scene) {
                                            scene.note("three", "3, or so");
                                            scene.other().say("said");
                                        }});
    EXPECT_FALSE(outcome.wrong());
    EXPECT_THAT(outcome.observations, ElementsAre(Field(&Observation::what, "one"), Field(&Observation::what, "two"),
                                                  Field(&Observation::what, "three")));
    EXPECT_EQ(outcome.observations[1].value, "yes");
}

TEST(ConformanceRunner, AnUnexpectedAnswerIsWrong) {
    EXPECT_TRUE(outcome_of({[](Scene& scene) { scene.expect("code", 201, 0); }}).wrong());
    EXPECT_FALSE(outcome_of({[](Scene& scene) { scene.expect("code", 201, 201); }}).wrong());
}

TEST(ConformanceRunner, ACrashIsToldWithWhatWasSeenBefore) {
    const Outcome outcome = outcome_of({[](Scene& scene) {
        scene.expect("before", 1, 1);
        kill(getpid(), SIGABRT);
    }});
    ASSERT_EQ(outcome.observations.size(), 2u);
    EXPECT_EQ(outcome.observations[0].what, "before");
    EXPECT_EQ(outcome.observations[1].kind, Kind::Broken);
    EXPECT_THAT(outcome.observations[1].value, HasSubstr("signal 6"));
}

TEST(ConformanceRunner, AnEarlyExitIsNoSuccess) {
    EXPECT_TRUE(outcome_of({[](Scene& scene) {
                    scene.expect("before", 1, 1);
                    _exit(0);
                }}).wrong());
}

TEST(ConformanceRunner, AHangEndsAtTheLimit) {
    const Outcome outcome = outcome_of({[](Scene&) { sleep(600); }}, 1s);
    ASSERT_EQ(outcome.observations.size(), 1u);
    EXPECT_THAT(outcome.observations[0].value, HasSubstr("did not end in time"));
}

TEST(ConformanceRunner, ABehaviourThatLooksAtNothingIsWrong) {
    EXPECT_TRUE(outcome_of({[](Scene&) {}}).wrong());
}

TEST(ConformanceRunner, ASkipOfOneProcessExplainsThatTheOtherGaveUp) {
    const Outcome outcome = outcome_of(
        {[](Scene& scene) { scene.skip("needs two"); }, [](Scene& scene) { scene.other().hear("anything"); }});
    EXPECT_FALSE(outcome.wrong());
    EXPECT_TRUE(outcome.skipped());
    ASSERT_EQ(outcome.observations.size(), 1u);
    EXPECT_EQ(outcome.observations[0].value, "needs two");
}

TEST(ConformanceRunner, AProcessThatGoesAwaySilentlyIsWrong) {
    EXPECT_TRUE(outcome_of({[](Scene& scene) { scene.expect("all", 1, 1); },
                            [](Scene& scene) { scene.other().hear("anything"); }})
                    .wrong());
}

TEST(ConformanceRunner, AProcessMayKillItselfWhereTheBehaviourIsAboutThat) {
    const Outcome outcome = outcome_of({[](Scene& scene) { scene.die_at_once(); },
                                        [](Scene& scene) {
                                            scene.other().hear_end();
                                            scene.expect("outlived it", true, true);
                                        }});
    EXPECT_FALSE(outcome.wrong());
    EXPECT_EQ(outcome.observations.size(), 1u);
}

TEST(ConformanceRunner, DescriptorsTravel) {
    EXPECT_FALSE(outcome_of({[](Scene& scene) {
                                 int ends[2];
                                 if (pipe(ends) != 0) std::abort();
                                 scene.other().send_descriptor(ends[1]);
                                 char letter = ' ';
                                 scene.expect("read", 1, read(ends[0], &letter, 1));
                                 scene.expect("letter", int{'x'}, int{letter});
                             },
                             [](Scene& scene) {
                                 const Descriptor pipe = scene.other().receive_descriptor();
                                 scene.expect("written", 1, write(pipe.get(), "x", 1));
                             }})
                     .wrong());
}

TEST(ConformanceTable, CellsWithCommasAndQuotesAreQuoted) {
    std::ostringstream out;
    write_table(out, "program", {{"room", "a, b", {{Kind::Noted, "what", "", "say \"x\""}}}});
    EXPECT_THAT(out.str(), HasSubstr("\nroom,\"a, b\",what,noted,,\"say \"\"x\"\"\"\n"));
}

}  // namespace
}  // namespace peercoll::conformance
