//! A small agent.3md document, and calls of its tools.

/// Skills with and without triggers, a link, a cycle, and names that are special in other languages.
pub const SAMPLE: &str = r#"---
3md: 1.0
agent: dev
---
@plane z=0 kind=identity
I am dev.

@plane z=1 label=search triggers="find code, search the code, grep" cost=low tool="rg {pattern}" inputs=pattern
Look for it.

Then [[z=2|read]] it.

@plane z=2 label=read triggers="open file"
Read it, "quoted" and all: é.

@plane z=3 label=loop
Back to [[z=3]].

@plane z=4 label=constructor triggers="tie, tie, Tie, TIE"
@plane z=1.5 label=__proto__ triggers="tie"
Half.
"#;

/// A `tools/call` request for a tool, with these arguments.
pub fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}
