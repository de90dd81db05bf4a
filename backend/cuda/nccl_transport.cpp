#include "backend/cuda/nccl_transport.hpp"

#include "backend/cuda/check.hpp"
#include "backend/rank/mpi_world.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace sextant::cuda {
namespace {

void check_nccl(ncclResult_t code, const char* call) {
    if (code != ncclSuccess) throw BackendError(std::string(call) + ": " + ncclGetErrorString(code) + ": " + ncclGetLastError(nullptr));
}

// Of all ranks: where on its bus the GPU stands, and the host.
using GpuPlace = std::array<char, MPI_MAX_PROCESSOR_NAME + 32>;

// NCCL takes ranks whose NCCL_HOSTID differs for those of different hosts, on one GPU too.
std::vector<GpuPlace> places_of_gpus(const std::string& host, const std::string& bus) {
    const char* named = std::getenv("NCCL_HOSTID");
    GpuPlace mine{};
    const std::string place = bus + (named != nullptr ? named : host);
    place.copy(mine.data(), mine.size() - 1);
    int ranks = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    std::vector<GpuPlace> all(static_cast<std::size_t>(ranks));
    constexpr int bytes = sizeof(GpuPlace);
    check_mpi(MPI_Allgather(mine.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, MPI_COMM_WORLD), "MPI_Allgather");
    return all;
}

// The first member makes the name of a communicator, and the others are told.
ncclUniqueId agree_on_id(const std::vector<int>& members, int rank) {
    constexpr int id_tag = 4;
    ncclUniqueId id{};
    if (rank != members.front()) {
        check_mpi(MPI_Recv(&id, sizeof id, MPI_BYTE, members.front(), id_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
        return id;
    }
    check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    for (const int member : members)
        if (member != rank) check_mpi(MPI_Send(&id, sizeof id, MPI_BYTE, member, id_tag, MPI_COMM_WORLD), "MPI_Send");
    return id;
}

ncclDataType_t type_of(const Array& a) {
    switch (a.element) {
        case Element::bf16: return ncclBfloat16;
        case Element::fp16: return ncclHalf;
        case Element::mask: return ncclUint8;
        case Element::index: return ncclInt64;
        case Element::real: break;
    }
    return ncclFloat;
}

// Calls that NCCL begins together. Left by an exception it ends as well, or calls of others would wait for ever; what NCCL thinks of that
// is not what went wrong.
class CallGroup {
public:
    CallGroup() { check_nccl(ncclGroupStart(), "ncclGroupStart"); }
    CallGroup(const CallGroup&) = delete;
    CallGroup& operator=(const CallGroup&) = delete;
    ~CallGroup() {
        if (open_) ncclGroupEnd();
    }
    void end() {
        open_ = false;
        check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    }

private:
    bool open_ = true;
};

}  // namespace

// Communicators in the order of the graph: no rank waits in one for a rank that waits in another.
NcclTransport::NcclTransport(const TaskGraph& graph, int rank, int gpu, const std::string& host, const std::string& bus,
                             std::unique_ptr<Transport> others)
    : gpu_(gpu), others_(std::move(others)) {
    use(gpu);
    const std::vector<GpuPlace> places = places_of_gpus(host, bus);
    const auto has_own_gpu = [&](int r) { return std::ranges::count(places, places[static_cast<std::size_t>(r)]) == 1; };
    for (CommunicatorIndex c = 0; c < graph.communicators().size(); ++c) {
        const Communicator& communicator = graph.communicators()[c];
        if (communicator.group == ParallelGroup::pipeline || communicator.with_server) continue;  // messages alone
        std::vector<int> members;
        for (const GraphRank r : communicator.members) members.push_back(graph.ranks()[r].rank);
        if (std::ranges::find(members, rank) == members.end() || !std::ranges::all_of(members, has_own_gpu)) continue;
        for (const bool beside : {false, true}) {
            const Group& made = groups_.emplace(std::pair(c, beside), make_group(members, rank)).first->second;
            if (communicator.group == ParallelGroup::expert && !beside) connect(made, members.size());  // who sends: all_to_all
        }
    }
}

// Sends are connected when they are first called for, and whoever does that waits for the other ranks: so it is done where all of them are.
void NcclTransport::connect(const Group& g, std::size_t members) const {
    const MemorySource memory = gpu_memory(gpu_, nullptr);
    const auto count = static_cast<std::int64_t>(members);
    const auto room = [&] {
        void* made = memory.allocate(count * bytes_of(Element::real));
        check(made == nullptr ? cudaErrorMemoryAllocation : cudaSuccess, "the room for a first exchange");
        return Array{{made, memory.release}, count, Element::real};
    };
    const std::vector<std::int64_t> each(members, 1);
    const CollectiveCall call{ExchangeKind::all_to_all, 0, Stream::compute, room(), room(), each, each};
    begin_parts(call, g);
    g.stream.wait();
}

NcclTransport::Group NcclTransport::make_group(const std::vector<int>& members, int rank) const {
    const ncclUniqueId id = agree_on_id(members, rank);
    const auto place = static_cast<int>(std::ranges::find(members, rank) - members.begin());
    ncclComm_t made = nullptr;
    check_nccl(ncclCommInitRank(&made, static_cast<int>(members.size()), id, place), "ncclCommInitRank");
    return {WorkStream(gpu_), {made, [](ncclComm_t c) { ncclCommAbort(c); }}};
}

Ticket NcclTransport::start(const Call& call) {
    const auto* collective = std::get_if<CollectiveCall>(&call);
    const auto group =
        collective == nullptr ? groups_.end() : groups_.find({collective->communicator, collective->stream != Stream::compute});
    if (group == groups_.end()) {
        of_others_.emplace(others_->start(call), next_);
        return next_++;
    }
    use(gpu_);
    begin(*collective, group->second);
    const Event event = make_event(Timing::off);
    check(cudaEventRecord(event.get(), group->second.stream.get()), "cudaEventRecord");
    running_.push_back({next_, &group->second, *collective, event});
    return next_++;
}

// What a call reads is there: whoever starts it has waited for that.
void NcclTransport::begin(const CollectiveCall& c, const Group& g) {
    if (!c.sends.empty() || !c.receives.empty()) return begin_parts(c, g);
    ncclComm_t comm = g.communicator.get();
    const ncclDataType_t type = type_of(c.to);
    const void* from = c.from.memory.get();
    void* to = c.to.memory.get();
    const auto here = static_cast<std::size_t>(c.from.elements), there = static_cast<std::size_t>(c.to.elements);
    switch (c.kind) {
        case ExchangeKind::all_reduce:
            return check_nccl(ncclAllReduce(from, to, there, type, ncclSum, comm, g.stream.get()), "ncclAllReduce");
        case ExchangeKind::all_gather: return check_nccl(ncclAllGather(from, to, here, type, comm, g.stream.get()), "ncclAllGather");
        case ExchangeKind::reduce_scatter:
            return check_nccl(ncclReduceScatter(from, to, there, type, ncclSum, comm, g.stream.get()), "ncclReduceScatter");
        case ExchangeKind::all_to_all:
        case ExchangeKind::none: throw BackendError("an exchange that no plan that runs here has");
    }
}

// What NCCL has no collective for, as one group of calls, one for each rank with its part.
void NcclTransport::begin_parts(const CollectiveCall& c, const Group& g) {
    ncclComm_t comm = g.communicator.get();
    const ncclDataType_t type = type_of(c.to);
    const auto for_each_part = [](const std::vector<std::int64_t>& parts, const Array& whole, const auto& work) {
        std::int64_t first = 0;
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            const Array part = whole.part(first, parts[rank]);
            if (part.elements > 0) work(static_cast<int>(rank), part.memory.get(), static_cast<std::size_t>(part.elements));
            first += part.elements;
        }
    };
    CallGroup calls;
    switch (c.kind) {
        case ExchangeKind::all_to_all:
            for_each_part(c.sends, c.from, [&](int rank, const void* part, std::size_t count) {
                check_nccl(ncclSend(part, count, type, rank, comm, g.stream.get()), "ncclSend");
            });
            for_each_part(c.receives, c.to, [&](int rank, void* part, std::size_t count) {
                check_nccl(ncclRecv(part, count, type, rank, comm, g.stream.get()), "ncclRecv");
            });
            break;
        case ExchangeKind::all_gather:
            for_each_part(c.receives, c.to, [&](int rank, void* part, std::size_t count) {
                check_nccl(ncclBroadcast(c.from.memory.get(), part, count, type, rank, comm, g.stream.get()), "ncclBroadcast");
            });
            break;
        case ExchangeKind::reduce_scatter:
            for_each_part(c.sends, c.from, [&](int rank, const void* part, std::size_t count) {
                check_nccl(ncclReduce(part, c.to.memory.get(), count, type, ncclSum, rank, comm, g.stream.get()), "ncclReduce");
            });
            break;
        case ExchangeKind::all_reduce:
        case ExchangeKind::none: throw BackendError("an exchange that no plan that runs here has");
    }
    calls.end();
}

void NcclTransport::poll(std::vector<Ticket>& done) {
    others_done_.clear();
    others_->poll(others_done_);
    for (const Ticket t : others_done_) {
        done.push_back(of_others_.at(t));
        of_others_.erase(t);
    }
    std::erase_if(running_, [&](const Running& r) {
        ncclResult_t state = ncclSuccess;
        check_nccl(ncclCommGetAsyncError(r.group->communicator.get(), &state), "ncclCommGetAsyncError");
        check_nccl(state, "a collective of NCCL");
        if (!Marks::reached({{}, r.event.get()})) return false;
        done.push_back(r.ticket);
        return true;
    });
}

}  // namespace sextant::cuda
