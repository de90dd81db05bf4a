#include "backend/rank/mpi_world.hpp"

#include "backend/exec/recorder.hpp"
#include "backend/rank/launcher.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/uio.h>
#include <unistd.h>

namespace sextant {
namespace {

constexpr int clock_tag = 1, gather_tag = 2, clock_rounds = 10;
constexpr std::uint64_t longest_piece = 65536;

// Seconds after which a rank ends that waits for others where MPI cannot be asked yet, or any more: they have died or hang.
constexpr unsigned longest_start = 120, longest_end = 8;
constexpr unsigned longest_abort = 3;

volatile std::sig_atomic_t abort_code = 0;  // of a rank that ends itself, and has said why

void give_up(int) {
    if (abort_code != 0) _exit(abort_code);
    constexpr const char* text = ": MPI does not come back from its start or end: another rank has died or hangs\n";
    for (const char* part : {const_cast<const char*>(program_invocation_short_name), text})
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part, std::strlen(part));
    _exit(static_cast<int>(ExitCode::machine_refused));
}

// Open MPI copies between processes of a host by reading their memory. Containers often forbid that, which it finds out too late.
void avoid_forbidden_copies() {
    char from = 1, to = 0;
    const iovec mine{&to, 1}, other{&from, 1};
    if (::process_vm_readv(::getpid(), &mine, 1, &other, 1, 0) != 1) ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

// Ranks of one host meet in its memory. Open MPI looks for every fast network there may be before it finds that out: it started in 0.4 s
// for four ranks that do nothing, and starts in 0.2. In effect where nobody says otherwise.
void look_for_no_network() {
    if (ranks_share_a_host()) ::setenv("OMPI_MCA_pml", "ob1", 0);
}

// Left to itself, Open MPI's MPI_Iallreduce reduces a buffer that is its own result, or one of fewer than four ranks, to one rank and
// broadcasts it from there: each link carries the whole buffer twice, one way at a time. A ring takes half of that between two ranks. In
// effect likewise.
void prefer_rings() { ::setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "ring", 0); }

// Over TCP a large message goes when its receiver has asked for it, and on the one connection between two processes that word waits behind
// what they send at the moment: messages that could cross go one after the other. On two connections they cross. In effect likewise.
void let_messages_cross() { ::setenv("OMPI_MCA_btl_tcp_links", "2", 0); }

}  // namespace

void check_mpi(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw BackendError(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

MpiWorld::MpiWorld(int& argc, char**& argv) {
    avoid_forbidden_copies();
    look_for_no_network();
    prefer_rings();
    let_messages_cross();
    std::signal(SIGALRM, give_up);
    alarm(longest_start);
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &on_host_), "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(on_host_, &rank_on_host_), "MPI_Comm_rank");
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
    host_.assign(name, static_cast<std::size_t>(length));
    alarm(0);
    if (provided < MPI_THREAD_MULTIPLE)
        abort("this MPI cannot be called from several threads (MPI_THREAD_MULTIPLE)", ExitCode::machine_refused);
}

MpiWorld::~MpiWorld() {
    alarm(longest_end);
    MPI_Comm_free(&on_host_);
    MPI_Finalize();
    alarm(0);
}

std::string MpiWorld::library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<std::size_t>(length));
    return all.substr(0, all.find(','));
}

// Of each rank, the first of those on its machine.
std::vector<int> MpiWorld::first_on_machines() const {
    int first = rank_;
    check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, on_host_), "MPI_Bcast");
    std::vector<int> firsts(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
    return firsts;
}

// The answer of the fastest of some round trips, taken to be given half way (Cristian, Distributed Computing 3, 1989). Ranks of one machine
// have one clock, which such an answer would only set wrong where they share cores.
Seconds MpiWorld::clock_offset() const {
    double offset = 0;
    const std::vector<int> firsts = first_on_machines();
    for (int peer = 1; peer < size_; ++peer) {
        if ((rank_ != 0 && rank_ != peer) || firsts[static_cast<std::size_t>(peer)] == 0) continue;
        double fastest = 1e9;
        for (int i = 0; i < clock_rounds; ++i) {
            double there = 0;
            if (rank_ == 0) {
                check_mpi(MPI_Recv(&there, 1, MPI_DOUBLE, peer, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
                there = now().si();
                check_mpi(MPI_Send(&there, 1, MPI_DOUBLE, peer, clock_tag, MPI_COMM_WORLD), "MPI_Send");
                continue;
            }
            const double asked = now().si();
            check_mpi(MPI_Send(&asked, 1, MPI_DOUBLE, 0, clock_tag, MPI_COMM_WORLD), "MPI_Send");
            check_mpi(MPI_Recv(&there, 1, MPI_DOUBLE, 0, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
            const double answered = now().si();
            if (answered - asked < fastest) {
                fastest = answered - asked;
                offset = there - (asked + answered) / 2;
            }
        }
    }
    return offset * units::s;
}

// Rank by rank and in pieces: what all of them have together is more than an int counts, of a long run.
std::vector<std::vector<char>> MpiWorld::gather(std::span<const char> mine) const {
    const std::uint64_t size = mine.size();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_));
    check_mpi(MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Gather");
    const auto in_pieces = [](std::uint64_t bytes, const auto& pass) {
        for (std::uint64_t at = 0; at < bytes; at += longest_piece) pass(at, static_cast<int>(std::min(longest_piece, bytes - at)));
    };
    if (rank_ != 0) {
        in_pieces(size, [&](std::uint64_t at, int count) {
            check_mpi(MPI_Send(mine.data() + at, count, MPI_CHAR, 0, gather_tag, MPI_COMM_WORLD), "MPI_Send");
        });
        return {};
    }
    std::vector<std::vector<char>> parts;
    parts.emplace_back(mine.begin(), mine.end());
    for (int peer = 1; peer < size_; ++peer) {
        std::vector<char>& part = parts.emplace_back(sizes[static_cast<std::size_t>(peer)]);
        in_pieces(part.size(), [&](std::uint64_t at, int count) {
            check_mpi(MPI_Recv(part.data() + at, count, MPI_CHAR, peer, gather_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
        });
    }
    return parts;
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): MPI is there as long as the world is
void MpiWorld::sum(std::span<double> values) const {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
              "MPI_Allreduce");
}

void MpiWorld::largest(std::span<double> values) const {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
              "MPI_Allreduce");
}

std::string MpiWorld::from_first_on_host(std::string text) const {
    std::uint64_t length = text.size();
    check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, on_host_), "MPI_Bcast");
    text.resize(length);
    check_mpi(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, on_host_), "MPI_Bcast");
    return text;
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): as the sum
void MpiWorld::barrier() const { check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

std::optional<int> MpiWorld::first_where(bool holds) const {
    int first = holds ? rank_ : size_;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    return first < size_ ? std::optional(first) : std::nullopt;
}

void MpiWorld::say(const std::string& what) const {
    const std::string line =
        std::string(program_invocation_short_name) + ": rank " + std::to_string(rank_) + " on " + host_ + ": " + what + "\n";
    std::cerr.write(line.data(), static_cast<std::streamsize>(line.size())).flush();
}

void MpiWorld::abort(const std::string& why, ExitCode code) const {
    const int exit_code = static_cast<int>(code);
    say(why);
    abort_code = exit_code;
    alarm(longest_abort);  // where MPI cannot do that either
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    _exit(exit_code);
}

}  // namespace sextant
