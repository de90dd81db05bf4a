#include "model/io/storage_benchmark/dlio_import.hpp"

#include "model/base/spelling.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/storage_benchmark/yaml_section.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string_view>;

constexpr std::size_t longest_file = 1 << 20;

// What DLIO knows (its configuration reference, and dlio_benchmark/utils/config.py). Not all of it decides how much is read or when.
struct KnownSection {
    std::string_view name;
    Names keys;
};
const std::vector<KnownSection>& known_sections() {
    static const std::vector<KnownSection> sections = {
        {"model",
         {"name", "type", "model_size", "model_size_bytes", "model_datatype", "optimizer_datatype", "optimization_groups", "num_layers",
          "layer_parameters", "parallelism", "transformer"}},
        {"workflow", {"generate_data", "train", "evaluation", "checkpoint", "profiling", "debug"}},
        {"storage", {"storage_type", "storage_root", "storage_options"}},
        {"dataset",
         {"format",
          "num_files_train",
          "num_files_eval",
          "num_samples_per_file",
          "record_length",
          "record_length_bytes",
          "record_length_stdev",
          "record_length_bytes_stdev",
          "record_length_resize",
          "record_length_bytes_resize",
          "record_dims",
          "record_element_type",
          "record_element_bytes",
          "data_folder",
          "num_subfolders_train",
          "num_subfolders_eval",
          "file_prefix",
          "compression",
          "compression_level",
          "enable_chunking",
          "chunk_size",
          "keep_files",
          "hdf5",
          "generation_buffer_size"}},
        {"reader",
         {"data_loader",
          "batch_size",
          "batch_size_eval",
          "read_threads",
          "computation_threads",
          "prefetch_size",
          "file_shuffle",
          "sample_shuffle",
          "shuffle_size",
          "preprocess_time",
          "preprocess_time_stdev",
          "transfer_size",
          "pin_memory",
          "odirect",
          "read_type",
          "file_access",
          "dont_use_mmap",
          "transformed_record_dims",
          "transformed_record_element_type",
          "reader_classname",
          "data_loader_classname",
          "data_loader_sampler",
          "multiprocessing_context"}},
        {"train", {"epochs", "computation_time", "computation_time_stdev", "total_training_steps", "seed_change_epoch", "seed"}},
        {"evaluation", {"eval_time", "eval_time_stdev", "eval_after_epoch", "epochs_between_evals"}},
        {"checkpoint",
         {"checkpoint_folder", "checkpoint_after_epoch", "epochs_between_checkpoints", "steps_between_checkpoints", "type",
          "checkpoint_mechanism_classname", "fsync", "time_between_checkpoints", "num_checkpoints_write", "num_checkpoints_read",
          "recovery_rank_shift", "rank_sync", "mode", "randomize_tensor", "ksm"}},
        {"output", {"folder", "log_file", "metric"}},
        {"profiling", {"profiler", "iostat_devices"}},
        {"metric", {"au"}},
    };
    return sections;
}

YamlSection section_of(const YAML::Node& workload, const std::string& name, YamlReading& reading, const char* older = nullptr) {
    return {reading, workload[older && workload[older] ? older : name], name,
            std::ranges::find(known_sections(), name, &KnownSection::name)->keys};
}

// Every digit that the number has.
std::string with_unit(double value, const char* unit) {
    constexpr double exact = 1e15;
    const bool whole = value == std::floor(value) && value < exact;
    return (whole ? Json(static_cast<std::int64_t>(value)) : Json(value)).dump() + " " + unit;
}

// The format of the file, as storage sees it. DLIO writes a sample of any length in any of them.
struct StoredFormat {
    std::string_view word, format, encoding;
};
constexpr StoredFormat formats[] = {{"tfrecord", "tfrecord", "raw"},
                                    {"npz", "npy", "raw"},
                                    {"npy", "npy", "raw"},
                                    {"hdf5", "hdf5", "raw"},
                                    {"hdf5_opt", "hdf5", "raw"},
                                    {"csv", "npy", "raw"},
                                    {"jpeg", "npy", "jpeg"},
                                    {"png", "npy", "png"},
                                    {"indexed_binary", "npy", "raw"},
                                    {"mmap_indexed_binary", "npy", "raw"}};

const StoredFormat* stored_format(YamlSection& dataset) {
    const std::string word = dataset.text("format", "tfrecord");
    const auto* found = std::ranges::find(formats, word, &StoredFormat::word);
    if (found != std::end(formats)) return found;
    if (word == "synthetic") {
        dataset.reading().complain(dataset.get("format"), "synthetic samples are read from nowhere", "a format of files");
        return nullptr;
    }
    Names known;
    for (const StoredFormat& f : formats) known.push_back(f.word);
    dataset.reading().complain(dataset.get("format"), "\"" + word + "\" is no format that is known here",
                               did_you_mean(nearest_names(word, known)));
    return nullptr;
}

