// `serve` answers requests: each line of standard input is one, each line of standard output an answer
// (docs/serve.md).
#include "app/cli/serve.h"
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/tables/table.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

namespace pentamesh::cli {

std::optional<Line> read_line(std::streambuf& in) {
    using Traits = std::streambuf::traits_type;
    Line line;
    int c = in.sbumpc();
    if (Traits::eq_int_type(c, Traits::eof())) return std::nullopt;
    for (; !Traits::eq_int_type(c, Traits::eof()) && c != '\n'; c = in.sbumpc()) {
        if (line.text.size() == kMostRequestBytes) line.too_long = true;
        if (!line.too_long) line.text += Traits::to_char_type(c);
    }
    line.blank = !line.too_long && line.text.find_first_not_of(" \t\r") == std::string::npos;
    return line;
}

namespace {

// Returns what was written to standard error, line by line, without the program's name.
std::vector<std::string> lines_of(const std::string& messages) {
    constexpr std::string_view kName = "pentamesh: ";
    std::vector<std::string> out;
    for (std::string_view line : split_lines(messages)) {
        if (line.starts_with(kName)) line.remove_prefix(kName.size());
        if (!line.empty()) out.push_back(as_utf8(std::string(line)));
    }
    return out;
}

}  // namespace

Ran run_request(Context& context, const std::vector<std::string>& words, const std::string& input) {
    OwnStreams streams(input);
    Ran out;
    out.status = run_words(context, words, false);
    out.messages = lines_of(streams.messages());
    out.result = streams.output();
    out.json = context.json && !out.result.empty() && (out.status == 0 || nlohmann::json::accept(out.result));
    return out;
}

namespace {

std::string text_of(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Request {
    std::string id = "null";  // as JSON; null until it is known
    std::vector<std::string> words;
    std::string input;
};

[[noreturn]] void refuse_request(const std::string& pointer, const std::string& why) {
    throw Error(ErrorKind::usage, "", pointer, why);
}

// Returns a word of the command line: a plan may stand as an object.
std::string word_of(const nlohmann::json& value, std::size_t index) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number() || value.is_object()) return value.dump();
    refuse_request("/args/" + std::to_string(index),
                   "found " + shown_json(value) + ", must be a text, a number or a plan");
}

void read_request(const nlohmann::json& line, Request& out) {
    if (!line.is_object()) refuse_request("", "found " + shown_json(line) + ", a request must be an object");
    if (const auto id = line.find("id"); id != line.end()) {
        if (id->is_structured()) refuse_request("/id", "must be a text or a number");
        out.id = text_of(*id);
    }
    for (const auto& item : line.items())
        if (const std::string& k = item.key(); k != "id" && k != "command" && k != "args" && k != "input")
            refuse_request("/" + escape_token(shown_text(k)),
                           "unknown key; a request has id, command, args and input");
    const auto command = line.find("command");
    if (command == line.end() || !command->is_string())
        refuse_request("/command", "must be the name of a command");
    out.words = {command->get<std::string>()};
    if (out.words.front() == "serve" || out.words.front() == "mcp")
        refuse_request("/command", out.words.front() + " reads lines of its own: serve is running already");
    if (const auto args = line.find("args"); args != line.end()) {
        if (!args->is_array()) refuse_request("/args", "must be a list");
        for (const auto& a : *args) out.words.push_back(word_of(a, out.words.size() - 1));
    }
    if (const auto input = line.find("input"); input != line.end()) {
        if (!input->is_string()) refuse_request("/input", "must be a text");
        out.input = input->get<std::string>();
    }
}

// Takes line breaks and the blanks after them out of JSON: neither stands inside a string.
std::string on_one_line(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    bool begins = false;
    for (const char c : json) {
        if (c == '\n')
            begins = true;
        else if (!(begins && c == ' '))
            out += c, begins = false;
    }
    return out;
}

std::string answer_of(const std::string& id, int status, const std::vector<std::string>& messages,
                      const std::string& result) {
    const std::string error = join(messages, "\n");
    std::string out = "{\"id\": " + id + ", \"status\": " + std::to_string(status);
    if (status != 0) out += ", \"error\": " + text_of(error.empty() ? "it did not do what was asked" : error);
    if (status == 0 && !messages.empty()) out += ", \"messages\": " + text_of(Json(messages));
    return out + (result.empty() ? "" : ", \"result\": " + result) + "}\n";
}

std::string answer(Context& context, const Request& request) {
    const Ran ran = run_request(context, request.words, request.input);
    std::string result;
    if (!ran.result.empty()) result = ran.json ? on_one_line(ran.result) : text_of(as_utf8(ran.result));
    return answer_of(request.id, ran.status, ran.messages, result);
}

std::string answer_line(Context& context, const Line& line) {
    Request request;
    try {
        if (line.too_long)
            refuse_request("", sentence("a request has at most ", bytes_text(kMostRequestBytes)));
        read_request(parse_json(line.text, ""), request);
        return answer(context, request);
    } catch (const Error& e) {
        return answer_of(request.id, 2, {std::string("the request: ") + as_utf8(e.what())}, "");
    } catch (const std::bad_alloc&) {
        return answer_of(request.id, 1, {"there is not enough memory for this"}, "");
    } catch (const std::exception& e) {
        return answer_of(request.id, 1, {as_utf8(e.what())}, "");
    }
}

int serve(Context& context) {
    std::streambuf& in = *std::cin.rdbuf();
    while (const std::optional<Line> line = read_line(in)) {
        if (line->blank) continue;
        if (!print_json(answer_line(context, *line))) break;  // nobody reads any more
    }
    return 0;
}

}  // namespace

