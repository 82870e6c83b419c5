//! Long prompts on the real model: bounded work, and a difference anywhere is a difference.

use embedding_service::embed::{
    Tokeniser as _,
    model_files::ModelFiles,
    tokeniser::{LONG_PROMPT_TOKENS, MAX_TOKENS, ModelTokeniser},
    truncation::HEAD_BYTES,
};
use sentinel_proto::v1::CheckLoopRequest;

use crate::support::{Client, Server, model, request, texts};

const INSTRUCTIONS: [&str; 8] = [
    "Summarise this:",
    "Translate the text below into French. Keep the tone friendly and the names as they are.",
    "You are a careful support agent. Read the customer's message and classify it as one of: billing, shipping, \
     technical, account, other. Answer with the class only, in lower case, without any explanation. If several classes \
     fit, choose the one that the customer mentions first. Message:",
    "Summarise the following note in two sentences for a manager who was not there. Keep names and dates, leave out \
     small talk, do not add anything that is not in the note. Write in the past tense and avoid bullet points.",
    "Extract the product, the price and the place of delivery and give them as JSON with the keys product, price and \
     place. Use null where the text does not say it.",
    "Review the change below. Say whether it is safe to merge, and list at most three problems, the worst first.",
    "Does this text break the house rules? Rules: be kind; name no private person; give no advice on health; write \
     nothing that could be taken for an advertisement; keep to the topic of the channel; no more than three links; \
     quote your sources. Answer yes or no, and the number of the first rule that is broken. The text:",
    "Fix the spelling and nothing else:",
];

/// As strict as can be: one earlier prompt that matches is a loop.
async fn is_loop(client: &mut Client, run: &str, prompt: &str) -> bool {
    let request = CheckLoopRequest { repeats: 1, ..request(run, prompt) };
    client.check_loop(request).await.unwrap().into_inner().loop_detected
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_templated_prompts_are_no_loop() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    // Of each 25 with one size a half.
    for number in (0..1000).filter(|number| number % 25 < 12) {
        // Neighbours, which are compared, have one instruction, one size and one place of the body.
        let words = [12, 30, 60, 120, 400][number / 25 % 5];
        let body = if words > 100 { texts::page(number, words) } else { texts::report(number, words) };
        let instruction = INSTRUCTIONS[number / 125];
        let prompt = match number / 8 % 3 {
            0 => format!("{body}\n\n{instruction}"),
            1 => {
                let (before, after) = instruction.split_once(' ').unwrap();
                format!("{before} {body} {after}")
            }
            _ => format!("{instruction}\n\n{body}"),
        };
        assert!(!is_loop(&mut client, "batch", &prompt).await, "number {number}: {prompt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_text_repeats_only_itself() {
    let server = Server::start(&[]).await;
    let mut client = server.client().await;
    for words in [100, 200, 1000, 20_000] {
        let page = texts::page(words, words);
        let text: Vec<&str> = page.split_whitespace().collect();
        let run = format!("{words} words");
        assert!(!is_loop(&mut client, &run, &text.join(" ")).await);
        assert!(is_loop(&mut client, &run, &text.join(" ")).await, "{run}: the same");
        assert!(is_loop(&mut client, &run, &text.join("\n\n")).await, "{run}: the same in other lines");
        for part in 0..=8 {
            let mut other = text.clone();
            other[part * (text.len() - 1) / 8] = "marzipan";
            assert!(!is_loop(&mut client, &run, &other.join(" ")).await, "{run}: changed at {part}/8");
        }
    }
}

#[test]
fn the_work_is_bounded() {
    let tokeniser = ModelTokeniser::load(&ModelFiles::find(&model()).unwrap().tokeniser, None).unwrap();
    for text in [
        texts::page(1, 100),
        texts::page(2, 1000),
        "word ".repeat(20_000),
        "x".repeat(100_000),
        "a,b;c.".repeat(20_000),
        "語".repeat(50_000),
        "🦀".repeat(25_000),
        "w o r d ".repeat(125_000),
        " ".repeat(1_000_000) + "end",
    ] {
        let tokenised = tokeniser.tokenise(&text).unwrap();
        assert!((2..=MAX_TOKENS).contains(&tokenised.token_ids.len()), "{}", tokenised.token_ids.len());
        assert!(tokenised.unseen.is_none() || tokenised.token_ids.len() <= MAX_TOKENS);
        assert!(tokenised.head.len() <= HEAD_BYTES);
        if text.split_whitespace().count() > MAX_TOKENS {
            assert_eq!(tokenised.token_ids.len(), LONG_PROMPT_TOKENS);
        }
    }
}
