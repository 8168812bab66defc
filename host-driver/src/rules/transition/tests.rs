//! Every pair of states, every attribute.
use super::*;
use crate::device::{Mtu, PathAttributes};
use crate::rules::Access;
use QpState::*;

const STATES: [QpState; 6] = [Reset, Init, Rtr, Rts, Sqd, Error];

/// A change to `state` with the attributes of `set`.
fn change(state: Option<QpState>, set: u32) -> QpChange {
    let has = |bit| set & bit != 0;
    let path = PathAttributes {
        gid: [0; 16],
        source_gid_index: 0,
        flow_label: 0,
        hop_limit: 64,
        traffic_class: 0,
        service_level: 0,
        port: 1,
    };
    QpChange {
        state,
        access: has(ACCESS).then_some(Access::ALL),
        pkey_index: has(PKEY).then_some(0),
        port: has(PORT).then_some(1),
        path: has(PATH).then_some(path),
        path_mtu: has(MTU).then_some(Mtu::B1024),
        dest_qpn: has(DEST).then_some(7),
        rq_psn: has(RQ_PSN).then_some(1),
        sq_psn: has(SQ_PSN).then_some(2),
        timeout: has(TIMEOUT).then_some(14),
        retry_count: has(RETRY).then_some(7),
        rnr_retry: has(RNR_RETRY).then_some(7),
        min_rnr_timer: has(RNR_TIMER).then_some(12),
        max_rd_atomic: has(RD).then_some(1),
        max_dest_rd_atomic: has(DEST_RD).then_some(1),
        notify_drained: has(DRAINED).then_some(true),
    }
}

#[test]
fn the_way_up_and_down() {
    let up = [
        (Reset, Init, PKEY | PORT | ACCESS),
        (Init, Rtr, PATH | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER),
        (Rtr, Rts, TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD),
        (Rts, Sqd, 0),
        (Sqd, Rts, 0),
    ];
    for (from, to, set) in up {
        assert_eq!(transition(from, &change(Some(to), set)), Ok(to));
    }
    for from in STATES {
        assert_eq!(transition(from, &change(Some(Reset), 0)), Ok(Reset));
        assert_eq!(transition(from, &change(Some(Error), 0)), Ok(Error));
    }
}

#[test]
fn each_missing_and_each_surplus_attribute_is_refused() {
    for from in STATES {
        for to in STATES {
            let Some((needed, allowed)) = step(from, to) else {
                assert!(transition(from, &change(Some(to), 0)).is_err(), "{from:?} {to:?}");
                continue;
            };
            assert_eq!(transition(from, &change(Some(to), needed | allowed)), Ok(to));
            for bit in 0..NAMES.len() {
                let bit = 1 << bit;
                let result = transition(from, &change(Some(to), needed ^ bit));
                assert_eq!(result.is_ok(), allowed & bit != 0, "{from:?} {to:?} {}", Set(bit).names());
            }
        }
    }
}

#[test]
fn attributes_alone_only_where_the_table_keeps_the_state() {
    assert_eq!(transition(Init, &change(None, ACCESS)), Ok(Init));
    assert_eq!(transition(Rts, &change(None, RNR_TIMER)), Ok(Rts));
    for from in [Reset, Rtr, Error] {
        assert!(transition(from, &change(None, 0)).is_err());
    }
}

#[test]
fn values_past_their_fields_are_refused() {
    let limits = crate::loopback::limits();
    let all = change(None, (1 << NAMES.len()) - 1);
    let check = |c: &QpChange| check_values(c, &limits, Mtu::B1024, 2).map_err(|e| e.errno());
    assert_eq!(check(&all), Ok(()));
    let bad = [
        QpChange { dest_qpn: Some(1 << 24), ..all },
        QpChange { rq_psn: Some(1 << 24), ..all },
        QpChange { sq_psn: Some(u32::MAX), ..all },
        QpChange { timeout: Some(32), ..all },
        QpChange { retry_count: Some(8), ..all },
        QpChange { rnr_retry: Some(8), ..all },
        QpChange { min_rnr_timer: Some(32), ..all },
        QpChange { max_rd_atomic: Some(255), ..all },
        QpChange { max_dest_rd_atomic: Some(255), ..all },
        QpChange { pkey_index: Some(1), ..all },
        QpChange { port: Some(0), ..all },
        QpChange { port: Some(2), ..all },
        QpChange { path_mtu: Some(Mtu::B2048), ..all },
        QpChange { path: all.path.map(|p| PathAttributes { source_gid_index: 2, ..p }), ..all },
        QpChange { path: all.path.map(|p| PathAttributes { port: 3, ..p }), port: None, ..all },
    ];
    for c in bad {
        assert_eq!(check(&c), Err(libc::EINVAL), "{c:?}");
    }
}
