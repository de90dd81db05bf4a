// sextant-exec-cpu: one rank of a job on CPUs.
#include "backend/cpu/cpu_engine.hpp"
#include "backend/rank/rank_process.hpp"

int main(int argc, char** argv) { return sextant::run_rank(argc, argv, sextant::CpuEngine()); }
