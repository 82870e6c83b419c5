//! The words that the rules know, and what they are in a sentence: bits, because a word can be several things. Looked up by
//! digest. Written as people write them, and folded like the texts.

use std::sync::OnceLock;

use super::fold::{Folded, fold};

/// The kinds of tokens. The first ones are about signs and lines.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $bit:literal,)*) => {
        $($(#[doc = $doc])* pub const $name: u64 = 1 << $bit;)*
    };
}

kinds! {
    WORD = 0,
    /// A word that nothing is known of.
    UNKNOWN = 1,
    SIGN = 2,
    /// A sentence ends.
    STOP = 3,
    NEWLINE = 4,
    QUOTE = 5,
    /// A quotation mark right behind something.
    CLOSE_QUOTE = 6,
    /// Within a fenced block.
    CODE = 7,
    FENCE = 8,
    /// Verbs that set aside what was said.
    IGNORE = 9,
    NEGATION = 10,
    HALT = 11,
    FOLLOW = 12,
    ALL = 13,
    EVERYTHING = 14,
    PRIOR = 15,
    YOUR = 16,
    /// Small words that may stand before a noun.
    FILLER = 17,
    INSTRUCTION = 18,
    /// What was said, in words that mean much else too.
    SAID = 19,
    TO = 20,
    YOU = 21,
    /// Somebody who is spoken about.
    THIRD = 22,
    MODAL = 23,
    /// Somebody is to do something.
    OBLIGE = 24,
    ARE = 25,
    NOW = 26,
    ROLEPLAY = 27,
    /// Without limits.
    UNBOUND = 28,
    /// What somebody got: told, given.
    GIVEN = 29,
    WITHIN = 30,
    /// Words of people who write about attacks.
    MENTION = 31,
    NEW = 32,
    OVERRIDE = 33,
    TASK = 34,
    REVEAL = 35,
    AI = 36,
    USER = 37,
    TELL = 38,
    SYSTEM = 39,
    /// Names of tokens that only a chat template writes.
    CHAT = 40,
    /// Names of tags around instructions and untrusted text.
    FRAME = 41,
    /// Names of tags that are around much else too.
    WEAK_FRAME = 42,
    END = 43,
    BEFORE = 44,
    AND = 45,
    MEMBER = 46,
    NO = 47,
    LIMIT = 48,
    MODE = 49,
    ARTICLE = 50,
    WHAT = 51,
    PROMPT = 52,
    ANSWER = 53,
    NOTE = 54,
    VOID = 55,
    /// Names of roles in a chat.
    ROLE = 56,
    IDENTITY = 57,
    ACTIVE = 58,
    /// Said of tokens and tags when people write about them.
    TERM = 59,
    HENCEFORTH = 60,
    INSTEAD = 61,
    ONWARD = 62,
    READING = 63,
}

