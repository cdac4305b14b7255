#include "core/runs/run_file.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/runs/dump.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <exception>
#include <fstream>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>
#include <zlib.h>

namespace pentamesh::runs {

namespace {

std::string too_much(std::uint64_t most) {
    return "unpacked it is larger than " + std::to_string(most >> 20U) + " MiB, the most that is read of it";
}

}  // namespace

// Unpacks what `more` gives, until it gives nothing.
class Unpacker {
  public:
    explicit Unpacker(std::function<std::string_view()> more) : more_(std::move(more)) {
        constexpr int kGzip = 15 + 16;  // the largest window, a gzip head
        if (inflateInit2(&z_, kGzip) != Z_OK) refuse("gzip could not be unpacked");
    }
    ~Unpacker() { inflateEnd(&z_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    // Returns how many bytes it wrote; 0 at the end.
    std::size_t read(char* to, std::size_t room) {
        const std::size_t made = read_any(to, room);
        made_ += made;
        // Text is packed to a tenth, repeated text to a thirtieth: what is packed far closer says nothing.
        const std::uint64_t most = std::max(kMostUnproved, kMostRatio * fed_);
        if (made_ > most) refuse(too_much(most));
        return made;
    }

  private:
    static constexpr std::uint64_t kMostUnproved = std::uint64_t{128} << 20U, kMostRatio = 100;
    std::size_t read_any(char* to, std::size_t room) {
        while (true) {
            const bool any = z_.avail_in > 0 || feed();
            if (ended_) {
                // Several may follow each other in one file; what is no gzip after one is not looked at.
                if (!any || z_.next_in[0] != 0x1f || inflateReset(&z_) != Z_OK) return 0;
                ended_ = false;
            }
            z_.next_out = reinterpret_cast<Bytef*>(to);
            z_.avail_out = static_cast<uInt>(room);
            const int state = inflate(&z_, Z_NO_FLUSH);
            const std::size_t made = room - z_.avail_out;
            ended_ = state == Z_STREAM_END;
            if (!ended_ && state != Z_OK && state != Z_BUF_ERROR) refuse("the gzip file is damaged");
            if (made > 0) return made;
            if (!ended_ && !any) refuse("the gzip file is cut off");
        }
    }

    bool feed() {
        if (rest_.empty()) rest_ = more_();
        const std::size_t part = std::min(rest_.size(), std::size_t{1} << 30U);
        z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
        z_.avail_in = static_cast<uInt>(part);
        rest_.remove_prefix(part);
        fed_ += part;
        return part > 0;
    }
    std::function<std::string_view()> more_;
    std::string_view rest_;
    z_stream z_{};
    std::uint64_t fed_ = 0, made_ = 0;  // bytes
    bool ended_ = false;
};

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out) {
    out.clear();
    Unpacker unpacker([&] { return std::exchange(bytes, {}); });
    std::array<char, std::size_t{1} << 16U> block{};
    while (const std::size_t made = unpacker.read(block.data(), block.size())) {
        if (out.size() + made > most) refuse(too_much(most));
        out.append(block.data(), made);
    }
}

UnpackedBytes::UnpackedBytes(std::istream& from) : from_(from), packed_(std::size_t{1} << 18U) {}
UnpackedBytes::~UnpackedBytes() = default;

std::string_view UnpackedBytes::next_packed() {
    from_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    return {packed_.data(), static_cast<std::size_t>(from_.gcount())};
}

UnpackedBytes::int_type UnpackedBytes::underflow() {
    constexpr std::uint64_t kMostBetweenMarks = std::uint64_t{64} << 20U;
    if (gptr() == egptr()) {
        std::string_view bytes;
        if (!begun_) {
            begun_ = true;
            bytes = next_packed();
            if (is_gzip(bytes)) {
                block_.resize(packed_.size());
                unpacker_ = std::make_unique<Unpacker>([this, first = bytes]() mutable {
                    return first.empty() ? next_packed() : std::exchange(first, {});
                });
            }
        } else if (!unpacker_) {
            bytes = next_packed();
        }
        if (unpacker_) bytes = {block_.data(), unpacker_->read(block_.data(), block_.size())};
        since_mark_ += bytes.size();
        if (since_mark_ > kMostBetweenMarks) refuse("a single value or line is longer than 64 MiB");
        char* begin = const_cast<char*>(bytes.data());
        setg(begin, begin, begin + bytes.size());
    }
    return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string_view UnpackedBytes::peek() {
    static_cast<void>(underflow());
    return {gptr(), static_cast<std::size_t>(egptr() - gptr())};
}

namespace {

constexpr std::size_t kPlanHead = 4096;  // a plan says within that what it is

// Returns the rank in a name such as "rank3.pt.trace.json.gz" or "trace_rank-3.json"; -1: it has none.
std::int64_t rank_in_trace_name(const std::string& name) {
    const std::size_t at = name.find("rank");
    if (at == std::string::npos) return -1;
    const std::size_t begin = name.find_first_of("0123456789", at);
    if (begin == std::string::npos || begin > at + 5) return -1;
    return rank_in_name(name.substr(0, name.find_first_not_of("0123456789", begin)));
}

// Decides by the first block of a file.
std::optional<RunFileKind> kind_of(std::string_view head) {
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    const char sign = first == std::string_view::npos ? ' ' : head[first];
    const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
    if (sign == '{' && has("\"inspector_output_format_version\"")) return RunFileKind::nccl_inspector;
    if (sign == '{' || (sign == '[' && has("\"ph\""))) return RunFileKind::kineto;
    return std::nullopt;
}

constexpr const char* kNotRead = "this build reads no files of real runs";

std::string dump_words() {
    return std::string("this is a dump of PyTorch's flight recorder; ")
           + (kReadsRuns ? "`pentamesh hang` reads the folder in which it lies" : kNotRead);
}

// Counts what is read of a file, and ends it where nobody waits for it any more.
class WatchedFile : public std::filebuf {
  public:
    explicit WatchedFile(ReadWatch* watch) : watch_(watch) {}

  protected:
    std::streamsize xsgetn(char* to, std::streamsize most) override {
        if (watch_ == nullptr) return std::filebuf::xsgetn(to, most);
        if (watch_->cancelled) return 0;
        const std::streamsize count = std::filebuf::xsgetn(to, most);
        watch_->bytes += static_cast<std::uint64_t>(count);
        return count;
    }

  private:
    ReadWatch* watch_;
};

// Returns true for a table of plans and of what was measured (docs/calibrate.md), which is no run of one
// plan.
bool is_table_of_runs(std::string_view text) {
    constexpr std::size_t kHead = 4096;
    const std::string_view head = text.substr(0, kHead);
    return (head.starts_with('{') || head.starts_with('['))
           && head.find("\"measured\"") != std::string_view::npos
           && head.find("\"plan\"") != std::string_view::npos;
}

constexpr std::string_view kTableWords =
    kReadsRuns
        ? "this is a table of measured runs; `pentamesh calibrate` fits the constants of a cluster to it"
        : "this is a table of measured runs; this build reads no files of real runs";

// Says what settings are that are given where a run is expected; empty for all else.
std::string settings_words(const std::string& text) {
    if (const auto fits = interop::guess_tools(text); !fits.empty())
        return sentence("these are settings (", fits.front()->name,
                        "), no file of a run; `pentamesh import` reads them");
    if (interop::fabric_tool(text))
        return "this is what a tool says of the fabric; `pentamesh import` and `pentamesh calibrate` read it";
    if (is_table_of_runs(text)) return std::string(kTableWords);
    return "";
}

// Throws again what a reader said of a file; of settings it says what they are.
[[noreturn]] void refuse_file(const Error& e, const std::string& name, const std::string& text) {
    const std::string words = e.kind() == ErrorKind::invalid ? settings_words(text) : "";
    throw Error(e.kind(), name, "", words.empty() ? e.message() : words);
}

}  // namespace

void end_if_cancelled(const ReadWatch* watch) {
    if (watch != nullptr && watch->cancelled) refuse("was not read to its end");
}

std::string unpacked_begin(std::string_view text) {
    constexpr std::size_t kHead = std::size_t{1} << 18U;
    std::istringstream in{std::string(text.substr(0, kHead))};
    UnpackedBytes bytes(in);
    try {
        return std::string(bytes.peek());
    } catch (const Error&) {
        return "";
    }
}

std::optional<RunFileKind> run_file_kind(std::string_view begin) {
    const std::string head = unpacked_begin(begin);
    const std::optional<RunFileKind> kind = kind_of(head);
    // Other JSON begins with a brace too.
    const bool trace = head.find("\"traceEvents\"") != std::string::npos || head.starts_with('[');
    return kind == RunFileKind::kineto && !trace ? std::nullopt : kind;
}

std::string run_file_words(std::string_view text) {
    if (is_dump_text(text) || is_dump_text(unpacked_begin(text))) return dump_words();
    const std::optional<RunFileKind> kind = run_file_kind(text);
    if (!kind) return is_table_of_runs(text) ? std::string(kTableWords) : "";
    return std::string("this is ")
           + (*kind == RunFileKind::nccl_inspector ? "a file of the NCCL Inspector" : "a trace of a run")
           + ", no settings; " + (kReadsRuns ? "`pentamesh measured` reads it" : kNotRead);
}

void refuse_without_runs() {
    if constexpr (!kReadsRuns) refuse(std::string(kNotRead) + ": it was configured with PENTAMESH_RUNS=OFF");
}

RunFile read_run_stream(std::istream& in, const std::string& name, const PartOfGroup& part_of) {
    refuse_without_runs();
    UnpackedBytes bytes(in);
    const std::string_view head = bytes.peek();
    RunFile out;
    if (head.empty()) refuse("is empty");
    if (is_dump_text(head)) refuse(dump_words());
    if (head.substr(0, kPlanHead).find("pentamesh.plan/") != std::string_view::npos)
        refuse("this is a plan, no file of a run: give it with --plan");
    const std::optional<RunFileKind> kind = kind_of(head);
    if (!kind) {
        out = read_run_log(bytes);
        if (out.steps == 0)
            refuse(
                "is no run that can be read: traces of PyTorch (JSON), logs of Megatron (\"elapsed time per "
                "iteration (ms): ...\"), torchtitan (\"tps: ...\") and DeepSpeed (\"CurrSamplesPerSec=...\") "
                "and files of the NCCL Inspector are");
    } else {
        out = *kind == RunFileKind::nccl_inspector ? read_inspector(bytes) : read_kineto(bytes, part_of);
        out.kind = *kind;
    }
    out.file = name;
    if (out.rank < 0 && out.kind == RunFileKind::kineto) out.rank = rank_in_trace_name(name);
    return out;
}

RunFile read_run_file(const std::filesystem::path& path, const PartOfGroup& part_of, ReadWatch* watch) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed))
        throw Error(ErrorKind::io, path.string(), "",
                    std::filesystem::exists(path, failed) ? "is no plain file" : "there is no such file");
    WatchedFile file(watch);
    if (file.open(path, std::ios::in | std::ios::binary) == nullptr)
        throw Error(ErrorKind::io, path.string(), "", "cannot be read");
    std::istream in(&file);
    try {
        RunFile out = read_run_stream(in, path.filename().string(), part_of);
        end_if_cancelled(watch);  // what it has then is cut off
        return out;
    } catch (const Error& e) {
        end_if_cancelled(watch);
        constexpr std::size_t kMostSettings = std::size_t{4} << 20U;
        std::string text;
        if (e.kind() == ErrorKind::invalid) static_cast<void>(try_read_file(path, kMostSettings, text));
        refuse_file(e, path.string(), text);
    }
}

