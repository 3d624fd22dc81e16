"""Japanese: a small table; there are no word boundaries to lean on."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(r"(?:を使(?:おう|う|って|います)|にしよう|にします|に決め|採用|やめて)", "Redisを使って"),
    ),
    "assistant_choice": (Phrase(r"(?:を採用|を選び|にしました|に決め)", "SQLiteを採用しました"),),
    "contrast": (Phrase(r"(?:ではなく|じゃなく|代わりに|より)", "HS256ではなくRS256"),),
    "reason": (Phrase(r"(?:ので|から(?=[、。,.\s]|$)|ため|理由)", "簡単なので"),),
    "tentative": (Phrase(r"(?:かもしれ|たぶん|べきか|どうでしょう)", "Redisかもしれません"),),
    "standing": (
        Phrase(r"(?:今後|これから(?:は|も)|必ず|絶対に|毎回|しないでください)", "今後は日本語で答えて"),
    ),
    "opener": (Phrase(r"^(?:(?:はい|いいえ|いや|では|じゃあ|あと)[、，,。 ]+)+", "いや、では"),),
    "refusal": (Phrase(r"^(?:いいえ|いや|やめて|だめ)", "いや、だめ"),),
    "directive": (Phrase(r"(?:にして|を使って|は不要|はなし|やめて|してください)", "キャッシュはなし"),),
    "chore": (Phrase(r"(?:実行して|見せて|確認して|説明して|コミットして)", "テストを実行して"),),
    "reversal": (Phrase(r"(?:やっぱり|やはり)", "やっぱりSQLite"),),
    "time": (Phrase(r"(?:明日|後で|あとで|次回|来週)", "明日インデックスを追加"),),
    "dated": (Phrase(r"(?:また明日)", "また明日"),),
    "put_off": (Phrase(r"(?:忘れない|まだ.{1,10}残って)", "忘れないで"),),
    "waiting": (Phrase(r"(?:に聞いて|確認待ち|返事待ち)", "法務に聞いてみます"),),
    "next_heading": (
        Phrase(
            r"^(?:次の(?:ステップ|作業)|残(?:り|作業|タスク)|今後の(?:作業|課題)|未完了|todo)", "次のステップ"
        ),
    ),
    "next_sentence": (
        Phrase(
            r"(?:まだ.{0,20}(?:ていません|ない)|残って|次は|これから|未対応|未実装)", "まだ移行していません"
        ),
    ),
    "recommend": (Phrase(r"(?:をお勧め|をおすすめ|を推奨|を提案)", "SQLiteを推奨します"),),
    "approval": (Phrase(r"^\W*(?:はい|お願いします|いいですね|了解(?:です)?|それで)\W*$", "はい"),),
    "dissent": (
        Phrase(
            r"(?:まだ(?:動|直)|動きません|動かない|同じエラー|元に戻して|直っていません)", "まだ動きません"
        ),
    ),
    "vain": (
        Phrase(
            r"(?:うまくいか(?:なかった|ず|ない)|効果(?:は|が)(?:ありませんでした|なかった)|直りませんでした|"
            r"だめでした|無駄でした)",
            "既定値ではうまくいかなかった",
        ),
    ),
    "trouble": (Phrase(r"(?:エラー|失敗|壊れ|動かない|動きません|落ち)", "ビルドが失敗"),),
    "cause": (Phrase(r"(?:原因は|問題は|が原因)", "原因はロック"),),
    "decision_heading": (Phrase(r"^(?:決定事項|設計判断)", "決定事項"),),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": "採用|選び|しました|決め",
    "cause": "原因|問題",
    "standing": "今後|これから|必ず|絶対|毎回|ないで",
    "contrast": "ではなく|じゃなく|代わりに|より",
    "reason": "ので|から|ため|理由",
}
