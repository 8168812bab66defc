// Block RAM of ECP5, as far as Yosys' memory mapping uses it: in come two ports of 1 to 18 bits, or one that writes and one that reads 36;
// out go the words read, one clock later; both ports are on one clock. Guarantees: an option that this model lacks stops the elaboration, and
// what the part leaves open is not what the source would have read: a bit that the other port writes in the same clock is read as the
// complement of its old value. Written from the names of the primitive's ports and the rules of the mapping, not from a vendor's model.
module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC";
    parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL";
    parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "ENABLED", INIT_DATA = "STATIC";
    parameter [319:0] INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0, INITVAL_04 = 0, INITVAL_05 = 0, INITVAL_06 = 0, INITVAL_07 = 0;
    parameter [319:0] INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0, INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0;
    parameter [319:0] INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 = 0, INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0;
    parameter [319:0] INITVAL_18 = 0, INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0, INITVAL_1C = 0, INITVAL_1D = 0, INITVAL_1E = 0, INITVAL_1F = 0;
    parameter [319:0] INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0, INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0;
    parameter [319:0] INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0, INITVAL_2C = 0, INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0;
    parameter [319:0] INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0, INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0, INITVAL_37 = 0;
    parameter [319:0] INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0, INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0;
    // 36 bits: port A writes, port B reads; the row of the primitive is a pair of rows here
    localparam WIDE = DATA_WIDTH_A == 36;

    generate
        if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG") $error("DP16KD: this model has no output register");
        if (CSDECODE_A != "0b000" || CSDECODE_B != "0b000") $error("DP16KD: this model knows no other select than 000");
        if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") $error("DP16KD: this model knows rising edges only");
        if (WRITEMODE_A == "WRITETHROUGH" || WRITEMODE_B == "WRITETHROUGH") $error("DP16KD: this model does not write through");
        if (WIDE && DATA_WIDTH_B != 36) $error("DP16KD: in this model a port that writes 36 bits needs one that reads 36");
        if (!WIDE && (DATA_WIDTH_A > 18 || DATA_WIDTH_B > 18)) $error("DP16KD: ports have 1, 2, 4, 9, 18 or both 36 bits");
    endgenerate

    // 1,024 rows of two bytes of nine bits; 1, 2 and 4 bits lie in the lower eight of a byte
    reg [17:0] mem [0:1023];
    wire [20479:0] first = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34,
        INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
        INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C,
        INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
        INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04,
        INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
    };
    integer i;
    initial for (i = 0; i < 1024; i = i + 1) mem[i] = first[20*i +: 18];

    wire [17:0] dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [17:0] dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire on_a = CEA && {CSA2, CSA1, CSA0} == 3'b000;
    wire on_b = CEB && {CSB2, CSB1, CSB0} == 3'b000;

    // first bit in its row of what a narrow port addresses
    function [4:0] place(input integer width, input [13:0] at);
        place = width == 18 ? 0 : (at[3] ? 5'd9 : 5'd0) + (width == 9 ? 0 : {2'b0, at[2:0]});
    endfunction
    function [17:0] ones(input integer width);
        ones = 18'h3ffff >> (18 - width);
    endfunction
    // the bits of its row that a narrow port writes; 18 bits have an enable for each byte in the lowest address bits
    function [17:0] written(input integer width, input [13:0] at);
        written = width == 18 ? {{9{at[1]}}, {9{at[0]}}} : ones(width) << place(width, at);
    endfunction

    reg [17:0] qa = 0, qb = 0;
    generate
        if (WIDE) begin : wide
            wire [17:0] low = {{9{ada[1]}}, {9{ada[0]}}}, high = {{9{ada[3]}}, {9{ada[2]}}};
            wire same = on_a && WEA && ada[13:5] == adb[13:5];
            always @(posedge CLKA) if (on_a && WEA) begin
                mem[{ada[13:5], 1'b0}] <= mem[{ada[13:5], 1'b0}] & ~low | dia & low;
                mem[{ada[13:5], 1'b1}] <= mem[{ada[13:5], 1'b1}] & ~high | dib & high;
            end
            always @(posedge CLKB) if (on_b) begin
                qa <= RSTB ? 18'h0 : mem[{adb[13:5], 1'b0}] ^ (same ? low : 18'h0);
                qb <= RSTB ? 18'h0 : mem[{adb[13:5], 1'b1}] ^ (same ? high : 18'h0);
            end
        end else begin : narrow
            wire [17:0] ma = on_a && WEA ? written(DATA_WIDTH_A, ada) : 18'h0, mb = on_b && WEB ? written(DATA_WIDTH_B, adb) : 18'h0;
            wire [4:0] pa = place(DATA_WIDTH_A, ada), pb = place(DATA_WIDTH_B, adb);
            wire [17:0] ra = mem[ada[13:4]] ^ (ada[13:4] == adb[13:4] ? mb : 18'h0), rb = mem[adb[13:4]] ^ (ada[13:4] == adb[13:4] ? ma : 18'h0);
            always @(posedge CLKA) begin
                if (ma != 0) mem[ada[13:4]] <= mem[ada[13:4]] & ~ma | (dia << pa) & ma;
                if (RSTA) qa <= 0;
                else if (on_a && (!WEA || WRITEMODE_A == "READBEFOREWRITE")) qa <= (ra >> pa) & ones(DATA_WIDTH_A);
            end
            always @(posedge CLKB) begin
                if (mb != 0) mem[adb[13:4]] <= mem[adb[13:4]] & ~mb | (dib << pb) & mb;
                if (RSTB) qb <= 0;
                else if (on_b && (!WEB || WRITEMODE_B == "READBEFOREWRITE")) qb <= (rb >> pb) & ones(DATA_WIDTH_B);
            end
        end
    endgenerate
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = qa;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = qb;
endmodule
