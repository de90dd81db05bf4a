#include "model/base/ceil_divide.hpp"
#include "model/cost/scans.hpp"

#include "model/cost/kernel_lists.hpp"

#include <algorithm>

namespace sextant {
namespace {

// With A the inverse of a chunk's triangular matrix, [chunk, chunk]: U = A b V are the values and W = A b K the keys that it writes,
// less what they overwrite among themselves; V' = U - W S what they add to the state S that the chunk begins with.
class DeltaRuleWriter {
public:
    DeltaRuleWriter(const std::string& name, const DeltaRuleScan& s, DataType type, const Precision& precision)
        : name_(name), type_(type), key_dim_(s.key_dim), value_dim_(s.value_dim) {
        chunk_ = std::min(s.chunk, s.sequence);
        products_ = s.batch * ceil_divide(s.sequence, chunk_) * s.heads;
        const Bytes narrow = element_size(TensorRole::activation, precision), wide = size_of(DataType::fp32);
        const double rows = static_cast<double>(s.batch * s.sequence) * static_cast<double>(s.heads);
        k_ = rows * static_cast<double>(key_dim_) * narrow;
        v_ = rows * static_cast<double>(value_dim_) * narrow;
        inverse_ = rows * static_cast<double>(chunk_) * narrow;
        triangle_ = rows * static_cast<double>(chunk_) * wide;
        steps_ = rows * wide;
        states_ = static_cast<double>(products_) * static_cast<double>(key_dim_ * value_dim_) * size_of(type);
    }

    void forward(std::vector<Kernel>& list) const {
        push_memory(list, name_ + ".length", 4.0 * k_, false, 2);  // of q and k made one
        push_memory(list, name_ + ".steps", 3.0 * steps_, false);
        product(list, chunk_, chunk_, key_dim_, k_ + triangle_, false);  // K K^T
        push_memory(list, name_ + ".inverse", triangle_ + inverse_, false);
        write_states(list, false);
        product(list, chunk_, value_dim_, key_dim_, k_ + states_, false);  // Q S
        product(list, chunk_, chunk_, key_dim_, k_, false);                // Q K^T
        product(list, chunk_, value_dim_, chunk_, 2.0 * v_, false);        // and by it of V'
    }

    // States are made again.
    void backward(std::vector<Kernel>& list) const {
        write_states(list, true);
        product(list, chunk_, chunk_, key_dim_, 2.0 * k_, true);    // Q K^T, and by it
        product(list, chunk_, value_dim_, chunk_, 2.0 * v_, true);  // of V'
        // From chunk to chunk, backwards: of the states, and by them of V'.
        product(list, key_dim_, value_dim_, chunk_, k_ + v_ + states_, true);  // Q^T dy
        product(list, key_dim_, value_dim_, chunk_, k_ + v_, true);            // W^T dV'
        product(list, chunk_, value_dim_, key_dim_, k_ + v_, true);            // K dS
        // The gradients of Q, K and W by way of the states, and of Q and K by way of the scores.
        for (int i = 0; i < 3; ++i) product(list, chunk_, key_dim_, value_dim_, v_ + states_ + k_, true);
        product(list, chunk_, chunk_, value_dim_, 2.0 * v_, true);  // dy V'^T
        for (int i = 0; i < 2; ++i) product(list, chunk_, key_dim_, chunk_, k_, true);
        product(list, chunk_, chunk_, key_dim_, 2.0 * k_, true);  // Q K^T, for the decay
        // The gradients of A by way of W and U, of K and V by way of A, of K K^T through the inverse, and of K by way of that.
        product(list, chunk_, chunk_, key_dim_, 2.0 * k_, true);
        product(list, chunk_, chunk_, value_dim_, 2.0 * v_, true);
        product(list, chunk_, key_dim_, chunk_, k_ + inverse_, true);
        product(list, chunk_, value_dim_, chunk_, v_, true);
        for (int i = 0; i < 2; ++i) product(list, chunk_, chunk_, chunk_, {}, true);
        product(list, chunk_, chunk_, key_dim_, {}, true);  // K K^T
        for (int i = 0; i < 2; ++i) product(list, chunk_, key_dim_, chunk_, k_, true);
        push_memory(list, name_ + ".steps", 6.0 * steps_, true, 3);  // of b and g and of the parameters
        push_memory(list, name_ + ".length", 6.0 * k_, true, 2);
    }

private:
    // W and U, and the states that chunks begin with, one after the other.
    void write_states(std::vector<Kernel>& list, bool backward) const {
        product(list, chunk_, key_dim_, chunk_, 2.0 * k_ + inverse_, backward);
        product(list, chunk_, value_dim_, chunk_, 2.0 * v_, backward);
        product(list, chunk_, value_dim_, key_dim_, k_ + 2.0 * v_, backward);  // W S
        product(list, key_dim_, value_dim_, chunk_, k_ + states_, backward);   // K^T V'
    }

    // One of [m, k] x [k, n] for each chunk and head.
    void product(std::vector<Kernel>& list, std::int64_t m, std::int64_t n, std::int64_t k, Bytes bytes, bool backward) const {
        list.push_back(matrix_product(name_, {products_, m, n, k}, type_, bytes, backward));
    }

    const std::string& name_;
    DataType type_;
    std::int64_t key_dim_, value_dim_, chunk_ = 1, products_ = 1;
    Bytes k_, v_, inverse_, triangle_, steps_, states_;  // q or k or W; v or y or U; of all chunks
};

}  // namespace

void add_scan(const Operator& op, const DeltaRuleScan& s, DataType type, const Precision& precision, BlockKernels& out) {
    const DeltaRuleWriter scan(op.name, s, type, precision);
    scan.forward(out.forward);
    scan.backward(out.backward);
}

}  // namespace sextant
