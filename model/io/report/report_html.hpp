// The whole report as one page: to keep, to send, to print. It needs no server, no script and no file beside it.
#pragma once

#include "model/report/simulation_report.hpp"

#include <string>
#include <vector>

namespace sextant {

// A picture that somebody else drew, as SVG.
struct PageFigure {
    std::string heading, svg;
};

// `played`: the same job, event by event; null leaves out what only a timeline can say. `figures` stand before what is assumed.
std::string report_html(const Prepared&, const Report&, const SimulationReport* played = nullptr,
                        const std::vector<PageFigure>& figures = {});

}  // namespace sextant
