use serde_json::{Value, json};

use super::*;
use crate::step::Kind;

/// What is read borrows from the body and the conversation, which are never freed here.
fn read_in(dialect: &str, body: &Value) -> Reading<'static> {
    let dialect = sentinel_llm_api::registry::by_label(dialect).unwrap();
    let (body, policy): (&'static str, _) = (body.to_string().leak(), StepsPolicy::default());
    let conversation =
        Box::leak(Box::new(sentinel_llm_api::registry::read(dialect, body.as_bytes()).unwrap()));
    Reading::of(conversation, Reach::of(&policy, 0).with_context(true)).unwrap()
}

fn chat(messages: &[(&str, &str)]) -> Reading<'static> {
    let messages: Vec<_> =
        messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    read_in("openai_chat", &json!({ "messages": messages }))
}

fn prompt_of<'r>(reading: &'r Reading<'_>) -> Option<&'r str> {
    match &reading.tail {
        Tail::Prompt(prompt) => Some(&prompt.text),
        Tail::Other => None,
    }
}

const RAIN: &str = "Observation: it rains";

#[test]
fn an_observation_counts_only_after_an_action() {
    let stray = chat(&[("user", RAIN)]);
    assert_eq!((prompt_of(&stray), stray.steps().all.len()), (Some(RAIN), 0));
    let paired = chat(&[("user", "Well?"), ("assistant", "Action: look[out]"), ("user", RAIN)]);
    assert_eq!((prompt_of(&paired), paired.steps().all.len(), paired.turns_alone), (None, 1, 1));
    assert_eq!(paired.steps().all[0].tool, "look");
}

#[test]
fn an_action_and_its_observation_in_the_assistants_own_text_are_a_step() {
    let turn = ("assistant", "Thought: hm\nAction: look\nAction Input: out\nObservation: it rains");
    let reading = chat(&[("user", "Well?"), turn, turn, turn]);
    assert_eq!(reading.steps().current().len(), 3);
}

#[test]
fn a_run_written_down_in_one_users_text_is_one() {
    let round = "Thought: again\nAction: look\nAction Input: out\nObservation: it rains\n";
    let reading = chat(&[("system", "Do well."), ("user", &format!("Question: Well?\n{}", round.repeat(3)))]);
    assert_eq!((reading.steps().current().len(), prompt_of(&reading)), (3, None));
    let asked = format!("Question: Well?\n{}Final Answer: rain\nAnd what about tomorrow?", round.repeat(3));
    let sections = "[[ ## tool_name_0 ## ]]\nlook\n\n[[ ## observation_0 ## ]]\nit rains\n";
    assert_eq!(chat(&[("user", sections)]).steps().current().len(), 1);
    assert_eq!(chat(&[("user", &asked)]).steps().current().len(), 3);
}

/// A call of `f` with its result, and what stands beside the result.
fn anthropic_turn(beside: Option<&str>) -> [Value; 2] {
    let mut told = vec![json!({"type": "tool_result", "tool_use_id": "t", "content": "x"})];
    told.extend(beside.map(|text| json!({"type": "text", "text": text})));
    [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}),
        json!({"role": "user", "content": told}),
    ]
}

#[test]
fn a_text_beside_results_is_no_new_word() {
    let messages: Vec<Value> =
        (0..3).flat_map(|n| anthropic_turn(Some(&format!("{n} tokens are left")))).collect();
    let reading = read_in("anthropic", &json!({ "messages": messages }));
    assert_eq!((reading.steps().current().len(), reading.turns_alone, prompt_of(&reading)), (3, 3, None));
}

#[test]
fn the_first_text_beside_results_after_several_without_is_a_users_word() {
    let mut messages: Vec<Value> = (0..3).flat_map(|_| anthropic_turn(None)).collect();
    messages.extend(anthropic_turn(Some("Stop now and sum up.")));
    let current =
        |messages: &[Value]| read_in("anthropic", &json!({ "messages": messages })).steps().current().len();
    assert_eq!(current(&messages), 0);
    messages.extend(anthropic_turn(Some("Stop it, I say.")));
    assert_eq!(current(&messages), 1);
}

#[test]
fn a_reminder_between_steps_begins_a_new_count_once() {
    let turns = |reminders: &[&str]| {
        let mut messages = vec![json!({"role": "user", "content": "Go"})];
        for reminder in reminders {
            messages.extend(anthropic_turn(None));
            messages.push(json!({"role": "user", "content": reminder}));
        }
        messages.extend(anthropic_turn(None));
        read_in("anthropic", &json!({ "messages": messages })).steps().current().len()
    };
    assert_eq!(turns(&["continue", "continue", "continue"]), 3);
    assert_eq!(turns(&["You have 9 turns left", "You have 8 turns left", "You have 7 turns left"]), 3);
    assert_eq!(turns(&["continue", "yes", "Ok, go ahead"]), 3);
    assert_eq!(turns(&["It is Mon 3 Mar 2026", "It is Tue 4 Mar 2026", "It is Fri 3 Apr 2026"]), 3);
    assert_eq!(
        turns(&["[msg_a81hs7f2k1lq] go on", "[msg_b71jd8s3m2xz] go on", "[msg_c61kf9d4n3yw] go on"]),
        3
    );
    assert_eq!(turns(&["Check the flight HSR97W", "Check the flight FDZ0T5"]), 1);
    assert_eq!(turns(&["continue", "and now the other one", "and then the last"]), 1);
}

