#include "model/predict/cost_table.hpp"

#include "model/base/overloaded.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/predict/block_memory.hpp"
#include "model/predict/gathered_weights.hpp"
#include "model/predict/input.hpp"
#include "model/predict/parameter_servers.hpp"
#include "model/predict/phase_walk.hpp"
#include "model/predict/stage_exchanges.hpp"
#include "model/predict/update.hpp"

#include <array>
#include <utility>

namespace sextant {
namespace {

// Kernels join the piece that the last one opened; an exchange closes it.
void append(std::vector<Piece>& pieces, const Piece& next) {
    if (pieces.empty() || pieces.back().exchange || pieces.back().kind != next.kind) {
        pieces.push_back(next);
        return;
    }
    Piece& open = pieces.back();
    open.device += next.device;
    open.host += next.host;
    open.bytes += next.bytes;
    open.flops += next.flops;
    open.exchange = next.exchange;
}

// The pieces of one block, by what is asked of it.
struct BlockPieces {
    std::vector<Piece> forward, backward, backward_input, backward_weight, recompute;
    // Copies of activations to or from host memory that nothing hides; and the same for a recomputed block.
    std::array<Seconds, 2> copies_there, copies_back;

    [[nodiscard]] const std::vector<Piece>& of(Phase phase) const {
        switch (phase) {
            case Phase::forward: return forward;
            case Phase::backward: return backward;
            case Phase::backward_input: return backward_input;
            case Phase::backward_weight: break;
        }
        return backward_weight;
    }
};

bool makes_weight_gradients(Phase phase) { return phase == Phase::backward || phase == Phase::backward_weight; }

class Pricer {
public:
    Pricer(const Prepared::State& job, const TaskGraph& graph) : job_(job), plan_(job.scenario.plan), graph_(graph) {
        for (const JobGroups& groups : job.groups.kinds) {
            blocks_.emplace_back();
            for (const BlockKernels& k : job.templates) blocks_.back().push_back(pieces_of(k, groups));
        }
        const HostTime recompute = host_time(job, Pass::recompute);
        checkpoint_.kind = SpanKind::forward;
        (recompute.waits ? checkpoint_.device : checkpoint_.host) = recompute.block;
        gathered_.resize(graph.blocks().size());
        for (const Work& work : graph.works()) {
            if (const auto* gather = std::get_if<CollectiveWork>(&work); gather && comes_for_a_pass(*gather) > Bytes{})
                for (int block = gather->first_block; block < gather->first_block + gather->count; ++block)
                    gathered_[static_cast<std::size_t>(block)] += comes_for_a_pass(*gather) / gather->count;
            if (const auto* fetch = std::get_if<OffloadWork>(&work); fetch && comes_for_a_pass(*fetch) > Bytes{})
                gathered_[static_cast<std::size_t>(fetch->block)] += comes_for_a_pass(*fetch);
        }
    }

    // What a stage does.
    WorkPrice price(const ComputeWork& work, std::size_t stage) const {
        WorkPrice price;
        const std::vector<BlockPieces>& blocks = blocks_[job_.groups.kind_of[stage]];
        const bool ahead = work.phase == Phase::forward;
        PassMemory pass(job_, work.phase == Phase::backward_input);
        for (int i = 0; i < work.count; ++i) {
            const int number = work.first_block + (ahead ? i : work.count - 1 - i);
            const auto block = static_cast<std::size_t>(number);
            const BlockInstance& instance = graph_.blocks()[block];
            const auto t = static_cast<std::size_t>(instance.block_template);
            const auto copy = [&](Seconds time) {
                if (time > Seconds{}) append(price.pieces, {SpanKind::offload, time, {}, {}, {}});
            };
            const bool needs_activations = work.phase == Phase::backward || work.phase == Phase::backward_input;
            if (needs_activations) pass.add(job_.templates[t], instance.recomputed);
            if (needs_activations) copy(blocks[t].copies_back[instance.recomputed]);
            if (instance.recomputed && needs_activations)
                for (const Piece& piece : blocks[t].recompute) append(price.pieces, piece);
            if (instance.recomputed && ahead) append(price.pieces, checkpoint_);
            for (const Piece& piece : blocks[t].of(work.phase)) append(price.pieces, piece);
            if (ahead) copy(blocks[t].copies_there[instance.recomputed]);
            add_memory(job_.templates[t], instance, work.phase, gathered_[block], price);
        }
        price.working = max(price.working, pass.working());
        return price;
    }

    WorkPrice price(const CollectiveWork& work, std::size_t stage) const {
        const Group& group = job_.groups[stage][work.group];
        const Bytes size = bytes_of(work) / work.calls;
        CollectivePrice one = collective_price(collective_of(work.kind), size, group, job_.scenario.library);
        if (is_gather(work)) one.fixed += job_.nodes.turn;
        if (plan_.shards_parameters()) one.fixed += pieces_time(group, job_);
        WorkPrice price = calls(work.calls, span_kind(work.payload), {work.group, one, 0, collective_of(work.kind), size});
        price.allocates = comes_for_a_pass(work);
        return price;
    }

