#include "model/io/format/json_text.hpp"
#include "model/io/report/replay_report_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ReplayTerms& terms) {
    Json list = Json::array();
    for (const ReplayTerm t : all_replay_terms) {
        if (terms[t] > Seconds{}) list.push_back({{"name", to_text(t)}, {"seconds", terms[t].si()}});
    }
    return list;
}

Json json_of(const ReplayReport::OfRank& r) {
    return {{"rank", r.rank}, {"end_s", r.end.si()}, {"terms", json_of(r.terms)}, {"overlapped", json_of(r.overlapped)}};
}

}  // namespace

std::string replay_report_to_json(const ReplayReport& r) {
    const ReplayReport::OfRank& last = r.ranks[r.last];
    Json json = {{"schema", "replay/1"},
                 {"trace", r.trace_name},
                 {"hardware", r.hardware},
                 {"library", r.library},
                 {"nodes", r.nodes},
                 {"step_time_s", r.step.si()},
                 {"last_rank", last.rank},
                 {"terms", json_of(last.terms)},
                 {"overlapped", json_of(last.overlapped)},
                 {"communication", Json::array()},
                 {"all_ranks", r.all_ranks},
                 {"ranks", Json::array()}};
    for (const ReplayReport::Calls& c : r.communication)
        json["communication"].push_back({{"name", c.what}, {"calls", c.calls}, {"bytes", c.bytes.si()}, {"seconds", c.time.si()}});
    for (const ReplayReport::OfRank& rank : r.ranks) json["ranks"].push_back(json_of(rank));
    return json_document(json);
}

}  // namespace sextant
