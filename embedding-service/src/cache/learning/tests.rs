use super::*;

const DEFAULT: Bound = Bound { threshold: 0.875, max_error: 0.01 };

fn observed(of: &[(f64, u16, u16)]) -> Observations {
    let mut observations = Observations::default();
    for (similarity, right, wrong) in of {
        (0..*right).for_each(|_| observations.note(*similarity, true));
        (0..*wrong).for_each(|_| observations.note(*similarity, false));
    }
    observations
}

#[test]
fn without_observations_the_threshold_holds() {
    let none = Observations::default();
    assert!(none.allow(0.875, DEFAULT) && none.allow(1.0, DEFAULT));
    assert!(!none.allow(0.874, DEFAULT));
    assert!(none.error(0.875) <= PROMISED_ERROR, "{}", none.error(0.875));
    assert!(none.allow(0.83, Bound { threshold: 0.82, ..DEFAULT }), "a lower one too, where it is wanted");
}

#[test]
fn who_wants_fewer_errors_than_is_promised_waits_for_observations() {
    let strict = Bound { max_error: 0.001, ..DEFAULT };
    assert!(!Observations::default().allow(0.99, strict));
    assert!(observed(&[(0.9, 40, 0)]).allow(0.93, strict));
    let none = Bound { max_error: 0.0, ..DEFAULT };
    assert!(!observed(&[(0.9, 1000, 0)]).allow(1.0, none));
}

#[test]
fn what_was_right_lowers_the_threshold_and_never_below_the_floor() {
    assert!(!observed(&[(0.82, 1, 0)]).allow(0.81, DEFAULT));
    assert!(observed(&[(0.82, 10, 0)]).allow(0.82, DEFAULT));
    let many = observed(&[(0.76, 10_000, 0)]);
    assert!(many.allow(FLOOR, DEFAULT) && !many.allow(FLOOR - 0.001, DEFAULT));
}

#[test]
fn what_was_wrong_raises_the_threshold_until_others_were_right() {
    for at in [0.76, 0.83, 0.9, 1.0] {
        let once = observed(&[(at, 0, 1)]);
        assert!([0.875, 0.9, 0.95, 1.0].into_iter().all(|s| !once.allow(s, DEFAULT)), "{at}");
    }
    let later = observed(&[(0.83, 0, 1), (0.95, 20, 0)]);
    assert!(later.allow(0.97, DEFAULT) && !later.allow(0.9, DEFAULT));
    let mostly = observed(&[(0.83, 30, 1)]);
    assert!(!mostly.allow(0.86, DEFAULT), "with one that was wrong it never falls below the threshold");
    assert!(mostly.allow(0.93, DEFAULT));
}

#[test]
fn the_chance_of_an_error_falls_with_similarity_whatever_was_observed() {
    for observations in [
        observed(&[]),
        observed(&[(0.8, 3, 2), (0.9, 1, 1), (1.0, 5, 0)]),
        observed(&[(0.8, 0, u16::MAX), (1.0, u16::MAX, u16::MAX)]),
    ] {
        let errors: Vec<f64> = (75..=100).map(|s| observations.error(f64::from(s) / 100.0)).collect();
        assert!(errors.iter().all(|error| (0.0..=1.0).contains(error)), "{errors:?}");
        assert!(errors.is_sorted_by(|a, b| b <= a), "{errors:?}");
    }
}

#[test]
fn observations_are_stored_in_few_bytes_and_read_again() {
    let observations = observed(&[(0.75, 1, 0), (0.3, 0, 2), (0.8123, 3, 1), (1.0, 0, 400)]);
    let bytes = observations.to_bytes();
    assert_eq!(bytes.len(), 15);
    assert_eq!(Observations::from_bytes(&bytes), Some(observations));
    let mut all = Observations::default();
    for i in 0..200_000_u32 {
        all.note(f64::from(i % 1001) / 1000.0, i % 3 == 0);
    }
    assert!(all.to_bytes().len() <= 130);
    for bad in [vec![1], vec![26, 0, 0, 0, 0], vec![2, 0, 0, 0, 0, 1, 0, 0, 0, 0], vec![1; 10]] {
        assert_eq!(Observations::from_bytes(&bad), None, "{bad:?}");
    }
}

/// A reproducible series of numbers from 0 to 1 (xorshift).
struct Series(u64);

impl Series {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[allow(clippy::cast_precision_loss)]
        let number = (self.0 >> 11) as f64;
        number / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.next() * (most - least)
    }
}

/// Sends requests near the texts of many entries. As in the gateway, only requests that are not served are observed.
/// Returns how many were served, and how many of those answers were wrong.
fn simulate(
    series: &mut Series,
    entries: usize,
    bound: Bound,
    curve: impl Fn(&mut Series) -> Curve,
) -> (u32, u32) {
    let (mut served, mut wrong) = (0_u32, 0_u32);
    for _ in 0..entries {
        let curve = curve(series);
        let mut observations = Observations::default();
        for _ in 0..60 {
            let similarity = series.between(LEAST_SIMILARITY, 1.0);
            let is_right = series.next() < curve.right(similarity);
            if observations.allow(similarity, bound) {
                served = served.saturating_add(1);
                wrong = wrong.saturating_add(u32::from(!is_right));
            } else {
                observations.note(similarity, is_right);
            }
        }
    }
    (served, wrong)
}

fn share((served, wrong): (u32, u32)) -> f64 {
    f64::from(wrong) / f64::from(served.max(1))
}

/// With as many unusual entries as expected (1 %), and with four times as many.
#[test]
fn the_share_of_wrong_answers_stays_under_the_bound() {
    for (unusual, bound) in [
        (0.01, DEFAULT),
        (0.01, Bound { max_error: 0.005, ..DEFAULT }),
        (0.01, Bound { max_error: 0.002, ..DEFAULT }),
        (0.04, DEFAULT),
        (0.04, Bound { max_error: 0.05, ..DEFAULT }),
    ] {
        let mut series = Series(0x2545_f491_4f6c_dd1d);
        let result = simulate(&mut series, 150, bound, |series| {
            let is_unusual = series.next() < unusual;
            let middle = if is_unusual { series.between(0.69, 1.1) } else { series.between(0.5, 0.68) };
            let steepness = STEEPNESS[(series.next() * 5.0) as usize];
            Curve::new(middle, steepness, 0.0)
        });
        assert!(result.0 > 2_000, "{bound:?} serves: {result:?}");
        assert!(share(result) <= bound.max_error, "{unusual} {bound:?}: {result:?}");
    }
}

/// Entries whose answer is never right for another text. The first text that goes to the provider shows it.
#[test]
fn an_entry_that_is_never_right_serves_few() {
    let mut series = Series(88_172_645_463_325_252);
    let (served, wrong) = simulate(&mut series, 500, DEFAULT, |_| Curve::new(1.1, 240.0, 0.0));
    assert_eq!(served, wrong);
    assert!(f64::from(wrong) <= 500.0 * 2.5, "{wrong} of 30,000 requests");
}

/// The counterpart of the test above: with a fixed threshold, which trusts every answer, the same entries serve half of all requests.
#[test]
fn without_learning_the_same_entries_serve_half_of_all() {
    let mut series = Series(88_172_645_463_325_252);
    let served = (0..30_000).filter(|_| series.between(LEAST_SIMILARITY, 1.0) >= DEFAULT.threshold).count();
    assert!(served > 14_000, "{served}");
}