/// The words of each kind. A word may stand in several rows.
const WORDS: [(u64, &str); 68] = [
    (
        IGNORE,
        "ignore disregard forget aside bypass neglect discard dismiss overlook unlearn erase nullify overrule override overwrite omit skip drop abandon ditch revoke suspend \
        ignoriere ignorier ignorieren ignorierst vergiss vergesse vergessen vergesst missachte verwirf übergehe \
        ignorez oublie oubliez oublier négligez \
        ignora ignore ignorad ignoren olvida olvide olvidad olviden olvídate descarta descarte \
        dimentica dimenticate dimenticare ignorate ignorare scorda \
        esqueça esqueca esquece desconsidere desconsidera ignorem \
        negeer vergeet zignoruj zapomnij pomiń игнорируй игнорируйте забудь забудьте проигнорируй \
        görmezden unut yoksay ignorera glöm ignorer glem \
        忽略 忽视 無視 无视 忘记 忘れ 忘掉 무시 잊어 무시하",
    ),
    (
        NEGATION,
        "not never dont cannot cant wont shouldnt mustnt doesnt didnt wouldnt nicht niemals kein keine nunca jamais pas non no niet не nie without",
    ),
    (HALT, "stop cease quit discontinue hör arrête arrêtez deja para smetti"),
    (
        FOLLOW,
        "follow following stick sticking obey obeying heed adhere adhering comply complying listen listening abide abiding respect respecting observe observing \
        befolge folge suis suivez suivre sigas seguire siga",
    ),
    (
        ALL,
        "all any every each whatever whichever entire whole alle allen aller sämtliche jegliche jede toutes tous tout toute todas todos toda todo tutte tutti \
        alle wszystkie все всё всех 所有 全部 全て すべて 모든 tüm bütün alla",
    ),
    (EVERYTHING, "everything anything alles todo tudo tutto tout всё wszystko 一切 herşeyi"),
    (
        PRIOR,
        "previous previously prior above earlier preceding former foregoing past before initial initially original originally existing predefined preset old \
        aforementioned precedent antecedent last \
        vorherige vorherigen vorheriger vorigen vorige vorangegangenen vorangehenden bisherigen bisherige obigen obige früheren zuvor vorher oben davor ursprünglichen ersten \
        précédentes précédente précédents précédent antérieures antérieurs initiales dessus avant \
        anteriores anterior previas previos previa previo arriba iniciales antes \
        precedenti precedente sopra prima iniziali acima anteriormente prévias \
        vorige eerdere bovenstaande poprzednie poprzednich powyższe wcześniejsze \
        предыдущие предыдущих предыдущую прошлые выше прежние ранее \
        önceki yukarıdaki tidigare föregående tidligere forrige \
        之前 以上 先前 上述 前面 上面 此前 以前 前の 上記 これま 이전 위의 앞의 기존",
    ),
    (
        YOUR,
        "your yours ur deine deinen deiner ihre ihren tes vos votre ton tus sus tu su tue tuoi vostre suas seus твои ваши твоих 你的 您的 あなた 당신",
    ),
    (
        SYSTEM,
        "system systems developer developers admin administrator openai anthropic safety security core 系统 系統 システ 시스템",
    ),
    (
        FILLER,
        "the these those this that my of our its such other set more further about with out both and or into on also please just now here there \
        die der das den dem des diese dieser diesen von les la le las los el lo il gli i de da do das dos del della delle degli den det alt \
        ces cette ce estas esta esos esas queste quelle isso essas essa os as o a te to tych эти этих про о об 的 这些",
    ),
    (
        INSTRUCTION,
        "instruction instructions instructs instrution instructons directive directives guideline guidelines directions direction rules rule programming prompt prompts constraints \
        restrictions protocols policies policy commands command orders order training guidance guardrails safeguards filters \
        anweisung anweisungen instruktion instruktionen regeln vorgaben anordnungen befehle richtlinien aufforderungen eingabeaufforderung \
        consigne consignes directives ordres règles \
        instrucción instrucciones instruccion órdenes ordenes indicaciones reglas directrices \
        istruzione istruzioni direttive ordini regole indicazioni \
        instrução instruções instrucoes ordens regras diretrizes orientações \
        instructies opdrachten richtlijnen instrukcje instrukcji polecenia polecenie zasady \
        инструкции инструкций инструкцию указания указаний правила правил команды промпт \
        talimatları talimatlar instruktioner anvisningar instrukser \
        指令 指示 提示 规则 規則 命令 プロン 지시 명령 지침 프롬",
    ),
    (
        SAID,
        "task tasks assignment assignments message messages text texts context conversation conversations information info input inputs content contents request requests \
        chat statement statements word words question questions query queries history responsibilities duties obligations dialogue dialog discussion requirements settings configuration \
        aufgaben aufgabe nachrichten text texte eingaben informationen tareas mensajes texto tâches messages compiti testo tarefas mensagens 对话 内容 会話 内容",
    ),
    (TO, "to zu à a per para"),
    (
        YOU,
        "you youre u ya youll youve yourself thou du sie ihr tu vous usted tú você voce lei jij ty ты вы 你 您",
    ),
    (
        THIRD,
        "it they them model models llm llms agent agents chatbot chatbots users attacker attackers adversary adversaries someone people which who he she we i \
        claude gpt chatgpt gemini program parser compiler browser tests test linter client server function method code script tool tools user person assistant ai bot system",
    ),
    (MODAL, "will should must can could would may might shall does do did cannot"),
    (
        OBLIGE,
        "must need have want going required instructed ordered told asked supposed obliged obligated urge urged command order like sollst musst sollen",
    ),
    (ARE, "are re youre bist seid êtes es eres sei são é jest är er 是"),
    (NOW, "now jetzt nun maintenant ahora ora agora teraz теперь nu 现在 今から 이제"),
    (
        ROLEPLAY,
        "act pretend roleplay impersonate simulate imagine behave play embody emulate immerse assume become respond speak answer being \
        spiele spiel tue agis joue actúa actua finge fingi comporta aja atue",
    ),
    (
        UNBOUND,
        "dan jailbroken jailbreak unrestricted unfiltered uncensored unlimited amoral immoral unethical evil malicious uncontrolled unconstrained unbound limitless lawless \
        unmoderated omnipotent unchained rogue devilish machiavellian antigpt evilbot stan dude aim unrestrained unshackled",
    ),
    (
        GIVEN,
        "given received told provided learned learnt taught know knew instructed programmed trained established assigned came come ordered asked supposed obliged obligated gesagt gelernt weißt dit sais dicho sabes detto sai dito sabe 所说 说的 告诉",
    ),
    (
        WITHIN,
        "in inside within from contained containing embedded found appearing appear hidden included that which present written placed found concerning regarding about for on of",
    ),
    (
        MENTION,
        "attack attacks attacker attackers attacking injection injections inject injected injecting jailbreak jailbreaks phrase phrases example examples eg e.g detect detects detection detected detecting \
        pattern patterns payload payloads malicious adversarial adversary attempt attempts attempting tries trick tricks tricking string strings vulnerability vulnerable exploit exploits \
        classic typical called known suspicious filter filters regex keyword keywords sentences sentence variants variant contains containing containing says said saying reads wording tells telling \
        instructing instruct causes cause makes making asks asking urges angriff angriffe beispiel attaque attaques exemple ataque ataques ejemplo",
    ),
    (
        NEW,
        "new updated revised real actual changed modified alternative different another neue neuen neuer nouvelle nouvelles nueva nuevas nuevo nuova nuove novas nova новые новая 新的 新しい 새로운",
    ),
    (OVERRIDE, "override overrides overriding overridden"),
    (
        TASK,
        "task tasks objective objectives goal goals mission assignment directive directives purpose job instruction instructions priority identity persona role aufgabe tâche tarea compito tarefa 任务 任務",
    ),
    (
        REVEAL,
        "reveal print repeat output show display tell leak dump expose share recite disclose give copy paste echo return send write state summarize summarise translate spell provide list quote \
        zeige zeig verrate nenne wiederhole gib schreibe affiche montre révèle répète muestra revela repite dime imprime mostra rivela ripeti mostre repita",
    ),
    (
        AI,
        "ai asistente assistente assistent gpt4 llm llms gpt chatgpt claude gemini copilot chatbot chatbots assistant assistants bot lm ais ki ia",
    ),
    (USER, "user users human humans anyone anybody operator customer owner person nobody someone"),
    (
        TELL,
        "tell mention inform notify reveal alert disclose telling mentioning informing notifying alerting revealing disclosing",
    ),
    (
        CHAT,
        "im_start im_end im_sep start_header_id end_header_id eot_id endoftext begin_of_text end_of_text endofprompt start_of_turn end_of_turn inst sys bos eos \
        end_of_role start_of_role begin_of_sentence end_of_sentence eom_id",
    ),
    (
        FRAME,
        "instructions instruction system system_prompt systemprompt system_instructions user_prompt user_input userinput user_query user_message untrusted untrusted_data untrusted_content \
        external_content external_data extra_context context_file tool_result tool_results tool_response tool_output function_results function_result function_response \
        retrieved_context retrieved_documents untrusted_input information system_message",
    ),
    (
        WEAK_FRAME,
        "context prompt input document documents data user assistant human email message search_results search_result content text quote source admin developer important task rules",
    ),
    (END, "end ending ende fin fine fim конец 结束"),
    (BEFORE, "before prior bevor avant antes prima after when once while"),
    (AND, "and then but so also und dann et puis y luego e poi mais ale и но"),
    (
        MEMBER,
        "member members subscriber customer owner follower guest participant winner friend contributor part citizen registered subscribed user resident partner fan parent student \
        premium verified collaborator maintainer viewer editor player reader moderator recipient watcher seller buyer logged connected ready",
    ),
    (NO, "no without free zero lacking ohne keine sans sin senza sem нет"),
    (
        LIMIT,
        "restrictions restriction rules rule limits limit limitations limitation filters filter guidelines guideline ethics ethical moral morals morality boundaries constraints censorship \
        policies policy safeguards guardrails bounds confines chains laws law regulations einschränkungen restricciones restrizioni restrições",
    ),
    (MODE, "mode modus modo"),
    (ARTICLE, "a an the in going acting ein eine einen der un une una um uma il en 一个 一個"),
    (WHAT, "what whats which was wie quelles quelle cuáles cuales cuál quali quais"),
    (PROMPT, "prompt prompts preprompt promt systemprompt eingabeaufforderung 提示词"),
    (
        ANSWER,
        "solve answer continue proceed complete respond finish answering responding completing solving proceeding continuing reply replying do execute executing perform processing fulfilling",
    ),
    (
        NOTE,
        "note message attention important notice instruction instructions hey dear hello hi warning reminder memo directive request info alert",
    ),
    (
        VOID,
        "supersede supersedes replace replaces cancels invalidates void cancelled canceled obsolete superseded revoked rescinded invalid null outdated counts count drop discard omit skip overwrite suspend revoke erase abandon ditch overridden deprecated disabled suspended deleted erased wiped apply applies valid lifted removed",
    ),
    (ROLE, "system user assistant developer tool human model ipython platform"),
    (IDENTITY, "role identity persona name character personality rolle rôle rol ruolo"),
    (
        ACTIVE,
        "activated enabled engaged initiated accepted authorized authorised granted confirmed on unlocked active",
    ),
    (
        TERM,
        "token tokens tag tags marker markers delimiter delimiters special template format separator keyword literal symbol element elements header syntax",
    ),
    (HENCEFORTH, "henceforth hereafter forthwith fortan désormais dorénavant"),
    (INSTEAD, "instead only strictly stattdessen"),
    (ONWARD, "on onwards onward forward this starting ab an partir"),
    (
        READING,
        "reading processing summarizing summarising parsing analyzing viewing reads processes summarizes summarises parses sees encounters visiting browsing must should shall need who that",
    ),
    (ALL, "todos toda"),
    (THIRD, "would could might"),
    (UNBOUND, "root sudo god"),
    (
        FILLER,
        "is was were me us full exact verbatim entire language large additional extra more really actually completely simply entirely totally immediately right away then first",
    ),
    (MENTION, "owasp red teaming cve mitre"),
    (SAID, "output outputs data"),
    (PRIOR, "current currently hidden secret initial"),
    (CHAT, "endofsystem"),
    (ARTICLE, "no"),
    (NEW, "following additional extra"),
    (WITHIN, "see listed described section chapter"),
    (MODE, "level"),
    (ROLE, "assistants"),
];

