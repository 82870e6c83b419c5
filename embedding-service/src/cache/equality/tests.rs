use std::fmt::Write as _;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    same_answer: bool,
}

fn pairs(of: &str) -> Vec<Pair> {
    of.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn are(expected: bool, pairs: &[(&str, &str)]) {
    let is_wrong =
        |(a, b): &&(&str, &str)| asks_the_same(a, b) != expected || asks_the_same(b, a) != expected;
    let wrong: Vec<_> = pairs.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "not {expected}: {wrong:#?}");
}

/// No trap has the form of its pair, so no similarity can serve it. Many of the true pairs were written for rules that were removed because
/// they served traps.
#[test]
fn no_trap_is_the_same_question() {
    let sets = [
        (include_str!("../../../tests/pairs/traps.jsonl"), 23, 75),
        (include_str!("../../../tests/pairs/own.jsonl"), 15, 125),
        (include_str!("../../../tests/pairs/held_out.jsonl"), 8, 66),
        (include_str!("../../../tests/pairs/hard_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/fresh_traps.jsonl"), 28, 138),
        (include_str!("../../../tests/pairs/later_traps.jsonl"), 54, 190),
        (include_str!("../../../tests/pairs/fourth_traps.jsonl"), 45, 166),
        (include_str!("../../../tests/pairs/fifth_traps.jsonl"), 28, 70),
        (include_str!("../../../tests/pairs/sixth_traps.jsonl"), 24, 100),
        (include_str!("../../../tests/pairs/seventh_traps.jsonl"), 20, 148),
        (include_str!("../../../tests/pairs/eighth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/ninth_traps.jsonl"), 57, 488),
        (include_str!("../../../tests/pairs/tenth_traps.jsonl"), 29, 269),
        (include_str!("../../../tests/pairs/eleventh_traps.jsonl"), 33, 270),
        (include_str!("../../../tests/pairs/twelfth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/thirteenth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/fourteenth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/fifteenth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/seventeenth_pairs.jsonl"), 30, 150),
        (include_str!("../../../tests/pairs/sixteenth_traps.jsonl"), 35, 100),
    ];
    for (set, least, all) in sets {
        let (mut found, mut missed, mut served) = (0_usize, String::new(), String::new());
        let set = pairs(set);
        for Pair { a, b, same_answer } in &set {
            let is_same = asks_the_same(a, b);
            assert_eq!(is_same, asks_the_same(b, a), "symmetric: {a} | {b}");
            match (same_answer, is_same) {
                (true, true) => found += 1,
                (true, false) => writeln!(missed, "{a} | {b}").unwrap(),
                (false, true) => writeln!(served, "{a} | {b}").unwrap(),
                (false, false) => {}
            }
        }
        assert!(served.is_empty(), "traps served:\n{served}");
        assert_eq!(set.iter().filter(|pair| pair.same_answer).count(), all);
        assert!(found >= least, "{found} found, missed:\n{missed}");
    }
}

