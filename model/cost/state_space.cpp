#include "model/base/ceil_divide.hpp"
#include "model/cost/scans.hpp"

#include "model/cost/kernel_lists.hpp"

#include <algorithm>

namespace sextant {
namespace {

class ScanWriter {
public:
    ScanWriter(const std::string& name, const StateSpaceScan& s, DataType type, const Precision& precision)
        : name_(name), type_(type), heads_(s.heads), head_dim_(s.head_dim), groups_(s.groups), state_(s.state) {
        chunk_ = std::min(s.chunk, s.sequence);
        chunks_ = s.batch * ceil_divide(s.sequence, chunk_);
        const Bytes narrow = element_size(TensorRole::activation, precision), wide = size_of(DataType::fp32);
        const double tokens = static_cast<double>(s.batch * s.sequence), chunks = static_cast<double>(chunks_);
        x_ = tokens * static_cast<double>(heads_ * head_dim_) * narrow;
        b_ = tokens * static_cast<double>(groups_ * state_) * narrow;
        steps_ = tokens * static_cast<double>(heads_) * wide;
        states_ = chunks * static_cast<double>(heads_ * head_dim_ * state_) * wide;
        scores_ = chunks * static_cast<double>(groups_ * chunk_ * chunk_) * wide;
    }

    void forward(std::vector<Kernel>& list) const {
        begin(list, false);
        scan_chunks(list, false);
    }

    // States and scores are made again, then each product of forward has two.
    void backward(std::vector<Kernel>& list) const {
        begin(list, true);
        product(list, {heads_, head_dim_, state_, chunk_}, x_ + b_ + states_, true);   // gradient of what a chunk began with, C^T dy
        push_memory(list, name_ + ".pass", 3.0 * states_, true);                       // of what it left, from chunk to chunk, backwards
        scan_chunks(list, true);                                                       // of x
        product(list, {heads_, chunk_, state_, head_dim_}, x_ + states_ + b_, true);   // of B
        product(list, {heads_, chunk_, state_, head_dim_}, x_ + states_ + b_, true);   // of C
        product(list, {heads_, chunk_, chunk_, head_dim_}, 2.0 * x_ + scores_, true);  // of the scores
        product(list, {groups_, chunk_, state_, chunk_}, scores_ + 2.0 * b_, true);    // and by them of B
        product(list, {groups_, chunk_, state_, chunk_}, scores_ + 2.0 * b_, true);    // and of C
        push_memory(list, name_ + ".steps", 6.0 * steps_, true, 3);                    // of dt and of the parameters
    }

private:
    // The decay within chunks, the states that chunks make, the states that they begin with, and C B^T.
    void begin(std::vector<Kernel>& list, bool backward) const {
        push_memory(list, name_ + ".steps", 3.0 * steps_, backward);
        product(list, {heads_, head_dim_, state_, chunk_}, x_ + b_ + states_, backward);
        push_memory(list, name_ + ".pass", 2.0 * states_, backward);
        product(list, {groups_, chunk_, chunk_, state_}, 2.0 * b_ + scores_, backward);
    }

    // From the tokens of the chunk and from the state that it begins with.
    void scan_chunks(std::vector<Kernel>& list, bool backward) const {
        product(list, {heads_, chunk_, head_dim_, chunk_ + state_}, (backward ? 3.0 : 2.0) * x_ + b_ + states_ + scores_, backward);
    }

    // For each chunk and head, or group.
    void product(std::vector<Kernel>& list, ProductShape of_chunk, Bytes bytes, bool backward) const {
        of_chunk.batch *= chunks_;
        list.push_back(matrix_product(name_, of_chunk, type_, bytes, backward));
    }

    const std::string& name_;
    DataType type_;
    std::int64_t heads_, head_dim_, groups_, state_, chunk_ = 1, chunks_ = 1;
    Bytes x_, b_, steps_, states_, scores_;  // x or y; B or C; dt; of all chunks
};

}  // namespace

void add_scan(const Operator& op, const StateSpaceScan& s, DataType type, const Precision& precision, BlockKernels& out) {
    const ScanWriter scan(op.name, s, type, precision);
    scan.forward(out.forward);
    scan.backward(out.backward);
}

}  // namespace sextant