RunFile read_run_text(const std::string& text, const std::string& name, const PartOfGroup& part_of) {
    try {
        std::istringstream in(text);
        return read_run_stream(in, name, part_of);
    } catch (const Error& e) {
        refuse_file(e, name, text);
    }
}

// Reads logs of Megatron, with or without timers, of torchtitan and of DeepSpeed.

namespace {

constexpr std::size_t kMostSteps = 10'000'000;
constexpr double kMostFigure = 1e12;  // milliseconds or tokens a second

// Removes colours of a terminal, which torchtitan writes into its log.
std::string without_colours(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            const std::size_t end = text.find_first_not_of("0123456789;", i + 2);
            if (end == std::string_view::npos) break;
            i = end;
        } else {
            out += text[i];
        }
    }
    return out;
}

// Returns the largest figure in a text such as "(12.10, 14.20)" or "7,212"; 0 without one.
double largest_figure(std::string_view text) {
    double largest = 0;
    const bool two = text.find('(') != std::string_view::npos;  // the comma then stands between two
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
        const std::size_t end =
            std::min(text.find_first_not_of(two ? "0123456789.eE+-" : "0123456789.,eE+-", at), text.size());
        std::string digits(text.substr(at, end - at));
        std::erase(digits, ',');
        if (const auto x = parse_double(digits); x && *x <= kMostFigure) largest = std::max(largest, *x);
        at = end;
    }
    return largest;
}

