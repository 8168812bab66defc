//! The layout that programs were compiled against.
//!
//! In: the types of this folder. Out: compile-time checks of the sizes, and [`LAYOUT`], every named member's offset, which
//! `tests/abi_header.rs` compares with what a C compiler says of the installed header.
use super::*;
use std::mem::{offset_of, size_of};

/// One structure as this crate lays it out.
pub struct Layout {
    /// The C type, as a C program writes it.
    pub c_type: &'static str,
    pub size_bytes: usize,
    /// C member path and its offset in bytes.
    pub members: &'static [(&'static str, usize)],
}

macro_rules! layout {
    ($($kind:literal $name:ident = $size:literal { $($($member:ident).+),* $(,)? })*) => {
        $(const _: () = assert!(size_of::<$name>() == $size, concat!("size of ", stringify!($name)));)*
        /// All structures that cross the boundary to programs.
        pub const LAYOUT: &[Layout] = &[$(Layout {
            c_type: concat!($kind, " ", stringify!($name)),
            size_bytes: $size,
            members: &[$((stringify!($($member).+), offset_of!($name, $($member).+))),*],
        }),*];
    };
}

layout! {
    "union" ibv_gid = 16 { raw }
    "struct" ibv_gid_entry = 32 { gid, gid_index, port_num, gid_type, ndev_ifindex }
    "struct" ibv_device = 664 { node_type, transport_type, name, dev_name, dev_path, ibdev_path }
    "struct" ibv_context_ops = 256 { alloc_mw, bind_mw, dealloc_mw, poll_cq, req_notify_cq, post_srq_recv, post_send, post_recv }
    "struct" ibv_context = 328 { device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat }
    "struct" verbs_context = 648 {
        query_port, advise_mr, alloc_null_mr, read_counters, create_counters, reg_dm_mr, alloc_dm, modify_qp_rate_limit,
        alloc_parent_domain, alloc_td, modify_cq, post_srq_ops, create_wq, query_rt_values, create_cq_ex, query_device_ex,
        ibv_destroy_flow, ibv_create_flow, open_qp, create_qp_ex, get_srq_num, create_srq_ex, open_xrcd, close_xrcd, sz, context,
    }
    "struct" ibv_device_attr = 232 {
        fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver, max_qp, max_qp_wr,
        device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_res_rd_atom,
        max_qp_init_rd_atom, atomic_cap, max_mw, max_ah, max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay,
        phys_port_cnt,
    }
    "struct" ibv_device_attr_ex = 400 { orig_attr, comp_mask, phys_port_cnt_ex }
    "struct" ibv_port_attr = 52 {
        state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr, pkey_tbl_len, lid,
        sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state, link_layer,
        flags, port_cap_flags2,
    }
    "struct" ibv_global_route = 24 { dgid, flow_label, sgid_index, hop_limit, traffic_class }
    "struct" ibv_ah_attr = 32 { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num }
    "struct" ibv_srq_attr = 12 { max_wr, max_sge, srq_limit }
    "struct" ibv_srq_init_attr = 24 { srq_context, attr }
    "struct" ibv_cq_init_attr_ex = 56 { cqe, cq_context, channel, comp_vector, wc_flags, comp_mask, flags, parent_domain }
    "struct" ibv_qp_cap = 20 { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data }
    "struct" ibv_qp_init_attr = 64 { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all }
    "struct" ibv_qp_init_attr_ex = 136 {
        qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all, comp_mask, pd, xrcd, create_flags, max_tso_header,
        rwq_ind_tbl, rx_hash_conf, source_qpn, send_ops_flags,
    }
    "struct" ibv_qp_attr = 144 {
        qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags, cap, ah_attr,
        alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic,
        min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout, rate_limit,
    }
    "struct" ibv_ece = 12 { vendor_id, options, comp_mask }
    "struct" ibv_sge = 16 { addr, length, lkey }
    "struct" ibv_data_buf = 16 { addr, length }
    "struct" ibv_send_wr = 128 {
        wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data, wr.rdma.remote_addr, wr.rdma.rkey, wr.atomic.remote_addr,
        wr.atomic.compare_add, wr.atomic.swap, wr.atomic.rkey, qp_type,
    }
    "struct" ibv_recv_wr = 32 { wr_id, next, sg_list, num_sge }
    "struct" ibv_wc = 48 {
        wr_id, status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags, pkey_index, slid, sl, dlid_path_bits,
    }
    "struct" ibv_pd = 16 { context, handle }
    "struct" ibv_mr = 48 { context, pd, addr, length, handle, lkey, rkey }
    "struct" ibv_ah = 24 { context, pd, handle }
    "struct" ibv_comp_channel = 16 { context, fd, refcnt }
    "struct" ibv_cq = 128 {
        context, channel, cq_context, handle, cqe, mutex, cond, comp_events_completed, async_events_completed,
    }
    "struct" ibv_cq_ex = 288 {
        comp_mask, status, wr_id, start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len, read_imm_data,
        read_qp_num, read_src_qp, read_wc_flags, read_slid, read_sl, read_dlid_path_bits, read_completion_ts, read_cvlan,
        read_flow_tag, read_tm_info, read_completion_wallclock_ns,
    }
    "struct" ibv_srq = 128 { context, srq_context, pd, handle, mutex, cond, events_completed }
    "struct" ibv_qp = 160 {
        context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num, state, qp_type, mutex, cond, events_completed,
    }
    "struct" ibv_qp_ex = 352 {
        qp_base, comp_mask, wr_id, wr_flags, wr_atomic_cmp_swp, wr_atomic_fetch_add, wr_bind_mw, wr_local_inv, wr_rdma_read,
        wr_rdma_write, wr_rdma_write_imm, wr_send, wr_send_imm, wr_send_inv, wr_send_tso, wr_set_ud_addr, wr_set_xrc_srqn,
        wr_set_inline_data, wr_set_inline_data_list, wr_set_sge, wr_set_sge_list, wr_start, wr_complete, wr_abort, wr_atomic_write,
    }
    "struct" ibv_async_event = 16 { element, event_type }
}
