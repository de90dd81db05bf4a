// A plan in the words of other systems: what torchrun, Megatron-LM, DeepSpeed and others are told so that they run it.
//
// Each throws InputError with every reason why that system cannot do what the plan says. Names of flags and keys are those of 2026; where
// each was looked up stands beside it in the source.
#pragma once

#include "model/plan/scenario.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sextant {

struct ExportedLaunch {
    int nodes = 1, per_node = 1;
    int cores = 0;  // of each node, that the job has; 0: not known
    std::vector<std::pair<std::string, std::string>> environment;
    std::string script;                               // the training program
    std::vector<std::vector<std::string>> arguments;  // each flag with its values
    std::vector<std::string> notes;                   // what remains to be done by hand
};

// DDP and FSDP, as Accelerate reads them from the environment and the Trainer of Transformers from its arguments.
ExportedLaunch torchrun_launch(const Scenario&);
// A program of yours on Horovod, started by horovodrun.
ExportedLaunch horovod_launch(const Scenario&);
// Megatron-LM's pretrain_gpt.py.
ExportedLaunch megatron_launch(const Scenario&);

struct ExportedConfig {
    std::string json;
    std::vector<std::string> notes;
};
ExportedConfig deepspeed_config(const Scenario&);
// DeepSpeed's program, started by torchrun with that configuration.
ExportedLaunch deepspeed_launch(const Scenario&);

// Python that sets up Lightning's Trainer, or a strategy of TensorFlow: the module, the model and the samples are yours.
std::string lightning_program(const Scenario&);
std::string tf_distribute_program(const Scenario&);

}  // namespace sextant
