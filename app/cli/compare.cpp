// `compare` sets plans side by side and says why one is faster.
#include "app/tables/compare.h"
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/compare/view.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace pentamesh::cli {
namespace {

struct CompareOptions {
    std::vector<std::string> plans, sets;
    Forms forms;
    std::string file;
    bool light = false;
};

Json json_of_comparison(const PlanComparison& c) {
    Json fields = Json::array(), figures = Json::array(), why = Json::array(), path = Json::array();
    for (const FieldDifference& f : c.fields) {
        Json values = Json::array();
        for (const std::string& v : f.values) values.push_back(Json::parse(v));
        fields.push_back({{"pointer", f.pointer}, {"values", std::move(values)}});
    }
    for (const FigureRow& f : c.figures) {
        Json values = Json::array();
        const bool bytes = f.unit == FigureRow::Unit::bytes;
        for (const auto& v : f.values) values.push_back(!v ? Json(nullptr) : bytes ? whole(*v) : Json(*v));
        const auto better = f.better();
        figures.push_back({{"key", f.key},
                           {"name", f.name},
                           {"unit", bytes ? "bytes" : unit_words(f)},
                           {"values", std::move(values)},
                           {"better", better ? Json(*better) : Json(nullptr)}});
    }
    for (const PartRow& p : c.why)
        why.push_back(
            {{"part", p.part}, {"values_s", p.values_s}, {"delta_s", p.delta_s}, {"because", p.because}});
    for (const PathEdit& e : c.path) {
        Json& out = path.emplace_back(Json{{"edit", e.edit},
                                           {"pointers", e.pointers},
                                           {"step_s", e.step_s},
                                           {"tokens_per_s", e.tokens_per_s},
                                           {"memory_bytes", whole(e.memory_bytes)}});
        put_fit(out, e.fit);
    }
    Json memory = Json::array();  // by plan
    for (const std::optional<MemoryFit> fit : c.fit) put_fit(memory.emplace_back(Json::object()), fit);
    return {{"plans", c.plans},
            {"memory", std::move(memory)},
            {"fields", std::move(fields)},
            {"figures", std::move(figures)},
            {"why", std::move(why)},
            {"path", std::move(path)}};
}

// Says which plan is the fastest, and of two plans why.
std::string headline(const PlanComparison& c, const std::vector<Evaluation>& evaluations) {
    if (evaluations.size() == 2) return ui::why_words(evaluations[0], evaluations[1], c.why);
    for (const FigureRow& f : c.figures)
        if (const auto best = f.better(); f.key == "step.tokens_per_s" && best)
            return plan_letter(*best) + " trains most: " + whole_text(std::round(*f.values[*best]))
                   + " tokens/s.";
    return {};
}

Document comparison_document(const PlanComparison& c, const std::vector<Evaluation>& evaluations) {
    Section names{"", {}, {}};
    if (const std::string words = headline(c, evaluations); !words.empty()) names.lines.push_back(words);
    for (std::size_t i = 0; i < c.plans.size(); ++i)
        names.lines.push_back(plan_letter(i) + ": " + ui::full_title(c, i)
                              + (c.fit[i] ? "; it " + std::string(name_of(*c.fit[i])) + "." : ""));
    Section fields{"What differs", {}, fields_table(c)};
    if (c.fields.empty()) fields.lines.emplace_back("Nothing.");
    Section why{"Why: the parts of the step", {}, brief_why_table(c)};
    if (c.why.empty()) why.lines.emplace_back("—: not every plan has a step.");
    std::vector<Section> sections{
        std::move(names), std::move(fields), {"The figures", {}, worded_figures_table(c)}, std::move(why)};
    if (c.plans.size() == 2) {
        Section path{"From A to B, the edit that gains most first", {}, path_table(c)};
        if (c.path.empty())
            path.lines.emplace_back(c.fields.empty() ? "No edit is needed." : "—: B has no step.");
        sections.push_back(std::move(path));
    }
    return {"Plans compared", std::move(sections)};
}

// Draws the view Compare: the first plan is A, the second takes the open plan's place as B.
void draw_comparison(const Context& context, const CompareOptions& options, std::vector<Plan> plans) {
    ui::PictureRequest request;
    request.view = "compare";
    request.size.y = 0;  // as high as the plans take
    request.theme = options.light ? ui::ThemeId::light : ui::ThemeId::dark;
    const Plan b = plans[1];
    plans.erase(plans.begin() + 1);
    request.compared = std::move(plans);
    std::string ending = std::filesystem::path(options.file).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    write_output(options.file,
                 ui::make_picture(context.presets, b, request, ending, find_fonts(context.data_folder)));
}

// Endings that are none of a text's are a picture's, which says which ones it knows.
bool is_picture(const std::string& file) {
    static constexpr std::array<std::string_view, 5> kTexts{"", ".txt", ".md", ".csv", ".json"};
    const std::string ending = std::filesystem::path(file).extension().string();
    return !file.empty() && std::find(kTexts.begin(), kTexts.end(), ending) == kTexts.end();
}

int compare_plans(const Context& context, const CompareOptions& options) {
    std::vector<Plan> plans;
    std::vector<Evaluation> evaluations;
    int status = 0;
    for (const std::string& name : options.plans) {
        plans.push_back(load_plan(context, {name, options.sets}));
        evaluations.push_back(assess(plans.back()));
        if (const int one = status_of(evaluations.back()); one != 0) status = one;
    }
    const Forms& forms = options.forms;
    if (is_picture(options.file)) {
        draw_comparison(context, options, plans);
        if (!context.json && !forms.csv && !forms.markdown) return status;
    }
    const PlanComparison c = compare(plans, evaluations);
    std::optional<KeptOutput> kept;
    if (!options.file.empty() && options.file != "-" && !is_picture(options.file)) kept.emplace();
    const auto json = [&] {
        Json out = json_of_comparison(c);
        out["valid"] = status == 0;
        return out;
    };
    print_form(
        context, forms, json, [&] { return comparison_table(c); },
        [&] { return comparison_document(c, evaluations); });
    if (kept) write_output(options.file, kept->text());
    return status;
}

}  // namespace

void add_compare(Options& app, Context& context) {
    auto& options = run_with(app, context, compare_plans);
    app.add_option("PLAN", options.plans, "plan files or plan presets; the first is the base")
        .required()
        .count(2, static_cast<int>(kMostCompared));
    add_sets(app, options.sets);
    add_form_flags(app, context, options.forms);
    app.add_option(
           "-o,--output", options.file,
           "write to this file, .txt, .md, .csv or .json; a picture of the view Compare: .png, .svg or .pdf")
        .type_name("FILE");
    app.add_flag("--light", options.light, "the picture on white, for print");
}

}  // namespace pentamesh::cli