void read_dataset(YamlSection& dataset, Json& training) {
    if (const YAML::Node dims = dataset.get("record_dims"); dims && dims.size() > 0)
        dataset.reading().complain(dims, "the dimensions of records are not read", "state record_length_bytes");
    dataset.get("record_element_type");
    const auto stated = dataset.number("record_length_bytes", sample_sizes), older = dataset.number("record_length", sample_sizes);
    const std::int64_t samples_per_file = dataset.integer("num_samples_per_file", count).value_or(1);
    training["files"] = dataset.integer("num_files_train", count).value_or(8);
    training["samples_per_file"] = samples_per_file;
    training["sample_size"] = with_unit(stated.value_or(older.value_or(65536)), "B");
    if (const StoredFormat* format = stored_format(dataset)) {
        training["format"] = samples_per_file == 1 ? "files" : format->format;
        if (format->encoding != "raw") training["encoding"] = format->encoding;
    }
}

void read_reader(YamlSection& reader, Json& training) {
    training["batch"] = reader.integer("batch_size", count).value_or(1);
    training["readers"] = reader.integer("read_threads", Bounds{0, 1024}).value_or(1);
    if (const auto time = reader.time("preprocess_time"); time && *time > 0) training["preparation"] = with_unit(*time, "s");
    const bool files = reader.text("file_shuffle", "off") != "off", samples = reader.text("sample_shuffle", "off") != "off";
    const bool from_beginning = training.value("format", "files") == "tfrecord";
    training["shuffle"] = samples && !from_beginning ? "full" : samples || files ? "window" : "none";
}

void read_train(YamlSection& train, Json& training) {
    const auto computation = train.time("computation_time");
    if (!computation || *computation < 1e-9) {
        train.complain("train.computation_time says nothing of how long an accelerator computes", "the seconds of each batch");
        return;
    }
    training["computation"] = with_unit(*computation, "s");
    training["epochs"] = train.integer("epochs", Bounds{1, 1e6}).value_or(1);
    if (const auto steps = train.integer("total_training_steps", Bounds{-1, 1e12}); steps && *steps > 0) training["steps"] = *steps;
}

struct Parallelism {
    std::int64_t tensor = 1, pipeline = 1, zero_stage = 0;
};

Parallelism read_parallelism(YamlSection& model) {
    Parallelism p;
    const YAML::Node node = model.get("parallelism");
    if (!node) return p;
    YamlSection of(model.reading(), node, "model.parallelism", {"data"});
    p.tensor = of.integer("tensor", Bounds{1, 1e4}).value_or(1);
    p.pipeline = of.integer("pipeline", Bounds{1, 1e4}).value_or(1);
    p.zero_stage = of.integer("zero_stage", Bounds{0, 3}).value_or(0);
    return p;
}

double bytes_of(YamlSection& model, const std::string& key, const char* assumed) {
    const std::string type = model.text(key, assumed);
    for (const auto& [name, bytes] : {std::pair("int8", 1), {"uint8", 1}, {"fp16", 2}, {"bf16", 2}, {"fp32", 4}, {"fp64", 8}})
        if (type == name) return bytes;
    model.reading().complain(model.get(key), "\"" + type + "\" is no data type of a checkpoint", "int8, uint8, fp16, bf16, fp32 or fp64");
    return 0;
}

// Weights of a Llama, as DLIO counts them: two embeddings, and of each layer two norms, attention and a gated network.
double parameters_of(YamlSection& model, double layers) {
    double vocab = 32000, hidden = 2048, ffn = 8192, heads = 32, kv_heads = 8;
    if (const YAML::Node node = model.get("transformer")) {
        YamlSection of(model.reading(), node, "model.transformer", {});
        for (const auto& [key, value] : {std::pair("vocab_size", &vocab),
                                         {"hidden_size", &hidden},
                                         {"ffn_hidden_size", &ffn},
                                         {"num_attention_heads", &heads},
                                         {"num_kv_heads", &kv_heads}})
            *value = of.number(key, count).value_or(*value);
    }
    const double kv = std::floor(hidden / heads) * kv_heads;
    const double layer = 2 * hidden + hidden * (hidden + 2 * kv) + hidden * hidden + 3 * ffn * hidden;
    return 2 * vocab * hidden + layers * layer + hidden;
}

// DLIO writes the weights once, and an optimizer's two moments and its own copy of the weights. Every rank has a part of them; without
// sharding those of one replica.
std::optional<Json> read_checkpointed(YamlSection& model) {
    const Parallelism parallel = read_parallelism(model);
    const double of_weight = bytes_of(model, "model_datatype", "fp16"), of_state = bytes_of(model, "optimizer_datatype", "fp32");
    const auto layers = model.integer("num_layers", Bounds{-1, 1e6});
    const auto size = model.number("model_size_bytes", Bounds{0, 1e18}), older = model.number("model_size", Bounds{0, 1e18});
    const YAML::Node groups = model.get("optimization_groups"), listed = model.get("layer_parameters");
    const std::int64_t replica = parallel.tensor * parallel.pipeline;
    Json checkpoint;
    for (const YAML::Node& list : {groups, listed})
        if (list && list.size() > 0) {
            model.reading().notes.emplace_back(
                "checkpoints are not predicted: their tensors are listed, and not those of model.transformer");
            return {};
        }
    const double bytes = layers.value_or(-1) > 0 ? parameters_of(model, static_cast<double>(*layers)) * (of_weight + 3 * of_state)
                                                 : static_cast<double>(replica) * size.value_or(older.value_or(10240));
    if (bytes < 1 || bytes > 1e18) model.complain("a checkpoint of " + to_text(bytes * units::B) + " is none that is written", "");
    checkpoint["size"] = with_unit(bytes, "B");
    if (parallel.zero_stage == 0) checkpoint["writers"] = replica;
    return checkpoint;
}

