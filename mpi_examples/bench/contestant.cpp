// SPDX-License-Identifier: BSD-3-Clause
#include "contestant.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

namespace peercoll::bench {

std::uint64_t from_rank_0(std::uint64_t value, int ranks) {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(ranks), value);
    MPI_Scatter(values.data(), 1, MPI_UINT64_T, &value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
}

Contestant::Contestant(Collective& collective, std::size_t first, std::size_t buffers, Rival* rival, Finish finish)
    : collective_(collective),
      first_(first),
      buffers_(buffers),
      rival_(rival),
      finish_(finish),
      used_(buffers, false) {}

void Contestant::call(std::size_t index) {
    if (rival_ == nullptr) {
        collective_.call(first_ + index);
    } else {
        collective_.start(*rival_, first_ + index);
        if (finish_ == Finish::EachCall) rival_->finish();
    }
}

void Contestant::check_buffers(std::size_t most) {
    for (std::size_t index = 0; index < std::min(buffers_, most); ++index) {
        collective_.refill_and_poison(first_ + index);
        call(index);
        if (rival_ != nullptr) rival_->finish();
        wrong_ += collective_.count_wrong(first_ + index);
    }
}

double Contestant::row_of_calls(std::size_t calls) {
    std::size_t index = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rival_ == nullptr) {
        // A loop of its own: the calls are what is timed, and they may be as short as a branch.
        for (std::size_t call = 0; call < calls; ++call) {
            collective_.call(first_ + index);
            if (++index == buffers_) index = 0;
        }
    } else {
        for (std::size_t done = 0; done < calls; ++done) {
            call(index);
            if (++index == buffers_) index = 0;
        }
        if (finish_ == Finish::EachSample) rival_->finish();
    }
    return MPI_Wtime() - start;
}

void Contestant::begin_samples(const Plan& plan) {
    plan_ = plan;
    for (std::size_t index = 0; index < buffers_; ++index) {
        if (collective_.rewritten()) collective_.refill(first_ + index);
        collective_.poison_result(first_ + index);
    }
    used_.assign(buffers_, false);
    samples_.clear();
    samples_.reserve(plan.samples);
}

double Contestant::take_sample(std::size_t sample) {
    const std::size_t index = sample % buffers_;
    double seconds = 0;
    if (plan_.back_to_back) {
        if (collective_.rewritten()) {
            collective_.refill(first_ + index);
            // Ranks that share a device have just used it in turn; the change of process on it is not the collective's.
            if (collective_.on_device()) call(index);
            if (collective_.on_device() && rival_ != nullptr) rival_->finish();
        }
        used_.assign(used_.size(), true);
        seconds = row_of_calls(plan_.calls_per_sample) / static_cast<double>(plan_.calls_per_sample);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        call(index);
        if (rival_ != nullptr && finish_ == Finish::EachSample) rival_->finish();
        seconds = MPI_Wtime() - start;
        used_[index] = true;
        // The buffer of the call before this one: rewritten now, it is the last in the rotation.
        const std::size_t previous = (index + buffers_ - 1) % buffers_;
        if (previous != index && sample > 0 && collective_.rewritten()) {
            collective_.refill(first_ + previous);
            used_[previous] = false;
        }
    }
    samples_.push_back(seconds);
    return seconds;
}

void Contestant::check_left_behind(std::size_t budget) {
    if (!collective_.repeatable()) return;
    for (std::size_t index = 0; index < buffers_; ++index) {
        if (!used_[index]) continue;
        wrong_ += collective_.count_wrong(first_ + index);
        if (budget <= collective_.bytes()) break;
        budget -= collective_.bytes();
    }
}

Spread Contestant::slowest() const {
    std::vector<double> slowest(samples_);
    MPI_Reduce(samples_.data(), slowest.data(), static_cast<int>(samples_.size()), MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    for (double& seconds : slowest) seconds *= 1e6;
    return spread_of(std::move(slowest));
}

std::uint64_t Contestant::all_wrong(int ranks) const {
    std::uint64_t all = 0;
    MPI_Reduce(&wrong_, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return from_rank_0(all, ranks);
}

}  // namespace peercoll::bench
