#include "app/ui/shell/palette.h"

#include "app/ui/panels/plan_panel.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace pentamesh::ui {

namespace {

// ---- how well a text fits -------------------------------------------------------------------------------

// Returns the words with one blank between them, in small letters: "ZeRO-1" and "zero 1" are the same.
std::string plain(std::string_view text) {
    constexpr std::string_view kEllipsis = "…";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool dots = text.substr(i).starts_with(kEllipsis);
        if (dots) i += kEllipsis.size() - 1;
        if (!dots && (c >= 0x80 || std::isalnum(c) != 0))
            out += static_cast<char>(std::tolower(c));
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

struct Typed {
    std::string all;                      // plain
    std::vector<std::string_view> words;  // of it
};

enum class Fit : std::uint8_t { none, pieces, inside, each_word, word_start, start, whole_words, equal };

bool begins_a_word(std::string_view part, std::string_view text) {
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        if (at == 0 || text[at - 1] == ' ') return true;
    return false;
}

// Returns true if letters fall into beginnings of words in a row, from word `w` on.
bool fall_into(std::string_view letters, const std::vector<std::string_view>& words, std::size_t w) {
    if (letters.empty()) return true;
    if (w == words.size()) return false;
    for (std::size_t n = 1; n <= std::min(letters.size(), words[w].size()); ++n) {
        if (letters[n - 1] != words[w][n - 1]) return false;
        if (fall_into(letters.substr(n), words, w + 1)) return true;
    }
    return false;
}

Fit fit_of(const Typed& typed, std::string_view text) {
    constexpr std::size_t kTellsSomething = 3;  // letters in the middle of a word
    const std::string_view all = typed.all;
    if (text == all) return Fit::equal;
    if (text.starts_with(all)) return text[all.size()] == ' ' ? Fit::whole_words : Fit::start;
    if (begins_a_word(all, text)) return Fit::word_start;
    if (std::ranges::all_of(typed.words, [&](std::string_view w) { return begins_a_word(w, text); }))
        return Fit::each_word;
    if (all.size() >= kTellsSomething && text.find(all) != std::string_view::npos) return Fit::inside;
    if (typed.words.size() == 1 && all.size() >= kTellsSomething) {
        const std::vector<std::string_view> words = split_words(text, " ");
        for (std::size_t w = 0; w < words.size(); ++w)
            if (fall_into(all, words, w)) return Fit::pieces;
    }
    return Fit::none;
}

constexpr int points(Fit fit) {
    return 10 * static_cast<int>(fit);
}
// From here on each typed word begins a word; below are words that hold it, and then mere pieces.
constexpr int kByWords = points(Fit::each_word), kInside = points(Fit::inside);

// ---- by which words a thing is found --------------------------------------------------------------------

const PaletteWords* words_for(std::string_view target) {
    for (const PaletteWords& w : palette_words())
        if (w.target == target) return &w;
    return nullptr;
}

std::vector<std::string> names_in(const GlossaryEntry& e) {
    std::vector<std::string> out{plain(e.term)};
    for (const std::string& name : e.also) out.push_back(plain(name));
    return out;
}

// Constants of the estimate have short names ("overlap", "all-to-all"), by which people mean what is done.
constexpr int kComesLater = 15;
bool is_constant(std::string_view pointer) {
    return pointer.find("/efficiency/") != std::string_view::npos;
}

constexpr std::string_view kGlossaryCommand = "word.";  // ids of commands that open an entry begin so

// Returns the other words for a target.
std::vector<std::string> other_words(std::string_view target, const Glossary& glossary) {
    std::vector<std::string> out;
    const auto add_entry = [&](std::string_view id) {
        const GlossaryEntry* e = id.empty() ? nullptr : glossary.find(id);
        if (e == nullptr) return;
        for (std::string& name : names_in(*e)) out.push_back(std::move(name));
    };
    if (const PaletteWords* w = words_for(target)) {
        for (const std::string_view name : split_words(w->words, ",")) out.push_back(plain(name));
        add_entry(w->glossary);
    }
    if (target.starts_with(kGlossaryCommand)) add_entry(target.substr(kGlossaryCommand.size()));
    return out;
}

// Returns how well the label, a name before it and other words are meant; 0 where they are not. An equal
// other word counts more than a label that goes on after the typed text, else a label counts more.
int score_of(const Typed& typed, const std::string& label, const std::string& before,
             const std::vector<std::string>& others) {
    const Fit of_label = fit_of(typed, label);
    const auto more = [](Fit fit, int by) { return fit >= Fit::each_word ? points(fit) + by : points(fit); };
    int best = more(of_label, 5);
    std::string everything = before + " " + label;
    if (!before.empty()) best = std::max(best, more(fit_of(typed, everything), 3));
    for (const std::string& other : others) {
        everything += " " + other;
        const Fit f = fit_of(typed, other);
        if (f == Fit::equal)
            best = std::max(best, points(f) + 4);
        else if (f >= Fit::each_word)
            best = std::max(best, points(f) - 5);
    }
    const bool each =
        std::ranges::all_of(typed.words, [&](std::string_view w) { return begins_a_word(w, everything); });
    return each ? std::max(best, kByWords + 2) : best;
}

// ---- fields and their values ----------------------------------------------------------------------------

// Returns the pointer without its slashes and its group: "global batch", "offload optimizer".
std::string tail_of(std::string_view pointer) {
    const auto group = pointer.find('/', 1);
    return group == std::string_view::npos ? std::string() : plain(pointer.substr(group));
}

bool is_of_scene(std::string_view pointer) {
    return pointer.starts_with("/scene/");
}

std::string nodes_text(const Plan& plan) {
    const Cluster& c = plan.cluster;
    if (c.tiers.size() < 2 || c.tiers.front().domain < 1) return {};
    return std::to_string((c.gpus + c.tiers.front().domain - 1) / c.tiers.front().domain);
}

// Returns the fields of a plan, and the two names that set GPUs in other words.
std::vector<PlanField> fields_to_find(const Plan& plan, const Presets& presets) {
    std::vector<PlanField> out;
    for (PlanField& f : list_plan_fields(plan, presets))
        if (!is_of_scene(f.pointer)) out.push_back(std::move(f));
    const auto add = [&](std::string_view pointer, std::string value) {
        if (value.empty()) return;
        PlanField f;
        f.pointer = f.label = f.name = pointer;
        f.topic = FieldTopic::cluster;
        f.kind = PlanField::Kind::whole;
        f.least = 1;
        f.most = 1e6;
        f.value = std::move(value);
        out.push_back(std::move(f));
    };
    const std::string nodes = nodes_text(plan);
    add(kNodes, nodes);
    if (!nodes.empty()) add(kGpusPerNode, std::to_string(plan.cluster.tiers.front().domain));
    return out;
}

std::optional<Axis> axis_of_field(std::string_view pointer) {
    constexpr std::string_view kLayout = "/layout/";
    return pointer.starts_with(kLayout) ? parse_name<Axis>(pointer.substr(kLayout.size())) : std::nullopt;
}

// Returns values that a field may get: all of them where they are few; of a count the next ones.
std::vector<std::string> values_of(const Plan& plan, const PlanField& f) {
    constexpr double kFew = 8;
    if (f.kind == PlanField::Kind::flag || f.kind == PlanField::Kind::group) return {"off", "on"};
    if (f.kind == PlanField::Kind::choice) return f.choices;
    std::vector<std::string> out;
    if (const auto axis = axis_of_field(f.pointer)) {
        for (const std::int64_t n : legal_factors(plan, *axis)) out.push_back(std::to_string(n));
        return out;
    }
    if (f.kind != PlanField::Kind::whole) return {};
    if (f.most - f.least <= kFew) {
        for (auto n = static_cast<std::int64_t>(f.least); n <= static_cast<std::int64_t>(f.most); ++n)
            out.push_back(std::to_string(n));
        return out;
    }
    const std::int64_t now = parse_whole(f.value).value_or(0);
    if (now < 1) return {};
    for (const std::int64_t n : {now % 4 == 0 ? now / 4 : 0, now % 2 == 0 ? now / 2 : 0, now,
                                 saturating_product(now, 2), saturating_product(now, 4)})
        if (n >= 1 && number(n) >= f.least && number(n) <= f.most) out.push_back(std::to_string(n));
    return out;
}

bool says_nothing(const PlanField& f) {
    return f.value.empty() || f.value == "none" || f.value == "0" || f.value.starts_with("0 ");
}

// Returns "now 450 GB/s"; nothing where the value is long.
std::string now_words(const PlanField& f) {
    constexpr std::size_t kLong = 24;
    std::string now = says_nothing(f) && !f.unset.empty() ? f.unset : f.value;
    if (f.kind == PlanField::Kind::choice) now = choice_words(f, f.value);
    return now.empty() || now.size() > kLong ? "" : "now " + now;
}

// Returns the field that people call so: by its key, with or without its group, its name on the sheet, or
// other words for it. Those of the layout, the training and the cluster come first.
const PlanField* field_called(const std::vector<PlanField>& fields, std::string_view name) {
    const std::string asked = plain(name);
    const auto find = [&](const auto& is_meant) -> const PlanField* {
        for (const std::string_view group : {"/layout/", "/training/", "/cluster/", ""})
            for (const PlanField& f : fields)
                if (f.pointer.starts_with(group) && is_meant(f)) return &f;
        return nullptr;
    };
    if (const auto* f = find([&](const PlanField& x) {
            return plain(x.pointer) == asked || tail_of(x.pointer) == asked || plain(x.name) == asked;
        }))
        return f;
    return find([&](const PlanField& x) {
        const PaletteWords* w = words_for(x.pointer);
        return w != nullptr && std::ranges::any_of(split_words(w->words, ","), [&](std::string_view word) {
                   return plain(word) == asked;
               });
    });
}

std::int64_t whole_from_1(std::string_view name, std::string_view text) {
    const std::optional<double> n = parse_double(text);
    if (!n || *n != std::floor(*n) || !(*n >= 1 && *n < 1e9))
        throw Error(ErrorKind::usage, "", "",
                    std::string(name) + " " + std::string(text) + ": is a whole number from 1 on");
    return static_cast<std::int64_t>(*n);
}

// Sets one field and nothing that follows from it.
Plan with_only(const Plan& plan, const std::string& pointer, const std::string& value,
               const Presets& presets) {
    if (pointer == "/model") return with_model(plan, presets.model(value), value);
    if (pointer == "/cluster") return with_cluster(plan, presets.cluster(value), value);
    if (pointer == kGpusPerNode) return with_gpus_per_node(plan, whole_from_1(kGpusPerNode, value));
    if (pointer == kNodes) {
        const std::int64_t gpus =
            saturating_product(whole_from_1(kNodes, value), plan.cluster.tiers.front().domain);
        return with_field(plan, "/cluster/gpus", std::to_string(gpus), presets);
    }
    if (const auto axis = axis_of_field(pointer))
        return with_field(plan, pointer, std::to_string(whole_from_1(name_of(*axis), value)), presets);
    if (pointer == "/cluster/gpus")
        return with_field(plan, pointer, std::to_string(whole_from_1("gpus", value)), presets);
    return with_field(plan, pointer, value, presets);
}

// Sets all fields, then what follows from all of them. Nodes are counted in their new size.
Plan with_values(const Plan& plan, std::vector<std::pair<std::string, std::string>> set,
                 const Presets& presets) {
    std::stable_partition(set.begin(), set.end(), [](const auto& s) { return s.first == kGpusPerNode; });
    Plan out = plan;
    std::vector<std::string> pointers;
    for (const auto& [pointer, value] : set) {
        out = with_only(out, pointer, value, presets);
        pointers.push_back(pointer);
    }
    return follow(plan, out, pointers).plan;
}

}  // namespace

Plan with_value(const Plan& plan, std::string_view pointer, std::string_view value, const Presets& presets) {
    return with_values(plan, {{std::string(pointer), std::string(value)}}, presets);
}

// ---- what is typed as an edit ---------------------------------------------------------------------------

namespace {

std::string in_small_letters(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string words_joined(const std::vector<std::string_view>& words, std::size_t from, std::size_t n) {
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(from);
    return join(std::vector<std::string_view>(at, at + static_cast<std::ptrdiff_t>(n)), " ");
}

// Returns the field whose name begins at that word, the longest name first, and how many words that has.
std::pair<const PlanField*, std::size_t>
field_at(const std::vector<PlanField>& fields, const std::vector<std::string_view>& words, std::size_t from) {
    constexpr std::size_t kMostWords = 5;
    for (std::size_t n = std::min(kMostWords, words.size() - from); n > 0; --n)
        if (const PlanField* f = field_called(fields, words_joined(words, from, n))) return {f, n};
    return {nullptr, 0};
}

// A field with its value, as it is typed from one word on.
struct TypedValue {
    const PlanField* field = nullptr;  // null: no field is typed there
    std::string name, value;
    std::size_t end = 0;  // the word behind it
};

// Reads "tp 4", "8 per node" or, behind a number of nodes, "of 8".
TypedValue value_at(const std::vector<PlanField>& fields, const std::vector<std::string_view>& words,
                    std::size_t from, bool behind_nodes) {
    const auto is_number = [&](std::size_t i) { return i < words.size() && parse_double(words[i]); };
    TypedValue out;
    std::size_t at = from, n = 1;  // of the name
    if (behind_nodes && words[from] == "of" && is_number(from + 1))
        out.field = field_called(fields, kGpusPerNode);
    else if (is_number(from))
        std::tie(out.field, n) = field_at(fields, words, at = from + 1);
    else
        std::tie(out.field, n) = field_at(fields, words, from);
    if (at > from && out.field != nullptr && words[at + n - 1] == "of")  // "64 nodes of 8"
        out.field = field_called(fields, words_joined(words, at, --n));
    const std::size_t value = at > from ? from : from + n;
    const bool can = out.field != nullptr && out.field->kind != PlanField::Kind::group
                     && out.field->kind != PlanField::Kind::text && value < words.size();
    if (!can) return {};
    out.name = words_joined(words, at, n), out.value = words[value];
    out.end = std::max(at + n, value + 1);
    // A unit may follow: "nvlink 450 GB/s".
    const bool has_unit = out.field->kind == PlanField::Kind::number && at == from && out.end < words.size()
                          && !is_number(out.end) && field_at(fields, words, out.end).first == nullptr;
    if (has_unit) out.value += " " + std::string(words[out.end++]);
    if (out.field->kind == PlanField::Kind::choice || out.field->kind == PlanField::Kind::flag)
        out.value = in_small_letters(out.value);
    return out;
}

}  // namespace

std::optional<TypedEdits> typed_edits(const Plan& plan, std::string_view text, const Presets& presets) {
    const std::vector<std::string_view> words = split_words(text, " ,=");
    if (words.size() < 2) return std::nullopt;
    const std::vector<PlanField> fields = fields_to_find(plan, presets);
    TypedEdits out{{}, {}, plan};
    bool only_numbers = true;  // words that are no numbers may be those of a command: "order of Megatron"
    std::vector<std::pair<std::string, std::string>> set;
    try {
        for (std::size_t i = 0; i < words.size();) {
            const bool behind_nodes = !set.empty() && set.back().first == kNodes;
            TypedValue typed = value_at(fields, words, i, behind_nodes);
            if (typed.field == nullptr) return std::nullopt;
            only_numbers =
                only_numbers && parse_double(typed.value.substr(0, typed.value.find(' '))).has_value();
            i = typed.end;
            out.words += (out.words.empty() ? "" : ", ") + typed.name + " " + typed.value;
            set.emplace_back(typed.field->pointer, std::move(typed.value));
        }
        out.plan = with_values(plan, set, presets);
    } catch (const Error& e) {
        if (!only_numbers) return std::nullopt;
        out.refused = e.message();
        out.plan = plan;
        out.words = std::string(text);
    }
    return out;
}

// ---- what is found --------------------------------------------------------------------------------------

namespace {

// Returns the text without words that name nothing: "set tp to 4 and pp to 2" is "tp 4 pp 2".
std::string without_little_words(std::string_view text) {
    constexpr std::array<std::string_view, 14> kLittle{"a",  "an",  "the",  "my",   "this", "to",     "of",
                                                       "in", "for", "from", "with", "and",  "please", "set"};
    std::vector<std::string_view> kept;
    for (const std::string_view word : split_words(text, " "))
        if (std::ranges::find(kLittle, in_small_letters(word)) == kLittle.end()) kept.push_back(word);
    return join(kept, " ");
}

class PaletteSearch {
  public:
    PaletteSearch(const PaletteSource& source, std::string_view text) : source_(source), text_(text) {
        typed_.all = plain(text);
        typed_.words = split_words(typed_.all, " ");
    }
    std::vector<PaletteRow> rows() {
        if (typed_.words.empty()) return all_commands();
        fields_ = fields_to_find(source_.plan, source_.presets);
        add_commands();
        add_fields();
        add_presets(PresetKind::model, "/model");
        add_presets(PresetKind::cluster, "/cluster");
        std::ranges::stable_sort(found_, [](const Found& a, const Found& b) { return a.score > b.score; });
        drop_worse();
        list_values_of_best();
        std::vector<PaletteRow> out = typed_rows();
        for (Found& f : found_) out.push_back(std::move(f.row));
        return out;
    }

