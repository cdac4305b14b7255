#include "core/teach/lesson_answers.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/teach/glossary.h"
#include "core/teach/lesson_queries.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char small(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Returns the place of `word` in `text` from `from` on as whole words, in any case, or npos.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
    if (word.empty()) return std::string_view::npos;
    const auto joined = [](char a, char b) {
        return (is_letter(a) || is_digit(a)) && (is_letter(b) || is_digit(b));
    };
    for (std::size_t i = from; i + word.size() <= text.size(); ++i) {
        bool same = true;
        for (std::size_t k = 0; same && k < word.size(); ++k) same = small(text[i + k]) == small(word[k]);
        if (!same || (i > 0 && joined(text[i - 1], text[i]))) continue;
        const std::size_t end = i + word.size();
        if (end < text.size() && joined(text[end - 1], text[end])) continue;
        return i;
    }
    return std::string_view::npos;
}

// Holds a number in a text, and the word after it.
struct Number {
    std::size_t begin = 0, end = 0;
    std::string_view digits, unit;
    [[nodiscard]] int significant() const {
        int n = 0;
        for (const char c : digits) n += is_digit(c) && (n > 0 || c != '0');
        return n;
    }
};
std::optional<Number> next_number(std::string_view text, std::size_t from) {
    for (std::size_t i = from; i < text.size(); ++i) {
        if (!is_digit(text[i])) continue;
        if (i > 0 && (is_letter(text[i - 1]) || is_digit(text[i - 1]) || text[i - 1] == '_')) continue;
        std::size_t end = i;
        while (end < text.size() && (is_digit(text[end]) || text[end] == ',' || text[end] == '.')) ++end;
        while (!is_digit(text[end - 1])) --end;
        std::size_t unit = end;
        while (unit < text.size() && text[unit] == ' ') ++unit;
        std::size_t behind = unit;
        while (behind < text.size()
               && (is_letter(text[behind]) || text[behind] == '%' || text[behind] == '/'
                   || static_cast<unsigned char>(text[behind]) >= 0x80))
            ++behind;
        return Number{i, end, text.substr(i, end - i), text.substr(unit, behind - unit)};
    }
    return std::nullopt;
}

// Bytes, seconds and rates match in any prefix; other units match only themselves.
bool same_kind(std::string_view a, std::string_view b) {
    if (a == b) return true;
    const bool rate_a = a.ends_with("/s"), rate_b = b.ends_with("/s");
    if (rate_a != rate_b) return false;
    if (rate_a) a.remove_suffix(2), b.remove_suffix(2);
    if (a.ends_with('B') && b.ends_with('B')) return true;
    static constexpr std::array<std::string_view, 3> kSeconds{"s", "ms", "µs"};
    const auto time = [](std::string_view u) {
        return std::find(kSeconds.begin(), kSeconds.end(), u) != kSeconds.end();
    };
    return time(a) && time(b);
}

bool is_figure(const Number& n, const HiddenAnswer::Figure& f) {
    if (!f.unit.empty() && !same_kind(n.unit, f.unit) && n.significant() < 3) return false;
    std::string guess(n.digits);
    static constexpr std::string_view kPrefixes = "kKMGT";
    const bool prefix = n.unit.size() == 1 && kPrefixes.find(n.unit[0]) != std::string_view::npos;
    if ((!f.unit.empty() && same_kind(n.unit, f.unit)) || (f.unit.empty() && prefix)) guess += n.unit;
    if (f.unit.empty() && !prefix && n.significant() < 3) return false;
    // With another unit or no unit it counts where it is the very figure, as in a table whose head has the
    // unit.
    const bool loose = f.unit.empty() || same_kind(n.unit, f.unit);
    const double share = loose ? std::max(f.tolerance, 0.005) : 0.005;
    const std::vector<double> readings = guesses_of(guess, f.unit);
    return std::any_of(readings.begin(), readings.end(), [&](double value) {
        return std::abs(value - f.value) <= share * std::abs(f.value) + 1e-9;
    });
}

