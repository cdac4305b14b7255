// Reads traces of PyTorch (Kineto): what a GPU's time of a step goes to, and its collectives.
#include "core/base/text.h"
#include "core/runs/chrome_events.h"
#include "core/runs/dump.h"
#include "core/runs/gpu_time.h"
#include "core/runs/values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostGpuEvents = 12'000'000;
constexpr std::size_t kMostKinds = 100'000;  // kinds of them

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
               return std::tolower(static_cast<unsigned char>(x)) == y;
           });
}
// Returns true if the text holds the word, which is in small letters.
bool holds(std::string_view text, std::string_view word) {
    return std::search(text.begin(), text.end(), word.begin(), word.end(),
                       [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == y; })
           != text.end();
}
template <std::size_t N>
bool holds_one(std::string_view text, const std::array<std::string_view, N>& words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return holds(text, w); });
}

bool is_communication(std::string_view kernel) {
    constexpr std::array<std::string_view, 6> kWords{
        "nccl", "rccl", "nvshmem", "deep_ep", "::ep::internode", "::ep::intranode"};
    return holds_one(kernel, kWords);
}
bool is_optimizer(std::string_view kernel) {
    constexpr std::array<std::string_view, 4> kWords{"multi_tensor_apply", "adam", "_sgd", "muon"};
    if (holds_one(kernel, kWords)) return true;
    // LAMB, but no lambda, of which many kernels are made.
    for (std::size_t at = 0; at + 4 <= kernel.size(); ++at)
        if (same(kernel.substr(at, 4), "lamb") && !same(kernel.substr(at + 4, 2), "da")) return true;
    return false;
}

double bytes_of(std::string_view type) {
    constexpr std::array kTypes{
        std::pair{std::string_view("double"), 8.0}, std::pair{std::string_view("long"), 8.0},
        std::pair{std::string_view("float"), 4.0},  std::pair{std::string_view("int"), 4.0},
        std::pair{std::string_view("half"), 2.0},   std::pair{std::string_view("bfloat16"), 2.0},
        std::pair{std::string_view("short"), 2.0}};
    for (const auto& [name, bytes] : kTypes)
        if (same(type, name)) return bytes;
    return 1;  // Byte, Char, Bool, Float8_e4m3fn
}

constexpr std::int64_t kKnownRanks = 64;  // so many of a group tell where it lies

// Reads "[0, 1, ..., 28, ..., 504]": the first ranks, up to the first gap.
std::vector<std::int64_t> first_ranks(std::string_view text) {
    std::vector<std::int64_t> out;
    const std::size_t gap = std::min(text.find("..."), text.size());
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) < gap;) {
        std::int64_t n = 0;
        const auto [end, failed] = std::from_chars(text.data() + at, text.data() + gap, n);
        if (failed != std::errc() || n > kMostRank) return {};
        out.push_back(n);
        if (static_cast<std::int64_t>(out.size()) == kKnownRanks) break;
        at = static_cast<std::size_t>(end - text.data());
    }
    return out;
}

// Names a collective as NCCL does, by what PyTorch calls it or by its kernel.
std::string collective_of(std::string_view called, std::string_view kernel) {
    constexpr std::array kNamesOf{std::pair{std::string_view("reduce_scatter"), "ReduceScatter"},
                                  std::pair{std::string_view("reducescatter"), "ReduceScatter"},
                                  std::pair{std::string_view("all_to_all"), "AllToAll"},
                                  std::pair{std::string_view("alltoall"), "AllToAll"},
                                  std::pair{std::string_view("all_reduce"), "AllReduce"},
                                  std::pair{std::string_view("allreduce"), "AllReduce"},
                                  std::pair{std::string_view("all_gather"), "AllGather"},
                                  std::pair{std::string_view("allgather"), "AllGather"},
                                  std::pair{std::string_view("broadcast"), "Broadcast"},
                                  std::pair{std::string_view("sendrecv"), "SendRecv"},
                                  std::pair{std::string_view("send"), "Send"},
                                  std::pair{std::string_view("recv"), "Recv"},
                                  std::pair{std::string_view("reduce"), "Reduce"},
                                  std::pair{std::string_view("dispatch"), "Dispatch"},
                                  std::pair{std::string_view("combine"), "Combine"}};
    for (const std::string_view text : {called, kernel})
        for (const auto& [word, name] : kNamesOf)
            if (!text.empty() && holds(text, word)) return name;
    return "other";
}

class KinetoReader {
  public:
    explicit KinetoReader(RunFile& out) : out_(out) {}

    void add(const ChromeEvent& e) {
        if (e.phase != 'X') return;
        if (same(e.category, "kernel")) {
            if (gpu_ && *gpu_ != e.process)
                refuse("it has kernels of several GPUs: one trace a rank is read, as PyTorch's profiler "
                       "writes it");
            gpu_ = e.process;
            if (is_communication(e.name))
                time_.add({e.begin_us, e.length_us, GpuWork::communication, calls_of(e)});
            else
                time_.add({e.begin_us, e.length_us,
                           is_optimizer(e.name) ? GpuWork::optimizer : GpuWork::compute, -1});
        } else if (same(e.category, "gpu_memcpy") || same(e.category, "gpu_memset")) {
            time_.add({e.begin_us, e.length_us, GpuWork::copy, -1});
        } else if (same(e.category, "gpu_user_annotation")) {
            if (e.name.starts_with("Optimizer.step")) time_.add_optimizer(e.begin_us, e.length_us);
        } else if (e.name.starts_with("ProfilerStep#")
                   && (same(e.category, "user_annotation") || same(e.category, "operator"))) {
            time_.add_mark(e.begin_us, e.length_us);
        } else {
            ++other_;
        }
        if (time_.size() > kMostGpuEvents) refuse("more than 12 million events of a GPU");
    }

