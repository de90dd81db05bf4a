// The fields of the editor that are of the plan.
#include "gui/models/field_makers.hpp"
#include "model/io/scenario/plan_words.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/partition.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

Field degree(std::string path, const QString& label, const QString& tip, int Plan::*of) {
    return {.path = "plan." + std::move(path),
            .label = label,
            .tip = tip,
            .kind = FieldKind::degree,
            .resolved = [of](const Scenario& s) { return QString::number(s.plan.*of); },
            .small = true};
}

Field batch(std::string path, const QString& label, const QString& tip, std::int64_t Plan::*of) {
    Field f = degree(std::move(path), label, tip, nullptr);
    f.resolved = [of](const Scenario& s) { return QString::number(s.plan.*of); };
    return f;
}

template <class E, std::size_t N>
Field word(std::string path, const QString& label, const QString& tip, E Plan::*of, const Word<E> (&words)[N]) {
    return {.path = "plan." + std::move(path),
            .label = label,
            .tip = tip,
            .kind = FieldKind::word,
            .resolved = [of, &words](const Scenario& s) { return q(word_of(s.plan.*of, words)); },
            .choices = words_in(words)};
}

Field flag(std::string path, const QString& label, const QString& tip, bool Plan::*of) {
    return {.path = "plan." + std::move(path), .label = label, .tip = tip, .kind = FieldKind::flag, .resolved = [of](const Scenario& s) {
                return on_or_off(s.plan.*of);
            }};
}

QString in_words(const std::vector<PlanDimension>& order) {
    QStringList words;
    for (const PlanDimension d : order) words += q(word_of(d, dimension_words));
    return words.join(QStringLiteral(", "));
}

// Where each dimension stands on the machine.
Field placement() {
    std::vector<PlanDimension> order{PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline};
    Field f{.path = "plan.placement",
            .label = QStringLiteral("Placement"),
            .tip = QStringLiteral("How ranks are numbered. Those of the first dimension sit side by side, in a node; those of the last are "
                                  "farthest apart"),
            .kind = FieldKind::order,
            .resolved = [](const Scenario& s) { return in_words(s.plan.placement); },
            .wide = true};
    do f.choices += in_words(order);
    while (std::ranges::next_permutation(order).found);
    return f;
}

// Some of its words are long.
Field wide(Field f) {
    f.wide = true;
    return f;
}

// Or of so many blocks of each stage, which no word says.
Field recompute() {
    Field f = word("recompute", QStringLiteral("Recompute"), QStringLiteral("Activations that are computed again instead of kept"),
                   &Plan::recompute, recompute_words);
    f.resolved = [in_a_word = f.resolved](const Scenario& s) {
        return s.plan.recompute == Recompute::blocks ? QStringLiteral("%1 blocks").arg(s.plan.recompute_blocks) : in_a_word(s);
    };
    return f;
}

// A flag for devices that a host feeds with kernels, which cores are not.
Field kernel_flag(std::string path, const QString& label, const QString& tip, bool Plan::*of) {
    Field f = flag(std::move(path), label, tip, of);
    f.resolved = [of](const Scenario& s) { return s.cluster.node.device.kind == DeviceKind::cpu ? QString() : on_or_off(s.plan.*of); };
    return f;
}

// How many parameter servers there are, where there are any.
Field servers() {
    return {.path = "plan.parameter_servers",
            .label = QStringLiteral("Servers"),
            .tip = QStringLiteral("Parameter servers, which share out the weights"),
            .kind = FieldKind::degree,
            .resolved = [](const Scenario& s) { return s.plan.has_servers() ? QString::number(parameter_server_count(s)) : QString(); }};
}

}  // namespace

