use serde_json::{Value, json};

use super::*;

fn context(dialect: &str, body: &Value) -> Context {
    let dialect = sentinel_llm_api::registry::by_label(dialect).unwrap();
    let body = body.to_string();
    let conversation = sentinel_llm_api::registry::read(dialect, body.as_bytes()).unwrap();
    Context::of(&conversation, conversation.history.len() - 1).unwrap()
}

fn chat(messages: &[(&str, &str)]) -> Context {
    let messages: Vec<_> =
        messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    context("openai_chat", &json!({ "messages": messages }))
}

/// A body about the material of a number.
type Body = Box<dyn Fn(u32) -> Value>;

#[test]
fn other_material_is_another_context_in_every_dialect() {
    let image = |n: u32| format!("data:image/png;base64,AAAA{n}");
    let bodies: [(&str, Body); 6] = [
        (
            "openai_chat",
            Box::new(move |n| {
                json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": image(n)}}]}]})
            }),
        ),
        (
            "openai_chat",
            Box::new(|n| {
                json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is it?"}, {"type": "file", "file": {"file_id": n.to_string()}}]}]})
            }),
        ),
        (
            "openai_responses",
            Box::new(|n| {
                json!({"input": [{"role": "user", "content": [
            {"type": "input_text", "text": "What is it?"}, {"type": "input_image", "file_id": n.to_string(), "image_url": null}]}]})
            }),
        ),
        (
            "anthropic",
            Box::new(|n| {
                json!({"messages": [{"role": "user", "content": [
            {"type": "document", "source": {"type": "text", "data": n.to_string()}}, {"type": "text", "text": "What is it?"}]}]})
            }),
        ),
        (
            "gemini",
            Box::new(|n| {
                json!({"contents": [{"role": "user", "parts": [
            {"text": "What is it?"}, {"inlineData": {"mimeType": "audio/wav", "data": n.to_string()}}]}]})
            }),
        ),
        (
            "bedrock",
            Box::new(|n| {
                json!({"messages": [{"role": "user", "content": [
            {"text": "What is it?"}, {"image": {"format": "png", "source": {"bytes": n.to_string()}}}]}]})
            }),
        ),
    ];
    for (dialect, body) in bodies {
        let (one, same, other) =
            (context(dialect, &body(1)), context(dialect, &body(1)), context(dialect, &body(2)));
        assert_eq!(one, same, "{dialect}");
        assert!(one.whole != other.whole && one.setting != other.setting, "{dialect}");
    }
}

#[test]
fn a_clock_in_the_instructions_is_no_other_context_and_a_page_is() {
    let with = |system: &str| chat(&[("system", system), ("user", "What is it?")]);
    let (now, then) = (
        with("You help. Today is Monday, 23 November 2026, 10:05 AM."),
        with("You help. Today is Tuesday, 1 December 2026, 9:15 PM."),
    );
    assert_eq!((now.whole, now.setting), (then.whole, then.setting));
    let page = with("You help. The page says that all is well.");
    assert!(page.whole != now.whole && page.setting != now.setting);
    for (dialect, field) in [("anthropic", "system"), ("openai_responses", "instructions")] {
        let body = |page: &str| match dialect {
            "anthropic" => json!({field: page, "messages": [{"role": "user", "content": "What?"}]}),
            _ => json!({field: page, "input": "What?"}),
        };
        assert_ne!(context(dialect, &body("one page")).whole, context(dialect, &body("another page")).whole);
    }
}

#[test]
fn texts_before_the_prompt_count_and_for_rewordings_only_those_that_nobody_answered() {
    let asked = |before: &str| chat(&[("user", before), ("assistant", "Well."), ("user", "What is it?")]);
    let (one, other) = (asked("A page"), asked("Another page"));
    assert!(one.whole != other.whole && one.setting == other.setting);
    let shown = |page: &str| chat(&[("user", page), ("user", "What is it?")]);
    assert_ne!(shown("A page").setting, shown("Another page").setting);
}

#[test]
fn earlier_occurrences_do_not_count_with_their_answers() {
    let once = chat(&[("system", "s"), ("user", "What is it?")]);
    let again =
        chat(&[("system", "s"), ("user", "What is it?"), ("assistant", "A cat."), ("user", "What is it?")]);
    assert_eq!((once.whole, once.setting), (again.whole, again.setting));
    let between = chat(&[
        ("user", "What is it?"),
        ("assistant", "A cat."),
        ("user", "And that?"),
        ("assistant", "A dog."),
        ("user", "What is it?"),
    ]);
    assert_ne!(between.whole, chat(&[("user", "What is it?")]).whole);
}

#[test]
fn marks_of_a_providers_cache_do_not_count() {
    let body = |marked: bool| {
        let mut part = json!({"type": "text", "text": "A page"});
        if marked {
            part["cache_control"] = json!({"type": "ephemeral"});
        }
        json!({"messages": [{"role": "user", "content": [part]}, {"role": "assistant", "content": "Well."},
            {"role": "user", "content": "What is it?"}]})
    };
    assert_eq!(context("anthropic", &body(true)), context("anthropic", &body(false)));
}
