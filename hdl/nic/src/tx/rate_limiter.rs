//! rate_limiter: connection cap (C3) and pacer (C4) of a transmit slot, a pipeline of three clocks.
//! In: `start` with hint, longest sRTT, MTU, token bucket and the bytes of the packet. Out: `valid` three clocks later, with the verdicts and the
//! bucket after the packet, which stay until the next result. Guarantees: exactly the integer arithmetic of section 7 of docs/protocol.md.
use super::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RateLimiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 7: the hint is taken for unlimited.
    pub fault: Signal<In, Bits<5>>,
    pub start: Signal<In, Bit>,
    /// Mbit/s; 0xFFFFFF: unlimited.
    pub hint: Signal<In, Bits<24>>,
    /// Largest sRTT in ticks over the UP paths.
    pub s: Signal<In, Bits<16>>,
    /// Some path has an RTT sample.
    pub any_rtt: Signal<In, Bit>,
    pub mtu_log2: Signal<In, Bits<4>>,
    /// Two's complement, in 1/125 byte.
    pub tokens: Signal<In, Bits<36>>,
    pub token_time: Signal<In, Bits<32>>,
    pub now: Signal<In, Bits<32>>,
    /// sent_bytes - retired_bytes
    pub inflight: Signal<In, Bits<32>>,
    /// Payload of the packet.
    pub bytes: Signal<In, Bits<13>>,
    pub valid: Signal<Out, Bit>,
    pub cap_exists: Signal<Out, Bit>,
    /// No cap, or inflight < cap.
    pub cap_ok: Signal<Out, Bit>,
    /// A cap exists and inflight + bytes >= cap.
    pub cap_reached_after: Signal<Out, Bit>,
    pub pace_ok: Signal<Out, Bit>,
    /// The bucket after the packet; unchanged if there is no pacer.
    pub new_tokens: Signal<Out, Bits<36>>,
    // clock 1: inputs registered, elapsed time clipped
    elapsed_full: Signal<Local, Bits<32>>,
    limited1: DFF<Bit>,
    has_cap1: DFF<Bit>,
    hint_low1: DFF<Bits<16>>,
    hint_high1: DFF<Bits<16>>,
    s1: DFF<Bits<16>>,
    elapsed1: DFF<Bits<16>>,
    mtu1: DFF<Bits<4>>,
    tokens1: DFF<Bits<36>>,
    inflight1: DFF<Bits<32>>,
    cost1: DFF<Bits<16>>,
    bytes1: DFF<Bits<13>>,
    // clock 2: the four products
    limited2: DFF<Bit>,
    has_cap2: DFF<Bit>,
    cap_low2: DFF<Bits<32>>,
    cap_high2: DFF<Bits<32>>,
    fill_low2: DFF<Bits<32>>,
    fill_high2: DFF<Bits<32>>,
    tokens2: DFF<Bits<40>>,
    inflight2: DFF<Bits<33>>,
    after2: DFF<Bits<33>>,
    cost2: DFF<Bits<40>>,
    limit2: DFF<Bits<40>>,
    mtu_bytes2: DFF<Bits<17>>,
    // clock 3: sums, comparisons
    product: Signal<Local, Bits<43>>,
    cap: Signal<Local, Bits<36>>,
    bucket: Signal<Local, Bits<40>>,
    full: Signal<Local, Bit>,
    result: Signal<Local, Bits<40>>,
    stage1: DFF<Bit>,
    stage2: DFF<Bit>,
    stage3: DFF<Bit>,
    cap_exists3: DFF<Bit>,
    cap_ok3: DFF<Bit>,
    reached3: DFF<Bit>,
    pace_ok3: DFF<Bit>,
    tokens3: DFF<Bits<36>>,
    sign36: Constant<Bits<40>>,
    unlimited: Constant<Bits<24>>,
    limit_factor: Constant<Bits<40>>,
}

