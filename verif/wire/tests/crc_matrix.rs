//! The XOR sets for hardware give what crc32fast gives.

#[allow(dead_code)]
mod strategies;

use mrnic_wire::crc32_matrix;
use mrnic_wire::icrc::seeded_state;
use proptest::prelude::*;

const WIDTHS: [usize; 5] = [32, 64, 128, 256, 512];

proptest! {
    #![proptest_config(strategies::config(64))]

    #[test]
    fn agrees_with_crc32fast(data in prop::collection::vec(any::<u8>(), 64..=256), width in prop::sample::select(WIDTHS.to_vec())) {
        let matrix = crc32_matrix(width);
        let chunks = data.chunks_exact(width / 8);
        let whole = data.len() - chunks.remainder().len();
        let state = chunks.fold(u32::MAX, |state, chunk| matrix.apply(state, chunk));
        prop_assert_eq!(!state, crc32fast::hash(&data[..whole]));
    }

    /// The last beat of a packet is narrower than the bus: every whole number of bytes has its matrix.
    #[test]
    fn tails_have_their_own_width(data in prop::collection::vec(any::<u8>(), 1..=64)) {
        let matrix = crc32_matrix(data.len() * 8);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[0xFF; 8]);
        hasher.update(&data);
        prop_assert_eq!(!matrix.apply(seeded_state(), &data), hasher.finalize());
    }
}

#[test]
fn rows_name_existing_bits_in_order() {
    for width in WIDTHS {
        let matrix = crc32_matrix(width);
        assert_eq!((matrix.width_bits, matrix.rows.len()), (width, 32));
        for row in &matrix.rows {
            assert!(row.state.windows(2).chain(row.data.windows(2)).all(|w| w[0] < w[1]));
            assert!(row.state.iter().all(|i| *i < 32) && row.data.iter().all(|k| *k < width));
            assert!(!row.data.is_empty());
        }
    }
}
