#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "tools/accuracy/measured.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace pentamesh {
namespace {

constexpr int kColumns = 4;
constexpr double kCell = 206, kLeft = 38, kTop = 40, kSide = 150, kRow = 212, kHead = 34;
constexpr double kGib = 1024.0 * 1024 * 1024;

struct Square {
    std::vector<std::pair<double, double>> points;  // measured, predicted
};
using Squares = std::map<std::string, Square>;

std::string number(double x) {
    return fixed_text(x, 1);
}

std::string text(double x, double y, const char* type, const std::string& words) {
    return "<text class=\"" + std::string(type) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\">"
           + words + "</text>\n";
}

std::string line(const char* type, double x1, double y1, double x2, double y2) {
    return "<line class=\"" + std::string(type) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1)
           + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

// Returns whole powers of ten where there are two of them, else 1, 2 and 5 of each.
std::vector<double> ticks_of(double low, double high) {
    std::vector<double> tens, all;
    for (double ten = std::pow(10, std::floor(std::log10(low))); ten <= high; ten *= 10)
        for (const double m : {1.0, 2.0, 5.0})
            if (const double x = m * ten; x >= low && x <= high) {
                all.push_back(x);
                if (m == 1) tens.push_back(x);
            }
    return tens.size() >= 2 ? tens : all;
}

std::string square(double x, double y, const std::string& name, const Square& s, const char* type) {
    double low = s.points.front().first, high = low;
    for (const auto& [a, b] : s.points) low = std::min({low, a, b}), high = std::max({high, a, b});
    low /= 1.4, high *= 1.4;
    const auto at = [&](double v) { return kSide * std::log(v / low) / std::log(high / low); };
    const auto inside = [&](double v) { return std::clamp(v, low, high); };
    std::string out = text(x, y - 8, "name", name + " (" + std::to_string(s.points.size()) + ")");
    out += "<rect class=\"frame\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(kSide)
           + "\" height=\"" + number(kSide) + "\"/>\n";
    for (const double t : ticks_of(low, high)) {
        out += line("grid", x + at(t), y, x + at(t), y + kSide);
        out += line("grid", x, y + kSide - at(t), x + kSide, y + kSide - at(t));
        out += text(x + at(t), y + kSide + 13, "tick", general_text(t, 4));
        out += text(x - 4, y + kSide - at(t) + 3, "tick side", general_text(t, 4));
    }
    constexpr double kOff = 1.2;
    out += line("equal", x, y + kSide, x + kSide, y);
    out += line("off", x, y + kSide - at(inside(low * kOff)), x + at(inside(high / kOff)), y);
    out += line("off", x + at(inside(low * kOff)), y + kSide, x + kSide, y + kSide - at(inside(high / kOff)));
    for (const auto& [measured, predicted] : s.points)
        out += "<circle class=\"" + std::string(type) + "\" cx=\"" + number(x + at(measured)) + "\" cy=\""
               + number(y + kSide - at(predicted)) + "\" r=\"3\"/>\n";
    return out;
}

// Returns a block of the drawing; its height is added to y.
std::string block(const char* title, const Squares& squares, const char* type, double& y) {
    std::string out = text(kLeft, y + 20, "head", title);
    y += kHead;
    int i = 0;
    for (const auto& [name, s] : squares) {
        out += square(kLeft + kCell * (i % kColumns), y + kTop - 12 + kRow * (i / kColumns), name, s, type);
        ++i;
    }
    y += kRow * ((i + kColumns - 1) / kColumns);
    return out;
}

// Light and dark pages have the same colours: a viewer may not say which it is.
constexpr const char* kStyle = "<style>\n"
                               "text{font:11px sans-serif;fill:#737b85}\n"
                               ".head{font-size:14px;font-weight:600}\n"
                               ".tick{text-anchor:middle;font-size:10px}\n.side{text-anchor:end}\n"
                               ".frame{fill:none;stroke:#8c959f}\n.grid{stroke:#8c959f;stroke-opacity:.3}\n"
                               ".equal{stroke:#737b85}\n.off{stroke:#737b85;stroke-dasharray:3 3}\n"
                               ".time{fill:#2f81f7;fill-opacity:.5;stroke:#2f81f7}\n"
                               ".memory{fill:#db6d28;fill-opacity:.5;stroke:#db6d28}\n"
                               "</style>\n";

}  // namespace

std::string kind_of(const MeasuredRun& run) {
    return run.framework + (run.plan.model.moe ? ", MoE" : ", dense");
}

std::string accuracy_plot(const std::vector<MeasuredRun>& runs, const std::vector<RunAccuracy>& found) {
    Squares time, memory;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunAccuracy& a = found[i];
        if (a.time) time[kind_of(runs[i])].points.emplace_back(a.measured_s, a.step_s);
        if (a.memory)
            memory[kind_of(runs[i])].points.emplace_back(runs[i].memory / kGib, a.memory_bytes / kGib);
    }
    double y = 4;
    const std::string body =
        block("Seconds of a step: measured (across), predicted (up)", time, "time", y)
        + block("GiB of the measured peak: measured (across), predicted (up)", memory, "memory", y)
        + text(kLeft, y + 14, "note", "In brackets: runs. Line: equal. Dashed: a factor of 1.2.");
    const std::string size =
        "width=\"" + number(kLeft + kCell * kColumns) + "\" height=\"" + number(y + 28) + "\"";
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " viewBox=\"0 0 "
           + number(kLeft + kCell * kColumns) + " " + number(y + 28) + "\">\n" + kStyle + body + "</svg>\n";
}

}  // namespace pentamesh

// Writes predicted against measured as the Markdown of docs/accuracy.md: accuracy SOURCE_FOLDER [--runs |
// --write]
// --runs prints every run with its errors. --write renews presets/measured_errors.json, docs/accuracy.svg and
// the tables between the marks of docs/accuracy.md.

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
        const Halves halves = read_halves_file(root + "/tests/golden/halves.json");
        const std::vector<MeasuredRun> runs = read_golden_runs(root + "/tests/golden", halves, presets);
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
