// `import --tools` says which tools' settings are read, and what is known of each.
#include "app/cli/output.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"
#include "core/interop/tool_facts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::cli {
namespace {

using interop::KnownSetting;
using interop::SettingFate;
using interop::Tool;
using interop::ToolFacts;

struct FateWords {
    SettingFate fate;
    const char *key, *title;
};
constexpr std::array kFates{
    FateWords{SettingFate::field, "fields", "In the plan: a field of it, or a part of one"},
    FateWords{SettingFate::cannot_hold, "cannot_hold", "Cannot be held by a plan"},
    FateWords{SettingFate::ignored, "ignored", "Ignored: known to change nothing that a plan says"}};

std::string sources_in_words(const ToolFacts& facts) {
    std::vector<std::string> all;
    for (const interop::ToolSource& source : facts.sources) all.push_back(interop::words_of(source));
    return join(all, ", ");
}

// ---- JSON -------------------------------------------------------------------------------------------------

Json json_of_facts(const ToolFacts& facts) {
    Json out{{"tool", facts.tool->name},
             {"called", facts.called},
             {"software", facts.software.empty() ? Json(nullptr) : Json(facts.software)},
             {"reader", interop::name_of(facts.tool->reader)},
             {"reads", facts.tool->reads},
             {"pairs", facts.pairs}};
    for (const FateWords& f : kFates) out[f.key] = facts.count(f.fate);
    out["source"] = Json::array();
    for (const interop::ToolSource& source : facts.sources) {
        Json row{{"repository", source.repository}};
        if (!source.commit.empty()) row["commit"] = source.commit;
        if (!source.date.empty()) row["date"] = source.date;
        out["source"].push_back(std::move(row));
    }
    out["marks"] = facts.tool->marks;
    return out;
}

Json json_of_settings(const ToolFacts& facts) {
    Json out = Json::array();
    for (const FateWords& f : kFates)
        for (const KnownSetting& s : facts.settings) {
            if (s.fate != f.fate) continue;
            Json row{{"setting", s.name}, {"is", f.key}};
            if (!s.fields.empty()) row["to"] = s.fields;
            if (!s.why.empty()) row["why"] = s.why;
            out.push_back(std::move(row));
        }
    return out;
}

// ---- Markdown ---------------------------------------------------------------------------------------------

// Writes a row of cells that are Markdown already.
void add_row(std::string& out, const std::vector<std::string>& cells) {
    out += "|";
    for (const std::string& cell : cells) {
        const std::string_view room = cell.find_first_not_of("-:") == std::string::npos ? "" : " ";
        out += room;
        for (const char c : cell) out += c == '|' ? "\\|" : std::string(1, c);
        out += std::string(room) + "|";
    }
    out += "\n";
}

std::string code(std::string_view name) {
    return "`" + std::string(name) + "`";
}

// docs/frameworks.md has these two tables: tests/cli/docs_test.py holds it to them.
std::string markdown_of_tools(const std::vector<ToolFacts>& all) {
    std::string out;
    add_row(out,
            {"kind", "what is read", "software", "in the plan", "not held", "ignored", "pairs", "source"});
    add_row(out, {"---", "---", "---", "---:", "---:", "---:", "---", "---"});
    for (const ToolFacts& f : all)
        add_row(out,
                {code(f.tool->name), std::string(f.tool->reads), f.software.empty() ? "–" : f.software,
                 std::to_string(f.count(SettingFate::field)),
                 std::to_string(f.count(SettingFate::cannot_hold)),
                 std::to_string(f.count(SettingFate::ignored)), f.pairs ? "yes" : "–", sources_in_words(f)});
    return out;
}

// Returns how each tool that is written spells the fields of layout and training.
std::string markdown_of_spellings() {
    std::vector<const Tool*> columns;
    for (const Tool* tool : interop::written_tools())
        for (const interop::SpelledField& f : interop::flags_of(tool->name))
            if (!f.pointer.starts_with("/model/") && (columns.empty() || columns.back() != tool))
                columns.push_back(tool);
    std::vector<std::string> head{"field"}, line{"---"};
    for (const Tool* tool : columns) head.push_back(code(tool->name)), line.emplace_back("---");
    std::string out;
    add_row(out, head);
    add_row(out, line);
    for (const auto& item : interop::words("spellings").items()) {
        const std::string& pointer = item.key();
        if (pointer.starts_with("/model/")) continue;
        std::vector<std::string> row{code(pointer)};
        for (const Tool* tool : columns) {
            const std::string_view name = interop::flag_of(tool->name, pointer);
            row.push_back(name.empty() ? "–" : code(name));
        }
        add_row(out, row);
    }
    return out;
}

std::string markdown_of_settings(const ToolFacts& facts) {
    std::string out;
    add_row(out, {"setting", "in the plan", "why not"});
    add_row(out, {"---", "---", "---"});
    for (const KnownSetting& s : facts.settings) {
        std::vector<std::string> fields;
        for (const std::string& field : s.fields) fields.push_back(code(field));
        const bool in_plan = s.fate == SettingFate::field;
        const bool none = s.fate == SettingFate::ignored;
        add_row(out, {code(s.name), in_plan ? (fields.empty() ? "with others" : join(fields, ", ")) : "–",
                      in_plan ? "–"
                      : none  ? "it changes nothing that a plan says"
                              : s.why});
    }
    return out;
}

// ---- text -------------------------------------------------------------------------------------------------

std::string text_of_facts(const ToolFacts& f) {
    const auto n = [&](SettingFate fate) { return std::to_string(f.count(fate)); };
    const std::string_view reader = interop::name_of(f.tool->reader);
    const std::string marks = interop::marks_in_words(*f.tool);
    std::string out =
        std::string(f.tool->name) + ": " + f.called + "\n  " + std::string(f.tool->reads) + "\n";
    out += "  " + n(SettingFate::field) + " settings are in the plan, " + n(SettingFate::cannot_hold)
           + " cannot be held, " + n(SettingFate::ignored) + " change nothing that a plan says"
           + (f.pairs ? "; pairs of sequences are known" : "") + "\n";
    out += "  reader " + std::string(reader)
           + (f.software.empty() ? "" : ", the plan has the figures of " + f.software) + "\n";
    if (!f.sources.empty()) out += "  from " + sources_in_words(f) + "\n";
    if (!marks.empty()) out += "  known by " + marks + "\n";
    return out;
}

std::string text_of_settings(const ToolFacts& facts) {
    std::string out;
    for (const FateWords& f : kFates) {
        if (facts.count(f.fate) == 0) continue;
        out += std::string("\n") + f.title + "\n";
        for (const KnownSetting& s : facts.settings) {
            if (s.fate != f.fate) continue;
            out += "  " + s.name;
            if (!s.fields.empty()) out += "  ->  " + join(s.fields, ", ");
            if (f.fate == SettingFate::field && s.fields.empty()) out += "  with others";
            out += s.why.empty() ? "\n" : "  (" + s.why + ")\n";
        }
    }
    return out;
}

}  // namespace

