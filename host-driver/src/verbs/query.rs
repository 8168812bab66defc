//! Queries of the device, its ports and addresses.
//!
//! In: structures of the program, whose size may be that of another release. Out: what the device says, in as many bytes as the program
//! has room for; the rest of a longer structure is zero.
use super::context::Context;
use super::devices::copy_text;
use super::result::{code, minus_one, set_errno};
use crate::abi::*;
use crate::device::{DeviceError, GidEntry, Limits, LinkState, PortStatus};
use std::ffi::c_int;
use std::mem::{offset_of, size_of, zeroed};

/// The only partition key: the default one, full member.
const PKEY: u16 = 0xffff;

fn device_attr(limits: &Limits) -> ibv_device_attr {
    let int = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
    // SAFETY: integers and arrays only.
    let mut a: ibv_device_attr = unsafe { zeroed() };
    copy_text(&mut a.fw_ver, &limits.firmware);
    a.node_guid = limits.guid.to_be();
    a.sys_image_guid = a.node_guid;
    a.max_mr_size = limits.max_mr_bytes;
    a.page_size_cap = 0xffff_f000;
    a.vendor_id = limits.vendor_id;
    a.vendor_part_id = limits.part_id;
    a.hw_ver = limits.hardware_version;
    a.max_qp = int(limits.max_qp);
    a.max_qp_wr = int(limits.max_qp_wr);
    a.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_BAD_PKEY_CNTR;
    a.max_sge = int(limits.max_sge);
    a.max_sge_rd = a.max_sge;
    a.max_cq = int(limits.max_cq);
    a.max_cqe = int(limits.max_cqe);
    a.max_mr = int(limits.max_mr);
    a.max_pd = int(limits.max_pd);
    a.max_qp_rd_atom = int(limits.max_rd_atomic);
    a.max_qp_init_rd_atom = a.max_qp_rd_atom;
    a.max_res_rd_atom = int(limits.max_rd_atomic_total);
    a.atomic_cap = if limits.operations.atomic { IBV_ATOMIC_HCA } else { IBV_ATOMIC_NONE };
    a.max_ah = a.max_qp;
    a.max_srq = int(limits.max_srq);
    a.max_srq_wr = int(limits.max_srq_wr);
    a.max_srq_sge = a.max_sge;
    a.max_pkeys = 1;
    a.phys_port_cnt = limits.ports;
    a
}

/// Copies a structure as far as the program's goes, and clears what the program's has besides.
unsafe fn put<T>(to: *mut u8, ours: &T, size_bytes: usize) {
    let common = size_bytes.min(size_of::<T>());
    to.copy_from_nonoverlapping(std::ptr::from_ref(ours).cast(), common);
    to.add(common).write_bytes(0, size_bytes - common);
}

#[no_mangle]
pub unsafe extern "C" fn ibv_query_device(context: *mut ibv_context, attr: *mut ibv_device_attr) -> c_int {
    attr.write(device_attr(Context::of(context).device.limits()));
    0
}

pub unsafe extern "C" fn query_device_ex(
    context: *mut ibv_context,
    _input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
    size_bytes: usize,
) -> c_int {
    if size_bytes < size_of::<ibv_device_attr>() {
        return libc::EINVAL;
    }
    // SAFETY of zeroed: integers only.
    let mut ours: ibv_device_attr_ex = zeroed();
    ours.orig_attr = device_attr(Context::of(context).device.limits());
    ours.phys_port_cnt_ex = u32::from(ours.orig_attr.phys_port_cnt);
    put(attr.cast(), &ours, size_bytes);
    0
}

/// Lane width (as 1, 2, 4, 8: x1, x4, x8, x12) and speed of a lane that give at most this rate.
fn width_and_speed(mbps: u32) -> (u8, u8) {
    match mbps {
        0..=9_999 => (1, 1),          // 2.5 Gb/s
        10_000..=24_999 => (1, 4),    // 10 Gb/s
        25_000..=39_999 => (1, 32),   // 25 Gb/s
        40_000..=99_999 => (2, 4),    // 4 x 10
        100_000..=199_999 => (2, 32), // 4 x 25
        200_000..=399_999 => (2, 64), // 4 x 50
        _ => (2, 128),                // 4 x 100
    }
}

fn port_attr(status: &PortStatus) -> ibv_port_attr {
    // SAFETY: integers only.
    let mut p: ibv_port_attr = unsafe { zeroed() };
    // Physical states: 5 link up, 3 disabled.
    (p.state, p.phys_state) = match status.state {
        LinkState::Active => (4, 5),
        LinkState::Down => (1, 3),
    };
    p.max_mtu = status.max_mtu as c_int;
    p.active_mtu = status.active_mtu as c_int;
    p.gid_tbl_len = c_int::try_from(status.gids).unwrap_or(c_int::MAX);
    p.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
    p.max_msg_sz = status.max_message_bytes;
    p.pkey_tbl_len = 1;
    p.max_vl_num = 1;
    (p.active_width, p.active_speed) = width_and_speed(status.speed_mbps);
    p.link_layer = IBV_LINK_LAYER_ETHERNET;
    p
}

