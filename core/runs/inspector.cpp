// Reads files of NCCL's Inspector: JSON objects one after another (plugins/profiler/inspector of NCCL).
#include "core/base/text.h"
#include "core/runs/dump.h"
#include "core/runs/gzip.h"
#include "core/runs/run_file.h"
#include "core/runs/values.h"

#include <cmath>
#include <istream>
#include <map>
#include <tuple>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostCalls = 12'000'000;

std::int64_t whole_at(const Values& values, const Value& dict, std::string_view key, std::int64_t most) {
    const Value* v = values.find(dict, key);
    return v && v->kind == ValueKind::whole && v->whole >= 0 && v->whole <= most ? v->whole : -1;
}
double real_at(const Values& values, const Value& dict, std::string_view key) {
    const Value* v = values.find(dict, key);
    if (!v) return 0;
    return v->kind == ValueKind::real    ? v->real
           : v->kind == ValueKind::whole ? static_cast<double>(v->whole)
                                         : 0;
}
std::string text_at(const Values& values, const Value& dict, std::string_view key) {
    const Value* v = values.find(dict, key);
    return std::string(v ? v->view() : std::string_view());
}

class InspectorReader {
  public:
    // Returns false for an object that is no call.
    bool add(const Values& v) {
        const Value* header = v.find(v.root, "header");
        const Value* coll = v.find(v.root, "coll_perf");
        const Value* p2p = v.find(v.root, "p2p_perf");
        if (!header || (!coll && !p2p)) return false;
        const Value& perf = coll ? *coll : *p2p;
        const std::string begin = coll ? "coll" : "p2p";
        constexpr std::int64_t kMostBytes = std::int64_t{1} << 50, kMostNumber = std::int64_t{1} << 60;
        const std::int64_t bytes = whole_at(v, perf, begin + "_msg_size_bytes", kMostBytes);
        const double us = real_at(v, perf, begin + "_exec_time_us");
        const std::int64_t rank = whole_at(v, *header, "rank", kMostRank);
        if (bytes < 0 || !(us > 0 && us < 1e12) || rank < 0) return false;
        if (out.rank < 0) out.rank = rank;
        const double per_s = real_at(v, perf, begin + "_algobw_gbs") * 1e9;
        RunCalls& calls = calls_of(v, *header, text_at(v, perf, begin), bytes);
        if (per_s > 0 && per_s < 1e15 && calls.seconds.empty()) calls.buffer = std::round(per_s * us / 1e6);
        calls.seconds.push_back(static_cast<float>(us / 1e6));
        calls.numbers.push_back(whole_at(v, perf, begin + "_sn", kMostNumber));
        return ++count_ <= kMostCalls;
    }
    RunFile out;

  private:
    RunCalls& calls_of(const Values& v, const Value& header, std::string name, std::int64_t bytes) {
        RunGroup g;
        g.name = text_at(v, header, "comm_name");
        g.own_name = text_at(v, header, "id");
        g.size = whole_at(v, header, "n_ranks", kMostRank + 1);
        const auto [group, new_group] =
            groups_.try_emplace(std::pair(g.own_name, g.name), static_cast<int>(out.groups.size()));
        if (new_group) out.groups.push_back(std::move(g));
        const auto [at, fresh] = calls_.try_emplace(std::tuple(group->second, name, bytes), out.calls.size());
        if (fresh)
            out.calls.push_back({group->second, std::move(name), bytes, static_cast<double>(bytes), {}, {}});
        return out.calls[at->second];
    }
    std::map<std::pair<std::string, std::string>, int> groups_;
    std::map<std::tuple<int, std::string, std::int64_t>, std::size_t> calls_;
    std::size_t count_ = 0;
};

}  // namespace

// An object ends with its line; those that are written over several lines are put together by their braces.
RunFile read_inspector(UnpackedBytes& bytes) {
    std::istream in(&bytes);
    in.exceptions(std::ios::badbit);
    InspectorReader reader;
    Values values;
    std::string object, line;
    int depth = 0;
    std::size_t passed_over = 0;
    bool in_text = false, escaped = false;
    while (std::getline(in, line)) {
        bytes.mark();
        for (const char c : line) {
            if (depth == 0 && c != '{') continue;
            object += c;
            if (in_text) {
                if (!escaped && c == '"') in_text = false;
                escaped = !escaped && c == '\\';
            } else if (c == '"') {
                in_text = true;
            } else if (c == '{') {
                ++depth;
            } else if (c == '}' && --depth == 0) {
                values.clear();
                try {
                    read_json_values(object, values);
                    if (!reader.add(values)) ++passed_over;
                } catch (const Error&) {
                    ++passed_over;
                }
                object.clear();
            }
        }
        if (object.size() > (std::size_t{1} << 20U))
            refuse("an object is longer than 1 MiB: it is no file of the NCCL Inspector");
    }
    RunFile& out = reader.out;
    out.kind = RunFileKind::nccl_inspector;
    if (out.calls.empty()) refuse("it has no calls (coll_perf, p2p_perf)");
    if (passed_over > 0)
        out.warnings.push_back(sentence(count_text(static_cast<std::int64_t>(passed_over), "object"),
                                        " without a call were passed over."));
    if (!object.empty()) out.warnings.emplace_back("Its last object is cut off and was passed over.");
    return std::move(out);
}

}  // namespace pentamesh::runs
