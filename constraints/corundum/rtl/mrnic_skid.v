// Two places for words: cuts the path of `ready` and of data without losing a clock.
// In: words while not full. Out: the same words, held until they are taken.
`default_nettype none

module mrnic_skid #(
    parameter WIDTH = 8
) (
    input  wire              clk,
    input  wire              rst,
    input  wire              in_valid,
    output wire              in_ready,
    input  wire [WIDTH-1:0]  in_data,
    output wire              out_valid,
    input  wire              out_ready,
    output wire [WIDTH-1:0]  out_data
);

reg              first_valid;
reg              second_valid;
reg [WIDTH-1:0]  first;
reg [WIDTH-1:0]  second;

assign in_ready  = !second_valid;
assign out_valid = first_valid;
assign out_data  = first;

always @(posedge clk) begin
    if (out_ready || !first_valid) begin
        first        <= second_valid ? second : in_data;
        first_valid  <= second_valid || in_valid;
        second_valid <= 1'b0;
    end else if (in_valid && in_ready) begin
        second       <= in_data;
        second_valid <= 1'b1;
    end
    if (rst) begin
        first_valid  <= 1'b0;
        second_valid <= 1'b0;
    end
end

endmodule

`default_nettype wire
