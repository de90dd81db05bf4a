// Jobs on two kinds of devices, where Scenario::straggler names the device of the slow ranks. Internal to predict.
//
// Where every device takes the same number of samples, the slow ones set the pace. Their speed s is the time of a micro-batch's kernels,
// forward and backward, on the fast devices over that on the slow ones. Where each device takes samples in proportion to its speed and k of
// n are slow, all are done at the same time, as n devices of the mean speed 1 - k/n (1 - s) would be. Neglected then: that a fast device
// holds more activations than the mean, and that shares are whole samples. Neglected in both cases: that the slow nodes may have other
// links and another host, and the price and power of the slow devices.
#pragma once

#include "model/plan/partition.hpp"
#include "model/predict/state.hpp"

namespace sextant {

// Finds the speed of the slow ones, and the rates of the mean where batches follow speed, for a job whose machine is prepared and whose
// network is cut as its plan says. Throws InputError where the devices called slow are faster.
void apply_mixed_devices(Prepared::State&, const Network&);

// The mean speed of all devices, as a fraction of the fast ones'; for a prepared job on two kinds of devices.
double mean_speed(const Scenario&);

}  // namespace sextant
