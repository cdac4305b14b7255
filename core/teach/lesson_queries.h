// This table lists the queries on a plan, and how each is answered.
#pragma once

#include "core/teach/lesson_answers.h"
#include "core/teach/map.h"

#include <array>
#include <cstdint>
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
