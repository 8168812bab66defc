// skid: every word comes out once, unchanged and in its order; the output waits unchanged until it is taken; the handshakes are registers.
// Proven for any word (`mark` picks it). Assumes nothing but a first reset: not even that the input is held until it is taken.
`default_nettype none
module proof (
    input wire clock,
    input wire reset,
    input wire in_valid,
    input wire [63:0] in_data,
    input wire out_ready,
    input wire mark
);
    wire in_ready, out_valid;
    wire [63:0] out_data;
    block dut (.*);
    (* hierconn *) wire [63:0] \dut.spare_q ;

    wire takes = in_valid && in_ready;
    wire gives = out_valid && out_ready;
    reg followed, second; // a word is inside; one is before it
    reg [63:0] value;
    reg [1:0] held;
    reg waited; // the output was not taken in the last clock
    reg [63:0] waiting;
    always @(posedge clock) begin
        held <= held + takes - gives;
        waited <= out_valid && !out_ready && !reset;
        waiting <= out_data;
        if (followed && gives) begin
            second <= 0;
            if (!second) followed <= 0;
        end
        if (takes && mark && !followed) begin
            followed <= 1;
            second <= held - gives != 0;
            value <= in_data;
        end
        if (reset) begin
            followed <= 0;
            held <= 0;
        end
    end

    always @(posedge clock) if ($initstate) assume_reset_first: assume (reset);

    always @(posedge clock) if (!$initstate && !reset) begin
        if (followed && !second) comes_out_unchanged: assert (out_valid && out_data == value);
        valid_while_held: assert (out_valid == (held != 0));
        ready_while_room: assert (in_ready == (held < 2));
        if (waited) stays_until_taken: assert (out_valid && out_data == waiting);
        never_more_than_two: assert (held <= 2);
        // for induction
        if (followed) followed_is_held: assert (held > second);
        if (followed && second) followed_is_spare: assert (dut.spare_q == value);
    end

    always @(posedge clock) if (!$initstate && !reset) begin
        cover_full: cover (held == 2 && followed && second);
        cover_out: cover (followed && !second && gives);
        cover_full_rate: cover (followed && takes && gives);
    end
endmodule
