// What data parallelism adds to a step: gradients reduced and weights gathered. Internal to predict.
#pragma once

#include "model/predict/stage_exchanges.hpp"
#include "model/predict/stage_work.hpp"

namespace sextant {

// What a stage finds where it stands in the job.
struct StageContext {
    Seconds arrival{};    // of the first micro-batch
    Seconds overhead{};   // of the framework, for each micro-batch
    double slowdown = 1;  // how many times as long its exchanges take while other stages on its nodes exchange too
};

// What data parallelism adds to one step of a stage, beside its micro-batches. A stage that is alone in its pipeline is played together
// with its host, whose lead over the device carries over from one micro-batch to the next; otherwise the parts say where other stages wait.
struct DataParallelPrice {
    Seconds exposed;     // communication that nothing hides
    Seconds hidden;      // communication behind kernels
    Seconds slowdown;    // how much longer kernels take beside that
    Seconds in_forward;  // of that, those in forward
    Seconds lengthened;  // how much longer exchanges in layers take beside it
    Seconds launch;      // the device waits for the host; only of a stage that is alone in its pipeline
    Seconds at_end;      // exchanges of what the last backward makes, hidden or not
    double copied = 0;   // the fraction of exposed and hidden that is copies to and from host memory

    // Where exposed, slowdown and lengthened show.
    Seconds steady;         // in every micro-batch
    Seconds passing;        // besides, in the first and the last one together,
    Seconds first_forward;  // of that, in the first forward
    Seconds behind;         // after all passes
    // Parts of steady.
    Seconds steady_forward;                 // in forward
    Seconds steady_weights;                 // in the part of backward that a zero-bubble schedule leaves for later
    Seconds early_forward, early_backward;  // before the input of the pass arrives: weights gathered for the first blocks
    Seconds late;                           // once backward could already have sent its result

    // Where other stages exchange over the same links:
    Seconds met;       // how much longer the exchanges of a pass take than those of a micro-batch that passes alone
    Seconds on_links;  // what all those stages put on the links for each micro-batch
    // Where the exchanges of every micro-batch fall behind because compute does not wait for them (zero for schedules that are played):
    Seconds behind_last;  // what `behind` would be with those of the last micro-batch alone
    Seconds queue;        // all of them, one after another, from the beginning of the first backward

    // The part of steady that delays a micro-batch on its way through the pipeline.
    [[nodiscard]] Seconds on_its_way() const { return steady - steady_weights - early_forward - early_backward - late; }
};
DataParallelPrice price_data_parallel(const Prepared::State&, std::size_t stage, const StageWork&, const StageExchanges&,
                                      const StageContext&, const Resources&);

}  // namespace sextant