// Returns the figure that follows a word in a line; 0 without one.
double figure_behind(std::string_view line, std::string_view word) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) return 0;
    line.remove_prefix(at + word.size());
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find_first_not_of("0123456789.,eE+-", begin), line.size());
    return largest_figure(line.substr(begin, end - begin));
}

double middle_of(std::vector<double> steps) {
    constexpr std::size_t kWarm = 2;  // they compile, allocate and connect
    if (steps.size() > kWarm) steps.erase(steps.begin(), steps.begin() + kWarm);
    return median(std::move(steps));
}

// Megatron's timers that are read (megatron/core/timers.py, training.py); sums over the micro-batches.
enum class Timer : std::uint8_t {
    forward_backward,
    forward,
    backward,
    grads_sync,
    optimizer,
    params_gather,
    forward_recv
};

}  // namespace
}  // namespace pentamesh::runs

namespace pentamesh {
template <>
inline constexpr std::size_t kEnumCount<runs::Timer> = 7;
}  // namespace pentamesh

namespace pentamesh::runs {
namespace {

constexpr EnumArray<Timer, std::string_view> kTimers{{"forward-backward", "forward-compute",
                                                      "backward-compute", "all-grads-sync", "optimizer",
                                                      "params-all-gather", "forward-recv"}};

class LogReader {
  public:
    void line(std::string_view line) {
        if (const double ms = figure_behind(line, "elapsed time per iteration (ms):"); ms > 0) {
            keep(steps_ms_, ms);
            number_ = static_cast<std::int64_t>(figure_behind(line, "iteration "));
            blocks_ = 0, open_ = false;
            if (const double batch = figure_behind(line, "global batch size:"); batch > 0 && batch < 1e9)
                out_.global_batch = static_cast<std::int64_t>(batch);
        } else if (line.find("across ranks (ms):") != std::string_view::npos) {
            open_ = ++blocks_ == 1;  // later ones are of checkpoints and evaluations
        } else if (const std::size_t at = line.find("time (ms) |"); at != std::string_view::npos) {
            if (++blocks_ == 1) old_timers(line.substr(at + std::string_view("time (ms) |").size()));
        } else if (open_) {
            open_ = timer_line(line);
        } else if (steps_ms_.empty() && line.find("tps:") != std::string_view::npos) {
            if (const double rate = figure_behind(without_colours(line), "tps:"); rate > 0)
                keep(rates_, rate),
                    number_ = static_cast<std::int64_t>(figure_behind(without_colours(line), "step:"));
        } else if (line.find("SamplesPerSec=") != std::string_view::npos) {
            deepspeed(line);
        }
    }