// Returns true for the number itself, next to any word.
bool is_count(const Number& n, const HiddenAnswer::Figure& f) {
    const std::optional<double> value = parse_guess(n.digits);
    return value && std::abs(*value - f.value) <= 1e-9 * std::abs(f.value);
}

// "± 5 %" says how far off a figure may be, and is no figure.
bool is_range(std::string_view text, const Number& n) {
    std::size_t end = n.begin;
    while (end > 0 && text[end - 1] == ' ') --end;
    return text.substr(0, end).ends_with("±");
}

bool beside(std::string_view text, const Number& n, const std::vector<std::string>& nouns) {
    static constexpr std::string_view kBetween = " =:·-";
    for (const std::string& noun : nouns) {
        std::size_t at = n.end;
        while (at < text.size() && (text[at] == ' ' || text[at] == '-')) ++at;
        if (find_word(text.substr(at), noun) == 0) return true;
        std::size_t before = n.begin;
        while (before > 0 && kBetween.find(text[before - 1]) != std::string_view::npos) --before;
        if (before < n.begin && before >= noun.size()
            && find_word(text.substr(0, before), noun, before - noun.size()) == before - noun.size())
            return true;
    }
    return false;
}

// Returns true if the number stands in one of these texts.
bool is_of(std::string_view text, const Number& n, const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& one) {
        for (std::size_t at = text.find(one); at != std::string_view::npos; at = text.find(one, at + 1))
            if (at <= n.begin && n.end <= at + one.size()) return true;
        return false;
    });
}

bool is_bare(std::string_view text) {
    return !text.empty() && is_digit(text[0])
           && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

bool is_ratio(std::string_view text) {
    const std::size_t of = text.find(" of ");
    return of != std::string_view::npos && is_bare(text.substr(0, of)) && is_bare(text.substr(of + 4));
}

constexpr std::array<MapRowId, 8> kHiddenRows{MapRowId::dp,  MapRowId::zero, MapRowId::tp, MapRowId::sp,
                                              MapRowId::etp, MapRowId::pp,   MapRowId::cp, MapRowId::ep};

void hide_field(HiddenAnswer& hidden, std::string_view field) {
    for (const MapRowId row : kHiddenRows)
        if (const std::string_view said = map_field(words_of(row), field); !said.empty())
            hidden.phrases.emplace_back(said);
}

template <std::size_t N>
void add_words(std::vector<std::string>& to, const std::array<std::string_view, N>& words) {
    for (const std::string_view word : words)
        if (!word.empty()) to.emplace_back(word);
}

bool covers(const Hides& hides, std::string_view view) {
    return !view.empty()  // a step without a view shows what is there
           && std::find(hides.covered.begin(), hides.covered.end(), view) != hides.covered.end();
}

// GPUs and the sizes of groups are what a count is worked out from.
void show_stated(HiddenAnswer& hidden, const Plan& plan, const Evaluation& e, const Answer& answer) {
    std::vector<std::int64_t> said{plan.cluster.gpus, e.mesh.world};
    for (const GroupKind kind : all_of<GroupKind>()) said.push_back(e.groups[kind].degree);
    for (const std::int64_t n : said)
        if (n > 1 && std::abs(static_cast<double>(n) - answer.number) > 0.5) hidden.stated.push_back(n);
}

// For a question for the best of several: hides the figures that are compared, and advice, which may name the
// best.
void hide_options(HiddenAnswer& hidden, const Solution& solution, const Evaluation& e) {
    for (const Answer& a : solution.options)
        if (a.kind == Answer::Kind::number) hidden.others.push_back({a.number, 0, a.unit});
    for (const Problem& p : e.problems)
        if (p.severity == Severity::info) hidden.phrases.push_back(p.said());
}

}  // namespace

