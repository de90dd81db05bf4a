#include "gui/models/meanings.hpp"

namespace sextant::gui {

QString meaning(Term term) {
    switch (term) {
        case Term::forward: return QStringLiteral("Kernels of the forward pass.");
        case Term::backward: return QStringLiteral("Kernels of the backward pass: gradients of activations and of weights.");
        case Term::recompute: return QStringLiteral("The forward pass again, of activations that were not kept.");
        case Term::optimizer: return QStringLiteral("The update of the weights.");
        case Term::tensor_communication:
            return QStringLiteral("Exchanges among the ranks that share each matrix product, as far as nothing hides them.");
        case Term::context_communication:
            return QStringLiteral("Exchanges among the ranks that share a sequence, as far as nothing hides them.");
        case Term::expert_communication:
            return QStringLiteral("Tokens on their way to their experts and back, as far as nothing hides it.");
        case Term::pipeline_communication:
            return QStringLiteral("Activations and their gradients on their way between stages, as far as nothing hides it.");
        case Term::data_communication:
            return QStringLiteral("Gradients and weights exchanged among the copies of the model, as far as nothing hides it.");
        case Term::bubble: return QStringLiteral("A stage waits for the others: a pipeline fills and drains.");
        case Term::input: return QStringLiteral("The device waits for samples.");
        case Term::launch: return QStringLiteral("The device waits for the host to launch kernels.");
        case Term::offload: return QStringLiteral("Copies to and from host memory.");
        case Term::straggler: return QStringLiteral("Waiting for slower ranks.");
        case Term::overhead: return QStringLiteral("What the framework does once a step or a micro-batch.");
    }
    return {};
}

QString meaning(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::weights: return QStringLiteral("Weights as kernels read them.");
        case MemoryKind::gradients: return QStringLiteral("Gradients of the weights.");
        case MemoryKind::optimizer: return QStringLiteral("What the optimizer remembers of each weight, and its own copy of it.");
        case MemoryKind::activations:
            return QStringLiteral("Results of the forward pass that backward needs, of all micro-batches in flight.");
        case MemoryKind::logits: return QStringLiteral("Scores of the last layer, and what the loss makes of them.");
        case MemoryKind::gathered_weights: return QStringLiteral("Weights of other ranks, gathered for the blocks that run now.");
        case MemoryKind::communication: return QStringLiteral("Buffers of the communication library and of the framework.");
        case MemoryKind::context: return QStringLiteral("What driver and libraries take before any work begins.");
        case MemoryKind::fragmentation: return QStringLiteral("Holes that the allocator leaves.");
    }
    return {};
}

}  // namespace sextant::gui