void add_serve(Options& app, Context& context) {
    app.callback([&context] { context.run = [&context] { return serve(context); }; });
}

// `check` reads a folder of recipes, scripts and plans, and says of each in a line whether it can run: legal,
// fits, which group leaves the fast domain, what is not known.

namespace {

using interop::Import;
using interop::ImportProblem;

struct CheckArguments : JobArguments {
    std::vector<std::string> files;
    std::string junit, html;
    bool why = false;
    Forms forms;
};

enum class Verdict : std::uint8_t { ok, not_known, does_not_fit, refused };
constexpr std::array<std::string_view, 4> kVerdicts{"ok", "not known", "does not fit", "refused"};

struct Checked {
    std::string file{}, recipe{};
    Verdict verdict = Verdict::ok;
    std::string says{};                    // the rest of its line
    std::vector<ImportProblem> reasons{};  // with their fixes
    std::vector<std::string> leaves{};     // groups that leave the fast domain: "ep 64 over InfiniBand"
    std::size_t not_known = 0;             // settings
    std::optional<Plan> plan{};            // where one came out
    [[nodiscard]] bool bad() const { return verdict == Verdict::refused || verdict == Verdict::does_not_fit; }
    [[nodiscard]] std::string name() const { return recipe.empty() ? file : file + ": " + recipe; }
};

std::string layout_words(const Plan& p) {
    const Layout& l = p.layout;
    std::string out =
        p.model.name + ", " + std::to_string(p.cluster.gpus) + " GPUs, tp " + std::to_string(l.tp);
    const auto add = [&](const char* name, std::int64_t n) {
        if (n > 1) out += std::string(" ") + name + " " + std::to_string(n);
    };
    add("cp", l.cp);
    add("pp", l.pp);
    add("ep", l.ep);
    return out;
}

// Says of the axes that talk in every layer which ones leave the fastest domain.
void find_leaving(const Plan& plan, const Evaluation& e, Checked& row) {
    for (const GroupKind kind : {GroupKind::tp, GroupKind::cp, GroupKind::etp, GroupKind::ep}) {
        const GroupSummary& g = e.groups[kind];
        if (g.degree > 1 && g.groups > 0 && g.slowest_tier > 0)
            row.leaves.push_back(std::string(name_of(kind)) + " " + std::to_string(g.degree) + " over "
                                 + std::string(tier_name(plan.cluster, g.slowest_tier)));
    }
}

// `sure`: the plan says all that bears on memory.
void judge(const Plan& plan, Checked& row, bool sure) {
    const Evaluation e = evaluate(plan, {.timeline = false, .report = false});
    row.plan = plan;
    row.says = layout_words(plan);
    if (!e.valid) {
        if (row.verdict == Verdict::ok) row.verdict = Verdict::refused;
        if (row.reasons.empty())
            for (const Problem& p : e.problems)
                row.reasons.push_back({p.severity, std::string(name_of(p.code)), p.said(), p.fix});
        return;
    }
    find_leaving(plan, e, row);
    if (const auto fit = fit_of(e.memory)) {
        const bool no = *fit == MemoryFit::no;
        row.says +=
            "; " + std::string(no && !sure ? "by what is known it " : "") + std::string(name_of(*fit));
        if (no && row.verdict == Verdict::ok) row.verdict = sure ? Verdict::does_not_fit : Verdict::not_known;
    }
    for (const std::string& words : row.leaves) row.says += "; " + words;
}

void judge_import(const Import& made, Checked& row) {
    row.not_known = made.settings.not_known.size();
    bool refused = false, asked = false;
    for (const ImportProblem& p : made.problems) {
        asked = asked || p.asks == interop::Asked::model || p.asks == interop::Asked::value
                || p.code == "not-read" || (p.asks == interop::Asked::gpus && p.severity != Severity::info);
        if (p.severity != Severity::error && p.code != "not-read" && !p.opens) continue;
        refused = refused || (p.severity == Severity::error && p.asks == interop::Asked::nothing);
        row.reasons.push_back(p);
    }
    row.verdict = refused ? Verdict::refused : asked ? Verdict::not_known : Verdict::ok;
    // A cluster that stands in for another, weights that are not trained: the memory is not this job's then.
    const bool sure = made.settings.unmapped.empty() && row.not_known == 0
                      && std::none_of(made.problems.begin(), made.problems.end(), [](const ImportProblem& p) {
                             return p.asks == interop::Asked::cluster || p.asks == interop::Asked::batch;
                         });
    if (made.plan) judge(*made.plan, row, sure);
    if (row.not_known > 0)
        row.says += (row.says.empty() ? "" : "; ") + std::to_string(row.not_known)
                    + (row.not_known == 1 ? " setting is" : " settings are") + " not known";
}

bool is_plan(const std::string& text) {
    return text.find("\"pentamesh.plan/") != std::string::npos;
}

// Adds a row for each configuration of a file. A file of a folder that holds no settings has none.
void check_file(const Context& context, interop::ImportRequest request, const std::string& file, bool named,
                std::vector<Checked>& rows) {
    const std::string text = read_file(file);
    if (named) note_input(file);
    if (is_plan(text)) {
        note_input(file);
        Checked row{.file = file};
        try {
            judge(parse_plan(text, file, context.presets), row, true);
        } catch (const Error& e) {
            row.verdict = Verdict::refused;
            row.reasons.push_back({Severity::error, "plan-not-valid", e.pointer() + ": " + e.message(), {}});
        }
        rows.push_back(std::move(row));
        return;
    }
    if (const std::string words = named ? runs::run_file_words(text) : ""; !words.empty()) {
        rows.push_back({.file = file,
                        .verdict = Verdict::not_known,
                        .reasons = {{Severity::error, "not-settings", words, {}}}});
        return;
    }
    const std::vector<const interop::Tool*> fits = interop::guess_tools(text);
    if (!named && (fits.empty() || fits.front()->reader == interop::Reader::model)) return;
    note_input(file);
    put_file(request, file, text);
    std::vector<std::string> recipes{""};
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        request.recipe = recipes[i];
        Checked row{.file = file, .recipe = recipes[i]};
        try {
            const Import made = interop::import_settings(request, context.presets);
            if (recipes[i].empty() && made.recipes.size() > 1) {
                recipes.insert(recipes.end(), made.recipes.begin(), made.recipes.end());
                continue;
            }
            row.recipe = made.recipe;
            judge_import(made, row);
        } catch (const Error& e) {
            if (!named) return;  // a module of helpers, a script that starts nothing
            row.verdict = Verdict::not_known;
            row.reasons.push_back({Severity::error, "not-read", e.message(), {}});
        } catch (const std::exception& e) {  // one file never takes the others with it
            row.verdict = Verdict::not_known;
            row.reasons.push_back({Severity::error, "not-read", e.what(), {}});
        }
        rows.push_back(std::move(row));
    }
}

