#include "core/runs/dump.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <istream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

}  // namespace

void Values::clear() {
    for (std::size_t i = 0; i < used_; ++i) {
        containers_[i].items.clear();
        containers_[i].levels = 1;
        containers_[i].held = false;
    }
    long_texts_.clear();
    bytes_ -= std::exchange(long_bytes_, 0);
    constexpr std::size_t kKeptBytes = std::size_t{16} << 20U;
    if (bytes_ > kKeptBytes) {  // a file far larger than the others leaves no memory behind
        containers_.clear();
        blocks_.clear();
        bytes_ = 0;
    }
    used_ = block_ = block_used_ = 0;
    root = {};
}

void Values::count_bytes(std::size_t bytes) {
    if ((bytes_ += bytes) > kMostValueBytes)
        refuse("its values take more than " + std::to_string(kMostValueBytes >> 20U)
               + " MiB, the most that is read");
}

Value Values::make(ValueKind kind) {
    if (used_ == containers_.size()) {
        count_bytes(sizeof(Container));
        containers_.emplace_back();
    }
    Value v;
    v.kind = kind, v.container = used_++;
    return v;
}

void Values::append(const Value& container, const Value& item) {
    Container& to = containers_[container.container];
    if (to.held) refuse("a container is changed after it was put into another one");
    if (item.kind == ValueKind::list || item.kind == ValueKind::dict) {
        Container& in = containers_[item.container];
        if (&in == &to) refuse("a container holds itself");
        in.held = true;
        to.levels = std::max(to.levels, in.levels + 1);
        if (to.levels > kMostValueLevels) refuse("more than 64 levels");
    }
    push(to.items, item);
}

Value Values::text_in_place(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) refuse("a text of more than 4 GB");
    Value v;
    v.kind = ValueKind::text, v.size = static_cast<std::uint32_t>(text.size()), v.text = text.data();
    return v;
}

Value Values::copied_text(std::string_view text) {
    if (text.empty()) return text_in_place("");
    char* at = nullptr;
    if (text.size() > kBlockBytes / 4) {
        count_bytes(text.size());
        long_bytes_ += text.size();
        long_texts_.push_back(std::make_unique<char[]>(text.size()));
        at = long_texts_.back().get();
    } else {
        if (!blocks_.empty() && block_used_ + text.size() > kBlockBytes) ++block_, block_used_ = 0;
        if (block_ == blocks_.size()) {
            count_bytes(kBlockBytes);
            blocks_.push_back(std::make_unique<char[]>(kBlockBytes));
        }
        at = blocks_[block_].get() + block_used_;
        block_used_ += text.size();
    }
    std::memcpy(at, text.data(), text.size());
    return text_in_place({at, text.size()});
}

std::span<const Value> Values::items(const Value& container) const {
    if (container.kind != ValueKind::list && container.kind != ValueKind::dict) return {};
    return containers_[container.container].items;
}

const Value* Values::find(const Value& dict, std::string_view key) const {
    if (dict.kind != ValueKind::dict) return nullptr;
    const std::span<const Value> all = items(dict);
    for (std::size_t i = 0; i + 1 < all.size(); i += 2)
        if (all[i].view() == key && all[i].kind == ValueKind::text) return &all[i + 1];
    return nullptr;
}

namespace {

// Receives a JSON text part by part, so that no second tree of it is made.
class Receiver {
  public:
    explicit Receiver(Values& out) : out_(&out) {}
    // Receives a list, whose items go to `each` one by one; `out` gets the rest.
    Receiver(Values& out, std::string_view name, UnpackedBytes& bytes,
             const std::function<void(const Values&, const Value&)>& each)
        : out_(&out), name_(name), bytes_(&bytes), each_(&each) {}
    [[nodiscard]] bool found() const { return found_; }

