// Chooses names for the program: a tensor never takes the name of one that is still read later.
#include "core/layer/layer_tape.h"

namespace pentamesh {
namespace {

// Makes "u3" of "u2" and 3.
std::string numbered(std::string name, int n) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    return name + std::to_string(n);
}

}  // namespace

// Returns true if the backward recomputes the node and the maker of its input in one go.
bool LayerTape::runs_with(int maker, std::size_t node) const {
    for (std::size_t i = static_cast<std::size_t>(maker); i <= node; ++i)
        if (!recomputed_[i] && nodes_[i].step >= 0 && !is_weights(nodes_[i])) return false;
    return true;
}

// Returns the tensors that the backward reads, by LayerTensor::value.
std::vector<char> LayerTape::read_behind() const {
    std::vector<char> read(static_cast<std::size_t>(made_) + 1, 0);
    const auto mark = [&](Value v) { read[static_cast<std::size_t>(tensor(v).value)] = 1; };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const TapeNode& n = nodes_[i];
        for (const TapeSaved& s : n.saves)
            if (s.needed >= 0) mark(s.needed), mark(s.value);
        for (const Value v : n.in) {
            const int made = makers_[static_cast<std::size_t>(v)];
            if (n.kind == TapeKind::product) mark(v);
            if (recomputed_[i] && (made < 0 || !runs_with(made, i))) mark(v);
            // These are gathered a second time for the backward.
            if (made >= 0 && nodes_[static_cast<std::size_t>(made)].kind == TapeKind::gather)
                for (const Value cut : nodes_[static_cast<std::size_t>(made)].in) mark(cut);
        }
    }
    return read;
}

// If a step would take the name of a tensor that is read after it, its result gets a number. Tensors made
// of that under the same name ("y = all_to_all(y)", "u_full") follow.
void LayerTape::name_apart() {
    const auto count = static_cast<std::size_t>(made_) + 1;
    const std::vector<char> behind = read_behind();
    std::vector<std::size_t> last(count, 0);  // node that reads the value in the forward
    std::vector<std::string> old(count), now(count);
    const auto id = [&](Value v) { return static_cast<std::size_t>(tensor(v).value); };
    for (const LayerTensor& t : values_) old[static_cast<std::size_t>(t.value)] = t.name;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].step >= 0)
            for (const Value v : nodes_[i].in) last[id(v)] = i;
    now = old;
    const auto take = [&](std::size_t v, std::size_t at, const TapeNode& n) {
        for (const Value in : n.in) {
            const std::string &was = old[id(in)], &is = now[id(in)];
            if (was != is && (old[v] == was || old[v].starts_with(was + "_")))
                now[v] = is + old[v].substr(was.size());
        }
        const auto held = [&](const std::string& name) {
            for (std::size_t u = 1; u < v; ++u)
                if (now[u] == name && (behind[u] || last[u] > at)) return true;
            return false;
        };
        if (!held(now[v])) return;
        int number = 2;
        while (std::ranges::find(now, numbered(now[v], number)) != now.end()) ++number;
        now[v] = numbered(now[v], number);
    };
    std::size_t seen = 1;  // x
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (const Value v : nodes_[i].out) {
            if (id(v) <= seen || tensor(v).weight) continue;
            seen = id(v);
            take(seen, i, nodes_[i]);
        }
    for (LayerTensor& t : values_)
        if (t.value > 0 && !t.weight) t.name = now[static_cast<std::size_t>(t.value)];
    for (const TapeNode& n : nodes_) {
        if (n.step < 0) continue;
        LayerStep& s = list_.steps[static_cast<std::size_t>(n.step)];
        for (std::size_t i = 0; i < n.in.size(); ++i) s.in[i].name = tensor(n.in[i]).name;
        for (std::size_t i = 0; i < n.out.size(); ++i) s.out[i].name = tensor(n.out[i]).name;
    }
}

}  // namespace pentamesh
