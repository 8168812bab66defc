// Board top: clock of 62.5 MHz from the board's 25 MHz, reset, lights, and the stand-alone engine.
// In: 25 MHz, reset button (high while pressed), serial line, GMII-like stream. Out: the same, three lights.
// Guarantees: reset lasts until the clock is stable. The stream is synchronous to `gmii_clock`, in both directions.
`default_nettype none
module mrnic_ecp5 (
    input  wire       clk_25mhz,
    input  wire       button,
    input  wire       uart_rxd,
    output wire       uart_txd,
    output wire       gmii_clock,
    output wire [7:0] gmii_txd,
    output wire       gmii_tx_en,
    input  wire [7:0] gmii_rxd,
    input  wire       gmii_rx_dv,
    input  wire       gmii_rx_er,
    output wire [2:0] led
);
    wire clock, locked;
    // 25 MHz / 2 * 5 = 62.5 MHz; the oscillator of the PLL runs at 625 MHz
    (* FREQUENCY_PIN_CLKI = "25", FREQUENCY_PIN_CLKOP = "62.5" *)
    EHXPLLL #(
        .CLKI_DIV(2), .CLKFB_DIV(5), .CLKOP_DIV(10), .CLKOP_CPHASE(4), .CLKOP_FPHASE(0), .CLKOP_ENABLE("ENABLED"),
        .CLKOS_ENABLE("DISABLED"), .CLKOS2_ENABLE("DISABLED"), .CLKOS3_ENABLE("DISABLED"), .FEEDBK_PATH("CLKOP"),
        .OUTDIVIDER_MUXA("DIVA"), .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"),
        .DPHASE_SOURCE("DISABLED")
    ) pll (
        .CLKI(clk_25mhz), .CLKFB(clock), .CLKOP(clock), .LOCK(locked), .RST(1'b0), .STDBY(1'b0), .PHASESEL0(1'b0),
        .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
    );
    reg [3:0] released = 4'd0;
    always @(posedge clock or negedge locked) begin
        if (!locked) released <= 4'd0;
        else released <= {released[2:0], !button};
    end
    reg reset = 1'b1;
    always @(posedge clock) reset <= !(&released);

    assign gmii_clock = clock;
    wire serial_active, frame_active;
    assign led = {frame_active, serial_active, !reset};
    // 62.5 MHz / 543 = 115,101 baud, 0.1 % from 115,200
    mrnic_board #(.DIVISOR(543)) board (
        .clock(clock), .reset(reset), .uart_rxd(uart_rxd), .uart_txd(uart_txd), .gmii_txd(gmii_txd), .gmii_tx_en(gmii_tx_en),
        .gmii_rxd(gmii_rxd), .gmii_rx_dv(gmii_rx_dv), .gmii_rx_er(gmii_rx_er), .serial_active(serial_active),
        .frame_active(frame_active)
    );
endmodule
`default_nettype wire
