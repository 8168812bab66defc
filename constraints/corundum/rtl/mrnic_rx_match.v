// Tells for each frame whether it is one of ours: UDP on IPv4 or IPv6 to destination port UDP_PORT, with at most one
// 802.1Q tag. Fragments, IPv4 options and IPv6 extension headers are not ours: the engine would drop such frames.
// In: the beats of frames as they are taken. Out: one decision a frame, in order, two clocks after its beat with the last
// header byte that counts (or after its last beat).
`default_nettype none

module mrnic_rx_match #(
    parameter DATA_WIDTH = 512,
    parameter [15:0] UDP_PORT = 16'd4791
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire                     beat,
    input  wire [DATA_WIDTH-1:0]    beat_data,
    input  wire [DATA_WIDTH/8-1:0]  beat_keep,
    input  wire                     beat_last,
    output reg                      decided,
    output reg                      ours
);

// a UDP port behind Ethernet, one tag and IPv6 ends at byte 62
localparam HEADER_BYTES = 64;
localparam BEAT_BYTES   = DATA_WIDTH/8;
localparam BEATS        = HEADER_BYTES/BEAT_BYTES;
localparam BEAT_BITS    = BEATS > 1 ? $clog2(BEATS) : 1;

// bytes of the frame, byte i in bits 8i+7:8i; what the frame does not have is 0
reg  [8*HEADER_BYTES-1:0] header;
reg                       complete;

wire [DATA_WIDTH-1:0] kept;
genvar n;
generate
    for (n = 0; n < BEAT_BYTES; n = n + 1) begin : lane
        assign kept[8*n +: 8] = beat_keep[n] ? beat_data[8*n +: 8] : 8'd0;
    end
    if (BEATS > 1) begin : several
        reg [BEAT_BITS-1:0] place;
        // the header is complete; the rest of the frame does not count
        reg                 past;
        wire final_beat = &place;
        always @(posedge clk) begin
            complete <= 1'b0;
            if (beat && !past) begin
                if (place == 0)
                    header <= {{(8*HEADER_BYTES-DATA_WIDTH){1'b0}}, kept};
                else
                    header[place*DATA_WIDTH +: DATA_WIDTH] <= kept;
                complete <= final_beat || beat_last;
                place    <= final_beat || beat_last ? {BEAT_BITS{1'b0}} : place + 1'b1;
                past     <= final_beat && !beat_last;
            end
            if (beat && past)
                past <= !beat_last;
            if (rst) begin
                complete <= 1'b0;
                header   <= 0;
                place    <= 0;
                past     <= 1'b0;
            end
        end
    end else begin : one
        reg past;
        always @(posedge clk) begin
            complete <= beat && !past;
            if (beat && !past)
                header <= kept[8*HEADER_BYTES-1:0];
            if (beat)
                past <= !beat_last;
            if (rst) begin
                complete <= 1'b0;
                header   <= 0;
                past     <= 1'b0;
            end
        end
    end
endgenerate

// 16 bits in network byte order from a byte on
`define MRNIC_HALF(at) {header[8*(at) +: 8], header[8*(at)+8 +: 8]}

wire has_tag = `MRNIC_HALF(12) == 16'h8100;
// what follows the Ethernet header, as if there were no tag
wire [15:0] ethertype = has_tag ? `MRNIC_HALF(16) : `MRNIC_HALF(12);
wire [7:0]  version   = has_tag ? header[8*18 +: 8] : header[8*14 +: 8];
wire [15:0] fragment  = has_tag ? `MRNIC_HALF(24) : `MRNIC_HALF(20);
wire [7:0]  protocol4 = has_tag ? header[8*27 +: 8] : header[8*23 +: 8];
wire [15:0] port4     = has_tag ? `MRNIC_HALF(40) : `MRNIC_HALF(36);
wire [7:0]  protocol6 = has_tag ? header[8*24 +: 8] : header[8*20 +: 8];
wire [15:0] port6     = has_tag ? `MRNIC_HALF(60) : `MRNIC_HALF(56);

`undef MRNIC_HALF

localparam [7:0] UDP = 8'd17;

// bits 13:0 of the fragment field: more fragments, offset
wire ipv4 = ethertype == 16'h0800 && version == 8'h45 && fragment[13:0] == 14'd0 && protocol4 == UDP && port4 == UDP_PORT;
wire ipv6 = ethertype == 16'h86dd && version[7:4] == 4'd6 && protocol6 == UDP && port6 == UDP_PORT;

always @(posedge clk) begin
    decided <= complete;
    ours    <= ipv4 || ipv6;
    if (rst) begin
        decided <= 1'b0;
        ours    <= 1'b0;
    end
end

// MAC addresses, the TCI of a tag and what lies between the fields
wire unused = &{1'b0, header, fragment[15:14]};

endmodule

`default_nettype wire
