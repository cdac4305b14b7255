#include "core/runs/chrome_events.h"

#include "core/base/text.h"
#include "core/runs/dump.h"
#include "core/runs/measured.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace pentamesh::runs {
namespace {

constexpr double kMostUs = 1e17;  // of a clock: thousands of years

constexpr EnumArray<EventKey, std::string_view> kKeys{
    {"Collective name", "In msg nelems", "Out msg nelems", "dtype", "Group size", "Process Group Name",
     "Process Group Description", "Process Group Ranks", "Global rank start", "Global rank stride"}};

enum class Field : std::uint8_t { none, name, category, phase, process, thread, begin, length };

Field field_called(std::string_view key) {
    constexpr std::array kNamesOf{std::pair{std::string_view("name"), Field::name},
                                  std::pair{std::string_view("cat"), Field::category},
                                  std::pair{std::string_view("ph"), Field::phase},
                                  std::pair{std::string_view("pid"), Field::process},
                                  std::pair{std::string_view("tid"), Field::thread},
                                  std::pair{std::string_view("ts"), Field::begin},
                                  std::pair{std::string_view("dur"), Field::length}};
    for (const auto& [name, field] : kNamesOf)
        if (key == name) return field;
    return Field::none;
}

std::int64_t whole_of(double x, std::int64_t most) {
    return x >= 0 && x <= static_cast<double>(most) && x == std::floor(x) ? static_cast<std::int64_t>(x) : -1;
}

// Receives a JSON text part by part. `level_` counts the containers that are open.
class EventReceiver {
  public:
    EventReceiver(UnpackedBytes& bytes, double least_us, const std::function<void(const ChromeEvent&)>& each,
                  ChromeTrace& out)
        : bytes_(bytes), least_us_(least_us), each_(each), out_(out) {}

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(std::int64_t n) { return number(static_cast<double>(n)); }
    bool number_unsigned(std::uint64_t n) { return number(static_cast<double>(n)); }
    bool number_float(double x, const std::string&) { return number(x); }
    bool binary(std::vector<std::uint8_t>&) { return false; }

    bool string(std::string& text) {
        if (events_ > 0 && level_ == events_ + 1) {
            if (field_ == Field::name) event_.name.swap(text);
            if (field_ == Field::category) event_.category.swap(text);
            if (field_ == Field::phase) event_.phase = text.empty() ? ' ' : text.front();
        } else if (events_ > 0 && level_ == events_ + 2 && in_args_ && arg_) {
            EventValue& v = event_.args[*arg_];
            v.has = true, v.number = 0;
            v.text.swap(text);
        } else if (in_job_ && level_ == 4 && !out_.job.groups.empty()) {
            TraceGroup& g = out_.job.groups.back();
            constexpr std::size_t kMostLetters = 1000;
            if (key_ == "pg_name") g.name = text.substr(0, kMostLetters);
            if (key_ == "pg_desc") g.description = text.substr(0, kMostLetters);
        }
        return true;
    }
    bool key(std::string& text) {
        if (events_ > 0 && level_ == events_ + 1) {
            field_ = field_called(text);
            args_next_ = text == "args";
        } else if (events_ > 0 && level_ == events_ + 2) {
            arg_ = {};
            for (const EventKey k : all_of<EventKey>())
                if (in_args_ && kKeys[k] == text) arg_ = k;
        } else if (level_ == 1) {
            top_ = text;
        } else if (in_job_) {
            if (level_ == 2) job_key_ = text;
            key_ = text;
        }
        return true;
    }
    bool start_object(std::size_t) {
        open();
        if (events_ > 0 && level_ == events_ + 1) {
            event_.name.clear(), event_.category.clear();
            event_.phase = ' ', event_.process = event_.thread = -1;
            event_.begin_us = std::numeric_limits<double>::quiet_NaN();
            event_.length_us = 0;
            for (EventValue& v : event_.args) v.has = false;
            field_ = Field::none, args_next_ = false;
        } else if (events_ > 0 && level_ == events_ + 2) {
            in_args_ = args_next_;
        } else if (level_ == 2 && events_ == 0 && top_ == "distributedInfo") {
            in_job_ = true;
        } else if (in_job_ && level_ == 4 && job_key_ == "pg_config") {
            if (out_.job.groups.size() < kMostGroups) out_.job.groups.emplace_back();
        }
        return true;
    }
    bool end_object() {
        if (events_ > 0 && level_ == events_ + 1) finish_event();
        if (events_ > 0 && level_ == events_ + 2) in_args_ = false;
        if (level_ == 2) in_job_ = false;
        return close();
    }
    bool start_array(std::size_t) {
        open();
        if (events_ == 0 && (level_ == 1 || (level_ == 2 && top_ == "traceEvents"))) events_ = level_;
        return true;
    }
    bool end_array() {
        if (level_ == events_) events_ = 0, found_ = true;
        return close();
    }
    bool parse_error(std::size_t position, const std::string&, const std::exception&) {
        refuse(position == 0 ? "no valid JSON" : "no valid JSON at byte " + std::to_string(position));
    }
    [[nodiscard]] bool found() const { return found_; }