    RunFile finish() {
        if (!steps_ms_.empty()) {
            out_.kind = RunFileKind::megatron_log;
            out_.steps = steps_ms_.size();
            out_.step_s = middle_of(std::move(steps_ms_)) / 1e3;
            find_parts();
        } else if (!samples_.empty()) {
            out_.kind = RunFileKind::deepspeed_log;
            out_.steps = samples_.size();
            out_.samples_per_s = middle_of(std::move(samples_));
            // The timer begins behind the warm-up.
            return std::move(out_);
        } else {
            out_.kind = RunFileKind::torchtitan_log;
            out_.steps = rates_.size();
            out_.tokens_per_s_per_gpu = middle_of(std::move(rates_));
        }
        if (out_.steps == 1) {
            // A line of a later step may be the mean of all that lie before it (Megatron's --log-interval).
            out_.warm_up = number_ == 1;
            out_.warnings.push_back(
                out_.warm_up ? "The log has one step, its first: it compiles, allocates and connects, and "
                               "takes longer than those behind it."
                             : sentence("The log has one figure", number_ > 1 ? ", of step " : "",
                                        number_ > 1 ? std::to_string(number_) : "",
                                        ". If the first step is in it, it is too long: that one compiles, "
                                        "allocates and connects."));
        }
        return std::move(out_);
    }