    bool null() { return put({}); }
    bool boolean(bool value) { return put(whole_value(value ? 1 : 0, ValueKind::flag)); }
    bool number_integer(std::int64_t n) { return put(whole_value(n)); }
    bool number_unsigned(std::uint64_t n) {
        constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
        return put(whole_value(n > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(n)));
    }
    bool number_float(double x, const std::string&) { return put(real_value(x)); }
    bool string(std::string& text) { return put(out_->copied_text(text)); }
    bool binary(std::vector<std::uint8_t>&) { return false; }
    bool key(std::string& text) {
        named_ = each_ && !in_list() && open_.size() == 1 && text == name_;
        return put(out_->copied_text(text));
    }
    bool start_object(std::size_t) { return open(ValueKind::dict); }
    bool start_array(std::size_t) {
        const bool list = each_ && !in_list() && !found_ && (open_.empty() || (open_.size() == 1 && named_));
        if (!list) return open(ValueKind::list);
        put({});  // nothing of the list stays where it stood
        outside_ = std::exchange(out_, &item_);
        open_outside_ = std::exchange(open_, {});
        return true;
    }
    bool end_object() { return close(); }
    bool end_array() {
        if (!in_list() || !open_.empty()) return close();
        found_ = true;
        out_ = std::exchange(outside_, nullptr);
        open_ = std::exchange(open_outside_, {});
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const std::exception&) {
        refuse(position == 0 && each_ ? "no valid JSON"
                                      : "no valid JSON at byte " + std::to_string(position));
    }

  private:
    bool put(const Value& v) {
        if (!open_.empty()) {
            out_->append(open_.back(), v);
        } else if (in_list()) {
            (*each_)(item_, v);
            item_.clear();
        } else {
            out_->root = v;
        }
        return true;
    }
    bool open(ValueKind kind) {
        const std::size_t around = in_list() ? open_outside_.size() + 1 : 0;
        if (open_.size() + around >= kMostValueLevels) refuse("more than 64 levels");
        open_.push_back(out_->make(kind));
        return true;
    }
    bool close() {
        const Value done = open_.back();
        open_.pop_back();
        if (bytes_) bytes_->mark();
        return put(done);
    }
    [[nodiscard]] bool in_list() const { return outside_ != nullptr; }

    Values* out_;
    Values item_;
    Values* outside_ = nullptr;  // what stands around the list, while it is read
    std::vector<Value> open_, open_outside_;
    std::string_view name_;
    UnpackedBytes* bytes_ = nullptr;
    const std::function<void(const Values&, const Value&)>* each_ = nullptr;
    bool named_ = false, found_ = false;
};

}  // namespace

void read_json_values(std::string_view text, Values& out) {
    Receiver to(out);
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &to)) refuse("no valid JSON");
}

bool read_json_list(UnpackedBytes& bytes, std::string_view name,
                    const std::function<void(const Values&, const Value&)>& each, Values& rest) {
    Receiver to(rest, name, bytes, each);
    std::istream in(&bytes);
    if (!nlohmann::json::sax_parse(in, &to)) refuse("no valid JSON");
    return to.found();
}

// Reads pickles by the opcodes of CPython's Lib/pickletools.py, as far as they make plain values.

namespace {

struct NamedOpcode {
    unsigned char code;
    std::string_view name;
};
// These call, import or look up something outside the file.
constexpr std::array kCalling{
    NamedOpcode{'c', "GLOBAL"},    NamedOpcode{0x93, "STACK_GLOBAL"}, NamedOpcode{'R', "REDUCE"},
    NamedOpcode{'b', "BUILD"},     NamedOpcode{'i', "INST"},          NamedOpcode{'o', "OBJ"},
    NamedOpcode{0x81, "NEWOBJ"},   NamedOpcode{0x92, "NEWOBJ_EX"},    NamedOpcode{0x82, "EXT1"},
    NamedOpcode{0x83, "EXT2"},     NamedOpcode{0x84, "EXT4"},         NamedOpcode{'P', "PERSID"},
    NamedOpcode{'Q', "BINPERSID"}, NamedOpcode{0x97, "NEXT_BUFFER"},  NamedOpcode{0x98, "READONLY_BUFFER"}};

class Reader {
  public:
    Reader(std::string_view bytes, Values& out) : bytes_(bytes), out_(out) {}

    void run() {
        try {
            while (step()) {
            }
        } catch (const Error& e) {
            refuse(e.message() + " (byte " + std::to_string(begin_) + ")");
        }
    }