  private:
    struct Found {
        int score;
        PaletteRow row;
    };
    const PaletteSource& source_;
    std::string_view text_;
    Typed typed_;
    std::vector<PlanField> fields_;
    std::vector<Found> found_;

    [[nodiscard]] PaletteRow row_of(std::size_t command) const {
        const PaletteCommand& c = source_.commands[command];
        PaletteRow row{.label = (c.menu.empty() ? "" : c.menu + ": ") + c.label, .right = c.chord};
        row.enabled = c.enabled;
        row.command = command;
        return row;
    }
    [[nodiscard]] std::vector<PaletteRow> all_commands() const {
        std::vector<PaletteRow> out;
        for (std::size_t i = 0; i < source_.commands.size(); ++i) out.push_back(row_of(i));
        return out;
    }
    void add(int score, PaletteRow row) {
        if (score > 0) found_.push_back({score, std::move(row)});
    }

    void add_commands() {
        for (std::size_t i = 0; i < source_.commands.size(); ++i) {
            const PaletteCommand& c = source_.commands[i];
            std::vector<std::string> others = other_words(c.id, source_.glossary);
            int score = score_of(typed_, plain(c.label), plain(c.menu), others);
            if (score == 0 && !c.chord.empty() && fit_of(typed_, plain(c.chord)) >= Fit::each_word)
                score = kByWords;
            // A word's meaning comes after what has that name itself.
            if (c.id.starts_with(kGlossaryCommand) && score > kComesLater) score -= kComesLater;
            add(score, row_of(i));
        }
    }

