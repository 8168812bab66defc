//! How fast two models exchange data on one core: packets per second, with frames (codec and ICRC included) and without bytes.
//! Run: `cargo run --release -p mrnic-model --example model_rate`. Prints a table and one JSON line.

use std::time::Instant;

use mrnic_model::memory::NoMemory;
use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::*;
use mrnic_wire::Packet;

const MESSAGE_BYTES: u32 = 1 << 20;

fn address(from: u8, to: u8) -> NetAddr {
    NetAddr::v4([2, 0, 0, 0, 0, from], [2, 0, 0, 0, 0, to], [10, 0, 0, from], [10, 0, 0, to])
}

fn nic(side: u8, mtu_log2: u8) -> Result<Nic<OpenMr0>, ConfigError> {
    let mut nic = Nic::new(NicConfig::default())?;
    let mut conn = ConnConfig::new(0, 8, address(side, 1 - side));
    conn.mtu_log2 = mtu_log2;
    nic.open_connection(0, 0, &conn)?;
    nic.open_qp(0, &QpConfig::new(0, 0))?;
    let rights = Rights::from_bits(0b11);
    nic.register_key(0, &KeyConfig { valid: true, rights, length: 1 << 30, ..KeyConfig::default() })?;
    Ok(nic)
}

fn top_up(nic: &mut Nic<OpenMr0>) {
    while nic.poll_completion().is_some() {}
    let wqe = Wqe { signaled: true, length: MESSAGE_BYTES, ..Wqe::default() };
    while nic.post_send(0, &wqe).is_ok() {}
}

/// Packets of all kinds a second, with whole frames.
fn with_frames(mtu_log2: u8, seconds: f64) -> Result<f64, ConfigError> {
    let mut nics = [nic(0, mtu_log2)?, nic(1, mtu_log2)?];
    let mut buf = vec![0; FRAME_BYTES_MAX];
    let (mut now, mut packets) = (0u32, 0u64);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        for _ in 0..1000 {
            top_up(&mut nics[0]);
            for side in 0..2 {
                for _ in 0..16 {
                    let Some(t) = nics[side].poll_transmit(now, &mut buf, &NoMemory) else { break };
                    nics[1 - side].handle_packet(now, &buf[..t.len], &mut NoMemory);
                    packets += 1;
                }
                nics[side].handle_timeout(now);
            }
            now = now.wrapping_add(1);
        }
    }
    Ok(packets as f64 / start.elapsed().as_secs_f64())
}

/// The same with packet values instead of frames, as a cluster simulation does.
fn without_bytes(mtu_log2: u8, seconds: f64) -> Result<f64, ConfigError> {
    let mut nics = [nic(0, mtu_log2)?, nic(1, mtu_log2)?];
    let (mut now, mut packets) = (0u32, 0u64);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        for _ in 0..1000 {
            top_up(&mut nics[0]);
            for side in 0..2 {
                for _ in 0..16 {
                    let Some(outgoing) = nics[side].poll_outgoing(now) else { break };
                    let (packet, payload_len): (Packet, u32) = match &outgoing {
                        Outgoing::Ack(ack) => (ack.packet::<OpenMr0>(), 0),
                        Outgoing::Probe(probe) => (probe.packet::<OpenMr0>(), 0),
                        Outgoing::Data(data) => (data.packet(), data.len),
                    };
                    let received = Received { packet: &packet, udp_src: 0, ecn_ce: false, payload_len, payload: None };
                    nics[1 - side].handle_parsed(now, &received, &mut NoMemory);
                    packets += 1;
                }
                nics[side].handle_timeout(now);
            }
            now = now.wrapping_add(1);
        }
    }
    Ok(packets as f64 / start.elapsed().as_secs_f64())
}

fn main() -> Result<(), ConfigError> {
    let mut fields = Vec::new();
    println!("{:>6} {:>20} {:>20}", "MTU", "frames, Mpackets/s", "values, Mpackets/s");
    for mtu_log2 in [8, 10, 12] {
        let (frames, values) = (with_frames(mtu_log2, 1.0)?, without_bytes(mtu_log2, 1.0)?);
        println!("{:6} {:20.2} {:20.2}", 1 << mtu_log2, frames / 1e6, values / 1e6);
        fields.push(format!(
            r#"{{"mtu_bytes":{},"frames_packets_per_s":{frames:.0},"values_packets_per_s":{values:.0}}}"#,
            1 << mtu_log2
        ));
    }
    println!(r#"{{"model_rate":[{}]}}"#, fields.join(","));
    Ok(())
}
