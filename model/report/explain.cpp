#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/predict/stage_exchanges.hpp"
#include "model/report/explain_rest.hpp"
#include "model/report/report.hpp"
#include "model/report/roofline.hpp"

#include <algorithm>

namespace sextant {
namespace {

class Explainer {
public:
    explicit Explainer(const Prepared& prepared)
        : job_(prepared.state()),
          e_(estimate(prepared)),
          stages_(price_stages(job_, {})),
          groups_(job_.groups[static_cast<std::size_t>(e_.last_stage)]) {}

    std::vector<std::string> kernels(std::vector<Kernel> BlockKernels::*phase, Term term, std::string_view title) {
        say(std::string(title) + ": micro-batches x sum over blocks of kernel times; a kernel takes o + max(F/(P u), bytes/(W s))");
        say_rates();
        const StageBlocks& stage = job_.stages[static_cast<std::size_t>(e_.last_stage)];
        for (std::size_t t = 0; t < job_.templates.size(); ++t) {
            if (stage.count[t] == 0 || (job_.templates[t].*phase).empty()) continue;
            say("block kind " + std::to_string(t + 1) + ", " + std::to_string(stage.count[t]) + " on stage " +
                std::to_string(e_.last_stage) + ":");
            for (const Kernel& kernel : job_.templates[t].*phase) {
                const Kernel k = as_run(kernel, job_);
                const Seconds time = kernel_time(k, job_.rates);
                std::string line = "  " + k.name + "  " + shape_text(k) + "  " + to_text(time) + "  (" + to_text(k.bytes);
                if (k.flops > Flops{}) line += ", " + to_text(k.flops) + ", " + to_text(k.flops / time);
                say(line + ")");
            }
        }
        return finish(term);
    }

    std::vector<std::string> exchanges(std::initializer_list<ParallelGroup> which, Term term, std::string_view title) {
        say(std::string(title) + ": sum over exchanges of the fastest algorithm and protocol of " + job_.scenario.library.name);
        for (const ParallelGroup group : which) {
            say_group(groups_[group]);
            for (std::size_t t = 0; t < job_.templates.size(); ++t) {
                const BlockKernels& block = job_.templates[t];
                say_calls(t, "forward", block.forward_exchanges, group);
                say_calls(t, "backward", block.backward_exchanges, group);
                say_calls(t, "recompute", block.recompute_exchanges, group);
            }
        }
        return finish(term);
    }

    std::vector<std::string> data() {
        if (job_.scenario.plan.shards_parameters())
            say_sharded();
        else if (job_.scenario.plan.has_servers())
            say_served();
        else
            say_replicated();
        say("  hidden behind compute: " + to_text(e_.overlapped[Term::data_communication]));
        return finish(Term::data_communication);
    }

    std::vector<std::string> pipeline(Term term) {
        const Plan& plan = job_.scenario.plan;
        if (plan.pp == 1) {
            say("one stage: there is no other to wait for");
            return finish(term);
        }
        say(std::string(pipeline_formula(plan.schedule, plan.forward_only, job_.played != nullptr)));
        say("  sends are part of a stage's passes" +
            std::string(hides_sends(job_) ? ", but for those that hide behind compute, which add (p - 1) each way" : ""));
        say("  p " + std::to_string(plan.pp) + ", v " + std::to_string(plan.vpp) + ", m " + std::to_string(job_.micro_batches) +
            "; bubble is what a stage's own micro-batches leave of T");
        say_stage(e_.last_stage, "finishes last");
        if (e_.slowest_stage != e_.last_stage) say_stage(e_.slowest_stage, "the others wait for");
        say_group(job_.groups.send);
        const UpdateTime update = update_time(job_, static_cast<std::size_t>(e_.last_stage), {});
        if (update.tied > Bytes{})
            say("  the ends have one matrix both: its gradients, " + to_text(update.tied) + ", are summed in " +
                to_text(tied_sum_time(job_, update, {})));
        return finish(term);
    }

