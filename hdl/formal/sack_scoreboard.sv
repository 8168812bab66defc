// sack_scoreboard (A3, L1, L2, N1, section 8): the four sets of a path stay disjoint, a step makes of them what the rules say, a look sees the truth.
// Searches and moves are left out (find_start, move_start are 0): tests only.
// Proven for any path (`row_of`) and any place of its window (`n`): the expectation below is written for one packet, the block works on words.
`default_nettype none
module proof #(parameter W = 256, parameter ROWS = 64) (
    input wire clock,
    input wire reset,
    input wire [23:0] row,
    input wire [23:0] cum,
    input wire step_start,
    input wire [1:0] step_op,
    input wire [8:0] advance,
    input wire [8:0] gap_from,
    input wire [8:0] gap_below,
    input wire turn,
    input wire refuses,
    input wire [7:0] refused,
    input wire [63:0] sav0,
    input wire [63:0] sav1,
    input wire [63:0] sav2,
    input wire [63:0] sav3,
    input wire peek_start,
    input wire [7:0] peek_ppsn,
    input wire clear,
    input wire [23:0] clear_address
);
    wire [8:0] acked, dropped, lost_l1, lost_l2;
    wire any_l1, any_rtx_old, newly_valid, newly_second, find_valid, find_any, peek_sacked;
    wire [3:0] lost_words, move_lost_words;
    wire [63:0] newly_even, newly_odd;
    wire [23:0] find_ppsn;
    block dut (.step_cum(cum[7:0]), .find_start(1'b0), .find_lost_words(4'd0), .move_start(1'b0), .move_to_old(1'b0), .*);

    (* hierconn *) wire [23:0] \dut.lane_0.bank.tap_at , \dut.lane_1.bank.tap_at ;
    (* hierconn *) wire [255:0] \dut.lane_0.bank.tap , \dut.lane_1.bank.tap ;
    localparam WORDS = W / 64;
    localparam PAIRS = WORDS > 2 ? 2 : 1;
    localparam [7:0] ring = W - 1;

    (* anyconst *) wire [23:0] row_of;
    (* anyconst *) wire [7:0] n;
    wire [23:0] place = PAIRS == 2 ? (row_of << 1) | n[7] : row_of;
    always @* begin
        assume (n <= ring);
        assume (row_of < ROWS);
        assume (dut.lane_0.bank.tap_at == place);
        assume (dut.lane_1.bank.tap_at == place);
    end
    wire [255:0] word = n[6] ? dut.lane_1.bank.tap : dut.lane_0.bank.tap;
    wire sacked = word[{2'd0, n[5:0]}];
    wire lost = word[{2'd1, n[5:0]}];
    wire rtx_old = word[{2'd2, n[5:0]}];
    wire rtx_new = word[{2'd3, n[5:0]}];

    // --- one step, for one packet ----------------------------------------------------------------------------------------
    wire [7:0] distance = (n - cum[7:0]) & ring;
    wire [255:0] vector = {sav3, sav2, sav1, sav0};
    wire passed = distance < advance;
    wire gap = distance >= gap_from && distance < gap_below;
    wire refuse = refuses && (refused & ring) == n;
    wire fresh = (passed || vector[n]) && !sacked;
    wire live = !fresh && !passed;
    wire again = turn && rtx_old && live;
    wire sacked_a = (sacked || fresh) && !passed;
    wire lost_a = (lost && live) || again;
    wire old_a = turn ? rtx_new && live : rtx_old && live;
    wire new_a = !turn && rtx_new && live;
    wire gone = (gap || refuse) && !(sacked_a || lost_a || old_a || new_a);
    reg [3:0] rules; // sacked, lost, rtx_old, rtx_new after the step
    always @* case (step_op)
        0: rules = {sacked_a, lost_a || gone, old_a, new_a};
        1: rules = {sacked, lost, rtx_old || rtx_new, 1'b0};
        2: rules = {sacked, gap && !sacked, 2'b00};
        default: rules = 4'b0000;
    endcase
    wire fresh_now = step_op == 0 && fresh;
    reg [3:0] expected;
    reg expected_fresh;
    always @(posedge clock) if (step_start) begin
        expected <= rules;
        expected_fresh <= fresh_now;
    end

    // --- the sequencer: one operation at a time -----------------------------------------------------------------------------
    reg [3:0] step; // clocks since step_start
    wire stepping = |step;
    reg peeking, peeked;
    wire busy = stepping || peeking || peeked;
    reg open; // the walker after reset has cleared the place
    reg [23:0] row_b, cum_b;
    reg [294:0] given_b;
    wire [294:0] given = {step_op, advance, gap_from, gap_below, turn, refuses, refused & ring, sav0, sav1, sav2, sav3};
    reg reset_b, reset_bb;
    always @(posedge clock) begin
        reset_b <= reset;
        reset_bb <= reset_b;
    end
    reg [7:0] peek_b;
    reg [3:0] before; // the sets when the look began
    always @(posedge clock) begin
        step <= step_start ? 1 : step == 0 || step == 4 ? 0 : step + 1;
        peeking <= peek_start;
        peeked <= peeking;
        if (clear && clear_address == place) open <= 1;
        row_b <= row;
        cum_b <= cum;
        given_b <= given;
        peek_b <= peek_ppsn;
        if (peek_start) before <= {sacked, lost, rtx_old, rtx_new};
        if (reset) begin
            open <= 0;
            step <= 0;
            peeking <= 0;
            peeked <= 0;
        end
    end
    always @(posedge clock) begin
        if ($initstate) assume_reset_first: assume (reset && !reset_b);
        else if (reset_b && !reset_bb) assume_reset_lasts_two_clocks: assume (reset);
        if (!$initstate) assume_no_reset_within_an_operation: assume (!reset || !busy);
        if (clear) assume_clear_between_operations: assume (!busy && !step_start && !peek_start);
        if (!clear && (step_start || peek_start) && row == row_of) assume_row_was_cleared: assume (open);
        assume_row_exists: assume (row < ROWS);
        assume_one_operation_at_a_time: assume (!(step_start && peek_start) && !(busy && (step_start || peek_start)));
        if (busy) assume_row_and_cum_stable: assume (row == row_b && cum == cum_b);
        if (step == 1 || step == 2) assume_step_stable: assume (given == given_b);
        if (step == 3) assume_op_stable: assume (step_op == given_b[294:293]); // newly_valid of words 2 and 3
        if (peeking || peeked) assume_peek_stable: assume (peek_ppsn == peek_b);
        assume_advance_in_window: assume (advance <= W && gap_from <= W && gap_below <= W);
    end

    // --- what it guarantees ----------------------------------------------------------------------------------------------------
    wire ours = row == row_of;
    (* hierconn *) wire \dut.run0_q , \dut.run1_q , \dut.run2_q , \dut.peek_read_q ;
    (* hierconn *) wire \dut.lane_0.loaded_q , \dut.lane_1.loaded_q ;
    always @(posedge clock) if (!$initstate && !reset) begin
        if (open) sets_stay_disjoint: assert ({2'd0, sacked} + lost + rtx_old + rtx_new <= 1);
        if (step == 4 && ours) step_follows_the_rules: assert ({sacked, lost, rtx_old, rtx_new} == expected);
        if (step == 4 && ours && lost) step_tells_lost_words: assert (lost_words[n[7:6]]);
        if (newly_valid && ours && stepping && newly_second == n[7]) newly_acknowledged: assert ((n[6] ? newly_odd[n[5:0]] : newly_even[n[5:0]]) == expected_fresh);
        if (peeked && ours && (peek_ppsn & ring) == n) peek_sees_sacked: assert (peek_sacked == before[3]);
    end

    // for induction
    wire [5:0] at = n[5:0];
    wire [23:0] first_place = PAIRS == 2 ? row << 1 : row;
    (* hierconn *) wire \dut.lane_0.lost1_q , \dut.lane_1.lost1_q ;
    (* hierconn *) wire [63:0] \dut.lane_0.below_mask_mask , \dut.lane_1.below_mask_mask , \dut.lane_0.from_mask_mask , \dut.lane_1.from_mask_mask ;
    reg below_b, from_b; // of the masks one clock ago
    always @(posedge clock) begin
        below_b <= n[6] ? dut.lane_1.below_mask_mask[at] : dut.lane_0.below_mask_mask[at];
        from_b <= n[6] ? dut.lane_1.from_mask_mask[at] : dut.lane_0.from_mask_mask[at];
    end
    wire mapped = ours && (PAIRS == 2 && n[7] ? step == 2 : step == 1); // the masks of the word are there, and the word is read
    wire stepped = ours && (PAIRS == 2 && n[7] ? step == 3 : step == 2); // the word after the step is there
    (* hierconn *) wire [63:0] \dut.lane_0.passed_q , \dut.lane_0.gap_q , \dut.lane_0.refused_mask_q , \dut.lane_0.newly_reg_q ;
    (* hierconn *) wire [63:0] \dut.lane_1.passed_q , \dut.lane_1.gap_q , \dut.lane_1.refused_mask_q , \dut.lane_1.newly_reg_q ;
    (* hierconn *) wire [255:0] \dut.lane_0.bank_read_data , \dut.lane_1.bank_read_data , \dut.lane_0.after_q , \dut.lane_1.after_q ;
    (* hierconn *) wire [23:0] \dut.lane_0.address1_q , \dut.lane_1.address1_q , \dut.lane_0.address2_q , \dut.lane_1.address2_q ;
    wire [255:0] read = n[6] ? dut.lane_1.bank_read_data : dut.lane_0.bank_read_data;
    wire [255:0] after = n[6] ? dut.lane_1.after_q : dut.lane_0.after_q;
    wire [63:0] newly_of_word = n[6] ? dut.lane_1.newly_reg_q : dut.lane_0.newly_reg_q;
    always @(posedge clock) if (!$initstate && !reset) begin
        if (mapped) mask_passed: assert ((n[6] ? dut.lane_1.passed_q[at] : dut.lane_0.passed_q[at]) == passed);
        if (mapped) mask_gap: assert ((n[6] ? dut.lane_1.gap_q[at] : dut.lane_0.gap_q[at]) == (below_b && !from_b));
        if (mapped) mask_below: assert (below_b == (distance < gap_below));
        if (mapped) mask_from: assert (from_b == (distance < gap_from));
        if (mapped) mask_refused: assert ((n[6] ? dut.lane_1.refused_mask_q[at] : dut.lane_0.refused_mask_q[at]) == refuse);
        if (mapped) word_is_read: assert ({read[{2'd0, at}], read[{2'd1, at}], read[{2'd2, at}], read[{2'd3, at}]} == {sacked, lost, rtx_old, rtx_new});
        if (mapped || (ours && step == 1)) rules_are_as_at_start: assert (rules == expected && fresh_now == expected_fresh);
        if (step == 1) addresses1: assert (dut.lane_0.address1_q == first_place && dut.lane_1.address1_q == first_place);
        if (step == 2) addresses2: assert (dut.lane_0.address2_q == first_place && dut.lane_1.address2_q == first_place);
        if (step == 2 && PAIRS == 2) addresses2_second: assert (dut.lane_0.address1_q == (first_place | 1) && dut.lane_1.address1_q == (first_place | 1));
        if (step == 3 && PAIRS == 2) addresses3: assert (dut.lane_0.address2_q == (first_place | 1) && dut.lane_1.address2_q == (first_place | 1));
        if (busy) row_stays: assert (row_b < ROWS);
        if (stepping && ours) expected_is_disjoint: assert ({2'd0, expected[3]} + expected[2] + expected[1] + expected[0] <= 1);
        if (ours && step == 3 && !n[7] && expected[2] && PAIRS == 2) lost_of_first: assert (n[6] ? dut.lane_1.lost1_q : dut.lane_0.lost1_q);
        if (peeking && ours && (peek_ppsn & ring) == n) peek_reads: assert (read[{2'd0, at}] == sacked && before[3] == sacked);
        if (stepped) word_after: assert ({after[{2'd0, at}], after[{2'd1, at}], after[{2'd2, at}], after[{2'd3, at}]} == expected);
        if (stepped) newly_after: assert (newly_of_word[at] == expected_fresh);
        if (ours && stepping && !stepped && !mapped && step != 1) word_written: assert ({sacked, lost, rtx_old, rtx_new} == expected);
        one_at_a_time: assert (step <= 4 && {2'd0, stepping} + peeking + peeked <= 1);
        if (busy && row == row_of) busy_row_is_open: assert (open);
        runs: assert ({dut.run2_q, dut.run1_q, dut.run0_q} == {step == 3, step == 2, step == 1});
        loads: assert (dut.lane_0.loaded_q == (step == 2 || (step == 3 && PAIRS == 2)));
        loads_odd: assert (dut.lane_1.loaded_q == ((step == 2 && WORDS > 1) || (step == 3 && PAIRS == 2)));
        peeks: assert (dut.peek_read_q == peeking);
    end
    always @(posedge clock) if (!$initstate && reset_b) begin
        nothing_runs_after_reset: assert ({dut.run2_q, dut.run1_q, dut.run0_q} == 0 && step == 0 && !peeking && !peeked && !open);
    end
    always @(posedge clock) if (!$initstate && !reset) begin
        cover_lost_by_l1: cover (step == 4 && ours && lost);
        cover_sacked: cover (step == 4 && ours && sacked);
        cover_peek: cover (peeked && ours && peek_ppsn == n);
    end
endmodule
