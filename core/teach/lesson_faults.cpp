#include "core/teach/lesson_faults.h"

#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/io/presets.h"
#include "core/plan/names.h"
#include "core/teach/lesson_answers.h"
#include "core/teach/lesson_pieces.h"

#include <algorithm>
#include <utility>

namespace pentamesh {
namespace {

constexpr std::size_t kMostErrors = 50;

std::string list_of(const std::vector<std::string_view>& known) {
    return join(known, ", ");
}

}  // namespace

void LessonFaults::error(int line, std::string message) {
    if (out_.size() < kMostErrors) out_.push_back({line, std::move(message)});
}

void LessonFaults::unknown(int line, std::string_view what, std::string_view word,
                           const std::vector<std::string_view>& known) {
    error(line, "there is no " + std::string(what) + " \"" + shown_text(word) + "\", the closest is \""
                    + std::string(nearest(word, known)) + "\"; there are: " + list_of(known));
}

void LessonFaults::check_view(int line, std::string_view name) {
    std::vector<std::string_view> known;
    for (const LessonView& view : names_.views) known.push_back(view.name);
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown(line, "view", name, known);
}

void LessonFaults::check_page(int line, std::string_view view, std::string_view page) {
    if (view.empty()) return error(line, "page needs a view in the same step");
    const auto at = std::find_if(names_.views.begin(), names_.views.end(),
                                 [&](const LessonView& v) { return v.name == view; });
    if (at == names_.views.end()) return;  // that is said of the view
    const std::vector<std::string_view> known(at->pages.begin(), at->pages.end());
    if (known.empty()) return error(line, "view " + std::string(view) + " has one page, without a name");
    if (std::find(known.begin(), known.end(), page) != known.end()) return;
    error(line, "view " + std::string(view) + " has no page \"" + shown_text(page) + "\", the closest is \""
                    + std::string(nearest(page, known)) + "\"; there are: " + list_of(known));
}

void LessonFaults::open_plan(int line, std::string_view id) {
    plan_.reset();
    if (names_.presets == nullptr) return;
    try {
        plan_ = names_.presets->plan(id);
    } catch (const Error&) {
        std::vector<std::string_view> known;
        for (const auto& entry : names_.presets->list(PresetKind::plan)) known.push_back(entry.id);
        error(line, "there is no plan \"" + shown_text(id) + "\", the closest is \""
                        + std::string(nearest(id, known)) + "\"");
    }
}

// Returns what is wrong with "POINTER=VALUE" for the plan at hand; empty where nothing is known to be.
std::string LessonFaults::wrong_field(const std::string& set) const {
    const std::size_t equals = set.find('=');
    const std::string_view field = std::string_view(set).substr(0, equals),
                           value = std::string_view(set).substr(equals + 1);
    std::int64_t factor = 0;
    if (parse_name<Axis>(field) && (!parse_integer(value, factor) || factor < 1))
        return "layout." + std::string(field) + " wants a whole number from 1, \"" + shown_text(value)
               + "\" is none";
    if (!plan_) return "";
    try {
        (void)plan_with(*plan_, {set}, *names_.presets);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

void LessonFaults::set_field(int line, const std::string& set) {
    if (const std::string wrong = wrong_field(set); !wrong.empty()) return error(line, "set: " + wrong);
    if (plan_) plan_ = plan_with(*plan_, {set}, *names_.presets);
}

void LessonFaults::check_field(int line, std::string_view what, const std::string& set) {
    if (const std::string wrong = wrong_field(set); !wrong.empty())
        error(line, std::string(what) + ": " + wrong);
}

void LessonFaults::check_query(int line, std::string_view query) {
    if (const std::string wrong = pentamesh::check_query(query); !wrong.empty()) return error(line, wrong);
    for (const std::string& set : split_query(query).sets) check_field(line, "with", set);
}

void LessonFaults::check_text(int line, std::string_view text) {
    for (const Placeholder& p : placeholders(text)) {
        seen_.insert(p.query);
        const std::string wrong = pentamesh::check_query(p.query);
        if (!wrong.empty())
            error(line, "{{" + shown_text(p.query) + "}}: " + wrong);
        else
            check_query(line, p.query);
    }
}

void LessonFaults::check_whole_text(int line, std::string_view text) {
    if (!has_whole_forms(text))
        error(line, "two forms of words are [[on the screen|on paper]]; one of them may be empty");
    for (const Placeholder& p : placeholders(text))
        if (seen_.count(p.query) == 0) check_text(line, "{{" + p.query + "}}");
}

}  // namespace pentamesh
