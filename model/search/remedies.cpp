#include "model/plan/framework_defaults.hpp"
#include "model/search/advice.hpp"

#include <algorithm>
#include <functional>
#include <utility>

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
    Trials(SearchRequest request, const GoOn& go_on) : request_(std::move(request)), go_on_(go_on) {
        request_.top = 1;
        if (request_.devices.empty()) request_.devices = {request_.job.plan.devices()};
    }

    // Under the first that has a plan which fits, of those that can do something that the job's own cannot; least more comes first.
    void change_framework() {
        if (!request_.elsewhere || stopped_) return;
        std::vector<Scenario> places = request_.elsewhere();
        const std::vector<PlanFeature>& lacks = request_.job.framework.lacks;
        std::erase_if(places,
                      [&](const Scenario& s) { return std::ranges::none_of(lacks, [&](PlanFeature f) { return s.framework.can(f); }); });
        std::ranges::stable_sort(places, std::greater{}, [](const Scenario& s) { return s.framework.lacks.size(); });
        for (const Scenario& place : places) {
            SearchRequest changed = request_;
            changed.job = place;
            if (!keep_if_it_fits(RemedyKind::framework, changed)) continue;
            found_.back().framework = place.framework.name;
            return;
        }
    }

    // Keeps the change if a plan fits with it.
    bool keep_if_it_fits(RemedyKind kind, const SearchRequest& changed, std::optional<PlanField> field = {}) {
        if (stopped_) return false;
        try {
            const SearchResult found = search(changed, [this](const SearchProgress&) { return !go_on_ || go_on_(); });
            stopped_ = !found.complete;
            if (found.best.empty() || stopped_) return false;
            found_.push_back({kind, field, try_plan(changed.job, found.best.front().plan), {}});
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

    // Where the logits of a large vocabulary are what is too large.
    void cut_head() {
        SearchRequest changed = request_;
        changed.job.plan.head_chunks = enough_head_chunks;
        if (request_.job.workload.is_transformer() && request_.job.plan.head_chunks < enough_head_chunks)
            keep_if_it_fits(RemedyKind::head, changed);
    }

    // States and parameters go there in the search itself.
    void move_activations_to_the_host() {
        const Plan& own = request_.job.plan;
        if (own.forward_only || own.without_optimizer || !request_.job.framework.can(PlanFeature::offload)) return;
        SearchRequest changed = request_;
        changed.job.plan.offload_activations = OffloadActivations::all;
        if (own.offload_activations == OffloadActivations::none) keep_if_it_fits(RemedyKind::offload, changed);
    }

    void narrow_numbers() {
        Plan& plan = request_.job.plan;
        const Precision own = plan.precision;
        if (size_of(own.parameter) <= size_of(DataType::bf16)) return;
        SearchRequest changed = request_;
        const bool bf16 = matrix_path(request_.job.cluster.node.device, DataType::bf16, false).native;
        Plan& narrower = changed.job.plan;
        narrower.precision = precision_policy(bf16 ? DataType::bf16 : DataType::fp16);
        if (loads_frozen_weights_narrow(narrower, changed.job.framework, changed.job.workload)) narrower.autocast = false;
        keep_if_it_fits(RemedyKind::precision, changed);
    }

    void shrink_batch() {
        std::vector<std::int64_t> batches = request_.global_batches;
        if (batches.empty()) batches = {request_.job.plan.global_batch};
        SearchRequest changed = request_;
        for (std::int64_t batch = std::ranges::min(batches); batch % 2 == 0 && !stopped_;) {
            batch /= 2;
            changed.global_batches = {batch};
            if (keep_if_it_fits(RemedyKind::global_batch, changed)) return;
        }
    }

    // Twice as many until they are enough; then the fewest between: whole nodes, or devices where one node is.
    void add_devices() {
        const NodeSpec& node = request_.job.cluster.node;
        const int per_node = std::clamp(request_.job.plan.devices_per_node.value_or(node.devices), 1, node.devices);
        const std::int64_t most = std::int64_t{per_node} * request_.job.cluster.nodes;
        SearchRequest changed = request_;
        changed.job.reserved_devices = 0;
        changed.pinned.erase(PlanField::dp);
        const auto enough = [&](std::int64_t devices) {
            changed.devices = {static_cast<int>(devices)};
            return keep_if_it_fits(RemedyKind::devices, changed);
        };
        const std::int64_t largest = std::ranges::max(request_.devices);
        std::int64_t too_few = largest, n = largest < per_node ? per_node : 2 * largest;
        for (; n <= most && !enough(n); n *= 2) too_few = n;
        if (n > most || stopped_) return;
        const Remedy doubled = std::move(found_.back());
        found_.pop_back();
        // On a large cluster not every number is tried.
        constexpr std::int64_t most_trials = 64;
        const std::int64_t unit = n > per_node ? per_node : 1, step = unit * std::max<std::int64_t>(1, (n - too_few) / unit / most_trials);
        for (std::int64_t fewer = (too_few / step + 1) * step; fewer < n; fewer += step)
            if (enough(fewer)) return;
        found_.push_back(doubled);
    }

    std::vector<Remedy> found() && { return std::move(found_); }

private:
    SearchRequest request_;
    const GoOn& go_on_;
    bool stopped_ = false;
    std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> remedies(const SearchRequest& request, const GoOn& go_on) {
    Trials trials(request, go_on);
    trials.unpin();
    trials.cut_head();
    trials.move_activations_to_the_host();
    trials.narrow_numbers();
    trials.shrink_batch();
    trials.add_devices();
    trials.change_framework();
    return std::move(trials).found();
}

}  // namespace sextant
