#include "tools/fit/check.h"

#include "check.h"
#include "core/base/files.h"
#include "core/base/number.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace pentamesh {
namespace {

constexpr double kMostMedian = 0.08;
constexpr double kMost90th = 0.26;
constexpr double kMostMedianMoe = 0.115;
constexpr double kMoved = 0.005;  // of an error before it counts: g++ and clang agree within 0.0001

}  // namespace

std::vector<double> sizes_of(const std::vector<RunError>& runs) {
    std::vector<double> sizes;
    for (const RunError& r : runs) sizes.push_back(std::abs(r.error));
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

std::vector<RunError> moe_of(std::vector<RunError> runs) {
    std::erase_if(runs, [](const RunError& r) { return !r.moe; });
    return runs;
}

double percentile(const std::vector<double>& sorted, double p) {
    return sorted.at(static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1)));
}

std::string write_errors(const std::vector<RunError>& runs) {
    std::string text;
    for (const RunError& r : runs) {
        char number[32];
        static_cast<void>(std::snprintf(number, sizeof number, "%+7.2f  ", 100 * r.error));
        text += number + r.label + "\n";
    }
    return text;
}

std::vector<RunError> read_errors(const std::string& text, const std::string& file) {
    std::vector<RunError> runs;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        RunError r;
        in >> r.error >> std::ws;
        std::getline(in, r.label);
        if (in.fail() || r.label.empty())
            throw Error(ErrorKind::invalid, file, "", "not an error in per cent and a run: " + line);
        r.error /= 100;
        runs.push_back(r);
    }
    return runs;
}

bool errors_hold(const std::vector<RunError>& runs, const std::vector<RunError>& golden) {
    std::map<std::string, double> before;
    for (const RunError& r : golden) before[r.label] = r.error;
    int wrong = 0;
    for (const RunError& r : runs) {
        const auto at = before.find(r.label);
        if (at == before.end()) {
            ++wrong;
            std::printf("NEW    %+7.2f %%             %s\n", 100 * r.error, r.label.c_str());
            continue;
        }
        if (!(std::abs(r.error - at->second) <= kMoved)) {
            ++wrong;
            std::printf("MOVED  %+7.2f %% -> %+7.2f %%  %s\n", 100 * at->second, 100 * r.error,
                        r.label.c_str());
        }
        before.erase(at);
    }
    for (const auto& [label, error] : before) {
        ++wrong;
        std::printf("GONE   %+7.2f %%             %s\n", 100 * error, label.c_str());
    }
    const auto limit = [&](const char* what, double value, double most) {
        if (value <= most) return;
        ++wrong;
        std::printf("LIMIT  %s is %.2f %%, at most %.0f %% may be\n", what, 100 * value, 100 * most);
    };
    const std::vector<double> sizes = sizes_of(runs);
    limit("median |error|", median(sizes), kMostMedian);
    limit("90th percentile of |error|", percentile(sizes, 0.9), kMost90th);
    if (const std::vector<RunError> moe = moe_of(runs); !moe.empty())
        limit("median |error| of MoE runs", median(sizes_of(moe)), kMostMedianMoe);
    return wrong == 0;
}

std::vector<SoftwareParameter> fitted_of(const SoftwareFacts& facts) {
    // The bounds are those that tests/core/measured_test.cpp holds the files to.
    static const std::vector<SoftwareParameter> kAll{
        {"products", &SoftwareFacts::products, 1, 0.3, 0.3, 1.5},
        {"grouped", &SoftwareFacts::grouped, 1, 0.3, 0.3, 1.5},
        {"attention", &SoftwareFacts::attention, 0.7, 0.5, 0.21, 1.5},
        {"element_wise", &SoftwareFacts::element_wise, 1.5, 0.5, 1, 6},
        {"launches", &SoftwareFacts::launches, 1.2, 0.5, 1, 4},
        {"new_gpu_products", &SoftwareFacts::new_gpu_products, 0.95, 0.2, 0.5, 1},
        {"graphs_layers", &SoftwareFacts::graphs_layers, 0.6, 0.5, 0.05, 1},
        {"graphs_step", &SoftwareFacts::graphs_step, 0.6, 0.5, 0.05, 1},
        {"fp8_rowwise", &SoftwareFacts::fp8_rowwise, 0.85, 0.2, 0.3, 1.2},
        {"fp8_mxfp8", &SoftwareFacts::fp8_mxfp8, 0.95, 0.2, 0.3, 1.2},
        {"tp_hidden", &SoftwareFacts::tp_hidden, 0.6, 0.5, 0.05, 1},
        {"dp_hidden", &SoftwareFacts::dp_hidden, 0.8, 0.5, 0.05, 1},
    };
    std::vector<SoftwareParameter> out;
    for (SoftwareParameter p : kAll)
        for (const SoftwareFacts::Figure& f : facts.figures)
            if (f.key == p.key && f.from == SoftwareFacts::Figure::From::own_runs) {
                p.value = p.expected = std::clamp(facts.*p.member, p.least, p.most);
                out.push_back(p);
            }
    return out;
}

SoftwareFacts with_values(SoftwareFacts facts, const std::vector<SoftwareParameter>& parameters) {
    for (const SoftwareParameter& p : parameters) facts.*p.member = p.value;
    return facts;
}

void write_software(const std::string& root, std::string_view id,
                    const std::vector<SoftwareParameter>& parameters) {
    const std::string path = root + "/presets/software/" + std::string(id) + ".json";
    auto facts = nlohmann::ordered_json::parse(read_file(path));
    for (const SoftwareParameter& p : parameters)
        facts[std::string(p.key)]["value"] = nlohmann::ordered_json::parse(general_text(p.value, 4));
    write_file(path, facts.dump(2) + "\n");
}

}  // namespace pentamesh