  private:
    static void keep(std::vector<double>& list, double x) {
        if (list.size() < kMostSteps) list.push_back(x);
    }
    // Reads a line of DeepSpeed's ThroughputTimer (deepspeed/utils/timer.py): sequences a second of the whole
    // job (its batch is train_batch_size), between two lines and since the second step; its GB are 2^30.
    void deepspeed(std::string_view line) {
        double rate = figure_behind(line, "CurrSamplesPerSec=");
        if (!(rate > 0)) rate = figure_behind(line, "RunningAvgSamplesPerSec=");
        if (rate > 0) keep(samples_, rate);
        constexpr double kGiB = 1 << 30;
        out_.peak_bytes = std::max(out_.peak_bytes, kGiB * figure_behind(line, "MaxMemAllocated="));
    }
    // Reads "    forward-compute ....: (12.10, 14.20)", and with --timing-log-option all "  forward-compute:"
    // and lines "     rank  0: 12.1" below it. Returns false for a line of another kind.
    bool timer_line(std::string_view line) {
        const std::size_t colon = line.rfind(':');
        const std::string_view name = trimmed(line.substr(0, std::min(colon, line.size())));
        if (colon == std::string_view::npos || name.empty() || name.find('|') != std::string_view::npos)
            return false;
        const double ms = largest_figure(line.substr(colon + 1));
        if (name.starts_with("rank ")) {
            if (of_ranks_ && ms > 0) {
                std::vector<double>& all = timers_[*of_ranks_];
                if (fresh_) keep(all, ms);
                if (!fresh_ && !all.empty()) all.back() = std::max(all.back(), ms);
                fresh_ = false;
            }
            return true;
        }
        of_ranks_.reset();
        for (const Timer t : all_of<Timer>())
            if (name.substr(0, name.find_first_of(" .")) == kTimers[t]) {
                if (ms > 0) keep(timers_[t], ms);
                if (trimmed(line.substr(colon + 1)).empty()) of_ranks_ = t, fresh_ = true;
            }
        return true;
    }
    // Reads "forward-compute: 58.16 | backward-compute: 110.2", as older versions write it.
    void old_timers(std::string_view line) {
        for (const std::string_view timer : split_lines(line, '|')) static_cast<void>(timer_line(timer));
    }

    // megatron/core/pipeline_parallel/schedules.py:763-886, training.py:3159-3177,
    // finalize_model_grads.py:638-680, distrib_optimizer.py:3180-3197: which timers hold which.
    void find_parts() {
        EnumArray<Timer, double> s{};
        for (const Timer t : all_of<Timer>()) s[t] = middle_of(timers_[t]) / 1e3;
        if (s[Timer::forward_backward] <= 0) return;
        bool below_zero = false;
        const auto put = [&](RunPart part, double x) {
            if (x < 0) below_zero = true;
            out_.parts[part] = PartTime{std::max(x, 0.0), std::max(x, 0.0)};
        };
        const double compute = s[Timer::forward] + s[Timer::backward];
        const double sync = s[Timer::grads_sync], gather = s[Timer::params_gather];
        if (compute > 0) put(RunPart::compute, compute);
        put(RunPart::pipeline, s[Timer::forward_backward] - compute - sync);
        put(RunPart::dp, sync + gather);
        put(RunPart::optimizer, s[Timer::optimizer] - gather);
        put(RunPart::rest, out_.step_s - s[Timer::forward_backward] - s[Timer::optimizer]);
        if (below_zero)
            out_.warnings.emplace_back(
                "A part came out below 0 and counts as 0: the timers' maxima are of different ranks.");
        if (!(compute > 0))
            out_.warnings.emplace_back(
                "The timers do not say compute (--timing-log-level 2 does): it stands in pipeline.");
        else
            out_.warnings.emplace_back("Timers of level 2 wait for the device around each of them: the run "
                                       "is slower with them than without.");
        if (s[Timer::forward_recv] > 0)
            out_.warnings.emplace_back("The timers of receives hold the wait for the neighbouring stage.");
    }