    std::vector<std::string> input() {
        say("where the next samples are read beside a step: by how much loading, copies, the work of the host's cores or what the queue "
            "cannot hold last longer than it; else loading. Copies that block add to it");
        if (!job_.input) return finish(Term::input);
        const InputJob& in = *job_.input;
        const InputEstimate e = estimate_input(in, without_input(e_), {});
        say("  " + number_text(in.readers) + " devices of a node take " + number_text(in.samples) + " samples a step each, from " +
            number_text(in.node.workers) + " workers on " + number_text(in.node.cores) + " cores");
        const auto say_epoch = [&](const std::string& name, const LoaderRate& rate, Seconds loading) {
            say("  " + name + ": a worker reads a sample in " + to_text(rate.reading) + " and works on it for " + to_text(rate.work) +
                "; " + grouped_digits(rate.samples.si(), 3) + " samples/s a node, limited by " + std::string(to_text(rate.limit)) +
                "; a step's in " + to_text(loading));
        };
        say_epoch("first epoch", e.first, e.first_loading);
        say_epoch("later epochs", e.later, e.later_loading);
        say("  in memory " + percent_text(e.cached) + ", on staging storage " + percent_text(e.staged) + "; copies to the device " +
            to_text(e.copies));
        return finish(Term::input);
    }

    std::vector<std::string> rest(Term term, std::vector<std::string> (*lines_of)(const ExplainedStage&)) {
        const auto stage = static_cast<std::size_t>(e_.last_stage);
        lines_ = lines_of({job_, stages_[stage], stage});
        return finish(term);
    }

private:
    void say(std::string line) { lines_.push_back(std::move(line)); }
    // What lies between the numbers of a data sheet and those of a kernel in a step.
    void say_rates() {
        const Scenario& s = job_.scenario;
        const Device& device = s.cluster.node.device;
        const DataType type = job_.precision.compute;
        const MatrixRate& rate = job_.rates.matrix[type];
        const double large = matrix_path(device, type, s.plan.precision.tf32, s.framework.tensor_units).peak->achievable.value;
        const double framework = s.framework.native_build.value;
        say("P sustained " + to_text(rate.sustained) + " in " + std::string(to_text(type)) + ": the maker's " + to_text(rate.peak) + " x " +
            number_text(large) + " that large products reach x " + number_text(framework) + " of the framework x " +
            number_text(rate.sustained / rate.peak / (large * framework)) + " of the clock in a long run");
        const Bandwidth streams = streaming_bandwidth(job_.rates);
        const double of_device = device.stream_fraction.value, of_framework = s.framework.streaming_efficiency.value;
        const double of_loads = streams / (device.memory_bandwidth.value * (of_device * of_framework));
        say("W s " + to_text(streams) + ": the maker's " + to_text(device.memory_bandwidth.value) + " x " + number_text(of_device) +
            " that it streams x " + number_text(of_framework) + " of the framework" +
            (job_.rates.loads > Bandwidth{} ? " x " + number_text(of_loads) + " of the loads that its kernels have under way" : "") +
            ", o " + to_text(job_.rates.kernel_overhead));
    }
    void say_group(const Group& g) {
        if (g.ranks < 2) return say("  one rank: free");
        say("  " + grouped_digits(g.ranks) + " ranks on " + grouped_digits(g.nodes) + (g.nodes > 1 ? " nodes" : " node") +
            ", ring bandwidth " + to_text(g.ring) + " per rank" + (g.crosses_network ? ", over the network" : "") +
            (g.through_host ? ", staged through host memory" : ""));
        const auto& reached = job_.scenario.library.staged_fraction;
        if (g.staged_inside && reached)
            say("  kernels that copy through host memory inside a node reach " + percent_text(reached->value, 2) + " of " +
                to_text(g.inside));
    }
    void say_stage(int stage, const std::string& which) {
        const StageTimes& times = stages_.times[stages_.kind_of[static_cast<std::size_t>(stage)]];
        say("  stage " + std::to_string(stage) + ", which " + which + ": f " + to_text(times.forward) + ", b " +
            to_text(times.backward + times.weights));
    }
    void say_calls(std::size_t block, std::string_view phase, const std::vector<ExchangeCall>& calls, ParallelGroup which) {
        for (const ExchangeCall& call : calls)
            if (call.group == which)
                say("  block kind " + std::to_string(block + 1) + " " + std::string(phase) + ": " + to_text(call.bytes) + ", " +
                    to_text(exchange_time(call, job_, groups_, {})));
    }
    void say_replicated() {
        const StageParameters p = parameters_of(job_, static_cast<std::size_t>(e_.last_stage));
        const auto& bucket = job_.scenario.framework.bucket;
        say("data-parallel communication that nothing hides: block by block, a bucket goes when its gradients are there and those before "
            "it are done; what is left of them when backward ends, all of it where the framework does not overlap");
        say_group(groups_[ParallelGroup::data]);
        say("  gradients " + to_text(p.trained.total() * size_of(job_.precision.reduction_type())) +
            (!bucket                   ? ", all together"
             : bucket->value > Bytes{} ? " in buckets of " + to_text(bucket->value)
                                       : ", each tensor alone"));
    }
    void say_served() {
        const double parameters = parameters_of(job_, 0).trained.total();
        const ServerPath& path = job_.groups.to_servers;
        say("what a worker waits for the servers: block by block its gradients go to them and are added up there, while all others' are, "
            "behind backward where the framework overlaps; then they update, and weights come back");
        say("  servers " + std::to_string(path.servers) + ", on a host " + std::to_string(path.on_a_host) +
            "; to all of them together a worker has " + to_text(min(path.host, path.network)));
        say("  gradients " + to_text(gradient_bytes(job_, parameters)) + ", weights " + to_text(weight_bytes(job_, parameters)) +
            "; host memory " + to_text(job_.nodes.host_memory));
    }
    void say_sharded() {
        const StageBlocks& stage = job_.stages[static_cast<std::size_t>(e_.last_stage)];
        say("data-parallel communication that nothing hides: block by block, what kernels wait for weights that are gathered ahead of "
            "them, and the scatters that are left when backward ends");
        say("  shards:");
        say_group(groups_[ParallelGroup::shard]);
        if (groups_[ParallelGroup::replicas].ranks > 1) {
            say("  replicas of each shard:");
            say_group(groups_[ParallelGroup::replicas]);
        }
        for (std::size_t t = 0; t < job_.templates.size(); ++t) {
            if (stage.count[t] == 0) continue;
            const BlockKernels& k = job_.templates[t];
            const ShardedBlockPrice price = price_sharded_block({k.trained, k.frozen}, job_, groups_, {});
            say("  block kind " + std::to_string(t + 1) + ", " + std::to_string(stage.count[t]) + " on stage " +
                std::to_string(e_.last_stage) + ": gather " + to_text(price.gather) + ", scatter " + to_text(price.scatter));
        }
    }
    std::vector<std::string> finish(Term term) {
        say(std::string(to_text(term)) + " = " + to_text(e_.terms[term]) + " of " + to_text(e_.step));
        return std::move(lines_);
    }

