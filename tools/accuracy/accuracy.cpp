// Predicted against measured, as the Markdown of docs/accuracy.md: accuracy SOURCE_FOLDER [--runs]
// --runs: every run with its errors.
#include "measured.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <cstdio>
#include <map>

using namespace pentamesh;

namespace {

struct Kind {
    std::vector<double> time, memory;
    int right = 0, judged = 0;
};

std::string cells(const std::vector<double>& errors) {
    const ErrorSpread s = spread_of(errors);
    if (s.runs == 0) return " | | | ";
    return std::to_string(s.runs) + " | " + percent_text(s.median) + " | " + percent_text(s.most) + " | "
           + (s.bias > 0 ? "+" : "") + percent_text(s.bias);
}

void print_table(const std::vector<MeasuredRun>& runs, const std::vector<RunAccuracy>& found) {
    std::map<std::string, Kind> kinds;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const char* kind = runs[i].plan.model.moe ? ", MoE" : ", dense";
        for (const std::string& name : {runs[i].framework + kind, std::string("~ all")}) {
            Kind& k = kinds[name];
            if (found[i].time) k.time.push_back(*found[i].time);
            if (found[i].memory) k.memory.push_back(*found[i].memory);
            if (found[i].verdict) ++k.judged, k.right += *found[i].verdict ? 1 : 0;
        }
    }
    std::puts(
        "| runs | time: n | median | nine of ten | bias | memory: n | median | nine of ten | bias | fits |");
    std::puts("|---|---|---|---|---|---|---|---|---|---|");
    for (const auto& [name, k] : kinds)
        std::printf("| %s | %s | %s | %s |\n", name == "~ all" ? "**all**" : name.c_str(),
                    cells(k.time).c_str(), cells(k.memory).c_str(),
                    k.judged > 0 ? (std::to_string(k.right) + " of " + std::to_string(k.judged)).c_str()
                                 : "");
}

void print_runs(const std::vector<MeasuredRun>& runs, const std::vector<RunAccuracy>& found) {
    const auto error = [](const std::optional<double>& e) {
        return e ? (*e > 0 ? "+" : "") + percent_text(*e) : std::string();
    };
    std::puts("| run | time | memory | fits |\n|---|---|---|---|");
    for (std::size_t i = 0; i < runs.size(); ++i)
        std::printf("| %s | %s | %s | %s |\n", runs[i].id.c_str(), error(found[i].time).c_str(),
                    error(found[i].memory).c_str(),
                    found[i].verdict ? (*found[i].verdict ? "agrees" : "does not agree") : "");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string root = argc > 1 ? argv[1] : ".";
        const Presets presets(root + "/presets");
        const std::vector<MeasuredRun> runs = read_measured(root + "/tests/golden/measured.json", presets);
        std::vector<RunAccuracy> found;
        Evaluation scratch;
        for (const MeasuredRun& run : runs) found.push_back(accuracy_of(run, scratch));
        if (argc > 2 && std::string_view(argv[2]) == "--runs")
            print_runs(runs, found);
        else
            print_table(runs, found);
        return 0;
    } catch (const std::exception& e) {
        static_cast<void>(std::fprintf(stderr, "accuracy: %s\n", e.what()));
        return 1;
    }
}
