//! Functions of one value that no processor has an instruction for: Gelu and the exponential.

use crate::{error::ShapeError, processor::Lanes, quantise::Elementwise};

/// x · Φ(x), Φ the normal distribution's, within 5e-7.
pub(crate) struct Gelu;

impl Elementwise for Gelu {
    /// With 1 - erf(z) = 1 / (1 + a₁z + … + a₆z⁶)¹⁶ for z = |x| / √2, within 3e-7 (Abramowitz and Stegun 1964, 7.1.28).
    #[inline(always)]
    fn apply<L: Lanes>(&self, lanes: L, x: L::Floats, _: usize) -> Result<L::Floats, ShapeError> {
        // The coefficients a₆ to a₀ = 1. Each includes the power of 1/√2 that lets the polynomial take |x| in place of z, and 2^(1/16), which
        // doubles the 16th power.
        const A: [f32; 7] = [
            5.621_3e-6,
            5.105_521e-5,
            3.968_613_7e-5,
            3.422_739_2e-3,
            2.207_699_8e-2,
            5.207_516_3e-2,
            1.044_273_8,
        ];
        let size = lanes.abs(x);
        let [highest, lower @ ..] = A;
        let mut sum = lanes.splat(highest);
        for a in lower {
            sum = lanes.mul_add(sum, size, lanes.splat(a));
        }
        for _ in 0..4 {
            sum = lanes.mul(sum, sum);
        }
        let far = lanes.div(size, sum);
        Ok(lanes.sub(lanes.max(x, lanes.splat(0.0)), far))
    }
}

/// e to the power of x, for x from -87 to 87. A smaller x counts as -87. Within 2 units in the last place.
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
    let [highest, lower @ ..] = P;
    let mut p = lanes.splat(highest);
    for factor in lower {
        p = lanes.mul_add(p, r, lanes.splat(factor));
    }
    let p = lanes.add(lanes.mul_add(lanes.mul(r, r), p, r), lanes.splat(1.0));
    lanes.mul(p, lanes.power_of_two(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{Computation, LANES, Processor};

    struct Functions<'a> {
        gelu: &'a mut [f32],
        exp: &'a mut [f32],
    }

    impl Computation for Functions<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
            for value in self.gelu.as_chunks_mut::<LANES>().0 {
                let active = Gelu.apply(lanes, lanes.load(value), 0)?;
                lanes.store(active, value);
            }
            for value in self.exp.as_chunks_mut::<LANES>().0 {
                let e = exp(lanes, lanes.load(value));
                lanes.store(e, value);
            }
            Ok(())
        }
    }

    /// (x, gelu, exp) for x from -96 to 15, in steps of 1/64.
    fn values(processor: Processor) -> Vec<(f32, f32, f32)> {
        let xs: Vec<f32> = (-96 * 64..16 * 64).map(|x| x as f32 / 64.0).collect();
        let (mut gelu, mut exp) = (xs.clone(), xs.clone());
        processor.run(Functions { gelu: &mut gelu, exp: &mut exp }).unwrap();
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
        for (x, gelu, _) in values(Processor::portable()) {
            let x = f64::from(x);
            let wanted = if x < -9.0 { 0.0 } else { x * share_below(x) };
            assert!((f64::from(gelu) - wanted).abs() < 2e-6 * x.abs().max(0.5), "{x}: {gelu} {wanted}");
        }
    }

    #[test]
    fn exp_is_within_two_units_of_the_last_place() {
        for (x, _, exp) in values(Processor::portable()) {
            let wanted = f64::from(x.max(-87.0)).exp();
            assert!((f64::from(exp) / wanted - 1.0).abs() < 2.4e-7, "{x}: {exp} {wanted}");
        }
    }

    #[test]
    fn every_processor_gives_the_same_bits() {
        for fast in Processor::accelerated() {
            assert_eq!(values(fast), values(Processor::portable()), "{fast:?}");
        }
    }
}
