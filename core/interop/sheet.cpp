#include "core/interop/sheet.h"

#include "core/base/nearest.h"
#include "core/base/number.h"

#include <algorithm>

namespace pentamesh::interop {

bool sounds_of_layout(std::string_view name) {
    static constexpr std::string_view kSounds[] = {
        "parallel",  "shard", "gather", "dispatch", "offload", "recompute", "zero",        "checkpoint_activ",
        "precision", "dtype", "fp8",    "pipeline", "quantiz", "expert_",   "activation_", "gradient_check"};
    return std::any_of(std::begin(kSounds), std::end(kSounds),
                       [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool says_nothing(std::string_view value) {
    return value.empty() || value == "None" || value == "null" || value == "~" || value == "none-given";
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text.front() == '_' || text.back() == '_') return std::nullopt;
    std::int64_t n = 0;
    for (const char c : text) {
        if (c == '_') continue;
        if (c < '0' || c > '9' || n > (std::int64_t{1} << 58)) return std::nullopt;
        n = n * 10 + (c - '0');
    }
    return negative ? -n : n;
}

Sheet::Sheet(std::vector<Setting> settings, const std::function<std::string(const std::string&)>& key_of) {
    rows_.reserve(settings.size());
    for (Setting& s : settings) {
        std::string name = s.key.empty() ? key_of(s.name) : s.key;
        const auto [place, fresh] = at_.try_emplace(name, keys_.size());
        if (fresh) keys_.push_back({std::move(name), 0, State::open, {}, {}});
        keys_[place->second].last = rows_.size();
        rows_.push_back({std::move(s), place->second});
    }
}

const Setting* Sheet::last(std::string_view key) const {
    const auto found = at_.find(std::string(key));
    return found == at_.end() ? nullptr : &rows_[keys_[found->second].last].setting;
}

std::string Sheet::written(std::string_view key) const {
    const Setting* s = last(key);
    return s ? s->name : std::string(key);
}

std::string Sheet::value_of(std::string_view key) const {
    const Setting* s = last(key);
    return s ? s->value : std::string();
}

void Sheet::mark(std::string_view key, State state, std::string_view path, std::string_view why) {
    const auto found = at_.find(std::string(key));
    if (found == at_.end()) return;
    Key& k = keys_[found->second];
    k.state = state;
    k.path = path;
    k.why = why;
}

void Sheet::map_as(std::string_view key, std::string_view other) {
    const auto from = at_.find(std::string(other));
    const auto to = at_.find(std::string(key));
    if (from == at_.end() || to == at_.end() || keys_[to->second].state != State::open) return;
    keys_[to->second].state = keys_[from->second].state;
    keys_[to->second].path = keys_[from->second].path;
    keys_[to->second].why = keys_[from->second].why;
}

void Sheet::refuse(const Setting& s, const std::string& allowed) {
    const std::string line = s.line > 0 ? plain(" (line ", s.line, ")") : "";
    error("setting-not-allowed", s.name, ": found ", shown_text(s.value), ", must be ", allowed, line);
}

const Setting* Sheet::read(std::string_view key, std::string_view path) {
    const Setting* s = last(key);
    if (!s) return nullptr;
    mark(key, State::mapped, path, {});
    if (!s->unknown.empty()) {
        ask(Asked::value, Severity::error, "unknown-value",
            s->name + " is set from " + s->unknown
                + ", which the text does not say: give it a value (--var or --args on the command line; line "
                + std::to_string(s->line) + ")");
        problems.back().name = s->unknown;
        return nullptr;
    }
    return says_nothing(s->value) && !s->quoted && s->stated ? nullptr : s;
}

std::optional<std::int64_t> Sheet::integer(std::string_view key, std::string_view path, std::int64_t least,
                                           std::int64_t most) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    const auto n = parse_integer(s->value);
    if (n && *n >= least && *n <= most) return n;
    refuse(*s, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
}

std::optional<double> Sheet::number(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    std::string plain;
    for (const char c : s->value)
        if (c != '_') plain.push_back(c);
    if (const auto x = parse_double(plain)) return x;
    refuse(*s, "a number");
    return std::nullopt;
}

std::optional<bool> flag_of_word(std::string_view value) {
    std::string word;
    for (const char c : value) word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    if (word.empty() || word == "true" || word == "yes" || word == "on" || word == "1") return true;
    if (word == "false" || word == "no" || word == "off" || word == "0") return false;
    return std::nullopt;
}

std::optional<bool> Sheet::flag(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    const auto flag = flag_of_word(s->value);
    if (!flag) refuse(*s, "true or false");
    return flag;
}

std::optional<std::string> Sheet::text(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    return s ? std::optional(s->value) : std::nullopt;
}

void Sheet::add_refusal(const std::string& code, std::string message) {
    if (const std::size_t at = message.find("refuses"); !unread.empty() && at != std::string::npos)
        message = unread + ", which the text does not have, may change this"
                  + (message[at + 7] == ':' ? "" : ":") + message.substr(at + 7);
    problem(unread.empty() ? Severity::error : Severity::warning, code, message);
    problems.back().opens = true;
}

bool Sheet::failed() const {
    return std::any_of(problems.begin(), problems.end(),
                       [](const ImportProblem& p) { return p.severity == Severity::error && !p.opens; });
}

std::vector<std::string> Sheet::open_keys() const {
    std::vector<std::string> keys;
    for (const Key& k : keys_)
        if (k.state == State::open) keys.push_back(k.name);
    return keys;
}

std::string summary_of(const SettingLists& l) {
    if (l.size() == 0) return "No setting was read.";
    std::string out = std::to_string(l.size()) + (l.size() == 1 ? " setting: " : " settings: ");
    const auto part = [&](std::size_t n, std::string_view one, std::string_view many) {
        if (n == 0) return;
        out += (out.ends_with(": ") ? "" : ", ") + std::to_string(n) + " " + std::string(n == 1 ? one : many);
    };
    part(l.mapped.size(), "stands in the plan", "stand in the plan");
    part(l.unmapped.size(), "cannot be held", "cannot be held");
    part(l.ignored.size(), "changes nothing that a plan says", "change nothing that a plan says");
    part(l.not_known.size(), "is not known", "are not known");
    return out + ".";
}

void Sheet::lists(SettingLists& to) const {
    for (const Row& r : rows_) {
        const Key& k = keys_[r.key];
        if (!r.setting.key.empty() && k.state != State::unmapped) continue;
        std::vector<Listed>& list = k.state == State::mapped     ? to.mapped
                                    : k.state == State::unmapped ? to.unmapped
                                    : k.state == State::ignored  ? to.ignored
                                                                 : to.not_known;
        list.push_back({r.setting.name, r.setting.value, k.path, k.why, r.setting.line});
    }
    std::stable_partition(to.not_known.begin(), to.not_known.end(),
                          [](const Listed& l) { return sounds_of_layout(l.setting); });
}

}  // namespace pentamesh::interop
