// This table lists the queries on a plan, and how each is answered.
#pragma once

#include "core/base/text.h"
#include "core/teach/lesson_answers.h"
#include "core/teach/map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pentamesh {

// Holds the arguments of one query, in the types of its pattern.
struct QueryArguments {
    GroupKind group = GroupKind::tp;
    std::int64_t n = 0;
    MapRowId row = MapRowId::tp;
    std::string word;
};
struct QueryInput {
    const Plan& plan;
    const Evaluation& e;
    QueryArguments arg;
};
struct HiddenAnswer;
// Says which texts are hidden while a query is asked, in addition to the answer itself.
struct Hides {
    std::array<std::string_view, 5> nouns{};    // numbers next to one of these words
    std::array<std::string_view, 8> own{};      // next to these the answer only: a scene states other numbers
    std::array<std::string_view, 5> lines{};    // texts that have one of these words, whole
    bool in_view = false, everywhere = false;   // bare numbers in a view; the answer next to any word
    std::array<std::string_view, 2> covered{};  // views whose picture is the answer; "all"
    void (*more)(HiddenAnswer& hidden, const QueryInput& in, const Answer& answer) = nullptr;
};
// `pattern` has words as they are written; AXIS is a group kind, N a whole number, ROW a row of the map,
// FIELD a field of it, WORD any word.
struct Query {
    std::string_view pattern, what;
    Answer (*answer)(const QueryInput& in);
    Hides hides{};
};
[[nodiscard]] const std::vector<Query>& query_table();
// Returns the row of a query and its arguments; null where there is no such query.
[[nodiscard]] const Query* find_query(std::string_view text, QueryArguments& arg);

// Returns the words of a row of the map under one of its fields; empty where there is no such field.
[[nodiscard]] std::string_view map_field(const MapWords& words, std::string_view field);

}  // namespace pentamesh

// Writes an answer: counts, measures, words. The files that answer queries share this.

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
// These queries are about memory, time, the model and the plan's errors.
[[nodiscard]] std::span<const Query> step_queries();
// These queries are about how far a plan scales.
[[nodiscard]] std::span<const Query> scale_queries();
}  // namespace pentamesh
