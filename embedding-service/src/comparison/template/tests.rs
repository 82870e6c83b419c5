//! Pairs of prompts of both sorts, and nothing else: what one agent may ask in a batch, and what it may ask again in other words.

use super::is_template_variant;

/// One template, other values. None of these is evidence of a loop.
const BATCHES: [(&str, &str); 62] = [
    // Numbers, ids, dates.
    ("Process order 17", "Process order 18"),
    ("book 3", "book 4"),
    ("Please cancel reservation HSR97W now", "Please cancel reservation FDZ0T5 now"),
    ("Write the report for 2024-05-11", "Write the report for 2024-05-12"),
    ("What happened on May 3rd?", "What happened on May 4th?"),
    ("Add 5 and 7, then round the result", "Add 6 and 9, then round the result"),
    ("Show the log of job_17", "Show the log of job_18"),
    // Names.
    ("Cancel the order for John today", "Cancel the order for Mary today"),
    ("What's John's balance?", "What's Mary's balance?"),
    ("Send the invoice to Jon Adam", "Send the invoice to Jon Adams"),
    ("Meet Will on Friday at the office", "Meet May on Friday at the office"),
    ("Translate the letter into French, please", "Translate the letter into German, please"),
    ("What is the weather like in Paris today?", "What is the weather like in London today?"),
    ("Find flights from Rome to Paris", "Find flights from Paris to Rome"),
    ("Compare Apple with Google in three sentences", "Compare Google with Apple in three sentences"),
    ("Look up the share price of Siemens", "Look up the share price of Toyota"),
    ("look up mary in the database", "look up john in the database"),
    // Nouns.
    ("Translate tree", "Translate house"),
    ("Translate to French: the old tree", "Translate to French: the old house"),
    ("Why does the login fail?", "Why does the checkout fail?"),
    ("Why does the login fail?", "Why is the checkout failing?"),
    (
        "Why does the login page fail on the second machine?",
        "Why is the checkout page failing on the second machine?",
    ),
    ("Please check the login of our shop", "Please verify the checkout of our shop"),
    ("Write a poem about a dog", "Write a poem about the cat"),
    (
        "Is this review about food or about service: cold soup",
        "Is this review about food or about service: slow waiter",
    ),
    ("Draw a red circle", "Draw a red square"),
    ("Describe the kettle for the catalogue", "Describe the laptop for the catalogue"),
    ("How many calories are in a bowl of rice?", "How many calories are in a bowl of soup?"),
    ("List three facts about biology", "List three facts about chemistry"),
    ("Process tuesday now", "Process monday now"),
    ("Email the marketing manager the figures", "Email the legal manager the figures"),
    ("What is the latency of the service?", "What is the throughput of the service?"),
    // Adjectives and opposites.
    ("Find me a red dress", "Find me a blue dress"),
    ("Chinese shares close higher on Tuesday", "Chinese shares close lower on Wednesday"),
    ("Write it in a happy tone", "Write it in a sad tone"),
    ("Show the open tickets of this week", "Show the closed tickets of this week"),
    ("Is the first answer right?", "Is the second answer right?"),
    ("Look up left in the list of words", "Look up down in the list of words"),
    // Verbs that do something else.
    ("Enable the alarm for the back door", "Disable the alarm for the back door"),
    ("Open the valve slowly", "Close the valve slowly"),
    ("Encrypt the file for me", "Decrypt the file for me"),
    ("Delete the branch feature-login", "Rename the branch feature-login"),
    ("Upload the archive", "Download the archive"),
    ("Please increase the price of the kettle", "Please reduce the price of the kettle"),
    // Function words that make another request of it.
    ("Turn on the light in the hall", "Turn off the light in the hall"),
    ("Move the chart up a little", "Move the chart down a little"),
    ("List what was done before the release", "List what was done after the release"),
    ("Which users can log in?", "Which users can't log in?"),
    ("Who wrote the report of last week?", "When was the report of last week written?"),
    ("Is it cheaper with insurance?", "Is it cheaper without insurance?"),
    // Other languages.
    ("Übersetze das Wort Baum ins Englische", "Übersetze das Wort Haus ins Englische"),
    ("Warum ist der Drucker so langsam?", "Warum ist der Rechner so langsam?"),
    ("Quel est le prix du billet pour Lyon ?", "Quel est le prix du billet pour Nantes ?"),
    ("¿Cuál es la capital de España?", "¿Cuál es la capital de Noruega?"),
    ("Busca un hotel barato en Madrid", "Busca un hotel barato en Sevilla"),
    ("Qual è il nome del cane?", "Qual è il nome del gatto?"),
    ("请把苹果翻译成英文", "请把香蕉翻译成英文"),
    ("東京の天気を教えて", "大阪の天気を教えて"),
    // Identifiers, code, long templates.
    ("Add a test for parse_header", "Add a test for parse_body"),
    ("Rename getUser to fetchUser", "Rename getOrder to fetchOrder"),
    ("Explain src/main.rs to a beginner", "Explain src/lib.rs to a beginner"),
    (
        "Classify ticket 12: login is broken, as bug or feature request",
        "Classify ticket 31: login is slow, as bug or feature request",
    ),
];

