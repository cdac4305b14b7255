// The folder's own: the pieces of a lesson's lines, what is wrong with them, the reader of a question, and
// the table of queries on a plan. Who uses lessons includes lesson.h.
#pragma once

#include "core/base/text.h"
#include "core/teach/lesson.h"
#include "core/teach/map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Reads pieces of a lesson's lines: numbers, lists, "key: value".

// Reads "10 %" or "0.1" of the answer.
[[nodiscard]] bool parse_tolerance(std::string_view text, double& out);
// Reads "a, b": the parts between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

// Reads the same, where a comma between brackets or quotes belongs to its part: a=["x","y"], b=2.
[[nodiscard]] std::vector<std::string> split_values(std::string_view text);
// Returns true if each "[[" of a text has its "|" and its "]]".
[[nodiscard]] bool has_whole_forms(std::string_view text);
// Reads "POINTER = VALUE" as "POINTER=VALUE": blanks about the sign are the author's. The text is empty where
// the line has another form.
[[nodiscard]] std::string pointer_value(std::string_view text);

// Returns how the plan's panel names a field: "ZeRO" for "layout.zero", "dp_shard" for an axis.
[[nodiscard]] std::string panel_name(std::string_view pointer);

struct KeyValue {
    std::string_view key, value;
};
// Reads "key: value" with a lower-case word before the colon.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

// Collects what is wrong with a lesson's file, each at its own line, and knows what a lesson may name.

class LessonFaults {
  public:
    LessonFaults(const LessonNames& names, std::vector<LessonError>& out) : names_(names), out_(out) {}

    void error(int line, std::string message);
    // Says that no such thing has that name, which is the closest, and what there is.
    void unknown(int line, std::string_view what, std::string_view word,
                 const std::vector<std::string_view>& known);
    void check_view(int line, std::string_view name);
    void check_page(int line, std::string_view view, std::string_view page);
    // Follows the plan that steps show, so that a field that does not fit is found at its line.
    void open_plan(int line, std::string_view id);
    void set_field(int line, const std::string& set);
    // Checks "POINTER=VALUE" without setting it. `what` is its place: "against", "show".
    void check_field(int line, std::string_view what, const std::string& set);
    void check_query(int line, std::string_view query);
    // Checks each {{query}} of a line; of a text that goes over several lines, what was not found in those.
    void check_text(int line, std::string_view text);
    void check_whole_text(int line, std::string_view text);

  private:
    LessonNames names_;
    std::vector<LessonError>& out_;
    std::optional<Plan> plan_;    // of the step that is read; none: it is not known
    std::set<std::string> seen_;  // queries that were checked line by line

    [[nodiscard]] std::string wrong_field(const std::string& set) const;
};

// Reads the lines of a question, an "ask" block of a lesson.
class QuestionReader {
  public:
    // `line` is that of the block's first fence. Without `checked` nothing is looked up.
    QuestionReader(LessonFaults& faults, int line, bool checked) : faults_(faults), checked_(checked) {
        q_.line = query_line_ = line;
    }
    void line(std::string_view line, int number);
    // Checks the whole, once it is read.
    [[nodiscard]] LessonQuestion finish();

  private:
    LessonFaults& faults_;
    bool checked_;
    LessonQuestion q_;
    bool any_kind_ = false, any_tolerance_ = false;
    int query_line_ = 0, given_line_ = 0;
    int chosen_line_ = 0, changed_line_ = 0;  // of "choose:", of "query:"; 0: there is no such line
    std::string chosen_;                      // behind "choose:"
    std::string given_;                       // the value of the point that is shown
    std::vector<int> option_lines_;
    std::string* last_ = nullptr;  // what a line without a key goes on with

    void kind(QuestionKind kind, std::string_view query, int number);
    void rule(QuestionRule rule);
    void guess(std::string_view value, int number);
    void curve(std::string_view query, std::string_view over, int number);
    void check_given();
    [[nodiscard]] bool check_changed();
    void text(std::string& into, std::string_view value);
    void show(std::string_view value, int number);
    void picture(std::string_view value, int number);
    void instead(std::string_view value, int number);
    void mistake(std::string_view value, int number);
    void check_mistake(const LessonQuestion::Mistake& m);
    void check_options();
};

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
// FIELD a field of it, WORD any word. `shown_in` names the places in which the answer can be read, with
// blanks between them: HiddenAnswer::places.
struct Query {
    std::string_view pattern, what;
    Answer (*answer)(const QueryInput& in);
    std::string_view shown_in{};
    bool of_messages = false;  // HiddenAnswer::of_messages
    bool of_wires = false;     // HiddenAnswer::of_wires
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
}  // namespace pentamesh::query

namespace pentamesh {
// These queries are about memory, time, the model and the plan's errors.
[[nodiscard]] std::span<const Query> step_queries();
// These queries are about how far a plan scales.
[[nodiscard]] std::span<const Query> scale_queries();
}  // namespace pentamesh
