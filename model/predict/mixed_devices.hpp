// Jobs on two kinds of devices (Scenario::straggler that says which device the slow ones are). Internal to predict.
//
// Where all take as many samples, the slow ones set the pace: their speed is what the kernels of a micro-batch, forward and backward, take
// on the others over what they take on them. Where each takes samples in proportion to its speed s, k of n being slow, all are done at
// once, as n devices of the mean speed 1 - k/n (1 - s) would be; a fast one then has the activations of more than the mean, which is
// neglected, as are shares that are no whole samples. Neglected of both: that the links and the host of the slow nodes may be others, and
// the price and the power of the slow devices.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// Of a job whose machine is prepared, and whose network is not yet. Throws InputError where those called slow are faster.
void take_mixed_devices_in(Prepared::State&);

}  // namespace sextant
