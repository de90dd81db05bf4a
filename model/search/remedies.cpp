#include "model/search/advice.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Small changes before large ones.
constexpr std::array from_small_to_large{PlanField::recompute,
                                         PlanField::micro_batch,
                                         PlanField::sequence_parallel,
                                         PlanField::schedule,
                                         PlanField::vpp,
                                         PlanField::stage_blocks,
                                         PlanField::data_parallel,
                                         PlanField::shard_group,
                                         PlanField::offload,
                                         PlanField::placement,
                                         PlanField::ep,
                                         PlanField::expert_tp,
                                         PlanField::cp,
                                         PlanField::tp,
                                         PlanField::pp,
                                         PlanField::dp};

class Trials {
public:
    explicit Trials(const SearchRequest& request) : request_(request) {
        request_.top = 1;
        if (request_.devices.empty()) request_.devices = {request_.job.plan.devices()};
    }

    // Keeps the change if a plan fits with it.
    bool keep_if_it_fits(RemedyKind kind, const SearchRequest& changed, std::optional<PlanField> field = {}) {
        try {
            const SearchResult found = search(changed);
            if (found.best.empty()) return false;
            found_.push_back({kind, field, try_plan(changed.job, found.best.front().plan)});
            return true;
        } catch (const InputError&) {
            return false;
        }
    }

    void unpin() {
        for (const PlanField field : from_small_to_large) {
            SearchRequest changed = request_;
            if (changed.pinned.erase(field) > 0) keep_if_it_fits(RemedyKind::unpinned, changed, field);
        }
    }

    void move_to_the_host() {
        const Plan& own = request_.job.plan;
        if (own.forward_only || own.without_optimizer || !request_.job.framework.can(PlanFeature::offload)) return;
        SearchRequest changed = request_;
        changed.job.plan.offload = Offload::optimizer_and_parameters;
        changed.pinned.insert(PlanField::offload);
        if (own.offload != Offload::optimizer_and_parameters) keep_if_it_fits(RemedyKind::offload, changed);
        changed = request_;
        changed.job.plan.offload_activations = true;
        if (!own.offload_activations) keep_if_it_fits(RemedyKind::offload, changed);
    }

    void narrow_numbers() {
        Plan& plan = request_.job.plan;
        const Precision own = plan.precision;
        if (size_of(own.parameter) <= size_of(DataType::bf16)) return;
        SearchRequest changed = request_;
        changed.job.plan.precision = precision_policy(DataType::bf16);
        keep_if_it_fits(RemedyKind::precision, changed);
    }

    void shrink_batch() {
        std::vector<std::int64_t> batches = request_.global_batches;
        if (batches.empty()) batches = {request_.job.plan.global_batch};
        SearchRequest changed = request_;
        for (std::int64_t batch = std::ranges::min(batches); batch % 2 == 0;) {
            batch /= 2;
            changed.global_batches = {batch};
            if (keep_if_it_fits(RemedyKind::global_batch, changed)) return;
        }
    }

    void add_devices() {
        const NodeSpec& node = request_.job.cluster.node;
        const int per_node = std::clamp(request_.job.plan.devices_per_node.value_or(node.devices), 1, node.devices);
        const std::int64_t most = std::int64_t{per_node} * request_.job.cluster.nodes;
        SearchRequest changed = request_;
        changed.job.reserved_devices = 0;
        changed.pinned.erase(PlanField::dp);
        const std::int64_t largest = std::ranges::max(request_.devices);
        for (std::int64_t n = largest < per_node ? per_node : 2 * largest; n <= most; n *= 2) {
            changed.devices = {static_cast<int>(n)};
            if (keep_if_it_fits(RemedyKind::devices, changed)) return;
        }
    }

    std::vector<Remedy> found() && { return std::move(found_); }

private:
    SearchRequest request_;
    std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> remedies(const SearchRequest& request) {
    Trials trials(request);
    trials.unpin();
    trials.move_to_the_host();
    trials.narrow_numbers();
    trials.shrink_batch();
    trials.add_devices();
    return std::move(trials).found();
}

}  // namespace sextant