    [[nodiscard]] PaletteRow value_row(const PlanField& f, const std::string& value) const {
        const std::string words = f.kind == PlanField::Kind::choice ? choice_words(f, value) : value;
        PaletteRow row{.does = PaletteRow::Does::value, .label = "Set " + f.name + ": " + words};
        row.checked = source_.shows_values && value == f.value;
        row.field = f.pointer, row.value = value;
        row.topic = f.topic;
        return row;
    }
    void add_fields() {
        for (const PlanField& f : fields_) {
            std::vector<std::string> others = other_words(f.pointer, source_.glossary);
            others.push_back(tail_of(f.pointer));
            others.push_back(plain(f.pointer));
            PaletteRow row{.does = PaletteRow::Does::field, .label = "Field: " + f.name};
            if (source_.shows_values) row.right = now_words(f);
            row.field = f.pointer, row.topic = f.topic;
            if (f.kind == PlanField::Kind::group) add_words_inside(f.pointer, others);
            int score = score_of(typed_, plain(f.name), "field", others);
            if (is_constant(f.pointer) && score > kComesLater) score -= kComesLater;
            add(score, std::move(row));
            if (f.kind == PlanField::Kind::choice) add_choices(f, others);
        }
    }
    // A group that a plan does not have is found by the words for its fields: "number of experts" in a dense
    // model.
    void add_words_inside(const std::string& group, std::vector<std::string>& others) const {
        for (const PaletteWords& w : palette_words()) {
            if (!w.target.starts_with(group + "/")) continue;
            if (std::ranges::find(fields_, w.target, &PlanField::pointer) != fields_.end()) continue;
            for (const std::string_view name : split_words(w.words, ",")) others.push_back(plain(name));
        }
    }
    // A choice is also found by its own name, or by the field's and its own.
    void add_choices(const PlanField& f, const std::vector<std::string>& others) {
        std::string around = plain(f.name);
        for (const std::string& other : others) around += " " + other;
        for (const std::string& choice : f.choices) {
            const std::string own = plain(choice + " " + choice_words(f, choice));
            const auto begins = [&](std::string_view w) { return begins_a_word(w, own); };
            if (std::ranges::none_of(typed_.words, begins)) continue;
            const bool each = std::ranges::all_of(
                typed_.words, [&](std::string_view w) { return begins(w) || begins_a_word(w, around); });
            const Fit fit = std::max(fit_of(typed_, plain(choice)), fit_of(typed_, own));
            const int score = fit >= Fit::each_word ? points(fit) - 8 : each ? kByWords + 1 : 0;
            add(score, value_row(f, choice));
        }
    }
    void add_presets(PresetKind kind, std::string_view pointer) {
        const bool model = kind == PresetKind::model;
        const std::string before = model ? "model" : "cluster";
        const PresetMenu menu = preset_menu(source_.presets, kind, "");  // in its order
        for (const Presets::Entry* entry : menu.entry) {
            const Presets::Entry& e = *entry;
            PaletteRow row{.does = PaletteRow::Does::value,
                           .label = (model ? "Model: " : "Cluster: ") + (e.name.empty() ? e.id : e.name)};
            row.enabled = e.broken.empty();
            row.field = pointer, row.value = e.id;
            const std::vector<std::string> others{plain(e.id)};
            add(score_of(typed_, plain(e.name), before, others), std::move(row));
        }
    }

