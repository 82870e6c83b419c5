//! What each rule is for, one example or two of each. The set of pairs with figures is the service's (`make eval-cache`).

use super::{Contradiction, contradictions};

/// Every word of the tests but those with a slip.
fn is_known(word: &str) -> bool {
    !["captial", "frnace", "pasword"].contains(&word)
}

fn objections(a: &str, b: &str) -> Vec<&'static str> {
    let found = contradictions(a, b, &is_known);
    assert_eq!(found, contradictions(b, a, &is_known), "the other way round: {a} | {b}");
    found.into_iter().map(Contradiction::as_str).collect()
}

#[test]
fn each_rule_objects_to_what_it_is_for() {
    for (a, b, why) in [
        ("Was kostet ein Hund?", "Was kostet eine Katze?", "language"),
        ("What is it in French?", "What is it in German?", "language"),
        ("Add 15 to 3", "Add 50 to 3", "number"),
        ("How far is 5 km?", "How far is 5 miles?", "unit"),
        ("What happened in May 2020?", "What happened in June 2020?", "date"),
        ("Who is the king of Spain?", "Who was the king of Spain?", "time"),
        ("What to eat before a run?", "What to eat after a run?", "direction"),
        ("Translate 'the old tree'", "Translate 'the old house'", "quote"),
        ("What does `a.b()` do?", "What does `a.c()` do?", "code"),
        ("What is 3 + 4?", "What is 3 * 4?", "sign"),
        ("Tell me about Ada in Rome", "Tell me about Eve in Rome", "name"),
        ("Which drugs are safe?", "Which drugs are not safe?", "negation"),
        ("Delete all files", "Delete files", "quantity"),
        ("What is the largest lake?", "What is the smallest lake?", "comparison"),
        ("Convert euros to dollars", "Convert dollars to euros", "direction"),
        ("Why do cats purr?", "How do cats purr?", "question"),
        ("What are amino acids?", "List amino acids", "question"),
        ("What is a firewall?", "What is a firewall for?", "direction"),
        ("How can I get a refund?", "How can I refund?", "matter"),
        ("Can I eat this?", "Should I eat this?", "modality"),
        ("What is my name?", "What is your name?", "person"),
        ("Explain gravity", "Explain gravity briefly", "format"),
        ("Why do cats purr?", "Why do dogs purr?", "matter"),
    ] {
        let found = objections(a, b);
        assert!(found.contains(&why), "{a} | {b}: {found:?}");
    }
    let long = "word ".repeat(400);
    assert_eq!(objections(&long, &format!("{long} more")), ["length"]);
}

#[test]
fn rewordings_are_served() {
    for (a, b) in [
        ("What is AI?", "Explain artificial intelligence"),
        ("What is the capital of France?", "Could you tell me the capital of France, please?"),
        ("What is the capital of France?", "what's France's capital"),
        ("What is the capital of France?", "What is the captial of Frnace?"),
        ("How do I reset my password?", "What is the way to reset a password?"),
        ("How do I sort a list in Python?", "In Python, how can I sort a list?"),
        ("Flights from Rome to Paris", "Flights to Paris from Rome"),
        (
            "What is the difference between a frog and a toad?",
            "What's the difference between a toad and a frog?",
        ),
        ("How tall is the Eiffel Tower?", "What is the height of the Eiffel Tower?"),
        ("How can I log in?", "how to login"),
        ("Who wrote the report?", "Do you know who wrote the report?"),
        ("Buy 5 cars on May 3rd", "Purchase five automobiles on 3 May"),
        ("Why is the sky blue?", "What makes the sky blue?"),
        ("Was kostet ein Hund?", "was kostet ein Hund"),
    ] {
        assert_eq!(objections(a, b), Vec::<&str>::new(), "{a} | {b}");
    }
}

#[test]
fn relations_are_kept_when_phrases_move() {
    for (a, b) in [
        ("Is Rome larger than Paris?", "Is Paris larger than Rome?"),
        ("Effect of smoking on the price of insurance", "Effect of insurance on the price of smoking"),
        ("Which users with orders have no address?", "Which users with an address have no orders?"),
        ("Does the dog chase the cat?", "Does the cat chase the dog?"),
        ("Emails to Bob", "Emails from Bob"),
    ] {
        assert!(!objections(a, b).is_empty(), "{a} | {b}");
    }
}

#[test]
fn a_word_that_may_be_right_is_no_slip() {
    assert_eq!(objections("What is adsorption?", "What is absorption?"), ["matter"]);
    let none_is_known = |_: &str| false;
    assert_eq!(contradictions("the captial", "the capital", &none_is_known), [Contradiction::Matter]);
}

#[test]
fn small_words_that_matter_are_not_dropped() {
    for (a, b) in [
        ("What is time?", "What is the time?"),
        ("How do you say hello in Greek?", "How do you say thanks in Greek?"),
        ("Translate to Greek: I am happy", "Translate to Greek: you are happy"),
        ("Translate to Greek:\nI see", "Translate to Greek:\nI saw"),
        ("Do you love me?", "Do I love you?"),
        ("Are you a robot?", "Am I a robot?"),
        ("How do I sort a list in R?", "How do I sort a list?"),
        ("Where is the train going?", "Where is the train?"),
        ("What can dogs eat?", "What do dogs eat?"),
        ("Cook rice for 5 minutes", "Cook rice in 5 minutes"),
        ("Tea or coffee for breakfast?", "Tea and coffee for breakfast?"),
        ("Describe yourself in three words", "Describe myself in three words"),
        ("Who is the president?", "Who is the us president?"),
        ("Open at 9 am on Monday?", "Open at 9 pm on Monday?"),
        ("What is in the box?", "What is on the box?"),
        ("Is it legal only in Spain?", "Is it legal in Spain?"),
        ("How many people live in Rome?", "How many live in Rome?"),
    ] {
        assert!(!objections(a, b).is_empty(), "{a} | {b}");
    }
}

#[test]
fn small_words_in_capitals_are_names() {
    assert!(!objections("What does WHO recommend?", "What does who recommend?").is_empty());
    assert!(!objections("Can he visit the US?", "Can he visit us?").is_empty());
    assert!(!objections("What is vitamin A good for?", "What is vitamin D good for?").is_empty());
}

#[test]
fn any_two_texts_can_be_compared() {
    let odd = [
        "",
        " ",
        "?",
        "'",
        "'s",
        "a",
        "not",
        "🦀",
        "请继续",
        "what",
        "of of of",
        "-",
        "5",
        "\u{0}",
        "İ",
        "what is",
    ];
    for (a, b) in odd.iter().flat_map(|a| odd.iter().map(move |b| (a, b))) {
        let found = contradictions(a, b, &is_known);
        assert!(a != b || found.is_empty(), "{a:?}");
        assert_eq!(found, contradictions(b, a, &is_known), "{a:?} | {b:?}");
    }
}
