// fifo: every entry comes out once, unchanged and in its order; full, empty and count tell the truth.
// Proven for any entry (`mark` picks the write that is followed). No assumption about the user: a write while full and a read while empty
// are ignored, a reset forgets all.
`default_nettype none
module proof #(parameter DEPTH = 13) (
    input wire clock,
    input wire reset,
    input wire write,
    input wire [63:0] data_in,
    input wire read,
    input wire mark
);
    wire full, empty;
    wire [63:0] data_out;
    wire [15:0] count;
    block dut (.*);

    localparam AT = DEPTH > 1 ? $clog2(DEPTH) : 1;
    (* hierconn *) wire [AT-1:0] \dut.write_at , \dut.read_at ;
    (* hierconn *) wire [23:0] \dut.tap_at ;
    (* hierconn *) wire [63:0] \dut.tap ;

    (* anyconst *) wire [15:0] spot; // where the followed entry lies
    wire writes = write && !full;
    wire reads = read && !empty;
    reg followed;
    reg [15:0] before; // entries that come out before it
    reg [63:0] value;
    reg [15:0] held;
    wire here; // the next write goes to `spot`
    wire takes = writes && mark && !followed && here;
    always @(posedge clock) begin
        held <= held + writes - reads;
        if (followed && reads) begin
            before <= before - 1;
            if (before == 0) followed <= 0;
        end
        if (takes) begin
            followed <= 1;
            before <= held - reads;
            value <= data_in;
        end
        if (reset) begin
            held <= 0;
            followed <= 0;
        end
    end

    always @(posedge clock) if ($initstate) assume_reset_first: assume (reset);

    always @(posedge clock) if (!$initstate && !reset) begin
        if (followed && before == 0) comes_out_unchanged: assert (!empty && data_out == value);
        full_means_full: assert (full == (held == DEPTH));
        empty_means_empty: assert (empty == (held == 0));
        count_counts: assert (count == held);
        if (followed) stays_inside: assert (before < held);
        never_more_than_fit: assert (held <= DEPTH);
    end

    // for induction: the ring
    generate if (DEPTH > 1) begin
        assign here = dut.write_at == spot;
        wire [15:0] behind = dut.read_at + held;
        wire [15:0] behind_followed = dut.read_at + before;
        always @* assume (dut.tap_at == spot && spot < DEPTH);
        always @(posedge clock) if (!$initstate && !reset) begin
            ring_ends: assert (dut.read_at < DEPTH);
            ring_is_as_long_as_held: assert (dut.write_at == (behind >= DEPTH ? behind - DEPTH : behind));
            if (followed) followed_spot: assert (spot == (behind_followed >= DEPTH ? behind_followed - DEPTH : behind_followed));
            if (followed) followed_value: assert (dut.tap == value);
            if (!empty && dut.read_at == spot) output_is_memory: assert (data_out == dut.tap);
        end
    end else assign here = 1;
    endgenerate

    always @(posedge clock) if (!$initstate && !reset) begin
        cover_behind_others: cover (followed && before == (DEPTH < 3 ? 0 : 3));
        if (DEPTH < 64) cover_full: cover (full && followed && before == DEPTH - 1);
        cover_out: cover (followed && before == 0 && reads);
        if (DEPTH > 1) cover_both: cover (followed && writes && reads);
    end
endmodule