std::vector<std::string> files_in(const std::string& folder) {
    static constexpr std::array<std::string_view, 9> kEndings{".py",   ".sh",    ".yaml",   ".yml", ".toml",
                                                              ".json", ".slurm", ".sbatch", ".bash"};
    namespace fs = std::filesystem;
    std::vector<std::string> out;
    std::error_code failed;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, failed);
    if (failed) throw Error(ErrorKind::io, folder, "", "cannot be read: " + failed.message());
    for (const fs::recursive_directory_iterator end; it != end; it.increment(failed)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(".")) {
            it.disable_recursion_pending();
            continue;
        }
        const bool fits =
            std::find(kEndings.begin(), kEndings.end(), it->path().extension().string()) != kEndings.end();
        if (fits && it->is_regular_file(failed)) out.push_back(it->path().string());
        if (failed) break;
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string count_words(const std::vector<Checked>& rows) {
    std::array<int, kVerdicts.size()> count{};
    for (const Checked& r : rows) ++count[static_cast<std::size_t>(r.verdict)];
    std::string out =
        std::to_string(rows.size()) + (rows.size() == 1 ? " configuration:" : " configurations:");
    for (std::size_t i = 0; i < count.size(); ++i)
        if (count[i] > 0 || i == 0)
            out += (i == 0 ? " " : ", ") + std::to_string(count[i]) + " " + std::string(kVerdicts[i]);
    return out;
}

