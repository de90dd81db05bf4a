// Other settings of a job, as a report names them.
#include "model/io/report/report_fields.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/io/scenario/scenario_edits.hpp"

#include <algorithm>
#include <span>

namespace sextant {
namespace {

// "plan.shard_group=8 (-26 %), ", or of a job that does not fit "plan.data_parallel=zero3 (fits in 36.3 GB), ".
std::string listed(const Report& r, std::span<const PricedSetting> settings) {
    std::string text;
    for (const PricedSetting& s : settings)
        text +=
            set_text(edits_between(r.job, s.job)) +
            (r.estimate.fits() ? " (-" + percent_text(s.gain, 2) + (s.per_sample ? " a sample" : "") : " (fits in " + to_text(s.memory)) +
            "), ";
    return text;
}

}  // namespace

std::string what_would_move_it(const Report& r) {
    const Bottleneck& b = r.bottleneck;
    constexpr std::size_t most = 3;
    const std::span settings(b.settings);
    return listed(r, settings.first(std::min(most, settings.size()))) + listed(r, b.elsewhere) +
           (r.estimate.fits() ? "" : "what `sextant plan` finds, ") + b.what_else_helps;
}

std::string largest_micro_batch_text(const Report& r) {
    const std::int64_t largest = r.batch.largest_micro_batch, samples = r.job.plan.micro_batches() * r.job.plan.micro_batch;
    if (r.batch.any_micro_batch_fits()) return "any that a plan may ask for fits";
    if (largest == 0) return "none fits";
    return grouped_digits(largest) + " fits" +
           (largest > samples ? ", more than the " + grouped_digits(samples) + " that a step has for a rank" : "");
}

}  // namespace sextant