    RunFile out_;
    std::vector<double> steps_ms_, rates_, samples_;
    EnumArray<Timer, std::vector<double>> timers_;
    std::int64_t number_ = 0;  // of the last step; 0: the line does not say it
    int blocks_ = 0;           // of timers since the last iteration
    bool open_ = false;        // lines are timers of that iteration
    std::optional<Timer> of_ranks_;
    bool fresh_ = false;  // no rank's time is noted yet
};

}  // namespace

RunFile read_run_log(UnpackedBytes& bytes) {
    LogReader reader;
    std::istream in(&bytes);
    in.exceptions(std::ios::badbit);  // what a read throws goes on
    for (std::string line; std::getline(in, line);) {
        bytes.mark();
        reader.line(line);
    }
    return reader.finish();
}

RunFile read_run_log(const std::string& text) {
    std::istringstream in(text);
    UnpackedBytes bytes(in);
    return read_run_log(bytes);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDumpBytes = std::size_t{512} << 20U, kMostUnpacked = std::size_t{128} << 20U;
constexpr const char* kTraceWords = "a trace, no dump of a flight recorder: `pentamesh measured` reads it";

void read_bytes(const fs::path& file, std::string& out) {
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) refuse("is no file");
    if (const std::string wrong = try_read_file(file, kMostDumpBytes, out); !wrong.empty()) refuse(wrong);
}

struct NamedFile {
    fs::path path;
    std::int64_t rank = -1;
};

std::uint64_t size_of(const NamedFile& file) {
    std::error_code failed;
    const std::uintmax_t bytes = fs::file_size(file.path, failed);
    return failed ? 0 : bytes;
}

std::vector<NamedFile> list_files(const fs::path& place) {
    std::error_code failed;
    std::vector<NamedFile> out;
    if (fs::is_regular_file(place, failed)) return {{place, rank_in_name(place.filename().string())}};
    const bool folder = fs::is_directory(place, failed);
    const fs::path in = folder ? place : place.has_parent_path() ? place.parent_path() : fs::path(".");
    const std::string begin = folder ? "" : place.filename().string();
    fs::directory_iterator it(in, failed);
    if (failed) throw Error(ErrorKind::io, place.string(), "", "cannot be read: " + failed.message());
    for (const fs::directory_iterator end; it != end; it.increment(failed)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(begin) && !name.starts_with(".") && !it->is_directory(failed))
            out.push_back({it->path(), rank_in_name(name)});
        if (failed) break;
    }
    if (!folder && out.empty())
        throw Error(ErrorKind::io, place.string(), "", "there is no such folder or file");
    std::sort(out.begin(), out.end(), [](const NamedFile& a, const NamedFile& b) {
        return std::pair(a.rank, a.path) < std::pair(b.rank, b.path);
    });
    return out;
}

// Holds what came of one file.
struct ReadFile {
    std::optional<Dump> dump;
    std::string why;
};

// Works through the files until none is left; several run at once.
void work(const std::vector<NamedFile>& files, std::vector<ReadFile>& read, std::atomic<std::size_t>& next,
          RunNames& names, ReadWatch* watch) {
    Values values;
    std::string bytes, unpacked;
    for (std::size_t i; (i = next++) < files.size();) {
        if (watch != nullptr && watch->cancelled) return;
        if (!read[i].why.empty()) continue;
        try {
            read_bytes(files[i].path, bytes);
            if (watch != nullptr) watch->bytes += bytes.size();
            read[i].dump = read_dump_bytes(bytes, names, values, unpacked);
            read[i].dump->rank = files[i].rank;
            read[i].dump->file = files[i].path.filename().string();
        } catch (const Error& e) {
            read[i].why = e.message();
        } catch (const std::bad_alloc&) {
            read[i].why = "there is not enough memory for it";
        } catch (const std::exception& e) {
            read[i].why = e.what();
        }
    }
}