    // If something fits by its words, nothing is shown that merely holds the letters.
    void drop_worse() {
        const int best = found_.empty() ? 0 : found_.front().score;
        const int least = best >= kByWords - 8 ? kByWords - 8 : best >= kInside ? kInside : 0;
        std::erase_if(found_, [&](const Found& f) { return f.score < least; });
    }

    // The field that fits best is followed by its values.
    void list_values_of_best() {
        if (found_.empty() || found_.front().row.does != PaletteRow::Does::field) return;
        const std::string pointer = found_.front().row.field;
        const auto f = std::ranges::find(fields_, pointer, &PlanField::pointer);
        const std::vector<std::string> values = values_of(source_.plan, *f);
        std::erase_if(found_, [&](const Found& x) {
            return x.row.does == PaletteRow::Does::value && x.row.field == pointer;
        });
        if (f->kind == PlanField::Kind::number || (values.empty() && f->kind == PlanField::Kind::whole))
            found_.front().row.detail = "type a value behind it, as in "
                                        + std::string(pentamesh::trimmed(text_)) + " "
                                        + (!source_.shows_values || says_nothing(*f) ? "1" : f->value);
        std::vector<Found> rows;
        for (const std::string& value : values) rows.push_back({found_.front().score, value_row(*f, value)});
        found_.insert(found_.begin() + 1, std::make_move_iterator(rows.begin()),
                      std::make_move_iterator(rows.end()));
    }

