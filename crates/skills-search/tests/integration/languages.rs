//! Other languages than English.

use crate::{document, ids, index};

#[track_caller]
fn check(first: &str, second: &str, request: &str) {
    let index = index(&[document("first", "", first), document("second", "", second)]);
    assert_eq!(
        ids(&index, request).first().map(String::as_str),
        Some("first"),
        "{request}"
    );
}

#[test]
fn words_of_other_languages_are_found_in_another_form() {
    check("Rechnungen schreiben", "Termine planen", "eine Rechnung");
    check(
        "Créer une facture",
        "Planifier une réunion",
        "factures a creer",
    );
    check(
        "Отправка письма клиенту",
        "Создать счёт",
        "отправить письмо клиентам",
    );
    check("Αποστολή μηνυμάτων", "Δημιουργία τιμολογίου", "μήνυμα");
}

#[test]
fn scripts_without_spaces_are_found_by_parts() {
    check("发送电子邮件给客户", "创建新的发票", "怎么发邮件");
    check("メールを送信する", "請求書を作成する", "メール送信");
    check(
        "고객에게 이메일을 보냅니다",
        "송장을 만듭니다",
        "이메일 보내기",
    );
    check("ส่งอีเมลถึงลูกค้า", "สร้างใบแจ้งหนี้", "อีเมล");
}

#[test]
fn scripts_without_a_stemmer_are_found_by_parts() {
    check("שליחת הודעות ללקוח", "יצירת חשבונית", "הודעה");
    check("ईमेल भेजना", "चालान बनाना", "ईमेलों");
}