#[test]
fn what_each_rule_serves() {
    are(
        true,
        &[
            // The capital of the first word, and the mark at the end.
            ("how do i peel a mango", "How do I peel a mango?"),
            ("what is the capital of Mali", "What is the capital of Mali?"),
            ("how do glaciers form", "How do glaciers form?"),
            ("Write a poem about spring.", "write a poem about spring"),
            // Greetings and thanks.
            ("Hi, how do I peel a mango?", "How do I peel a mango?"),
            ("Hey! What is the capital of Peru?", "What is the capital of Peru"),
            ("Hey, um, how do I prune a lemon tree?", "How do I prune a lemon tree?"),
            ("Greetings, what are the symptoms of mumps?", "What are the symptoms of mumps?"),
            (
                "Hi there, how do I reset the password for my account? Thanks!",
                "How do I reset the password for my account?",
            ),
            ("How do I descale a kettle? Thank you.", "How do I descale a kettle?"),
            (
                "Hello team! Where can I see my past orders? Thanks in advance.",
                "Where can I see my past orders?",
            ),
            ("Sorry to bother you, what is a quark?", "What is a quark?"),
            ("Hi there, why do dogs bark at night?", "Why do dogs bark at night?"),
            ("Hi, how do I update my billing address?", "How do I update my billing address?"),
            ("What are your opening hours?", "what are your opening hours"),
            ("what is the population of norway", "What is the population of Norway?"),
            ("How do I sort a list in python?", "In Python, how can I sort a list?"),
            ("Give me three tips for better sleep.", "give me 3 tips for better sleep"),
            // A question without its mark.
            ("why is the sky blue", "Why is the sky blue?"),
            ("is there a bus to the beach", "Is there a bus to the beach?"),
            ("how many days are in a leap year", "How many days are in a leap year?"),
            ("what is photosynthesis", "What is photosynthesis?"),
            // Who asks so wants the answer.
            ("Tell me who invented the telephone", "Who invented the telephone?"),
            ("Could you please tell me what the capital of Norway is?", "What is the capital of Norway?"),
            ("Do you know what a quark is?", "What is a quark?"),
            ("I was wondering why cats purr", "Why do cats purr?"),
            ("I was wondering whether bail is refundable", "Is bail refundable?"),
            ("Explain how a heat pump works.", "How does a heat pump work?"),
            ("Difference between tea and coffee", "what is the difference between coffee and tea"),
            (
                "Can you explain the difference between a lemon and a lime?",
                "What is the difference between a lime and a lemon?",
            ),
            ("Could you tell me how old the Great Sphinx is?", "How old is the Great Sphinx?"),
            ("Pls explain recursion", "please explain recursion"),
            ("Could you please list the noble gases?", "list the noble gases"),
            // A procedure, and the program where something is done.
            ("How can I merge two dictionaries?", "how to merge two dictionaries"),
            ("How do I descale a kettle with vinegar?", "How to descale a kettle with vinegar"),
            ("In Excel, how do I merge cells?", "How do I merge cells in Excel?"),
            ("At the hotel, is there a pool?", "Is there a pool at the hotel?"),
            ("In France, what is the minimum wage?", "What is the minimum wage in France?"),
            ("What is the emergancy number in Japan?", "What is the emergency number in Japan?"),
            ("I can't log in to my account", "I cannot log in to my account"),
            ("How do I recieve a fax?", "How to receive a fax"),
            ("What is the captial of Canada?", "What is the capital of Canada"),
            ("My card doesn't work.", "My card does not work."),
            ("Which is better, tea or coffee?", "Which is better, coffee or tea?"),
            (
                "What is the difference between baking soda and baking powder?",
                "What is the difference between baking powder and baking soda?",
            ),
            (
                "Please tell me how to unclog a sink without a plunger",
                "How do I unclog a sink without a plunger?",
            ),
            (
                "Could you please tell me what time zone Mauritius is in?",
                "Can you tell me what time zone Mauritius is in?",
            ),
            // Two sides.
            (
                "Explain the difference between a frog and a toad",
                "What is the difference between a toad and a frog?",
            ),
            ("What do whales and bats have in common?", "What do bats and whales have in common?"),
            (
                "Can I take paracetamol and ibuprofen together?",
                "Can I take ibuprofen and paracetamol together?",
            ),
            // Contractions and owners.
            ("whats the capital of Peru", "What is the capital of Peru?"),
            ("What is Peru’s capital?", "What is the capital of Peru?"),
            ("What's a quark?", "What is a quark?"),
            ("Why isn't my sourdough rising?", "Why is my sourdough not rising?"),
            ("I've lost my passport, what should I do?", "I have lost my passport, what should I do?"),
            // Units, dates and counts.
            ("What is 12% of 50?", "What is 12 percent of 50?"),
            ("What happened on the 3rd of May 1979?", "What happened on May 3, 1979?"),
            ("Give me five ideas for a rainy day", "Give me 5 ideas for a rainy day"),
        ],
    );
}

/// A text that is not one plain sentence equals only itself, because it may ask for something to be done to its words.
#[test]
fn only_one_plain_sentence_changes() {
    are(
        false,
        &[
            ("Hi, what is a quark?\nPut it into Latin", "What is a quark?\nPut it into Latin"),
            ("how do I peel a mango?\tcount", "How do I peel a mango?\tcount"),
            ("What is a quark?  Sing", "what is a quark?  Sing"),
            ("What's a quark? Say it backwards.", "What is a quark? Say it backwards."),
            ("How do I bake bread? Stop", "How do I bake bread? Stop?"),
            ("Thanks. What is a quark?", "What is a quark?"),
            ("Hello? What is a quark?", "What is a quark?"),
            (" What is a quark?", "What is a quark?"),
            ("What is a quark? ", "What is a quark?"),
            ("What is a quark ?", "What is a quark?"),
            ("What is a quark?\u{a0}", "What is a quark?"),
            ("Is = 5", "is = 5"),
            ("Do not sort a[0]", "do not sort a[0]"),
            ("Can x be negative", "can x be negative"),
            ("What's in \"a b\"?", "What is in \"a b\"?"),
            ("Should in Ruby, what is it?", "should in Ruby, what is it?"),
        ],
    );
    let long = format!("what is {}", "a very ".repeat(50));
    are(true, &[(&long, &long)]);
    are(false, &[(&long, &long.replace("what", "What"))]);
}