  private:
    static constexpr std::size_t kMostGroups = 10'000;

    void open() {
        if (++level_ > kMostValueLevels) refuse("more than 64 levels");
    }
    bool close() {
        --level_;
        bytes_.mark();
        return true;
    }
    bool number(double x) {
        if (events_ > 0 && level_ == events_ + 1) {
            if (field_ == Field::begin) event_.begin_us = x;
            if (field_ == Field::length) event_.length_us = x;
            if (field_ == Field::process) event_.process = whole_of(x, kMostRank);
            if (field_ == Field::thread) event_.thread = whole_of(x, std::int64_t{1} << 50);
        } else if (events_ > 0 && level_ == events_ + 2 && in_args_ && arg_) {
            EventValue& v = event_.args[*arg_];
            v.has = true, v.number = x;
            v.text.clear();
        } else if (in_job_) {
            job_number(x);
        }
        return true;
    }
    void job_number(double x) {
        if (level_ == 2 && key_ == "rank") out_.job.rank = whole_of(x, kMostRank);
        if (level_ == 2 && key_ == "world_size") out_.job.world = whole_of(x, kMostRank + 1);
        if (out_.job.groups.empty()) return;
        TraceGroup& g = out_.job.groups.back();
        if (level_ == 4 && key_ == "pg_size") g.size = whole_of(x, kMostRank + 1);
        if (level_ != 5 || key_ != "ranks" || ++members_ > kMostMembers) return;
        if (const std::int64_t rank = whole_of(x, kMostRank); rank >= 0) g.ranks.push_back(rank);
    }
    void finish_event() {
        ChromeEvent& e = event_;
        if (e.phase == 'X') {
            if (std::abs(e.begin_us) <= kMostUs && e.length_us >= least_us_ && e.length_us <= kMostUs) {
                e.length_us = std::max(e.length_us, 0.0);
                each_(e);
            } else {
                ++out_.passed_over;
            }
        }
    }

    static constexpr std::size_t kMostMembers = 4'000'000;  // of all groups
    UnpackedBytes& bytes_;
    double least_us_;
    const std::function<void(const ChromeEvent&)>& each_;
    ChromeTrace& out_;
    ChromeEvent event_;
    int level_ = 0, events_ = 0;  // events_: the level in the list of events; 0: outside
    Field field_ = Field::none;
    bool args_next_ = false, in_args_ = false, in_job_ = false, found_ = false;
    std::optional<EventKey> arg_;
    std::string top_, job_key_, key_;
    std::size_t members_ = 0;
};

}  // namespace

std::int64_t ChromeEvent::whole(EventKey key, std::int64_t most) const {
    const EventValue& v = args[key];
    return v.has && v.text.empty() ? whole_of(v.number, most) : -1;
}

ChromeTrace read_chrome_events(UnpackedBytes& bytes, double least_us,
                               const std::function<void(const ChromeEvent&)>& each) {
    ChromeTrace out;
    EventReceiver to(bytes, least_us, each, out);
    std::istream in(&bytes);
    if (!nlohmann::json::sax_parse(in, &to)) refuse("no valid JSON");
    if (!to.found()) refuse("it has no list of events (traceEvents)");
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