    // To the next stage as a send of the library. A parameter server's host memory is read and written straight; a server on a core copies
    // what it is sent as part of what it does.
    WorkPrice price(const TransferWork& work) const {
        const Bytes size = work.elements * size_of(work.type);
        const SpanKind kind = span_kind(work.payload);
        if (kind == SpanKind::data_exchange)
            return calls(1, kind, {ParallelGroup::data, {{}, is_taken(work) ? Bytes{} : size, Pattern::path}, 0, Collective::send, size});
        CollectivePrice send = collective_price(Collective::send, size, job_.groups.send, job_.scenario.library);
        send.fixed += job_.nodes.turn;
        return calls(1, kind, {ParallelGroup::pipeline, send, 0, Collective::send, size});
    }

    void append_tied_sum(WorkPrice& price, const UpdateTime& update) const {
        if (const Seconds time = tied_sum_time(job_, update, {}); time > Seconds{})
            append(price.pieces, {SpanKind::pipeline_transfer, time, {}, {}, {}});
    }
    WorkPrice price(const UpdateWork& work) const {
        const UpdateTime update = update_time(job_, static_cast<std::size_t>(work.stage), {});
        WorkPrice price;
        append_tied_sum(price, update);
        append(price.pieces, {SpanKind::optimizer, update.device, update.launches, {}, {}});
        return price;
    }

    WorkPrice price(const OffloadWork& work) const {
        const auto stage = static_cast<std::size_t>(work.stage);
        if (work.elements > 0) {
            const Bytes copied = work.elements * work.over_link;
            WorkPrice price = busy(SpanKind::offload, host_copy_time(job_, copied, work.elements * work.in_host_memory, {}));
            price.allocates = comes_for_a_pass(work);
            return price;
        }
        const UpdateTime update = update_time(job_, stage, {});
        WorkPrice price;
        append_tied_sum(price, update);
        if (update.device > Seconds{}) append(price.pieces, {SpanKind::optimizer, update.device, {}, {}, {}});
        append(price.pieces, {SpanKind::offload, update.host, {}, {}, {}});
        return price;
    }

    WorkPrice price(const OverheadWork& work) const {
        const Framework& f = job_.scenario.framework;
        return busy(SpanKind::overhead, job_.on_host(work.of_step ? f.step_overhead : f.micro_batch_overhead));
    }

    WorkPrice price(const ServeWork& work) const {
        const Bytes bytes = gradient_bytes(job_, work.elements);
        return busy(SpanKind::serve, work.update ? server_update_time(job_, bytes) : server_sum_time(job_, bytes));
    }

    WorkPrice price(const LoadWork& work) const {
        Piece piece;
        piece.kind = SpanKind::read;
        piece.load = price_load(*job_.input, work.samples);
        piece.bytes = piece.load->bytes;
        return {{piece}, {}, {}, {}};
    }
    WorkPrice price(const CopyWork& work) const { return busy(SpanKind::device_copy, price_copy(*job_.input, work.samples)); }
    static WorkPrice price(const TakeWork&) { return {}; }

private:
    BlockPieces pieces_of(const BlockKernels& k, const JobGroups& groups) const {
        const HostTime ahead = host_time(job_, Pass::forward), back = host_time(job_, Pass::backward),
                       recompute = host_time(job_, Pass::recompute);
        const KernelTimes times = kernel_times(k, job_, {});
        const auto backward = [&](SpanKind kind, BackwardPart part) {
            return pieces_of({k.backward, times.backward, k.backward_exchanges, part}, kind, groups, back);
        };
        const SegmentPrice all = price_block(k, times, job_, groups, {});
        return {pieces_of({k.forward, times.forward, k.forward_exchanges}, SpanKind::forward, groups, ahead),
                backward(SpanKind::backward, BackwardPart::whole),
                backward(SpanKind::backward, BackwardPart::inputs),
                backward(SpanKind::weight_gradient, BackwardPart::weights),
                pieces_of({k.recompute, times.recompute, k.recompute_exchanges}, SpanKind::recompute, groups, recompute),
                {all.forward.copies, all.forward.copies + all.checkpoint.copies},
                {all.backward.copies, all.backward.copies + all.recompute.copies}};
    }