#[test]
fn a_capital_or_a_mark_that_says_something_stays() {
    are(
        false,
        &[
            ("List is deprecated in Python", "list is deprecated in Python"),
            ("Compare is not found in Swift", "compare is not found in Swift"),
            ("Who in bash lists users", "who in bash lists users"),
            ("Where in Haskell binds a value", "where in Haskell binds a value"),
            ("How Democracies Die", "how Democracies Die"),
            ("Will Smith age", "will Smith age"),
            ("Should i start at zero?", "Should I start at zero?"),
            ("What is the difference between int and int?", "What is the difference between int and int"),
            ("How do I match ab10?", "How do I match ab10"),
            ("Is it a float if I type 3.", "Is it a float if I type 3"),
            ("Explain the domain example.com.", "Explain the domain example.com"),
            ("Explain approx.", "Explain approx"),
            ("What is Jeopardy!", "What is Jeopardy"),
            ("Delete the file?", "Delete the file"),
            ("What is done is done", "What is done is done?"),
            ("Why is my business", "Why is my business?"),
            ("Is there a capital at the start?", "is there a capital at the start?"),
            ("How well do I write?", "how well do I write?"),
            ("What is the tone of my inquiry?", "What is the tone of my inquiry"),
            ("How do I change my passcode to hunter?", "How do I change my passcode to hunter"),
            ("Suggest a continuation of the door opened.", "Suggest a continuation of the door opened"),
            ("How small is the world", "How small is the world?"),
            ("What does the trick counts", "What does the trick counts?"),
        ],
    );
}

#[test]
fn a_text_about_writing_equals_only_itself() {
    are(
        false,
        &[
            ("How many capitals does my text have", "how many capitals does my text have"),
            ("Did I start in lower case", "did I start in lower case"),
            ("What's the first word of my message?", "What is the first word of my message?"),
            ("Is there a dot here?", "Is there a dot here"),
            ("Please list the words I sent you", "list the words I sent you"),
            ("How do I set my password to hunter?", "How do I set my password to hunter"),
        ],
    );
}

/// "Hello" may be what is asked about, and thanks may be said in the text.
#[test]
fn a_greeting_goes_only_around_a_whole_question() {
    are(
        false,
        &[
            ("Hello, should I engrave inside my ring?", "Should I engrave inside my ring?"),
            ("Hello, what is the opposite of Goodbye?", "What is the opposite of Goodbye?"),
            ("Hello, how do I encrypt a bit?", "How do I encrypt a bit?"),
            ("Hello, what is a warmer greeting?", "What is a warmer greeting?"),
            ("Um, what is a filler?", "What is a filler?"),
            ("Hi, what would a pirate reply?", "What would a pirate reply?"),
            (
                "What is the difference between a no and a no, thanks",
                "What is the difference between a no and a no",
            ),
            ("How do I sign tea, please?", "How do I sign tea?"),
            ("Say it politely. Thank you.", "Say it politely."),
        ],
    );
}

