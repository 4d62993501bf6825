# Common commands. `just` lists them.

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

# Benchmarks print figures and assert nothing.
bench:
    cargo bench --workspace

# What CI does, end-to-end suites included.
ci:
    bash .ci/run
