// timer_step with timer_check (L3, L4): the retry of a path cannot stop. One look at a path's timer takes 9 clocks, in which its rows are stable.
// For any rows: a path that is due acts; every look asks for one that is later than now. So looks without an action end when the timeout is due.
// For four looks in a row, each when the timeout is due, with nothing heard (retry_cnt at most 2, times below 2^16, `small`): the connection is given up, or the
// path is DOWN and another carries on. A path that is the last one UP stays UP; one that is not UP after an action is stranded. Bounded: 9 clocks are all that the block remembers, four looks are 40.
`default_nettype none
module proof (
    input wire clock,
    input wire reset,
    input wire [155:0] any_path,
    input wire [265:0] any_row,
    input wire [15:0] any_later,
    input wire [3:0] lost_words
);
    (* anyconst *) wire [31:0] any_now, rto_min;
    (* anyconst *) wire [10:0] cfg;
    (* anyconst *) wire [41:0] conn;
    (* anyconst *) wire other_up, stranded, watching, small;
    (* anyconst *) wire [31:0] alive;
    reg [31:0] now;
    reg [155:0] path;
    reg [265:0] row;
    wire [3:0] action;
    wire active, all_lost, goes_down, gives_up;
    wire [31:0] deadline;
    wire [155:0] new_path;
    wire [265:0] new_row;
    block dut (.*);

    (* hierconn *) wire [31:0] \dut.check.limit_q , \dut.check.calm_q , \dut.check.to_rto_q ;
    wire [1:0] state = path[1:0];
    wire [23:0] next_ppsn = path[47:24], cum = path[71:48];
    wire [31:0] t_base = path[119:88];
    wire [17:0] srtt8 = path[137:120];
    wire [16:0] var4 = row[82:66];
    wire [3:0] backoff = row[86:83], retry_cnt = cfg[10:7];
    wire outstanding = next_ppsn != cum;
    wire timeout = action >= 2 && action <= 8; // L4; 1, 9 and 10 are of L3
    wire [1:0] new_state = new_path[1:0];
    // L4: rto = max(3 * sRTT + var4, rto_min) * 2^min(backoff, 6), at most 2^31 - 1
    wire [31:0] smooth = {17'd0, srtt8[17:3]};
    wire [31:0] deviation = 3 * smooth + {15'd0, var4};
    wire [39:0] first = deviation < rto_min ? rto_min : deviation;
    wire [39:0] longer = first << (backoff > 6 ? 6 : backoff);
    wire [31:0] rto = longer > 40'h7FFFFFFF ? 32'h7FFFFFFF : longer[31:0];
    // D8: a path that watches and has nothing outstanding counts from the last sign of life too
    wire [31:0] since_base = now - t_base, since_alive = now - alive;
    wire [31:0] idle = watching && !outstanding && since_alive < since_base ? since_alive : since_base;
    wire due = idle >= rto && !idle[31];
    wire [31:0] ahead = deadline - now;

    reg [5:0] clocks; // of this look
    reg [2:0] looks;
    reg ended; // given up
    wire seen = clocks == 9;
    always @(posedge clock) begin
        clocks <= seen ? 0 : clocks + 1;
        if (seen) begin
            looks <= looks + 1;
            path <= new_path;
            row <= new_row;
            ended <= ended || gives_up;
            now <= now + any_later;
        end
        if ($initstate) begin
            clocks <= 0;
            looks <= 0;
            ended <= 0;
            path <= any_path;
            row <= any_row;
            now <= any_now;
        end
    end

    always @(posedge clock) begin
        if ($initstate) assume_no_reset: assume (!reset);
        assume_connection_is_open: assume (cfg[0] && !conn[41]);
        assume_rto_min: assume (rto_min >= 16 && rto_min < 32'h01000000);
        if (!$initstate) begin
            // a timer that is armed is looked at, and a base ahead of now (a resend under way) is ahead by little
            assume_base_is_near: assume (idle < 32'h40000000 || -idle < 32'h01000000);
            assume_path_is_enabled: assume (state != 0);
            if (looks > 0) assume_small_for_more_looks: assume (small);
            if (small) assume_small: assume (outstanding && retry_cnt <= 2 && rto_min < 256 && srtt8 < 2048 && var4 < 256 && (looks > 0 || (backoff == 0 && state == 1)));
            if (small) assume_nothing_is_heard_until_due: assume (due);
        end
    end

    always @(posedge clock) if (!$initstate && seen && !ended) begin
        if (active && due) due_acts: assert (timeout);
        if (outstanding || state != 1) outstanding_is_active: assert (active || gives_up);
        if (action == 0 && active) next_look_is_later: assert (ahead != 0 && !ahead[31]);
        rto_is_the_formula: assert (dut.check.limit_q == rto && dut.check.calm_q == idle);
        time_left_until_rto: assert (dut.check.to_rto_q == dut.check.limit_q - dut.check.calm_q);
        if (action != 0) next_look_after_an_action: assert (ahead != 0 && !ahead[31]);
        if (action == 0) nothing_changes_without_an_action: assert (new_path == path && new_row == row);
        if (timeout) timeout_starts_anew: assert (new_path[119:88] == now && (new_row[86:83] > backoff || backoff == 15 || state == 3));
        if (timeout && !other_up && (backoff >= retry_cnt || backoff >= 14) && state != 3) gives_up_in_time: assert (gives_up);
        if (small && looks == 3) retry_ends: assert (gives_up || (other_up && new_state == 3));
        if (state == 1 && !other_up) last_path_stays_up: assert (new_state == 1);
        if (action != 0 && !gives_up && new_state != 1) not_up_is_stranded: assert (all_lost && new_path[10:2] == 0 && !new_path[139]);
        if (all_lost) stranded_is_not_up: assert (new_state >= 2);
    end

    always @(posedge clock) if (!$initstate && seen) begin
        cover_probe: cover (action == 1);
        cover_suspect_by_tail_probe: cover (action == 9);
        cover_suspect_again: cover (action == 10);
        cover_nothing: cover (action == 0 && active);
        cover_gives_up: cover (small && looks == 2 && gives_up);
        cover_down: cover (small && looks == 2 && goes_down);
    end
endmodule
