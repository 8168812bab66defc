//! Queries write as far as the program's structure goes, and no further; what does not exist is refused.
use super::harness::*;
use crate::abi::*;
use crate::verbs::*;
use std::ffi::c_int;
use std::mem::{offset_of, size_of};

/// Bytes that no query writes: a mark beside the structure.
const MARK: u8 = 0xa5;

/// Room for any structure, aligned, filled with marks.
#[repr(align(8))]
struct Room([u8; 1024]);

fn room() -> Room {
    Room([MARK; 1024])
}

/// The first `n` bytes were written, the rest was not.
fn check_end(room: &Room, n: usize) {
    assert!(room.0[n..].iter().all(|b| *b == MARK), "written past {n} bytes");
}

fn closed(context: *mut ibv_context) {
    assert_eq!(unsafe { ibv_close_device(context) }, 0);
}

#[test]
fn device_attributes_of_older_and_newer_programs() {
    let context = open();
    let full = size_of::<ibv_device_attr_ex>();
    for size in [size_of::<ibv_device_attr>(), full - 4, full, full + 40] {
        let mut room = room();
        let query = unsafe { (*verbs_of(context)).query_device_ex.unwrap() };
        assert_eq!(unsafe { query(context, std::ptr::null(), room.0.as_mut_ptr().cast(), size) }, 0);
        check_end(&room, size);
        let attr = unsafe { &*room.0.as_ptr().cast::<ibv_device_attr_ex>() };
        assert!(attr.orig_attr.max_qp > 0 && attr.orig_attr.phys_port_cnt == 1);
        let ports = offset_of!(ibv_device_attr_ex, phys_port_cnt_ex);
        assert!(size < full || room.0[ports..full] == 1u32.to_ne_bytes());
        assert!(room.0[full.min(size)..size].iter().all(|b| *b == 0), "what we do not know is zero");
    }
    let mut small = room();
    let query = unsafe { (*verbs_of(context)).query_device_ex.unwrap() };
    let result = unsafe { query(context, std::ptr::null(), small.0.as_mut_ptr().cast(), 100) };
    assert_eq!(result, libc::EINVAL);
    check_end(&small, 0);
    closed(context);
}

#[test]
fn port_attributes_of_older_and_newer_programs() {
    let context = open();
    let full = size_of::<ibv_port_attr>();
    let query = unsafe { (*verbs_of(context)).query_port.unwrap() };
    for size in [full - 2, full, full + 12] {
        let mut room = room();
        assert_eq!(unsafe { query(context, 1, room.0.as_mut_ptr().cast(), size) }, 0);
        check_end(&room, size);
        assert!(room.0[full.min(size)..size].iter().all(|b| *b == 0));
    }
    // The oldest form ends with `flags`.
    let mut old = room();
    assert_eq!(unsafe { ibv_query_port(context, 1, old.0.as_mut_ptr().cast()) }, 0);
    check_end(&old, offset_of!(ibv_port_attr, flags) + 1);
    for port in [0, 2, 255] {
        let mut room = room();
        assert_eq!(unsafe { query(context, port, room.0.as_mut_ptr().cast(), full) }, libc::EINVAL);
        check_end(&room, 0);
    }
    closed(context);
}