impl RateLimiter {
    pub fn new() -> Self {
        filled!(RateLimiter {
            sign36: Constant::new(0xF0_0000_0000u64.to_bits()),
            unlimited: Constant::new(0xFF_FFFFu64.to_bits()),
            limit_factor: Constant::new((125u64 * 4).to_bits());
            clock, reset, fault, start, hint, s, any_rtt, mtu_log2, tokens, token_time, now, inflight, bytes,
            valid, cap_exists, cap_ok, cap_reached_after, pace_ok, new_tokens, elapsed_full, limited1, has_cap1,
            hint_low1, hint_high1, s1, elapsed1, mtu1, tokens1, inflight1, cost1, bytes1, limited2, has_cap2,
            cap_low2, cap_high2, fill_low2, fill_high2, tokens2, inflight2, after2, cost2, limit2, mtu_bytes2,
            product, cap, bucket, full, result, stage1, stage2, stage3, cap_exists3, cap_ok3, reached3, pace_ok3,
            tokens3,
        })
    }
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RateLimiter {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rate_limiter: connection cap (C3) and pacer (C4), three clocks after start");
        dff_setup!(
            self,
            clock,
            limited1,
            has_cap1,
            hint_low1,
            hint_high1,
            s1,
            elapsed1,
            mtu1,
            tokens1,
            inflight1,
            cost1,
            bytes1,
            limited2,
            has_cap2,
            cap_low2,
            cap_high2,
            fill_low2,
            fill_high2,
            tokens2,
            inflight2,
            after2,
            cost2,
            limit2,
            mtu_bytes2,
            stage1,
            stage2,
            stage3,
            cap_exists3,
            cap_ok3,
            reached3,
            pace_ok3,
            tokens3
        );
        self.stage1.d.next = self.start.val();
        self.stage2.d.next = self.stage1.q.val();
        self.stage3.d.next = self.stage2.q.val();

        comment!("clock 1: C4 counts at most 1023 ticks since the last packet");
        self.elapsed_full.next = self.now.val() - self.token_time.val();
        self.elapsed1.d.next = self.elapsed_full.val().get_bits::<16>(0);
        if self.elapsed_full.val() > 1023 {
            self.elapsed1.d.next = 1023.into();
        }
        self.limited1.d.next = (self.hint.val() != self.unlimited.val()) & (self.fault.val() != 7);
        self.has_cap1.d.next = (self.hint.val() != self.unlimited.val()) & (self.fault.val() != 7) & self.any_rtt.val();
        self.hint_low1.d.next = self.hint.val().get_bits::<16>(0);
        self.hint_high1.d.next = bit_cast::<16, 8>(self.hint.val().get_bits::<8>(16));
        self.s1.d.next = self.s.val();
        self.mtu1.d.next = self.mtu_log2.val();
        self.tokens1.d.next = self.tokens.val();
        self.inflight1.d.next = self.inflight.val();
        self.bytes1.d.next = self.bytes.val();
        // payload + 96: the wire bytes of the packet
        self.cost1.d.next = bit_cast::<16, 13>(self.bytes.val()) + 96;

        comment!("clock 2: 24 x 16 bit products in two halves");
        self.limited2.d.next = self.limited1.q.val();
        self.has_cap2.d.next = self.has_cap1.q.val();
        self.cap_low2.d.next = self.hint_low1.q.val() * self.s1.q.val();
        self.cap_high2.d.next = self.hint_high1.q.val() * self.s1.q.val();
        self.fill_low2.d.next = self.hint_low1.q.val() * self.elapsed1.q.val();
        self.fill_high2.d.next = self.hint_high1.q.val() * self.elapsed1.q.val();
        self.tokens2.d.next = bit_cast::<40, 36>(self.tokens1.q.val());
        if self.tokens1.q.val().get_bit(35) {
            self.tokens2.d.next = bit_cast::<40, 36>(self.tokens1.q.val()) | self.sign36.val();
        }
        self.inflight2.d.next = bit_cast::<33, 32>(self.inflight1.q.val());
        self.after2.d.next = bit_cast::<33, 32>(self.inflight1.q.val()) + bit_cast::<33, 13>(self.bytes1.q.val());
        // 125 x = 128 x - 3 x
        self.cost2.d.next = (bit_cast::<40, 16>(self.cost1.q.val()) << 7)
            - (bit_cast::<40, 16>(self.cost1.q.val()) << 1)
            - bit_cast::<40, 16>(self.cost1.q.val());
        self.limit2.d.next = self.limit_factor.val() << self.mtu1.q.val();
        self.mtu_bytes2.d.next = bits::<17>(1) << self.mtu1.q.val();

        comment!("clock 3: C3: cap = max(MTU, hint * S * 5 / 256)");
        self.product.next = bit_cast::<43, 32>(self.cap_low2.q.val()) + (bit_cast::<43, 32>(self.cap_high2.q.val()) << 16);
        self.product.next = self.product.val() + (self.product.val() << 2);
        self.cap.next = bit_cast::<36, 43>(self.product.val() >> 8);
        self.cap_exists3.d.next = self.has_cap2.q.val();
        self.cap_ok3.d.next = !self.has_cap2.q.val()
            | (bit_cast::<36, 33>(self.inflight2.q.val()) < self.cap.val())
            | (self.inflight2.q.val() < bit_cast::<33, 17>(self.mtu_bytes2.q.val()));
        self.reached3.d.next = self.has_cap2.q.val()
            & (bit_cast::<36, 33>(self.after2.q.val()) >= self.cap.val())
            & (self.after2.q.val() >= bit_cast::<33, 17>(self.mtu_bytes2.q.val()));
        comment!("C4: t = min(tokens + 2 * hint * elapsed, 125 * 4 * MTU); the packet may go if t > 0");
        self.bucket.next = self.tokens2.q.val()
            + ((bit_cast::<40, 32>(self.fill_low2.q.val()) << 1) + (bit_cast::<40, 32>(self.fill_high2.q.val()) << 17));
        self.full.next = !self.bucket.val().get_bit(39) & (self.bucket.val() > self.limit2.q.val());
        self.result.next = self.bucket.val() - self.cost2.q.val();
        if self.full.val() {
            self.result.next = self.limit2.q.val() - self.cost2.q.val();
        }
        self.pace_ok3.d.next = !self.limited2.q.val() | (!self.bucket.val().get_bit(39) & self.bucket.val().any());
        self.tokens3.d.next = bit_cast::<36, 40>(self.result.val());
        if !self.limited2.q.val() {
            self.tokens3.d.next = bit_cast::<36, 40>(self.tokens2.q.val());
        }
        comment!("a result stays until the next one");
        if !self.stage2.q.val() {
            self.cap_exists3.d.next = self.cap_exists3.q.val();
            self.cap_ok3.d.next = self.cap_ok3.q.val();
            self.reached3.d.next = self.reached3.q.val();
            self.pace_ok3.d.next = self.pace_ok3.q.val();
            self.tokens3.d.next = self.tokens3.q.val();
        }
        self.valid.next = self.stage3.q.val();
        self.cap_exists.next = self.cap_exists3.q.val();
        self.cap_ok.next = self.cap_ok3.q.val();
        self.cap_reached_after.next = self.reached3.q.val();
        self.pace_ok.next = self.pace_ok3.q.val();
        self.new_tokens.next = self.tokens3.q.val();
        if self.reset.val() {
            self.stage1.d.next = false;
            self.stage2.d.next = false;
            self.stage3.d.next = false;
        }
    }
}
