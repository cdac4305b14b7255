// `sweep` evaluates many variants of a plan: every combination of some values, or a list of points.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/table.h"
#include "core/base/json_reader.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/plan/problem.h"
#include "core/plan/title.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace pentamesh::cli {
namespace {

constexpr std::size_t kMostPoints = 200000;

struct SweepArguments {
    PlanArgument plan;
    std::vector<std::string> vary;
    std::string points;
    Forms forms;
};

// Fields and their values, in the order in which they are set: "layout.tp", 4.
using Point = std::vector<std::pair<std::string, nlohmann::json>>;

struct Swept {
    std::string reason;  // why there are no figures; empty: there are
    double step_s = 0, tokens_per_s = 0, mfu = 0, memory_bytes = 0;
    MemoryFit fit = MemoryFit::no;
};

// Reads "layout.tp=1,2,4" into the values of one field.
std::vector<std::pair<std::string, nlohmann::json>> values_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || as_utf8(text) != text)
        refuse("--vary " + shown_text(text) + ": write it as layout.tp=1,2,4");
    std::vector<std::pair<std::string, nlohmann::json>> out;
    for (const std::string_view value : split(std::string_view(text).substr(equals + 1), ',')) {
        const auto read = try_parse_json(std::string(value));
        out.emplace_back(text.substr(0, equals), read ? *read : nlohmann::json(value));
    }
    return out;
}

// Returns every combination; the last field changes fastest.
std::vector<Point> combinations(const std::vector<std::string>& vary) {
    std::vector<Point> points{{}};
    for (const std::string& text : vary) {
        const auto values = values_of(text);
        if (points.size() * values.size() > kMostPoints)
            refuse(sentence("a sweep has at most ", kMostPoints, " points"));
        std::vector<Point> longer;
        for (const Point& p : points)
            for (const auto& value : values) {
                longer.push_back(p);
                longer.back().push_back(value);
            }
        points = std::move(longer);
    }
    return points;
}

std::vector<Point> points_in(const std::string& file) {
    const nlohmann::ordered_json list = nlohmann::ordered_json(parse_json(read_input(file), file));
    if (!list.is_array())
        throw Error(ErrorKind::invalid, file, "", "must be a list of objects such as {\"layout.tp\": 4}");
    if (list.size() > kMostPoints) refuse(sentence("a sweep has at most ", kMostPoints, " points"));
    std::vector<Point> out;
    for (const auto& one : list) {
        if (!one.is_object())
            throw Error(ErrorKind::invalid, file, "/" + std::to_string(out.size()),
                        "must be an object such as {\"layout.tp\": 4}");
        Point& point = out.emplace_back();
        for (const auto& item : one.items()) point.emplace_back(item.key(), item.value());
    }
    return out;
}

// Evaluates variants one after another, in memory of its own.
class Sweeper {
  public:
    Sweeper(const Context& context, const nlohmann::json& base) : context_(context), base_(base) {}

    Swept operator()(const Point& point) {
        Swept out;
        try {
            nlohmann::json document = base_;
            for (const auto& [field, value] : point)
                set_in_plan(document, pointer_of_field(field), value, context_.presets);
            evaluate(plan_from_json(document, "", context_.presets), e_);
        } catch (const Error& e) {
            out.reason = e.what();
            return out;
        }
        if (!e_.valid || !e_.step) {
            out.reason = first_error(e_.problems);
            return out;
        }
        out.step_s = e_.step->time_s, out.tokens_per_s = e_.step->tokens_per_s, out.mfu = e_.step->mfu;
        out.memory_bytes = e_.memory.peak(), out.fit = e_.memory.fit();
        return out;
    }

  private:
    const Context& context_;
    const nlohmann::json& base_;
    Evaluation e_;
};