#[test]
fn what_a_rule_says_and_no_more() {
    are(
        false,
        &[
            (
                "How can I get a bill from a doctor I never saw?",
                "How do I get a bill from a doctor I never saw?",
            ),
            ("How can I remove a stain I never saw?", "How do I remove a stain I never saw?"),
            ("How can I delete a file by accident?", "How do I delete a file by accident?"),
            ("How can I clean a lot?", "How to clean a lot"),
            ("How do I close the best?", "How to close the best"),
            ("In Slack, how do I import a file?", "How do I import a file in Slack?"),
            ("In Python, how do I cancel a class?", "How do I cancel a class in Python?"),
            (
                "How do Rome and Paris differ in the order given",
                "How do Paris and Rome differ in the order given",
            ),
            ("What is the difference between ten and two?", "What is the difference between two and ten?"),
            (
                "What is the difference between a gas and an electric stove?",
                "What is the difference between an electric stove and a gas?",
            ),
            ("Tell me why dogs that can swim drown", "Why do dogs that can swim drown?"),
            ("Tell me why cats purr loudly", "Why do cats purr loudly?"),
            ("Tell me how lawyers argue offhand", "How do lawyers argue offhand?"),
            ("Tell me who found the island next", "Who found the island next?"),
            (
                "Tell me how many kids are in the pool before lunch",
                "How many kids are in the pool before lunch?",
            ),
            ("I was wondering if bakers can bake for a friend", "Can bakers bake for a friend?"),
            ("I've smoked salmon, what can I try?", "I have smoked salmon, what can I try?"),
            ("What's the band used for the intro?", "What is the band used for the intro?"),
            ("Explain how bees dance with emojis", "How do bees dance with emojis?"),
            ("Tell me when dinner is ready", "When is dinner ready?"),
            ("Tell me if mail is spam", "Is mail spam?"),
            ("Can you tell me how clean engines work?", "How do clean engines work?"),
            ("Do you know what love is?", "What is love?"),
            ("Can you write poems?", "Write poems"),
            (
                "Could explain the difference between men and women",
                "What is the difference between men and women",
            ),
            ("What's the mouse bitten?", "What is the mouse bitten?"),
            ("What's good?", "What is good?"),
            ("Why is it not all", "Why isn't it all"),
            ("Give me five guys", "Give me 5 guys"),
            ("What happened on 3 May 1979?", "What happened on 5 March 1979?"),
            ("What is Bohr's radius?", "What is the radius of Bohr?"),
            ("What colour is the live wire?", "What color is the live wire?"),
            ("HMM what is an emission?", "What is an emission?"),
            ("Why doesn't my lawyer advise settling?", "Why does my lawyer advise not settling?"),
            ("How do I enable addicts?", "How to enable addicts"),
            ("How many e's are in my request?", "how many e's are in my request?"),
            ("When is undefined in Kotlin", "when is undefined in Kotlin"),
            ("What is the difference between FF and FE?", "What is the difference between FE and FF?"),
            ("How do I unlock a phone?", "How do I unblock a phone?"),
            ("What is the recieve queue?", "What is the receive queue?"),
            ("What is the size of guid??", "What is the size of guid?"),
            ("How do I relace a shoe?", "How do I replace a shoe?"),
            ("what is the price of china", "What is the price of China?"),
            ("Hey guys, why do some women object?", "Why do some women object?"),
            ("Give me the reverse of apple.", "Give me the reverse of apple"),
            ("In Polish, what is the minimum wage?", "What is the minimum wage in Polish?"),
            ("How should I close a mail? Many thanks?", "How should I close a mail?"),
            ("Is the following fine for a judge? Thanks!", "Is the following fine for a judge?"),
            ("Does a great job on carpets", "Does a great job on carpets?"),
            ("How do you remove a review?", "How do I remove a review?"),
            ("Do you see a capital?", "do you see a capital?"),
            ("Why is the real mystery", "Why is the real mystery?"),
            ("Hello! What does it stand for?", "What does it stand for?"),
            ("In Japan, what is the image of Korea?", "What is the image of Korea in Japan?"),
            ("what is a vertica node", "what is a vertical node"),
        ],
    );
}

#[test]
fn odd_texts_equal_only_themselves() {
    let odd = [
        "",
        " ",
        "?",
        "...",
        "'",
        "\"",
        "``",
        "I",
        "a",
        "The",
        "please",
        "thanks",
        "in , what",
        "\u{0}",
        "İ",
        "ẞ",
        "🦀",
        "What is",
        "how come",
        "the is what",
        "tell me",
        "What is \u{200b}x?",
        "What is x?",
        "from A to B from C",
        ":",
        "?:",
    ];
    for (a, b) in odd.iter().flat_map(|a| odd.iter().map(move |b| (a, b))) {
        assert_eq!(asks_the_same(a, b), a == b, "{a:?} | {b:?}");
    }
}

/// A capital within alternatives, or one that may be missing, would be read as a word.
#[test]
fn a_place_stands_alone() {
    let rules = include_str!("changes.txt").lines().filter(|line| !line.starts_with('#'));
    for place in rules.flat_map(str::split_whitespace).filter(|place| place.contains(['|', '?'])) {
        let is_place = |part: &str| part.len() == 1 && is_capital(part);
        assert!(!place.trim_end_matches('?').split('|').any(is_place), "{place}");
    }
}

/// A place of the right side that the left one does not have is a mistake in the file.
#[test]
fn every_rule_fills_its_places() {
    for line in include_str!("changes.txt").lines().filter(|line| line.contains("=>")) {
        let (from, to) = line.split_once("=>").unwrap();
        for place in to
            .split_whitespace()
            .filter(|place| place.contains('|') || place.len() == 1 && *place != "I" && is_capital(place))
        {
            assert!(
                from.split_whitespace().any(|given| given.trim_end_matches('?') == place),
                "{place} in {line}"
            );
        }
    }
}
