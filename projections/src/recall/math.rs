//! The one function of the ranking that `core` lacks.

/// Natural logarithm of a finite number above zero, by the series of `atanh`.
///
/// Only additions, multiplications and divisions, so every platform gets the same bits and ranks alike;
/// the error is below 1e-14. Anything that is not a positive normal number gives 0.
pub(super) fn ln(value: f64) -> f64 {
    if !value.is_normal() || value < 0.0 {
        return 0.0;
    }
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = value.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & MANTISSA) | (1023 << 52));
    // Near 1 on both sides the series is shortest.
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut power = ratio;
    let mut sum = 0.0;
    for odd in (1..22_i32).step_by(2) {
        sum += power / f64::from(odd);
        power *= square;
    }
    2.0 * sum + f64::from(exponent) * core::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn the_logarithm_agrees_with_the_platforms() {
        for step in 1..100_000_i32 {
            let value = f64::from(step) / 37.0;
            assert!((ln(value) - value.ln()).abs() < 1e-12, "{value}");
        }
    }
}