namespace query {

void hide_degree(HiddenAnswer& hidden, const QueryInput& in, const Answer& /*answer*/) {
    hidden.nouns = {std::string(name_of(in.arg.group)), "groups of", "group of", "copies", "ranks", "over"};
    hidden.bare_in_plan = true;
}

// A sentence that says where a group lies is hidden whole; elsewhere the names of wires are.
void hide_wires(HiddenAnswer& hidden, const QueryInput& in, const Answer& /*answer*/) {
    const Cluster& cluster = in.plan.cluster;
    for (const Tier& t : cluster.tiers) hidden.phrases.push_back(t.name);
    for (std::size_t i = 0; i < cluster.tiers.size(); ++i)
        hidden.phrases.emplace_back(tier_name(cluster, static_cast<int>(i)));
    for (const std::string_view word : {"spine", "rail"}) hidden.phrases.emplace_back(word);
    for (const std::string_view word : {"inside", "across", "cross", "crosses", "stay", "stays",
                                        "node to node", "pod to pod", "leave the node", "in the node"})
        hidden.lines.emplace_back(word);
}

void hide_talk(HiddenAnswer& hidden, const QueryInput& /*in*/, const Answer& /*answer*/) {
    for (const Collective c : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                               Collective::all_to_all, Collective::send_recv})
        hidden.phrases.emplace_back(words_of(c));
    hide_field(hidden, "says");
    for (const std::string_view word : {"send", "receive", "sends", "P2P", "AR", "AG", "RS", "A2A"})
        hidden.phrases.emplace_back(word);
}

void hide_column(HiddenAnswer& hidden, const QueryInput& in, const Answer& /*answer*/) {
    hide_field(hidden, std::string_view(in.arg.word).substr(0, in.arg.word.find(' ')));
}

void hide_problems(HiddenAnswer& hidden, const QueryInput& in, const Answer& /*answer*/) {
    for (const Problem& p : in.e.problems) hidden.phrases.push_back(p.said());
}

void hide_answer(HiddenAnswer& hidden, const QueryInput& /*in*/, const Answer& answer) {
    hidden.phrases.push_back(answer.text);
}

}  // namespace query

bool HiddenAnswer::hides() const {
    return covers || !covers_view.empty() || !phrases.empty() || !lines.empty() || !nouns.empty() || figure
           || !others.empty() || bare_in_view || bare_in_plan || ratios;
}

std::string HiddenAnswer::words(std::string_view given, Place place) const {
    if ((place == Place::plan ? bare_in_plan : bare_in_view) && is_bare(given))
        return std::find(stated.begin(), stated.end(), parse_guess(given)) != stated.end()
                   ? std::string(given)
                   : "?";
    if (ratios && is_ratio(given)) return "?";
    for (const std::string& line : lines)
        if (find_word(given, line) != std::string_view::npos) return "?";
    std::string text(given);
    for (const std::string& phrase : phrases)
        for (std::size_t at = find_word(text, phrase); at != std::string::npos;
             at = find_word(text, phrase, at))
            text.replace(at, phrase.size(), "?");
    if (!figure && others.empty() && nouns.empty()) return text;
    const auto of_options = [this](const Number& n) {
        return std::any_of(others.begin(), others.end(), [&](const Figure& f) { return is_figure(n, f); });
    };
    const auto answers = [this, &text](const Number& n) {
        if (!figure) return false;
        return is_figure(n, *figure) || (is_count(n, *figure) && (everywhere || beside(text, n, own)));
    };
    for (auto n = next_number(text, 0); n; n = next_number(text, n->end)) {
        const bool hidden = !is_range(text, *n) && !is_of(text, *n, scenery)
                            && (answers(*n) || of_options(*n) || beside(text, *n, nouns));
        if (!hidden) continue;
        const std::size_t begin = n->begin, size = n->end - n->begin;
        text.replace(begin, size, "?");
        n->end = begin + 1;
    }
    return text;
}

std::string HiddenAnswer::figures(std::string_view text) const {
    HiddenAnswer only;
    only.figure = figure;
    only.others = others;
    only.everywhere = everywhere;
    only.scenery = scenery;
    return only.words(text);
}

