// Writes predicted against measured as the Markdown of docs/accuracy.md: accuracy SOURCE_FOLDER [--runs |
// --write]
// --runs prints every run with its errors. --write renews presets/measured_errors.json, docs/accuracy.svg and
// the tables between the marks of docs/accuracy.md.
#include "tools/accuracy/halves.h"
#include "tools/accuracy/held_out.h"
#include "tools/accuracy/measured.h"
#include "tools/accuracy/plot.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace pentamesh;

namespace {

struct Kind {
    std::vector<double> time, memory;
    int right = 0, judged = 0;
    [[nodiscard]] std::string below() const {  // share of the peaks that we say less of than was measured
        if (memory.empty()) return "";
        const auto n = std::count_if(memory.begin(), memory.end(), [](double e) { return e < 0; });
        return percent_text(static_cast<double>(n) / static_cast<double>(memory.size()));
    }
};

std::string cells(const std::vector<double>& errors) {
    const ErrorSpread s = spread_of(errors);
    if (s.runs == 0) return " | | | ";
    return std::to_string(s.runs) + " | " + percent_text(s.median) + " | " + percent_text(s.most) + " | "
           + (s.bias > 0 ? "+" : "") + percent_text(s.bias);
}

// Covers the runs of one half.
std::string kinds_table(const std::vector<MeasuredRun>& runs, const std::vector<RunAccuracy>& found,
                        const Halves& halves, bool judged) {
    std::map<std::string, Kind> kinds;
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (const std::string& name : {kind_of(runs[i]), std::string("~ all")}) {
            if (halves.judged(runs[i].family) != judged) continue;
            Kind& k = kinds[name];
            if (found[i].time) k.time.push_back(*found[i].time);
            if (found[i].memory) k.memory.push_back(*found[i].memory);
            if (found[i].verdict) ++k.judged, k.right += *found[i].verdict ? 1 : 0;
        }
    std::string out = "| runs | time: n | median | nine of ten | bias | memory: n | median | nine of ten | "
                      "bias | below | fits |\n"
                      "|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const auto& [name, k] : kinds)
        out += "| " + (name == "~ all" ? "**all**" : name) + " | " + cells(k.time) + " | " + cells(k.memory)
               + " | " + k.below() + " | "
               + (k.judged > 0 ? std::to_string(k.right) + " of " + std::to_string(k.judged) : "") + " |\n";
    return out;
}

std::string ranges_table(const std::vector<MeasuredError>& errors) {
    std::string out = "| runs | n | within the half | within the nine of ten |\n|---|---|---|---|\n";
    const auto share = [](int part, int of) {
        return percent_text(static_cast<double>(part) / static_cast<double>(of));
    };
    for (const auto& [name, c] : coverage_of(errors))
        out += "| " + name + " | " + std::to_string(c.runs) + " | " + share(c.half, c.runs) + " | "
               + share(c.most, c.runs) + " |\n";
    return out;
}

std::string runs_table(const std::vector<MeasuredRun>& runs, const std::vector<RunAccuracy>& found) {
    const auto error = [](const std::optional<double>& e) {
        return e ? (*e > 0 ? "+" : "") + percent_text(*e) : std::string();
    };
    std::string out = "| run | time | memory | fits |\n|---|---|---|---|\n";
    for (std::size_t i = 0; i < runs.size(); ++i)
        out += "| " + runs[i].id + " | " + error(found[i].time) + " | " + error(found[i].memory) + " | "
               + (found[i].verdict ? (*found[i].verdict ? "agrees" : "does not agree") : "") + " |\n";
    return out;
}

// Replaces the text between "<!-- NAME -->" and "<!-- end -->". Throws Error where the file has no such
// marks.
void put_between(std::string& page, const std::string& path, const std::string& name,
                 const std::string& table) {
    const std::string mark = "<!-- " + name + " -->\n";
    const std::size_t from = page.find(mark);
    const std::size_t to = from == std::string::npos ? from : page.find("<!-- end -->", from);
    if (to == std::string::npos)
        throw Error(ErrorKind::invalid, path, "", "has no marks around the table \"" + name + "\"");
    page.replace(from + mark.size(), to - from - mark.size(), table);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string root = argc > 1 ? argv[1] : ".";
        const std::string_view word = argc > 2 ? argv[2] : "";
        const Presets presets(root + "/presets");
        const std::vector<MeasuredRun> runs =
            read_measured_file(root + "/tests/golden/measured.json", presets);
        const Halves halves = read_halves_file(root + "/tests/golden/halves.json");
        std::vector<RunAccuracy> found;
        Evaluation scratch;
        for (const MeasuredRun& run : runs) found.push_back(accuracy_of(run, scratch));
        const std::vector<MeasuredError> errors = held_out_errors(runs, found, halves);
        if (word == "--runs") {
            std::fputs(runs_table(runs, found).c_str(), stdout);
        } else if (word == "--write") {
            const std::string path = root + "/docs/accuracy.md";
            std::string page = read_file(path);
            put_between(page, path, "judged", kinds_table(runs, found, halves, true));
            put_between(page, path, "fitted", kinds_table(runs, found, halves, false));
            put_between(page, path, "ranges", ranges_table(errors));
            put_between(page, path, "runs", runs_table(runs, found));
            write_file(path, page);
            write_file(root + "/docs/accuracy.svg", accuracy_plot(runs, found));
            write_file(root + "/presets/measured_errors.json", write_measured_errors(errors));
        } else {
            std::printf("judged\n%s\nfitted\n%s\n%s", kinds_table(runs, found, halves, true).c_str(),
                        kinds_table(runs, found, halves, false).c_str(), ranges_table(errors).c_str());
        }
        return 0;
    } catch (const std::exception& e) {
        static_cast<void>(std::fprintf(stderr, "accuracy: %s\n", e.what()));
        return 1;
    }
}
