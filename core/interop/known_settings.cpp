#include "core/interop/known_settings.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {
namespace {

// Returns true if the value switches the setting off.
bool is_off(const std::string& value) {
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
    const nlohmann::json all = parse_json(read_file(file), file.string());
    if (const auto base = all.find("also"); base != all.end())
        for (const nlohmann::json& b : base->is_array() ? *base : nlohmann::json{*base})
            read(b.get<std::string>(), presets);
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
    return harmless_.contains(std::string(key)) || harmless_.contains(std::string(name))
           || std::any_of(begins_.begin(), begins_.end(), [&](const std::string& begin) {
                  const auto rest = rest_in(name, begin);
                  return rest && !sounds_of_layout(*rest);
              });
}

bool KnownSettings::knows(std::string_view key) const {
    return cannot_hold(key) || harmless_.contains(std::string(key)) || is_switch(key);
}

std::string words_of(const CannotHold& setting) {
    if (setting.field.empty()) return setting.why;
    return setting.why.empty()
               ? "the import does not read it; " + setting.field + " of the plan can say the same"
               : setting.why + " (" + setting.field + ")";
}

void sort_rest(Sheet& sheet, const KnownSettings& known) {
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
        const bool same = row
                          && ((s && s->stated && is_off(value))
                              || std::find(row->same.begin(), row->same.end(), value) != row->same.end());
        if (row && !same)
            sheet.cannot_hold(key, words_of(*row));
        else if (nothing || row || known.is_harmless(plain, name.substr(0, name.find(" ("))))
            sheet.ignore(key);
        else
            sheet.not_known(key);
    }
}

}  // namespace pentamesh::interop
