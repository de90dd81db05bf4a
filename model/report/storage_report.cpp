#include "model/report/storage_report.hpp"

namespace sextant {

Bandwidth read_bandwidth(const LoadingEstimate& e, const BenchmarkTraining& t) { return e.samples * t.sample; }

std::vector<NamedQuantity> named_quantities(const StorageReport& r) {
    const UnitTable* time = &unit_table<Seconds>();
    std::vector<NamedQuantity> list = {{"accelerators", static_cast<double>(r.estimate.accelerators), nullptr}};
    if (const auto& t = r.estimate.training) {
        list.push_back({"most_accelerators", static_cast<double>(t->most.value_or(most_emulated)), nullptr});
        list.push_back({"utilization", t->first.utilization, nullptr});
        list.push_back({"samples_per_s", t->first.samples.si(), nullptr});
        list.push_back({"read_bandwidth", read_bandwidth(t->first, *r.benchmark.training).si(), &unit_table<Bandwidth>()});
        list.push_back({"batch_time", t->first.batch.si(), time});
        list.push_back({"first_epoch", t->first_epoch.si(), time});
        list.push_back({"later_epoch", t->later_epoch.si(), time});
    }
    if (const auto& c = r.estimate.checkpoint) {
        list.push_back({"checkpoint.write", c->write.si(), time});
        list.push_back({"checkpoint.read", c->read.si(), time});
    }
    list.push_back({"run", r.estimate.run.si(), time});
    return list;
}

}  // namespace sextant
