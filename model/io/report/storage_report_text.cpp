#include "model/base/grouped_digits.hpp"
#include "model/base/overloaded.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/storage_report_writer.hpp"

#include <cmath>

namespace sextant {
namespace {

// The numbers that bound the storage, each with the kind of its source.
std::string storage_text(const StorageClass& s) {
    std::string text = s.name + (s.shared ? ", shared" : ", of each host");
    const auto shown = Overloaded{[](Bandwidth b) { return to_text(b); }, [](Frequency f) { return per_second_text(f); }};
    const auto add = [&](const char* what, const auto& number) {
        if (number) text += std::string("; ") + what + " " + shown(number->value) + " (" + std::string(to_text(number->kind)) + ")";
    };
    add("a stream", s.read_bandwidth);
    add("a host", s.client_read_bandwidth);
    add("all", s.total_read_bandwidth);
    add("operations", s.random_read_rate);
    add("opens", s.metadata_rate);
    return text;
}

std::string header_text(const StorageBenchmark& b) {
    TextTable table;
    table.row({"storage", storage_text(b.storage)});
    table.row({"hosts", grouped_digits(b.hosts) + (b.network ? ", " + to_text(*b.network) + " each" : "")});
    if (b.training) {
        const BenchmarkTraining& t = *b.training;
        table.row({"dataset", counted(t.files, "file") + ", " + counted(t.samples(), "sample") + " of " + to_text(t.sample) + ": " +
                                  to_text(t.samples() * t.sample)});
        table.row({"an accelerator", "computes " + to_text(t.computation) + " for each batch of " + counted(std::round(t.batch), "sample") +
                                         ", fed by " + (t.readers == 0 ? "its own thread" : counted(t.readers, "thread"))});
    }
    return table.text();
}

std::string most_text(const StorageBenchmark& b, const EmulatedRun& run) {
    if (run.most == 0) return "not even one";
    if (run.most) return grouped_digits(*run.most) + (b.hosts > 1 ? " on " + grouped_digits(b.hosts) + " hosts" : "");
    if (b.has_most_accelerators) return "those that the source has";
    return grouped_digits(most_emulated) + " or more, nor is it asked for more: nothing that is stated of this storage holds so many up";
}

std::string waiting_text(const StorageBenchmark& b, const LoadingEstimate& e) {
    if (b.has_most_accelerators) return "what no one states: one more accelerator in each host would be too many";
    if (!e.limit) return "the accelerators: samples are there when they are asked for";
    return std::string(to_text(*e.limit));
}

std::string epochs_text(const StorageBenchmark& b, const EmulatedRun& run) {
    const BenchmarkTraining& t = *b.training;
    TextTable table;
    const auto row = [&](const char* name, const LoadingEstimate& e, Seconds epoch) {
        table.row({name, to_text(epoch) + ": " + counted(run.steps, "step") + " of " + to_text(e.batch) + ", at work for " +
                             percent_text(e.utilization) + " of the time"});
        table.row({"", grouped_digits(e.samples.si(), 4) + " samples/s, " + to_text(read_bandwidth(e, t))});
        table.row({"held up by", waiting_text(b, e)});
    };
    row(run.cached > 0 ? "first epoch" : "an epoch", run.first, run.first_epoch);
    if (run.cached > 0) {
        row("later epochs", run.later, run.later_epoch);
        table.row({"page cache", "has " + percent_text(run.cached) + " of their samples"});
    }
    return table.text();
}

std::string training_text(const StorageReport& r) {
    const StorageBenchmark& b = r.benchmark;
    const EmulatedRun& run = *r.estimate.training;
    std::string text;
    if (const auto& least = b.training->least_utilization)
        text += "\nAccelerators that it keeps at work for " + percent_text(*least) + " of the time: " + most_text(b, run) + "\n";
    text += "\nWith " + counted(r.estimate.accelerators, "accelerator") + "\n" + epochs_text(b, run);
    if (run.steps == 0) text += "  the dataset has too few samples for one step of all of them\n";
    return text;
}

std::string checkpoint_text(const CheckpointRun& run, const BenchmarkCheckpoint& c) {
    TextTable table;
    table.row({"write", to_text(run.write) + ", " + to_text(c.size / run.write)});
    table.row({"read", to_text(run.read) + ", " + to_text(c.size / run.read)});
    table.row({"in the run", counted(std::round(run.writes), "time") + ", " + to_text(run.writes * run.write)});
    return "\nA checkpoint of " + to_text(c.size) + ", written by " + counted(run.writers, "rank") + "\n" + table.text();
}

}  // namespace

std::string storage_report_to_text(const StorageReport& r) {
    const StorageBenchmark& b = r.benchmark;
    std::string text = b.title + "\n" + header_text(b);
    if (b.training) text += training_text(r);
    if (b.checkpoint) text += checkpoint_text(*r.estimate.checkpoint, *b.checkpoint);
    text += "\nThe whole run: " + to_text(r.estimate.run) + (b.training ? ", " + counted(b.training->epochs, "epoch") : "") + "\n";
    for (const std::string& note : b.notes) text += "  note: " + note + "\n";
    return text;
}

}  // namespace sextant
