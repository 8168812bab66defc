// retransmit_queue: the pool loses no chunk and gives none twice, and an entry is returned as it was stored until it is freed.
// Proven for any chunk (`chunk_of`), any row of the chunk map (`row_of`) and any of its eight packets (`slot_of`). The chunk is always in exactly
// one place: in the list of unused ones, or with one row of the map (`holder`); so no chunk serves two rows.
// The list is the FIFO of its own harness: what is assumed of it here (`assume_list_*`) is proven there for any depth.
`default_nettype none
module proof #(parameter CHUNKS = 256, parameter ROWS = 2048, parameter PER_ROW = 32) (
    input wire clock,
    input wire reset,
    input wire seq_valid,
    input wire seq_op,
    input wire [23:0] seq_row,
    input wire [23:0] seq_ppsn,
    input wire [15:0] seq_qp,
    input wire [23:0] seq_msn,
    input wire [23:0] seq_index,
    input wire [12:0] seq_bytes,
    input wire seq_first,
    input wire seq_last,
    input wire [1:0] seq_kind,
    input wire ret_valid,
    input wire [23:0] ret_row,
    input wire [23:0] ret_ppsn,
    input wire flush_valid,
    input wire [15:0] flush_conn
);
    localparam [1:0] ALLOC = 0, LOOKUP = 1, FREE = 2;
    wire seq_ready, seq_rsp_valid, seq_rsp_first, seq_rsp_last, ret_ready, ret_rsp_valid, room, flush_busy, init_done;
    wire [15:0] seq_rsp_qp, ret_rsp_qp;
    wire [23:0] seq_rsp_msn, seq_rsp_index, ret_rsp_msn;
    wire [12:0] seq_rsp_bytes, ret_rsp_bytes;
    wire [1:0] seq_rsp_kind, ret_rsp_kind;
    block dut (.fault(5'd0), .*);

    (* hierconn *) wire \dut.mapping_q , \dut.finishing_q , \dut.parked_q , \dut.try_again_q , \dut.flush_wait_q , \dut.flush_on_q , \dut.flush_look_q ;
    (* hierconn *) wire \dut.known , \dut.in_use , \dut.stores , \dut.map_write_enable , \dut.ready_q ;
    (* hierconn *) wire \dut.unused_write , \dut.unused_read , \dut.unused_empty , \dut.unused_full ;
    (* hierconn *) wire [1:0] \dut.op_q , \dut.finish_op_q ;
    (* hierconn *) wire [2:0] \dut.slot_q ;
    (* hierconn *) wire [15:0] \dut.unused_count ;
    (* hierconn *) wire [19:0] \dut.unused_data_in , \dut.unused_data_out , \dut.chunk ;
    (* hierconn *) wire [23:0] \dut.row_q , \dut.walk_q , \dut.flush_row_q , \dut.map_write_address , \dut.map_row , \dut.map.tap_at , \dut.entries.tap_at , \dut.parked_row_q ;
    (* hierconn *) wire [27:0] \dut.map.tap , \dut.map_read_data , \dut.map_write_data ;
    (* hierconn *) wire [80:0] \dut.entries.tap , \dut.entries_read_data , \dut.entry_q , \dut.parked_entry_q ;

    (* anyconst *) wire [19:0] chunk_of;
    (* anyconst *) wire [23:0] row_of;
    (* anyconst *) wire [2:0] slot_of;
    always @* begin
        assume (chunk_of < CHUNKS);
        assume (row_of < ROWS);
        assume (dut.map.tap_at == row_of);
        assume (dut.entries.tap_at == {1'd0, chunk_of, slot_of});
    end
    wire [19:0] row_chunk = dut.map.tap[19:0];
    wire [7:0] row_live = dut.map.tap[27:20];
    wire [80:0] stored = dut.entries.tap;
    wire [19:0] read_chunk = dut.map_read_data[19:0];
    wire [7:0] read_live = dut.map_read_data[27:20];

    // where the chunk is
    reg listed, held;
    reg [23:0] holder;
    wire reading = dut.mapping_q || (dut.flush_on_q && dut.flush_look_q); // map_read_data is that of read_row
    wire [23:0] read_row = dut.mapping_q ? dut.row_q : dut.flush_row_q;
    wire gets = dut.unused_read && dut.unused_data_out == chunk_of;
    wire goes_back = dut.unused_write && dut.unused_data_in == chunk_of;
    wire [7:0] written_live = dut.map_write_data[27:20];
    // what the packet carried
    reg known;
    reg [80:0] value;
    wire ours = dut.mapping_q && dut.row_q == row_of && dut.slot_q == slot_of;
    // the connection of the row was opened anew, and nothing was stored for the row since
    reg forgotten;
    // the answer that comes in the next clock
    reg answers;
    reg [80:0] answer;
    always @(posedge clock) begin
        if (gets) begin
            listed <= 0;
            held <= 1;
            holder <= dut.map_write_address;
        end
        if (goes_back) begin
            listed <= 1;
            held <= 0;
        end
        if (seq_valid && seq_ready && !seq_op && dut.map_row == row_of) forgotten <= 0;
        if (dut.flush_wait_q && !dut.mapping_q && !dut.finishing_q && dut.flush_row_q / (8 * PER_ROW) == row_of / (8 * PER_ROW)) forgotten <= 1;
        if (ours && dut.stores) value <= dut.entry_q;
        answers <= ours && dut.in_use && row_chunk == chunk_of && dut.op_q != ALLOC && !reset;
        answer <= value;
        if (reset) begin
            listed <= 0;
            held <= 0;
            forgotten <= 0;
        end
    end

    // --- the sequencer, retire, and the list ---------------------------------------------------------------------------
    always @(posedge clock) begin
        if ($initstate) assume_reset_first: assume (reset);
        if (seq_valid && seq_ready && !seq_op) assume_alloc_with_room: assume (room);
        if (seq_valid) assume_seq_row_exists: assume (seq_row < ROWS / PER_ROW);
        if (ret_valid) assume_ret_row_exists: assume (ret_row < ROWS / PER_ROW);
        if (flush_valid) assume_flush_of_a_connection: assume (flush_conn < ROWS / PER_ROW / 8 && !flush_busy && init_done);
        // proven for any FIFO: it gives what was written and not yet read, each once
        if (!dut.unused_empty && dut.unused_data_out == chunk_of) assume_list_gives_what_it_holds: assume (listed);
        if (dut.ready_q && listed) assume_list_is_not_empty_with_it_inside: assume (!dut.unused_empty);
        if (!dut.unused_empty) assume_list_holds_chunks: assume (dut.unused_data_out < CHUNKS);
        // chunks that are all different, in a list with room for all: while one is outside it is not full
        if (dut.unused_write) assume_list_has_room: assume (!dut.unused_full);
        // What is asserted below of `row_of` and of `chunk_of` holds for every row and every chunk, so also for the row just read.
        if (reading && read_live != 0) assume_read_row_holds_a_chunk: assume ((read_chunk == chunk_of) == (held && holder == read_row) && read_chunk < CHUNKS);
        if (reading && read_live == 0) assume_read_row_holds_none: assume (!(held && holder == read_row));
    end

    // --- what the pool guarantees ---------------------------------------------------------------------------------------
    always @(posedge clock) if (!$initstate && !reset) begin
        if (init_done) no_chunk_is_lost: assert (listed || held);
        no_chunk_is_in_two_places: assert (!(listed && held));
        if (gets) none_is_given_twice: assert (!held && listed);
        if (goes_back) none_comes_back_twice: assert (!listed);
        if (goes_back) goes_back_without_live_packets: assert (!init_done || written_live == 0);
        if (dut.mapping_q && dut.row_q == row_of && dut.op_q == ALLOC && !dut.in_use) alloc_is_stored: assert (dut.stores);
        if (answers && dut.finish_op_q == LOOKUP) lookup_returns_what_was_stored: assert (seq_rsp_valid && {seq_rsp_kind, seq_rsp_last, seq_rsp_first, seq_rsp_bytes, seq_rsp_index, seq_rsp_msn, seq_rsp_qp} == answer);
        if (answers && dut.finish_op_q == FREE) free_returns_what_was_stored: assert (ret_rsp_valid && {ret_rsp_kind, ret_rsp_bytes, ret_rsp_msn, ret_rsp_qp} == {answer[80:79], answer[76:64], answer[39:0]});

        if (dut.mapping_q && dut.row_q == row_of && dut.stores) nothing_of_an_earlier_life: assert (!forgotten);

        // for induction
        if (forgotten && dut.parked_q) parked_is_of_this_life: assert (dut.parked_row_q != row_of);
        if (forgotten && dut.mapping_q && dut.row_q == row_of) no_alloc_of_an_earlier_life: assert (dut.op_q != ALLOC);
        if (dut.flush_on_q) flush_is_one_or_the_other: assert (!dut.flush_wait_q);
        if (dut.flush_wait_q) flush_begins_with_the_first_row: assert (dut.flush_row_q % (8 * PER_ROW) == 0);
        if (init_done) row_holds_the_chunk: assert ((row_live != 0 && row_chunk == chunk_of) == (held && holder == row_of));
        if (row_live[slot_of] && row_chunk == chunk_of && init_done) entry_is_kept: assert (stored == value);
        if (!init_done) walk_lists_each_once: assert (listed == (dut.walk_q > chunk_of && dut.walk_q > 0) && !held);
        if (!init_done) walk_clears: assert (dut.walk_q < ROWS && (dut.walk_q <= row_of || row_live == 0));
        if (!init_done) walk_is_alone: assert (!dut.mapping_q && !dut.parked_q && !dut.flush_on_q && !dut.flush_wait_q && !dut.finishing_q && !answers);
        if (row_live != 0 && init_done) row_chunk_exists: assert (row_chunk < CHUNKS);
        if (dut.mapping_q && dut.op_q == ALLOC && !dut.parked_q) alloc_had_room: assert (!dut.unused_empty);
        if (dut.mapping_q && dut.op_q == ALLOC && dut.parked_q) retry_is_of_the_parked_row: assert (dut.row_q == dut.parked_row_q);
        if (dut.parked_q && dut.parked_row_q == row_of) parked_will_find_a_chunk: assert (row_live != 0 || !dut.unused_empty);
        if (held) holder_exists: assert (holder < ROWS);
        if (dut.mapping_q) mapped_row_exists: assert (dut.row_q < ROWS && !dut.flush_on_q);
        if (dut.parked_q) parked_row_exists: assert (dut.parked_row_q < ROWS);
        if (dut.flush_on_q || dut.flush_wait_q) flushed_row_exists: assert (dut.flush_row_q < ROWS);
        if (reading && read_row == row_of) read_is_row: assert (dut.map_read_data == dut.map.tap);
        if (answers) answer_is_read: assert (dut.finishing_q && dut.finish_op_q != ALLOC && dut.entries_read_data == answer);
    end

    always @(posedge clock) if (!$initstate && !reset) begin
        cover_lookup: cover (answers && dut.finish_op_q == LOOKUP);
        cover_free: cover (answers && dut.finish_op_q == FREE);
        cover_goes_back: cover (goes_back && init_done);
        cover_second_in_chunk: cover (ours && dut.stores && dut.known && row_chunk == chunk_of);
        cover_given: cover (gets && dut.row_q == row_of);
    end
endmodule
