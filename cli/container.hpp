// A container around what an exported script starts. Options as in https://docs.docker.com/reference/cli/docker/container/run/ and
// https://apptainer.org/docs/user/main/gpu.html.
#pragma once

#include "model/io/export/plan_export.hpp"

#include <string>

namespace sextant {

struct Container {
    std::string docker, apptainer;  // image; at most one of them
};

// The words of a command that go before the program, with a space behind them; empty without a container.
std::string container_words(const Container&, const ExportedLaunch&, const Scenario&);

}  // namespace sextant
