#include "core/runs/chrome_events.h"

#include "core/base/text.h"
#include "core/runs/dump.h"
#include "core/runs/gpu_time.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace pentamesh::runs {
namespace {

constexpr double kMostUs = 1e17;  // of a clock: thousands of years

TraceJob job_of(const Values& v) {
    constexpr std::size_t kMostGroups = 10'000, kMostMembers = 4'000'000, kMostLetters = 1000;
    TraceJob out;
    const Value* job = v.find(v.root, "distributedInfo");
    if (!job) return out;
    out.rank = whole_of(v.find(*job, "rank"), kMostRank);
    out.world = whole_of(v.find(*job, "world_size"), kMostRank + 1);
    const Value* groups = v.find(*job, "pg_config");
    if (!groups || groups->kind != ValueKind::list) return out;
    std::size_t members = 0;
    for (const Value& g : v.items(*groups)) {
        if (out.groups.size() >= kMostGroups) break;
        TraceGroup& to = out.groups.emplace_back();
        to.name = text_of(v.find(g, "pg_name")).substr(0, kMostLetters);
        to.description = text_of(v.find(g, "pg_desc")).substr(0, kMostLetters);
        if (const Value* size = v.find(g, "pg_size")) to.size = whole_of(size, kMostRank + 1);
        const Value* ranks = v.find(g, "ranks");
        for (const Value& r : ranks ? v.items(*ranks) : std::span<const Value>())
            if (const std::int64_t rank = whole_of(&r, kMostRank); rank >= 0 && ++members <= kMostMembers)
                to.ranks.push_back(rank);
    }
    return out;
}

ChromeEvent event_of(const Values& values, const Value& item) {
    ChromeEvent e{values};
    e.begin_us = std::numeric_limits<double>::quiet_NaN();
    if (item.kind != ValueKind::dict) return e;
    const std::span<const Value> fields = values.items(item);
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
        const std::string_view key = fields[i].view();
        const Value& value = fields[i + 1];
        if (key == "name")
            e.name = value.view();
        else if (key == "cat")
            e.category = value.view();
        else if (key == "ph")
            e.phase = value.view().empty() ? ' ' : value.view().front();
        else if (key == "pid")
            e.process = whole_of(&value, kMostRank);
        else if (key == "tid")
            e.thread = whole_of(&value, std::int64_t{1} << 50);
        else if (key == "ts")
            e.begin_us = real_of(&value, e.begin_us);
        else if (key == "dur")
            e.length_us = real_of(&value, 0);
        else if (key == "args")
            e.args = &value;
    }
    return e;
}

}  // namespace

std::string_view ChromeEvent::text(std::string_view key) const {
    return args ? text_of(values.find(*args, key)) : std::string_view();
}
std::int64_t ChromeEvent::whole(std::string_view key, std::int64_t most) const {
    return args ? whole_of(values.find(*args, key), most) : -1;
}

ChromeTrace read_chrome_events(UnpackedBytes& bytes, double least_us,
                               const std::function<void(const ChromeEvent&)>& each) {
    ChromeTrace out;
    const auto read = [&](const Values& values, const Value& item) {
        ChromeEvent e = event_of(values, item);
        if (e.phase == 'M') each(e);
        if (e.phase != 'X') return;
        if (std::abs(e.begin_us) <= kMostUs && e.length_us >= least_us && e.length_us <= kMostUs) {
            e.length_us = std::max(e.length_us, 0.0);
            each(e);
        } else {
            ++out.passed_over;
        }
    };
    Values rest;
    if (!read_json_list(bytes, "traceEvents", read, rest)) refuse("it has no list of events (traceEvents)");
    out.job = job_of(rest);
    return out;
}

// Reads traces of PyTorch (Kineto): what a GPU's time of a step goes to, and its collectives.

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
            note_other(e);
        }
        if (time_.size() > kMostGpuEvents) refuse("more than 12 million events of a GPU");
    }

    void finish(const ChromeTrace& trace, const PartOfGroup& part_of) {
        if (!time_.has_events()) refuse(words_without_kernels());
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
    // Keeps what the trace is of where it turns out to have no kernels.
    void note_other(const ChromeEvent& e) {
        if (e.phase == 'M') {
            // torch_npu names its device "Ascend Hardware", XLA's profiler "/device:TPU:0" or
            // "/device:GPU:0".
            const std::string_view name = same(e.name, "process_name") ? e.text("name") : std::string_view();
            if (device_.empty() && (is_accelerator(name) || holds(name, "/device:"))) device_ = shown(name);
            return;
        }
        constexpr std::array<std::string_view, 8> kCpu{"cpu_op",      "operator",         "user_annotation",
                                                       "overhead",    "python_function",  "cuda_runtime",
                                                       "cuda_driver", "cpu_instant_event"};
        if (std::any_of(kCpu.begin(), kCpu.end(), [&](std::string_view c) { return same(e.category, c); })) {
            ++cpu_;
            return;
        }
        if (device_.empty() && is_accelerator(e.category)) device_ = shown(e.category);
        if (other_++ == 0) other_category_ = shown(e.category);
    }
    // Names of devices, and categories that Kineto gives events of accelerators that are no GPUs
    // (libkineto/include/ActivityType.h).
    static bool is_accelerator(std::string_view name) {
        constexpr std::array<std::string_view, 8> kWords{
            "ascend hardware", "npu ", "npu:", "device:tpu", "hpu_op", "mtia_", "privateuse1_", "neuron"};
        return holds_one(name, kWords);
    }
    static std::string shown(std::string_view name) {
        constexpr std::size_t kMostShown = 40;
        return std::string(name.substr(0, kMostShown));
    }
    [[nodiscard]] std::string words_without_kernels() const {
        if (is_accelerator(device_))
            return "a trace of an accelerator that is no GPU (\"" + device_
                   + "\"): only the kernels of GPUs are read";
        if (!device_.empty())
            return "a trace of XLA's profiler (\"" + device_ + "\"): only those of PyTorch's are read";
        if (cpu_ > 0) return "a CPU trace: it has no kernels of a GPU (profile with ProfilerActivity.CUDA)";
        if (other_ == 0) return "it has no events of a GPU";
        return "it has no kernels of a GPU and no operations of PyTorch: its events are of "
               + (other_category_.empty() ? "no category" : "the category \"" + other_category_ + "\"");
    }

    // Finds the calls to which a kernel belongs: group, collective, bytes.
    int calls_of(const ChromeEvent& e) {
        const int group = group_of(e, e.text("Process Group Name"), e.text("Process Group Description"),
                                   e.text("Process Group Ranks"));
        constexpr std::int64_t kMostElements = std::int64_t{1} << 46;
        const double elements =
            static_cast<double>(std::max({e.whole("In msg nelems", kMostElements),
                                          e.whole("Out msg nelems", kMostElements), std::int64_t{0}}));
        const double bytes = elements * bytes_of(e.text("dtype"));
        const std::string collective = collective_of(e.text("Collective name"), e.name);
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
        g.size = std::max(e.whole("Group size", kMostRank + 1), std::int64_t{0});
        g.ranks = first_ranks(ranks);
        const std::int64_t start = e.whole("Global rank start", kMostRank),
                           stride = e.whole("Global rank stride", kMostRank);
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
    std::size_t cpu_ = 0, other_ = 0;  // events of PyTorch on the CPU; all other ones that are not read
    std::string device_, other_category_;
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
