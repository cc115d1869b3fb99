"""The sentences in Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "正在查看…",
    "queued": "正在等待前一个回答…",
    "busy": "提问较多，马上轮到您…",
    "queue_full": "这里已有 {count} 个问题在等待。请在回答完后再问。",
    "help": "请就这里的文件提问，或者添加文件后再提问。更多说明见 `/help`。",
    "stage_retrieve": "正在搜索…",
    "stage_answer": "正在撰写…",
    "stage_rerank": "正在挑选最佳段落…",
    "no_files": "还没有所有读者都可以查看的文件。请在此对话中放入文件，或请管理员用 `/kb bind` 选择一个知识库。",
    "not_found_advice": "请换个说法，或添加写有该内容的文件；`/kb show` 会列出这里的文件。",
    "general": "来自一般知识：您的文件中没有这一内容。",
    "stopped": "已停止。",
    "interrupted": "回答时被中断了。请点“重新生成”，或再问一次。",
    "unexpected": "出了问题（编号 {id}）。请再问一次；如果再次发生，请把编号告诉管理员。",
    "with_id": "{sentence}（编号 {id}）",
    "index_away": "搜索索引没有响应，请稍后再试。",
    "embedder_away": "向量模型没有响应，请稍后再试。",
    "model_away": "语言模型没有响应，请稍后再试。",
    "rate_limited": "服务要求放慢速度，请稍后再试。",
    "storage_away": "目前无法保存任何内容，需要管理员检查磁盘。",
    "filtered": "语言模型不回答这个问题，请换一种问法。",
    "too_long_for_model": "问题连同引用段落对语言模型来说太长，请缩短后再问。",
    "platform_away": "无法得知此处所需的信息，请稍后再试。",
    "cannot_post": "我无法在那里发言：该频道可能已归档，或不对我开放。请管理员让我加入。",
    "file_received": "{name}：已收到",
    "file_reading": "{name}：正在读取…",
    "file_progress": "{name}：正在读取…目前 {count} 个段落",
    "file_passage": "{name}：1 个段落，可搜索",
    "file_passages": "{name}：{count} 个段落，可搜索",
    "file_unchanged": "{name}：之前已有，可搜索",
    "file_waiting": "{name} 正在等待：{reason}",
    "file_failed": "{name}：{reason}",
    "file_unsupported": "无法读取这种文件；可以读取 {kinds}。",
    "file_too_large": "文件有 {size} MB，最多读取 {most} MB；请拆分成较小的文件。",
    "file_empty": "文件是空的。",
    "file_cut_short": "文件没有完整到达，请重新发送。",
    "file_slow": "文件没有及时到达，请重新发送。",
    "file_login_page": "收到的是登录页面而不是文件；请管理员允许我读取文件。",
    "file_lost": "无法获取文件，请重新发送。",
    "files_left": "此对话中还有 {count} 个文件未处理；请另发消息添加。",
    "promoted_gone": "带来 {name} 的消息已无法读取；请用 `/kb add` 添加该文件。",
    "promoted_here": "{name} 已在频道的知识库中。",
    "promoted": "{name} 现已进入本频道的知识库，在整个频道中都会被搜索。",
    "sources": "来源",
    "regenerate": "重新回答",
    "stop": "停止",
    "promote": "将 {name} 移到频道",
    "up": "有帮助",
    "down": "没有帮助",
    "thanks": "谢谢，已记录。",
    "too_old": "此按钮所属的回答已不再保存。请重新提问。",
    "not_running": "该回答已不在撰写中，无需停止。",
    "still_running": "该回答仍在撰写中。请等它结束，或先停止它。",
    "no_sources": "该回答没有引用任何文件。",
    "working": "正在处理…",
    "unknown_button": "此按钮已失效。请重新提问。",
}