    const Prepared::State& job_;
    Estimate e_;
    OwnStagePrices stages_;
    const JobGroups& groups_;  // of the stage that the terms are of
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> explain(const Prepared& prepared, Term term) {
    Explainer x(prepared);
    switch (term) {
        case Term::forward: return x.kernels(&BlockKernels::forward, term, "forward");
        case Term::backward: return x.kernels(&BlockKernels::backward, term, "backward");
        case Term::recompute: return x.kernels(&BlockKernels::recompute, term, "recompute");
        case Term::tensor_communication:
            return x.exchanges({ParallelGroup::tensor, ParallelGroup::expert_tensor}, term, "tensor-parallel exchanges");
        case Term::context_communication: return x.exchanges({ParallelGroup::context}, term, "context-parallel exchanges");
        case Term::expert_communication: return x.exchanges({ParallelGroup::expert}, term, "expert exchanges");
        case Term::data_communication: return x.data();
        case Term::pipeline_communication:
        case Term::bubble: return x.pipeline(term);
        case Term::optimizer: return x.rest(term, optimizer_lines);
        case Term::input: return x.input();
        case Term::launch: return x.rest(term, launch_lines);
        case Term::offload: return x.rest(term, offload_lines);
        case Term::straggler: return x.rest(term, straggler_lines);
        case Term::overhead: return x.rest(term, overhead_lines);
    }
    return {};
}

}  // namespace sextant