int list_tools(const Context& context, const ToolsAsked& asked) {
    std::vector<ToolFacts> all;
    std::vector<std::string> known;
    for (const Tool* tool : interop::read_tools()) {
        known.emplace_back(tool->name);
        if (asked.name.empty() || asked.name == tool->name)
            all.push_back(interop::facts_of(*tool, context.presets));
    }
    if (all.empty())
        refuse("no tool that is read is called " + shown_text(asked.name) + "; there are "
               + join(known, ", "));
    const bool one = !asked.name.empty();
    std::string out;
    if (context.json) {
        Json json = Json::array();
        for (const ToolFacts& f : all) json.push_back(json_of_facts(f));
        if (one) json[0]["settings"] = json_of_settings(all[0]);
        out = pretty(one ? json[0] : Json{{"tools", json}});
    } else if (asked.markdown) {
        out = markdown_of_tools(all) + "\n" + (one ? markdown_of_settings(all[0]) : markdown_of_spellings());
    } else {
        for (const ToolFacts& f : all) out += (out.empty() ? "" : "\n") + text_of_facts(f);
        if (one) out += text_of_settings(all[0]);
    }
    if (!asked.out.empty())
        print_to(asked.out, out);
    else if (context.json)
        print_json(out);
    else
        print(out);
    return 0;
}

}  // namespace pentamesh::cli
