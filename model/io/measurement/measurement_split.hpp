// Which rows parameters may be fitted to, and which only judge.
//
// The rows of a file are split by model, so that no model is on both sides; a file of one model by machine; a file of one model on one
// machine judges as a whole. Models (or machines) are put in the order of a hash of their names, and every other one is fitted to, so that
// the split depends on nothing that anybody chose. Calls of collectives are split by machine in the same way.
#pragma once

#include "model/io/measurement/measurement_reader.hpp"

#include <string>
#include <vector>

namespace sextant {

// What the source calls the model; where it names none, its shape.
std::string model_of(const TrainingRow&);

// By row; true: may be fitted to. Rows of loading are not.
std::vector<bool> fitting_half(const MeasurementFile&);

}  // namespace sextant
