// tf.distribute: https://www.tensorflow.org/guide/distributed_training; https://www.tensorflow.org/api_docs/python/tf/distribute/ has
// MirroredStrategy, MultiWorkerMirroredStrategy, ParameterServerStrategy and experimental.CommunicationOptions. The programs of one job
// find each other by TF_CONFIG, which is different on each node.
#include "model/io/export/plan_export.hpp"
#include "model/io/export/python_call.hpp"
#include "model/io/export/refusals.hpp"

namespace sextant {
namespace {

void check_for_tensorflow(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "tf.distribute");
    r.unless(s.framework.starter == RankStarter::tf_distribute, "/framework", "runs nothing of " + s.framework.title,
             R"(a framework of TensorFlow's, as in "tf-mirrored" or "tf-multi-worker-mirrored")");
    r.unless(p.devices() == p.dp, "/plan", "divides the batch and nothing else", "tp, pp and cp of 1");
    r.unless(!p.has_shards(), "/plan/data_parallel", "shards no states", "all_reduce");
    r.unless(!p.has_servers() || p.is_asynchronous(), "/plan/data_parallel", "has parameter servers whose workers do not wait alone",
             "async_parameter_server");
    r.unless(!p.has_servers() || !p.servers_on_workers, "/plan/servers_on_workers", "runs servers as programs of their own", "false");
    check_wide_types(p, r);
    check_training(p, r);
    check_ranks(s, r);
    r.throw_if_any();
}

std::string tf_strategy(const Scenario& s) {
    if (s.plan.has_servers())
        return "strategy = tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())\n";
    if (used_nodes(s) == 1) return "strategy = tf.distribute.MirroredStrategy()\n";
    const std::string how = s.library.sockets_only ? "RING" : "NCCL";
    return "strategy = tf.distribute.MultiWorkerMirroredStrategy(\n    "
           "communication_options=tf.distribute.experimental.CommunicationOptions(\n" +
           std::string("        implementation=tf.distribute.experimental.CommunicationImplementation.") + how + ",\n    ),\n)\n";
}

std::string keras_policy(const Plan& p) {
    const DataType type = p.precision.compute;
    const char* name = type == DataType::fp16 ? "mixed_float16" : type == DataType::bf16 ? "mixed_bfloat16" : nullptr;
    if (name) return std::string("tf.keras.mixed_precision.set_global_policy(\"") + name + "\")\n";
    if (type == DataType::fp32 && !p.precision.tf32) return "tf.config.experimental.enable_tensor_float_32_execution(False)\n";
    return type == DataType::fp64 ? "tf.keras.backend.set_floatx(\"float64\")\n" : "";
}

}  // namespace

std::string tf_distribute_program(const Scenario& s) {
    check_for_tensorflow(s);
    const Plan& p = s.plan;
    const int nodes = used_nodes(s);
    std::vector<std::string> notes = left_to_the_program(s);
    if (p.has_servers())
        notes.push_back(
            "TF_CONFIG names " + std::to_string(nodes) + " workers, " + std::to_string(p.parameter_servers) +
            R"( ps and a chief: {"cluster": {"worker": ["host:port", ...], "ps": [...], "chief": [...]}, "task": {"type": "worker", "index": 0}})");
    else if (nodes > 1)
        notes.push_back("on each of the " + std::to_string(nodes) +
                        R"( nodes, with TF_CONFIG: {"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}})");
    notes.push_back("model_of and samples are yours; " + std::to_string(p.micro_batch) + " samples on each device");
    if (p.micro_batches() > 1)
        notes.push_back("a step is " + std::to_string(p.micro_batches()) +
                        " batches: gradient_accumulation_steps of a Keras 3 optimizer, which model_of makes");
    return python_comments(notes) + "import tensorflow as tf\n\n" + keras_policy(p) + tf_strategy(s) +
           "\nwith strategy.scope():\n    model = model_of()\nmodel.fit(samples.batch(" + std::to_string(p.micro_batch) +
           " * strategy.num_replicas_in_sync))\n";
}

}  // namespace sextant
