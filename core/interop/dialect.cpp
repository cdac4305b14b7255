#include "core/interop/dialect.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/own_names.h"
#include "core/interop/script/read_python.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>

namespace pentamesh::interop {
namespace {

using nlohmann::json;

// A rule may say these to the user.
constexpr std::pair<const char*, Severity> kSays[] = {
    {"refuse", Severity::error}, {"warn", Severity::warning}, {"info", Severity::info}};

constexpr const char* kProgram = "the program";  // rules and rows of "pairs" ask for it as for a setting
constexpr const char* kAre = "are";              // of a row of "pairs": what the two sequences are

bool is_off(const std::string& value) {
    return says_nothing(value) || flag_of_word(value) == false;
}

const Setting* in(const SettingsByKey& all, std::string_view key) {
    const auto it = all.find(key);
    if (it == all.end()) return nullptr;
    const Setting& s = it->second;
    const bool word = s.quoted && !s.value.empty();  // TOML has no null: "None" is a value of its own
    return says_nothing(s.value) && s.stated && !word ? nullptr : &s;
}

// Returns a whole number, or how many entries a list of Python has: "[0, 1]", "list(range(0, 8))".
std::optional<std::int64_t> count_of(std::string_view value) {
    if (const auto n = parse_integer(value)) return n;
    const PythonValue list = python_value(value);
    return list.kind == PythonValue::Kind::list && !list.items.empty() ? std::optional(std::ssize(list.items))
                                                                       : std::nullopt;
}

bool same_word(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

}  // namespace

bool setting_fits(const json& wanted, const Setting* found, const SettingsByKey& others) {
    if (wanted.is_array())
        return std::any_of(wanted.begin(), wanted.end(),
                           [&](const json& w) { return setting_fits(w, found, others); });
    if (wanted.is_null() || !found) return wanted.is_null() && !found;
    const auto text = wanted.get<std::string>();
    const auto n = parse_integer(found->value);
    if (text.starts_with(">")) return n && *n > parse_integer(text.substr(1)).value_or(0);
    if (text.starts_with("<")) {
        const Setting* other = in(others, text.substr(1));
        return n && other && *n < parse_integer(other->value).value_or(0);
    }
    if (text.starts_with("!=")) return n && *n != parse_integer(text.substr(2)).value_or(*n);
    if (text.starts_with("!%")) {
        const Setting* other = in(others, text.substr(2));
        const std::int64_t by = other ? parse_integer(other->value).value_or(0) : 0;
        return n && by > 0 && *n % by != 0;
    }
    if (text.starts_with("!~")) {
        const auto parts = split(std::string_view(text).substr(2), '|');
        return found->stated && found->unknown.empty() && !says_nothing(found->value)
               && found->value.find_first_of("{$?") == std::string::npos
               && std::none_of(parts.begin(), parts.end(),
                               [&](std::string_view part) { return same_word(found->value, part); });
    }
    if (text.starts_with("~")) return same_word(found->value, text.substr(1));
    if (text == "*") return !found->stated || !is_off(found->value);
    if (text.starts_with("*/"))
        return found->value.find(text.substr(2), found->value.rfind('/') + 1) != std::string::npos;
    if (text.starts_with("*")) return found->value.find(text.substr(1)) != std::string::npos;
    if (found->value == text || (text != "true" && text != "false")) return found->value == text;
    return found->stated ? flag_of_word(found->value) == (text == "true") : text == "true";
}

namespace {

// Returns the setting that a part of a product or a sum names: "NAME", "NAME=1", "-NAME".
std::string source_of(const std::string& part) {
    return part.substr(part.starts_with('-') ? 1 : 0, part.find('=') - (part.starts_with('-') ? 1 : 0));
}

// Returns the product or the sum of the parts; nothing where one is missing or no whole number.
// `rest`: says so where a batch or a degree is not divided whole.
std::optional<Setting> made(const json& rule, const SettingsByKey& all, std::string& rest) {
    const bool product = rule.contains("product");
    const json& parts = rule.at(product ? "product" : "sum");
    if (const auto sole = parts[0].get<std::string>(); parts.size() == 1 && !rule.contains("over")
                                                       && !rule.contains("multiple_of")
                                                       && sole.find('=') == std::string::npos) {
        const Setting* s = in(all, sole);  // the value as it stands
        return s ? std::optional(*s) : std::nullopt;
    }
    std::int64_t n = product ? 1 : 0;
    Setting out;
    for (const json& part : parts) {
        const auto text = part.get<std::string>();
        const std::size_t equals = text.find('=');
        const bool less = text.starts_with('-');
        const Setting* s = in(all, source_of(text));
        if (!s && equals == std::string::npos) return std::nullopt;
        if (s && (out.name.empty() || !s->unknown.empty())) out = *s;
        const auto x = count_of(s ? s->value : text.substr(equals + 1));
        if (!x && s && s->unknown.empty()) return std::nullopt;
        const std::int64_t value = std::clamp<std::int64_t>(x.value_or(1), -1, std::int64_t{1} << 30);
        n = std::min(product ? n * value : less ? n - value : n + value, std::int64_t{1} << 31);
    }
    if (out.name.empty()) return std::nullopt;
    std::int64_t over = 1;
    if (const auto by = rule.find("over"); by != rule.end() && by->is_string()) {
        const Setting* s = in(all, by->get<std::string>());
        over = s ? parse_integer(s->value).value_or(1) : 1;
    } else if (by != rule.end()) {
        over = by->get<std::int64_t>();
    }
    over = std::max<std::int64_t>(over, 1);
    n = std::max<std::int64_t>(n, -1);  // -1 of several factors: what is left
    if (out.unknown.empty() && n > 0 && n % over != 0 && !rule.contains("multiple_of")
        && !rule["make"].get_ref<const std::string&>().starts_with("/model/")) {
        rest = out.name + " " + std::to_string(n) + " is no multiple of " + std::to_string(over);
        n = std::max(n, over);
        rest += ": the plan has " + std::to_string(n / over) + " (" + rule["make"].get<std::string>() + ")";
    }
    n /= over;
    if (const Setting* by = in(all, rule.value("times", ""))) {
        const double times = std::clamp(parse_double(by->value).value_or(1), 0.0, 1e6);
        n = static_cast<std::int64_t>(std::min(static_cast<double>(n) * times, 1e12));
    }
    const Setting* s = in(all, rule.value("multiple_of", ""));
    const std::int64_t step = std::max<std::int64_t>(s ? parse_integer(s->value).value_or(1) : 1, 1);
    if (out.unknown.empty()) out.value = std::to_string((n + step - 1) / step * step);
    return out;
}

// Returns what the first row that holds says of pairs; nothing where none does.
std::optional<Pairs> pairs_by(const json& rows, const SettingsByKey& all,
                              const std::vector<Setting>& settings) {
    for (const json& row : rows) {
        Pairs out;
        out.are = row.value(kAre, out.are);
        const auto holds = [&](const auto& item) {
            const std::string& name = item.key();
            if (name == kAre) return true;
            if (!name.ends_with(".*")) {
                const Setting* found = in(all, name);
                if (!setting_fits(item.value(), found, all)) return false;
                const bool may_lack = item.value().is_array()
                                      && std::any_of(item.value().begin(), item.value().end(),
                                                     [](const json& w) { return w.is_null(); });
                if (!found || !out.by.empty() || may_lack) return true;
                if (name != kProgram) out.key = name;
                out.by = found->name + " " + found->value;
                return true;
            }
            const std::string section = name.substr(0, name.size() - 1);
            const auto one = std::find_if(settings.begin(), settings.end(), [&](const Setting& s) {
                return s.name.substr(std::min(s.name.find_first_not_of('+'), s.name.size()))
                    .starts_with(section);
            });
            if (one == settings.end()) return false;
            if (out.by.empty()) out.by = "the section " + name.substr(0, name.size() - 2);
            return true;
        };
        if (std::all_of(row.items().begin(), row.items().end(), holds)) return out;
    }
    return std::nullopt;
}

// Returns true for a switch of which the rules say what it does the other way: where it stands like this, it
// is as if it were not there.
bool is_other_way(const json& data, const std::string& key, const std::string& value) {
    const auto is = flag_of_word(value);
    const json rules = data.value("rules", json::array());
    return is && std::any_of(rules.begin(), rules.end(), [&](const json& rule) {
               const json when = rule.value("when", json::object());
               const auto said = when.find(key);
               if (said == when.end() || !said->is_array())
                   return said != when.end() && *said == (*is ? "false" : "true");
               // A list of words must switch something on, and must not hold where nothing is said.
               const auto has_word = [&](const json& word) {
                   return std::find(said->begin(), said->end(), word) != said->end();
               };
               return !*is && has_word("true") && !has_word("false") && !has_word(nullptr);
           });
}

}  // namespace

Dialect::Dialect(std::string_view name, const Presets& presets) {
    const std::filesystem::path file = presets.root() / "frameworks" / (std::string(name) + ".json");
    data_ = parse_json(read_file(file), file.string());
    for (const json& key : data_.value("harmless", json::array())) leaves_.insert(key.get<std::string>());
    for (const json& row : data_.value("cannot_hold", json::array()))
        for (const json& key : row.at("settings")) leaves_.insert(key.get<std::string>());
}

std::string Dialect::key_of(const std::string& written) const {
    std::string name = written.substr(std::min(written.find_first_not_of('+'), written.size()));
    if (name.starts_with("-")) name = flag_key(name);
    if (data_.contains("dashes")) std::replace(name.begin(), name.end(), '-', '_');
    const json& names = data_.at("names");
    const auto found = [&](const std::string& part) {
        if (!names.contains(part)) return std::string();
        const json& target = names[part];
        const bool field = target.is_object() || target.get_ref<const std::string&>().starts_with('/');
        return field && !of_fields() ? part.substr(part.rfind('.') + 1) : target.get<std::string>();
    };
    const std::size_t evaluation = evaluation_in(name);
    for (std::size_t at = 0; at <= evaluation; at = name.find('.', at) + 1) {
        if (std::string key = found(name.substr(at)); !key.empty()) return key;
        if (name.find('.', at) == std::string::npos || data_.contains("sections")) break;
    }
    if (evaluation != std::string::npos && of_fields()) return name;
    const std::string leaf = name.substr(name.rfind('.') + 1);
    // A name that only the reader has for a setting means another one in a text: `submit.py --gpus 8`.
    for (const OwnName& row : own::kOfFields)
        if (of_fields() && row.inner && name == row.name) return written + " of the text";
    if (of_fields() && name.starts_with("/")) return "the text's " + written;  // it is no field of a plan
    if (of_fields()) return leaves_.contains(leaf) ? leaf : name;
    if (!data_.contains("sections")) return leaf_key(name);
    for (const json& section : data_["sections"])
        if (name.starts_with(section.get<std::string>() + ".")) return leaf_key(name);
    return name;
}

void Dialect::complete(std::vector<Setting>& settings, const std::string& program) {
    SettingsByKey all;
    for (const Setting& s : settings) all[s.key.empty() ? key_of(s.name) : s.key] = s;
    if (!program.empty()) {
        Setting started;
        started.name = started.key = kProgram;
        started.value = program;
        all[kProgram] = started;
    }
    const auto add = [&](const std::string& target, Setting s) {
        if (in(all, target)) return false;
        s.key = target;
        all[target] = s;
        settings.push_back(std::move(s));
        return true;
    };
    for (const json& rule : data_.value("rules", json::array())) {
        const json when = rule.value("when", json::object());
        const auto holds = [&](const auto& item) {
            const Setting* found = in(all, item.key());
            if (!found && item.value() == "null") return all.contains(item.key());  // said to be none
            return setting_fits(item.value(), found, all);
        };
        if (!std::all_of(when.items().begin(), when.items().end(), holds)) continue;
        for (const auto& [kind, severity] : kSays)
            if (rule.contains(kind))
                findings_.push_back({severity, rule.value("code", ""), rule[kind],
                                     rule.value("who", data_.at("called").get<std::string>())});
        std::vector<std::string> sources;
        for (const auto& item : when.items()) sources.push_back(item.key());
        const auto give = [&](const std::string& target, Setting s) {
            const bool fresh = add(target, std::move(s));
            for (const std::string& key : sources)
                if (fresh || when.contains(key)) used_.push_back({key, target});
        };
        if (rule.contains("off")) off_.push_back(rule["off"]);
        if (rule.contains("make")) {
            for (const json& part : rule.at(rule.contains("product") ? "product" : "sum"))
                sources.push_back(source_of(part.get<std::string>()));
            for (const char* more : {"multiple_of", "times"}) sources.push_back(rule.value(more, ""));
            std::string rest;
            if (std::optional<Setting> s = made(rule, all, rest)) {
                if (!rest.empty() && !in(all, rule["make"].get<std::string>()))
                    findings_.push_back({Severity::warning, "not-divisible", rest, {}});
                give(rule["make"], std::move(*s));
            }
            continue;
        }
        Setting s;
        s.name = "the default of " + data_.at("called").get<std::string>();
        for (const std::string& key : sources)
            if (const Setting* of = key == kProgram ? nullptr : in(all, key))
                s.name = of->name, s.at = of->at;
        const json set = rule.value("set", json::object());
        for (const auto& [target, value] : set.items()) {
            s.value = value.get<std::string>();
            give(target, s);
        }
    }
    const json pairs = data_.value("pairs", json::object());
    if (pairs.empty()) return;
    pairs_ = pairs_by(pairs.value("of", json::array()), all, settings);
    if (pairs_) return;
    pairs_ = pairs_by(pairs.value("perhaps", json::array()), all, settings);
    if (pairs_) pairs_->sure = false;
}

void Dialect::mark(SettingsSheet& sheet) const {
    for (const Finding& f : findings_) {
        if (quiet_.contains(f.code)) continue;
        if (f.severity == Severity::error)
            sheet.refusal(f.code, f.who, f.words);
        else
            sheet.problem(f.severity, f.code, f.words);
    }
    for (int pass = 0; pass < 2; ++pass)  // the second: of what followed from what follows
        for (const Used& u : used_) sheet.map_as(u.key, u.target);
    for (const std::string& key : sheet.open_keys()) {
        if (const Setting* s = sheet.last(key); s && s->stated && !s->quoted && says_nothing(s->value))
            sheet.ignore(key);  // null: as if it did not stand there
        if (std::any_of(off_.begin(), off_.end(),
                        [&](const std::string& part) { return sheet.written(key).starts_with(part); }))
            sheet.ignore(key);
        for (const json& role : data_.value("roles", json::array()))
            if (key.starts_with(role.get<std::string>()))
                sheet.cannot_hold(key, "another part of the job: the plan holds the training of one model");
        if (is_other_way(data_, key, sheet.value_of(key))) sheet.ignore(key);
    }
}

}  // namespace pentamesh::interop
