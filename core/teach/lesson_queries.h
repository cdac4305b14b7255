// This table lists the queries on a plan, and how each is answered.
#pragma once

#include "core/teach/lesson_answers.h"
#include "core/teach/map.h"

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
// `pattern` has words as they are written; AXIS is a group kind, N a whole number, ROW a row of the map,
// FIELD a field of it, WORD any word.
struct Query {
    std::string_view pattern, what;
    Answer (*answer)(const QueryInput& in);
};
[[nodiscard]] const std::vector<Query>& query_table();

// Returns the words of a row of the map under one of its fields; empty where there is no such field.
[[nodiscard]] std::string_view map_field(const MapWords& words, std::string_view field);

}  // namespace pentamesh
