//! Every verb on valid input.

use super::transcript::Transcript;

const EMAIL: &str = "# Email\n\nSend mail with [send](iii://fn/resend/send).\n\n```sh\nmail\n```\n";

#[test]
fn skills_are_registered_read_and_unregistered() {
    let mut s = Transcript::new();
    s.file("email.md", EMAIL);
    s.step("skills list")
        .step("skills register resend/email email.md")
        .step_with(
            "skills register resend -",
            "# Resend\n\nMail for programs.\n",
        )
        .step_with(
            "skills register iii://docs/house/style.md - --quiet",
            "# Style\n",
        )
        .step("skills list")
        .step("skills list --flat")
        .step("skills list --flat --origin state --json")
        .step("skills list --origin fs")
        .step("skills read resend/email")
        .step("skills read iii://resend --json")
        .step("skills read ./resend.md")
        .step("skills index")
        .step("skills fetch resend docs/house/style")
        .step("skills fetch resend --json")
        .step("skills unregister resend resend/email")
        .step("skills unregister resend resend/emial --json")
        .step("skills list --json");
    s.matches("skills");
}

#[test]
fn prompts_are_registered_rendered_and_unregistered() {
    let mut s = Transcript::new();
    s.file("config.yaml", "prompts:\n  - prompts/*.md\n").file(
        "prompts/open-pr.md",
        "---\ndescription: Open a pull request.\n---\nOpen it.\n",
    );
    s.file(
        "prompts/mail.md",
        "---\ndescription: Write a mail.\narguments:\n- {name: to, required: true}\n\
         - {name: tone, enum: [short, formal], default: short}\n---\nTo {{to}}: $2.\n",
    );
    s.step("skills prompts list")
        .step("skills prompts get mail to=Ada")
        .step("skills prompts get mail to=Ada tone=formal --json")
        .step("skills prompts get mail tone=formal")
        .step("skills prompts get mail to=Ada tone=loud")
        .step("skills prompts get mail to=Ada tne=short")
        .step("skills prompts register greet --function demo::greet --description 'Compose a greeting.' --required 'name=Who to greet' --optional tone")
        .step("skills prompts list")
        .step("skills prompts list --json")
        .step("skills prompts get open-pr")
        .step("skills prompts get /open-pr --json")
        .step("skills prompts get greet")
        .step("skills prompts get greet name=Ada ton=warm")
        .step("skills prompts get greet name")
        .step("skills prompts get open-rp")
        .step("skills prompts unregister greet open-pr gret")
        .step("skills prompts unregister greet --json");
    s.matches("prompts");
}

#[test]
fn any_function_can_be_called() {
    let mut s = Transcript::new();
    s.step_with(
        "skills call skills::register -",
        r#"{"id":"a","skill":"A"}"#,
    )
    .step("skills call skill::fetch '{\"uri\":\"iii://a\"}'")
    .step("skills call skills::list --json")
    .step("skills call skills::unregister '{\"id\":\"a\"}'")
    .step("skills call skills::unregister '{\"id\":5}'")
    .step("skills call skills::lst")
    .step("skills call skills::list '{'")
    .step("skills call ''");
    s.matches("call");
}

#[test]
fn files_of_the_configuration_are_listed() {
    let mut s = Transcript::new();
    s.file("config.yaml", "skills:\n  - docs/**/*.md\n")
        .file("docs/house.md", "# House\n\nRules.\n");
    s.step("skills index")
        .step("skills unregister house")
        .step("skills list --config none.yaml")
        .step("skills list --config none.yaml --quiet");
    s.matches("files");
}
