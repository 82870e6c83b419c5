//! Curves that no processor has an instruction for.

use crate::{LANES, processor::Lanes};

/// x · Φ(x) for each value, Φ the normal distribution's, within 5e-7.
///
/// With 1 - erf(z) = 1 / (1 + a₁z + … + a₆z⁶)¹⁶ for z ≥ 0, within 3e-7 (Abramowitz and Stegun 1964, 7.1.28).
#[inline(always)]
pub(crate) fn gelu<L: Lanes>(lanes: L, values: &mut [f32]) {
    const A: [f32; 6] =
        [0.070_523_08, 0.042_282_01, 0.009_270_527, 0.000_152_014_3, 0.000_276_567_2, 0.000_043_063_8];
    let one = lanes.splat(1.0);
    for value in values.as_chunks_mut::<LANES>().0 {
        let x = lanes.load(value);
        let size = lanes.abs(x);
        let z = lanes.mul(size, lanes.splat(std::f32::consts::FRAC_1_SQRT_2));
        let mut sum = lanes.splat(0.0);
        for a in A.into_iter().rev() {
            sum = lanes.mul_add(sum, z, lanes.splat(a));
        }
        sum = lanes.mul_add(sum, z, one);
        for _ in 0..4 {
            sum = lanes.mul(sum, sum);
        }
        let far = lanes.div(lanes.mul(size, lanes.splat(0.5)), sum);
        lanes.store(lanes.sub(lanes.max(x, lanes.splat(0.0)), far), value);
    }
}

/// e to the power of x, for x from -87 to 87; below, as of -87. Within 2 units in the last place.
#[inline(always)]
pub(crate) fn exp<L: Lanes>(lanes: L, x: L::Floats) -> L::Floats {
    // x = n · ln 2 + r; ln 2 in two parts, so that n · ln 2 is exact enough; the polynomial is that of Cephes' expf.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const P: [f32; 6] = [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5];
    let x = lanes.max(x, lanes.splat(-87.0));
    let n = lanes.round(lanes.mul(x, lanes.splat(std::f32::consts::LOG2_E)));
    let mut r = x;
    for part in LN_2 {
        r = lanes.mul_add(n, lanes.splat(-part), r);
    }
    let mut p = lanes.splat(0.0);
    for factor in P {
        p = lanes.mul_add(p, r, lanes.splat(factor));
    }
    let p = lanes.add(lanes.mul_add(lanes.mul(r, r), p, r), lanes.splat(1.0));
    lanes.mul(p, lanes.power_of_two(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{Processor, Work};

    struct Curves<'a> {
        gelu: &'a mut [f32],
        exp: &'a mut [f32],
    }

    impl Work for Curves<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            gelu(lanes, self.gelu);
            for value in self.exp.as_chunks_mut::<LANES>().0 {
                let e = exp(lanes, lanes.load(value));
                lanes.store(e, value);
            }
        }
    }

    /// (x, gelu, exp) for x from -96 to 15, in steps of 1/64.
    fn curves(processor: Processor) -> Vec<(f32, f32, f32)> {
        let xs: Vec<f32> = (-96 * 64..16 * 64).map(|x| x as f32 / 64.0).collect();
        let (mut gelu, mut exp) = (xs.clone(), xs.clone());
        processor.run(Curves { gelu: &mut gelu, exp: &mut exp });
        xs.into_iter().zip(gelu).zip(exp).map(|((x, gelu), exp)| (x, gelu, exp)).collect()
    }

    /// Φ by Simpson's rule over the density, from 0 to x.
    fn share_below(x: f64) -> f64 {
        const PARTS: i32 = 2000;
        let step = x / f64::from(PARTS);
        let density =
            |at: i32| (-(f64::from(at) * step).powi(2) / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let inner: f64 = (1..PARTS).map(|at| density(at) * if at % 2 == 1 { 4.0 } else { 2.0 }).sum();
        0.5 + (density(0) + inner + density(PARTS)) * step / 3.0
    }

    #[test]
    fn gelu_is_the_exact_one() {
        for (x, gelu, _) in curves(Processor::plain()) {
            let x = f64::from(x);
            let wanted = if x < -9.0 { 0.0 } else { x * share_below(x) };
            assert!((f64::from(gelu) - wanted).abs() < 2e-6 * x.abs().max(0.5), "{x}: {gelu} {wanted}");
        }
    }

    #[test]
    fn exp_is_within_two_units_of_the_last_place() {
        for (x, _, exp) in curves(Processor::plain()) {
            let wanted = f64::from(x.max(-87.0)).exp();
            assert!((f64::from(exp) / wanted - 1.0).abs() < 2.4e-7, "{x}: {exp} {wanted}");
        }
    }

    #[test]
    fn every_processor_gives_the_same_bits() {
        if let Some(fast) = Processor::fast() {
            assert_eq!(curves(fast), curves(Processor::plain()), "{fast:?}");
        }
    }
}
