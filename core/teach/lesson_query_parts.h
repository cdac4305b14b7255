// Writes an answer: counts, measures, words. The files that answer queries share this.
#pragma once

#include "core/base/text.h"
#include "core/teach/lesson_queries.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace pentamesh::query {

[[nodiscard]] inline Answer none(std::string why) {
    Answer a;
    a.working = std::move(why);
    return a;
}
[[nodiscard]] inline Answer words(std::string text, std::string working) {
    Answer a;
    a.kind = text.empty() ? Answer::Kind::none : Answer::Kind::text;
    a.text = std::move(text);
    a.working = std::move(working);
    return a;
}
[[nodiscard]] inline Answer yes_no(bool yes, std::string working) {
    return words(yes ? "yes" : "no", std::move(working));
}
[[nodiscard]] inline Answer count(std::int64_t n, std::string working) {
    Answer a;
    a.kind = Answer::Kind::number;
    a.number = static_cast<double>(n);
    a.text = with_commas(n);
    a.working = std::move(working);
    return a;
}
[[nodiscard]] inline Answer measure(double x, std::string unit, std::string working) {
    Answer a;
    a.kind = Answer::Kind::number;
    a.number = x;
    a.text = three_digits(x) + (unit.empty() ? "" : " " + unit);
    a.unit = std::move(unit);
    a.working = std::move(working);
    return a;
}
[[nodiscard]] inline const GroupSummary& summary(const QueryInput& in) {
    return in.e.groups[in.arg.group];
}
// hidden_answer.cpp: what is hidden in addition to the words of a query's row.
void hide_degree(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
void hide_wires(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
void hide_talk(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
void hide_column(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
void hide_problems(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
void hide_answer(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer);
}  // namespace pentamesh::query

namespace pentamesh {
// lesson_queries_step.cpp has queries about memory, time, the model and the plan's errors.
[[nodiscard]] std::span<const Query> step_queries();
// lesson_queries_scale.cpp has queries about how far a plan scales.
[[nodiscard]] std::span<const Query> scale_queries();
}  // namespace pentamesh