std::vector<Swept> sweep_all(const Context& context, const nlohmann::json& base,
                             const std::vector<Point>& points) {
    std::vector<Swept> out(points.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failed;
    Progress progress;
    run_on_threads(cores(), [&] {
        try {
            Sweeper sweep(context, base);
            for (std::size_t i = next++; i < points.size(); i = next++) {
                out[i] = sweep(points[i]);
                if (!progress.shown()) continue;
                const std::lock_guard lock(mutex);
                progress.at([&] { return sentence("sweep: ", i, " of ", points.size()); });
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failed = std::current_exception();
            next = points.size();
        }
    });
    if (failed) std::rethrow_exception(failed);
    return out;
}

Json json_of_sweep(const std::vector<Point>& points, const std::vector<Swept>& rows) {
    Json list = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Json set = Json::object();
        for (const auto& [field, value] : points[i]) set[field] = value;
        const Swept& r = rows[i];
        Json row{{"set", std::move(set)}, {"valid", r.reason.empty()}};
        if (r.reason.empty())
            row.update({{"step_s", r.step_s},
                        {"tokens_per_s", r.tokens_per_s},
                        {"mfu", r.mfu},
                        {"memory_bytes", whole(r.memory_bytes)},
                        {"fits", r.fit == MemoryFit::yes},
                        {"may_fit", r.fit != MemoryFit::no}});
        else
            row["reason"] = r.reason;
        list.push_back(std::move(row));
    }
    return {{"rows", std::move(list)}};
}

Table sweep_table(const std::vector<Point>& points, const std::vector<Swept>& rows) {
    std::vector<std::string> fields;
    for (const Point& p : points)
        for (const auto& [field, value] : p)
            if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    Table t;
    for (const std::string& f : fields) t.columns.push_back({f, Shown::words, f});
    for (const Table::Column& c : {Table::Column{"step", Shown::seconds, "step_s"},
                                   {"tokens/s", Shown::count, "tokens_per_s"},
                                   {"MFU", Shown::share, "mfu"},
                                   {"fullest GPU", Shown::memory, "memory_bytes"},
                                   {"fits"},
                                   {"reason"}})
        t.columns.push_back(c);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Table::Row& row = t.rows.emplace_back();
        for (const std::string& f : fields) {
            std::string text;
            for (const auto& [field, value] : points[i])
                if (field == f) text = value.is_string() ? value.get<std::string>() : value.dump();
            row.emplace_back(text);
        }
        const Swept& r = rows[i];
        const bool there = r.reason.empty();
        for (const double x : {r.step_s, r.tokens_per_s, r.mfu}) row.push_back(there ? Cell(x) : Cell(""));
        row.push_back(there ? whole_cell(r.memory_bytes) : Cell(""));
        row.emplace_back(there ? name_of(r.fit) : "");
        row.emplace_back(r.reason);
    }
    return t;
}

int sweep(const Context& context, const SweepArguments& a) {
    if (a.vary.empty() == a.points.empty()) refuse("sweep needs --vary FIELD=V,V or --points FILE");
    const Plan plan = load_plan(context, a.plan);
    const nlohmann::json base(plan_to_json(plan));
    const std::vector<Point> points = a.points.empty() ? combinations(a.vary) : points_in(a.points);
    const std::vector<Swept> rows = sweep_all(context, base, points);
    const auto table = [&] { return sweep_table(points, rows); };
    print_form(
        context, a.forms, [&] { return json_of_sweep(points, rows); }, table,
        [&] {
            return Document{title_of(plan), {{sentence(points.size(), " variants"), {}, table()}}};
        });
    return 0;
}

}  // namespace

void add_sweep(Options& app, Context& context) {
    auto& a = run_with(app, context, sweep);
    add_plan_argument(app, a.plan);
    app.add_option("--vary", a.vary, "the values of a field, as layout.tp=1,2,4; repeated: every combination")
        .type_name("FIELD=V,V")
        .repeatable();
    app.add_option(
           "--points", a.points,
           "a file of the variants: a JSON list of objects such as {\"layout.tp\": 4}; - for standard input")
        .type_name("FILE");
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