/// The same request in other words, or the same again.
const REWORDINGS: [(&str, &str); 62] = [
    ("Process order 17", "process order 17!"),
    ("", ""),
    ("", "hello"),
    // Function words.
    ("Why does the build fail on the second machine?", "Why is the build failing on the second machine?"),
    ("Why does the build fail?", "Why did the build fail?"),
    ("Why does the build fail?", "How does the build fail?"),
    ("What is the capital of France?", "What is the capital of France, please?"),
    ("What's the status of my order?", "What is the status of my order?"),
    ("What's the status of my order?", "What is the status of the order?"),
    ("Which files changed in this commit?", "What files changed in the commit?"),
    ("Can you show me the log?", "Could you show me the log?"),
    ("How do I reset my password?", "How can I reset my password?"),
    ("How do I reset my password?", "How can we reset our passwords?"),
    ("Tell me about the outage in Europe", "Tell me about the outage of Europe"),
    ("I don't understand the error", "I do not understand this error"),
    ("Please read the file again", "Now read that file again"),
    ("Is there a way to undo it?", "Are there ways to undo this?"),
    ("Check whether the server is up", "Check if the server is up"),
    ("Send it to John on Monday", "Send this to John by Monday"),
    // Inflections.
    ("The tests fail on CI, why?", "The test fails on CI, why?"),
    ("Report the error to the team", "Reporting the errors to the team"),
    ("Run the tests once more", "Running the test once more"),
    ("List orders that were cancelled", "List the order that was canceled"),
    ("Who wrote the report?", "Who has written this report?"),
    ("Summarise what John said", "Summarising what John says"),
    ("Organise the files by date", "Organize the file by date"),
    // Words that say the same.
    ("Find cheap flights to Rome", "Search for inexpensive flights to Rome"),
    ("Fix the bug in the parser", "Repair the bug in the parser"),
    ("Remove the old branch", "Delete the old branch"),
    ("Show me the open tickets", "List the open tickets"),
    ("Get the price of the kettle", "Fetch the price of that kettle"),
    ("Explain the error in the log", "Describe the error in the log"),
    ("What is the purpose of this function?", "What is the goal of this function?"),
    ("Give a short summary of the meeting", "Provide a brief overview of the meeting"),
    ("Use the cache for all requests", "Utilize the cache for every request"),
    ("Choose the largest of the big files", "Pick the largest of the big files"),
    ("Start the server on port 8080", "Launch the server on port 8080"),
    ("Check that the backup is complete", "Verify that the backup is complete"),
    // More words, fewer words, another order.
    ("List the tickets", "List all the open tickets of this week"),
    ("In the app, how do I reset my password?", "How do I reset my password in the app?"),
    ("How do I reset my password?", "What is the way to reset a password of mine?"),
    ("Why does it fail?", "Why does it fail on Windows?"),
    ("Please summarise the report", "Summarise the report, thanks"),
    ("fix the failing test", "please fix the failing test now"),
    // Long ones, reworded in many places.
    (
        "You can use the index to find the documents that were changed since the last backup was made",
        "The index can be used in order to locate documents which changed since the last backup was created",
    ),
    (
        "Read the configuration, check that every path in it exists and tell me which ones are missing",
        "Read the configuration, verify that each path in it exists and show me which ones are missing",
    ),
    (
        "The migration is used to download the table, extract its rows and store them in the new schema",
        "The migration is employed to obtain the table, unpack its rows and save them in the new schema",
    ),
    (
        "Find out why the nightly job stops after the third step and suggest how to fix it",
        "Find out why the nightly job halts after the third step, and recommend a way to repair it",
    ),
    // Other languages.
    ("Warum schlägt der Build fehl?", "Wieso schlägt der Build fehl?"),
    ("Kannst du mir das Protokoll zeigen?", "Könntest du mir bitte das Protokoll zeigen?"),
    ("Was ist der Status meiner Bestellung?", "Wie ist der Status meiner Bestellung?"),
    ("Pourquoi le test échoue ?", "Pourquoi ce test échoue ?"),
    ("Quel est le prix du billet ?", "Quel est le prix de ce billet ?"),
    ("¿Por qué falla la prueba?", "¿Por qué falla esta prueba?"),
    ("Busca el hotel en Madrid", "Busca un hotel en Madrid"),
    ("Perché il test fallisce?", "Perché questo test fallisce?"),
    ("Waarom is de build zo traag?", "Waarom is deze build zo traag?"),
    ("Por que o teste falha?", "Por que este teste falha?"),
    ("请总结这份报告吧", "总结这份报告"),
    ("天気を教えて", "天気は教えて"),
    // Names that stay.
    ("Ask Mary why the order of Acme is late", "Ask Mary why Acme's order is late"),
    ("What is the price of HSR97W?", "What's the price for HSR97W?"),
];