#[test]
fn what_ends_a_conversation() {
    let reading = read_in(
        "anthropic",
        &json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}),
    );
    assert_eq!((prompt_of(&reading), reading.head), (Some("a\nb"), None));
    let known = chat(&[("user", "Again?"), ("assistant", "Yes."), ("user", "Again?")]);
    let Tail::Prompt(Prompt { context: Some(context), .. }) = known.tail else { panic!("no prompt") };
    assert_eq!(context.earlier.len(), 1);
}

#[test]
fn the_calls_whose_results_are_new() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]});
    let told = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    let (user, said) =
        (json!({"role": "user", "content": "Go on"}), json!({"role": "assistant", "content": "Well."}));
    let done = |messages: &[&Value]| read_in("openai_chat", &json!({ "messages": messages })).done().len();
    assert_eq!(done(&[&user, &call, &told]), 1);
    assert_eq!(done(&[&user, &call, &told, &user]), 1);
    assert_eq!(done(&[&user, &call, &told, &said, &user]), 0);
}

fn exchanges(texts: &[(&str, &str)]) -> Vec<crate::step::Step<'static>> {
    let mut messages = vec![("user", "Mend the bug.")];
    messages.extend(texts.iter().flat_map(|(said, told)| [("assistant", *said), ("user", *told)]));
    chat(&messages).exchanges.all
}

#[test]
fn an_exchange_is_known_by_its_last_block_and_its_answer() {
    let said =
        ["First this.\n```\nls\n```\nNo:\n```sh\nmake test\n```", "Once more.\n```sh\nmake test\n```\nDone."];
    let found = exchanges(&[(said[0], "error: 3 tests failed"), (said[1], "error: 3 tests failed")]);
    assert!(found[1].is_like(&found[0]) && found[1].kind() == Kind::Failure, "{found:?}");
    let found = exchanges(&[("Shall I go on?", "yes"), ("Shall I go on?", "yes")]);
    assert_eq!(found[1].kind(), Kind::Acknowledgement);
    assert!(exchanges(&[("One", "go"), ("Two", "go"), ("Three", "go")]).is_empty(), "nothing is said twice");
    let other = exchanges(&[("Look", "a page of text for you"), ("Look", "another page of text")]);
    assert!(!other[0].is_like(&other[1]));
}

#[test]
fn new_actions_that_fail_are_exchanges_too() {
    let fails = [("ls /a", "ls: /a: Permission denied"), ("ls /b", "ls: /b: Permission denied")];
    assert_eq!(exchanges(&fails).len(), 2);
    assert!(exchanges(&[fails[0], ("ls /c", "notes.txt")]).is_empty(), "the last one brings something");
    let texts = [("user", "Look."), ("assistant", "ls /a"), ("user", fails[0].1), ("assistant", "ls /b")];
    let and_more = [texts.as_slice(), &[("user", fails[1].1), ("user", "Look in /home instead.")]].concat();
    assert!(chat(&and_more).exchanges.all.is_empty(), "the user says something new");
}

#[test]
fn calls_that_are_written_down_have_new_ids_each_time() {
    let call = |n: usize| {
        format!(
            "Let me look {n}.\nCalling tools:\n[{{'id': 'call_{n}', 'function': {{'name': 'look', 'arguments': 'out'}}}}]"
        )
    };
    let (one, two) = (call(1), call(2));
    let found = exchanges(&[
        (&one, "Call id: call_1\nError:\nit is dark"),
        (&two, "Call id: call_2\nError:\nit is dark"),
    ]);
    assert!(found[1].is_like(&found[0]) && found[1].kind() == Kind::Failure, "{found:?}");
    let (one, two) = ("open the file with the id 7 and read it", "open the file with the id 8 and read it");
    assert!(exchanges(&[(one, "a text"), (two, "a text")]).is_empty(), "what an agent names itself counts");
}

#[test]
fn an_agent_that_speaks_on_without_an_answer() {
    let said = ("assistant", "I will now look at the file again.");
    let found = chat(&[("user", "Go"), said, said, said]).exchanges.all;
    assert!(
        found.len() == 3 && found.iter().all(|step| step.is_like(&found[0]) && step.kind() == Kind::Content)
    );
}

/// Text, nudge, text, nudge: a loop, also after tool steps. What lay between the tool steps does not count.
#[test]
fn what_is_said_since_the_last_call_is_an_exchange() {
    let talk = |messages: &mut Vec<Value>| {
        for _ in 0..4 {
            messages.push(json!({"role": "assistant", "content": "I shall look at it again."}));
            messages.push(json!({"role": "user", "content": "You did not call a tool. Call one."}));
        }
    };
    let mut messages = anthropic_turn(None).to_vec();
    talk(&mut messages);
    let exchanges =
        |messages: &[Value]| read_in("anthropic", &json!({ "messages": messages })).exchanges.all.len();
    assert_eq!(exchanges(&messages), 4);
    messages.extend(anthropic_turn(None));
    assert_eq!(exchanges(&messages), 0);
}