namespace {

// The memory of a GPU is a line in every picture of memory: it stays, unless it is the answer.
void show_capacity(HiddenAnswer& hidden, const Gpu& gpu, const Answer& answer) {
    const std::string memory = memory_text(gpu.hbm_bytes), decimal = bytes_text(gpu.hbm_bytes);
    for (const double capacity : guesses_of(memory, answer.unit))
        if (std::abs(capacity - answer.number) <= 0.01 * std::abs(answer.number)) return;
    hidden.scenery = {memory, decimal};
    if (!gpu.name.empty()) hidden.scenery.push_back(gpu.name);
}

}  // namespace

HiddenAnswer hidden_answer_of(const LessonStep& step, const Solution& solution, const Plan& plan,
                              const Evaluation& evaluation) {
    HiddenAnswer hidden;
    if (!step.question) return hidden;
    const LessonQuestion& question = *step.question;
    const bool by_option = question.compares_options();
    // The view Compare says which part differs, and by how much.
    hidden.covers = hidden.covers_figures = !step.scene.against.empty();
    if (by_option) hide_options(hidden, solution, evaluation);
    if (question.kind == QuestionKind::curve)
        for (std::size_t i = 0; i < solution.options.size(); ++i)
            if (static_cast<int>(i) != question.given)
                hidden.others.push_back({solution.options[i].number, 0, solution.options[i].unit});
    // In the view Communication units, times and the lengths of bars say which axis sends least as well as
    // its figure does.
    const auto of_traffic = [](const LessonQuestion::Option& o) { return o.value.starts_with("bytes "); };
    if (by_option && std::all_of(question.options.begin(), question.options.end(), of_traffic)) {
        if (step.scene.view != "comm") hidden.covers_view = "comm";
        for (const AxisTraffic& t : evaluation.comm.by_axis)
            for (const double time_s : {t.time_s, t.exposed_s})
                if (time_s > 0) hidden.others.push_back({time_s, 0, "s"});
    }
    // A rank is clicked in a mesh without colours; a change is asked of a number that the page may show.
    if (by_option || question.kind == QuestionKind::ranks || question.kind == QuestionKind::curve
        || question.rule == QuestionRule::change)
        return hidden;
    const AskedQuery asked = split_query(question.query);
    const Answer& answer = solution.answer;
    if (answer.kind == Answer::Kind::number)
        hidden.figure = HiddenAnswer::Figure{
            answer.number, question.kind == QuestionKind::number ? question.tolerance : 0, answer.unit};
    if (answer.kind == Answer::Kind::number && answer.unit.ends_with('B'))
        show_capacity(hidden, plan.cluster.gpu, answer);
    QueryArguments arg;
    const Query* query = find_query(asked.query, arg);
    if (!asked.sets.empty() || query == nullptr) return hidden;  // the page shows another plan
    const Hides& hides = query->hides;
    add_words(hidden.nouns, hides.nouns);
    add_words(hidden.own, hides.own);
    add_words(hidden.lines, hides.lines);
    hidden.everywhere = hides.everywhere;
    hidden.bare_in_view = hides.in_view;
    if (hides.more != nullptr) hides.more(hidden, {plan, evaluation, arg}, answer);
    // In those views bare numbers are names of ranks, and the last of them says how many there are.
    const std::string& view = step.scene.view;
    const bool of_ranks = view == "mesh" || view == "zoom";
    // In a layer they are ranks and lines of a program; its counters read "3 of 10".
    hidden.ratios = hidden.bare_in_view && view == "layer";
    if (of_ranks || hidden.ratios) hidden.bare_in_view = false;
    if (hidden.bare_in_view && !hidden.bare_in_plan) show_stated(hidden, plan, evaluation, answer);
    hidden.covers_figures = hidden.covers || covers(hides, "all");
    // The map says in every row, column and sentence what an axis is.
    hidden.covers = hidden.covers_figures || covers(hides, view);
    std::sort(hidden.phrases.begin(), hidden.phrases.end(),
              [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return hidden;
}

}  // namespace pentamesh
