use super::*;

fn kind(tool: &str, said: &str) -> Kind {
    kind_of(tool, "{}", said)
}

fn kind_of(tool: &str, arguments: &str, said: &str) -> Kind {
    let purpose = Purpose::of(tool, arguments);
    Judged { said, purpose, names_something: arguments.len() > 2, is_error: false }.kind()
}

const NAMED: &str = r#"{"query":"x"}"#;

#[test]
fn an_acknowledgement_is_one_whatever_the_tool_is_called() {
    for said in [
        "",
        " \n",
        "OK.",
        "ok",
        "Done",
        "Clicked.",
        "Tapped at (10, 20)",
        "Pressed Down",
        "true",
        "Yes, go ahead",
        "yes",
        "Approved",
        "Scrolled down by 500 px",
        r#"{"success":true}"#,
        r#"{"status":"ok"}"#,
        r#"{"ok":true,"message":"Key pressed"}"#,
        r#"{"approved":true}"#,
        "Operation successful",
    ] {
        for tool in ["write_file", "look_up", "ui"] {
            assert_eq!(kind(tool, said), Kind::Acknowledgement, "{tool}: {said}");
        }
    }
    for said in ["3 lines written to notes.txt", "201 Created", r#"{"exit_code": 0, "stdout": ""}"#] {
        assert_eq!(kind("bash", said), Kind::Acknowledgement, "{said}");
    }
    assert_eq!(kind("add_voucher", "Voucher 3221322 added"), Kind::Content, "it names one thing");
}

#[test]
fn what_is_empty_and_what_is_not_there() {
    for said in [
        "[]",
        "{}",
        r#"{"results": [], "total": 0}"#,
        "No new messages",
        "The inbox is empty",
        "no unread mail",
    ] {
        assert_eq!(kind_of("look_up", NAMED, said), Kind::Empty, "{said}");
    }
    for said in
        ["No order found", "No results found for 'x'", "none", "null", "order not found", "unknown city"]
    {
        assert_eq!(kind_of("look_up", NAMED, said), Kind::Failure, "{said}");
    }
    for said in ["No messages", "nothing", "null"] {
        assert_eq!(kind("list_mail", said), Kind::Empty, "{said}");
    }
}

#[test]
fn an_error_says_so_in_many_ways() {
    let traceback =
        format!("Traceback (most recent call last)\n{}\nValueError: bad", "  File x\n".repeat(900));
    for said in [
        "Error: file is locked",
        "permission denied",
        r#"{"error":"locked"}"#,
        r#"{"status":503,"body":"a page of text that is longer than an acknowledgement may be, as pages are"}"#,
        r#"{"success":false,"hint":"none of the many words that stand here say that it went wrong, but it did"}"#,
        r#"{"exit_code":1,"stdout":"a"}"#,
        traceback.as_str(),
    ] {
        assert_eq!(kind("bash", said), Kind::Failure, "{said}");
        assert_eq!(kind("look_up", said), Kind::Failure, "{said}");
    }
    let judged = Judged { said: "all is well", purpose: Purpose::Ask, names_something: true, is_error: true };
    assert_eq!(judged.kind(), Kind::Failure);
}

