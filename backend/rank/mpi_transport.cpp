#include "backend/rank/mpi_transport.hpp"

#include "backend/exec/routing.hpp"
#include "backend/rank/mpi_world.hpp"
#include "backend/storage/clock.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

namespace sextant {
namespace {

// Open MPI looks which messages are done, and moves some after that. So it is asked twice, and again while that takes so long that it has
// moved some.
constexpr Seconds long_look = 20 * units::us;

int count_of(const Array& a) {
    if (a.elements > std::numeric_limits<int>::max())
        throw BackendError("an exchange of " + std::to_string(a.elements) + " elements is more than one MPI call takes");
    return static_cast<int>(a.elements);
}

// A part that lies where it belongs in the whole is not copied there.
bool lies_in(const Array& part, const Array& whole) {
    const auto* begin = whole.as<std::byte>();
    return part.as<std::byte>() >= begin && part.as<std::byte>() < begin + whole.bytes();
}

// MPI has no numbers of 16 bits: they travel as integers, and are summed by operations of ours.
MPI_Datatype type_of(Element e) {
    switch (e) {
        case Element::real: return MPI_FLOAT;
        case Element::bf16:
        case Element::fp16: return MPI_UINT16_T;
        case Element::mask: return MPI_UINT8_T;
        case Element::index: break;
    }
    return MPI_INT64_T;
}

template <class Half>
void add(void* from, void* sums, int* count, MPI_Datatype*) {  // NOLINT(readability-non-const-parameter): as MPI has it
    const auto* x = static_cast<const Half*>(from);
    auto* sum = static_cast<Half*>(sums);
    for (int i = 0; i < *count; ++i) sum[i] = sum[i] + x[i];
}

MPI_Op operation(MPI_User_function* function) {
    MPI_Op made = MPI_OP_NULL;
    check_mpi(MPI_Op_create(function, 1, &made), "MPI_Op_create");
    return made;
}

// How many elements each rank has of the whole, and where they begin.
void note(const std::vector<std::int64_t>& elements, const Array& whole, std::vector<int>& counts, std::vector<int>& begins) {
    count_of(whole);  // refuses what MPI cannot count
    for (const std::int64_t n : elements) {
        begins.push_back(counts.empty() ? 0 : begins.back() + counts.back());
        counts.push_back(static_cast<int>(n));
    }
}

}  // namespace

MpiTransport::MpiTransport(const TaskGraph& graph, int rank) : bf16_sum_(operation(add<Bf16>)), fp16_sum_(operation(add<Fp16>)) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
    int* upper = nullptr;
    int known = 0;
    check_mpi(MPI_Comm_get_attr(world_, MPI_TAG_UB, static_cast<void*>(&upper), &known), "MPI_Comm_get_attr");
    largest_tag_ = known != 0 ? *upper : 32767;  // what the standard promises
    MPI_Group all = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
    for (CommunicatorIndex c = 0; c < graph.communicators().size(); ++c) {
        const Communicator& communicator = graph.communicators()[c];
        if (communicator.group == ParallelGroup::pipeline || communicator.with_server) continue;  // messages alone
        std::vector<int> members;
        for (const GraphRank r : communicator.members) members.push_back(graph.ranks()[r].rank);
        if (std::ranges::find(members, rank) == members.end()) continue;
        MPI_Group group = MPI_GROUP_NULL;
        check_mpi(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &group), "MPI_Group_incl");
        for (const bool beside : {false, true}) {
            MPI_Comm& made = groups_[{c, beside}];
            check_mpi(MPI_Comm_create_group(world_, group, static_cast<int>(c), &made), "MPI_Comm_create_group");
            MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
        }
        MPI_Group_free(&group);
    }
    MPI_Group_free(&all);
}

MpiTransport::~MpiTransport() {
    if (std::uncaught_exceptions() > 0) return;  // the others may not be there to free them with; the job is about to be ended
    for (auto& [key, communicator] : groups_) MPI_Comm_free(&communicator);
    MPI_Op_free(&bf16_sum_);
    MPI_Op_free(&fp16_sum_);
    MPI_Comm_free(&world_);
}

MPI_Op MpiTransport::sum_of(Element e) const { return e == Element::bf16 ? bf16_sum_ : e == Element::fp16 ? fp16_sum_ : MPI_SUM; }

Ticket MpiTransport::start(const Call& call) {
    requests_.push_back(std::visit([&](const auto& c) { return begin(c); }, call));
    tickets_.push_back(next_);
    return next_++;
}

void MpiTransport::poll(std::vector<Ticket>& done) {
    finished_.resize(requests_.size());
    int count = 0;
    const auto test = [&] {
        check_mpi(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(), MPI_STATUSES_IGNORE),
                  "MPI_Testsome");
    };
    test();
    while (count == 0) {
        const Seconds before = now();
        test();
        if (now() - before < long_look) break;
    }
    if (count == MPI_UNDEFINED || count == 0) return;
    finished_.resize(static_cast<std::size_t>(count));
    std::ranges::sort(finished_);
    for (const int i : finished_) {
        done.push_back(tickets_[static_cast<std::size_t>(i)]);
        const auto parts = parts_.find(done.back());
        if (parts == parts_.end()) continue;
        if (parts->second.sum) add_terms(parts->second);
        parts_.erase(parts);
    }
    for (std::size_t i = finished_.size(); i-- > 0;) {
        requests_.erase(requests_.begin() + finished_[i]);
        tickets_.erase(tickets_.begin() + finished_[i]);
    }
}