#[test]
fn other_values_in_one_template_are_a_variant() {
    let missed: Vec<_> =
        BATCHES.iter().filter(|(a, b)| !is_template_variant(a, b) || !is_template_variant(b, a)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn repetition_and_rewording_are_not() {
    let taken: Vec<_> =
        REWORDINGS.iter().filter(|(a, b)| is_template_variant(a, b) || is_template_variant(b, a)).collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

/// Every word of a sort against every other, in templates of several lengths.
#[test]
fn batches_over_names_nouns_and_values_are_variants() {
    const VALUES: [&[&str]; 16] = [
        &["John", "Mary", "Olga", "Ahmed", "Wei", "Carlos"],
        &["Rome", "Paris", "New York", "Hanoi", "Osaka"],
        &["French", "German", "Polish", "Korean"],
        &["tree", "house", "river", "camera", "horse"],
        &["login", "checkout", "signup", "billing"],
        &["red", "blue", "green", "orange"],
        &["dog", "cat", "lion", "sheep"],
        &["January", "March", "May", "August"],
        &["monday", "tuesday", "friday"],
        &["HSR97W", "FDZ0T5", "17", "2024"],
        &["parse_header", "readBody", "HttpClient"],
        &["sales", "legal", "finance", "support"],
        &["pizza", "salad", "bread", "soup"],
        &["left", "right", "up", "down", "north"],
        &["one", "two", "three"],
        &["The Old Man and the Sea", "Pride and Prejudice", "Moby Dick"],
    ];
    const TEMPLATES: [&str; 6] = [
        "Process {} now",
        "Write a short poem about {}",
        "What can you tell me about {}?",
        "Why does the {} page fail on the second machine?",
        "Please look up {} in the database and tell me what you find.",
        "Classify the following item as relevant or irrelevant, and say why in one sentence: {}",
    ];
    for (values, template) in VALUES.iter().flat_map(|values| TEMPLATES.map(|template| (values, template))) {
        for (x, y) in values.iter().flat_map(|x| values.iter().map(move |y| (x, y))).filter(|(x, y)| x != y) {
            let (a, b) = (template.replace("{}", x), template.replace("{}", y));
            let is_short = template.len() < 30 && (x.contains(' ') || y.contains(' '));
            assert!(is_short || is_template_variant(&a, &b), "{a} | {b}");
        }
    }
}

#[test]
fn instructions_around_another_text_are_a_variant() {
    let ask = |text: &str| {
        format!("Give the product, the price and the place of delivery in the text as JSON. The text: {text}")
    };
    let a = ask(
        "Send the kettle to Osaka, it costs more than Olga wanted to pay, and tell her on Friday that the lamp waits",
    );
    let b = ask(
        "Nobody knew why John had left his violin in Hanoi; the team says that a new one is too much for this month",
    );
    assert!(is_template_variant(&a, &b) && is_template_variant(&b, &a));
    assert!(!is_template_variant(&a, &format!("{a} please")));
}

#[test]
fn long_templates_with_a_changed_middle_are_variants() {
    let text = |middle: &str| {
        format!("{} {middle} {}", "instruction words here ".repeat(30), "closing words there ".repeat(30))
    };
    assert!(is_template_variant(&text("alpha report"), &text("beta story")));
}