#[test]
fn what_waits_and_what_advances() {
    assert_eq!(kind("sleep", "Error: whatever"), Kind::Waiting);
    assert_eq!(kind("get_job_status", "running"), Kind::Waiting);
    assert_eq!(kind("get_job_status", "Battery at 98 percent"), Kind::Waiting);
    assert_eq!(kind("check_ready", "false"), Kind::Waiting);
    assert_eq!(kind("get_order_status", "Error: no such order"), Kind::Failure);
    assert_eq!(
        kind("pop_queue", r#"{"item":"x","kind":"letter to be sent to somebody"}"#),
        Kind::Acknowledgement
    );
    assert_eq!(kind("pop_queue", "Error: queue is gone"), Kind::Failure);
    assert_eq!(kind("look_up", "job 7 is still running"), Kind::Waiting);
    assert_eq!(kind_of("bash", r#"{"command":"sleep 5; cat out"}"#, "cat: out: No such file"), Kind::Waiting);
}

#[test]
fn the_rest_tells_something() {
    assert_eq!(kind("write_file", &"word ".repeat(30)), Kind::Content);
    assert_eq!(kind("write_file", &format!("No {}", "word ".repeat(100))), Kind::Content);
    assert_eq!(kind("look_up", "Paris is the capital of France"), Kind::Content);
    assert_eq!(kind("look_up", "17"), Kind::Content);
}

#[test]
fn failures_are_compared_without_accidents_and_sends_without_ids() {
    let outcome = |tool: &str, said: &str| {
        let judged =
            Judged { said, purpose: Purpose::of(tool, "{}"), names_something: false, is_error: false };
        judged.outcome(judged.kind())
    };
    assert_eq!(outcome("f", "Error 17: locked"), outcome("f", "Error 18: locked"));
    assert_ne!(outcome("f", "Room 17 is free and open"), outcome("f", "Room 18 is free and open"));
    let receipt = |id: &str| format!(r#"{{"message_id":"{id}","status":"queued for delivery"}}"#);
    assert_eq!(outcome("send_mail", &receipt("a1")), outcome("send_mail", &receipt("b2")));
    assert_ne!(outcome("list_mail", &receipt("a1")), outcome("list_mail", &receipt("b2")));
}

#[test]
fn what_is_wrapped_in_tags_and_labels_is_seen() {
    let wrapped =
        |code: u32, said: &str| format!("<returncode>{code}</returncode>\n<output>\n{said}\n</output>");
    assert_eq!(kind("bash", &wrapped(0, "running")), Kind::Waiting);
    assert_eq!(kind("bash", &wrapped(0, "")), Kind::Acknowledgement);
    assert_eq!(kind("bash", &wrapped(1, "the service answered 503")), Kind::Failure);
    assert_eq!(kind("look_up", &wrapped(0, "Paris is the capital of France")), Kind::Content);
    assert_eq!(
        kind("run", "Process exited with code 2\nsomething long enough to be content of its own"),
        Kind::Failure
    );
    let logs =
        |said: &str| format!("Observation:\nExecution logs:\n{said}\nLast output from code snippet:\nNone");
    assert_eq!(kind("look_up", &logs("running")), Kind::Waiting);
    assert_eq!(kind("look_up", &logs("")), Kind::Acknowledgement, "None");
    let failed = "Call id: call_4\nError:\nCode execution failed at line 'f()' due to: RuntimeError: x\nNow try again: take \
        care not to repeat previous errors! If you have retried several times, try a completely different approach.";
    assert_eq!(kind("look_up", failed), Kind::Failure);
    assert_eq!(
        kind("look_up", "Error analysis of the census of 1890, a paper about wrong counts"),
        Kind::Failure
    );
}

#[test]
fn what_is_a_failure_is_seen_quickly_as_one_that_may_be() {
    for said in [
        "Error: file is locked",
        "It was blocked by a rule",
        "WRONG password",
        "No order found",
        "0 results",
        "404 Not Found",
        "Exit code: 2\nall of it",
        "<title>502 Bad Gateway</title> a page",
        "==== 1 failed, 11 passed in 0.12s ====",
        "La operación falló",
        r#"{"error":"locked"}"#,
        r#"[{"state":"not there"}]"#,
        r#"["no such file"]"#,
        "Traceback (most recent call last)\n  File x\nValueError: bad",
        "<output>\nnot found\n</output>",
    ] {
        for tool in ["bash", "look_up", "pop_queue", "send_mail", "get_status"] {
            if kind_of(tool, NAMED, said) == Kind::Failure {
                assert!(may_be_failure(said, false), "{tool}: {said}");
            }
        }
        assert_eq!(kind_of("look_up", NAMED, said), Kind::Failure, "{said}");
    }
    assert!(may_be_failure("all is well", true));
    assert!(!may_be_failure("Paris is the capital of France", false));
    assert!(!may_be_failure(r#"[{"name":"Paris"}]"#, false));
}
