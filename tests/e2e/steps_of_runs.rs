//! Runs that are not mixed, and a history that is compacted. What is noticed in one history, and what is not, stands in `cases/`.

use sentinel_harness::client;
use sentinel_harness::{Dialect, Stack};

use crate::support::QUESTION;
use sentinel_wire::Run;

/// The same call in two runs of one agent is no repetition, and a file that is read again after a compaction none either.
#[tokio::test]
async fn runs_are_not_mixed_and_a_compacted_one_begins_anew() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        let agent = format!("reader {dialect:?}");
        let headers = [("x-agent-id", agent.as_str())];
        for question in
            ["What is in the first report?", "What is in the second report?", "And what in the third one?"]
        {
            let mut run = Run::new(dialect, question);
            for _ in 0..2 {
                run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
                let response =
                    client::post(stack.address(), dialect.path(false), &headers, run.body(false)).await;
                assert_eq!(response.verdict(), "allow", "{dialect:?}, {question}");
            }
        }
        let mut run = Run::new(dialect, QUESTION);
        for n in 0..6 {
            // Twice the history is replaced by its summary, and the file is read again.
            if n % 2 == 0 {
                run = Run::new(dialect, &format!("{QUESTION} (So far {n} of the parts are done.)"));
            }
            run.step("read_file", r#"{"path":"notes.txt"}"#, "The notes of the last weeks, in full.");
            let response =
                client::post(stack.address(), dialect.path(false), &headers, run.body(false)).await;
            assert_eq!(response.verdict(), "allow", "{dialect:?}, step {n}");
        }
    }
    stack.assert_sound();
}
