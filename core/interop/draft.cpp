#include "core/interop/draft.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/words.h"

#include <algorithm>

namespace pentamesh::interop {
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
    for (const std::string_view end : {".yaml", "-it"})
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

void take_model(Sheet& sheet, Draft& draft, const Presets& presets, std::string_view key, std::string name) {
    const Setting* s = sheet.last(key);
    if (!s || says_nothing(s->value)) return;
    if (name.empty()) name = s->value;
    if (name.find('$', name.rfind('/') + 1) != std::string::npos) return;  // "${BASE}/Qwen3-8B" says enough
    draft.model_preset = preset_for(presets, name);
    if (!draft.model_preset.empty()) return sheet.map(key, "/model");
    sheet.cannot_hold(key, "it names the model, and no preset has this name");
    draft.other_model = name;
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

nlohmann::json& place_of(Draft& draft, std::string_view pointer) {
    const std::size_t end = pointer.find('/', 1);
    const std::string_view part = pointer.substr(1, end - 1);
    nlohmann::json& of = part == "model" ? draft.model : part == "layout" ? draft.layout : draft.training;
    return of[nlohmann::json::json_pointer(std::string(pointer.substr(end)))];
}

void take_settings(Sheet& sheet, Draft& draft, std::string_view table) {
    for (const auto& row : words(table)) {
        const std::string_view key = word_of(row["key"]), to = word_of(row["to"]);
        nlohmann::json value;
        if (row.contains("flag")) {
            if (const auto on = sheet.flag(key, to)) value = row["flag"][*on ? 1 : 0];
        } else if (row.contains("words")) {
            const auto text = sheet.text(key, to);
            auto known = text ? row["words"].find(*text) : row["words"].end();
            if (text && known == row["words"].end())  // AttnBackend.unfused
                known = row["words"].find(text->substr(text->rfind('.') + 1));
            if (known != row["words"].end())
                value = *known;
            else if (text && row.contains("why"))
                sheet.cannot_hold(key, word_of(row["why"]));
        } else if (const auto n = sheet.integer(key, to, row.value("least", std::int64_t{1}))) {
            value = *n;
        }
        if (!value.is_null()) place_of(draft, to) = value;
    }
}

std::int64_t take_degree(Sheet& sheet, Draft& draft, const char* key, const char* axis) {
    const std::int64_t n = sheet.integer(key, std::string("/layout/") + axis).value_or(1);
    draft.layout[axis] = n;
    return n;
}

std::int64_t degree(const Draft& draft, const char* axis) {
    const auto it = draft.layout.find(axis);
    return it == draft.layout.end() || !it->is_number_integer() ? 1 : it->get<std::int64_t>();
}

}  // namespace pentamesh::interop
