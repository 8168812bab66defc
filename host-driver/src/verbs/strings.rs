//! Texts, rates and files.
//!
//! In: numbers of the API. Out: what people read, and conversions of link rates. Any number has a text.
use crate::abi::*;
use std::ffi::{c_char, c_int, CStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn pick(texts: &'static [&'static CStr], number: c_int, otherwise: &'static CStr) -> *const c_char {
    usize::try_from(number).ok().and_then(|i| texts.get(i)).unwrap_or(&otherwise).as_ptr()
}

#[no_mangle]
pub extern "C" fn ibv_wc_status_str(status: c_int) -> *const c_char {
    const TEXTS: [&CStr; 24] = [
        c"success",
        c"local length error",
        c"local QP operation error",
        c"local EE context operation error",
        c"local protection error",
        c"work request flushed",
        c"memory window bind error",
        c"bad response",
        c"local access error",
        c"remote invalid request",
        c"remote access error",
        c"remote operation error",
        c"transport retries exceeded",
        c"receiver-not-ready retries exceeded",
        c"local RDD violation",
        c"remote invalid RD request",
        c"remote abort",
        c"invalid EE context number",
        c"invalid EE context state",
        c"fatal error",
        c"response timeout",
        c"general error",
        c"tag matching error",
        c"tag matching rendezvous incomplete",
    ];
    pick(&TEXTS, status, c"unknown status")
}

#[no_mangle]
pub extern "C" fn ibv_event_type_str(event: c_int) -> *const c_char {
    const TEXTS: [&CStr; IBV_EVENT_WQ_FATAL as usize + 1] = [
        c"CQ error",
        c"QP: fatal error",
        c"QP: invalid request of the peer",
        c"QP: access violation by the peer",
        c"QP: communication established",
        c"QP: send queue drained",
        c"QP: path migrated",
        c"QP: path migration failed",
        c"device: fatal error",
        c"port active",
        c"port error",
        c"LID changed",
        c"pkey table changed",
        c"subnet manager changed",
        c"SRQ error",
        c"SRQ limit reached",
        c"QP: last receive buffer taken",
        c"client reregistration",
        c"GID table changed",
        c"WQ: fatal error",
    ];
    pick(&TEXTS, event, c"unknown event")
}

#[no_mangle]
pub extern "C" fn ibv_port_state_str(state: c_int) -> *const c_char {
    const TEXTS: [&CStr; 6] = [c"no state change (NOP)", c"down", c"init", c"armed", c"active", c"active defer"];
    pick(&TEXTS, state, c"invalid state")
}

#[no_mangle]
pub extern "C" fn ibv_node_type_str(node_type: c_int) -> *const c_char {
    const TEXTS: [&CStr; 8] = [
        c"unknown",
        c"InfiniBand channel adapter",
        c"InfiniBand switch",
        c"InfiniBand router",
        c"iWARP NIC",
        c"usNIC",
        c"usNIC UDP",
        c"unspecified",
    ];
    pick(&TEXTS, node_type, c"unknown")
}

/// (`ibv_rate`, multiple of 2.5 Gb/s, Mb/s)
const RATES: [(c_int, c_int, c_int); 23] = [
    (2, 1, 2500),
    (5, 2, 5000),
    (3, 4, 10_000),
    (6, 8, 20_000),
    (4, 12, 30_000),
    (7, 16, 40_000),
    (8, 24, 60_000),
    (9, 32, 80_000),
    (10, 48, 120_000),
    (11, 6, 14_062),
    (12, 22, 56_250),
    (13, 45, 112_500),
    (14, 67, 168_750),
    (15, 10, 25_781),
    (16, 40, 103_125),
    (17, 80, 206_250),
    (18, 120, 309_375),
    (19, 11, 28_125),
    (20, 20, 53_125),
    (21, 160, 425_000),
    (22, 240, 637_500),
    (23, 320, 850_000),
    (24, 480, 1_275_000),
];

#[no_mangle]
pub extern "C" fn ibv_rate_to_mult(rate: c_int) -> c_int {
    RATES.iter().find(|r| r.0 == rate).map_or(-1, |r| r.1)
}

#[no_mangle]
pub extern "C" fn mult_to_ibv_rate(mult: c_int) -> c_int {
    RATES.iter().find(|r| r.1 == mult).map_or(0, |r| r.0)
}

#[no_mangle]
pub extern "C" fn ibv_rate_to_mbps(rate: c_int) -> c_int {
    RATES.iter().find(|r| r.0 == rate).map_or(-1, |r| r.2)
}

#[no_mangle]
pub extern "C" fn mbps_to_ibv_rate(mbps: c_int) -> c_int {
    RATES.iter().find(|r| r.2 == mbps).map_or(0, |r| r.0)
}

#[no_mangle]
pub extern "C" fn ibv_get_sysfs_path() -> *const c_char {
    c"/sys".as_ptr()
}

/// The text of a file below `dir`, without the line's end: its length, or -1.
#[no_mangle]
pub unsafe extern "C" fn ibv_read_sysfs_file(dir: *const c_char, file: *const c_char, buf: *mut c_char, size: usize) -> c_int {
    let path = |text| Path::new(std::ffi::OsStr::from_bytes(CStr::from_ptr(text).to_bytes()));
    let mut text = Vec::new();
    let opened = std::fs::File::open(path(dir).join(path(file)));
    let read = opened.and_then(|f| f.take(size as u64).read_to_end(&mut text));
    if read.is_err() || size == 0 {
        return -1;
    }
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    text.truncate(size - 1);
    buf.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
    buf.add(text.len()).write(0);
    text.len() as c_int
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_text() {
        for number in -2..200 {
            for text in [ibv_wc_status_str, ibv_event_type_str, ibv_port_state_str, ibv_node_type_str] {
                // SAFETY: static texts.
                assert!(!unsafe { CStr::from_ptr(text(number)) }.is_empty());
            }
        }
    }

    #[test]
    fn rates_there_and_back() {
        for (rate, mult, mbps) in RATES {
            assert_eq!((ibv_rate_to_mult(rate), mult_to_ibv_rate(mult)), (mult, rate));
            assert_eq!((ibv_rate_to_mbps(rate), mbps_to_ibv_rate(mbps)), (mbps, rate));
        }
        assert_eq!((ibv_rate_to_mult(99), mult_to_ibv_rate(7), ibv_rate_to_mbps(-1)), (-1, 0, -1));
    }

    #[test]
    fn files_are_cut_to_the_room_and_stripped() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("fw_ver"), "1.2.3\n").unwrap();
        let dir = std::ffi::CString::new(dir.path().as_os_str().as_bytes()).unwrap();
        let read = |file: &CStr, size| {
            let mut buf = [1 as c_char; 8];
            // SAFETY: eight bytes of room, terminated texts.
            let n = unsafe { ibv_read_sysfs_file(dir.as_ptr(), file.as_ptr(), buf.as_mut_ptr(), size) };
            (n, buf[..4].iter().map(|c| *c as u8).collect::<Vec<_>>())
        };
        assert_eq!(read(c"fw_ver", 8), (5, b"1.2.".to_vec()));
        assert_eq!(read(c"fw_ver", 4), (3, b"1.2\0".to_vec()));
        assert_eq!(read(c"none", 8).0, -1);
    }
}
