// Every field that the editor shows; those of the plan are in plan_field_list.cpp.
#include "gui/models/field_makers.hpp"
#include "model/base/ceil_divide.hpp"
#include "model/io/scenario/data_words.hpp"
#include "model/plan/partition.hpp"
#include "model/report/running_cost.hpp"

namespace sextant::gui {
namespace {

QString text_of(const std::optional<double>& value) { return value ? number(*value, 6) : QString(); }

// A field that only real samples have.
template <class E, std::size_t N>
Field data_word(std::string path, const QString& label, const QString& tip, const Word<E> (&words)[N],
                std::function<E(const DataSource&)> of) {
    return {.path = "data." + std::move(path),
            .label = label,
            .tip = tip,
            .kind = FieldKind::word,
            .resolved = [&words,
                         of = std::move(of)](const Scenario& s) { return s.data.synthetic ? QString() : q(word_of(of(s.data), words)); },
            .choices = words_in(words)};
}

FieldSection model_section() {
    Field name = quantity_field("name", QStringLiteral("Name"), QStringLiteral("What the scenario is called in reports and pictures"),
                                [](const Scenario& s) { return q(s.name); });
    name.needed = true;
    Field model =
        named("workload", QStringLiteral("Model"),
              QStringLiteral("What is trained: a name, or a file: the config.json of Hugging Face, or what `sextant import` wrote"),
              NameKind::models, [](const Scenario& s) { return q(s.workload.name); });
    model.needed = true;
    Field sequence{.path = "workload.seq_len",
                   .label = QStringLiteral("Sequence"),
                   .tip = QStringLiteral("Tokens of a sample"),
                   .kind = FieldKind::degree,
                   .resolved =
                       [](const Scenario& s) {
                           const auto* transformer = s.workload.transformer();
                           return transformer ? QString::number(transformer->seq_len) : QString();
                       },
                   .inside = "workload.transformer.seq_len"};
    Field framework = named("framework", QStringLiteral("Framework"), QStringLiteral("The software that carries the plan out"),
                            NameKind::frameworks, [](const Scenario& s) { return q(s.framework.name); });
    framework.inside = "framework.base";
    framework.needed = true;
    return {QStringLiteral("Model"), {name, model, sequence, framework}};
}

FieldSection hardware_section() {
    Field cluster = named("hardware.cluster", QStringLiteral("Cluster"), QStringLiteral("Nodes and the network between them"),
                          NameKind::clusters, [](const Scenario& s) { return q(s.cluster.name); });
    cluster.inside = "hardware.cluster.base";
    cluster.needed = true;
    Field device = named("hardware.device", QStringLiteral("Device"),
                         QStringLiteral("Another device in the same nodes: a name, or the file of a profile, which `sextant profiles show` "
                                        "gives to begin with"),
                         NameKind::devices, [](const Scenario& s) { return q(s.cluster.node.device.name); });
    device.inside = "hardware.device.base";
    Field nodes{.path = "hardware.nodes",
                .label = QStringLiteral("Nodes"),
                .tip = QStringLiteral("Nodes to use; where they are not stated, as many as the plan needs"),
                .kind = FieldKind::degree,
                .resolved = [](const Scenario& s) {
                    const int per_node = used_devices_per_node(s);
                    return QString::number(ceil_divide(s.plan.devices(), per_node));
                }};
    Field per_node{.path = "hardware.devices_per_node",
                   .label = QStringLiteral("Per node"),
                   .tip = QStringLiteral("Devices that are used on each node; where that is not stated, all"),
                   .kind = FieldKind::degree,
                   .resolved = [](const Scenario& s) { return QString::number(used_devices_per_node(s)); }};
    Field slow_devices{.path = "hardware.straggler.devices",
                       .label = QStringLiteral("Slow devices"),
                       .tip = QStringLiteral("How many are slower than the others"),
                       .kind = FieldKind::degree,
                       .resolved = [](const Scenario& s) { return s.straggler ? QString::number(s.straggler->devices) : QString(); },
                       .whole = "hardware.straggler"};
    Field slow_speed = number_field("hardware.straggler.speed", QStringLiteral("Slow run at"),
                                    QStringLiteral("The speed of slow devices over that of the others: everybody waits for them"),
                                    [](const Scenario& s) { return s.straggler ? number(s.straggler->speed) : QString(); });
    slow_speed.whole = "hardware.straggler";
    return {
        QStringLiteral("Hardware"),
        {cluster, nodes, per_node, device,
         quantity_field("hardware.device.memory", QStringLiteral("Memory"), QStringLiteral("Of one device"),
                        [](const Scenario& s) { return quantity(s.cluster.node.device.memory.value); }),
         quantity_field("hardware.device.memory_bandwidth", QStringLiteral("Bandwidth"), QStringLiteral("Of the memory of one device"),
                        [](const Scenario& s) { return quantity(s.cluster.node.device.memory_bandwidth.value); }),
         number_field("hardware.device.peak_scale", QStringLiteral("Peaks \u00d7"),
                      QStringLiteral("2: a device that computes twice as fast in every data type"),
                      [](const Scenario&) { return QStringLiteral("1"); }),
         quantity_field("hardware.network_bandwidth", QStringLiteral("Network"), QStringLiteral("Bandwidth of one network interface"),
                        [](const Scenario& s) { return s.cluster.node.nics > 0 ? quantity(network_link(s).bandwidth.value) : QString(); }),
         number_field("hardware.step_noise", QStringLiteral("Noise"),
                      QStringLiteral("Standard deviation of one rank's step time over its mean"),
                      [](const Scenario& s) { return number(s.step_noise); }),
         slow_speed, slow_devices,
         Field{.path = "hardware.ethernet",
               .label = QStringLiteral("Ethernet sockets"),
               .tip = QStringLiteral("TCP sockets, although a faster fabric may be there"),
               .kind = FieldKind::flag,
               .resolved = [](const Scenario& s) { return on_or_off(s.use_ethernet); }}}};
}

FieldSection run_section() {
    return {QStringLiteral("Data and run"),
            {named("data.storage", QStringLiteral("Storage"), QStringLiteral("Where samples are read from; none: they are always ready"),
                   NameKind::storages, [](const Scenario& s) { return s.data.synthetic ? QString() : q(s.data.storage->name); }),
             data_word<DataFormat>("format", QStringLiteral("Format"), QStringLiteral("A file for each sample, or many packed into one"),
                                   data_format_words, [](const DataSource& d) { return d.format; }),
             data_word<SampleEncoding>("encoding", QStringLiteral("Encoding"),
                                       QStringLiteral("Raw: as the network takes them; else they are decoded in every epoch"),
                                       encoding_words, [](const DataSource& d) { return d.encoding; }),
             data_word<StagingMode>("staging.mode", QStringLiteral("Staging"), QStringLiteral("Copied to a disk of each node first"),
                                    staging_words, [](const DataSource& d) { return d.staging.mode; }),
             Field{.path = "data.workers",
                   .label = QStringLiteral("Workers"),
                   .tip = QStringLiteral("Processes that read and decode for each device"),
                   .kind = FieldKind::degree,
                   .resolved = [](const Scenario& s) { return s.data.synthetic ? QString() : QString::number(s.data.workers); }},
             quantity_field("data.sample_size", QStringLiteral("Sample size"), QStringLiteral("Bytes of one sample on disk"),
                            [](const Scenario& s) { return s.data.synthetic ? QString() : quantity(s.data.sample_bytes); }),
             number_field("run.tokens", QStringLiteral("Tokens"), QStringLiteral("Length of the whole run"),
                          [](const Scenario& s) { return text_of(s.run.tokens); }),
             number_field("run.epochs", QStringLiteral("Epochs"), QStringLiteral("Length of the whole run, in passes over the data set"),
                          [](const Scenario& s) { return text_of(s.run.epochs); }),
             quantity_field("run.price", QStringLiteral("Price"), QStringLiteral("Of one device for an hour: 2.5 USD/h"),
                            [](const Scenario& s) {
                                const std::optional<MoneyRate> rent = device_rent(s);
                                return rent ? quantity(*rent) : QString();
                            })},
            false};
}

}  // namespace

const std::vector<FieldSection>& field_sections() {
    static const std::vector<FieldSection> sections = {plan_section(), more_section(), model_section(), hardware_section(), run_section()};
    return sections;
}

}  // namespace sextant::gui
