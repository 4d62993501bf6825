# What people run here. `just` lists it.

_default:
    @just --list

# Everything that must hold before a commit lands.
check: fmt lint test

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

test:
    cargo test --locked

# The rules alone, in seconds.
pure:
    cargo test --locked --test bdd -- --tags @pure

# Figures, not verdicts.
bench:
    cargo bench --workspace

# What CI does, end-to-end suites included.
ci:
    bash .ci/run
