// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include "contestant.hpp"

#include <algorithm>
#include <vector>

namespace peercoll::bench {

namespace {

constexpr std::size_t fewest_samples = 10;
constexpr std::size_t most_samples = 20000;
constexpr double batch_seconds = 200e-6;
constexpr double longest_batch_seconds = 4e-3;
constexpr std::size_t fewest_calls_in_batch = 16;
constexpr std::size_t most_calls_in_batch = 4096;
constexpr std::size_t bytes_checked_after_timing = std::size_t{8} << 20;
// A large buffer holds every kind of mistake that several would.
constexpr std::size_t largest_checked_twice = std::size_t{64} << 20;

class Planner {
public:
    Planner(const Settings& settings, Contestant& contestant, int ranks)
        : settings_(settings), contestant_(contestant), ranks_(ranks) {}

    // Warms up, and decides calls per sample and samples from rank 0's clock, for all ranks.
    Plan plan(bool back_to_back) {
        Plan plan;
        plan.back_to_back = back_to_back;
        // A call that takes long warms up in fewer calls: not more of them than the budget of the size allows.
        const double first = std::max(contestant_.row_of_calls(2) / 2, 1e-9);
        std::size_t calls = std::min(settings_.warmup, static_cast<std::size_t>(settings_.seconds / 2 / first));
        calls = from_rank_0(std::max(calls, std::size_t{2}), ranks_);
        contestant_.row_of_calls(calls);
        double seconds = contestant_.row_of_calls(calls);
        // A few calls of a microsecond tell little: more of them, until the figure can be trusted.
        while (from_rank_0(seconds < batch_seconds / 4 && calls < most_calls_in_batch ? 1 : 0, ranks_) != 0) {
            calls *= 2;
            seconds = contestant_.row_of_calls(calls);
        }
        const double per_call = std::max(seconds / static_cast<double>(calls), 1e-9);
        if (back_to_back) plan.calls_per_sample = from_rank_0(calls_in_batch(per_call), ranks_);
        plan.samples = settings_.iterations != 0 ? settings_.iterations : samples_in_budget(plan);
        return plan;
    }

private:
    // Whole rounds, so that every buffer of the set is used alike.
    std::size_t calls_in_batch(double per_call) const {
        const auto wanted = static_cast<std::size_t>(batch_seconds / per_call);
        const auto fewest = std::min(fewest_calls_in_batch, static_cast<std::size_t>(longest_batch_seconds / per_call));
        const std::size_t limit = std::clamp(wanted, fewest, most_calls_in_batch);
        return std::max(limit / contestant_.buffers(), std::size_t{1}) * contestant_.buffers();
    }

    // Whole samples, with the rewriting of buffers between them: that is what the budget is spent on.
    std::size_t samples_in_budget(const Plan& plan) {
        constexpr std::size_t trials = 3;
        contestant_.begin_samples(plan);
        const double start = MPI_Wtime();
        for (std::size_t trial = 1; trial <= trials; ++trial) contestant_.take_sample(trial);
        const double wall = std::max((MPI_Wtime() - start) / trials, 1e-9);
        const auto samples =
            std::clamp(static_cast<std::size_t>(settings_.seconds / wall), fewest_samples, most_samples);
        return from_rank_0(samples, ranks_);
    }

    const Settings& settings_;
    Contestant& contestant_;
    int ranks_;
};

bool is_back_to_back(const Settings& settings, std::size_t bytes) {
    if (settings.timing != Timing::Auto) return settings.timing == Timing::BackToBack;
    return settings.place != Place::Host || bytes <= settings.back_to_back_limit;
}

// All contestants take sample after sample in turn; who begins changes.
void take_samples(std::vector<Contestant>& contestants, const Plan& plan, const std::function<void(double)>& tell) {
    for (Contestant& contestant : contestants) contestant.begin_samples(plan);
    double told = MPI_Wtime();
    for (std::size_t sample = 0; sample < plan.samples; ++sample) {
        for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
            contestants[(sample + turn) % contestants.size()].take_sample(sample);
        }
        if (sample % 16 == 0 && MPI_Wtime() - told > 0.5) {
            told = MPI_Wtime();
            tell(static_cast<double>(sample) / static_cast<double>(plan.samples));
        }
    }
}

}  // namespace

Result measure(const Settings& settings, std::size_t bytes, const Participants& participants,
               const std::function<void(double)>& tell) {
    const int ranks = participants.ranks;
    Result result;
    result.bytes = bytes;
    result.checked = settings.check;
    result.back_to_back = is_back_to_back(settings, bytes);
    result.buffers = settings.buffers != 0 ? settings.buffers
                     : participants.ranks_on_device != 0
                         ? default_device_buffer_count(bytes, participants.ranks_on_device)
                         : default_buffer_count(bytes, result.back_to_back, ranks, last_level_cache_bytes());
    const std::size_t sets = participants.rival != nullptr ? 2 : 1;
    Collective collective(settings, bytes, participants.rank, ranks, result.buffers * sets, participants.memory);

    std::vector<Contestant> contestants;
    contestants.emplace_back(collective, 0, result.buffers, nullptr, Contestant::Finish::EachCall);
    if (participants.rival != nullptr) {
        for (const auto finish : {Contestant::Finish::EachCall, Contestant::Finish::EachSample}) {
            contestants.emplace_back(collective, result.buffers, result.buffers, participants.rival, finish);
        }
    }
    if (settings.check) {
        const std::size_t buffers = bytes <= largest_checked_twice ? 2 : 1;
        contestants.front().check_buffers(buffers);
        if (participants.rival != nullptr) contestants.back().check_buffers(buffers);
    }
    Plan plan;
    for (std::size_t index = contestants.size(); index-- > 0;) {
        // Each warms up; MPI's, the last, decides.
        plan = Planner(settings, contestants[index], ranks).plan(result.back_to_back);
    }
    take_samples(contestants, plan, tell);
    if (settings.check) {
        contestants.front().check_left_behind(bytes_checked_after_timing);
        // The rival's two share their buffers.
        if (participants.rival != nullptr) contestants.back().check_left_behind(bytes_checked_after_timing);
    }

    const auto algbw = [bytes](double microseconds) {
        return static_cast<double>(bytes) / (microseconds * 1e-6) / 1e9;
    };
    const double p = ranks;
    const double bus = settings.subject == Subject::Allreduce ? 2 * (p - 1) / p : 1;
    result.calls_per_sample = plan.calls_per_sample;
    result.samples = plan.samples;
    result.microseconds = contestants[0].slowest();
    result.wrong = contestants[0].all_wrong(ranks);
    result.algbw = algbw(result.microseconds.median);
    result.busbw = result.algbw * bus;
    result.calls = collective.calls();
    if (participants.rival != nullptr) {
        RivalResult rival;
        rival.microseconds = contestants[1].slowest();
        rival.in_a_row_microseconds = contestants[2].slowest();
        rival.wrong = contestants[1].all_wrong(ranks) + contestants[2].all_wrong(ranks);
        rival.algbw = algbw(rival.microseconds.median);
        rival.busbw = rival.algbw * bus;
        result.rival = rival;
    }
    return result;
}

}  // namespace peercoll::bench
