#include "core/interop/python_modules.h"

#include "core/base/characters.h"
#include "core/base/text.h"
#include "core/interop/words.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pentamesh::interop {
namespace {

constexpr std::size_t kMostExpression = 16'384, kMostSettingsRead = 250'000;

std::vector<PythonParameter> parameters(std::string_view text) {
    std::vector<PythonParameter> out;
    int depth = 0;
    std::string part;
    for (const char c : std::string(text) + ",") {
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (c != ',' || depth > 0) {
            part.push_back(c);
            continue;
        }
        const std::size_t equals = part.find('='), name_end = std::min(part.find(':'), equals);
        PythonParameter p{python_trimmed(part.substr(0, name_end)), ""};
        if (equals != std::string::npos) p.value = python_trimmed(part.substr(equals + 1));
        part.clear();
        if (!p.name.empty() && p.name[0] != '*' && p.name[0] != '/' && p.name[0] != '#')
            out.push_back(std::move(p));
    }
    return out;
}

// "a.b" is "a/b.py"; ".b" stands in the folder of the text, "..b" above it.
std::string file_of(std::string_view module) {
    std::string path = module.starts_with(".") ? "./" : "";
    for (module.remove_prefix(path.empty() ? 0 : 1); module.starts_with("."); module.remove_prefix(1))
        path += "../";
    path += module;
    std::replace(path.begin() + static_cast<std::ptrdiff_t>(path.size() - module.size()), path.end(), '.',
                 '/');
    return path + ".py";
}

}  // namespace

void PythonModules::scan(std::string_view text, const std::string& module) {
    const auto kept = std::make_tuple(s_, at_, line_, module_);
    s_ = text, at_ = 0, line_ = 1, module_ = module;
    while (at_ < s_.size()) {
        blanks(true);
        if (at_ >= s_.size()) break;
        const bool top = column() == 0;
        const std::string word = dotted();
        blanks(false);
        if (top && word == "def")
            header();
        else if (top && word == "from")
            imports();
        else if (top && word == "async")
            continue;
        else if (top && !word.empty() && at_ < s_.size() && (s_[at_] == '=' || s_[at_] == ':')) {
            PythonFunction made{s_, "", at_ + 1, 0, line_, {}, maker_ + "Config"};
            const std::string row = until('\n');
            made.end = at_;
            if (!maker_.empty() && module_.empty() && row.find(maker_ + "(") != std::string::npos
                && functions_.try_emplace(":" + word, made).second)
                in_order_.push_back(word);
            const std::size_t equals = row.find('='), begin = std::min(equals, row.size() - 1) + 1;
            const std::string said =
                python_trimmed(std::string_view(row).substr(begin, row.find('#') - begin));
            if (equals != std::string::npos && word.ends_with("_config") && said.ends_with("_config")
                && said == callee_of(said))
                other_name(word, said, made.line);
            else if (equals != std::string::npos)
                constants_[module_ + ":" + word] = worked_out(said);
        } else
            rest_of_line();
    }
    std::tie(s_, at_, line_, module_) = kept;
}

// Reads `a_config = b_config`: a configuration that is another one by name.
void PythonModules::other_name(const std::string& name, const std::string& of, int line) {
    const std::string& text = texts_.emplace_back("return " + of + "()\n");
    PythonFunction f{text, module_, 0, text.size(), line, {}, "Config"};
    if (functions_.try_emplace(module_ + ":" + name, std::move(f)).second && module_.empty())
        in_order_.push_back(name);
}

void PythonModules::header() {
    const std::string name = dotted();
    PythonFunction f{s_, module_, 0, 0, 0, {}, {}};
    blanks(false);
    const std::size_t open = at_;
    if (at_ >= s_.size() || s_[at_] != '(') return rest_of_line();
    brackets();
    const std::string_view inside = s_.substr(open + 1, at_ - open - 2);
    const std::string rest = until(':');
    f.returns = rest.starts_with("->") ? python_trimmed(rest.substr(2)) : rest;
    f.begin = at_;
    f.line = line_;
    f.parameters = parameters(inside);
    skip_suite(0);
    f.end = at_;
    if (module_ == kKnown)
        known_.try_emplace(name, std::move(f));
    else if (functions_.try_emplace(module_ + ":" + name, std::move(f)).second && module_.empty())
        in_order_.push_back(name);
}

