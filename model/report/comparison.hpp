// Prediction beside measurement: the closed form, the simulation and a real run of one scenario, term by term and rank by rank, and which
// input of the model their largest difference points to. docs/compare.md says what each number is.
#pragma once

#include "model/graph/run_record.hpp"
#include "model/report/condition.hpp"
#include "model/report/operator_comparison.hpp"
#include "model/report/simulation_report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// One quantity in the closed form, in the simulation and in the run.
template <class T>
struct ComparedValue {
    T predicted{}, simulated{}, measured{};
};

// One rank, read off a trace.
struct RankTimes {
    Seconds end;              // of its last span
    Terms terms, overlapped;  // the terms sum to the step
};

// `arrays`: weights, gradients, states, activations. `process`: also what the framework, libraries and MPI hold.
struct RankMemoryUse {
    Bytes arrays, process;
};

struct RankComparison {
    int rank = 0, stage = 0;
    bool server = false;
    std::string host, processor;
    RankTimes simulated, measured;
    RankMemoryUse predicted_memory, measured_memory;  // a parameter server's is not predicted
};

// Work over its time, over all ranks: of kernels that compute, and of exchanges that pass bytes on.
struct KernelRate {
    SpanKind kind = SpanKind::forward;
    FlopRate simulated, measured;
};
struct ExchangeRate {
    SpanKind kind = SpanKind::data_exchange;
    Bytes bytes;  // that the run passed on
    Bandwidth simulated, measured;
};

// The term whose measured time is farthest from the predicted one.
struct TermResidual {
    Term term = Term::forward;
    Seconds seconds;        // measured less predicted
    double share = 0;       // its size over the sum of those of all terms
    std::string points_to;  // in words; and the input behind it, where it is one
    std::optional<InputUsed> input;
    std::optional<double> explained_at;  // the multiple of the input's value at which the prediction would be what was measured
};
struct MemoryResidual {
    int rank = 0;
    Bytes bytes;  // of the process, measured less predicted
    Bytes predicted;
    std::string points_to;
    std::optional<InputUsed> input;
};

struct StepTimes {
    int count = 0;
    Seconds median, fastest, slowest;  // without those that prepare, if there are others
    std::optional<Seconds> first;
};

// The updates by other workers since a worker's weights left the servers.
struct MeanStaleness {
    double simulated = 0, measured = 0;
};

// How samples came: the time that a worker takes to read and to decode one, and the time of bringing all of them nearby first. Predicted
// where the scenario says where they are.
struct InputComparison {
    bool predicted = false;
    Seconds predicted_reading, predicted_decoding, predicted_staging;
    Seconds reading, decoding, staging;
    double skipped = 0;  // bad samples
};

struct Comparison {
    Report prediction;
    SimulationReport simulation;
    StepTimes steps;
    ComparedValue<Seconds> step;
    ComparedValue<Frequency> samples_per_s;
    std::optional<ComparedValue<Frequency>> tokens_per_s;
    std::optional<double> first_loss, last_loss;
    // These are of the rank that finishes last in the stage whose rank the closed form predicts to finish last.
    int stage = 0;
    int measured_rank = 0;
    Seconds traced_step;  // the sum of the measured terms
    ComparedValue<Terms> terms, overlapped;
    ComparedValue<std::optional<double>> hidden;  // the fraction of communication that is overlapped; none without communication
    ComparedValue<double> bubble;                 // the fraction of the step
    std::optional<InputComparison> input;         // where a dataset was read
    std::optional<MeanStaleness> staleness;       // of an asynchronous parameter server
    std::vector<RankComparison> ranks;
    std::vector<KernelRate> kernels;
    std::vector<ExchangeRate> exchanges;
    std::vector<OperatorComparison> operators;  // where the run was asked for their times
    TermResidual residual;
    std::optional<MemoryResidual> memory_residual;
    std::vector<std::string> notes;  // what a reader must know before drawing conclusions
};

// Throws InputError, saying what differs, where the run is of another plan than `graph`.
void check_same_plan(const TaskGraph& graph, const Scenario&, const RunRecord&);

// `simulation`: of every rank of the job, none folded.
Comparison compare(const Prepared& job, SimulationReport simulation, const RunRecord&);

// The two residuals of a comparison whose terms and ranks are filled in.
TermResidual find_term_residual(const Prepared& job, const Comparison&);
std::optional<MemoryResidual> find_memory_residual(const Prepared& job, const Comparison&);

// The one of a stage's replicas that finishes last. A rank of another stage would have other terms, which compare with nothing.
const RankComparison& last_of_stage(const std::vector<RankComparison>&, int stage, RankTimes RankComparison::*);

// measured / predicted; none where nothing is predicted.
std::optional<double> ratio(double measured, double predicted);

Terms communication_of(const Terms&);  // exchanges between ranks and nothing else
Seconds waiting_of(const Terms&);      // for other ranks
Seconds computing_of(const Terms&);    // forward, backward, recompute, optimizer

// `times`: at least one. The first `preparing` of them are not like the others.
StepTimes step_times(std::vector<Seconds> times, std::size_t preparing);

// What a condition may ask about: "step_time_ratio > 1.5", "largest_residual > 100 ms".
std::vector<NamedQuantity> named_quantities(const Comparison&);
// Names and units of what a comparison with a run that is still to come may have.
std::vector<NamedQuantity> comparable_quantities(const Scenario&);
// "terms.forward", "residual.forward", "ratio.forward" and so on.
void add_term_quantities(std::vector<NamedQuantity>&, const Terms& predicted, const Terms& measured);

}  // namespace sextant