  private:
    // Returns false after the end.
    bool step() {
        begin_ = at_;
        const auto code = static_cast<unsigned char>(take(1)[0]);
        if (code == '.') {
            if (stack_.size() != 1) refuse("the pickle does not end with one value");
            out_.root = stack_.front();
            return false;
        }
        if (!number(code) && !text(code) && !container(code) && !memo(code)) unknown(code);
        return true;
    }

    [[noreturn]] void unknown(unsigned char code) const {
        for (const NamedOpcode& c : kCalling)
            if (c.code == code)
                refuse("opcode " + std::string(c.name) + " at byte " + std::to_string(begin_)
                       + ": a pickle that calls code is not read");
        refuse("opcode " + std::to_string(code) + " at byte " + std::to_string(begin_)
               + ": not one of a flight recorder's");
    }

    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size() - at_) refuse("the file ends within a value");
        const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(size));
        at_ += part.size();
        return part;
    }
    // Returns a number of `size` bytes, the lowest first.
    std::uint64_t little(std::size_t size) {
        std::uint64_t n = 0;
        const std::string_view part = take(size);
        for (std::size_t i = 0; i < part.size(); ++i)
            n |= std::uint64_t{static_cast<unsigned char>(part[i])} << 8U * i;
        return n;
    }
    // Returns a whole number of any length; beyond 64 bits the nearest that there is.
    std::int64_t long_number(std::uint64_t size) {
        if (size > 16) refuse("a whole number of more than 16 bytes");
        const std::string_view part = take(size);
        if (part.empty()) return 0;
        const bool negative = (static_cast<unsigned char>(part.back()) & 0x80U) != 0;
        std::uint64_t n = negative ? ~std::uint64_t{0} : 0;
        bool fits = true;
        for (std::size_t i = 0; i < part.size(); ++i) {
            const std::uint64_t b = static_cast<unsigned char>(part[i]);
            if (i < 8)
                n = (n & ~(std::uint64_t{0xFF} << 8U * i)) | b << 8U * i;
            else
                fits = fits && b == (negative ? 0xFFU : 0U);
        }
        fits = fits && (part.size() < 8 || (n >> 63U != 0) == negative);
        using Limits = std::numeric_limits<std::int64_t>;
        return fits ? static_cast<std::int64_t>(n) : negative ? Limits::min() : Limits::max();
    }

    void push(const Value& v) { out_.push(stack_, v); }
    Value pop() {
        if (stack_.size() <= floor()) refuse("a value is missing");
        const Value v = stack_.back();
        stack_.pop_back();
        return v;
    }
    [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    std::size_t pop_mark() {
        if (marks_.empty()) refuse("a mark is missing");
        const std::size_t at = marks_.back();
        marks_.pop_back();
        return at;
    }

    bool number(unsigned char code) {
        switch (code) {
        case 'N': push({}); return true;
        case 0x88: push(whole_value(1, ValueKind::flag)); return true;
        case 0x89: push(whole_value(0, ValueKind::flag)); return true;
        case 'K': push(whole_value(static_cast<std::int64_t>(little(1)))); return true;
        case 'M': push(whole_value(static_cast<std::int64_t>(little(2)))); return true;
        case 'J':
            push(whole_value(static_cast<std::int32_t>(static_cast<std::uint32_t>(little(4)))));
            return true;
        case 0x8a: push(whole_value(long_number(little(1)))); return true;
        case 0x8b: push(whole_value(long_number(little(4)))); return true;
        case 'G': {  // the highest byte first
            std::uint64_t n = 0;
            for (const char c : take(8)) n = n << 8U | static_cast<unsigned char>(c);
            double number = 0;
            static_assert(sizeof number == sizeof n);
            std::memcpy(&number, &n, sizeof n);
            push(real_value(number));
            return true;
        }
        default: return false;
        }
    }

    bool text(unsigned char code) {
        switch (code) {
        case 'X': push(Values::text_in_place(take(little(4)))); return true;
        case 0x8c: push(Values::text_in_place(take(little(1)))); return true;
        case 0x8d: push(Values::text_in_place(take(little(8)))); return true;
        case 0x80:  // PROTO
            if (little(1) > 5) refuse("a pickle protocol beyond 5");
            return true;
        case 0x95: little(8); return true;  // FRAME says how far to read ahead
        default: return false;
        }
    }

    // Makes a container of the values above `from`.
    void collect(ValueKind kind, std::size_t from) {
        const Value made = out_.make(kind);
        if (kind == ValueKind::dict && (stack_.size() - from) % 2 != 0) refuse("a key without a value");
        for (std::size_t i = from; i < stack_.size(); ++i) out_.append(made, stack_[i]);
        stack_.resize(from);
        out_.push(stack_, made);
    }
    // Adds the values above `from` to the container below them.
    void extend(ValueKind kind, std::size_t from) {
        if (from <= floor() || stack_[from - 1].kind != kind) refuse("values are added to no container");
        if (kind == ValueKind::dict && (stack_.size() - from) % 2 != 0) refuse("a key without a value");
        const Value to = stack_[from - 1];
        for (std::size_t i = from; i < stack_.size(); ++i) out_.append(to, stack_[i]);
        stack_.resize(from);
    }
    [[nodiscard]] std::size_t above(std::size_t count) const {
        if (stack_.size() < floor() + count) refuse("a value is missing");
        return stack_.size() - count;
    }

    bool container(unsigned char code) {
        switch (code) {
        case '(': out_.push(marks_, stack_.size()); return true;
        case '}': push(out_.make(ValueKind::dict)); return true;
        case ']':
        case ')': push(out_.make(ValueKind::list)); return true;
        case 't':
        case 'l': collect(ValueKind::list, pop_mark()); return true;
        case 'd': collect(ValueKind::dict, pop_mark()); return true;
        case 0x85: collect(ValueKind::list, above(1)); return true;
        case 0x86: collect(ValueKind::list, above(2)); return true;
        case 0x87: collect(ValueKind::list, above(3)); return true;
        case 'a': extend(ValueKind::list, above(1)); return true;
        case 'e': extend(ValueKind::list, pop_mark()); return true;
        case 's': extend(ValueKind::dict, above(2)); return true;
        case 'u': extend(ValueKind::dict, pop_mark()); return true;
        default: return false;
        }
    }

    void put(std::uint64_t index) {
        if (stack_.size() <= floor()) refuse("a value is missing");
        // Writers number what they keep one by one; a gap would only ask for memory.
        if (index > kept_.size()) refuse("a kept value has a number out of turn");
        if (index == kept_.size()) out_.push(kept_, Value());
        kept_[static_cast<std::size_t>(index)] = stack_.back();
    }
    void get(std::uint64_t index) {
        if (index >= kept_.size()) refuse("a value is asked for that was not kept");
        push(kept_[static_cast<std::size_t>(index)]);
    }
    bool memo(unsigned char code) {
        switch (code) {
        case 'q': put(little(1)); return true;
        case 'r': put(little(4)); return true;
        case 0x94: put(kept_.size()); return true;
        case 'h': get(little(1)); return true;
        case 'j': get(little(4)); return true;
        default: return false;
        }
    }

    std::string_view bytes_;
    Values& out_;
    std::size_t at_ = 0, begin_ = 0;  // begin_: of the opcode that is read
    std::vector<Value> stack_, kept_;
    std::vector<std::size_t> marks_;
};

}  // namespace

