// MPI for the process of one rank: the ranks, their hosts, and what all ranks gather at the end.
#pragma once

#include "model/base/failure.hpp"
#include "model/base/quantity.hpp"

#include <mpi.h>

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant {

// Throws BackendError naming the call and MPI's reason, unless `code` is success.
void check_mpi(int code, const char* call);

// Lives from MPI_Init_thread to MPI_Finalize. Several threads may call MPI.
class MpiWorld {
public:
    MpiWorld(int& argc, char**& argv);
    MpiWorld(const MpiWorld&) = delete;
    MpiWorld& operator=(const MpiWorld&) = delete;
    ~MpiWorld();

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] const std::string& host() const { return host_; }
    [[nodiscard]] int rank_on_host() const { return rank_on_host_; }
    [[nodiscard]] static std::string library_version();
    // What to add to this rank's clock to get that of rank 0. All ranks call it.
    [[nodiscard]] Seconds clock_offset() const;

    // The bytes of each rank, on rank 0; empty on the others. All ranks call it.
    [[nodiscard]] std::vector<std::vector<char>> gather(std::span<const char>) const;
    void sum(std::span<double>) const;      // in place, on all ranks
    void largest(std::span<double>) const;  // in place, on all ranks
    // The text that the first rank of this host passes. All ranks call it.
    [[nodiscard]] std::string from_first_on_host(std::string) const;
    void barrier() const;
    // The lowest rank that passes true; none where no rank does. All ranks call it.
    [[nodiscard]] std::optional<int> first_where(bool holds) const;

    // Prints a message to stderr, with the rank and its host.
    void say(const std::string& what) const;
    // Prints why, and ends all ranks.
    [[noreturn]] void abort(const std::string& why, ExitCode) const;

private:
    [[nodiscard]] std::vector<int> first_on_machines() const;

    int rank_ = 0, size_ = 1, rank_on_host_ = 0;
    MPI_Comm on_host_ = MPI_COMM_NULL;  // the ranks that share this host's memory
    std::string host_;
};

// MpiWorld::gather for a list of values.
template <class Value>
std::vector<std::vector<Value>> gather(const MpiWorld& world, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<std::vector<Value>> all;
    for (const std::vector<char>& bytes : world.gather({reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(Value)})) {
        const auto* first = reinterpret_cast<const Value*>(bytes.data());
        all.emplace_back(first, first + bytes.size() / sizeof(Value));
    }
    return all;
}

}  // namespace sextant
