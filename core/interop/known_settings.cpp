#include "core/interop/known_settings.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"
#include "core/interop/tools.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace pentamesh::interop {

std::string leaf_key(const std::string& name) {
    const std::size_t dot = name.rfind('.', name.find(" ("));  // a condition has dots of its own
    if (dot == std::string::npos) return name;
    // Evaluations, and encoders, have settings of the same last names as the training and its model.
    if (evaluation_in(name) < dot) return name;
    for (const char* other : {"vision_config.", "vision_encoder.", "audio_config."})
        if (name.find(other) < dot) return name;
    std::string leaf = name.substr(dot + 1);
    if (leaf != "name" && leaf != "type" && leaf != "enabled" && leaf != "device") return leaf;
    const std::size_t before = name.rfind('.', dot - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

std::string flag_or_leaf(const std::string& name) {
    return name.starts_with("-") ? flag_key(leaf_key(name)) : leaf_key(name);
}

std::size_t evaluation_in(std::string_view name) {
    static const std::vector<std::string_view> sections = word_list("evaluation_sections");
    name = name.substr(0, name.find(" ("));  // a condition has dots of its own
    std::size_t begin = 0;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', begin)) {
        std::string_view section = name.substr(begin, dot - begin);
        section.remove_prefix(std::min(section.find_first_not_of("-+"), section.size()));
        if (std::any_of(sections.begin(), sections.end(),
                        [&](std::string_view known) { return same_letters(known, section); }))
            return begin;
        begin = dot + 1;
    }
    return std::string_view::npos;
}

namespace {

// Returns true if the value switches the setting off.
bool says_off(const std::string& value) {
    return value == "none" || value == "false" || value == "False" || value == "no_shard" || value == "[]"
           || says_nothing(value);
}

// Returns what stands behind the section in the name; nullopt: it is of another one.
std::optional<std::string_view> rest_in(std::string_view name, std::string_view section) {
    const std::size_t at = name.find(section);
    if (at == std::string_view::npos) return std::nullopt;
    if (at != 0 && std::string_view(".-+").find(name[at - 1]) == std::string_view::npos) return std::nullopt;
    return name.substr(at + section.size());
}

}  // namespace

void KnownSettings::read(std::string_view name, const Presets& presets) {
    const std::filesystem::path file = presets.root() / "frameworks" / (std::string(name) + ".json");
    if (!std::filesystem::exists(file)) return;
    const std::string whole = read_file(file);
    const nlohmann::json all = parse_json(whole, file.string());
    if (const auto base = all.find("also"); base != all.end())
        for (const nlohmann::json& b : base->is_array() ? *base : nlohmann::json{*base})
            read(b.get<std::string>(), presets);
    if (all.contains("names")) {
        const nlohmann::ordered_json in_order = nlohmann::ordered_json::parse(whole);
        for (const auto& [setting, as] : in_order["names"].items()) {
            const std::string& field = (as.is_object() ? as.at("to") : as).get_ref<const std::string&>();
            const std::size_t dot = setting.rfind('.'), end = dot == std::string::npos ? 0 : dot;
            if (field.starts_with("/"))
                fields_.push_back({setting.substr(0, end), setting.substr(dot + 1), field, as});
        }
    }
    for (const nlohmann::json& key : all.value("also_read", nlohmann::json::array()))
        also_read_.push_back(key.get<std::string>());
    const nlohmann::json closed = all.value("closed", nlohmann::json::object());
    for (const auto& [section, keys] : closed.items())
        closed_[section] = keys.get<std::vector<std::string>>();
    for (const nlohmann::json& row : all.value("cannot_hold", nlohmann::json::array()))
        for (const nlohmann::json& key : row.at("settings"))
            cannot_hold_[key.get<std::string>()] = {row.value("why", ""), row.value("field", ""),
                                                    row.value("same", std::vector<std::string>{})};
    for (const nlohmann::json& key : all.value("harmless", nlohmann::json::array()))
        if (const auto text = key.get<std::string>(); text.ends_with('*'))
            begins_.push_back(text.substr(0, text.size() - 1));
        else
            harmless_.insert(text);
    const nlohmann::json flags = all.value("short", nlohmann::json::object());
    for (const auto& [flag, full] : flags.items()) short_[flag] = full.get<std::string>();
    for (const nlohmann::json& key : all.value("switches", nlohmann::json::array()))
        switches_.insert(key.get<std::string>());
}

std::string KnownSettings::full_name(const std::string& flag) const {
    const auto it = short_.find(flag);
    return it == short_.end() ? std::string() : it->second;
}

const CannotHold* KnownSettings::cannot_hold(std::string_view key, std::string_view name) const {
    auto it = cannot_hold_.find(std::string(key));
    if (it == cannot_hold_.end())
        it = std::find_if(cannot_hold_.begin(), cannot_hold_.end(), [&](const auto& row) {
            return row.first.ends_with(".*") && rest_in(name, row.first.substr(0, row.first.size() - 1));
        });
    return it == cannot_hold_.end() ? nullptr : &it->second;
}

bool KnownSettings::is_harmless(std::string_view key, std::string_view name) const {
    const std::string_view bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    return harmless_.contains(std::string(key)) || harmless_.contains(std::string(bare))
           || std::any_of(begins_.begin(), begins_.end(), [&](const std::string& begin) {
                  const auto rest = rest_in(name, begin);
                  return rest && !sounds_of_layout(*rest);
              });
}

bool KnownSettings::knows(std::string_view key) const {
    return cannot_hold(key) || harmless_.contains(std::string(key)) || is_switch(key);
}

std::vector<std::string> KnownSettings::all_of_section(std::string_view section) const {
    const auto closed = closed_.find(std::string(section));
    if (closed == closed_.end()) return {};
    std::vector<std::string> out;
    for (const NamedField& f : fields_)
        if (f.section == section) out.push_back(f.key);
    out.insert(out.end(), closed->second.begin(), closed->second.end());
    return out;
}

std::vector<std::string> names_read(std::string_view tool, const KnownSettings& known) {
    std::vector<std::string> out = known.also_read();
    for (const SpelledField& f : flags_of(tool)) out.push_back(flag_or_leaf(std::string(f.name)));
    for (const NamedField& f : known.fields()) out.push_back(f.key);
    return out;
}

std::string words_of(const CannotHold& setting) {
    if (setting.field.empty()) return setting.why;
    return setting.why.empty()
               ? "the import does not read it; " + setting.field + " of the plan can say the same"
               : setting.why + " (" + setting.field + ")";
}

void sort_rest(SettingsSheet& sheet, const KnownSettings& known) {
    for (const std::string& key : sheet.open_keys()) {
        const std::string value = sheet.value_of(key), name = sheet.written(key);
        // A recipe sets it under a condition: "tp (if nodes > 4)".
        const std::size_t end = key.find(" (");
        const std::string plain = key.substr(0, end), made = value.substr(value.rfind('.') + 1);
        const Setting* s = sheet.last(key);
        const bool called = plain.ends_with("()");
        const bool nothing =
            (called && !made.empty() && made[0] >= 'A' && made[0] <= 'Z')  // its fields are settings
            || (called && known.is_harmless(made, value))
            || (!value.empty() && sheet.value_of(plain + "()") == value)
            || (end != std::string::npos && sheet.has(plain) && sheet.value_of(plain) == value)
            || (s && s->variable);
        const CannotHold* row = nothing ? nullptr : known.cannot_hold(plain, name);
        const auto is_same = [&](std::string_view word) {
            return row && std::find(row->same.begin(), row->same.end(), word) != row->same.end();
        };
        // Off is as if it were not said, unless the row says that on is.
        const bool off = s && s->stated && (says_nothing(value) || (says_off(value) && !is_same("true")));
        const bool same = row && (off || is_same(value));
        if (row && !same)
            sheet.cannot_hold(key, words_of(*row));
        else if (nothing || row || evaluation_in(name) != std::string::npos
                 || known.is_harmless(plain, name.substr(0, name.find(" ("))))
            sheet.ignore(key);
        else
            sheet.not_known(key);
    }
}

}  // namespace pentamesh::interop