    // Returns rows for a rank, or for names with values.
    [[nodiscard]] std::vector<PaletteRow> typed_rows() const {
        std::vector<PaletteRow> out;
        if (typed_.words.size() == 2 && (typed_.words[0] == "rank" || typed_.words[0] == "gpu")) {
            const auto rank = parse_whole(typed_.words[1]);
            const std::int64_t last = source_.plan.cluster.gpus - 1;
            if (rank) {
                PaletteRow row{.does = PaletteRow::Does::rank, .label = "Select rank " + with_commas(*rank)};
                row.enabled = *rank >= 0 && *rank <= last;
                row.rank = *rank;
                if (!row.enabled) row.detail = "ranks are 0 to " + with_commas(last);
                out.push_back(std::move(row));
            }
        }
        std::string text(pentamesh::trimmed(text_));
        auto edits = typed_edits(source_.plan, text, source_.presets);
        if (!edits && text.find(' ') == std::string::npos) {  // "zero-3", "zero3"
            std::ranges::replace(text, '-', ' ');
            const std::size_t digit = text.find_first_of("0123456789");
            if (digit != std::string::npos && digit > 0
                && text.find_first_not_of("0123456789", digit) == std::string::npos && text[digit - 1] != ' ')
                text.insert(digit, " ");
            edits = typed_edits(source_.plan, text, source_.presets);
        }
        if (!edits) return out;
        const bool can = edits->refused.empty();
        PaletteRow row{.does = PaletteRow::Does::typed, .label = "Set " + text};
        row.detail = can ? edits->words + ", in this plan" : edits->refused;
        row.enabled = can;
        row.value = text;
        out.push_back(std::move(row));
        return out;
    }
};

}  // namespace

std::vector<PaletteRow> find_in_palette(const PaletteSource& source, std::string_view typed) {
    std::vector<PaletteRow> rows = PaletteSearch(source, typed).rows();
    if (!rows.empty()) return rows;
    const std::string fewer = without_little_words(typed);
    return fewer.empty() || fewer == typed ? rows : PaletteSearch(source, fewer).rows();
}

}  // namespace pentamesh::ui