/// FNV-1a: one character after the other, as they come.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

pub fn step(digest: u64, c: char) -> u64 {
    (digest ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3)
}

/// Room of the table: a power of two, several times the number of words.
const ROOM: usize = 4_096;
const MASK: usize = ROOM - 1;
/// First letter, last letter and length: five bits each.
const SHAPES: usize = 1 << 15;

/// All words by their digests.
pub struct Vocabulary {
    words: Vec<(u64, u64)>,
    /// The first and last letters and the lengths that words have: a bit each.
    shapes: Vec<u64>,
}

pub fn get() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        let mut all = Vocabulary { words: vec![(0, 0); ROOM], shapes: vec![0; SHAPES / 64] };
        for (kinds, words) in WORDS {
            for word in words.split_whitespace() {
                all.add(word, kinds);
            }
        }
        all
    })
}

/// The bit of a word's shape: which of the numbers, and which of its bits.
#[inline]
fn shape(first: char, last: char, length: usize) -> (usize, u64) {
    let row = (u32::from(first) & 31) << 10 | (u32::from(last) & 31) << 5;
    let bit = row as usize | length & 31;
    (bit / 64, 1_u64.wrapping_shl((bit & 63) as u32))
}

impl Vocabulary {
    /// The place of a digest, or the free one where it belongs.
    fn place(&self, digest: u64) -> Option<usize> {
        // The upper bits of a product depend on all bits of the digest.
        let mixed = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut at = usize::try_from(mixed).unwrap_or(0) & MASK;
        for _ in 0..ROOM {
            match self.words.get(at) {
                Some((known, _)) if *known == digest || *known == 0 => return Some(at),
                _ => at = at.wrapping_add(1) & MASK,
            }
        }
        None
    }

