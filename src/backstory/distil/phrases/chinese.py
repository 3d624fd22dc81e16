"""Chinese: a small table; there are no word boundaries to lean on."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (Phrase(r"(?:我们用|使用|改用|决定|选择|采用|保留|不要用)", "我们用Redis"),),
    "assistant_choice": (Phrase(r"(?:我选择|我决定|我采用|我们采用|决定)", "我选择SQLite"),),
    "contrast": (Phrase(r"(?:而不是|不用|代替|不要)", "用RS256而不是HS256"),),
    "reason": (Phrase(r"(?:因为|由于|为了|以便|否则|这样)", "因为更简单"),),
    "tentative": (Phrase(r"(?:也许|可能|要不要|是否|如果)", "也许用Redis"),),
    "standing": (Phrase(r"(?:以后|从现在开始|总是|永远不要|每次都|请不要|千万别)", "以后都用中文回答"),),
    "opener": (Phrase(r"^(?:(?:好的?|不|那|嗯|另外|还有)[，,。 ]+)+", "好，那就"),),
    "refusal": (Phrase(r"^(?:不[，,。 ]|不要|别|算了)", "不，别用"),),
    "directive": (Phrase(r"^(?:用|改|保留|删除|去掉|不要|别|只|必须|应该)", "不要新依赖"),),
    "chore": (Phrase(r"^(?:运行|看看|检查|解释|提交|测试)", "运行测试"),),
    "reversal": (Phrase(r"(?:算了|还是用|改主意)", "还是用SQLite"),),
    "time": (Phrase(r"(?:明天|以后再|稍后|下次|下周)", "明天再加索引"),),
    "dated": (Phrase(r"(?:明天见)", "明天见"),),
    "put_off": (Phrase(r"(?:别忘了|提醒我|还差|还没)", "别忘了索引"),),
    "waiting": (Phrase(r"(?:我去问|等.{1,10}(?:决定|回复|确认))", "等法务决定"),),
    "next_heading": (
        Phrase(r"^(?:下一步|后续(?:步骤|工作)?|待办(?:事项)?|剩余(?:工作|任务)?|未完成)", "下一步"),
    ),
    "next_sentence": (Phrase(r"(?:还需要|尚未|还没有|下一步|待完成|接下来)", "还需要迁移"),),
    "recommend": (Phrase(r"(?:我建议|推荐)", "我建议用SQLite"),),
    "approval": (Phrase(r"^\W*(?:好的?|可以|同意|行|没问题)\W*$", "好的"),),
    "dissent": (Phrase(r"(?:还是不行|不起作用|没用|同样的错误|撤销|还是报错)", "还是不行"),),
    "vain": (Phrase(r"(?:没有用|没用|不起作用|没有效果|没有解决|行不通|无济于事)", "默认值没有用"),),
    "trouble": (Phrase(r"(?:错误|报错|失败|崩溃|不工作|坏了)", "构建失败"),),
    "cause": (Phrase(r"(?:问题(?:是|在于|出在)|原因(?:是|在于)|根本原因)", "问题是锁"),),
    "decision_heading": (Phrase(r"^(?:关键)?(?:决定|决策)", "关键决策"),),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": "我|决定",
    "cause": "问题|原因",
    "standing": "以后|现在|总是|永远|每次|请不要|千万",
    "contrast": "而不是|不用|代替|不要",
    "reason": "因为|由于|为了|以便|否则|这样",
}
