//! The one scale of similarity: `1 − cosine distance / 2`, which is `(1 + cosine) / 2`. 1 is identical, 0 opposite.
//! No thresholds and no rules live here.

/// Rounding of two f32 sums of 384 products stays below this; an exact repeat must be exactly 1.
const ROUNDING: f64 = 2e-6;

/// Similarity of two L2-normalised vectors of one length.
#[must_use]
pub fn of_vectors(a: &[f32], b: &[f32]) -> f64 {
    let cosine: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    of_distance(1.0 - cosine)
}

/// Similarity from a cosine distance (0 identical, 2 opposite). Rounding never leads outside 0..=1, and what is
/// identical but for rounding is 1. A distance that is no number counts as opposite.
#[must_use]
pub fn of_distance(distance: f64) -> f64 {
    if distance.is_nan() {
        return 0.0;
    }
    if distance < ROUNDING {
        return 1.0;
    }
    (1.0 - distance / 2.0).clamp(0.0, 1.0)
}

/// Scales `vector` to length 1 in place. A zero vector stays as it is.
pub fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length > 0.0 {
        for x in vector {
            #[allow(clippy::cast_possible_truncation)] // a component of a unit vector
            let scaled = (f64::from(*x) / length) as f32;
            *x = scaled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_is_exactly_one_opposite_is_zero_orthogonal_is_half() {
        let mut a = vec![0.3, -1.7, 2.9, 0.001];
        normalise(&mut a);
        let opposite: Vec<f32> = a.iter().map(|x| -x).collect();
        assert_eq!(of_vectors(&a, &a), 1.0);
        assert!(of_vectors(&a, &opposite) < 1e-6);
        assert_eq!(of_vectors(&[1.0, 0.0], &[0.0, 1.0]), 0.5);
    }

    #[test]
    fn a_distance_outside_its_range_stays_on_the_scale() {
        assert_eq!(of_distance(-1e-9), 1.0);
        assert_eq!(of_distance(5.96e-8), 1.0);
        assert_eq!(of_distance(2.1), 0.0);
        assert_eq!(of_distance(f64::NAN), 0.0);
        assert_eq!(of_distance(0.1), 0.95);
        assert!(of_distance(1e-4) < 1.0);
    }

    #[test]
    fn normalising_a_zero_vector_makes_no_nan() {
        let mut zero = vec![0.0; 4];
        normalise(&mut zero);
        assert_eq!(zero, vec![0.0; 4]);
    }
}