pub unsafe extern "C" fn query_port(context: *mut ibv_context, port: u8, attr: *mut ibv_port_attr, size_bytes: usize) -> c_int {
    let found = Context::of(context).device.query_port(port);
    code(found.map(|status| put(attr.cast(), &port_attr(&status), size_bytes)))
}

/// For programs built before the structure grew: they have room up to `flags` only.
#[no_mangle]
pub unsafe extern "C" fn ibv_query_port(context: *mut ibv_context, port: u8, attr: *mut ibv_port_attr) -> c_int {
    query_port(context, port, attr, offset_of!(ibv_port_attr, flags) + 1)
}

fn entry_of(gid: &GidEntry) -> ibv_gid_entry {
    ibv_gid_entry {
        gid: ibv_gid { raw: gid.gid },
        gid_index: gid.index,
        port_num: u32::from(gid.port),
        gid_type: IBV_GID_TYPE_ROCE_V2,
        ndev_ifindex: gid.interface,
    }
}

unsafe fn gid_of(context: *mut ibv_context, port: u32, index: u32) -> Result<GidEntry, DeviceError> {
    let port = u8::try_from(port).map_err(|_| DeviceError::invalid("port", port.to_string()))?;
    Context::of(context).device.query_gid(port, index)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_query_gid(context: *mut ibv_context, port: u8, index: c_int, gid: *mut ibv_gid) -> c_int {
    let found = gid_of(context, u32::from(port), u32::try_from(index).unwrap_or(u32::MAX));
    minus_one(found.map(|entry| gid.write(ibv_gid { raw: entry.gid })))
}

/// Of the private node, used by `ibv_devinfo`.
#[no_mangle]
pub unsafe extern "C" fn ibv_query_gid_type(context: *mut ibv_context, port: u8, index: u32, gid_type: *mut c_int) -> c_int {
    let found = gid_of(context, u32::from(port), index);
    minus_one(found.map(|_| gid_type.write(IBV_GID_TYPE_SYSFS_ROCE_V2)))
}

#[no_mangle]
pub unsafe extern "C" fn _ibv_query_gid_ex(
    context: *mut ibv_context,
    port: u32,
    index: u32,
    entry: *mut ibv_gid_entry,
    flags: u32,
    entry_size: usize,
) -> c_int {
    if flags != 0 {
        return code(Err(DeviceError::invalid("GID query flags", format!("{flags:#x}"))));
    }
    code(gid_of(context, port, index).map(|gid| put(entry.cast(), &entry_of(&gid), entry_size)))
}

/// Entries of all ports; the number of them, or a negative error number.
#[no_mangle]
pub unsafe extern "C" fn _ibv_query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
    entry_size: usize,
) -> isize {
    if flags != 0 {
        return -(code(Err(DeviceError::invalid("GID query flags", format!("{flags:#x}")))) as isize);
    }
    let device = &Context::of(context).device;
    let mut count = 0;
    for port in 1..=device.limits().ports {
        let gids = device.query_port(port).map_or(0, |p| p.gids);
        for gid in (0..gids).filter_map(|i| device.query_gid(port, i).ok()) {
            if count == max_entries {
                return -(code(Err(DeviceError::invalid("GID table", "more entries than room".to_owned()))) as isize);
            }
            put(entries.cast::<u8>().add(count * entry_size), &entry_of(&gid), entry_size);
            count += 1;
        }
    }
    count as isize
}

unsafe fn check_port(context: *mut ibv_context, port: u8) -> Result<(), DeviceError> {
    Context::of(context).device.query_port(port).map(|_| ())
}

/// Network byte order.
#[no_mangle]
pub unsafe extern "C" fn ibv_query_pkey(context: *mut ibv_context, port: u8, index: c_int, pkey: *mut u16) -> c_int {
    let found = check_port(context, port).and_then(|()| match index {
        0 => {
            pkey.write(PKEY.to_be());
            Ok(())
        }
        _ => Err(DeviceError::invalid("pkey index", "there is one pkey, index 0")),
    });
    minus_one(found)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_get_pkey_index(context: *mut ibv_context, port: u8, pkey: u16) -> c_int {
    if check_port(context, port).is_ok() && pkey == PKEY.to_be() {
        return 0;
    }
    set_errno(libc::EINVAL);
    -1
}
