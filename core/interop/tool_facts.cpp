#include "core/interop/tool_facts.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/own_names.h"
#include "core/interop/script/settings.h"
#include "core/plan/names.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace pentamesh::interop {
namespace {

using nlohmann::json;

using Pointers = std::set<std::string>;

json file_of(std::string_view name, const Presets& presets) {
    const auto file = presets.root() / "frameworks" / (std::string(name) + ".json");
    const auto text = try_read_file(file);
    return text ? parse_json(*text, file.string()) : json::object();
}

// Adds the files that a tool takes from, then its own.
void add_files(std::string_view name, const Presets& presets, std::vector<json>& out) {
    json own = file_of(name, presets);
    if (const auto also = own.find("also"); also != own.end())
        for (const json& other : also->is_array() ? *also : json{*also})
            add_files(other.get<std::string>(), presets, out);
    out.push_back(std::move(own));
}

std::string target_of(const json& row) {
    return (row.is_object() ? row.at("to") : row).get<std::string>();
}

// Returns "num_layers" of "--num-layers" and of "model.num_layers".
std::string plain_leaf(std::string_view name) {
    std::string out(name.substr(name.find_last_of('.') + 1));
    out.erase(0, std::min(out.find_first_not_of('-'), out.size()));
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

// Returns the settings that a rule asks for.
std::vector<std::string> rule_asks(const json& rule) {
    std::vector<std::string> out;
    const json when = rule.value("when", json::object());
    for (const auto& item : when.items()) out.push_back(item.key());
    for (const char* kind : {"product", "sum"})
        for (const json& part : rule.value(kind, json::array())) {
            const auto text = part.get<std::string>();
            const std::size_t begin = text.starts_with('-') ? 1 : 0;
            out.push_back(text.substr(begin, text.find('=') == std::string::npos ? std::string::npos
                                                                                 : text.find('=') - begin));
        }
    for (const char* name : {"multiple_of", "over"})
        if (rule.contains(name) && rule[name].is_string()) out.push_back(rule[name]);
    return out;
}

std::vector<std::string> rule_gives(const json& rule) {
    std::vector<std::string> out;
    const json set = rule.value("set", json::object());
    for (const auto& item : set.items()) out.push_back(item.key());
    if (rule.contains("make")) out.push_back(rule["make"]);
    return out;
}

// Collects what is known of one tool.
class FactsReader {
  public:
    FactsReader(const Tool& tool, const Presets& presets) : tool_(tool) {
        add_files(tool.name, presets, files_);
        for (const json& rule : own().value("rules", json::array()))
            if (auto given = rule_gives(rule); !given.empty())
                rules_.emplace_back(rule_asks(rule), std::move(given));
    }

    [[nodiscard]] const json& own() const { return files_.back(); }

    std::vector<KnownSetting> settings() {
        read_lists();
        read_code();
        read_names();
        std::vector<KnownSetting> out;
        for (const auto& [name, pointers] : fields_)
            out.push_back({name, SettingFate::field, {pointers.begin(), pointers.end()}, {}});
        for (const auto& [name, why] : cannot_)
            if (!fields_.contains(name)) out.push_back({name, SettingFate::cannot_hold, {}, why});
        for (const std::string& name : harmless_)
            if (!fields_.contains(name) && !cannot_.contains(name))
                out.push_back({name, SettingFate::ignored, {}, {}});
        return out;
    }

  private:
    [[nodiscard]] bool by_code() const {
        return tool_.reader == Reader::megatron || tool_.reader == Reader::bridge
               || tool_.reader == Reader::torchtitan;
    }

    void read_lists() {
        for (const json& file : files_) {
            for (const json& row : file.value("cannot_hold", json::array()))
                for (const json& name : row.at("settings"))
                    cannot_[name.get<std::string>()] =
                        interop::words_of(CannotHold{row.value("why", ""), row.value("field", ""), {}});
            for (const json& name : file.value("harmless", json::array()))
                harmless_.insert(name.get<std::string>());
        }
    }

    // Reads the names that code asks for, out of the tables of spellings, of fields and of other names.
    void read_code() {
        const std::string_view reader = tool_.reader == Reader::model ? "hf" : name_of(tool_.reader);
        if (!by_code() && tool_.reader != Reader::model) return;
        const auto add_spellings = [&](std::string_view of) {
            for (const SpelledField& f : flags_of(of))
                code_.try_emplace(plain_leaf(f.name), Pointers{std::string(f.pointer)});
        };
        add_spellings(reader);
        if (tool_.reader == Reader::bridge) add_spellings("megatron");  // it takes those names too
        if (by_code()) {
            for (const json& file : files_) {
                const json names = file.value("names", json::object());
                for (const auto& [name, row] : names.items())
                    if (const std::string to = target_of(row); to.starts_with("/"))
                        code_.try_emplace(plain_leaf(name), Pointers{to});
                const json read = file.value("code_reads", json::object());
                for (const auto& [name, of] : read.items())
                    for (const json& field : of.is_array() ? of : json::array({of}))
                        code_[name].insert(field.get<std::string>());
                for (const json& name : file.value("also_read", json::array()))
                    code_.try_emplace(name.get<std::string>());
            }
        } else {
            const auto add = [&](const nlohmann::ordered_json& fields) {
                for (const auto& item : fields.items())
                    if (!item.key().empty()) code_.try_emplace(item.key(), Pointers{"/model"});
            };
            add(words("hf_fields"));
            for (const auto& family : words("hf_families"))
                if (family.contains("fields")) add(family["fields"]);
        }
        fields_ = code_;  // a tool that another one's reader reads takes its names as they are
    }

    // Adds the fields that a name ends in, by the rules; `seen`: names that were followed.
    void follow(const std::string& name, std::set<std::string>& seen, Pointers& out) const {
        if (!seen.insert(name).second) return;
        if (name.starts_with("/")) {
            out.insert(name);
            return;
        }
        if (name == own().value("model_name", "")) out.insert("/model");
        const auto add = [&](const auto& rows) {
            for (const OwnName& row : rows)
                if (row.name == name) out.insert(std::string(row.field));
        };
        if (tool_.reader == Reader::fields)
            add(own::kOfFields);
        else
            add(own::kOfCode);
        if (const auto read = code_.find(name); read != code_.end())
            out.insert(read->second.begin(), read->second.end());
        for (const auto& [asked, given] : rules_)
            if (std::find(asked.begin(), asked.end(), name) != asked.end())
                for (const std::string& next : given) follow(next, seen, out);
    }

    // The tool's own names, and settings that its rules ask for under the name that they have.
    void read_names() {
        if (!tool_.dialect) return;
        std::map<std::string, std::string> named;
        std::set<std::string> inner;
        const json names = own().value("names", json::object());
        for (const auto& [name, row] : names.items()) inner.insert(named[name] = target_of(row));
        for (const auto& rule : rules_) inner.insert(rule.second.begin(), rule.second.end());
        for (const auto& rule : rules_)
            for (const std::string& name : rule.first)
                if (!name.empty() && !name.starts_with("/") && name != "the program" && !inner.contains(name))
                    named.try_emplace(name, name);
        for (const auto& [name, target] : named) {
            Pointers pointers;
            std::set<std::string> seen;
            follow(target, seen, pointers);
            const auto denied = cannot_.find(target);
            if (pointers.empty() && denied != cannot_.end())
                cannot_.try_emplace(name, denied->second);
            else if (pointers.empty() && harmless_.contains(target))
                harmless_.insert(name);
            else if (!pointers.empty() || !is_listed(name))
                fields_[name] = pointers;
        }
    }

    [[nodiscard]] bool is_listed(const std::string& name) const {
        return cannot_.contains(name) || harmless_.contains(name);
    }

    const Tool& tool_;
    std::vector<json> files_;
    std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> rules_;  // asked, given
    std::map<std::string, Pointers> code_, fields_;
    std::map<std::string, std::string> cannot_;
    std::set<std::string> harmless_;
};

}  // namespace

std::size_t ToolFacts::count(SettingFate fate) const {
    return static_cast<std::size_t>(std::count_if(settings.begin(), settings.end(),
                                                  [&](const KnownSetting& s) { return s.fate == fate; }));
}

ToolFacts facts_of(const Tool& tool, const Presets& presets) {
    FactsReader reader(tool, presets);
    ToolFacts out;
    out.tool = &tool;
    out.called =
        tool.called.empty() ? reader.own().value("called", std::string(tool.name)) : std::string(tool.called);
    out.software = reader.own().value("software", tool.software ? std::string(name_of(*tool.software)) : "");
    out.pairs = reader.own().contains("pairs");
    for (const json& row : reader.own().value("source", json::array()))
        out.sources.push_back({row.at("repository").get<std::string>(),
                               row.value("commit", row.value("release", "")), row.value("date", "")});
    out.settings = reader.settings();
    return out;
}

std::string words_of(const ToolSource& source) {
    return source.repository + (source.commit.empty() ? "" : " " + source.commit)
           + (source.date.empty() ? "" : " (" + source.date + ")");
}

std::string marks_in_words(const Tool& tool) {
    std::string out;
    for (const auto& group : tool.marks) {
        std::string all;
        for (std::string_view mark : group) {
            if (mark.starts_with("!")) continue;
            if (mark.starts_with("^") || mark.starts_with("*")) mark.remove_prefix(1);
            const auto word = without_blanks(mark);
            all += (all.empty() ? "`" : " with `") + std::string(word) + "`";
        }
        if (!all.empty()) out += (out.empty() ? "" : ", or ") + all;
    }
    return out;
}

}  // namespace pentamesh::interop