std::string text_of(const std::vector<Checked>& rows, bool why) {
    std::string out;
    for (const Checked& r : rows) {
        const auto v = static_cast<std::size_t>(r.verdict);
        std::string verdict(kVerdicts[v]);
        verdict.resize(std::max<std::size_t>(verdict.size(), 13), ' ');
        const bool first = r.verdict != Verdict::ok && !r.reasons.empty();
        out += verdict + r.name() + (r.says.empty() ? "" : ": " + r.says)
               + (first && !why ? ": " + r.reasons.front().message : "") + "\n";
        if (!why) continue;
        for (const ImportProblem& p : r.reasons) {
            out += "             " + p.message + "\n";
            if (!p.fix.empty()) out += "             change: " + words_of(p.fix) + "\n";
        }
    }
    return out + count_words(rows) + "\n";
}

Table table_of(const std::vector<Checked>& rows) {
    Table t{{{"verdict"}, {"file"}, {"recipe"}, {"says"}, {"reasons"}}, {}};
    for (const Checked& r : rows) {
        const std::string reasons = join(r.reasons, " ", [](const ImportProblem& p) { return p.message; });
        t.rows.push_back({kVerdicts[static_cast<std::size_t>(r.verdict)], r.file, r.recipe, r.says, reasons});
    }
    return t;
}

Json json_of(const std::vector<Checked>& rows) {
    Json out = Json::array();
    for (const Checked& r : rows) {
        out.push_back({{"file", r.file},
                       {"recipe", r.recipe.empty() ? Json(nullptr) : Json(r.recipe)},
                       {"verdict", kVerdicts[static_cast<std::size_t>(r.verdict)]},
                       {"says", r.says},
                       {"leaves_fast_domain", r.leaves},
                       {"not_known", r.not_known},
                       {"problems", json_of_import_problems(r.reasons)}});
    }
    return {{"checked", std::move(out)}};
}

// Writes the form that CI systems read: a test case a configuration.
std::string junit_of(const std::vector<Checked>& rows) {
    const auto bad = std::count_if(rows.begin(), rows.end(), [](const Checked& r) { return r.bad(); });
    const auto open = std::count_if(rows.begin(), rows.end(),
                                    [](const Checked& r) { return r.verdict == Verdict::not_known; });
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pentamesh check\" tests=\""
        + std::to_string(rows.size()) + "\" failures=\"" + std::to_string(bad) + "\" skipped=\""
        + std::to_string(open) + "\">\n";
    for (const Checked& r : rows) {
        out += "  <testcase classname=\"" + html_attribute(r.file) + "\" name=\""
               + html_attribute(r.recipe.empty() ? r.file : r.recipe) + "\"";
        if (r.verdict == Verdict::ok) {
            out += "/>\n";
            continue;
        }
        std::string words;
        for (const ImportProblem& p : r.reasons)
            words += p.message + (p.fix.empty() ? "" : " change: " + words_of(p.fix)) + "\n";
        const char* tag = r.bad() ? "failure" : "skipped";
        out += std::string("><") + tag + " message=\""
               + std::string(kVerdicts[static_cast<std::size_t>(r.verdict)]) + "\">" + html_attribute(words)
               + "</" + tag + "></testcase>\n";
    }
    return out + "</testsuite>\n";
}

constexpr std::size_t kMostMaps = 100;

