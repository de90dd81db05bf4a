#include "gui/models/fields.hpp"

#include "gui/models/workbench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::gui {
namespace {

using testing::ElementsAre;
using testing::Pair;

const Field& field(const std::string& path) {
    for (const FieldSection& section : field_sections())
        for (const Field& f : section.fields)
            if (f.path == path) return f;
    throw std::runtime_error("no field " + path);
}

Session session_of(const std::string& text) {
    Library library = open_library();
    return answered(library, {.document = {.file = "test.json", .text = text, .edits = {}}});
}

// Eight devices in a box, cut in two by tp.
const std::string job = R"({"schema": "scenario/1", "name": "x", "workload": "gpt3-1.3b", "hardware": {"cluster": "dgx-a100"},
  "plan": {"tp": 2, "dp": 4, "micro_batch": 1, "grad_accum": 8}, "framework": "megatron-core"})";

TEST(Fields, OneDegreeMoreIsOneCopyLess) {
    EXPECT_THAT(edits_for(session_of(job), field("plan.tp"), QStringLiteral("4"), true),
                ElementsAre(Pair("plan.tp", "4"), Pair("plan.dp", "2")));
    EXPECT_THAT(edits_for(session_of(job), field("plan.tp"), QStringLiteral("4"), false), ElementsAre(Pair("plan.tp", "4")));
    EXPECT_THAT(edits_for(session_of(job), field("plan.tp"), QStringLiteral("3"), true), ElementsAre(Pair("plan.tp", "3")))
        << "three does not divide eight: the reader says so";
}

TEST(Fields, OfThreeBatchesTheAccumulationGivesWay) {
    EXPECT_THAT(edits_for(session_of(job), field("plan.global_batch"), QStringLiteral("64"), true),
                ElementsAre(Pair("plan.global_batch", "64"), Pair("plan.grad_accum", "null")));
    EXPECT_THAT(edits_for(session_of(job), field("plan.micro_batch"), QStringLiteral("2"), true),
                ElementsAre(Pair("plan.micro_batch", "2")));
}

TEST(Fields, WithoutServersNothingIsSaidOfThem) {
    Session s = session_of(job);
    s.document = edited(s.document, "plan.parameter_servers", "4");
    EXPECT_THAT(edits_for(s, field("plan.data_parallel"), QStringLiteral("all_reduce"), true),
                ElementsAre(Pair("plan.data_parallel", "\"all_reduce\""), Pair("plan.parameter_servers", "null")));
    EXPECT_THAT(edits_for(s, field("plan.data_parallel"), QStringLiteral("async_parameter_server"), true),
                ElementsAre(Pair("plan.data_parallel", "\"async_parameter_server\"")));
}

// A node of eight devices at 98.32 USD an hour.
TEST(Fields, ThePriceThatAProfileStatesFollows) {
    Session s = session_of(job);
    EXPECT_EQ(field("run.price").resolved(s.answer->scenario), QString());
    s.document = edited(s.document, "hardware.cluster", "\"aws-p5\"");
    Library library = open_library();
    EXPECT_EQ(field("run.price").resolved(answered(library, s).answer->scenario), QStringLiteral("12.3 USD/h"));
}

TEST(Fields, WhatIsNamedAndWhatIsLaidOverItAreEditedWhereTheyStand) {
    Session s = session_of(job);
    EXPECT_EQ(path_in(s.document, field("framework")), "framework");
    s.document = edited(s.document, "hardware.device.memory", "\"40 GiB\"");
    EXPECT_EQ(path_in(s.document, field("hardware.device")), "hardware.device.base");
}

TEST(Fields, EveryFieldIsTakenByTheReader) {
    Session s = session_of(job);
    ASSERT_EQ(s.state, AnswerState::ready);
    Library library = open_library();
    for (const FieldSection& section : field_sections())
        for (const Field& f : section.fields) {
            const QString value = f.resolved(s.answer->scenario);
            if (value.isEmpty()) continue;
            Session next = s;
            for (const auto& [path, json] : edits_for(s, f, value, true)) next.document = edited(next.document, path, json);
            next = answered(library, next);
            EXPECT_EQ(next.state, AnswerState::ready)
                << f.path << " = " << value.toStdString() << ": " << (next.problems.empty() ? "" : to_text(next.problems.front()));
        }
}

TEST(Fields, EveryChoiceIsAWordOfTheReader) {
    const Session s = session_of(job);
    Library library = open_library();
    for (const FieldSection& section : field_sections())
        for (const Field& f : section.fields)
            for (const QString& choice : f.choices) {
                Session next = s;
                next.document = edited(s.document, f.path, json_of(f, choice));
                for (const Diagnostic& d : answered(library, next).problems)
                    EXPECT_EQ(d.what.find("is not known here"), std::string::npos) << f.path << ": " << d.what;
            }
}

}  // namespace
}  // namespace sextant::gui