    std::vector<Piece> pieces_of(const BlockPhase& phase, SpanKind kind, const JobGroups& groups, const HostTime& host) const {
        std::vector<Piece> pieces;
        const auto on_kernel = [&](const Kernel& k, Seconds time) {
            append(pieces, {kind, time, k.launches * host.launch, k.bytes, k.flops});
        };
        const auto on_exchange = [&](const ExchangeCall& call, const Group& group, const CollectivePrice& price, double hidden) {
            const PricedExchange exchange{call.group, price, hidden, collective_of(call.kind), sent_bytes(call, group, job_)};
            append(pieces, {kind, {}, host.launch, {}, {}, exchange});
        };
        walk(phase, job_, groups, {}, on_kernel, on_exchange);
        if (!pieces.empty()) pieces.front().host += host.block;
        if (host.waits)
            for (Piece& p : pieces) p.device += std::exchange(p.host, {});
        return pieces;
    }

    void add_memory(const BlockKernels& k, const BlockInstance& block, Phase phase, Bytes gathered, WorkPrice& price) const {
        const bool ahead = phase == Phase::forward;
        const Bytes logits = waiting_logits(k, plan_);
        const Bytes waiting = waiting_activations(k, job_, block.recomputed) + logits;
        if (plan_.forward_only)
            price.working = max(price.working, working_memory(k, job_, false) + logits);
        else if (ahead)
            price.allocates += waiting;
        if (makes_weight_gradients(phase)) price.releases += waiting;
        const Bytes regained = regained_activations(k, job_, block.recomputed);
        if (phase == Phase::backward_input) price.allocates += regained;
        if (phase == Phase::backward_weight) price.releases += regained;
        price.releases += gathered;
    }

    // By the server, who copies it.
    [[nodiscard]] bool is_taken(const TransferWork& work) const {
        return work.payload == Payload::gradients && shared_with_servers(job_).has_value();
    }
    // Gathering weights of which the rank holds only a part.
    [[nodiscard]] bool is_gather(const CollectiveWork& work) const {
        return plan_.shards_parameters() && work.kind == ExchangeKind::all_gather && work.payload == Payload::weights;
    }
    // Weights that the pass behind them gives back. What comes up from the host is a block's as a whole where no rank holds a part of it.
    [[nodiscard]] Bytes comes_for_a_pass(const CollectiveWork& work) const {
        return is_gather(work) && gives_back_weights(plan_, job_.scenario.framework) ? bytes_of(work) : Bytes{};
    }
    [[nodiscard]] Bytes comes_for_a_pass(const OffloadWork& work) const {
        const bool all = work.what == Offloaded::weights && plan_.shard_ranks() == 1;
        return all && gives_back_weights(plan_, job_.scenario.framework) ? work.elements * work.over_link : Bytes{};
    }
    static Bytes bytes_of(const CollectiveWork& work) { return work.elements * size_of(work.type); }

    static WorkPrice calls(int count, SpanKind kind, const PricedExchange& exchange) {
        Piece piece;
        piece.kind = kind;
        piece.exchange = exchange;
        WorkPrice work;
        work.pieces.assign(static_cast<std::size_t>(count), piece);
        return work;
    }
    static WorkPrice busy(SpanKind kind, Seconds time) {
        WorkPrice work;
        work.pieces.push_back({kind, time, {}, {}, {}});
        return work;
    }

    const Prepared::State& job_;
    const Plan& plan_;
    const TaskGraph& graph_;
    std::vector<std::vector<BlockPieces>> blocks_;  // by kind of groups, by template
    Piece checkpoint_;                              // beside the forward of a block that is recomputed
    std::vector<Bytes> gathered_;                   // by block: what its weights take, gathered or fetched once
};

// The stage that does each work. Where several may, since it belongs to no block, the first of them.
std::vector<std::size_t> stages_of_works(const TaskGraph& graph) {
    std::vector<std::size_t> stages(graph.works().size());
    for (std::size_t s = graph.segments().size(); s-- > 0;) {
        const Segment& segment = graph.segments()[s];
        stages[segment.work] = static_cast<std::size_t>(graph.ranks()[segment.rank].stage);
    }
    return stages;
}

}  // namespace

CostTable cost_table(const Prepared& prepared, const TaskGraph& graph) {
    const Prepared::State& job = prepared.state();
    const Framework& f = job.scenario.framework;
    const Pricer pricer(job, graph);
    CostTable table;
    table.works.reserve(graph.works().size());
    const std::vector<std::size_t> stages = stages_of_works(graph);
    for (std::size_t w = 0; w < stages.size(); ++w) {
        const Overloaded price{[&](const ComputeWork& work) { return pricer.price(work, stages[w]); },
                               [&](const CollectiveWork& work) { return pricer.price(work, stages[w]); },
                               [&](const auto& work) { return pricer.price(work); }};
        table.works.push_back(std::visit(price, graph.works()[w]));
    }
    table.overlap_slowdown = f.overlap_slowdown.value;
    table.hosts_wait = waits_for_transfers(job.scenario.plan, f);
    table.hosts_load = job.hosts_load();
    if (job.input) table.loaders = loader_prices(*job.input, job);
    table.fusion = gradient_fusion(job.scenario.plan, f);
    table.servers = shared_with_servers(job);
    return table;
}

}  // namespace sextant
