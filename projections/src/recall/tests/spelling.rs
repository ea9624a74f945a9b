//! Which spellings of a word find which others.

use alloc::string::String;

use super::*;

#[test]
fn turkish_spellings_meet() {
    let recall = texts(&["\"Girişimci\"", "\"İstanbul'da yaşıyor\"", "\"ISPARTA\""]);
    for query in ["girisimci", "GİRİŞİMCİ", "GIRISIMCI", "Girişimci"] {
        assert_eq!(fast(&recall, query), ["k0"], "{query}");
    }
    for query in ["ISTANBUL", "İstanbul", "istanbul", "ıstanbul", "yasiyor"] {
        assert_eq!(fast(&recall, query), ["k1"], "{query}");
    }
    assert_eq!(fast(&recall, "ısparta"), ["k2"]);
}

#[test]
fn scripts_without_spaces_are_found_by_parts() {
    let recall = texts(&["\"東京都に住む猫\"", "\"カタカナのテスト\"", "\"서울에서 만나요\"", "\"ภาษาไทย\""]);
    for (query, key) in
        [("東京", "k0"), ("京都", "k0"), ("猫", "k0"), ("住", "k0"), ("テスト", "k1"), ("서울", "k2"), ("ไทย", "k3")]
    {
        assert_eq!(fast(&recall, query), [key], "{query}");
        assert_eq!(balanced(&recall, query), [key], "{query}");
    }
    // A mark that makes another letter is no diacritic.
    assert!(fast(&texts(&["\"かき\""]), "がぎ").is_empty());
}

#[test]
fn identifiers_are_found_by_their_parts() {
    let recall = index(&[
        note("project.auth_token-rotation", "30"),
        note("other", "{\"retryLimit\":1.10,\"HTTPServer\":\"12,000 PRs\"}"),
    ]);
    for query in ["project", "auth", "token", "rotation", "authToken", "30"] {
        assert_eq!(fast(&recall, query), ["project.auth_token-rotation"], "{query}");
    }
    for query in ["retrylimit", "retry", "limit", "1.10", "http", "server", "12000", "prs"] {
        assert_eq!(fast(&recall, query), ["other"], "{query}");
    }
}

#[test]
fn possessives_and_contractions_are_read() {
    let recall = texts(&["\"Caroline’s dog\"", "\"O'Brien doesn't know\""]);
    assert_eq!(fast(&recall, "caroline"), ["k0"]);
    assert_eq!(fast(&recall, "Caroline's"), ["k0"]);
    assert_eq!(fast(&recall, "obrien"), ["k1"]);
    assert_eq!(fast(&recall, "brien"), ["k1"]);
}

#[test]
fn dates_meet_however_written() {
    let mut dated = note("a", "\"x\"");
    dated.metadata = "{\"at\":\"2022-05-25T13:56:00Z\"}".into();
    let recall = index(&[dated, note("b", "\"y 2022\""), note("c", "\"25 maps\"")]);
    for query in ["25 May 2022", "May 25th, 2022", "2022-05-25", "25 Mayıs 2022"] {
        assert_eq!(fast(&recall, query).first().map(String::as_str), Some("a"), "{query}");
    }
    let hits = recall.search("in May, 2022", &SearchOptions::default(), &mut |_| true);
    let first = hits.first().expect("a hit");
    assert!(first.matched.iter().any(|matched| matched.term == "2022-05"));
}

#[test]
fn only_balanced_is_tolerant() {
    let recall = texts(&["\"she paints daily\"", "\"photography course\"", "\"he went home\""]);
    for (query, key, how) in [
        ("painting", "k0", How::Stem),
        ("photo", "k1", How::Prefix),
        ("photograhpy", "k1", How::Typo),
        ("phtography", "k1", How::Typo),
        ("photograaphy", "k1", How::Typo),
        ("photogrephy", "k1", How::Typo),
        ("go", "k2", How::Stem),
    ] {
        assert!(fast(&recall, query).is_empty(), "{query}");
        let hits = recall.search(query, &SearchOptions::default(), &mut |_| true);
        let [hit] = hits.as_slice() else { panic!("{query}") };
        assert_eq!((&*hit.key, hit.matched[0].how), (key, how), "{query}");
    }
    // Too short, a first letter wrong, two slips.
    for query in ["ph", "daly", "whotography", "fotography", "photgrapy"] {
        assert!(balanced(&recall, query).is_empty(), "{query}");
    }
}

#[test]
fn a_word_that_is_there_is_not_taken_for_a_slip() {
    let recall = texts(&["\"marina\"", "\"maria\""]);
    assert_eq!(balanced(&recall, "maria"), ["k1"]);
}

#[test]
fn stop_words_count_only_when_alone() {
    let recall = texts(&["\"what is it\"", "\"tea\""]);
    assert_eq!(balanced(&recall, "what is tea"), ["k1"]);
    assert_eq!(balanced(&recall, "what is"), ["k0"]);
}
