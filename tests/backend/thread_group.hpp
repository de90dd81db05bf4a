// A tensor-parallel group whose ranks are threads of the test.
#pragma once

#include "backend/exec/communicator.hpp"

#include <barrier>
#include <functional>
#include <vector>

namespace sextant {

class ThreadGroup {
public:
    explicit ThreadGroup(int ranks) : barrier_(ranks), shared_(static_cast<std::size_t>(ranks)) {}

    // Runs work(rank, its communicator) on every rank at once, and waits for all. An exception of a rank is thrown here.
    void run(const std::function<void(int, RankCommunicator&)>& work);

private:
    class Member;
    std::barrier<> barrier_;
    std::vector<const float*> shared_;
};

}  // namespace sextant