std::string settings_words(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const char sign = first == std::string_view::npos ? ' ' : text[first];
    if (text.find("\"traceEvents\"") != std::string_view::npos) return kTraceWords;
    if (text.substr(0, 4096).find("pentamesh.plan/") != std::string_view::npos)
        return "a plan, no dump of a flight recorder";
    return sign == '#' || sign == '-' || sign == '['
               ? "settings or text, no dump: import reads settings"
               : "neither a pickle nor JSON: no dump of a flight recorder";
}

}  // namespace

std::int64_t rank_in_name(std::string_view name) {
    for (bool cut = true; cut;) {
        cut = false;
        for (const std::string_view ending : {".gz", ".json", ".pkl", ".pickle"})
            if (name.ends_with(ending)) name.remove_suffix(ending.size()), cut = true;
    }
    std::size_t begin = name.size();
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
    std::int64_t rank = -1;
    const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), rank);
    return error == std::errc() && end == name.data() + name.size() && rank <= kMostRank ? rank : -1;
}

Dump read_dump_bytes(std::string_view bytes, RunNames& names, Values& values, std::string& unpacked) {
    if (is_gzip(bytes)) {
        unpack_gzip(bytes, kMostUnpacked, unpacked);
        bytes = unpacked;
    }
    if (bytes.empty()) refuse("is empty");
    values.clear();
    if (bytes.front() == '{')
        read_json_values(bytes, values);
    else if (bytes.front() == '\x80')
        read_pickle(bytes, values);
    else
        refuse(settings_words(bytes));
    if (values.find(values.root, "traceEvents")) refuse(kTraceWords);
    return read_dump(values, names);
}

bool is_dump_text(std::string_view text) {
    if (text.starts_with('\x80')) return text.size() > 1 && text[1] >= 2 && text[1] <= 5;
    if (!text.starts_with('{')) return false;
    const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
    return has("\"pg_config\"") && has("\"pg_status\"");
}

std::string begin_of_file(const fs::path& path) {
    constexpr std::size_t kBegin = std::size_t{1} << 18U;
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return "";
    std::string out(kBegin, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    return out;
}

bool is_dump_file(const fs::path& path) {
    const std::string begin = begin_of_file(path);
    return is_dump_text(begin) || is_dump_text(unpacked_begin(begin));
}

std::vector<fs::path> run_files_in(const fs::path& folder, const ReadWatch* watch) {
    std::vector<fs::path> all, out;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
        if (it->is_regular_file(failed)) all.push_back(it->path());
    std::sort(all.begin(), all.end());
    for (const fs::path& file : all) {
        end_if_cancelled(watch);
        if (run_file_kind(begin_of_file(file)))
            out.push_back(file);
        else if (is_dump_file(file))
            return {};
    }
    return out;
}

DumpFolder read_dump_folder(const fs::path& place, ReadWatch* watch) {
    refuse_without_runs();
    DumpFolder out;
    const std::vector<NamedFile> files = list_files(place);
    if (watch != nullptr)
        for (const NamedFile& f : files) watch->all_bytes += size_of(f);
    std::vector<ReadFile> read(files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
        if (files[i].rank < 0) read[i].why = "its name does not end in a rank";
    std::atomic<std::size_t> next{0};
    run_on_threads(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(cores()), files.size())),
                   [&] { work(files, read, next, *out.names, watch); });
    end_if_cancelled(watch);
    std::set<std::string> versions;
    std::set<std::int64_t> ranks;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (read[i].dump && !ranks.insert(files[i].rank).second) {
            read[i].dump.reset();
            read[i].why = "another file has rank " + std::to_string(files[i].rank);
        }
        if (read[i].dump) {
            versions.insert(read[i].dump->version);
            out.dumps.push_back(std::move(*read[i].dump));
        } else {
            out.unreadable.push_back({files[i].path.filename().string(), read[i].why, files[i].rank});
        }
    }
    out.versions.assign(versions.begin(), versions.end());
    return out;
}

}  // namespace pentamesh::runs