void read_pickle(std::string_view bytes, Values& out) {
    Reader(bytes, out).run();
}

namespace {

constexpr std::int64_t kMostSequence = std::int64_t{1} << 53;
// A pickle can name one list any number of times: what is looked at is counted, not what is kept.
constexpr std::size_t kMostLookedAt = std::size_t{1} << 28U;
constexpr std::size_t kMostEntries = 1'000'000, kMostName = 4096;
constexpr double kMostMilliseconds = 1e9;  // eleven days: a longer call is no figure

// Returns a number, also one in a text, as JSON dumps hold some.
std::optional<std::int64_t> whole_of(const Value* v) {
    if (!v) return std::nullopt;
    if (v->kind == ValueKind::whole) return v->whole;
    return parse_whole(v->view());
}

std::optional<std::int64_t> sequence_of(const Value* v) {
    const std::optional<std::int64_t> n = whole_of(v);
    return n && *n >= 0 && *n <= kMostSequence ? n : std::nullopt;
}

// Reads one dump. The rank's groups are found by the names that its own entries use.
class DumpReader {
  public:
    DumpReader(const Values& values, RunNames& names) : values_(values), names_(names) {}

    Dump read() {
        read_version();
        read_groups();
        if (const Value* entries = values_.find(values_.root, "entries")) {
            const auto items = values_.items(*entries);
            if (items.size() > kMostEntries)
                refuse("more than " + with_commas(kMostEntries) + " entries, the most that are read");
            out_.entries.reserve(items.size());
            for (const Value& e : items) read_entry(e);
        }
        std::stable_sort(out_.entries.begin(), out_.entries.end(),
                         [](const DumpEntry& a, const DumpEntry& b) { return a.record < b.record; });
        close_coalesced();
        match_status();
        close_finished();
        look_at_oldest();
        if (last_ns_ > first_ns_) out_.span_ms = static_cast<double>(last_ns_ - first_ns_) / 1e6;
        return std::move(out_);
    }