    void finish(const ChromeTrace& trace, const PartOfGroup& part_of) {
        if (!time_.has_events())
            refuse(other_ > 0 ? "a CPU trace: it has no kernels of a GPU (profile with "
                                "ProfilerActivity.CUDA)"
                              : "it has no events of a GPU");
        out_.rank = trace.job.rank, out_.world = trace.job.world;
        for (RunGroup& g : out_.groups) complete(g, trace.job);
        std::vector<RunPart> parts;
        for (const RunCalls& c : out_.calls) {
            const RunGroup none;
            parts.push_back(part_of(c.group < 0 ? none : out_.groups[static_cast<std::size_t>(c.group)],
                                    c.collective, out_));
        }
        time_.split(parts, out_);
        const bool sends = std::all_of(out_.calls.begin(), out_.calls.end(), [](const RunCalls& c) {
            return c.group < 0 && c.collective == "SendRecv";
        });
        if (!out_.calls.empty() && sends)
            out_.warnings.emplace_back(
                "Its communication is SendRecv kernels without groups: pipeline or all-to-all, which the "
                "trace does not tell.");
        if (trace.passed_over > 0)
            out_.warnings.push_back(
                sentence(count_text(static_cast<std::int64_t>(trace.passed_over), "event"),
                         " without a sensible time were passed over."));
    }

  private:
    // Finds the calls to which a kernel belongs: group, collective, bytes.
    int calls_of(const ChromeEvent& e) {
        const auto text = [&](EventKey k) {
            return e.args[k].has ? std::string_view(e.args[k].text) : std::string_view();
        };
        const int group = group_of(e, text(EventKey::group_name), text(EventKey::group_description),
                                   text(EventKey::group_ranks));
        constexpr std::int64_t kMostElements = std::int64_t{1} << 46;
        const double elements =
            static_cast<double>(std::max({e.whole(EventKey::elements_in, kMostElements),
                                          e.whole(EventKey::elements_out, kMostElements), std::int64_t{0}}));
        const double bytes = elements * bytes_of(text(EventKey::dtype));
        const std::string collective = collective_of(text(EventKey::collective), e.name);
        const auto [at, fresh] = call_numbers_.try_emplace(std::tuple(group, collective, bytes),
                                                           static_cast<int>(out_.calls.size()));
        if (fresh) {
            if (out_.calls.size() >= kMostKinds) refuse("more than 100,000 kinds of collectives");
            out_.calls.push_back({group, collective, static_cast<std::int64_t>(bytes), bytes, {}, {}});
        }
        return at->second;
    }
    // Returns -1 for a kernel that says nothing of its group.
    int group_of(const ChromeEvent& e, std::string_view name, std::string_view description,
                 std::string_view ranks) {
        if (name.empty() && description.empty() && ranks.empty()) return -1;
        constexpr std::size_t kMostLetters = 1000;
        name = name.substr(0, kMostLetters), description = description.substr(0, kMostLetters);
        std::string key(name);
        ((key += '\n') += description) += '\n';
        key += ranks.substr(0, kMostLetters);
        const auto [at, fresh] = group_numbers_.try_emplace(key, static_cast<int>(out_.groups.size()));
        if (!fresh) return at->second;
        if (out_.groups.size() >= kMostKinds) refuse("more than 100,000 groups");
        RunGroup g;
        g.name = description, g.own_name = name;
        g.size = std::max(e.whole(EventKey::group_size, kMostRank + 1), std::int64_t{0});
        g.ranks = first_ranks(ranks);
        const std::int64_t start = e.whole(EventKey::group_start, kMostRank),
                           stride = e.whole(EventKey::group_stride, kMostRank);
        if (start >= 0 && stride > 0 && g.size > 1 && start + (g.size - 1) * stride <= kMostRank) {
            g.ranks.clear();
            for (std::int64_t i = 0; i < std::min(g.size, kKnownRanks); ++i)
                g.ranks.push_back(start + i * stride);
        }
        out_.groups.push_back(std::move(g));
        return at->second;
    }
    static void complete(RunGroup& g, const TraceJob& job) {
        for (const TraceGroup& t : job.groups) {
            if (t.name.empty() || t.name != g.own_name) continue;
            if (g.name.empty()) g.name = t.description;
            if (g.size == 0) g.size = t.size;
            if (t.ranks.size() > g.ranks.size()) g.ranks = t.ranks;
        }
        if (g.size == 0) g.size = static_cast<std::int64_t>(g.ranks.size());
    }

    RunFile& out_;
    GpuTime time_;
    std::map<std::tuple<int, std::string, double>, int> call_numbers_;
    std::unordered_map<std::string, int> group_numbers_;
    std::size_t other_ = 0;
    std::optional<std::int64_t> gpu_;  // the process of its kernels
};

}  // namespace

RunFile read_kineto(UnpackedBytes& bytes, const PartOfGroup& part_of) {
    RunFile out;
    KinetoReader reader(out);
    const ChromeTrace trace = read_chrome_events(bytes, 0, [&](const ChromeEvent& e) { reader.add(e); });
    reader.finish(trace, part_of);
    return out;
}

}  // namespace pentamesh::runs
