#include "app/tables/constants.h"

#include "app/tables/memory.h"
#include "core/base/text.h"
#include "core/plan/software.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

namespace pentamesh {

Table constants_table(const std::vector<Constant>& constants) {
    static constexpr std::array<std::string_view, 7> kUnits{"share",  "s",   "bytes", "bytes/s",
                                                            "FLOP/s", "1 :", "on"};
    Table t;
    t.columns = {{"constant"}, {"value", Shown::figure}, {"unit"}, {"changed"}};
    for (const Constant& c : constants)
        t.rows.push_back(
            {c.name, c.value, kUnits[static_cast<std::size_t>(c.unit)], c.changed() ? "yes" : ""});
    return t;
}

namespace {

enum class FigureUnit : std::uint8_t { plain, bytes, factor, share, seconds };

struct FigureWords {
    std::string_view key, words;
    FigureUnit unit = FigureUnit::plain;
};
constexpr std::array<FigureWords, 29> kFigures{{
    {"loss_bytes", "bytes of a logit that live at once between head and loss"},
    {"loss_bytes_cut", "the same where tp cuts the vocabulary"},
    {"vocab_multiple", "the vocabulary is padded to a multiple of this times tp"},
    {"inputs_whole", "products keep their gathered input"},
    {"attention_copies", "tensors kept besides attention's output, as wide"},
    {"activation_apart", "the activation is kept beside its product"},
    {"selective_keeps", "kept under selective recomputation"},
    {"gradient_copy_bytes", "bytes of a 16-bit gradient beside the fp32 sum"},
    {"working_hidden", "16-bit hidden tensors that live at a layer's backward"},
    {"reserved", "reserved over allocated memory: low, middle, high", FigureUnit::factor},
    {"reserved_bytes", "reserved besides: low, middle, high", FigureUnit::bytes},
    {"context_bytes", "the driver's context and libraries: low, middle, high", FigureUnit::bytes},
    {"backward_layer", "gradients of a layer that runs again, over what is made again"},
    {"products", "rate of products, over Megatron's", FigureUnit::factor},
    {"grouped", "rate of the experts' grouped products, over Megatron's", FigureUnit::factor},
    {"attention", "rate of attention, over Megatron's", FigureUnit::factor},
    {"element_wise", "passes over memory of element-wise kernels, over fused ones", FigureUnit::factor},
    {"launches", "host time of launches, over Megatron's", FigureUnit::factor},
    {"graphs_layers", "of that, what CUDA graphs of each layer leave", FigureUnit::share},
    {"graphs_step", "of what a step takes besides, what a CUDA graph of an iteration leaves",
     FigureUnit::share},
    {"fp8_rowwise", "rate of fp8 products with a scale a row, over a scale a tensor", FigureUnit::factor},
    {"fp8_blockwise", "the same with scales of blocks of 128", FigureUnit::factor},
    {"fp8_mxfp8", "the same of MXFP8", FigureUnit::factor},
    {"tp_hidden", "share of what overlap of tp lets hide that does hide", FigureUnit::share},
    {"cp_hidden", "the same of cp", FigureUnit::share},
    {"dp_hidden", "the same of dp", FigureUnit::share},
    {"step_s", "once a step besides the GPU's", FigureUnit::seconds},
    {"ep_comm", "how tokens are exchanged where a plan does not say"},
    {"selective_share", "share of a layer's forward that selective recomputation repeats", FigureUnit::share},
}};

std::string figure_of(const nlohmann::json& value, FigureUnit unit) {
    if (value.is_array()) {
        const std::string out =
            join(value, ", ", [&](const nlohmann::json& v) { return figure_of(v, unit); });
        return out.empty() ? "all but the attention core" : out;
    }
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    const double x = value.get<double>();
    switch (unit) {
    case FigureUnit::bytes: return memory_text(x);
    case FigureUnit::factor: return three_digits(x) + " x";
    case FigureUnit::share: return percent_text(x);
    case FigureUnit::seconds: return time_text(x);
    case FigureUnit::plain: break;
    }
    return three_digits(x);
}

Cell figure_cell(const nlohmann::json& value, FigureUnit unit) {
    if (value.is_number() && unit == FigureUnit::plain) return value.get<double>();
    return figure_of(value, unit);
}

}  // namespace

Table software_table(Software software) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::plain}, {"key"}, {"known by"}, {"source"}};
    for (const SoftwareFacts::Figure& f : facts_of(software).figures) {
        FigureWords words{f.key, f.key};
        for (const FigureWords& known : kFigures)
            if (known.key == f.key) words = known;
        t.rows.push_back({words.words, figure_cell(nlohmann::json::parse(f.value), words.unit), f.key,
                          f.from != SoftwareFacts::Figure::From::source ? "fit" : "source", f.source});
    }
    return t;
}

