#include "app/ui/shell/embed.h"

#include "app/ui/lesson/lesson_session.h"
#include "app/ui/shell/document.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/memory/memory.h"
#include "core/plan/names.h"
#include "core/teach/lesson.h"

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

namespace pentamesh::ui {

namespace {

using AskedJson = nlohmann::json;
using SaidJson = nlohmann::ordered_json;

constexpr std::size_t kMostSets = 1000;
constexpr std::int64_t kMostStep = 10000;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

const AskedJson& member(const AskedJson& message, const char* key, std::string_view kind) {
    const auto at = message.find(key);
    if (at == message.end()) refuse(std::string(kind) + " needs \"" + key + "\"");
    return *at;
}

std::string text_in(const AskedJson& message, const char* key, std::string_view kind) {
    const AskedJson& value = member(message, key, kind);
    if (!value.is_string()) refuse(std::string(key) + ": found " + shown_json(value) + ", must be a text");
    return value.get<std::string>();
}

// Returns what stands behind "=" in --set: a text as it is, anything else as JSON.
std::string value_text(const AskedJson& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> sets_in(const AskedJson& message) {
    const AskedJson& value = member(message, "set", "set");
    std::vector<std::string> out;
    const auto add = [&](std::string set) {
        if (out.size() >= kMostSets) refuse("set: more than " + std::to_string(kMostSets) + " fields");
        const std::size_t equal = set.find('=');
        if (equal == 0 || equal == std::string::npos)
            refuse("set: found \"" + shown_text(set) + "\", must be as \"layout.tp=4\"");
        out.push_back(std::move(set));
    };
    if (value.is_string()) {
        add(value.get<std::string>());
    } else if (value.is_object()) {
        for (const auto& [pointer, v] : value.items()) add(pointer + "=" + value_text(v));
    } else if (value.is_array()) {
        for (const AskedJson& v : value) {
            if (!v.is_string()) refuse("set: found " + shown_json(v) + ", must be as \"layout.tp=4\"");
            add(v.get<std::string>());
        }
    } else {
        refuse("set: found " + shown_json(value) + ", must be as [\"layout.tp=4\"] or {\"layout.tp\": 4}");
    }
    if (out.empty()) refuse("set names no field");
    return out;
}

std::size_t step_in(const AskedJson& message) {
    const auto at = message.find("step");
    if (at == message.end()) return 1;
    const std::int64_t n = at->is_number_integer() ? at->get<std::int64_t>() : 0;
    if (n < 1 || n > kMostStep) refuse("step: found " + shown_json(*at) + ", must be a whole number from 1");
    return static_cast<std::size_t>(n);
}

// Refuses keys that say nothing, so that a misspelt one is found.
void check_keys(const AskedJson& message, std::string_view kind) {
    std::vector<std::string_view> known{"pentamesh", "id", kind};
    if (kind == "view") known.emplace_back("page");
    if (kind == "step") known.emplace_back("lesson");
    for (const auto& [key, value] : message.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            refuse("\"" + shown_text(key) + "\" says nothing in " + std::string(kind) + "; it has "
                   + join(known, ", "));
}

AskedJson object_of(std::string_view text) {
    if (text.size() > kLongestMessage) refuse("the message is longer than a megabyte");
    AskedJson out = parse_json(text, "the message");
    if (!out.is_object()) refuse("found " + shown_json(out) + ", a message is an object");
    return out;
}

EmbedMessage message_of(const AskedJson& object) {
    static constexpr std::array<std::string_view, 4> kKinds{"plan", "set", "view", "step"};
    EmbedMessage out;
    const std::string kind = text_in(object, "pentamesh", "a message");
    const auto at = std::find(kKinds.begin(), kKinds.end(), kind);
    if (at == kKinds.end())
        refuse("pentamesh: found \"" + shown_text(kind) + "\", must be " + join(kKinds, ", "));
    out.kind = static_cast<EmbedMessage::Kind>(at - kKinds.begin());
    check_keys(object, kind);
    switch (out.kind) {
    case EmbedMessage::Kind::plan: {
        const AskedJson& plan = member(object, "plan", kind);
        if (!plan.is_string() && !plan.is_object())
            refuse("plan: found " + shown_json(plan) + ", must be the id of a plan, its text or an object");
        out.plan = value_text(plan);
        break;
    }
    case EmbedMessage::Kind::set: out.sets = sets_in(object); break;
    case EmbedMessage::Kind::view:
        out.view = text_in(object, "view", kind);
        static_cast<void>(linked_view(out.view));
        if (object.contains("page")) out.page = linked_page(out.view, text_in(object, "page", kind));
        break;
    case EmbedMessage::Kind::step:
        out.lesson = text_in(object, "lesson", kind);
        out.step = step_in(object);
        break;
    }
    return out;
}

std::string text_of(const SaidJson& message) {
    return message.dump(-1, ' ', false, SaidJson::error_handler_t::replace);
}

SaidJson error_message(const std::string& words) {
    return {{"pentamesh", "error"}, {"message", words}};
}

// Runs `act` and returns the answer to a message. Never throws.
template <typename Act>
std::string answer(const Act& act) {
    SaidJson id;
    SaidJson out;
    try {
        act(id);
        out = {{"pentamesh", "done"}};
    } catch (const std::exception& e) {
        out = error_message(e.what());
    }
    if (!id.is_null()) out["id"] = std::move(id);
    return text_of(out);
}

Plan plan_named(const std::string& text, const Presets& presets) {
    const bool is_id = text.find_first_of("{\n") == std::string::npos;
    return is_id ? presets.plan(text) : parse_plan(text, "the plan", presets);
}

// Says what a plan comes to: its fields, and the figures that a page may want to write next to the view.
SaidJson plan_message(const Plan& plan, const Evaluation& e) {
    SaidJson out{{"pentamesh", "plan"}, {"title", title_of(plan)}, {"valid", e.valid}};
    SaidJson problems = SaidJson::array();
    for (const Problem& p : e.problems)
        if (p.severity == Severity::error) problems.push_back(p.message);
    out["problems"] = std::move(problems);
    SaidJson figures{
        {"step_s", nullptr}, {"tokens_per_s", nullptr}, {"memory_bytes", nullptr}, {"fit", nullptr}};
    if (e.valid && e.step) figures["step_s"] = e.step->time_s, figures["tokens_per_s"] = e.step->tokens_per_s;
    if (e.valid && !e.memory.stage.empty()) figures["memory_bytes"] = e.memory.peak();
    if (const auto fit = fit_of(e.memory); e.valid && fit) figures["fit"] = std::string(name_of(*fit));
    out["figures"] = std::move(figures);
    out["plan"] = SaidJson::parse(write_plan(plan));
    return out;
}

SaidJson selected_message(const Selection& s) {
    const auto number = [](std::int64_t n) { return n < 0 ? SaidJson(nullptr) : SaidJson(n); };
    SaidJson out{{"pentamesh", "selected"}, {"words", selection_words(s)}};
    out["rank"] = number(s.rank);
    out["ranks"] = s.ranks;
    out["stage"] = number(s.stage);
    out["axis"] = s.all_axes ? SaidJson(nullptr) : SaidJson(std::string(name_of(s.group)));
    out["operation"] = number(s.operation);
    out["tensor"] = number(s.tensor);
    out["memory"] = s.memory_category < 0
                        ? SaidJson(nullptr)
                        : SaidJson(std::string(name_of(static_cast<MemoryCategory>(s.memory_category))));
    return out;
}

}  // namespace

EmbedMessage read_embed_message(std::string_view json) {
    return message_of(object_of(json));
}

bool asks_for_bare(std::string_view link) {
    link.remove_prefix(std::min(link.size(), link.find('#') + 1));
    const auto parts = split(link, '&');
    return std::any_of(parts.begin(), parts.end(), [](std::string_view p) { return p == "bare"; });
}

EmbedStart begin_embed(std::string_view link, const Presets& presets) {
    EmbedStart out;
    try {
        out.link = read_link(link);
        if (!out.link.plan.empty()) out.plan = parse_plan(out.link.plan, "the link", presets);
    } catch (const std::exception& e) {
        out = {};
        out.error = e.what();
    }
    return out;
}

Embed::Embed(Shell& shell, const Presets& presets, const EmbedStart& start)
    : shell_(shell), presets_(presets), error_(start.error) {
    const Link& link = start.link;
    if (link.theme) shell_.settings().theme = *link.theme;
    shell_.settings().scale = link.text;
    shell_.show_bare();
    try {
        if (!link.lesson.empty()) show_step(link.lesson, std::max<std::size_t>(link.step, 1));
        if (link.view) show(view_of(*link.view).name, link.page);
    } catch (const std::exception& e) {
        error_ = e.what();
    }
    if (!error_.empty()) shell_.say(error_);
}

std::string Embed::take(std::string_view message) {
    return answer([&](SaidJson& id) {
        const AskedJson object = object_of(message);
        if (const auto at = object.find("id"); at != object.end() && (at->is_string() || at->is_number()))
            id = *at;
        act(message_of(object));
    });
}

std::string Embed::open(std::string_view link) {
    return answer([&](SaidJson&) {
        const Link read = read_link(link);
        if (!read.plan.empty()) open_plan(parse_plan(read.plan, "the link", presets_));
        if (!read.lesson.empty()) show_step(read.lesson, std::max<std::size_t>(read.step, 1));
        if (read.view) show(view_of(*read.view).name, read.page);
    });
}

void Embed::act(const EmbedMessage& message) {
    switch (message.kind) {
    case EmbedMessage::Kind::plan: open_plan(plan_named(message.plan, presets_)); break;
    case EmbedMessage::Kind::set:
        shell_.edit_plan(plan_with(shell_.document().plan(), message.sets, presets_),
                         sets_text(message.sets));
        break;
    case EmbedMessage::Kind::view: show(message.view, message.page); break;
    case EmbedMessage::Kind::step: show_step(message.lesson, message.step); break;
    }
    shell_.ui_state().wants_frame = true;
}

// The view stays, unless the plan keeps another one in its scene.
void Embed::open_plan(Plan plan) {
    shell_.open_plan(std::move(plan));
    shell_.say({});  // the page knows what it opened
}

void Embed::show(std::string_view view, std::string_view page) {
    if (!shell_.show_named(view, page)) refuse(shown_text(page) + " is no page of " + shown_text(view));
}

// Shows what a lesson's step shows, without its words. Its question is taken for answered: there is nobody to
// answer it here, and a covered view would say nothing.
void Embed::show_step(const std::string& id, std::size_t step) {
    const auto& all = shell_.lessons();
    const auto at = std::find_if(all.begin(), all.end(), [&](const LessonEntry& e) {
        return e.id == id || (!id.empty() && e.id.starts_with(id + "-"));
    });
    if (at == all.end()) refuse("there is no lesson \"" + shown_text(id) + "\"");
    const std::size_t steps = read_lesson(at->file).lesson.steps.size();
    if (step > steps)
        refuse("the lesson " + at->id + " has "
               + pentamesh::count_text(static_cast<std::int64_t>(steps), "step"));
    if (!shell_.lesson().open || shell_.lesson().file != at->file) shell_.open_lesson(at->file);
    LessonSession& lesson = shell_.lesson();
    go_to_step(lesson, step - 1);
    lesson.state().revealed = true;
}

std::vector<std::string> Embed::news() {
    std::vector<std::string> out;
    const Shell& shell = shell_;
    if (!std::exchange(ready_, true)) {
        const auto view = shell.full_view();
        out.push_back(text_of(SaidJson{{"pentamesh", "ready"},
                                       {"version", PENTAMESH_VERSION},
                                       {"view", view ? std::string(view_of(*view).name) : ""}}));
        if (!error_.empty()) out.push_back(text_of(error_message(error_)));
    }
    if (const std::uint64_t revision = shell.document().revision(); revision != heard_revision_) {
        heard_revision_ = revision;
        out.push_back(text_of(plan_message(shell.document().plan(), shell.evaluation())));
    }
    if (const Selection& selected = shell.shown_selection(); heard_selection_ != selected) {
        if (heard_selection_ || !(selected == Selection{}))
            out.push_back(text_of(selected_message(selected)));
        heard_selection_ = selected;
    }
    return out;
}

}  // namespace pentamesh::ui
