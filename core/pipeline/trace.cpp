#include "core/pipeline/trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <tuple>

namespace pentamesh {
namespace {

constexpr int kComputeTrack =
    0;  // tid of the ops; sends lie on 1, 2 ...: slices of one track must not overlap

std::int64_t nanoseconds(double seconds) {
    return std::llround(seconds * 1e9);
}

// Appends one event after another. Half a million ops make millions of them: no tree of the whole is built.
// Every text that is not a literal of ours goes through the JSON library.
class Events {
  public:
    explicit Events(std::string& out) : out_(out) {}

    Events& open(char phase, std::string_view name, int pid, int tid) {
        out_ += first_ ? "\n{" : ",\n{";
        first_ = false;
        out_ += "\"ph\":\"";
        out_ += phase;
        out_ += "\",\"name\":";
        quoted(name);
        return number("pid", pid).number("tid", tid);
    }
    Events& number(std::string_view key, std::int64_t value) {
        key_(key);
        integer(value);
        return *this;
    }
    Events& text(std::string_view key, std::string_view value) {
        key_(key);
        quoted(value);
        return *this;
    }
    Events& microseconds(std::string_view key, std::int64_t ns) {
        key_(key);
        integer(ns / 1000);
        const std::int64_t rest = ns % 1000;
        if (rest == 0) return *this;
        const std::array<char, 4> digits{'.', static_cast<char>('0' + rest / 100),
                                         static_cast<char>('0' + rest / 10 % 10),
                                         static_cast<char>('0' + rest % 10)};
        out_.append(digits.data(), digits.size());
        return *this;
    }
    Events& decimal(std::string_view key, double value) {
        key_(key);
        out_ += nlohmann::json(value).dump();
        return *this;
    }
    Events& args() {
        key_("args");
        out_ += '{';
        fresh_ = true;
        return *this;
    }
    Events& end_args() {
        out_ += '}';
        return *this;
    }
    void close() { out_ += '}'; }

  private:
    void key_(std::string_view key) {
        if (!fresh_) out_ += ',';
        fresh_ = false;
        out_ += '"';
        out_ += key;
        out_ += "\":";
    }
    void integer(std::int64_t value) {
        std::array<char, 24> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out_.append(digits.data(), end);
    }
    void quoted(std::string_view text) {
        out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    std::string& out_;
    bool first_ = true, fresh_ = false;
};

// Perfetto colours a slice by its name without the digits and the space before them, so the kind comes first.
std::string slice_name(const Op& op) {
    std::string name(letters_of(op.kind));
    name += ' ';
    name += std::to_string(op.microbatch);
    if (op.kind == OpKind::FB) {
        name += ' ';
        name += std::to_string(op.backward_microbatch);
    }
    return name;
}

std::string device_name(const TraceNames& names, int device, int devices) {
    std::string digits = std::to_string(device);
    const std::size_t width = std::to_string(devices - 1).size();
    digits.insert(0, width - digits.size(), '0');  // for viewers that sort by name
    std::string name = "device " + digits;
    const auto d = static_cast<std::size_t>(device);
    if (d < names.device.size() && !names.device[d].empty()) name += ": " + names.device[d];
    return name;
}

void name_track(Events& events, int device, int tid, std::string_view name) {
    events.open('M', "thread_name", device, tid).args().text("name", name).end_args().close();
    events.open('M', "thread_sort_index", device, tid).args().number("sort_index", tid).end_args().close();
}

void write_op(Events& events, const Timeline& t, int device, std::size_t i) {
    const Op& op = t.order.ops[i];
    const std::int64_t from = nanoseconds(t.start[i]), to = nanoseconds(t.end[i]);
    events.open('X', slice_name(op), device, kComputeTrack).text("cat", "compute");
    events.microseconds("ts", from).microseconds("dur", to - from).args();
    events.number("stage", stage_of(t.shape, device, op.chunk)).number("chunk", op.chunk);
    events.number("microbatch", op.microbatch);
    if (op.kind == OpKind::FB)
        events.number("backward_chunk", op.backward_chunk)
            .number("backward_microbatch", op.backward_microbatch);
    events.end_args().close();
}

// Places sends of one device, each on the first track that is free when it starts.
class Sends {
  public:
    Sends(Events& events, int device) : events_(events), device_(device) {}

    void write(std::int64_t from, std::int64_t to, const std::string& name) {
        const auto free = std::find_if(busy_until_.begin(), busy_until_.end(),
                                       [&](std::int64_t until) { return until <= from; });
        const auto track = free - busy_until_.begin();
        const int tid = kComputeTrack + 1 + static_cast<int>(track);
        if (free == busy_until_.end()) {
            busy_until_.push_back(to);
            name_track(events_, device_, tid, track == 0 ? "sends" : "sends " + std::to_string(track + 1));
        } else {
            *free = to;
        }
        events_.open('X', name, device_, tid).text("cat", "send");
        events_.microseconds("ts", from).microseconds("dur", to - from).close();
    }

