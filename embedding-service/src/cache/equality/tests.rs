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

fn same(a: &str, b: &str) -> bool {
    // Where no vocabulary is at hand, most slips are mended.
    asks_the_same(a, b, &|_| false)
}

/// Whatever the similarity: no trap has the form of its pair. Many of the true pairs were written for rules that served traps and went.
#[test]
fn no_trap_is_the_same_question() {
    let sets = [
        (include_str!("../../../tests/pairs/traps.jsonl"), 36, 75),
        (include_str!("../../../tests/pairs/own.jsonl"), 28, 125),
        (include_str!("../../../tests/pairs/held_out.jsonl"), 15, 66),
        (include_str!("../../../tests/pairs/hard_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/fresh_traps.jsonl"), 49, 138),
        (include_str!("../../../tests/pairs/later_traps.jsonl"), 92, 190),
        (include_str!("../../../tests/pairs/fourth_traps.jsonl"), 84, 166),
        (include_str!("../../../tests/pairs/fifth_traps.jsonl"), 37, 70),
        (include_str!("../../../tests/pairs/sixth_traps.jsonl"), 41, 100),
        (include_str!("../../../tests/pairs/seventh_traps.jsonl"), 31, 148),
        (include_str!("../../../tests/pairs/eighth_traps.jsonl"), 0, 0),
        (include_str!("../../../tests/pairs/ninth_traps.jsonl"), 152, 488),
        (include_str!("../../../tests/pairs/tenth_traps.jsonl"), 83, 269),
        (include_str!("../../../tests/pairs/eleventh_traps.jsonl"), 50, 270),
    ];
    for (set, least, all) in sets {
        let (mut found, mut missed, mut served) = (0_usize, String::new(), String::new());
        let set = pairs(set);
        for Pair { a, b, same_answer } in &set {
            let is_same = same(a, b);
            assert_eq!(is_same, same(b, a), "symmetric: {a} | {b}");
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

/// What a talk begins and ends with, and contractions: nothing of it asks for something else.
#[test]
fn greetings_fillers_thanks_and_contractions_change_nothing() {
    for (a, b) in [
        ("Hiya, what is the capital of Peru?", "What is the capital of Peru"),
        ("Howdy folks, how do magnets work?", "How do magnets work?"),
        ("Um, what is the capital of Peru? Cheers", "What is the capital of Peru?"),
        ("What is the capital of Peru? Thx!", "What is the capital of Peru?"),
        ("What is the capital of Peru, pls", "What is the capital of Peru?"),
        ("Pls explain recursion", "Explain recursion"),
        ("Could you please tell me why cats purr?", "Why do cats purr?"),
        ("Just wondering, how do magnets work?", "How do magnets work?"),
        ("Just wondering how magnets work", "How do magnets work?"),
        ("I was wondering why cats purr", "Why do cats purr?"),
        ("Out of curiosity, why do cats purr?", "Why do cats purr?"),
        ("What're the symptoms of a cold?", "What are the symptoms of a cold?"),
        ("Why havent we landed on Mars?", "Why haven't we landed on Mars?"),
        ("What should I do if they've left?", "What should I do if they have left?"),
        ("What happens if you're late?", "What happens if youre late?"),
        ("What happened on the 3rd of May 1979?", "What happened on May 3, 1979?"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("Can anyone swim?", "Swim"),
        ("Can someone explain love?", "Explain love"),
        ("Could someone love me?", "Love me"),
        ("Can anyone write a novel?", "Write a novel"),
        ("Hiya is a word", "is a word"),
        ("Cheers, what is it about?", "What is it about?"),
        ("What're you?", "What you?"),
        ("We're late, why?", "Were late, why?"),
        ("What do you say, thx?", "What do you say"),
        ("Just how old is it?", "How old is it?"),
        ("Out of what is it?", "What is it?"),
        ("Is five equal to 5?", "Is 5 equal to 5?"),
        ("Is colour the same as color?", "Is color the same as color?"),
        ("What happened on 3 May 1979?", "What happened on 5 March 1979?"),
        ("Can someone tell me when the train comes?", "When does the train come?"),
        ("Could somebody define class Foo?", "What is class Foo?"),
        ("Im Westen nichts Neues, wer schrieb es?", "I am Westen nichts Neues, wer schrieb es?"),
        ("What've you done?", "What you done?"),
        ("How can my account be charged?", "How to charge my account"),
        ("Are dogs able to enter the park?", "Can dogs enter the park?"),
        ("My dog, cat and bird, what should I do?", "What should I do if my dog, cat and bird?"),
        ("How do you say you love me?", "How do I say you love me?"),
        ("How can you say no?", "How to say no"),
        ("Explain Monday", "What is Monday?"),
        ("Define project scope", "What is project scope?"),
        ("What is the capital of a company?", "What is the capital city of a company?"),
        ("Explain my dream", "What is my dream?"),
        ("Define their relation", "What is their relation?"),
        ("Why doesn't everyone vote?", "Why does everyone not vote?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
}

/// A word in code, in a game of letters, beside a single letter or alone may be meant as it is written, and a number that counts nothing.
#[test]
fn words_that_may_be_meant_as_they_are_written() {
    for (a, b) in [
        ("In CSS, how do I set the colour?", "In CSS, how do I set the color?"),
        ("grep for behaviour", "grep for behavior"),
        ("Does organise have an s?", "Does organize have an s?"),
        ("Does favourite fit in Scrabble?", "Does favorite fit in Scrabble?"),
        ("what is teh", "what is the"),
        ("how do I import reqeusts", "how do I import requests"),
        ("A sign that says seperate", "A sign that says separate"),
        ("Who was musuem?", "Who was museum?"),
        ("Does my logo read buisness?", "Does my logo read business?"),
        ("Who trademarked resturant?", "Who trademarked restaurant?"),
        ("When was captial founded?", "When was capital founded?"),
        ("Why do I always put seperate?", "Why do I always put separate?"),
        ("What does the app do with wrok?", "What does the app do with work?"),
        ("Enter five in the box", "Enter 5 in the box"),
        ("In Python, is five a number?", "In Python, is 5 a number?"),
        ("In bash, what is $5?", "In bash, what is 5 dollars?"),
        ("What is 5% 3?", "What is 5 percent 3?"),
        ("What is the difference between ten and two?", "What is the difference between two and ten?"),
        ("Why's he been late?", "Why is he been late?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    assert!(same("What colour is copper?", "What color is copper?"));
    assert!(same("What are the five great lakes?", "What are the 5 great lakes?"));
}

/// "Hello" may be the song that is asked about, and "how do I" may ask how well somebody does it.
#[test]
fn a_greeting_that_is_meant_and_a_manner_that_is_judged() {
    for (a, b) in [
        ("hello, who sang it?", "who sang it?"),
        ("So what?", "What?"),
        ("um, what is um", "what is um"),
        ("How do I cook compared to my wife?", "How to cook compared to my wife"),
        ("How do I draw for a beginner?", "How to draw for a beginner"),
        ("How do I test positive?", "How to test positive"),
        ("How can a bank be closed on a Monday?", "How to close a bank on a Monday"),
        ("What is the age of Aquarius?", "How old is Aquarius?"),
        ("How much time is a light year?", "How long is a light year?"),
        ("Ways to Rome", "How to Rome"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    assert!(same("How do I repair a bike?", "How to repair a bike"));
    assert!(same("Hey, um, how do I draw a cat?", "How do I draw a cat?"));
}

/// "Don't" is "do not" where a verb can stand, and "what's" is "what is" where it is not "what has".
#[test]
fn a_contraction_is_used_or_spoken_of() {
    for (a, b) in [
        ("Is won't a word?", "Is will not a word?"),
        ("Does the style guide ban can't?", "Does the style guide ban cannot?"),
        ("What does isn't mean", "What does is not mean"),
        ("Why I don't works", "Why I do not works"),
        ("Paint we're closed", "Paint we are closed"),
        ("What's the mouse bitten?", "What is the mouse bitten?"),
        ("Who's she chosen?", "Who is she chosen?"),
        ("How many bytes does it’s take?", "How many bytes does it's take?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("What should I do if the battery won't charge?", "What should I do if the battery will not charge?"),
        ("I don't get why cats purr", "I do not get why cats purr"),
        ("Hey what's the capital of Peru?", "What is the capital of Peru?"),
        ("What’s Peru’s capital?", "What is the capital of Peru?"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

/// A question whether it can be done is no order, what points back may point at the greeting, and how a number is written may be meant.
#[test]
fn what_is_asked_about_stays() {
    for (a, b) in [
        ("Can you summarize podcasts?", "Summarize podcasts"),
        ("Can you translate my heart?", "Translate my heart for me"),
        ("Can you explain the plan to investors?", "Explain the plan to investors"),
        ("Ok, why is that its spelling?", "Why is that its spelling?"),
        ("Hello, did I sound cold?", "Did I sound cold?"),
        ("Say it politely. Thank you.", "Say it politely."),
        ("Into Welsh. Thank you very much.", "Into Welsh."),
        ("Tell me what the fix is before pushing it", "What is the fix before pushing it?"),
        ("Explain how rain forms in two words", "How does rain form in two words?"),
        ("Call Bob?", "Call Bob"),
        ("Tell Bob?", "Tell Bob"),
        ("What is Del.?", "What is Del?"),
        ("When is String?? used", "When is String? used"),
        ("Does the form take 2,000?", "Does the form take 2000?"),
        ("Convert 20% to 20 percent", "Convert 20 percent to 20%"),
        ("Is this right!", "Is this right"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("Can you give me an example of irony?", "Give me an example of irony"),
        ("Hey, how do I boil an egg?", "How do I boil an egg?"),
        ("Name seven seas", "Name 7 seas"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

/// Neighbours of what a fifth round found: what was served is gone as a rule, and not as a case.
#[test]
fn what_a_rule_says_and_no_more() {
    for (a, b) in [
        ("Who has the key opens the door", "Who has the key opens the door?"),
        ("What smells bad is bad", "What smells bad is bad?"),
        ("Who was late had to wait", "Who was late had to wait?"),
        ("Do wash the dishes", "Do wash the dishes?"),
        ("Had a long day", "Had a long day?"),
        ("Hi, what would a pirate reply?", "What would a pirate reply?"),
        ("Good evening, which is warmer?", "Which is warmer?"),
        ("Okay, where does it come from?", "Where does it come from?"),
        ("Hello, put it in capitals", "Put it in capitals"),
        ("Hey, how do cowboys respond?", "How do cowboys respond?"),
        ("Is the mail friendly? Many thanks.", "Is the mail friendly?"),
        ("Print a banner. Thank you.", "Print a banner."),
        ("Which mood is it? Thanks a lot.", "Which mood is it?"),
        ("Make the note shorter. Thank you.", "Make the note shorter."),
        ("Give me the gist. Thanks a lot.", "Give me the gist."),
        ("Can you list the transcendentals?", "List the transcendentals"),
        ("Can you define beauty?", "Define beauty"),
        ("Can you give me a rash?", "Give me a rash"),
        ("Can you write a film about a celebrity?", "Write a film about a celebrity"),
        ("Can you recommend a pupil?", "Recommend a pupil"),
        ("Can you remove a mole at home? Thanks!", "Remove a mole at home."),
        ("I need to know if the heating is on", "Is the heating on?"),
        ("I'd like to know if the price is low", "Is the price low?"),
        ("Explain how bees dance with emojis", "How do bees dance with emojis?"),
        ("Tell me why grass is green quickly", "Why is grass green quickly?"),
        ("I wonder how you could forget", "How could you forget?"),
        ("How do I drive in the snow?", "How to drive in the snow"),
        ("How do I write on a good day?", "How to write on a good day"),
        ("What is the best way to church on foot?", "How to church on foot"),
        ("How often should teachers be paid?", "How often should I pay teachers?"),
        ("How do you say sorry?", "How do I say sorry?"),
        ("What are the reasons that voters trust?", "Why do voters trust?"),
        ("Why do audits occur?", "What causes audits?"),
        ("What are the causes of vegans?", "What causes vegans?"),
        ("What is the length of the cruise?", "How long is the cruise?"),
        ("What is the height of Quito?", "How tall is Quito?"),
        ("How much does a broken heart cost?", "What does a broken heart cost?"),
        ("Who was the author of the coup?", "Who wrote the coup?"),
        ("What is the location of the series?", "Where is the series?"),
        ("Are hens able to eat rice?", "Can hens eat rice?"),
        ("What are the signs of flu?", "What are the symptoms of flu?"),
        ("In Gaza, how do I help doctors?", "How do I help doctors in Gaza?"),
        ("After the storm, what did sailors expect?", "What did sailors expect after the storm?"),
        ("In Peru, who buys gold?", "Who buys gold in Peru?"),
        ("What is the mode of 3,300?", "What is the mode of 3300?"),
        ("What is the gcd of 4,000?", "What is the gcd of 4000?"),
        ("Explain four square", "Explain 4 square"),
        ("Which harm was done?", "What harm was done?"),
        ("Why don't only men vote?", "Why do only not men vote?"),
        ("Explain knee pain", "What is knee pain?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("Hi, how do I peel a mango?", "How do I peel a mango?"),
        ("Good morning! What is osmosis?", "What is osmosis?"),
        ("What is the capital of Mali? Thanks a lot!", "What is the capital of Mali?"),
        ("How do I descale a kettle? Thank you.", "How do I descale a kettle?"),
        ("Can you tell me how glaciers form?", "How do glaciers form?"),
        ("Tell me who invented the telephone", "Who invented the telephone?"),
        ("Do you know what a quark is?", "What is a quark?"),
        ("Can you give me a recipe for bread?", "Give me a recipe for bread"),
        ("Could you write me a poem about snow?", "Write me a poem about snow"),
        ("Can you explain how glaciers form?", "How do glaciers form?"),
        ("In Excel, how do I hide a column?", "How do I hide a column in Excel?"),
        ("how do glaciers form", "How do glaciers form?"),
        ("what is the capital of Mali", "What is the capital of Mali?"),
        ("is Pluto a planet", "Is Pluto a planet?"),
        ("How can I clean a pan?", "How do I clean a pan?"),
        ("Name four oceans", "Name 4 oceans"),
        ("What is 12% of 50?", "What is 12 percent of 50?"),
        ("How come leaves fall", "Why do leaves fall?"),
        (
            "Explain the difference between a frog and a toad",
            "What is the difference between a toad and a frog?",
        ),
        ("What's Chile's population?", "What is the population of Chile?"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

/// What a sixth round found, with neighbours: the smaller of the two texts says less than it seems.
#[test]
fn what_a_text_says_of_itself_and_of_how_it_is_written() {
    for (a, b) in [
        ("Why isn't lying a sin?", "Why is not lying a sin?"),
        ("Why couldn't camels drink for weeks?", "Why could camels not drink for weeks?"),
        ("Why didn't a student come?", "Why did a student not come?"),
        ("What isn't love?", "What is love not?"),
        ("What's the first word of my message?", "What is the first word of my message?"),
        ("How long is my question, please?", "How long is my question?"),
        ("Where does teh come from?", "Where does the come from?"),
        ("Why does the recieve job fail?", "Why does the receive job fail?"),
        ("How many tokens is 15%?", "How many tokens is 15 percent?"),
        ("Write six eggs in capitals", "Write 6 eggs in capitals"),
        ("What's cracking?", "What is cracking?"),
        ("What's a panda like to eat?", "What is a panda like to eat?"),
        ("How rude is sit down, please?", "How rude is sit down?"),
        ("Who wrote yes please?", "Who wrote yes?"),
        ("Suggest a shorter caption, it's late", "Suggest a shorter caption, it is late"),
        ("Does it end in a period, I am here.", "Does it end in a period, I am here"),
        ("Do you know what's strange?", "What's strange?"),
        ("Who is the inventor of the year?", "Who invented the year?"),
        ("What is the size of guid??", "What is the size of guid?"),
        ("In haiku, what is love?", "What is love in haiku?"),
        ("How many bytes has the odour of tar?", "How many bytes has the odor of tar?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("how do i stop hiccups", "How do I stop hiccups?"),
        ("Could you list the noble gases, please?", "List the noble gases."),
        ("Difference between jam and jelly", "What is the difference between jam and jelly?"),
        ("How do I send an e-mail to Mars?", "How do I send an email to Mars?"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

/// What a seventh round found, with neighbours: what follows a word may belong to it, and a noun may be another thing than it seems.
#[test]
fn what_belongs_to_a_word() {
    for (a, b) in [
        ("Why aren't snakes in zoos fed daily?", "Why are snakes not in zoos fed daily?"),
        ("Why wasn't the advice to sell followed?", "Why was the advice not to sell followed?"),
        ("Why isn't quietly leaving rude?", "Why is quietly not leaving rude?"),
        ("Why can't we eat for days?", "Why can we not eat for days?"),
        ("Why doesn't my half fit?", "Why does my half not fit?"),
        ("How come frogs that can jump drown?", "Why can frogs that jump drown?"),
        ("Tell me why people you should trust lie", "Why should people you trust lie?"),
        ("Can you tell me whether cars we can rent crash?", "Can cars we rent crash?"),
        ("I wonder how hard women work", "How do hard women work?"),
        ("Can you tell me how many filters work?", "How do many filters work?"),
        ("Can you tell me what dogs can swim?", "What can dogs swim?"),
        ("In Python, how do I create a course?", "How do I create a course in Python?"),
        ("In Kenya, is there doubt?", "Is there doubt in Kenya?"),
        ("In the hotel, is there an interest?", "Is there an interest in the hotel?"),
        ("In short sentences, explain rhythm", "Explain rhythm in short sentences"),
        ("How do you say your surname in Czech?", "How do I say your surname in Czech?"),
        ("I need info on Tuesday.", "Tell me about Tuesday."),
        ("Explain hypnosis", "Define hypnosis"),
        ("What currency is used in Ecuador?", "What is the currency of Ecuador?"),
        ("What is the capital of Lloyds?", "What is the capital city of Lloyds?"),
        ("Who is the inventor of the Muppets?", "Who invented the Muppets?"),
        ("How far is Ford from Honda?", "What is the distance from Ford to Honda?"),
        ("What is the depth of the Vasa?", "How deep is the Vasa?"),
        ("What was Louis's age?", "What was the age of Louis?"),
        ("What are the steps to scrub with a broom?", "How to scrub with a broom"),
        ("When was the leak discovered?", "In what year was the leak discovered?"),
        ("The fear of death is what?", "What is the fear of death?"),
        (
            "What are the differences between the area of Peru and Chile?",
            "What is the difference between the area of Peru and Chile?",
        ),
        ("Do you mind explaining memes?", "Explain memes."),
        ("Would you mind explaining yourself?", "Explain yourself."),
        ("Can you recommend the film about Nixon?", "Recommend the film about Nixon."),
        ("Can you explain the inexplicable?", "Explain the inexplicable."),
        ("Draw a sign that reads keep off, please", "Draw a sign that reads keep off"),
        ("How do I hang a sign marked stop, please?", "How do I hang a sign marked stop?"),
        ("Write a card about roses. Thank you!", "Write a card about roses."),
        ("Do you know what pain is?", "What is pain?"),
        ("How strange are the ways of men", "How strange are the ways of men?"),
        ("What is said in anger", "What is said in anger?"),
        ("Would you look at that", "Would you look at that?"),
        ("how to save a marriage", "How do I save a marriage?"),
        ("Hello, list the members", "List the members"),
        ("On Java, how do I open a file?", "How do I open a file on Java?"),
        ("Can you recommend a book about love to a child?", "Recommend a book about love to a child"),
        ("If cats, dogs and I die, what happens to the house?", "What happens to the house if cats die?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        ("Why isn't it charging?", "Why is it not charging?"),
        ("At the hotel, is there a pool?", "Is there a pool at the hotel?"),
        ("In Excel, how do I merge cells?", "How do I merge cells in Excel?"),
        ("I wonder what the price of gold was", "What was the price of gold?"),
        ("Can you tell me why dogs can swim?", "Why can dogs swim?"),
        ("I was wondering whether bail is refundable", "Is bail refundable?"),
        ("Explain how a heat pump works.", "How does a heat pump work?"),
        ("Hey there! How do I reverse a list in Python? Thanks!", "How do I reverse a list in Python?"),
        ("How can I merge two dictionaries?", "How do I merge two dictionaries?"),
        ("Good morning, what are the symptoms of mumps?", "What are the symptoms of mumps?"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

/// What an eighth round found, with neighbours: a rule keeps a shape that no word can turn, or goes.
#[test]
fn what_no_word_turns() {
    for (a, b) in [
        (
            "What is the difference between a milk and a dark roast?",
            "What is the difference between a dark roast and a milk?",
        ),
        ("Explain what urgent is", "What is urgent?"),
        ("Would you tell me who the winner was?", "Who was the winner?"),
        ("Give me an overview of four lines", "Summarize four lines"),
        ("Give me a list of the flats in my street on Zillow", "List the flats in my street on Zillow"),
        (
            "If I die, what happens to a son I promised to support?",
            "What happens to a son I promised to support if I die?",
        ),
        ("How do I get to Ines from Support?", "How do I get from Support to Ines?"),
        ("Which senator is honest?", "What senator is honest?"),
        ("What is Planck's radius?", "What is the radius of Planck?"),
        ("How can I get rid of a cousin like that?", "How to get rid of a cousin like that"),
        ("How can I mute the app though it rings?", "How to mute the app though it rings"),
        ("whats brewing", "what is brewing"),
        ("Who's the man?", "Who is the man?"),
        ("What does \"love\" mean?", "What is the meaning of \"love\"?"),
        ("Remind Ann to please her mother?", "Remind Ann to please her mother."),
        ("explain wait please", "explain wait"),
        ("How do I sign tea, please?", "How do I sign tea?"),
        ("Can you explain the rules of any sport?", "Explain the rules of any sport"),
        ("Can you write a sonnet about a real person?", "Write a sonnet about a real person"),
        ("Can you tell me apart?", "Tell me apart"),
        ("Can you tell me if a text is fake?", "Is a text fake?"),
        ("Please find the enclosed form.", "Find the enclosed form."),
        ("Why doesn't she try pilates?", "Why does she not try pilates?"),
        ("define vol.", "define vol"),
        ("What is a convnet?", "What is a convent?"),
        ("How does mosquitto work?", "How does mosquito work?"),
        ("emergancy numbers in Peru", "emergency numbers in Peru"),
        ("Explain the colour of money", "Explain the color of money"),
        ("Give me four tops", "Give me 4 tops"),
        ("Should i start at zero?", "Should I start at zero?"),
        ("Tell me why they upset the plan", "Why do they upset the plan?"),
    ] {
        assert!(!same(a, b), "{a} | {b}");
    }
    for (a, b) in [
        (
            "What is the difference between dogs and wolves?",
            "What is the difference between wolves and dogs?",
        ),
        ("Could you tell me who invented the zipper?", "Who invented the zipper?"),
        ("How can I unlock my phone?", "How to unlock my phone"),
        ("What's the boiling point of water?", "What is the boiling point of water?"),
        ("What's a quasar?", "What is a quasar?"),
        ("Why isn't it raining?", "Why is it not raining?"),
        ("What is the captial of Peru?", "What is the capital of Peru?"),
        ("How do I clean my accomodation?", "How do I clean my accommodation?"),
        ("how do i peel a mango", "How do I peel a mango?"),
        ("Can you explain why leaves fall?", "Explain why leaves fall"),
    ] {
        assert!(same(a, b), "{a} | {b}");
    }
}

#[test]
fn a_slip_is_mended_only_where_one_word_can_be_meant() {
    let vocabulary = |word: &str| ["effects", "defects", "capital", "candle", "cancel"].contains(&word);
    let same = |a: &str, b: &str| asks_the_same(a, b, &vocabulary);
    assert!(same("What is the captial of Peru?", "What is the capital of Peru?"));
    assert!(!same("How do I cancle an order?", "How do I cancel an order?"), "or a candle");
    assert!(!same("What are the efects of rain?", "What are the effects of rain?"), "or defects");
}

#[test]
fn long_texts_and_odd_ones_equal_only_themselves() {
    let long = format!("What is {}?", "a very ".repeat(200));
    assert!(same(&long, &long) && !same(&long, &long.replace('?', "")));
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
        assert_eq!(same(a, b), same(b, a), "{a:?} | {b:?}");
        assert!(same(a, a));
    }
    assert!(!same("What is \u{200b}x?", "What is x?"));
}

/// A rule that can never fit is a mistake in the file.
#[test]
fn every_rule_changes_something() {
    for line in include_str!("changes.txt").lines().filter(|line| line.contains("=>")) {
        let (from, to) = line.split_once("=>").unwrap();
        assert_ne!(from.trim(), to.trim(), "{line}");
        for place in
            to.split_whitespace().filter(|place| place.contains('|') || place.chars().all(char::is_uppercase))
        {
            assert!(
                from.split_whitespace().any(|given| given.trim_end_matches('?') == place),
                "{place} in {line}"
            );
        }
    }
}
