#include "tests/backend/thread_group.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>

namespace sextant {

class ThreadGroup::Member final : public RankCommunicator {
public:
    Member(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}

    [[nodiscard]] int ranks(ParallelGroup) const override { return static_cast<int>(group_.shared_.size()); }

    void all_reduce(ParallelGroup, const Array& sum) override {
        std::vector<float> result(static_cast<std::size_t>(sum.elements));
        meet(sum, [&] { add_all(0, result); });
        std::ranges::copy(result, sum.reals());
    }
    void all_gather(ParallelGroup, const Array& part, const Array& whole) override {
        meet(part, [&] {
            for (std::size_t r = 0; r < group_.shared_.size(); ++r)
                std::copy_n(group_.shared_[r], part.elements, whole.reals() + static_cast<std::int64_t>(r) * part.elements);
        });
    }
    void reduce_scatter(ParallelGroup, const Array& whole, const Array& part) override {
        std::vector<float> result(static_cast<std::size_t>(part.elements));
        meet(whole, [&] { add_all(rank_ * part.elements, result); });
        std::ranges::copy(result, part.reals());
    }

    void exchange_rows(ExchangeKind, ParallelGroup, std::span<const Rows>, std::span<const Rows>) override {
        throw std::logic_error("groups of threads have no experts");
    }
    std::vector<std::int64_t> gather_counts(ParallelGroup, std::span<const std::int64_t>) override {
        throw std::logic_error("groups of threads have no experts");
    }
    void sum_counts(ParallelGroup, std::span<std::int64_t>) override { throw std::logic_error("groups of threads have no experts"); }

private:
    // Shows the array to all, does what needs those of all, and waits until all have done so.
    template <class Work>
    void meet(const Array& mine, const Work& work) {
        group_.shared_[static_cast<std::size_t>(rank_)] = mine.reals();
        group_.barrier_.arrive_and_wait();
        work();
        group_.barrier_.arrive_and_wait();
    }
    void add_all(std::int64_t begin, std::vector<float>& sum) const {
        for (const float* from : group_.shared_)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += from[static_cast<std::size_t>(begin) + i];
    }
    ThreadGroup& group_;
    int rank_;
};

void ThreadGroup::run(const std::function<void(int, RankCommunicator&)>& work) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failed(shared_.size());
    for (std::size_t r = 0; r < shared_.size(); ++r)
        threads.emplace_back([&, r] {
            Member member(*this, static_cast<int>(r));
            try {
                work(static_cast<int>(r), member);
            } catch (...) {
                failed[r] = std::current_exception();
                barrier_.arrive_and_drop();
            }
        });
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : failed)
        if (e) std::rethrow_exception(e);
}

}  // namespace sextant
