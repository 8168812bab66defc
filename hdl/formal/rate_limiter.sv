// rate_limiter (C3, C4): the verdicts and the bucket are those of the protocol's formulas, and the bucket gives no more than was earned:
// whatever is sent, when and how large, what a connection has sent never exceeds what it earned by more than one burst and one packet.
// The products hint * S and hint * elapsed are formed in the same two halves as in the block, from its own registers of clock 1, which are
// asserted to hold what was given: a solver cannot compare two multipliers of this width.
`default_nettype none
module proof (
    input wire clock,
    input wire reset,
    input wire start,
    input wire [23:0] hint,
    input wire [15:0] s,
    input wire any_rtt,
    input wire [3:0] mtu_log2,
    input wire [31:0] now,
    input wire [31:0] inflight,
    input wire [12:0] bytes,
    input wire send
);
    wire valid, cap_exists, cap_ok, cap_reached_after, pace_ok;
    wire [35:0] new_tokens;
    // the connection's row: the bucket and its time, updated when a packet is sent
    reg [35:0] tokens;
    reg [31:0] token_time;
    block dut (.fault(5'd0), .*);

    // what was given with start, one and two and three clocks later
    reg [3:1] run;
    reg [23:0] hint_of [1:3];
    reg [15:0] s_of [1:3], elapsed_of [1:3];
    reg any_of [1:3];
    reg [3:0] mtu_of [1:3];
    reg [35:0] tokens_of [1:3];
    reg [31:0] inflight_of [1:3], now_of [1:3];
    reg [12:0] bytes_of [1:3];
    wire [31:0] elapsed = now - token_time;
    integer i;
    always @(posedge clock) begin
        run <= reset ? 3'd0 : {run[2:1], start};
        hint_of[1] <= hint;
        s_of[1] <= s;
        elapsed_of[1] <= elapsed > 1023 ? 16'd1023 : elapsed[15:0];
        any_of[1] <= any_rtt;
        mtu_of[1] <= mtu_log2;
        tokens_of[1] <= tokens;
        inflight_of[1] <= inflight;
        now_of[1] <= now;
        bytes_of[1] <= bytes;
        for (i = 2; i <= 3; i = i + 1) begin
            hint_of[i] <= hint_of[i - 1];
            s_of[i] <= s_of[i - 1];
            elapsed_of[i] <= elapsed_of[i - 1];
            any_of[i] <= any_of[i - 1];
            mtu_of[i] <= mtu_of[i - 1];
            tokens_of[i] <= tokens_of[i - 1];
            inflight_of[i] <= inflight_of[i - 1];
            now_of[i] <= now_of[i - 1];
            bytes_of[i] <= bytes_of[i - 1];
        end
    end

    (* hierconn *) wire \dut.stage1_q , \dut.stage2_q , \dut.limited1_q , \dut.has_cap1_q , \dut.limited2_q , \dut.has_cap2_q ;
    (* hierconn *) wire [15:0] \dut.hint_low1_q , \dut.hint_high1_q , \dut.s1_q , \dut.elapsed1_q , \dut.cost1_q ;
    (* hierconn *) wire [3:0] \dut.mtu1_q ;
    (* hierconn *) wire [35:0] \dut.tokens1_q ;
    (* hierconn *) wire [31:0] \dut.inflight1_q , \dut.cap_low2_q , \dut.cap_high2_q , \dut.fill_low2_q , \dut.fill_high2_q ;
    (* hierconn *) wire [12:0] \dut.bytes1_q ;
    (* hierconn *) wire [39:0] \dut.tokens2_q , \dut.cost2_q , \dut.limit2_q ;
    (* hierconn *) wire [32:0] \dut.inflight2_q , \dut.after2_q ;
    (* hierconn *) wire [16:0] \dut.mtu_bytes2_q ;
    // hint * S and hint * elapsed
    reg [31:0] cap_low, cap_high, fill_low, fill_high;
    reg [63:0] hint_s;
    reg signed [63:0] earned;
    always @(posedge clock) begin
        cap_low <= {16'd0, dut.hint_low1_q} * {16'd0, dut.s1_q};
        cap_high <= {16'd0, dut.hint_high1_q} * {16'd0, dut.s1_q};
        fill_low <= {16'd0, dut.hint_low1_q} * {16'd0, dut.elapsed1_q};
        fill_high <= {16'd0, dut.hint_high1_q} * {16'd0, dut.elapsed1_q};
        hint_s <= {32'd0, cap_low} + ({32'd0, cap_high} << 16);
        earned <= ({32'd0, fill_low} + ({32'd0, fill_high} << 16)) << 1;
    end

    wire limited = hint_of[3] != 24'hFFFFFF;
    wire signed [63:0] before = {{28{tokens_of[3][35]}}, tokens_of[3]};
    wire signed [63:0] after = {{28{new_tokens[35]}}, new_tokens};
    wire signed [63:0] cost = 125 * ({51'd0, bytes_of[3]} + 64'd96);
    wire signed [63:0] burst = 64'd500 << mtu_of[3];
    wire signed [63:0] filled = before + earned;
    wire signed [63:0] t = filled < burst ? filled : burst;
    wire [63:0] cap_rate = (hint_s + (hint_s << 2)) >> 8;
    wire [63:0] mtu = 64'd1 << mtu_of[3];
    wire [63:0] cap = cap_rate > mtu ? cap_rate : mtu;
    wire [63:0] inflight_now = {32'd0, inflight_of[3]};

    // a connection that sends what it may; `credit`: the first burst and all that it earned, less all that it sent, in 1/125 byte
    reg signed [63:0] credit;
    wire sends = valid && send && pace_ok && limited;
    always @(posedge clock) begin
        if (sends) begin
            tokens <= new_tokens;
            token_time <= now_of[3];
            credit <= credit + earned - cost;
        end
        if (reset) begin
            tokens <= 36'd500 << 8;
            credit <= 64'd500 << 8;
        end
    end
    wire signed [63:0] bucket = {{28{tokens[35]}}, tokens};

    always @(posedge clock) begin
        if ($initstate) assume_reset_first: assume (reset);
        assume_mtu_is_256_to_4096: assume (mtu_log2 >= 8 && mtu_log2 <= 12);
        // a slot takes longer than the three clocks of the pipeline: its start sees the row that the one before has left
        if (run != 0) assume_one_slot_at_a_time: assume (!start);
        assume_count_does_not_end: assume (credit < 64'h1000000000000000);
    end

    always @(posedge clock) if (!$initstate && !reset) begin
        valid_after_three_clocks: assert (valid == run[3]);
        if (valid) begin
            pace_is_t_above_zero: assert (pace_ok == (!limited || t > 0));
            bucket_is_t_less_the_packet: assert (after == (limited ? t - cost : before));
            cap_exists_with_a_hint_and_an_rtt: assert (cap_exists == (limited && any_of[3]));
            cap_is_below_inflight: assert (cap_ok == (!cap_exists || inflight_now < cap));
            cap_reached_by_this_packet: assert (cap_reached_after == (cap_exists && inflight_now + bytes_of[3] >= cap));
        end
        bucket_is_never_more_than_was_earned: assert (bucket <= credit);
        debt_is_one_packet_at_most: assert (bucket > -125 * (8191 + 96));
        // for induction
        bucket_is_bounded: assert (bucket <= 500 * 4096);
        if (run[1]) given1: assert (tokens_of[1] == tokens && elapsed_of[1] <= 1023);
        if (run[2]) given2: assert (tokens_of[2] == tokens && elapsed_of[2] <= 1023);
        if (run[3]) given3: assert (tokens_of[3] == tokens && elapsed_of[3] <= 1023);
        stages: assert (run == {valid, dut.stage2_q, dut.stage1_q});
        one_slot: assert (run == 0 || run == 1 || run == 2 || run == 4);
        if (run[2]) earned_by_one_slot: assert (fill_low < 1024 * 65536 && fill_high < 1024 * 256);
        if (run[2]) cap_fits: assert (cap_high < 256 * 65536);
        if (run[3]) earned_is_little: assert (earned >= 0 && earned < 64'h1000000000);
        if (run[1]) begin
            clock1_rate: assert ({dut.hint_high1_q, dut.hint_low1_q} == {8'd0, hint_of[1]} && dut.s1_q == s_of[1] && dut.elapsed1_q == elapsed_of[1]);
            clock1_flags: assert (dut.limited1_q == (hint_of[1] != 24'hFFFFFF) && dut.has_cap1_q == (dut.limited1_q && any_of[1]));
            clock1_rest: assert (dut.tokens1_q == tokens_of[1] && dut.mtu1_q == mtu_of[1] && dut.inflight1_q == inflight_of[1] && dut.bytes1_q == bytes_of[1] && dut.cost1_q == bytes_of[1] + 96);
            clock1_mtu: assert (mtu_of[1] >= 8 && mtu_of[1] <= 12);
        end
        if (run[2]) begin
            clock2_products: assert (dut.cap_low2_q == cap_low && dut.cap_high2_q == cap_high && dut.fill_low2_q == fill_low && dut.fill_high2_q == fill_high);
            clock2_flags: assert (dut.limited2_q == (hint_of[2] != 24'hFFFFFF) && dut.has_cap2_q == (dut.limited2_q && any_of[2]));
            clock2_tokens: assert (dut.tokens2_q == {{4{tokens_of[2][35]}}, tokens_of[2]});
            clock2_cost: assert (dut.cost2_q == 125 * ({27'd0, bytes_of[2]} + 40'd96));
            clock2_mtu: assert (dut.limit2_q == 40'd500 << mtu_of[2] && dut.mtu_bytes2_q == 17'd1 << mtu_of[2] && mtu_of[2] >= 8 && mtu_of[2] <= 12);
            clock2_inflight: assert (dut.inflight2_q == inflight_of[2] && dut.after2_q == {1'd0, inflight_of[2]} + bytes_of[2]);
        end
        if (run[3]) clock3_mtu: assert (mtu_of[3] >= 8 && mtu_of[3] <= 12);
    end

    always @(posedge clock) if (!$initstate && !reset) begin
        cover_paced: cover (valid && limited && !pace_ok && credit != (500 << 8));
        cover_full_bucket: cover (valid && limited && filled > burst && credit != (500 << 8));
        cover_capped: cover (valid && cap_exists && !cap_ok && cap_rate > mtu);
        cover_last_before_the_cap: cover (valid && cap_ok && cap_reached_after);
    end
endmodule
