//! The words that the rules know. Each row has the kind of its words in a sentence, and the words as people write them, in lower
//! case and folded (`fold.rs`). A star at the end stands for any ending.

macro_rules! kinds {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "their numbers only")]
        enum Number { $($name),* }
        $(pub const $name: u64 = 1 << Number::$name as u64;)*
    };
}

kinds! {
    IGNORE FOLLOW NEGATION HALT ALL EVERYTHING PRIOR YOUR SYSTEM INSTRUCTION RULE SAID PROMPT GIVEN YOU THIRD MODAL ARE TO AND
    FILLER WITHIN MENTION IF AI PLAY UNBOUND NAME NO LIMIT REFUSE IDENTITY REVEAL BEFORE TASK NOW FRAME CHAT END UNSPACED OR
}

#[rustfmt::skip]
pub const WORDS: &[(u64, &str)] = &[
    // Sets something aside.
    (IGNORE, "ignore disregard forget bypass neglect discard erase override overrule overwrite ignoriere ignorieren vergiss vergessen \
        nevermind disobey vergesst missachte* ignorez oublie oubliez oublier ignora ignoren olvida olvide olviden dimentica dimenticate \
        ignorate ignorare esqueca desconsidere negeer vergeet игнорируй* забудь* 忽略 忽视 无视 忘记 忘掉 無視 忘れ 무시 잊"),
    (FOLLOW, "follow following obey obeying heed adhere comply listen attention sigas compte следуй* 遵循"),
    (NEGATION, "not never don't dont cannot can't won't didn't doesn't wouldn't shouldn't nicht nie niemals kein* pas jamais ne \
        nunca nao niet nooit non ikke не 不要 别 勿 ない 마"),
    // Stops something, or no longer does it.
    (HALT, "stop cease quit longer"),
    (ALL, "all any every each whole entire alle allen aller samtliche* tous toutes tout toda* todo* tutte tutti все всё всех 所有 \
        全部 すべて 全て 모든 모두"),
    (EVERYTHING, "everything anything alles todo tudo tutto 一切"),
    // What came earlier.
    (PRIOR, "previous prior earlier above preceding foregoing former before initial original past vorherige* vorigen bisherige* \
        obige* fruhere* zuvor bisher precede precedent* anterieur* dessus anterior* previa previas previo previos arriba precedenti \
        sopra acima vorige eerdere bovenstaande предыдущ* 之前 以上 先前 上述 前面 지금까지 上面 以前 前の 上記 これま 이전 위의 앞의"),
    (YOUR, "your yours deine* ihre* vos tes sus tus tuas suas suoi uw je 你的 您的 あなた 당신"),
    (SYSTEM, "system system's developer developer's 系统 系統 システ 시스템"),
    // What a model is told.
    (INSTRUCTION, "instruction* directions prompt prompts directive* guideline* programming anweisung* instruktion* consigne* \
        instruccion* istruzion* instruco* instrucoes instructies инструкц* 指令 指示 提示 プロン 지시 지침"),
    // What people and machines may be told too.
    (RULE, "rule* command* order* direction constraint* restriction* protocol* polic* training guardrail* safeguard* befehl* \
        regeln vorgaben regles reglas regole regras правила 规则 命令 명령"),
    // What was said before: a text, a conversation, a task.
    (SAID, "text texts message* context conversation* content* request* task* assignment* question* input* words output* \
        configuration aufgabe*"),
    (PROMPT, "prompt prompts"),
    // What a model is called.
    (AI, "ai llm llms gpt* chatgpt claude gemini assistant* chatbot* bot model* lm"),
    (ARE, "are you're"),
    // What somebody was told or given.
    (GIVEN, "given told received got gave said provided wrote written gesagt dicho detto"),
    (YOU, "you you're u du sie vous tu usted voce jij"),
    // Others who may be spoken of.
    (THIRD, "i he she it they we who which that model* llm* agent* user* people someone attacker* assistant* ai bot* system* \
        program* parser* compiler* court* browser* could would did does has have had"),
    (MODAL, "will should must can could may might shall would ought"),
    (TO, "to"),
    // Words behind which an order may go on.
    (AND, "and then but so or also now just please simply instead kindly und bitte et y e veuillez 请"),
    // Words behind which a list goes on.
    (OR, "or nor oder ou o"),
    // Words that say nothing here.
    (FILLER, "a an the these those this that my of our its it from both other such more further me us i have has been were was are \
        is der die das den dem diese* les la le las los el gli os as de des and or on previously like 的 の 这些 사항 이 를 을 は を \
        and/or"),
    // Words that say what something is about: about, for, in.
    (WITHIN, "about regarding concerning on for in inside within contained found that which by if when \
        del della sur auf free"),
    // Words of people who write about attacks.
    (MENTION, "attack* inject* jailbreak* phrase* example* eg detect* pattern* payload* adversar* attempt* trick* malicious \
        vulnerab* exploit* filter* regex keyword* such tries tried asks asked tells says said writes contain* sentence*"),
    (IF, "if when unless where wenn falls si se als 如果"),
    // Verbs for playing a role.
    (PLAY, "act pretend roleplay impersonate simulate imagine behave embody"),
    // A model without limits.
    (UNBOUND, "dan stan dude jailbroken unrestricted unfiltered uncensored amoral immoral unethical unconstrained limitless \
        omnipotent antigpt evilbot"),
    // Names of such a model that are ordinary words too.
    (NAME, "dan stan dude"),
    // Words in the marks of chat templates.
    (CHAT, "im start end sep header id eot of text endoftext endofprompt begin turn token channel sys system user assistant tool \
        chatbot human model message"),
    // Verbs in scripts without spaces, where nothing shows that a phrase ends.
    (UNSPACED, "忽略 忽视 无视 忘记 忘掉 無視 忘れ 무시 잊"),
    (END, "end ende fin fine"),
    (NO, "no without free zero lacking freed escaped not never don't doesn't cannot can't"),
    // What such a model lacks.
    (LIMIT, "restriction* rule* limit* filter* guideline* ethic* moral* boundar* constraint* censor* polic* safeguard* guardrail* \
        law* regulation* confines disclaimer* illegal harmful"),
    (REFUSE, "refuse* decline* reject* apolog* disclaimer* warn* moraliz* moralis*"),
    (IDENTITY, "character persona role identity mode"),
    // Verbs for showing something.
    (REVEAL, "reveal print repeat output show display tell leak dump expose recite disclose copy echo return write translate spell \
        encode list quote what what's give send share provide paste summarize"),
    (BEFORE, "before after first"),
    (TASK, "task question request answer query"),
    // From here on.
    (NOW, "now henceforth onwards"),
    // Words in tags around what a model is given.
    (FRAME, "instruction instructions prompt system untrusted user tool function input query output result results response \
        context data document content search message"),
];

/// Words of which slips of one letter are known too. Each is so long that no other word is as near.
pub const SLIPS: &[&str] =
    &["ignore", "disregard", "previous", "instruction", "instructions", "guidelines", "directives"];