  private:
    Events& events_;
    int device_;
    std::vector<std::int64_t> busy_until_;
};

// Writes an arrow from the last nanosecond of the slice that makes an input to the first of the slice that
// needs it.
void write_flow(Events& events, const Timeline& t, std::int64_t id, int from_device, std::size_t from,
                int to_device, std::size_t to) {
    const std::int64_t begun = nanoseconds(t.start[from]);
    const std::int64_t leaves = std::max(begun, nanoseconds(t.end[from]) - 1);
    events.open('s', "send", from_device, kComputeTrack).text("cat", "send").number("id", id);
    events.microseconds("ts", leaves).close();
    events.open('f', "send", to_device, kComputeTrack).text("cat", "send").number("id", id).text("bp", "e");
    events.microseconds("ts", nanoseconds(t.start[to])).close();
}

struct Message {
    std::size_t from = 0, to = 0;
    int from_device = 0, to_device = 0;
};

std::vector<Message> messages_of(const Timeline& t) {
    std::vector<Message> messages;
    for (std::size_t d = 0; d < t.device.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i)
            for (const std::ptrdiff_t input : inputs_of(t, i)) {
                if (input < 0) continue;
                const auto from = static_cast<std::size_t>(input);
                const int sender = device_of_op(t, from);
                if (sender != static_cast<int>(d)) messages.push_back({from, i, sender, static_cast<int>(d)});
            }
    std::sort(messages.begin(), messages.end(), [&](const Message& a, const Message& b) {
        return std::tuple(a.from_device, t.end[a.from], a.from, a.to)
               < std::tuple(b.from_device, t.end[b.from], b.from, b.to);
    });
    return messages;
}

void write_messages(Events& events, const Timeline& t, const TimelineCosts& costs) {
    const std::vector<Message> messages = messages_of(t);
    std::int64_t id = 0;
    for (std::size_t k = 0; k < messages.size();) {
        const int sender = messages[k].from_device;
        Sends sends(events, sender);
        for (; k < messages.size() && messages[k].from_device == sender; ++k) {
            const Message& m = messages[k];
            write_flow(events, t, ++id, sender, m.from, m.to_device, m.to);
            const std::int64_t leaves = nanoseconds(t.end[m.from]);
            const std::int64_t arrives = nanoseconds(t.end[m.from] + costs.send);
            if (arrives > leaves) sends.write(leaves, arrives, "to device " + std::to_string(m.to_device));
        }
    }
}

// Writes the kernels of a device, each on the track of its name.
class Kernels {
  public:
    Kernels(Events& events, int device) : events_(events), device_(device) {}

    void write(const TraceSlice& slice) {
        const auto known = std::find(tracks_.begin(), tracks_.end(), slice.track);
        const int tid = kFirstKernelTrack + static_cast<int>(known - tracks_.begin());
        if (known == tracks_.end()) {
            tracks_.push_back(slice.track);
            name_track(events_, device_, tid, slice.track);
        }
        const std::int64_t from = nanoseconds(slice.from), to = nanoseconds(slice.to);
        events_.open('X', slice.name, device_, tid).text("cat", "kernel");
        events_.microseconds("ts", from).microseconds("dur", to - from).args().number("stream", tid);
        if (!slice.group.empty()) events_.text("Process Group Description", slice.group);
        events_.end_args().close();
    }

  private:
    static constexpr int kFirstKernelTrack = 1000;  // below those of the sends
    Events& events_;
    int device_;
    std::vector<std::string_view> tracks_;
};

void write_device(Events& events, const Timeline& t, int device, const TraceNames& names) {
    events.open('M', "process_name", device, kComputeTrack).args();
    events.text("name", device_name(names, device, t.shape.devices)).end_args().close();
    events.open('M', "process_sort_index", device, kComputeTrack).args();
    events.number("sort_index", device).end_args().close();
    name_track(events, device, kComputeTrack, "compute");
    const auto d = static_cast<std::size_t>(device);
    Kernels kernels(events, device);
    std::vector<TraceSlice> slices;
    for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
        write_op(events, t, device, i);
        slices.clear();
        if (names.kernels) names.kernels(device, i, slices);
        for (const TraceSlice& s : slices) kernels.write(s);
    }
    for (const InFlightStep& step : in_flight(t, device)) {
        events.open('C', "in flight", device, kComputeTrack).microseconds("ts", nanoseconds(step.time));
        events.args().decimal("micro-batches", step.held).end_args().close();
    }
}

}  // namespace

std::string chrome_trace(const Timeline& t, const TimelineCosts& costs, const TraceNames& names) {
    std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":";
    out +=
        nlohmann::json{{"title", names.title}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out += ",\"traceEvents\":[";
    out.reserve(out.size() + t.order.ops.size() * 500);
    Events events(out);
    for (std::size_t d = 0; d < t.device.size(); ++d) write_device(events, t, static_cast<int>(d), names);
    write_messages(events, t, costs);
    if (names.step_s > 0) {
        events.open('X', "ProfilerStep#0", t.shape.devices, 0).text("cat", "user_annotation");
        events.microseconds("ts", 0).microseconds("dur", nanoseconds(names.step_s)).close();
    }
    out += "\n]}\n";
    return out;
}

}  // namespace pentamesh
