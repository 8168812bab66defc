//! Makers of rows and records, for `Difftest::input_as`.
//! In: words. Out: a row. Guarantees: every field of the row is driven (a new one stops the build until it is named here).
#![allow(dead_code)] // each test uses its part
use super::maker;
use mrnic_nic::rx::executor::{Reached, RequestRow};
use mrnic_nic::rx::request_places::rows::RetiredResponse;
use mrnic_nic::rx::rx_fields::RxChecked;
use mrnic_nic::rx::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use mrnic_nic::tx::rows::{AckFields, ConnAck, ConnCfg, ConnTx, PacketEntry, PathAck, PathCfg, PathTx, WordRow};

maker!(path_tx: PathTx { state, pipe, window, lost_words, next_ppsn, cum, port, t_base, srtt8, rtt_valid, heard, last_send });
maker!(path_ack: PathAck {
    mark, gen_open, credit, last_cut, var4, backoff, probe_pending, probe_ts, probe_ppsn, tries, ce_seen, dup_seen, reo_tol, reo_base,
    l1_since_dup, floor_active, floor_ppsn, floor_time, clean,
});
maker!(word_row: WordRow { sacked, lost, rtx_old, rtx_new });
maker!(conn_cfg: ConnCfg { open, paths_log2, mtu_log2, retry_cnt });
maker!(conn_tx: ConnTx { rr, sent_bytes, tokens, token_time });
maker!(conn_ack: ConnAck { hint, longest_srtt, any_rtt, error });
maker!(path_cfg: PathCfg { enable, port, start_ppsn });
maker!(ack_fields: AckFields {
    conn, home, cum, ts_echo, service, ce, dup, flags, rate, mak_qp, mak_code, mak_msn,
});
maker!(packet_entry: PacketEntry { qp, msn, index, bytes, first, last, kind });

maker!(rx_header: RxHeader {
    opcode, ack_req, ppsn, dest_qp, ecn_ce, home, via, conn, rtx, tx_ts, msn, first, last, va, rkey, length, payload_bytes,
    rq_seq, imm, has_imm, sol, attempt, udp_src,
});
maker!(rx_request_header: RxRequestHeader { tag, operand, compare, fetch_add, error_code });
maker!(rx_ack_header: RxAckHeader { ts_echo, service, ce, dup, flags, rate, sav, mak_qp, mak_code, mak_msn });
maker!(rx_checked: RxChecked {
    length, protocol, port, udp_length, pad, imm, ip_good, bth_good, path_header_good,
});
maker!(request_row: RequestRow { atomic, add, va, rkey, length, operand, compare });
maker!(reached: Reached { qp, msn, ticket });
maker!(retired_response: RetiredResponse { error, conn, qp, msn });
