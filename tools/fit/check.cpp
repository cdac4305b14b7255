#include "check.h"

#include "core/base/error.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

namespace pentamesh {
namespace {

constexpr double kMostMedian = 0.08;
constexpr double kMost90th = 0.26;
constexpr double kMostMedianMoe = 0.10;
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

}  // namespace pentamesh
