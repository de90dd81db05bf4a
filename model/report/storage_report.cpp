#include "model/report/storage_report.hpp"

namespace sextant {

Bandwidth read_bandwidth(const LoadingEstimate& e, const BenchmarkTraining& t) { return e.samples * t.sample; }

std::vector<NamedQuantity> named_quantities(const StorageReport& r) {
    std::vector<NamedQuantity> list = {{"accelerators", static_cast<double>(r.estimate.accelerators)}};
    if (const auto& t = r.estimate.training) {
        list.emplace_back("most_accelerators", static_cast<double>(t->most.value_or(most_emulated)));
        list.emplace_back("utilization", t->first.utilization);
        list.emplace_back("samples_per_s", t->first.samples);
        list.emplace_back("read_bandwidth", read_bandwidth(t->first, *r.benchmark.training));
        list.emplace_back("batch_time", t->first.batch);
        list.emplace_back("first_epoch", t->first_epoch);
        list.emplace_back("later_epoch", t->later_epoch);
    }
    if (const auto& c = r.estimate.checkpoint) {
        list.emplace_back("checkpoint.write", c->write);
        list.emplace_back("checkpoint.read", c->read);
    }
    list.emplace_back("run", r.estimate.run);
    return list;
}

}  // namespace sextant
