#include "core/runs/values.h"

#include <algorithm>
#include <cstring>
#include <limits>
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

}  // namespace pentamesh::runs
