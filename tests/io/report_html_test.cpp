// The page of a report: everything in it, and nothing outside it.
#include "model/io/report/report_html.hpp"

#include "model/io/format/svg.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::string& name, const std::vector<std::string>& overrides = {}, bool played = true) {
    const Scenario scenario = bundled_scenario(name, overrides);
    const Prepared job = prepare(scenario);
    if (!played) return report_html(job, make_report(job));
    const SimulationReport simulation = simulate(scenario);
    return report_html(job, make_report(job), &simulation);
}

int count_of(const std::string& text, const std::string& what) {
    int count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++count;
    return count;
}

TEST(ReportHtml, TellsAllThatTheReportTells) {
    const std::string page = page_of("input-nfs-staged");
    const Report r = predict(bundled_scenario("input-nfs-staged"));
    for (const std::string& said :
         {to_text(r.estimate.step), r.bottleneck.why.substr(1), to_text(r.estimate.peak_memory), to_text(r.run->time),
          r.inputs.front().source, std::string("Where the samples come from"), std::string("How input is made up")})
        EXPECT_THAT(page, HasSubstr(svg::escaped(said)));
    const std::string failing = page_of("llama-3.1-405b-failures", {}, false);
    for (const char* said : {"<h2>The whole run</h2>", "best checkpoints", "one every 3.09 h"}) EXPECT_THAT(failing, HasSubstr(said));
    for (const std::string& assumption : r.assumptions) EXPECT_THAT(page, HasSubstr(svg::escaped(assumption)));
}

// Nobody waits for a step that does not run.
TEST(ReportHtml, SaysFirstWhatMakesAPlanFit) {
    const std::string page = page_of("does-not-fit", {}, false);
    EXPECT_THAT(page, HasSubstr("What would make it fit: plan.data_parallel=zero3"));
    EXPECT_THAT(page, Not(HasSubstr("wice the compute rate")));
    EXPECT_LT(page.find("<h2>Memory</h2>"), page.find("<h2>Where a step goes</h2>"));
    EXPECT_THAT(page_of("default", {}, false), HasSubstr("twice the compute rate"));
}

TEST(ReportHtml, NeedsNoServerNoScriptAndNoFileBesideIt) {
    for (const char* name : {"default", "gpt3-175b-1024xa100", "inference-llama-2-13b-8xa100"}) {
        const std::string page = page_of(name);
        for (const char* outside : {"<script", "<link", "src=", "@import", "url("}) EXPECT_THAT(page, Not(HasSubstr(outside))) << name;
        EXPECT_EQ(count_of(page, "<svg"), count_of(page, "</svg>"));
        EXPECT_EQ(count_of(page, "<table"), count_of(page, "</table>"));
        EXPECT_EQ(count_of(page, "<details>"), count_of(page, "</details>"));
        EXPECT_LT(page.size(), 2'000'000U) << name;
    }
}

TEST(ReportHtml, LeavesOutTheTimelineWhereNothingWasPlayed) {
    EXPECT_THAT(page_of("default"), HasSubstr("<h2>Timeline</h2>"));
    EXPECT_THAT(page_of("default", {}, false), Not(HasSubstr("<h2>Timeline</h2>")));
}

TEST(ReportHtml, SaysLoudlyThatAPlanDoesNotFit) {
    EXPECT_THAT(page_of("does-not-fit", {}, false), HasSubstr("does not fit"));
    EXPECT_THAT(page_of("does-not-fit-mended", {}, false), Not(HasSubstr("does not fit")));
}

// 11.37 sequences of 256 tokens a second; 1080 pixels of which the last 90 are for totals, 10 behind the fullest bar.
TEST(ReportHtml, FiguresAreReadableAndNothingCrossesThem) {
    EXPECT_THAT(page_of("default", {}, false), HasSubstr("sequences/s, 2,915 tokens/s; 2 devices"));
    EXPECT_THAT(page_of("does-not-fit", {}, false), ContainsRegex(R"(<text x="1000"[^>]*>112 GB)"));
}

TEST(ReportHtml, EscapesWhatTheScenarioIsCalled) {
    EXPECT_THAT(page_of("default", {"name=<b>&"}, false), HasSubstr("<h1>&lt;b&gt;&amp;</h1>"));
}

}  // namespace
}  // namespace sextant
