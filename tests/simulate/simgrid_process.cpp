#include "tests/simulate/simgrid_process.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <unistd.h>

namespace sextant::simgrid {
namespace {

#ifdef SEXTANT_SIMGRID_HELPER
constexpr const char* helper = SEXTANT_SIMGRID_HELPER;
#else
constexpr const char* helper = nullptr;
#endif

std::vector<double> ask(const std::string& question, const std::string& settings) {
    const auto path = std::filesystem::temp_directory_path() / ("sextant_simgrid_" + std::to_string(::getpid()));
    std::ofstream(path) << question;
    const std::string command = "'" + std::string(helper) + "' " + settings + " <'" + path.string() + "' 2>/dev/null";
    std::vector<double> answer;
    if (FILE* pipe = ::popen(command.c_str(), "r")) {
        for (double value = 0; std::fscanf(pipe, "%lf", &value) == 1;) answer.push_back(value);
        if (::pclose(pipe) != 0) answer.clear();
    }
    std::filesystem::remove(path);
    return answer;
}

void write_links(std::ostream& out, const std::vector<Link>& links) {
    out.precision(17);
    out << "links " << links.size() << '\n';
    for (const Link& link : links) out << link.bandwidth.si() << ' ' << link.latency.si() << '\n';
}

}  // namespace

bool installed() { return helper != nullptr; }

std::vector<double> flow_ends(const std::vector<Link>& links, const std::vector<Flow>& flows) {
    std::ostringstream question;
    write_links(question, links);
    question << "flows " << flows.size() << '\n';
    for (const Flow& flow : flows) {
        question << flow.start.si() << ' ' << flow.bytes << ' ' << flow.links.size();
        for (const std::uint32_t link : flow.links) question << ' ' << link;
        question << '\n';
    }
    // All flows at every event: SimGrid 3.32 without this updates those that an event touches, and lets a flow whose latency ends together
    // with another's go twice as fast as its own link.
    return ask(question.str(), "--cfg=network/optim:Full");
}

double ring_end(const RankNetwork& network, const std::vector<Seconds>& latencies, const CollectiveSchedule& schedule) {
    std::ostringstream question;
    std::vector<Link> links;
    for (std::size_t l = 0; l < network.capacities.size(); ++l)
        links.push_back({network.capacities[l], latencies[latencies.size() == 1 ? 0 : l]});
    write_links(question, links);
    const Rounds& rounds = schedule.rounds.front();
    question << "ring " << schedule.ranks << ' ' << rounds.count << ' ' << static_cast<std::uint64_t>(rounds.bytes.si()) << '\n';
    for (int r = 0; r < schedule.ranks; ++r) {
        const FlowRoute route = network.route(r, rounds.to[r]);
        question << route.uses.size();
        for (const LinkUse& use : route.uses) question << ' ' << use.link;
        question << '\n';
    }
    const auto answer = ask(question.str(), "");
    return answer.empty() ? std::numeric_limits<double>::infinity() : answer.front();
}

}  // namespace sextant::simgrid
