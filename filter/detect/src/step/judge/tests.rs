use super::*;

fn kind(tool: &str, said: &str) -> Kind {
    kind_of(tool, "{}", said)
}

fn kind_of(tool: &str, arguments: &str, said: &str) -> Kind {
    facts(tool, arguments, said).kind
}

fn facts(tool: &str, arguments: &str, said: &str) -> Facts {
    let purpose = Purpose::of(tool, arguments);
    JudgedResult { said, purpose, weight: Weight::of_arguments(arguments), is_error: false, call: [""; 2] }
        .facts(None)
}

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
        r#"{"exit_code": 0, "stdout": ""}"#,
        "Query OK, 1000 rows affected",
        "50 mails archived",
        "Audio played (4.0 s)",
        r#"{"affected_rows":1000}"#,
        r#"{"deletedCount":500,"failed":0}"#,
    ] {
        for tool in ["write_file", "look_up", "ui"] {
            assert_eq!(kind(tool, said), Kind::Acknowledgement, "{tool}: {said}");
        }
    }
    assert_eq!(kind("add_voucher", "Voucher 3221322 added"), Kind::Content, "it names one thing");
}

#[test]
fn a_state_is_one_in_any_words() {
    for said in [
        r#"{"state":"kneading"}"#,
        r#"{"deploymentPhase":"canary","app":"web"}"#,
        r#"{"order":"A-7","state":"発酵"}"#,
        r#"{"Status":"PENDING_VALIDATION"}"#,
        "CREATE_IN_PROGRESS",
    ] {
        assert_eq!(kind("oven", said), Kind::Waiting, "{said}");
    }
    for said in [
        r#"{"state":"failed","reason":"no image"}"#,
        r#"{"state":"it was put into the hot oven at noon"}"#,
        r#"{"name":"Bob","city":"Austin","state":"Texas","zip":"78701"}"#,
        r#"{"status":"not_found"}"#,
    ] {
        assert_eq!(kind("oven", said), Kind::Content, "{said}");
    }
    assert_eq!(kind("import", "100 linhas importadas"), Kind::Acknowledgement);
    assert_eq!(kind("import", "Импортировано 100 строк"), Kind::Acknowledgement);
    assert_eq!(kind("import", "0 linhas importadas"), Kind::Content);
}

#[test]
fn what_is_empty() {
    for said in [
        "[]",
        "{}",
        r#"{"results": [], "total": 0}"#,
        "No new messages",
        "The inbox is empty",
        "no unread mail",
        "No emails found matching the query.",
        "No person detected",
        "nothing happened",
        "Already up to date.",
        "null",
        "None",
    ] {
        assert_eq!(kind("look_up", said), Kind::Empty, "{said}");
    }
}

/// Words do not make a failure. A search for such words would take good results for failures.
#[test]
fn what_tells_something_is_content_whatever_its_words() {
    for said in [
        "No order found",
        "No results found for 'x'",
        "You stand at (3, 4). No monsters here.",
        "permission denied",
        "Insufficient funds.",
        "Zeitüberschreitung nach 3 s",
        "validation error 0.48",
        "1037 requests, 0 errors",
        r#"{"imported": 100, "errors": 3}"#,
        r#"{"success":false,"hint":"look elsewhere"}"#,
        "Paris is the capital of France",
        "17",
        "42",
    ] {
        for tool in ["look_up", "execute_code", "write_file"] {
            assert_eq!(kind(tool, said), Kind::Content, "{tool}: {said}");
        }
    }
    assert_eq!(kind("write_file", &"word ".repeat(30)), Kind::Content);
}