namespace {

void put_nudge(Table& t, const Sensitivity& s, const SensitivityRow& row, const std::optional<Nudge>& n,
               bool moving_only) {
    if (!n || (moving_only && !n->valid())) return;
    Table::Row& out = t.rows.emplace_back();
    out = {name_of(row.kind), row.id, row.name, row.value, n->value};
    if (n->valid())
        out.insert(out.end(), {n->same_tokens_s - s.step_s, n->same_tokens_s / s.step_s - 1, n->step_s,
                               n->tokens_per_s, whole_cell(n->memory_bytes), fit_cell(n->fit), ""});
    else
        out.insert(out.end(), {"", "", "", "", "", "", n->refused});
}

}  // namespace

Table sensitivity_table(const Sensitivity& s, bool moving_only) {
    Table t;
    t.columns = {{"kind"},
                 {"id"},
                 {"name"},
                 {"from"},
                 {"to"},
                 {"change, same tokens", Shown::seconds, "delta_s"},
                 {"share", Shown::share},
                 {"step", Shown::seconds, "step_s"},
                 {"tokens/s", Shown::count, "tokens_per_s"},
                 {"fullest GPU", Shown::memory, "memory_bytes"},
                 {"fits"},
                 {"refused"}};
    std::vector<std::size_t> order(s.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (moving_only) order = s.by_reach();
    for (const std::size_t i : order) {
        put_nudge(t, s, s.rows[i], s.rows[i].down, moving_only);
        put_nudge(t, s, s.rows[i], s.rows[i].up, moving_only);
    }
    return t;
}

Table calibrated_runs_table(const Calibrated& made) {
    Table t;
    t.columns = {{"run"},
                 {"measured", Shown::seconds, "measured_s"},
                 {"before", Shown::seconds, "before_s"},
                 {"after", Shown::seconds, "after_s"},
                 {"off before", Shown::share, "error_before"},
                 {"off after", Shown::share, "error_after"},
                 {"off, fitted to the others", Shown::share, "error_left_out"},
                 {"better"}};
    for (const CalibratedRun& r : made.runs) {
        const auto off = [&](double ours) { return r.measured_s / ours - 1; };
        t.rows.push_back({r.id, r.measured_s, r.before_s, r.after_s, off(r.before_s), off(r.after_s),
                          off(r.left_out_s), r.better() ? "yes" : "no"});
    }
    return t;
}

Table calibrated_constants_table(const Calibrated& made) {
    Table t;
    t.columns = {{"constant"},
                 {"before", Shown::figure},
                 {"after", Shown::figure},
                 {"least", Shown::figure},
                 {"most", Shown::figure},
                 {"from"}};
    for (const CalibratedConstant& c : made.constants) {
        const bool edge = !c.measured && (c.after <= c.least || c.after >= c.most);
        t.rows.push_back({c.id, c.before, c.after, c.least, c.most,
                          c.measured ? "nccl-tests"
                          : edge     ? "the runs, at the edge of what a GPU does"
                                     : "the runs"});
    }
    return t;
}

std::vector<std::string> calibrated_lines(const Calibrated& made) {
    if (made.runs.empty()) return {};
    const auto better =
        std::count_if(made.runs.begin(), made.runs.end(), [](const CalibratedRun& r) { return r.better(); });
    std::vector<std::string> out{"Off in the median: " + percent_text(made.before) + " before, "
                                 + percent_text(made.after) + " after, " + percent_text(made.left_out)
                                 + " where a run is left out of the fit. Nearer: " + std::to_string(better)
                                 + " of " + std::to_string(made.runs.size()) + "."};
    if (made.left_out >= made.before)
        out.emplace_back(
            "On runs that it does not know it is no better than before: these runs do not say enough.");
    out.emplace_back("Off: measured over estimated time, less 1; above 0 the estimate is too fast.");
    return out;
}

}  // namespace pentamesh