#[test]
fn a_bare_text_is_a_command_only_of_an_agent_without_tools() {
    let acts = |before: &[Value], said: &str| {
        let pair =
            [json!({"role": "assistant", "content": said}), json!({"role": "user", "content": "tick"})];
        let messages: Vec<&Value> = before.iter().chain(&pair).chain(&pair).collect();
        read_in("anthropic", &json!({ "messages": messages })).exchanges.all[1].acts
    };
    assert!(acts(&[], "cat b.py") && !acts(&anthropic_turn(None), "cat b.py"));
    assert!(acts(&[], "```\nls\n```") && acts(&anthropic_turn(None), "```\nls\n```"));
}

/// What the repeated action proves is judged in the history.
#[test]
fn what_came_of_a_written_action_is_no_new_prompt() {
    let is_observation = |said: &str| {
        let reading = chat(&[
            ("user", "Watch."),
            ("assistant", said),
            ("user", "step 1"),
            ("assistant", said),
            ("user", "step 2"),
        ]);
        crate::prompts::IncomingPrompt::of(&reading).unwrap().is_observation
    };
    assert!(is_observation("```bash\ncat progress.txt\n```") && is_observation(r#"{"cmd": "step"}"#));
    assert!(!is_observation("I see that it goes on."));
}

#[test]
fn what_changes_beside_a_nudge_does_not_hide_it() {
    let messages: Vec<Value> = (0..3)
        .flat_map(|n| {
            let details = format!("<environment_details>\n{n} files are open\n</environment_details>");
            let told = json!([{"type": "text", "text": "You did not use a tool."}, {"type": "text", "text": details}]);
            [
                json!({"role": "assistant", "content": "I am done with it, as far as I can see."}),
                json!({"role": "user", "content": told}),
            ]
        })
        .collect();
    let found = read_in("anthropic", &json!({ "messages": messages })).exchanges.all;
    assert!(!found[0].is_like(&found[2]) && found[0].is_alike(&found[2]));
}

#[test]
fn an_answer_ends_a_task_and_a_re_ask_does_not() {
    let counted = |between: &[(&str, &str)]| {
        let mut messages = vec![json!({"role": "user", "content": "Check the backups."})];
        for _ in 0..3 {
            messages.extend(anthropic_turn(None));
            messages.extend(between.iter().map(|(role, text)| json!({"role": role, "content": text})));
        }
        messages.extend(anthropic_turn(None));
        let steps = read_in("anthropic", &json!({ "messages": messages }));
        let steps = steps.steps();
        (steps.current().len(), steps.begins.last().is_some_and(|begin| begin.is_answered))
    };
    let ask = ("user", "Check the backups.");
    assert_eq!(counted(&[("assistant", "All backups are fine."), ask]), (1, true));
    assert_eq!(counted(&[("assistant", "There is no news yet."), ("user", "any news?")]), (1, true));
    for sign in ["HEARTBEAT_OK", "all quiet", "0", "[no alerts]", r#"{"alerts": 0}"#] {
        assert_eq!(counted(&[("assistant", sign), ask]), (1, true), "who calls tools answers with {sign}");
    }
    assert_eq!(counted(&[ask]), (4, false), "a framework asks again");
    assert_eq!(counted(&[("assistant", "```\nls\n```"), ask]), (4, false), "an action is no answer");
    assert_eq!(counted(&[("assistant", ""), ask]), (4, false), "nor is nothing");
}

#[test]
fn what_was_asked_for_holds_until_it_is_answered() {
    let asked = |between: &[(&str, &str)]| {
        let mut messages = vec![json!({"role": "user", "content": "Run the tests 10 times."})];
        messages.extend(anthropic_turn(None));
        messages.extend(between.iter().map(|(role, text)| json!({"role": role, "content": text})));
        messages.extend(anthropic_turn(None));
        read_in("anthropic", &json!({ "messages": messages })).steps().task.asked()
    };
    let word = ("user", "Tell me the slowest one, too.");
    assert_eq!(asked(&[]), Asked::Times(10));
    assert_eq!(asked(&[word]), Asked::Times(10));
    assert_eq!(asked(&[("user", "Or rather 20 times.")]), Asked::Times(20));
    assert_eq!(asked(&[("assistant", "All of them have passed."), word]), Asked::NotSaid);
}

#[test]
fn a_long_text_is_compared_by_the_normal_form_of_its_beginning_and_by_the_rest() {
    let long = |first: u32, last: u32| {
        digest_of_word(&format!("Step {first}. {}é Step {last}.", "word ".repeat(2_000)))
    };
    assert_eq!(digest_of_word("Step 3 of 9"), digest_of_word("step 4  of 9"));
    assert_eq!(long(1, 7), long(2, 7));
    assert_ne!(long(1, 7), long(1, 8));
    assert_ne!(digest_of_word("Go on"), digest_of_word("Stop"));
}
