// Reads pickles by the opcodes of CPython's Lib/pickletools.py, as far as they make plain values.
#include "core/runs/values.h"

#include <array>
#include <cstring>
#include <limits>

namespace pentamesh::runs {
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

}  // namespace pentamesh::runs