// Returns a page: the table, then each configuration with its reasons and its map, those that cannot run
// first.
std::string page_of(const Context& context, const std::vector<Checked>& rows) {
    std::vector<const Checked*> order;
    for (const Checked& r : rows)
        if (r.plan || !r.reasons.empty()) order.push_back(&r);
    std::stable_sort(order.begin(), order.end(), [](const Checked* a, const Checked* b) {
        return std::pair(a->verdict, !a->leaves.empty()) > std::pair(b->verdict, !b->leaves.empty());
    });
    Document page{"Checked", {{"", {count_words(rows)}, table_of(rows)}}};
    const FontFiles fonts = find_fonts(context.data_folder);
    std::size_t maps = 0;
    for (const Checked* r : order) {
        Section& section = page.sections.emplace_back();
        section.title = std::string(kVerdicts[static_cast<std::size_t>(r->verdict)]) + ": " + r->name();
        section.lines.push_back(r->says);
        for (const ImportProblem& p : r->reasons)
            section.lines.push_back(p.message + (p.fix.empty() ? "" : " Change: " + words_of(p.fix) + "."));
        if (!r->plan || maps >= kMostMaps) continue;
        const Evaluation e = evaluate(*r->plan, {.timeline = false});
        section.svg = ui::report_figure(context.presets, *r->plan, e, ui::ReportFigure::placement, fonts);
        maps += section.svg.empty() ? 0 : 1;
    }
    if (maps == kMostMaps)
        page.sections.front().lines.push_back("The first " + std::to_string(kMostMaps) + " have a map.");
    return to_html(page);
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code failed;
    const auto place = [&](const std::string& name) {
        return std::filesystem::weakly_canonical(name, failed);
    };
    return !a.empty() && !b.empty() && place(a) == place(b);
}

// Refuses one file for two forms: the later would take the place of the earlier.
void refuse_same_outputs(const Context& context, const CheckArguments& a) {
    const std::array<std::pair<const char*, const std::string&>, 3> all{
        {{"--junit", a.junit}, {"--html", a.html}, {"-o", context.output}}};
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = i + 1; k < all.size(); ++k)
            if (is_same_file(all[i].second, all[k].second))
                refuse(std::string(all[i].first) + " and " + all[k].first + " both write to "
                       + shown_text(all[i].second));
}

int check(const Context& context, const CheckArguments& a) {
    const interop::ImportRequest request = request_of(context, a);
    refuse_same_outputs(context, a);
    std::vector<Checked> rows;
    Progress progress;
    for (const std::string& given : a.files) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(given, ignored)) {
            check_file(context, request, given, true, rows);
            continue;
        }
        for (const std::string& file : files_in(given)) {
            progress.at([&] { return "check: " + file; });
            check_file(context, request, file, false, rows);
        }
    }
    if (!a.junit.empty()) write_output(a.junit, junit_of(rows));
    if (!a.html.empty()) write_output(a.html, page_of(context, rows));
    if (context.json)
        print_json(pretty(json_of(rows)));
    else if (a.forms.csv)
        print_csv(table_of(rows));
    else if (a.forms.markdown)
        print_document(a.forms, {"", {{"", {}, table_of(rows)}}});
    else
        print(text_of(rows, a.why));
    return std::any_of(rows.begin(), rows.end(), [](const Checked& r) { return r.bad(); }) ? 1 : 0;
}

}  // namespace

void add_check(Options& app, Context& context) {
    auto& a = run_with(app, context, check);
    app.add_option("FILE", a.files, "folders, and files of settings or plans").required();
    app.add_flag("--why", a.why, "every reason, and the change that mends it");
    app.add_option("--gpus", a.gpus, "GPUs of the jobs that do not say them").range(1, 1 << 20);
    app.add_option("--model", a.model, "a model preset's id or a file, for those that do not say it")
        .type_name("MODEL");
    app.add_option("--cluster", a.cluster, "a cluster preset's id, in the place of what a recipe's name says")
        .type_name("CLUSTER");
    app.add_option("--var", a.variables, "a value that scripts do not say, TP=4; may be repeated")
        .type_name("NAME=VALUE")
        .repeatable();
    app.add_option("--junit", a.junit, "write JUnit's XML to a file, which CI systems show")
        .type_name("FILE");
    app.add_option("--html", a.html, "write a page with the reasons and the maps to a file")
        .type_name("FILE");
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
