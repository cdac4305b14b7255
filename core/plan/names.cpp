#include "core/plan/names.h"

#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/plan/training.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace pentamesh {
namespace {

using Words = std::vector<std::string>;

bool digit(char c) {
    return c >= '0' && c <= '9';
}
bool has_digit(std::string_view word) {
    return std::any_of(word.begin(), word.end(), digit);
}
bool is_number(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), digit);
}

// Makes small letters; "16,384" is one word without its comma, "3.1" one with its point.
Words words_of_title(std::string_view text) {
    Words words(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool inside = i > 0 && digit(text[i - 1]) && i + 1 < text.size() && digit(text[i + 1]);
        if (digit(c) || (c >= 'a' && c <= 'z') || (c == '.' && inside))
            words.back() += c;
        else if (c >= 'A' && c <= 'Z')
            words.back() += static_cast<char>(c - 'A' + 'a');
        else if (!(c == ',' && inside) && !words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

bool has(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}
template <std::size_t N>
bool has_any(const Words& words, const std::array<std::string_view, N>& wanted) {
    return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view w) { return has(words, w); });
}

bool names_gpu(const Words& title, const Cluster& cluster) {
    if (const Words gpu = words_of_title(short_name(cluster.gpu)); !gpu.empty() && has(title, gpu.front()))
        return true;
    const Words fabric = words_of_title(cluster.name);
    return std::any_of(fabric.begin(), fabric.end(),
                       [&](const std::string& w) { return has_digit(w) && !is_number(w) && has(title, w); });
}

// Finds "16,384 H100", "two nodes", "8 racks".
bool names_size(const Words& title, std::int64_t gpus) {
    static constexpr std::array<std::string_view, 10> kNumbers{"one", "two",   "three", "four",   "five",
                                                               "six", "seven", "eight", "twelve", "sixteen"};
    static constexpr std::array<std::string_view, 6> kUnits{"gpu", "gpus", "node", "nodes", "rack", "racks"};
    if (has(title, std::to_string(gpus))) return true;
    for (std::size_t i = 0; i + 1 < title.size(); ++i) {
        const bool number =
            is_number(title[i]) || std::find(kNumbers.begin(), kNumbers.end(), title[i]) != kNumbers.end();
        if (number && std::find(kUnits.begin(), kUnits.end(), title[i + 1]) != kUnits.end()) return true;
    }
    return false;
}

bool names_a_changed_factor(const Words& title, const Plan& before, const Plan& after) {
    const auto changed = [&](Axis a) { return factor_in_force(before, a) != factor_in_force(after, a); };
    static constexpr std::array<std::string_view, 2> kTensor{"tp", "tensor"}, kExperts{"ep", "expert"};
    static constexpr std::array<std::string_view, 3> kStages{"pp", "stages", "pipeline"},
        kReplicas{"dp", "replicas", "replicate"};
    return (changed(Axis::tp) && has_any(title, kTensor)) || (changed(Axis::ep) && has_any(title, kExperts))
           || (changed(Axis::pp) && has_any(title, kStages)) || (changed(Axis::cp) && has(title, "cp"))
           || (data_parallel(before) != data_parallel(after) && has_any(title, kReplicas));
}

bool other_size(const Plan& before, const Plan& after) {
    return before.cluster.gpus != after.cluster.gpus;
}
bool other_nodes(const Plan& before, const Plan& after) {
    const std::vector<Tier>&a = before.cluster.tiers, &b = after.cluster.tiers;
    return !a.empty() && !b.empty() && a.front().domain != b.front().domain;
}
// A constant of one's own does not make it another GPU.
bool other_hardware(const Plan& before, const Plan& after) {
    const Cluster &a = before.cluster, &b = after.cluster;
    return a.name != b.name || a.gpu.id != b.gpu.id || a.gpu.name != b.gpu.name;
}

bool names_a_change(const Words& title, const Plan& before, const Plan& after) {
    static constexpr std::array<std::string_view, 3> kSharded{"zero", "fsdp", "hsdp"};
    static constexpr std::array<std::string_view, 2> kNodes{"node", "nodes"};
    return (other_size(before, after) && names_size(title, before.cluster.gpus))
           || (other_nodes(before, after) && has_any(title, kNodes) && names_size(title, before.cluster.gpus))
           || (other_hardware(before, after) && names_gpu(title, before.cluster))
           || names_a_changed_factor(title, before, after)
           || (before.layout.zero != after.layout.zero && has_any(title, kSharded))
           || (before.training.sequence_length != after.training.sequence_length && has(title, "context"));
}

}  // namespace

std::string short_name(const Gpu& gpu) {
    const std::string& name = gpu.name.empty() ? gpu.id : gpu.name;
    for (const std::string_view word : split_words(name))
        if (has_digit(word)) return std::string(word);
    return name;
}

std::string model_name_of(const Plan& plan) {
    const std::string& name = plan.model.name;
    const std::vector<std::string>& changed = plan.model_source.overrides;
    const bool edited = !plan.model_source.preset.empty() && !changed.empty();
    const bool named = std::find(changed.begin(), changed.end(), "/name") != changed.end();
    return edited && !named && !name.empty() ? name + ", edited" : name;
}

std::string title_of(const Plan& plan) {
    if (!plan.name.empty()) return plan.name;
    std::string factors;
    for (const Axis a : {Axis::tp, Axis::cp, Axis::pp, Axis::ep})
        if (const std::int64_t f = factor_in_force(plan, a); f > 1)
            factors += sentence(factors.empty() ? ", " : " ", name_of(a), " ", f);
    return sentence(plan.model.name.empty() ? "a model" : model_name_of(plan), ", ", plan.cluster.gpus, " ",
                    short_name(plan.cluster.gpu), factors);
}

Plan with_true_title(const Plan& before, Plan after) {
    if (after.name != before.name) return after;
    const bool model = !(before.model == after.model);
    if (!model && (after.name.empty() || !names_a_change(words_of_title(after.name), before, after)))
        return after;
    after.name.clear();
    return after;
}

bool name_what_changed(std::string_view words, const Plan& before, const Plan& after) {
    static constexpr std::array<std::string_view, 5> kSplit{"fsdp", "hsdp", "sharded", "shard", "replicas"};
    const Words all = words_of_title(words);
    const bool split = factor_in_force(before, Axis::dp_shard) != factor_in_force(after, Axis::dp_shard);
    return names_a_change(all, before, after) || (split && has_any(all, kSplit));
}

std::string lost_words_text(const Plan& before, const Plan& after) {
    if (before.name.empty() || !after.name.empty()) return {};
    const bool notes = !before.notes.empty() && after.notes.empty();
    return "The title \"" + before.name
           + (notes ? "\" and its notes no longer hold and are gone" : "\" no longer holds and is gone");
}

std::string words_of(const RecomputeChoice& choice) {
    if (choice.is_plain()) return std::string(name_of(choice.kind));
    std::string text;
    for (const RecomputeModule m : all_of<RecomputeModule>())
        if (choice.modules.has(m)) text += (text.empty() ? "" : ", ") + std::string(name_of(m));
    if (text.empty()) text = name_of(choice.kind);
    if (choice.some_layers()) text += sentence(", ", count_text(choice.layers, "layer"), " a chunk");
    if (choice.unit() > 1) text += sentence(", in units of ", choice.unit(), " layers");
    return text;
}

}  // namespace pentamesh
