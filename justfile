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

# The long tests of faults, and a good client's latency during each kind of abuse (Linux; root for the full disk).
campaign: (abuse "10")
    cargo test --release --locked --test faults -- --include-ignored --test-threads 1
    cargo test --release --locked -p simulated-disk -- --include-ignored

# A good client's latency during each kind of abuse, so many seconds each.
abuse seconds="10" *kinds="":
    cargo bench --locked --bench abuse -- {{seconds}} {{kinds}}

# Mixed load and abuse for so many minutes: memory, file handles and threads.
soak minutes="30":
    cargo bench --locked --bench soak -- {{minutes}}

# Fuzzes one target for so many seconds; `ls fuzz/fuzz_targets` lists them. Needs cargo-fuzz and a nightly compiler.
fuzz target seconds="600":
    mkdir -p fuzz/corpus/{{target}}
    cargo +nightly fuzz run {{target}} fuzz/corpus/{{target}} fuzz/seeds/{{target}} -- -max_total_time={{seconds}} -timeout=10 -rss_limit_mb=2048

# What CI does, end-to-end suites included.
ci:
    bash .ci/run