    fn add(&mut self, word: &str, kinds: u64) {
        let folded = folded(word);
        let digest = digest(&folded);
        if let Some(slot) = self.place(digest).and_then(|at| self.words.get_mut(at)) {
            *slot = (digest, slot.1 | kinds);
        }
        if let Some((first, last)) = folded.chars().next().zip(folded.chars().next_back()) {
            let (at, bit) = shape(first, last, folded.chars().count());
            if let Some(shapes) = self.shapes.get_mut(at) {
                *shapes |= bit;
            }
        }
    }

    /// What the word of this digest is; 0 where nothing is known of it.
    #[inline(never)]
    pub fn kinds(&self, digest: u64) -> u64 {
        self.place(digest).and_then(|at| self.words.get(at)).map_or(0, |(_, kinds)| *kinds)
    }

    /// Whether there can be a word with these first and last letters, in any case of ASCII, and of so many letters.
    #[inline]
    pub fn may_have(&self, first: char, last: char, length: usize) -> bool {
        let (at, bit) = shape(first, last, length);
        self.shapes.get(at).is_some_and(|shapes| shapes & bit != 0)
    }
}

/// A word as texts are read.
fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match fold(c) {
            Folded::One(c) => folded.push(c),
            Folded::Two(first, second) => folded.extend([first, second]),
            Folded::Nothing => {}
        }
    }
    folded
}

fn digest(folded: &str) -> u64 {
    folded.chars().fold(EMPTY, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(word: &str) -> u64 {
        get().kinds(digest(&folded(word)))
    }

    #[test]
    fn words_are_known_however_they_are_written() {
        assert_ne!(kinds("ignore") & IGNORE, 0);
        assert_eq!(kinds("Anweisungen"), kinds("anweisungen"));
        assert_ne!(kinds("инструкции") & INSTRUCTION, 0);
        assert_ne!(kinds("提示") & INSTRUCTION, 0);
        assert_eq!(kinds("zebra"), 0);
        let used = get().words.iter().filter(|(digest, _)| *digest != 0).count();
        assert!(used > 700 && used < ROOM / 2, "{used}");
    }
}