  private:
    void read_version() {
        const Value* version = values_.find(values_.root, "version");
        if (!version || version->kind != ValueKind::text
            || (!values_.find(values_.root, "pg_config") && !values_.find(values_.root, "entries")))
            refuse("no dump of a flight recorder: \"version\" and \"pg_config\" are missing");
        out_.version = std::string(version->view().substr(0, 16));
        if (!out_.version.starts_with("2."))
            refuse("a dump of version " + out_.version + "; versions 2.x are read");
    }

    // A name that is a number comes in the order of the numbers.
    struct Named {
        std::int64_t number = -1;
        std::string_view name;
        const Value* config = nullptr;
        bool operator<(const Named& other) const {
            return std::tie(number, name) < std::tie(other.number, other.name);
        }
    };
    void read_groups() {
        const Value* config = values_.find(values_.root, "pg_config");
        if (!config || config->kind != ValueKind::dict) return;
        std::vector<Named> named;
        const auto all = values_.items(*config);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2)
            named.push_back({whole_of(&all[i]).value_or(-1), all[i].view(), &all[i + 1]});
        std::sort(named.begin(), named.end());
        std::map<int, int> twins;
        for (const Named& n : named) {
            look_at(*n.config);
            const Value* desc = values_.find(*n.config, "desc");
            const Value* ranks = values_.find(*n.config, "ranks");
            const std::string_view described = desc ? desc->view().substr(0, kMostName) : std::string_view();
            look_at(described.size() + (ranks ? ranks->view().size() : 0));
            int group = ranks ? names_.group(described, ranks->view(), 0) : -1;
            if (group >= 0)
                if (const int twin = twins[group]++; twin > 0)
                    group = names_.group(described, ranks->view(), twin);
            if (group < 0) {
                ++out_.passed_over;
                continue;
            }
            group_of_name_.emplace(n.name, group);
            out_.groups.push_back(group);
        }
    }

    int type_of(const Value* types) {
        if (!types) return -1;
        const auto all = values_.items(*types);
        return all.empty() ? -1 : names_.number_of(all.front().view().substr(0, kMostName));
    }

    // The numbers are ranks within the group: "send 0->3", "recv 0<-3".
    void read_peer(DumpEntry& e, std::string_view what) const {
        e.sends = what.starts_with("send");
        const std::size_t arrow = what.find(e.sends ? "->" : "<-");
        if (arrow == std::string_view::npos || e.group < 0) return;
        std::int64_t n = -1;
        std::from_chars(what.data() + arrow + 2, what.data() + what.size(), n);
        e.peer = names_.member(e.group, n);
    }

    // Returns how many elements the tensors of a list of shapes have, up to a limit.
    std::int64_t elements_of(const Value* shapes) {
        if (!shapes) return 0;
        double sum = 0;
        for (const Value& shape : values_.items(*shapes)) {
            const auto sizes = values_.items(shape);
            look_at(sizes.size() + 1);
            double product = 1;
            for (const Value& n : sizes)
                product *= static_cast<double>(std::max<std::int64_t>(whole_of(&n).value_or(0), 0));
            sum += product;
        }
        return sum < static_cast<double>(kMostSequence) ? static_cast<std::int64_t>(sum) : kMostSequence;
    }

