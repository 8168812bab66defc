// Whole frames in block RAM: what is written becomes visible when its frame is complete, or is forgotten.
// In: 64-bit words, the number of bytes of the last one (0 is 8), `keep` or `drop` with it. Out: words of complete frames.
// Guarantees: a reader that has begun a frame never waits for the rest; a full memory refuses words (`ready` is low).
`default_nettype none
module frame_fifo #(
    parameter integer BITS = 9 // log2 of the words; 9 is 4 KiB
) (
    input  wire        clock,
    input  wire        reset,
    input  wire        write,
    output wire        ready,
    input  wire [63:0] data_in,
    input  wire [2:0]  bytes_in,
    input  wire        last_in,
    input  wire        drop, // forgets the frame that has been begun; nothing may be written in this clock
    output wire        valid,
    input  wire        read,
    output wire [63:0] data_out,
    output wire [2:0]  bytes_out,
    output wire        last_out
);
    (* ram_style = "block" *) reg [67:0] mem [0:(1<<BITS)-1];
    reg [BITS:0] write_at, complete, read_at; // one bit more than an address: equal is empty
    reg [67:0] row;
    reg row_valid; // the row at read_at is in `row`
    wire [BITS:0] read_next = valid && read ? read_at + 1 : read_at;
    wire full = write_at[BITS-1:0] == read_at[BITS-1:0] && write_at[BITS] != read_at[BITS];
    assign ready = !full;
    assign valid = row_valid;
    assign {last_out, bytes_out, data_out} = row;
    always @(posedge clock) begin
        if (write && ready) begin
            mem[write_at[BITS-1:0]] <= {last_in, bytes_in, data_in};
            write_at <= write_at + 1;
            if (last_in) complete <= write_at + 1;
        end
        if (drop) write_at <= complete;
        row <= mem[read_next[BITS-1:0]];
        read_at <= read_next;
        row_valid <= read_next != complete;
        if (reset) begin
            write_at <= 0;
            complete <= 0;
            read_at <= 0;
            row_valid <= 1'b0;
        end
    end
endmodule
`default_nettype wire
