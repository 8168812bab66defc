// path_tracker (R2, R5): every packet of a path is taken exactly once and the cumulative point passes no packet that has not arrived.
// Proven for any row of the table (`row_of`), any place of its set (`place`: the packets PPSN = place mod W, one after the other, each from the
// clock in which it enters the window until cum passes it) and any order of packets and rows.
// Induction needs the assertions about the row in the tables (`table_*`) and in the registers (`copy_*`).
`default_nettype none
module proof #(parameter W = 256, parameter ROWS = 64) (
    input wire clock,
    input wire reset,
    input wire start,
    input wire [23:0] row,
    input wire [23:0] ppsn,
    input wire take,
    input wire clear
);
    localparam [3:0] WALK = 0, IDLE = 1, LOAD = 2, CALC = 3, READY = 4, MASK = 5, ADD = 6, ENCODE = 7, STORE = 8;
    wire busy, in_order, init_done;
    wire [1:0] verdict;
    wire [23:0] cum, high;
    wire [255:0] vector;
    block dut (.fault(5'd0), .*);

    // registers of the block, and one row of its tables
    (* hierconn *) wire [3:0] \dut.state_q ;
    (* hierconn *) wire [23:0] \dut.at_q , \dut.number_q , \dut.offset_q , \dut.gap_q , \dut.cum_r_q , \dut.cum_r_d ;
    (* hierconn *) wire \dut.seen_q ;
    (* hierconn *) wire [23:0] \dut.rows.tap_at , \dut.words_0.tap_at , \dut.words_1.tap_at , \dut.words_2.tap_at , \dut.words_3.tap_at ;
    (* hierconn *) wire [47:0] \dut.rows.tap , \dut.rows_read_data ;
    (* hierconn *) wire [63:0] \dut.words_0.tap , \dut.words_1.tap , \dut.words_2.tap , \dut.words_3.tap ;
    (* hierconn *) wire [63:0] \dut.words_0_read_data , \dut.words_1_read_data , \dut.words_2_read_data , \dut.words_3_read_data ;
    (* hierconn *) wire [63:0] \dut.selected , \dut.low_mask , \dut.filled_word_q , \dut.below_q , \dut.hole_bit_q ;
    (* hierconn *) wire \dut.all_ones_q ;
    wire [3:0] state = dut.state_q;
    wire [23:0] table_cum = dut.rows.tap[23:0];
    wire [23:0] table_high = dut.rows.tap[47:24];
    wire [255:0] table_set = {dut.words_3.tap, dut.words_2.tap, dut.words_1.tap, dut.words_0.tap} & ring_mask;
    wire [255:0] read_set = {dut.words_3_read_data, dut.words_2_read_data, dut.words_1_read_data, dut.words_0_read_data} & ring_mask;
    localparam [255:0] ring_mask = {256{1'b1}} >> (256 - W);
    localparam [7:0] ring = W - 1;

    (* anyconst *) wire [23:0] row_of;
    (* anyconst *) wire [7:0] place;
    always @* begin
        assume (dut.rows.tap_at == row_of);
        assume (dut.words_0.tap_at == row_of);
        assume (dut.words_1.tap_at == row_of);
        assume (dut.words_2.tap_at == row_of);
        assume (dut.words_3.tap_at == row_of);
        assume (row_of < ROWS);
        assume (place <= ring);
    end

    // What has happened to the row: `c` and `h` are its cum and high. `fresh`: the registers hold it. `got`: the packet at `place` that the
    // window has now was taken.
    reg open, fresh, pending, got;
    reg [23:0] c, h;
    wire ours = fresh && pending && state == READY;
    wire hit = take && fresh && (dut.number_q[7:0] & ring) == place;
    wire [23:0] advance = fresh && state != LOAD ? dut.cum_r_d - dut.cum_r_q : 24'd0;
    wire [7:0] distance = (place - c[7:0]) & ring; // of that packet from cum
    wire passed = {16'd0, distance} < advance;
    wire [23:0] ahead = dut.number_q - h;
    always @(posedge clock) begin
        c <= c + advance;
        if (take && fresh && !ahead[23]) h <= dut.number_q;
        got <= (got || hit) && !passed;
        if (take) pending <= 0;
        if (start) begin
            pending <= 1;
            fresh <= row == row_of;
        end
        if (clear && row == row_of) begin
            open <= 1;
            got <= 0;
            c <= ppsn;
            h <= ppsn - 1;
        end
        if (clear) fresh <= 0;
        if (reset) begin
            open <= 0;
            fresh <= 0;
            pending <= 0;
        end
    end

    // --- what rx_core guarantees: one step at a time -----------------------------------------------------------------
    always @(posedge clock) begin
        if ($initstate) assume_reset_first: assume (reset);
        if (start) assume_start_between_steps: assume (init_done && !clear && !take && (state == IDLE || state == READY));
        if (clear) assume_clear_between_steps: assume (init_done && !take && !pending && (state == IDLE || state == READY));
        if (start && row == row_of) assume_path_is_open: assume (open);
        if (take) assume_take_of_a_new_packet: assume (pending && state == READY && verdict == 0);
        assume_rows_exist: assume (row < ROWS);
    end

    // --- what the block guarantees ---------------------------------------------------------------------------------
    wire [255:0] copy = vector & ring_mask;
    wire between = state == IDLE || state == READY || !fresh;
    wire [23:0] span = h - c + 24'd1; // packets from cum to high
    wire [23:0] offset = dut.number_q - c;
    always @(posedge clock) if (!$initstate && !reset) begin
        if (hit) exactly_once: assert (!got);
        if (take && fresh) only_from_the_window: assert (offset < W);
        if (passed) nothing_slides_out: assert (got || hit);
        if (fresh) forward_by_a_word_at_most: assert (advance <= 64);
        if (ours) begin
            if (offset[23]) behind_is_duplicate: assert (verdict == 1);
            else if (offset >= W) beyond_is_out_of_window: assert (verdict == 2);
            else if ((dut.number_q[7:0] & ring) == place) verdict_knows_the_packet: assert (verdict == (got ? 1 : 0));
            in_order_is_next: assert (in_order == (dut.number_q == h + 24'd1));
            ours_cum_and_high: assert (cum == c && high == h);
        end

        // for induction
        states: assert (state <= STORE && (!fresh || (open && state >= LOAD && dut.at_q == row_of)));
        if (!fresh && (pending || (state != WALK && state != IDLE && state != READY))) other_row: assert (dut.at_q != row_of);
        if (state >= LOAD) row_exists: assert (dut.at_q < ROWS);
        walk_before_use: assert (state != WALK || (!open && !fresh && !pending));
        if (pending) pending_states: assert (state == LOAD || state == CALC || state == READY);
        if (open) begin
            span_in_window: assert (span <= W);
            received_is_below_high: assert (!got || distance < span);
            if (between || state <= READY) begin
                table_points: assert (table_cum == c && table_high == h);
                table_bit: assert (table_set[place] == got);
                table_hole: assert (distance != 0 || !got);
            end
        end
        if (fresh) begin
            if (state == LOAD) copy_read: assert (dut.rows_read_data == dut.rows.tap && read_set == table_set);
            if (state == CALC || state == READY) copy_same: assert (cum == table_cum && high == table_high && copy == table_set);
            if (state >= MASK) copy_points: assert (cum == c && high == h);
            if (state >= MASK && (state != ENCODE || distance >= moves)) copy_bit: assert (copy[place] == got);
            if (state == ENCODE && distance < moves) copy_cleared: assert (!copy[place] && got);
            if (state == ADD) adds: assert (dut.below_q == dut.low_mask && dut.filled_word_q == (dut.selected | dut.low_mask));
            if (state == ENCODE) begin
                encodes_hole: assert (dut.hole_bit_q == (filled_and_one & ~dut.filled_word_q) && dut.all_ones_q == &dut.filled_word_q);
                encodes_word: assert ((dut.selected & ~dut.low_mask) == (dut.filled_word_q & filled_and_one & ~dut.low_mask));
                encodes_no_further_than_high: assert (moves <= span);
                encodes_low: assert ((dut.low_mask & ~dut.filled_word_q) == 0);
            end
            if (state == STORE) copy_hole: assert (distance != 0 || !got);
        end
        if (ours) begin
            ours_offset: assert (dut.offset_q == dut.number_q - cum && dut.gap_q == dut.number_q - high);
            ours_seen: assert (dut.seen_q == copy[dut.number_q[7:0] & ring]);
        end
    end
    wire [63:0] filled_and_one = dut.filled_word_q + 64'd1;
    // where cum goes from ENCODE
    wire [23:0] moves = dut.cum_r_d - dut.cum_r_q;
    // What was asserted of `place` one clock ago holds for every place, so also for that of high + 1: no such packet had been received.
    reg above_high;
    wire [7:0] next_place = (h[7:0] + 8'd1) & ring;
    always @(posedge clock) begin
        above_high <= !$initstate && !reset && fresh && state >= MASK && state != ENCODE && span < W && copy[next_place];
        assume_asserted_before: assume (!above_high);
    end

    // --- none of this is empty -------------------------------------------------------------------------------------
    reg out_of_order;
    always @(posedge clock) begin
        if (reset || clear) out_of_order <= 0;
        else if (hit && distance != 0) out_of_order <= 1;
    end
    always @(posedge clock) if (!$initstate && !reset) begin
        cover_taken: cover (hit && distance == 0);
        cover_gap: cover (hit && distance == 3);
        cover_gap_closed: cover (out_of_order && passed && state == ENCODE);
        cover_duplicate: cover (ours && offset < W && (dut.number_q[7:0] & ring) == place && got);
        cover_last_of_window: cover (hit && distance == ring);
    end
endmodule