    void read_entry(const Value& v) {
        DumpEntry e;
        look_at(v);
        const auto record = whole_of(values_.find(v, "record_id"));
        const auto sequence = sequence_of(values_.find(v, "collective_seq_id"));
        const Value* group = values_.find(v, "process_group");
        const Value* name = values_.find(v, "profiling_name");
        if (!record || !sequence || !group || !name) return pass_over();
        const auto pair = values_.items(*group);
        const auto found = pair.empty() ? group_of_name_.end() : group_of_name_.find(pair.front().view());
        if (found == group_of_name_.end()) return pass_over();
        e.group = found->second, e.record = *record, e.sequence = *sequence;
        e.p2p_sequence = sequence_of(values_.find(v, "p2p_seq_id")).value_or(0);
        const Value* p2p = values_.find(v, "is_p2p");
        e.p2p = p2p && p2p->kind == ValueKind::flag && p2p->whole != 0;
        const Value* duration = values_.find(v, "duration_ms");
        if (duration && duration->kind != ValueKind::null) {
            const double ms = duration->kind == ValueKind::real    ? duration->real
                              : duration->kind == ValueKind::whole ? static_cast<double>(duration->whole)
                                                                   : -1;
            if (!(ms >= 0 && ms <= kMostMilliseconds)) return pass_over();
            e.duration_ms = static_cast<float>(ms);
        }
        std::string_view what = name->view();
        what.remove_prefix(what.find(':') == std::string_view::npos ? 0 : what.find(':') + 1);
        e.coalesced = what.find("coalesced") != std::string_view::npos;
        if (e.p2p) read_peer(e, what);
        if (e.p2p && !e.coalesced) what = e.sends ? "send" : "recv";
        e.collective = names_.number_of(what.substr(0, 128));
        e.numbers_in = elements_of(values_.find(v, "input_sizes"));
        e.numbers_out = elements_of(values_.find(v, "output_sizes"));
        e.type_in = type_of(values_.find(v, "input_dtypes"));
        e.type_out = type_of(values_.find(v, "output_dtypes"));
        const Value* state = values_.find(v, "state");
        e.open = !state || state->view() != "completed";
        read_times(v);
        if (const auto local = whole_of(values_.find(v, "pg_id"))) local_.emplace(*local, e.group);
        out_.entries.push_back(e);
    }

    void read_times(const Value& v) {
        const std::int64_t from = whole_of(values_.find(v, "time_created_ns")).value_or(0);
        const std::int64_t to = whole_of(values_.find(v, "time_discovered_completed_ns")).value_or(0);
        if (from > 0) first_ns_ = std::min(first_ns_, from);
        last_ns_ = std::max({last_ns_, from, to});
    }

    void pass_over() { ++out_.passed_over; }
    void look_at(std::size_t size) {
        if ((looked_at_ += size) > kMostLookedAt) refuse("its entries name the same long values too often");
    }
    void look_at(const Value& dict) {
        constexpr std::size_t kKeysOfAnEntry = 16;
        look_at(values_.items(dict).size() * kKeysOfAnEntry);
    }

    // PyTorch leaves the single calls of a coalesced batch open for good; the entry of the batch, which comes
    // after them with the same numbers, says when they end.
    void close_coalesced() {
        const auto key = [](const DumpEntry& e) {
            return std::tuple(e.group, e.p2p, e.p2p ? e.p2p_sequence : e.sequence);
        };
        std::map<std::tuple<int, bool, std::int64_t>, bool> open;
        for (const DumpEntry& e : out_.entries)
            if (e.coalesced) open[key(e)] = e.open;
        for (DumpEntry& e : out_.entries) {
            const auto batch = e.coalesced ? open.end() : open.find(key(e));
            if (batch != open.end() && !batch->second) e.open = false;
        }
    }

    void look_at_oldest() {
        // The first entry of a full ring is not the first call; one that is open may not be the first open.
        if (!out_.entries.empty() && out_.entries.front().record > 0)
            out_.oldest_open = out_.entries.front().open
                               && std::any_of(out_.entries.begin(), out_.entries.end(),
                                              [](const DumpEntry& e) { return !e.open; });
    }