FieldSection plan_section() {
    Field optimizer{.path = "plan.optimizer",
                    .label = QStringLiteral("Optimizer"),
                    .tip = QStringLiteral("What updates the weights, and what it remembers"),
                    .kind = FieldKind::word,
                    .resolved =
                        [](const Scenario& s) {
                            return q(word_of(s.plan.without_optimizer ? std::nullopt : std::optional(s.plan.optimizer), optimizer_words));
                        },
                    .choices = words_in(optimizer_words)};
    Field precision{.path = "plan.precision",
                    .label = QStringLiteral("Precision"),
                    .tip = QStringLiteral("The type that matrices are multiplied in, and what follows for the rest"),
                    .kind = FieldKind::word,
                    .resolved = [](const Scenario& s) { return q(to_text(s.plan.precision.compute)); },
                    .choices = words_in(precision_words),
                    .inside = "plan.precision.base"};
    return {
        QStringLiteral("Plan"),
        {degree("tp", QStringLiteral("Tensor"), QStringLiteral("Ranks that share each matrix product"), &Plan::tp),
         degree("pp", QStringLiteral("Pipeline"), QStringLiteral("Stages that the layers are cut into"), &Plan::pp),
         degree("dp", QStringLiteral("Data"), QStringLiteral("Copies of the model, each with its share of the batch"), &Plan::dp),
         degree("cp", QStringLiteral("Context"), QStringLiteral("Ranks that share each sequence"), &Plan::cp),
         degree("ep", QStringLiteral("Expert"), QStringLiteral("Ranks that share the experts of a mixture"), &Plan::ep),
         degree("vpp", QStringLiteral("Chunks"), QStringLiteral("Pieces of a stage that are interleaved"), &Plan::vpp),
         batch("micro_batch", QStringLiteral("Micro-batch"),
               QStringLiteral("Samples that a copy of the model, or a stage of it, works on at once"), &Plan::micro_batch),
         batch("global_batch", QStringLiteral("Global batch"), QStringLiteral("Samples from one update to the next"), &Plan::global_batch),
         wide(word("data_parallel", QStringLiteral("Data parallel"), QStringLiteral("What is shared out over the copies of the model"),
                   &Plan::data_parallel, data_parallel_words)),
         servers(),
         word("schedule", QStringLiteral("Schedule"), QStringLiteral("The order of micro-batches in a pipeline"), &Plan::schedule,
              schedule_words),
         recompute(),
         precision,
         optimizer,
         wide(word("offload", QStringLiteral("Offload"), QStringLiteral("What is kept in host memory"), &Plan::offload, offload_words)),
         placement(),
         flag("scattered", QStringLiteral("Scattered ranks"),
              QStringLiteral("A scheduler deals the ranks out to the nodes in turn, the worst that it can do"), &Plan::scattered),
         flag("sequence_parallel", QStringLiteral("Sequence parallel"),
              QStringLiteral("Tensor ranks share what lies between the matrix products too"), &Plan::sequence_parallel),
         Field{.path = "plan.gradient_overlap",
               .label = QStringLiteral("Overlap gradients"),
               .tip = QStringLiteral("Gradients are exchanged while backward still runs"),
               .kind = FieldKind::flag,
               .resolved = [](const Scenario& s) { return on_or_off(overlaps_gradients(s.plan, s.framework)); }},
         flag("flash_attention", QStringLiteral("Flash attention"), QStringLiteral("Attention in one kernel that keeps no scores"),
              &Plan::flash_attention),
         kernel_flag("cuda_graph", QStringLiteral("CUDA graph"),
                     QStringLiteral("Kernels are recorded once, and started together: the host dispatches no single one"),
                     &Plan::cuda_graph)}};
}

// What few plans change.
FieldSection more_section() {
    Field group{.path = "plan.shard_group",
                .label = QStringLiteral("Shard group"),
                .tip = QStringLiteral("Ranks that share out what is sharded; several groups hold the same"),
                .kind = FieldKind::degree,
                .resolved = [](const Scenario& s) { return s.plan.has_shards() ? QString::number(s.plan.shard_ranks()) : QString(); }};
    Field head{.path = "plan.head_chunks",
               .label = QStringLiteral("Head parts"),
               .tip = QStringLiteral("Parts of the tokens that the head and its loss run over in turn: fewer logits at once"),
               .kind = FieldKind::degree,
               .resolved = [](const Scenario& s) { return s.workload.is_transformer() ? QString::number(s.plan.head_chunks) : QString(); }};
    Field activations = wide(word("offload_activations", QStringLiteral("Offload activations"),
                                  QStringLiteral("Activations that wait for backward in host memory"), &Plan::offload_activations,
                                  offload_activations_words));
    activations.resolved = [in_a_word = activations.resolved](const Scenario& s) {
        return s.plan.offload_activations == OffloadActivations::layers ? QStringLiteral("%1 layers").arg(s.plan.offloaded_layers)
                                                                        : in_a_word(s);
    };
    return {QStringLiteral("More of the plan"),
            {group, head, activations,
             Field{.path = "plan.gather_overlap",
                   .label = QStringLiteral("Overlap gathers"),
                   .tip = QStringLiteral("Sharded parameters are gathered while kernels run"),
                   .kind = FieldKind::flag,
                   .resolved = [](const Scenario& s) { return on_or_off(overlaps_gathers(s.plan, s.framework)); }},
             Field{.path = "plan.channels_last",
                   .label = QStringLiteral("Channels last"),
                   .tip = QStringLiteral("Images in NHWC, as tensor cores take them"),
                   .kind = FieldKind::flag,
                   .resolved =
                       [](const Scenario& s) {
                           return s.workload.is_transformer() ? QString()
                                                              : on_or_off(s.plan.channels_last.value_or(s.framework.channels_last));
                       }},
             Field{.path = "plan.servers_on_workers",
                   .label = QStringLiteral("Servers on workers"),
                   .tip = QStringLiteral("Parameter servers share the hosts of the workers"),
                   .kind = FieldKind::flag,
                   .resolved = [](const Scenario& s) { return s.plan.has_servers() ? on_or_off(s.plan.servers_on_workers) : QString(); }},
             kernel_flag("launch_blocking", QStringLiteral("Launch blocking"),
                         QStringLiteral("The host waits for each kernel before it issues the next, as while looking for an error"),
                         &Plan::launch_blocking)},
            false};
}

}  // namespace sextant::gui
