// Lists the parts of a scan: what linear and Mamba layers have in the place of attention. All of it follows
// from what the mixers show (core/plan/mixers.h).
#include "core/layer/kernel_costs.h"
#include "core/layer/part_lister.h"
#include "core/model/scan_visitor.h"

namespace pentamesh {
namespace {

// Holds the numbers of a token that scans take and give, of all tensor-parallel ranks together.
struct ScanWidths : ScanVisitor {
    double in = 0, out = 0;
    void input(Id, i64 channels, i64 = 1) { in += number(channels); }
    void low_rank(Id, Id, i64, i64 channels, i64) { in += number(channels); }
    void output(Id, i64 channels, i64 = 1) { out += number(channels); }
};

// Holds the sizes of a scan's products. The small ones are between the way in and the scan, and count with
// it (Mamba's dt, Kimi's decay and gate).
struct ScanProducts : ScanVisitor {
    struct Up {
        double numbers, channels;
    };
    double direct = 0;                      // channels that one product makes of the layer's input
    double rank = 0, numbers = 0, out = 0;  // outputs of the small products: of the input, of channels
    ShortList<Up, 4> of_input, of_channels;
    ScanFlops flops;
    void input(Id, i64 channels, i64 = 1) { direct += number(channels); }
    void low_rank(Id, Id, i64 own, i64 channels, i64) {
        rank += number(own);
        of_input.push_back({number(own), number(channels)});
    }
    void from_channels(Id, i64 n, i64) { numbers += number(n); }
    void to_channels(Id, i64 n, i64 channels) { of_channels.push_back({number(n), number(channels)}); }
    void output(Id, i64 channels, i64 = 1) { out = number(channels); }
    void works(const ScanFlops& f) { flops = f; }
};

}  // namespace

// A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
// (Megatron-LM ssm/mamba_context_parallel.py; ssm/gated_delta_net.py, tensor_a2a_cp2hp).
void PartLister::scan_over_cp() {
    ScanWidths width;
    visit_scans(m_, type_, width);
    const double bytes = tokens_ / tp_ * wire_, in = width.in * bytes, out = width.out * bytes;
    const GroupKind cp = GroupKind::cp;
    const Collective c = Collective::all_to_all;
    const bool repeats = t_.recompute.whole_layers();
    forward(cp, d_.cp, c, What::inputs_of_the_scan_to_heads, in, repeats);
    forward(cp, d_.cp, c, What::outputs_of_the_scan_to_tokens, out, repeats);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_outputs_to_heads, out);
    backward(cp, d_.cp, c, What::gradients_of_the_scans_inputs_to_tokens, in);
}

template <typename Mixer>
void PartLister::scan_kernels(const Mixer& mixer) {
    ScanProducts p;
    visit_scan(mixer, m_.hidden, p);
    const What scan = What::scan_of_the_state;
    double in = p.direct;
    const auto up = [&](const ScanProducts::Up& u) {
        product(scan, tokens_, u.numbers, u.channels / tp_);
        in += u.channels;
    };
    if (p.rank > 0) product(scan, tokens_, hidden_, p.rank);
    for (const ScanProducts::Up& u : p.of_input) up(u);
    product(What::inputs_of_the_scan, tokens_, hidden_, p.direct / tp_);
    if (p.numbers > 0) product(scan, tokens_, p.out / tp_, p.numbers);
    for (const ScanProducts::Up& u : p.of_channels) up(u);
    // Convolution, chunked scan and gated norm read and write what they take and give.
    LayerKernel& k = kernel(scan, LayerRate::scan);
    k.bytes = tokens_ * ((in * 2 + p.out * 2) * kNormBytes + p.flops.state_bytes) / tp_;
    k.kernels = kMixerKernels;
    k.flops = tokens_ * p.flops.kernel / tp_;
    product(What::output_of_the_scan, tokens_, p.out / tp_, hidden_);
}

void PartLister::scan_kernels() {
    if (type_.mixer == MixerKind::linear && m_.linear) scan_kernels(*m_.linear);
    if (type_.has_mamba() && m_.mamba) scan_kernels(*m_.mamba);
}

void PartLister::scans_kept() {
    struct Keep : ScanVisitor {
        PartLister& list;
        void keep(Id id, i64 heads, i64 dim, double bytes) {
            list.keep_region(id, saturating_product(heads, dim),
                             saturating_product(divide_up(heads, list.d_.tp), dim), bytes);
        }
        void keeps(Id id, i64 heads, i64 dim) { keep(id, heads, dim, list.wire_); }
        void keeps_output(Id id, i64 heads, i64 dim) { keep(id, heads, dim, list.product_bytes_); }
    } keep{{}, *this};
    visit_scans(m_, type_, keep);
}

}  // namespace pentamesh