void read_when(YamlSection& section, bool trains, Json& checkpoint) {
    const auto first = section.integer("checkpoint_after_epoch", count), every = section.integer("epochs_between_checkpoints", count);
    const auto steps = section.integer("steps_between_checkpoints", Bounds{-1, 1e12});
    const auto writes = section.integer("num_checkpoints_write", Bounds{-1, 1e9});
    if (!trains) {
        if (writes && *writes >= 0) checkpoint["writes"] = *writes;
        return;
    }
    if (steps && *steps > 0) {
        checkpoint["every_steps"] = *steps;
        return;
    }
    checkpoint["first_epoch"] = first.value_or(1);
    checkpoint["every_epochs"] = every.value_or(1);
}

std::string listed(std::string text, std::vector<std::string> keys) {
    std::ranges::sort(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) text += (i > 0 ? ", " : "") + keys[i];
    return text;
}

Json notes_of(const YamlReading& reading, bool evaluates) {
    Json notes = reading.notes;
    if (evaluates) notes.push_back("evaluation is not predicted");
    if (!reading.unused.empty()) notes.push_back(listed("without influence here: ", reading.unused));
    if (!reading.unknown.empty()) notes.push_back(listed("not known here, and passed over: ", reading.unknown));
    return notes;
}

Json benchmark_of(const YAML::Node& workload, YamlReading& reading) {
    Json benchmark = {{"schema", "storage-benchmark/1"}};
    bool evaluates = false;
    {
        for (const char* name : {"storage", "evaluation", "output", "profiling"}) section_of(workload, name, reading);  // nothing is read
        YamlSection model = section_of(workload, "model", reading), workflow = section_of(workload, "workflow", reading),
                    dataset = section_of(workload, "dataset", reading), train = section_of(workload, "train", reading),
                    checkpoint = section_of(workload, "checkpoint", reading), metric = section_of(workload, "metric", reading),
                    reader = section_of(workload, "reader", reading, "data_reader");
        benchmark["title"] = model.text("name", "default") + ", as DLIO runs it";
        const bool trains = workflow.flag("train", true), writes = workflow.flag("checkpoint", false);
        evaluates = workflow.flag("evaluation", false) && trains;
        if (trains) {
            Json& training = benchmark["training"] = Json::object();
            read_dataset(dataset, training);
            read_reader(reader, training);
            read_train(train, training);
            training["least_utilization"] = metric.number("au", Bounds{0.01, 1}).value_or(0.9);
        }
        if (writes)
            if (auto found = read_checkpointed(model)) read_when(checkpoint, trains, benchmark["checkpoint"] = std::move(*found));
        if (!trains && !writes)
            workflow.complain("the workload neither trains nor writes checkpoints", "one that only generates data has nothing to predict");
    }
    if (Json notes = notes_of(reading, evaluates); !notes.empty()) benchmark["notes"] = std::move(notes);
    return benchmark;
}

Json read_yaml(const YAML::Node& document, YamlReading& reading) {
    if (!document.IsMap()) {
        reading.complain(document, "this is no workload of DLIO", "a mapping with model, dataset, reader and train");
        return {};
    }
    // What DLIO keeps of a run has the workload beside what hydra needs.
    const YAML::Node inner = document["workload"];
    const YAML::Node& workload = inner && inner.IsMap() ? inner : document;
    for (const auto& member : workload) {
        const std::string key = text_of(member.first);
        if (key != "framework" && key != "data_reader" &&
            std::ranges::find(known_sections(), key, &KnownSection::name) == known_sections().end())
            reading.unknown.push_back(key);
    }
    return benchmark_of(workload, reading);
}

}  // namespace

std::string import_dlio(std::string_view yaml, const std::string& file) {
    YamlReading reading{file, {}, {}, {}, {}};
    Json benchmark;
    try {
        if (yaml.size() > longest_file)
            throw InputError(Diagnostic{file, "", "this is no workload of DLIO: it is longer than a mebibyte", ""});
        const YAML::Node document = YAML::Load(std::string(yaml));
        benchmark = read_yaml(document, reading);
    } catch (const YAML::Exception& e) {
        throw InputError(Diagnostic{file, place_of(e.mark), "this is no YAML: " + e.msg, ""});
    }
    reading.diagnostics.throw_if_any();
    return json_document(benchmark);
}

std::string import_dlio(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    const auto text = read_text_file(path, diagnostics);
    diagnostics.throw_if_any();
    return import_dlio(*text, path.string());
}

}  // namespace sextant
