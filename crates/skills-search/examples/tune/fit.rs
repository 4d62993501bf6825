//! Logistic regression by Newton's method.

/// The number of coefficients; the first is the constant.
pub const SIZE: usize = 6;

/// Coefficients, or the values they are for.
pub type Row = [f64; SIZE];

/// A row, its weight, and whether it is a positive example.
pub type Example = (Row, f64, bool);

/// The probability of a row.
pub fn probability(fit: &Row, row: &Row) -> f64 {
    1.0 / (1.0 + (-sum(fit, row)).exp())
}

/// The sum whose logistic function is the probability.
pub fn sum(fit: &Row, row: &Row) -> f64 {
    fit.iter().zip(row).map(|(a, b)| a * b).sum()
}

/// The most likely coefficients. Those of values that are always 0 stay 0.
pub fn fit(examples: &[Example]) -> Row {
    let mut fit = Row::default();
    for _ in 0..30 {
        let mut gradient = Row::default();
        let mut curvature = [Row::default(); SIZE];
        for (row, weight, is_positive) in examples {
            let p = probability(&fit, row);
            let error = f64::from(*is_positive) - p;
            for (i, a) in row.iter().enumerate() {
                gradient[i] += weight * error * a;
                for (j, b) in row.iter().enumerate() {
                    curvature[i][j] += weight * p * (1.0 - p) * a * b;
                }
            }
        }
        for (i, row) in curvature.iter_mut().enumerate() {
            row[i] += 1e-3;
        }
        let step = solve(curvature, gradient);
        fit.iter_mut()
            .zip(step)
            .for_each(|(value, step)| *value += step);
    }
    fit
}

/// Gaussian elimination of a positive definite matrix.
fn solve(mut matrix: [Row; SIZE], mut right: Row) -> Row {
    for pivot in 0..SIZE {
        let pivot_row = matrix[pivot];
        for row in (0..SIZE).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            for (value, above) in matrix[row].iter_mut().zip(pivot_row) {
                *value -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = Row::default();
    for (row, value) in solution.iter_mut().enumerate() {
        *value = right[row] / matrix[row][row];
    }
    solution
}
