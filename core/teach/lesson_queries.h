// The table of what may be asked of a plan, and how each is answered.
#pragma once

#include "core/teach/lesson_answers.h"
#include "core/teach/map.h"

namespace pentamesh {

// The arguments of one query, in the types of its pattern.
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
// `pattern`: words as they are written; AXIS a group kind, N a whole number, ROW a row of the map, FIELD a
// field of it, WORD any word.
struct Query {
    std::string_view pattern, what;
    Answer (*answer)(const QueryInput& in);
};
[[nodiscard]] const std::vector<Query>& query_table();

// What a row of the map says under one of its fields; empty: no such field.
[[nodiscard]] std::string_view map_field(const MapWords& words, std::string_view field);

}  // namespace pentamesh