#[test]
fn addresses_by_index_and_as_a_table() {
    let context = open();
    let mut port: ibv_port_attr = unsafe { std::mem::zeroed() };
    let query = unsafe { (*verbs_of(context)).query_port.unwrap() };
    assert_eq!(unsafe { query(context, 1, &mut port, size_of::<ibv_port_attr>()) }, 0);
    let count = port.gid_tbl_len as u32;
    assert!(count > 0);
    let full = size_of::<ibv_gid_entry>();
    let mut table = room();
    let read = |room: &mut Room, max, size, flags| unsafe {
        _ibv_query_gid_table(context, room.0.as_mut_ptr().cast(), max, flags, size)
    };
    let found = read(&mut table, 8, full, 0);
    assert!(found > 0 && found <= count as isize);
    check_end(&table, found as usize * full);
    // Entries of a program whose structure is longer, and shorter.
    for size in [full + 8, full - 8] {
        let mut other = room();
        assert_eq!(read(&mut other, 8, size, 0), found);
        check_end(&other, found as usize * size);
        let common = size.min(full);
        for i in 0..found as usize {
            assert_eq!(other.0[i * size..i * size + common], table.0[i * full..i * full + common]);
        }
    }
    assert_eq!(read(&mut room(), found as usize - 1, full, 0), -(libc::EINVAL as isize), "too little room");
    assert_eq!(read(&mut room(), 8, full, 1), -(libc::EINVAL as isize), "an unknown flag");

    let first = unsafe { *table.0.as_ptr().cast::<ibv_gid_entry>() };
    assert_eq!((first.gid_type, first.port_num), (IBV_GID_TYPE_ROCE_V2, 1));
    let (mut gid, mut kind) = (ibv_gid { raw: [0; 16] }, -1);
    let index = first.gid_index;
    unsafe {
        assert_eq!(ibv_query_gid(context, 1, index as c_int, &mut gid), 0);
        assert_eq!(gid.raw, first.gid.raw);
        assert_eq!((ibv_query_gid_type(context, 1, index, &mut kind), kind), (0, IBV_GID_TYPE_SYSFS_ROCE_V2));
        for (port, index) in [(0, 0), (2, 0), (1, -1), (1, 1 << 20)] {
            assert_eq!(ibv_query_gid(context, port, index, &mut gid), -1);
            let mut one = room();
            let entry = one.0.as_mut_ptr().cast();
            assert_eq!(_ibv_query_gid_ex(context, u32::from(port), index as u32, entry, 0, full), libc::EINVAL);
            check_end(&one, 0);
        }
        let mut one = room();
        assert_eq!(_ibv_query_gid_ex(context, 257, index, one.0.as_mut_ptr().cast(), 0, full), libc::EINVAL);
        assert_eq!(_ibv_query_gid_ex(context, 1, index, one.0.as_mut_ptr().cast(), 0, full - 8), 0);
        check_end(&one, full - 8);
    }
    closed(context);
}

#[test]
fn there_is_one_partition_key() {
    let context = open();
    unsafe {
        let mut pkey = 0;
        assert_eq!((ibv_query_pkey(context, 1, 0, &mut pkey), pkey), (0, 0xffff));
        assert_eq!(ibv_query_pkey(context, 1, 1, &mut pkey), -1);
        assert_eq!(ibv_query_pkey(context, 2, 0, &mut pkey), -1);
        assert_eq!((ibv_get_pkey_index(context, 1, 0xffff), ibv_get_pkey_index(context, 1, 1)), (0, -1));
        assert_eq!(ibv_get_pkey_index(context, 9, 0xffff), -1);
    }
    closed(context);
}

#[test]
fn the_list_of_devices_names_what_can_be_opened() {
    unsafe {
        let mut count = -1;
        let list = ibv_get_device_list(&mut count);
        let (device, end) = (*list, *list.add(count as usize));
        assert!(count > 0 && end.is_null());
        // Devices outlive their list, and are the same in the next.
        ibv_free_device_list(list);
        let again = ibv_get_device_list(std::ptr::null_mut());
        assert_eq!(*again, device);
        ibv_free_device_list(again);
        assert!(!std::ffi::CStr::from_ptr(ibv_get_device_name(device)).is_empty());
        assert_eq!(ibv_get_device_index(device), 0);
        let context = ibv_open_device(device);
        let mut attr = std::mem::zeroed();
        assert_eq!(ibv_query_device(context, &mut attr), 0);
        assert_eq!(attr.node_guid, ibv_get_device_guid(device));
        assert!((*context).abi_compat as usize == usize::MAX && (*verbs_of(context)).sz == size_of::<verbs_context>());
        closed(context);
    }
}