MPI_Request MpiTransport::begin(const CollectiveCall& c) {
    if (c.kind == ExchangeKind::reduce_scatter) return begin_reduce_scatter(c);
    if (!c.sends.empty() || !c.receives.empty()) return begin_parts(c);
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Datatype type = type_of(c.to.element);
    const MPI_Op sum = sum_of(c.to.element);
    void* to = c.to.memory.get();
    const MPI_Comm group = groups_.at({c.communicator, c.stream != Stream::compute});
    switch (c.kind) {
        case ExchangeKind::all_reduce:
            check_mpi(MPI_Iallreduce(MPI_IN_PLACE, to, count_of(c.to), type, sum, group, &request), "MPI_Iallreduce");
            break;
        case ExchangeKind::all_gather: {
            const void* from = lies_in(c.from, c.to) ? MPI_IN_PLACE : c.from.memory.get();
            const int count = count_of(c.from);
            check_mpi(MPI_Iallgather(from, count, type, to, count, type, group, &request), "MPI_Iallgather");
            break;
        }
        case ExchangeKind::reduce_scatter:
        case ExchangeKind::all_to_all:
        case ExchangeKind::none: throw BackendError("an exchange that no plan that runs here has");
    }
    return request;
}

MPI_Request MpiTransport::begin_parts(const CollectiveCall& c) {
    Parts& parts = parts_[next_];
    note(c.sends, c.from, parts.sends, parts.send_begins);
    note(c.receives, c.to, parts.receives, parts.receive_begins);
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Datatype type = type_of(c.to.element);
    const void* from = c.from.memory.get();
    void* to = c.to.memory.get();
    const MPI_Comm group = groups_.at({c.communicator, c.stream != Stream::compute});
    switch (c.kind) {
        case ExchangeKind::all_to_all:
            check_mpi(MPI_Ialltoallv(from, parts.sends.data(), parts.send_begins.data(), type, to, parts.receives.data(),
                                     parts.receive_begins.data(), type, group, &request),
                      "MPI_Ialltoallv");
            break;
        case ExchangeKind::all_gather:
            check_mpi(MPI_Iallgatherv(from, count_of(c.from), type, to, parts.receives.data(), parts.receive_begins.data(), type, group,
                                      &request),
                      "MPI_Iallgatherv");
            break;
        case ExchangeKind::reduce_scatter:
        case ExchangeKind::all_reduce:
        case ExchangeKind::none: throw BackendError("an exchange that no plan that runs here has");
    }
    return request;
}

// Open MPI's own reduces everything to one rank, and scatters it from there: the link of that rank carries all bytes, and half of them
// again. So each part goes to the rank that it belongs to, which adds up what came.
MPI_Request MpiTransport::begin_reduce_scatter(const CollectiveCall& c) {
    const MPI_Comm group = groups_.at({c.communicator, c.stream != Stream::compute});
    int ranks = 0;
    check_mpi(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
    const std::vector<std::int64_t> mine(static_cast<std::size_t>(ranks), c.to.elements);
    const std::int64_t terms = ranks * c.to.elements;
    Parts& parts = parts_[next_];
    parts.terms = {rooms_.take(room_for(terms) * bytes_of(c.to.element)), terms, c.to.element};
    parts.sum = c.to;
    note(c.sends.empty() ? mine : c.sends, c.from, parts.sends, parts.send_begins);
    note(mine, parts.terms, parts.receives, parts.receive_begins);
    const MPI_Datatype type = type_of(c.to.element);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ialltoallv(c.from.memory.get(), parts.sends.data(), parts.send_begins.data(), type, parts.terms.memory.get(),
                             parts.receives.data(), parts.receive_begins.data(), type, group, &request),
              "MPI_Ialltoallv");
    return request;
}

// In the order of the ranks.
void MpiTransport::add_terms(const Parts& parts) const {
    void* sum = parts.sum.memory.get();
    std::memcpy(sum, parts.terms.memory.get(), static_cast<std::size_t>(parts.sum.bytes()));
    for (std::size_t rank = 1; rank < parts.receives.size(); ++rank) {
        const Array term = parts.terms.part(parts.receive_begins[rank], parts.receives[rank]);
        check_mpi(MPI_Reduce_local(term.memory.get(), sum, count_of(term), type_of(term.element), sum_of(term.element)),
                  "MPI_Reduce_local");
    }
}

MPI_Request MpiTransport::begin(const MessageCall& m) {
    if (m.tag > largest_tag_) throw BackendError("the step has more transfers than MPI has tags");
    MPI_Request request = MPI_REQUEST_NULL;
    void* data = m.data.memory.get();
    const MPI_Datatype type = type_of(m.data.element);
    if (m.receives)
        check_mpi(MPI_Irecv(data, count_of(m.data), type, m.peer, m.tag, world_, &request), "MPI_Irecv");
    else
        check_mpi(MPI_Isend(data, count_of(m.data), type, m.peer, m.tag, world_, &request), "MPI_Isend");
    return request;
}

MPI_Request MpiTransport::begin(const SumCall& s) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, s.sum.reals(), count_of(s.sum), MPI_FLOAT, MPI_SUM, world_, &request), "MPI_Iallreduce");
    return request;
}

MPI_Request MpiTransport::begin(const BarrierCall&) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(world_, &request), "MPI_Ibarrier");
    return request;
}

}  // namespace sextant