    // pg_status knows groups by a local number only. Names that are numbers rise as the local numbers do.
    void match_status() {
        const Value* status = values_.find(values_.root, "pg_status");
        if (!status || status->kind != ValueKind::dict) return;
        std::map<std::int64_t, GroupStatus> by_local;
        const auto all = values_.items(*status);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            const auto local = whole_of(&all[i]);
            if (!local) continue;
            GroupStatus s;
            s.enqueued = sequence_of(values_.find(all[i + 1], "last_enqueued_collective")).value_or(-1);
            s.completed = sequence_of(values_.find(all[i + 1], "last_completed_collective")).value_or(-1);
            by_local[*local] = s;
        }
        std::map<std::int64_t, int> by_name;
        for (const auto& [name, group] : group_of_name_) {
            Value text = Values::text_in_place(name);
            const auto n = whole_of(&text);
            if (n) by_name[*n] = group;
        }
        bool fits = by_name.size() == by_local.size() && by_name.size() == group_of_name_.size();
        if (fits) {
            auto name = by_name.begin();
            for (auto& [local, s] : by_local) {
                s.group = (name++)->second;
                const auto known = local_.find(local);
                if (known != local_.end() && known->second != s.group) fits = false;
            }
        }
        for (auto& [local, s] : by_local) {
            const auto known = local_.find(local);
            if (!fits) s.group = known == local_.end() ? -1 : known->second;
            if (s.group >= 0) out_.status.push_back(s);
        }
    }

    // A batch that has ended leaves only its single calls in a dump of what is active. Collectives of a
    // group end in their order; sends do not.
    void close_finished() {
        std::map<int, std::int64_t> last;
        for (const DumpEntry& e : out_.entries)
            if (!e.p2p) last[e.group] = std::max(last[e.group], e.sequence);
        std::map<int, std::int64_t> completed;
        for (const GroupStatus& s : out_.status)
            if (const auto at = last.find(s.group); at != last.end() && at->second == s.enqueued)
                completed[s.group] = s.completed;
        for (DumpEntry& e : out_.entries) {
            const auto at = e.p2p ? completed.end() : completed.find(e.group);
            if (at != completed.end() && e.sequence <= at->second) e.open = false;
        }
    }

    const Values& values_;
    RunNames& names_;
    Dump out_;
    std::map<std::string_view, int> group_of_name_;
    std::map<std::int64_t, int> local_;  // local number -> group, as entries say
    std::size_t looked_at_ = 0;
    std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max(), last_ns_ = 0;
};

}  // namespace

Dump read_dump(const Values& values, RunNames& names) {
    return DumpReader(values, names).read();
}

// Reads files of NCCL's Inspector: JSON objects one after another (plugins/profiler/inspector of NCCL).

namespace {

constexpr std::size_t kMostCalls = 12'000'000;

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
        const std::int64_t bytes = whole_of(v.find(perf, begin + "_msg_size_bytes"), kMostBytes);
        const double us = real_of(v.find(perf, begin + "_exec_time_us"), 0);
        const std::int64_t rank = whole_of(v.find(*header, "rank"), kMostRank);
        if (bytes < 0 || !(us > 0 && us < 1e12) || rank < 0) return false;
        if (out.rank < 0) out.rank = rank;
        const double per_s = real_of(v.find(perf, begin + "_algobw_gbs"), 0) * 1e9;
        RunCalls& calls = calls_of(v, *header, std::string(text_of(v.find(perf, begin))), bytes);
        if (per_s > 0 && per_s < 1e15 && calls.seconds.empty()) calls.buffer = std::round(per_s * us / 1e6);
        calls.seconds.push_back(static_cast<float>(us / 1e6));
        calls.numbers.push_back(whole_of(v.find(perf, begin + "_sn"), kMostNumber));
        return ++count_ <= kMostCalls;
    }
    RunFile out;

  private:
    RunCalls& calls_of(const Values& v, const Value& header, std::string name, std::int64_t bytes) {
        RunGroup g;
        g.name = text_of(v.find(header, "comm_name"));
        g.own_name = text_of(v.find(header, "id"));
        g.size = whole_of(v.find(header, "n_ranks"), kMostRank + 1);
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
