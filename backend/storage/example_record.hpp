// A sample as a record: the protocol buffer tf.train.Example (tensorflow/core/example/example.proto), with the features "image/encoded"
// (bytes) and "image/class/label" (int64).
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

Blob example_record(const Sample&);
// Throws InputError without a file name.
void read_example(BlobView record, Sample& into);

}  // namespace sextant
