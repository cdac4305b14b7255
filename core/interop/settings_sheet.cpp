#include "core/interop/settings_sheet.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/import.h"
#include "core/interop/script/settings.h"
#include "core/interop/state_types.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pentamesh::interop {

bool sounds_of_layout(std::string_view name) {
    static constexpr std::string_view kSounds[] = {
        "parallel",  "shard", "gather", "dispatch", "offload", "recompute", "zero",        "checkpoint_activ",
        "precision", "dtype", "fp8",    "pipeline", "quantiz", "expert_",   "activation_", "gradient_check"};
    return std::any_of(std::begin(kSounds), std::end(kSounds),
                       [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

SettingsSheet::SettingsSheet(std::vector<Setting> settings,
                             const std::function<std::string(const std::string&)>& key_of) {
    rows_.reserve(settings.size());
    for (Setting& s : settings) {
        std::string name = s.key.empty() ? key_of(s.name) : s.key;
        const auto [place, fresh] = at_.try_emplace(name, keys_.size());
        if (fresh) keys_.push_back({std::move(name), 0, State::open, {}, {}});
        keys_[place->second].last = rows_.size();
        rows_.push_back({std::move(s), place->second});
    }
}

const Setting* SettingsSheet::last(std::string_view key) const {
    const auto found = at_.find(std::string(key));
    return found == at_.end() ? nullptr : &rows_[keys_[found->second].last].setting;
}

void SettingsSheet::leave_unknown(std::string_view key, const std::string& what) {
    if (const auto found = at_.find(std::string(key)); found != at_.end())
        rows_[keys_[found->second].last].setting.unknown = what;
}

std::string SettingsSheet::written(std::string_view key) const {
    const Setting* s = last(key);
    return s ? s->name : std::string(key);
}

std::string SettingsSheet::value_of(std::string_view key) const {
    const Setting* s = last(key);
    return s ? s->value : std::string();
}

void SettingsSheet::mark(std::string_view key, State state, std::string_view path, std::string_view why) {
    const auto found = at_.find(std::string(key));
    if (found == at_.end()) return;
    Key& k = keys_[found->second];
    k.state = state;
    k.path = path;
    k.why = why;
}

void SettingsSheet::map_as(std::string_view key, std::string_view other) {
    const auto from = at_.find(std::string(other));
    const auto to = at_.find(std::string(key));
    if (from == at_.end() || to == at_.end() || keys_[to->second].state != State::open) return;
    keys_[to->second].state = keys_[from->second].state;
    keys_[to->second].path = keys_[from->second].path;
    keys_[to->second].why = keys_[from->second].why;
}

void SettingsSheet::refuse(const Setting& s, const std::string& allowed) {
    const std::string place = s.at.line > 0 ? " (" + words_of(s.at) + ")" : "";
    error("setting-not-allowed", s.name, ": found ", shown_text(s.value), ", must be ", allowed, place);
}

namespace {

// Returns true for a word that leaves the number to the machine or to the user: "gpu", "auto", "<GPUS>".
bool leaves_open(std::string_view value) {
    static constexpr std::string_view kWords[] = {"gpu", "auto", "cuda", "all", "-1", "???", "TBD", "xxx"};
    return std::find(std::begin(kWords), std::end(kWords), value) != std::end(kWords)
           || (value.starts_with("<") && value.ends_with(">")) || value.starts_with("{{")
           || value.starts_with("YOUR") || value.starts_with("your_");
}

}  // namespace

bool SettingsSheet::heal(std::string_view key, std::string_view path) {
    const auto value = given.find(path);
    const auto found = at_.find(std::string(key));
    if (value == given.end() || found == at_.end()) return false;
    Setting& s = rows_[keys_[found->second].last].setting;
    s.value = value->second;
    s.unknown.clear();
    s.stated = true;
    return true;
}

const Setting* SettingsSheet::read(std::string_view key, std::string_view path) {
    const Setting* s = last(key);
    if (!s) return nullptr;
    mark(key, State::mapped, path, {});
    if (path == "/cluster/gpus" && (leaves_open(s->value) || !s->unknown.empty())) return nullptr;
    const bool placeholder =
        s->unknown.empty() && !s->quoted && (s->value == "???" || s->value.starts_with("{{"));
    if ((!s->unknown.empty() || placeholder) && heal(key, path)) return last(key);
    if (placeholder) {
        ask(Asked::value, Severity::error, "unknown-value",
            s->name + " has " + s->value + " in its place: set " + std::string(path)
                + " (--set on the command " + "line; " + words_of(s->at) + ")");
        problems.back().name = s->name;
        return nullptr;
    }
    if (!s->unknown.empty()) {
        ask(Asked::value, Severity::error, "unknown-value",
            s->name + " is set from " + s->unknown
                + ", which the text does not say: give it a value (--var or --args on the command line; "
                + words_of(s->at) + ")");
        problems.back().name = s->unknown;
        return nullptr;
    }
    return says_nothing(s->value) && !s->quoted && s->stated ? nullptr : s;
}

std::optional<std::int64_t> SettingsSheet::integer(std::string_view key, std::string_view path,
                                                   std::int64_t least, std::int64_t most) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    auto n = parse_integer(s->value);
    if (!n && heal(key, path)) n = parse_integer(last(key)->value);
    if (n && *n >= least && *n <= most) return n;
    refuse(*s, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
}

std::optional<double> SettingsSheet::number(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    std::string plain;
    for (const char c : s->value)
        if (c != '_') plain.push_back(c);
    if (const auto x = parse_double(plain)) return x;
    refuse(*s, "a number");
    return std::nullopt;
}

std::optional<bool> SettingsSheet::flag(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    if (!s) return std::nullopt;
    const auto flag = flag_of_word(s->value);
    if (!flag) refuse(*s, "true or false");
    return flag;
}

std::optional<std::string> SettingsSheet::text(std::string_view key, std::string_view path) {
    const Setting* s = read(key, path);
    return s ? std::optional(s->value) : std::nullopt;
}

ImportProblem& SettingsSheet::add_refusal(const std::string& code, std::string_view who,
                                          const std::string& what) {
    if (unread.empty())
        error(code, who, " refuses: ", what);
    else
        problem(Severity::warning, code, unread, ", which the text does not have, may change this: ", what);
    problems.back().opens = true;
    return problems.back();
}

bool SettingsSheet::failed() const {
    return std::any_of(problems.begin(), problems.end(),
                       [](const ImportProblem& p) { return p.severity == Severity::error && !p.opens; });
}

std::vector<std::string> SettingsSheet::open_keys() const {
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

void SettingsSheet::lists(SettingLists& to) const {
    for (const Row& r : rows_) {
        const Key& k = keys_[r.key];
        if (!r.setting.key.empty() && k.state != State::unmapped) continue;
        std::vector<Listed>& list = k.state == State::mapped     ? to.mapped
                                    : k.state == State::unmapped ? to.unmapped
                                    : k.state == State::ignored  ? to.ignored
                                                                 : to.not_known;
        list.push_back(
            {r.setting.name, r.setting.value, k.path, k.why, r.setting.at.line, r.setting.at.file});
    }
    std::stable_partition(to.not_known.begin(), to.not_known.end(),
                          [](const Listed& l) { return sounds_of_layout(l.setting); });
}

namespace {

// Keeps letters and digits in lower case; "." and "-" between digits stay apart as "." ("3.1", "v3").
std::string squeezed(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z')
            out.push_back(static_cast<char>(c - 'A' + 'a'));
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out.push_back(c);
    }
    return out;
}

std::string without(std::string text, std::string_view part) {
    const std::size_t at = text.find(part);
    return at == std::string::npos ? text : text.erase(at, part.size());
}

// Returns the part of a path that names the model: behind it may stand those of its checkpoints, in front of
// it, in the hub's cache, its owner ("models--Qwen--Qwen3-8B/snapshots/5f2e…").
std::string_view model_part(std::string_view path) {
    static constexpr std::string_view kInside[] = {
        "snapshots",   "checkpoint", "global_step", "iter_", "step_",  "epoch", "hf",
        "huggingface", "final",      "latest",      "actor", "policy", "main"};
    while (true) {
        while (path.ends_with('/')) path.remove_suffix(1);
        const std::string_view name = path.substr(path.rfind('/') + 1);
        const bool hash = name.size() >= 32 && name.find_first_not_of("0123456789abcdef") == name.npos;
        const bool inside = std::any_of(std::begin(kInside), std::end(kInside), [&](std::string_view part) {
            return part.size() > 6 || part.ends_with('_') ? name.starts_with(part) : name == part;
        });
        if (!(hash || inside) || name.size() == path.size())
            return name.starts_with("models--") ? name.substr(name.rfind("--") + 2) : name;
        path.remove_suffix(name.size());
    }
}

// Returns a model's name without what stands for a training of it.
std::string model_in(std::string_view path) {
    std::string_view name = model_part(path);
    for (const std::string_view end : {".yaml", ".nemo", "-it"})
        if (name.ends_with(end)) name.remove_suffix(end.size());
    std::string wanted = squeezed(name);
    for (const std::string_view part : {"meta", "pretrainconfig", "config", "instruct", "base", "hf",
                                        "pretrain", "v01", "chat", "thinking", "2507", "fp8", "bf16"})
        wanted = without(std::move(wanted), part);
    return wanted;
}

// Holds models with another one's shape, and those that have encoders.
nlohmann::json model_names(const Presets& presets) {
    const std::filesystem::path file = presets.root() / "frameworks" / "model_names.json";
    const auto text = try_read_file(file);
    return text ? parse_json(*text, file.string())
                : nlohmann::json{{"same_shape", nlohmann::json::object()},
                                 {"encoders", nlohmann::json::object()}};
}

}  // namespace

bool has_encoders(const Presets& presets, std::string_view path) {
    const nlohmann::json names = model_names(presets).at("encoders");
    const std::string wanted = model_in(path);
    for (const nlohmann::json& name : names.value("models", nlohmann::json::array()))
        if (squeezed(name.get<std::string>()) == wanted) return true;
    std::string words = "-";  // in lower case, between dashes
    for (const char c : model_part(path)) words += squeezed({&c, 1}).empty() ? "-" : squeezed({&c, 1});
    const nlohmann::json listed = names.value("words", nlohmann::json::array());
    return std::any_of(listed.begin(), listed.end(), [&](const nlohmann::json& word) {
        return (words + "-").find("-" + word.get<std::string>()) != std::string::npos;
    });
}

std::string preset_for(const Presets& presets, std::string_view name) {
    const std::string wanted = model_in(name);
    const nlohmann::json names = model_names(presets);
    for (const auto& [id, same] : names.at("same_shape").items())
        for (const nlohmann::json& other : same)
            if (squeezed(other.get<std::string>()) == wanted) return id;
    for (const auto& [id, theirs] : words("maxtext_models").items())
        if (squeezed(theirs.get<std::string>()) == wanted) return id;
    std::string found;
    for (const Presets::Entry& e : presets.list(PresetKind::model)) {
        if (e.own) continue;  // its name says nothing about the model that others mean
        const std::string id = squeezed(e.id);
        if (id == wanted) return e.id;
        // Llama 3.1's shapes are Llama 3's: "llama3 405b" means the one that ships.
        if (id.starts_with("llama31") && "llama3" + id.substr(7) == wanted && found.empty()) found = e.id;
    }
    return found;
}

std::string why_no_preset(const Presets& presets, std::string_view name) {
    const std::string wanted = model_in(name);
    const nlohmann::json names = model_names(presets).value("not_held", nlohmann::json::object());
    for (const auto& [why, models] : names.items())
        for (const nlohmann::json& model : models)
            if (squeezed(model.get<std::string>()) == wanted) return why;
    return {};
}

void take_model(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, std::string_view key,
                std::string name) {
    const Setting* s = sheet.last(key);
    if (!s || says_nothing(s->value)) return;
    if (name.empty()) name = s->value;
    if (name.find('$', name.rfind('/') + 1) != std::string::npos) return;  // "${BASE}/Qwen3-8B" says enough
    draft.model_preset = preset_for(presets, name);
    if (!draft.model_preset.empty()) return sheet.map(key, "/model");
    sheet.cannot_hold(key, "it names the model, and no preset has this name");
    draft.other_model = name;
    draft.why_no_preset = why_no_preset(presets, name);
}

RecipeName read_recipe_name(std::string_view name, const Presets& presets) {
    RecipeName out;
    std::string model;
    for (const std::string_view piece : split_lines(name, '_')) {
        const std::string word(piece);
        const std::size_t digits = word.find_first_not_of("0123456789");
        if (digits > 0 && digits != std::string::npos && word.substr(digits).starts_with("gpu"))
            out.gpus = parse_integer(word.substr(0, digits)).value_or(0);
        model += (model.empty() ? "" : " ") + word;
        if (std::string id = preset_for(presets, model); !id.empty()) out.model = std::move(id);
        const auto begins = [&](const Presets::Entry& e) { return !e.own && e.id.starts_with(word + "-"); };
        const auto &gpus = presets.list(PresetKind::gpu), &clusters = presets.list(PresetKind::cluster);
        const auto cluster = std::find_if(clusters.begin(), clusters.end(), begins);
        if (out.cluster.empty() && cluster != clusters.end()
            && std::any_of(gpus.begin(), gpus.end(),
                           [&](const auto& e) { return begins(e) || e.id == word; }))
            out.cluster = cluster->id;
    }
    return out;
}

nlohmann::json& place_of(PlanDraft& draft, std::string_view pointer) {
    const std::size_t end = pointer.find('/', 1);
    const std::string_view part = pointer.substr(1, end - 1);
    nlohmann::json& of = part == "model" ? draft.model : part == "layout" ? draft.layout : draft.training;
    return of[nlohmann::json::json_pointer(std::string(pointer.substr(end)))];
}

namespace {

// Returns the value of a word in a table; null: it has none.
nlohmann::json value_of_word(const nlohmann::ordered_json& all, const std::string& text) {
    const std::string word = text.substr(text.rfind('.') + 1);  // AttnBackend.unfused
    auto found = all.find(text);
    if (found == all.end()) found = all.find(word);
    for (auto it = all.begin(); it != all.end() && found == all.end(); ++it)
        if (same_letters(it.key(), word)) found = it;
    if (found == all.end()) found = all.find("*");
    return found == all.end() ? nlohmann::json() : nlohmann::json(*found);
}

}  // namespace

void take_fields(SettingsSheet& sheet, PlanDraft& draft, const KnownSettings& known,
                 std::string_view object) {
    for (const NamedField& f : known.fields()) {
        if (std::string_view(f.field).substr(0, f.field.rfind('/')) != object) continue;
        const nlohmann::ordered_json row = f.as.is_object() ? f.as : nlohmann::ordered_json::object();
        nlohmann::json value;
        if (row.contains("says_no_more")) {
            sheet.map(f.key, f.field);
        } else if (row.contains("flag")) {
            if (const auto on = sheet.flag(f.key, f.field)) value = row["flag"][*on ? 1 : 0];
        } else if (row.contains("words")) {
            const auto& all = row["words"].is_string() ? words(word_of(row["words"])) : row["words"];
            if (const auto text = sheet.text(f.key, f.field)) {
                value = value_of_word(all, *text);
                if (value.is_null() && row.contains("why")) sheet.cannot_hold(f.key, word_of(row["why"]));
                if (value.is_null() && row.contains("only"))
                    sheet.not_allowed(f.key, std::string(word_of(row["only"])));
                if (row.contains("but") && row["but"].contains(*text))
                    sheet.cannot_hold(f.key, word_of(row["but"][*text]));
            }
        } else if (const auto n = sheet.integer(f.key, f.field, row.value("least", std::int64_t{1}))) {
            value = *n < 0 ? row.value("negative", *n) : *n;
        }
        if (!value.is_null()) place_of(draft, f.field) = value;
    }
}

std::int64_t degree(const PlanDraft& draft, const char* axis) {
    const auto it = draft.layout.find(axis);
    return it == draft.layout.end() || !it->is_number_integer() ? 1 : it->get<std::int64_t>();
}

// Reads settings that a dialect has named as the plan's fields do.

namespace {

using nlohmann::json;

class FieldReader {
  public:
    FieldReader(SettingsSheet& sheet, PlanDraft& draft, const json& dialect)
        : s_(sheet), d_(draft), dialect_(dialect), called_(dialect.at("called").get<std::string>()) {}

    void read(const Presets& presets, const Launch* launch) {
        model(presets);
        take();
        const bool named = !d_.model_preset.empty() || d_.own_model;
        if (d_.model.contains("hidden") && !d_.model.contains("vocab") && !named)
            ask_for_vocab(s_, d_.model, "");
        world(launch);
        if (s_.failed()) return;
        split(presets);
        batch();
        if (dialect_.contains("software")) d_.training["software"] = dialect_["software"];
    }

  private:
    // Returns a whole number of a part of the plan. Another value is refused where the plan is read.
    static std::int64_t whole_of(const json& part, const char* key, std::int64_t otherwise) {
        const auto it = part.find(key);
        return it != part.end() && it->is_number_integer()
                   ? std::clamp<std::int64_t>(it->get<std::int64_t>(), -kMost * kMost, kMost * kMost)
                   : otherwise;
    }

    void model(const Presets& presets) {
        if (d_.model_preset.empty()) take_model(s_, d_, presets, own::kModel.name);
    }

    // Returns the least of a number that counts something: -1 and 0 are what is left, pp 0 is no pipeline.
    [[nodiscard]] static std::optional<std::int64_t> least_of(std::string_view key) {
        const auto row = words("field_least").find(key);
        return row == words("field_least").end() ? std::nullopt : std::optional<std::int64_t>(*row);
    }

    void take() {
        for (const std::string& key : s_.open_keys()) {
            if (!key.starts_with("/")) continue;
            auto least = least_of(key);
            if (dialect_.contains("rest_of_node") && (key == "/layout/tp" || key == "/layout/etp"))
                least = -1;
            if (least && s_.value_of(key) != "auto" && !s_.integer(key, key, *least)) continue;
            const auto text = s_.text(key, key);
            if (!text || *text == "auto") continue;
            const auto n = parse_integer(*text);
            const auto x = parse_double(*text);
            const auto flag = flag_of_word(*text);
            json value = n ? json(*n) : x ? json(*x) : flag ? json(*flag) : json(*text);
            if (const json list = json::parse(*text, nullptr, false); list.is_array()) value = list;
            if (key.starts_with("/model/") && !d_.model_preset.empty() && !s_.last(key)->key.empty())
                continue;
            place_of(d_, key) = value;
        }
        read_state_types(s_, d_);
        // Without mixed precision the weights are in the type of the products, and are their own master copy.
        json& t = d_.training;
        if (t.value("compute", json()) == "fp32")
            t.emplace("parameters", "fp32"), t.emplace("master_weights", "none");
        if (t.value("compute", json()) == "fp16") t.emplace("parameters", "fp16");
    }

    void world(const Launch* launch) {
        const auto all = s_.integer(own::kGpus), nodes = s_.integer(own::kNodes),
                   each = s_.integer(own::kGpusPerNode);
        const bool given = d_.gpus > 0;
        rest_of_node(each.value_or(0), launch);
        if (d_.gpus == 0 && launch) d_.gpus = launch->gpus;
        const auto times = [](std::int64_t a, std::int64_t b) { return b > kMost / a ? kMost : a * b; };
        const auto degree = [](std::int64_t n) { return std::clamp<std::int64_t>(n, 1, kMost); };
        if (d_.gpus == 0) d_.gpus = all.value_or(each ? times(degree(*each), degree(nodes.value_or(1))) : 0);
        const Setting* of_node = s_.last(own::kGpusPerNode.name);
        const std::int64_t named = each ? times(degree(*each), degree(nodes.value_or(1))) : 0;
        if (given && !all && of_node && of_node->key.empty() && named > 0 && named != d_.gpus)
            s_.problem(Severity::warning, "gpus-said", "The text says ", named, " GPUs: ", d_.gpus,
                       " stand in the plan, as they are given.");
        // Degrees of the text may make up the GPUs: "dp: 1".
        if (all && !s_.last(own::kGpus.name)->key.empty() && *all > 0 && *all != d_.gpus)
            s_.problem(Severity::warning, "gpus-said", "The text's degrees make ", *all, " GPUs: ", d_.gpus,
                       " stand in the plan, as ", given ? "they are given." : "the launcher says.");
        const auto at = [&](const char* axis) {
            const auto it = d_.layout.find(axis);
            const bool whole = it != d_.layout.end() && it->is_number_integer();
            const std::int64_t n = whole ? std::clamp<std::int64_t>(it->get<std::int64_t>(), 0, kMost) : 0;
            if (whole && n < 1) d_.layout.erase(axis);  // -1, 0: what is left
            return n;
        };
        shard_ = at("dp_shard");
        replicate_ = at("dp_replicate");
        const std::int64_t inner = times(times(degree(at("tp")), degree(at("cp"))), degree(at("pp")));
        const std::int64_t said = times(degree(shard_), degree(replicate_));
        ep_is_rest_ = d_.layout.value("ep", json()) == -1;
        ask_for_gpus(s_, d_, std::max(times(inner, said), times(degree(at("ep")), degree(at("pp")))));
        dp_ = std::max<std::int64_t>(1, d_.gpus / inner);
        shard_in_node(each ? *each : launch ? launch->gpus_per_node : 0);
        if (d_.gpus % inner != 0 || dp_ % said != 0
            || (all && *all != d_.gpus && s_.last(own::kGpus.name)->key.empty())
            || (shard_ > 0 && replicate_ > 0 && dp_ != said))
            s_.refusal("world-not-divisible", called_, "the degrees do not divide ", d_.gpus, " GPUs",
                       degrees())
                .set_field_mends = true;
    }

    // MaxText's axis of -1 takes what the others leave of a node of GPUs, or of a slice of TPUs
    // (max_utils.py, fill_unspecified_mesh_axes).
    void rest_of_node(std::int64_t each, const Launch* launch) {
        const std::int64_t others =
            std::max<std::int64_t>(s_.integer("rest_of_node", "/layout/tp", -1).value_or(1), 1);
        if (d_.layout.value("tp", json()) != -1) return;
        std::int64_t node = each;
        if (node <= 0 && launch) node = launch->gpus_per_node > 0 ? launch->gpus_per_node : launch->gpus;
        if (node <= 0) node = 8;
        const std::int64_t rest = std::max<std::int64_t>(node / others, 1);
        d_.layout["tp"] = rest;
        if (d_.layout.value("etp", json()) == -1) d_.layout["etp"] = rest;
        s_.problem(Severity::info, "rest-of-node", s_.written("/layout/tp"),
                   " -1 is what the other axes leave of ", node, " GPUs: ", rest, ".");
    }

    // FSDP's hybrid sharding cuts the weights over the GPUs of a node, and nodes have copies
    // (torch/distributed/fsdp, HYBRID_SHARD).
    void shard_in_node(std::int64_t node) {
        const Setting* by = s_.last(own::kShardInNode.name);
        if (!s_.flag(own::kShardInNode).value_or(false) || shard_ > 0 || replicate_ > 0) return;
        constexpr std::int64_t kUsual = 8;
        shard_ = std::gcd(node > 0 ? node : kUsual, dp_);
        if (node <= 0 && dp_ > shard_)
            s_.problem(Severity::info, "node-assumed", by->name,
                       " shards inside a node, whose GPUs the text ", "does not say: ", kUsual,
                       " stand in for them; set /layout/dp_shard.");
    }

    // Returns ": tp_size 3, fsdp_size 2", as the text writes them.
    std::string degrees() {
        std::string out;
        for (const char* key :
             {"/layout/tp", "/layout/cp", "/layout/pp", "/layout/dp_shard", "/layout/dp_replicate"})
            if (parse_integer(s_.value_of(key)).value_or(1) > 1)
                out += (out.empty() ? ": " : ", ") + s_.written(key) + " " + s_.value_of(key);
        return out;
    }

    void split(const Presets& presets) {
        const std::int64_t zero = whole_of(d_.layout, "zero", 0);
        if (zero == 0) shard_ = 1;
        if (shard_ == 0) shard_ = std::max<std::int64_t>(dp_ / std::max<std::int64_t>(replicate_, 1), 1);
        // accelerate/parallelism_config.py, __post_init__.
        if (dialect_.contains("needs_sharded_axis") && replicate_ > 1 && shard_ == 1
            && (degree(d_, "tp") > 1 || degree(d_, "cp") > 1))
            s_.refusal("no-sharded-axis", called_,
                       "tensor or context parallelism cannot be used with pure data parallelism (",
                       s_.written("/layout/dp_replicate"), " ", replicate_,
                       "): it asks for a sharded axis above 1");
        d_.layout["dp_shard"] = shard_;
        if (ep_is_rest_) d_.layout["ep"] = shard_;
        d_.layout["dp_replicate"] = std::max<std::int64_t>(dp_ / shard_, 1);
        const std::int64_t pp = degree(d_, "pp");
        std::int64_t layers = whole_of(d_.model, "layers", 0);
        if (layers == 0 && !d_.model_preset.empty()) layers = presets.model(d_.model_preset).layers;
        if (dialect_.contains("stages_of_layers") && pp > 1 && layers > 0) chunks(layers, pp);
        const auto first = s_.integer(own::kFirstLayers), last = s_.integer(own::kLastLayers);
        const std::int64_t rest = layers - first.value_or(0) - last.value_or(0),
                           parts = pp - (first ? 1 : 0) - (last ? 1 : 0);
        if (!(dialect_.contains("left_over_layers") || first || last) || pp < 2 || pp > layers) return;
        if (rest < parts || (parts == 0 && rest != 0))
            return void(s_.refusal("stage-layers", called_, "the stages do not hold ", layers, " layers"));
        json out = json::array();  // what is left goes to the first stages
        for (std::int64_t i = 0; i < parts; ++i) out.push_back(rest / parts + (i < rest % parts ? 1 : 0));
        if (first) out.insert(out.begin(), *first);
        if (last) out.push_back(*last);
        d_.layout["stage_layers"] = out;
    }

    // Makes chunks of an interleaved schedule, as many as the layers of a stage make, else two a rank
    // (Automodel, pipelining/functional.py: calculate_virtual_stages, generate_hf_model_fqn_per_model_part).
    void chunks(std::int64_t layers, std::int64_t pp) {
        if (!same_letters(s_.value_of(own::kPpSchedule.name), "interleaved1f1b")) return;
        const auto each = parse_integer(s_.value_of(own::kLayersPerStage.name));
        const std::string round = s_.value_of(own::kRoundStages.name);
        std::int64_t stages = 2 * pp;
        if (each && *each > 0) stages = layers / *each + (layers % *each > 0 ? 1 : 0);
        const std::int64_t over = stages % pp;
        if (over > 0 && round != "up" && round != "down")
            return void(
                s_.refusal("virtual-stages", called_, stages, " virtual stages are no multiple of pp ", pp));
        stages += over == 0 ? 0 : round == "up" ? pp - over : -over;
        if (stages < 2 * pp)
            return void(s_.refusal("virtual-stages", called_,
                                   "an interleaved schedule has two stages a rank and more"));
        // A plan's schedule takes micro-batches by pp at a time; torch's takes others too.
        const json& t = d_.training;
        const std::int64_t rows = std::max<std::int64_t>(whole_of(t, "micro_batch", 1), 1) * dp_,
                           passes = whole_of(t, "global_batch", 0) / std::max<std::int64_t>(rows, 1);
        if (stages > layers || passes % pp != 0) return;
        s_.map(own::kPpSchedule);
        s_.map(own::kLayersPerStage);
        s_.map(own::kRoundStages);
        d_.layout["schedule"] = "interleaved";
        d_.layout["virtual_stages"] = stages / pp;
        json out = json::array();  // what is left goes to the first stages
        for (std::int64_t i = 0; i < stages; ++i)
            out.push_back(layers / stages + (i < layers % stages ? 1 : 0));
        if (layers % stages > 0) d_.layout["stage_layers"] = out;
    }

    void batch() {
        json& t = d_.training;
        const std::int64_t micro = std::max<std::int64_t>(whole_of(t, "micro_batch", 1), 1);
        const bool open = s_.value_of(own::kAccumulation.name) == "auto";
        if (open) s_.map(own::kAccumulation);
        const std::int64_t calls = open ? 0 : s_.integer(own::kAccumulation).value_or(0);
        const std::int64_t rows = std::clamp<std::int64_t>(calls, 1, kMost) * dp_;
        // It counts GPUs of all axes: where several share a sequence it is a part of one.
        const auto each = s_.number(own::kBatchPerGpu);
        if (each) {
            const auto all = std::llround(std::clamp(*each * static_cast<double>(d_.gpus), 1.0, 1e9));
            t["global_batch"] = all * std::clamp<std::int64_t>(calls, 1, kMost);
            // A pipeline cuts what one call takes: into as many parts as stages where the text says no other.
            const std::int64_t parts = s_.integer(own::kPipelineMicrobatches).value_or(1);
            const std::int64_t in_parts = parts > 0 ? parts : degree(d_, "pp");
            t["micro_batch"] = std::max<std::int64_t>(all / dp_ / in_parts, 1);
        } else if (t.contains("global_batch")) {
            const std::int64_t all = whole_of(t, "global_batch", 0);
            const bool one_call =
                dialect_.contains("batch_is_one_call") && !open;  // unless the text says more
            if ((calls > 0 || one_call) && !t.contains("micro_batch"))
                t["micro_batch"] = std::max<std::int64_t>(all / rows, 1);
            else
                t["micro_batch"] = micro;
            if (calls > 0 && all != whole_of(t, "micro_batch", micro) * rows)
                s_.refusal("batch-not-divisible", called_,
                           "the global batch is not micro-batch x accumulation x ", dp_,
                           " data-parallel ranks")
                    .set_field_mends = true;
        } else if (t.contains("micro_batch") && open) {
            ask_for_batch(s_, d_, micro, dp_);
        } else if (t.contains("micro_batch")) {
            t["micro_batch"] = micro;
            t["global_batch"] = micro * rows;
        } else {
            ask_for_batch(s_, d_, 1, dp_ * std::max<std::int64_t>(calls, 1));
        }
        if (!t.contains("sequence_length"))
            s_.problem(Severity::warning, "sequence-missing",
                       "The text does not say how long sequences are: ", Training{}.sequence_length,
                       " stands in for it; set /training/sequence_length.");
    }

    static constexpr std::int64_t kMost = std::int64_t{1} << 20;  // hostile degrees multiply to no more
    SettingsSheet& s_;
    PlanDraft& d_;
    const json& dialect_;
    const std::string called_;  // the tool, in a sentence
    std::int64_t shard_ = 0, replicate_ = 0, dp_ = 1;
    bool ep_is_rest_ = false;  // the experts take all that share a replica's weights
};

}  // namespace

void read_fields(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                 const json& dialect) {
    FieldReader(sheet, draft, dialect).read(presets, launch);
}

}  // namespace pentamesh::interop