#[test]
fn an_explicit_failure_has_full_weight() {
    let traceback =
        format!("Traceback (most recent call last)\n{}\nValueError: bad", "  File x\n".repeat(900));
    for said in ["Error: file is locked", r#"{"error":"locked"}"#, r#"{"status":503,"body":"x"}"#, &traceback]
    {
        for tool in ["look_up", "pop_queue", "get_order_status"] {
            let facts = facts(tool, "{}", said);
            assert_eq!((facts.kind, facts.weight), (Kind::Failure, Weight::Full), "{tool}: {said}");
        }
    }
    let judged = JudgedResult {
        said: "all is well",
        purpose: Purpose::Any,
        weight: Weight::Nothing,
        is_error: true,
        call: [""; 2],
    };
    assert_eq!(judged.kind(), Kind::Failure);
}

#[test]
fn what_waits_and_what_moves_on() {
    assert_eq!(kind("sleep", "Error: whatever"), Kind::Waiting);
    assert_eq!(kind("get_job_status", "running"), Kind::Waiting);
    assert_eq!(kind("get_job_status", "Battery at 98 percent"), Kind::Waiting);
    assert_eq!(kind("check_ready", "false"), Kind::Waiting);
    assert_eq!(kind("pop_queue", r#"{"item":"x","kind":"a letter"}"#), Kind::Acknowledgement);
    assert_eq!(kind("look_up", "job 7 is still running"), Kind::Waiting);
    assert_eq!(kind_of("bash", r#"{"command":"sleep 5; cat out"}"#, "cat: out: No such file"), Kind::Waiting);
}

#[test]
fn the_weight_is_that_of_the_call_or_of_the_outcome() {
    for (arguments, said, weight) in [
        (r#"{"query":"order 123"}"#, "No order found", Weight::Full),
        (r#"{"id":9}"#, "No order found", Weight::Token),
        ("{}", "You hit the zombie.", Weight::Nothing),
        ("{}", "one two three four five six seven eight nine ten eleven twelve", Weight::Full),
        (r#"{"code":"print(6 * 7)"}"#, "42", Weight::Full),
        (r#"{"command":"wc -l a.csv"}"#, "42", Weight::Token),
        (r#"{"command":"cat a.csv"}"#, "forty-two", Weight::Full),
    ] {
        assert_eq!(facts("tool", arguments, said).weight, weight, "{arguments}: {said}");
    }
}

#[test]
fn only_explicit_failures_are_compared_without_what_is_volatile() {
    let outcome = |said: &str| facts("f", "{}", said).outcome;
    assert_eq!(outcome("Error 17: locked, took 3 ms"), outcome("Error 18: locked, took 9 ms"));
    assert_ne!(outcome("Room 17 is free and open"), outcome("Room 18 is free and open"));
    assert_ne!(outcome("timed out after 30.01 s"), outcome("timed out after 30.02 s"));
}

/// The next item may fail too.
#[test]
fn failures_of_what_takes_one_thing_after_the_other_are_compared_as_they_stand() {
    let is_same = |tool: &str, arguments: &str, one: &str, other: &str| {
        let [one, other] = [one, other].map(|said| facts(tool, arguments, said));
        one.kind == Kind::Failure && one.outcome == other.outcome && one.numbers == other.numbers
    };
    let (one, other) = ("2026-03-04 10:00:01 ERROR timeout", "2026-03-04 10:07:09 ERROR timeout");
    for (tool, arguments) in [
        ("next_job", "{}"),
        ("receive_message", "{}"),
        ("tail_log", r#"{"lines":1}"#),
        ("bash", r#"{"command":"cd /var/log && tail -n 1 app.log"}"#),
        ("bash", r#"{"command":"kubectl logs deploy/web --tail=1"}"#),
    ] {
        assert!(!is_same(tool, arguments, one, other), "{tool} {arguments}");
        assert!(is_same(tool, arguments, one, one), "{tool} {arguments}");
    }
    for (tool, arguments) in [("build", "{}"), ("bash", r#"{"command":"make 2>&1 | tail -n 1"}"#)] {
        assert!(is_same(tool, arguments, one, other), "{tool} {arguments}");
    }
}

#[test]
fn what_is_wrapped_in_tags_and_labels_is_seen() {
    let wrapped =
        |code: u32, said: &str| format!("<returncode>{code}</returncode>\n<output>\n{said}\n</output>");
    assert_eq!(kind("bash", &wrapped(0, "running")), Kind::Waiting);
    assert_eq!(kind("bash", &wrapped(0, "")), Kind::Acknowledgement);
    assert_eq!(kind("bash", &wrapped(1, "the service answered 503")), Kind::Failure);
    assert_eq!(kind("look_up", &wrapped(0, "Paris is the capital of France")), Kind::Content);
    let logs =
        |said: &str| format!("Observation:\nExecution logs:\n{said}\nLast output from code snippet:\nNone");
    assert_eq!(kind("look_up", &logs("running")), Kind::Waiting);
    assert_eq!(kind("look_up", &logs("")), Kind::Acknowledgement, "None");
}

#[test]
fn an_error_code_may_say_that_something_is_still_to_come() {
    for code in ["slow_down", "NOT_YET_AVAILABLE", "report-not-ready", "TooEarly", "busy", "job.in_progress"]
    {
        let said = format!(r#"{{"error": "{code}", "error_description": "See the manual."}}"#);
        assert_eq!(kind("http", &said), Kind::Waiting, "{code}");
    }
    for code in
        ["access_denied", "expired_token", "not_found", "invalid_grant", "the job is pending approval"]
    {
        assert_eq!(kind("http", &format!(r#"{{"error": "{code}"}}"#)), Kind::Failure, "{code}");
    }
}

/// Writes the table into the page with `UPDATE_GOLDEN=1`.
#[test]
fn the_page_has_the_order_of_judging() {
    const BEGIN: &str = "<!-- order of judging: written by cargo test -p sentinel-detect -->\n";
    const END: &str = "<!-- end of the order -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-it-decides.md");
    let page = std::fs::read_to_string(path).unwrap();
    let name = |kind| match kind {
        Kind::Content => "content",
        Kind::Failure => "failure",
        Kind::Empty => "empty",
        Kind::Acknowledgement => "acknowledgement",
        Kind::Waiting => "waiting",
    };
    let rows: String = ORDER.iter().map(|row| format!("| {} | {} |\n", row.when, name(row.kind))).collect();
    let table = format!("\n| what is found first | kind |\n|---|---|\n{rows}\n");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (written, after) = rest.split_once(END).expect("the place has an end");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, [before, BEGIN, &table, END, after].concat()).unwrap();
    } else {
        assert_eq!(written, table, "the page is out of date: UPDATE_GOLDEN=1 writes it");
    }
}