void PythonModules::imports() {
    const std::string module = dotted();
    blanks(false);
    if (dotted() != "import") return rest_of_line();
    blanks(false);
    const std::size_t begin = at_;
    rest_of_line();
    std::string list;
    bool comment = false;
    for (const char c : s_.substr(begin, at_ - begin)) {
        comment = c == '#' || (comment && c != '\n');
        list.push_back(comment || c == '(' || c == ')' || c == '\\' ? ' ' : c);
    }
    for (const std::string_view piece : split(list, ',')) {
        const std::string part = python_trimmed(piece);
        const std::size_t as = part.find(" as ");
        const std::string name = python_trimmed(std::string_view(part).substr(0, as));
        if (!name.empty() && imported_.size() < 10'000)
            imported_.try_emplace(
                module_ + ":" + (as == std::string::npos ? name : python_trimmed(part.substr(as + 4))),
                module, name);
    }
}

const PythonFunction* PythonModules::function_called(const std::string& name) {
    std::string module = module_, wanted = name;
    if (const auto k = known_.find(name);
        k != known_.end() && !k->second.parameters.empty() && k->second.parameters.back().name == "instead")
        return &k->second;
    for (int hops = 0; hops < kMostPythonLevels; ++hops) {
        if (const auto it = functions_.find(module + ":" + wanted); it != functions_.end())
            return &it->second;
        const auto from = imported_.find(module + ":" + wanted);
        if (from == imported_.end() || wanted == "model_registry") break;
        std::tie(module, wanted) = from->second;
        if (other_ && modules_.size() < 100 && modules_.insert(module).second)
            if (const auto text = other_(file_of(module))) scan(texts_.emplace_back(*text), module);
    }
    const auto it = known_.find(wanted);
    return it == known_.end() ? nullptr : &it->second;
}

PythonValue PythonModules::look_up(const std::string& name) const {
    if (const auto k = constants_.find(std::string(kKnown) + ":" + name); k != constants_.end())
        return k->second;
    if (name.find('.') == std::string::npos) {
        for (const auto* names : {&locals_, &globals_})
            if (const auto it = names->find(name); it != names->end()) return it->second;
        const auto from = imported_.find(module_ + ":" + name);
        const auto it = constants_.find(
            from == imported_.end() ? module_ + ":" + name : from->second.first + ":" + from->second.second);
        return it == constants_.end() ? PythonValue() : it->second;
    }
    for (const std::string_view key : {after_first(name), leaf_of(name)})
        if (const auto it = latest_.find(std::string(key)); it != latest_.end()) {
            const Setting& s = out_.settings[it->second];
            if (s.name.empty() || !s.unknown.empty()) return {};
            if (s.quoted) return {PythonValue::Kind::text, 0, s.value, {}};
            return python_value(s.value, [](const std::string&) { return PythonValue(); });
        }
    return {};
}

PythonValue PythonModules::worked_out(std::string_view text) const {
    if (text.size() > kMostExpression) return {};
    return python_value(text, [&](const std::string& n) { return look_up(n); });
}

void PythonModules::put(const std::string& name, std::string text, bool quoted, int line) {
    if (name.empty() || quiet_ || out_.settings.size() > kMostSettingsRead) return;
    Setting s;
    s.name = guard_.empty() ? name : name + " (" + guard_ + ")";
    s.value = std::move(text);
    s.quoted = quoted;
    s.line = outer_line_ > 0 ? outer_line_ : line;
    s.variable = std::none_of(name.begin(), name.end(), [](char c) {  // a constant of the text
        return c == '.' || (c >= 'a' && c <= 'z');
    });
    if (guard_.empty())
        for (const std::string_view key : {after_first(name), leaf_of(name)})
            latest_[std::string(key)] = out_.settings.size();
    out_.settings.push_back(std::move(s));
}

void PythonModules::forget_earlier(const std::string& callee_name, const std::string& target) {
    if (!guard_.empty() || target.empty()) return;
    const auto [it, fresh] =
        began_.try_emplace(callee_name + "=" + std::string(leaf_of(target)), out_.settings.size());
    if (fresh) return;
    for (std::size_t i = it->second; i < out_.settings.size(); ++i) {
        std::string& name = out_.settings[i].name;
        if (name.starts_with(callee_name) && name.size() > callee_name.size()
            && (name[callee_name.size()] == '.' || name[callee_name.size()] == '('))
            name.clear();
    }
    it->second = out_.settings.size();
}

bool PythonFunction::takes(std::string_view name) const {
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
}

std::string callee_of(const std::string& text) {
    std::size_t begin = text.size();
    while (begin > 0 && (is_name_char(text[begin - 1]) || text[begin - 1] == '.')) --begin;
    return text.substr(begin);
}

bool may_set(const std::string& callee) {
    const std::string_view leaf = leaf_of(callee);
    const char first = leaf.empty() ? '.' : leaf[0];
    return (callee.find('.') == std::string::npos || any_in(callee, {"recipe", "config"})) && first >= '_'
           && first <= 'z' && callee.find("from_") == std::string::npos
           && !is_among("python_sets_nothing", leaf);
}

std::vector<std::pair<std::string, std::string>> device_of(const std::string& recipe) {
    for (const auto& [word, gpu] : words("devices").items())
        if (recipe.find(word) != std::string::npos) return {{".major", gpu[0]}, {".name", gpu[1]}};
    return {};
}

bool is_recipe(const std::string& name, const PythonFunction& f) {
    if (name.starts_with("_") || name.starts_with("test") || name == "main") return false;
    for (const PythonParameter& p : f.parameters)
        if (p.value.empty()) return false;
    if (!f.returns.empty())
        return f.returns.ends_with("Config") || any_in(f.returns, {"ConfigContainer", "Partial", "Recipe"});
    const std::string_view body = f.text.substr(f.begin, f.end - f.begin);
    return body.find("return ") != std::string_view::npos
           && any_in(body, {"parallel", "batch_size", "recipe", "_config("});
}

}  // namespace pentamesh::interop
