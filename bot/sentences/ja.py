"""The sentences in Japanese."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "確認しています…",
    "queued": "前の回答を待っています…",
    "busy": "質問が混み合っています。まもなく順番です…",
    "queue_full": "ここではすでに{count}件の質問が待っています。回答が済んでから、もう一度お尋ねください。",
    "help": "ここにあるファイルについて質問するか、ファイルを追加してからお尋ねください。詳しくは `/help` をご覧ください。",
    "stage_retrieve": "検索しています…",
    "stage_answer": "書いています…",
    "stage_rerank": "最も合う箇所を選んでいます…",
    "no_files": "これを読む全員が見てよいファイルがまだありません。この会話にファイルを入れるか、`/kb bind` でナレッジベースを選ぶよう管理者に頼んでください。",
    "not_found_advice": "別の言葉で試すか、それが書かれたファイルを追加してください。`/kb show` でここにあるものが分かります。",
    "general": "一般的な知識による回答です。ファイルには書かれていません。",
    "stopped": "停止しました。",
    "interrupted": "回答中に中断されました。「再生成」を押すか、もう一度質問してください。",
    "unexpected": "問題が起きました（ID {id}）。もう一度お尋ねください。繰り返す場合は管理者にIDを伝えてください。",
    "with_id": "{sentence}（ID {id}）",
    "index_away": "検索インデックスが応答しません。少し待ってからお試しください。",
    "embedder_away": "埋め込みモデルが応答しません。少し待ってからお試しください。",
    "model_away": "言語モデルが応答しません。少し待ってからお試しください。",
    "rate_limited": "サービスが混み合っています。少し待ってからお試しください。",
    "storage_away": "今は何も保存できません。管理者がディスクを確認する必要があります。",
    "filtered": "言語モデルはこれに答えません。別の聞き方をしてください。",
    "too_long_for_model": "質問と引用箇所が言語モデルには長すぎます。短くしてお尋ねください。",
    "platform_away": "この場所について必要なことを確認できませんでした。少し待ってからお試しください。",
    "cannot_post": "そこには書き込めません。チャンネルがアーカイブされているか、入れない可能性があります。管理者に参加の許可を頼んでください。",
    "file_received": "{name}：受け取りました",
    "file_reading": "{name}：読んでいます…",
    "file_progress": "{name}：読んでいます… これまでに{count}箇所",
    "file_passage": "{name}：1箇所、検索できます",
    "file_passages": "{name}：{count}箇所、検索できます",
    "file_unchanged": "{name}：すでにあります。検索できます",
    "file_waiting": "{name}は待っています：{reason}",
    "file_failed": "{name}：{reason}",
    "file_unsupported": "この種類のファイルは読めません。読めるのは {kinds} です。",
    "file_too_large": "{size} MB あり、読めるのは {most} MB までです。小さなファイルに分けてください。",
    "file_empty": "ファイルが空です。",
    "file_cut_short": "全部は届きませんでした。もう一度送ってください。",
    "file_slow": "時間内に届きませんでした。もう一度送ってください。",
    "file_login_page": "ファイルの代わりにログインページが届きました。ファイルを読む許可を管理者に頼んでください。",
    "file_lost": "取得できませんでした。もう一度送ってください。",
    "files_left": "この会話のほかの{count}件のファイルは省きました。別のメッセージで追加してください。",
    "promoted_gone": "{name}が付いていたメッセージはもう読めません。`/kb add` で追加してください。",
    "promoted_here": "{name}はすでにチャンネルのナレッジベースにあります。",
    "promoted": "{name}はこのチャンネルのナレッジベースに入り、チャンネル全体で検索されます。",
    "sources": "出典",
    "regenerate": "回答し直す",
    "stop": "停止",
    "promote": "{name}をチャンネルへ",
    "up": "役に立った",
    "down": "役に立たない",
    "thanks": "ありがとうございます。記録しました。",
    "too_old": "このボタンの回答はもう保存されていません。もう一度質問してください。",
    "not_running": "この回答はもう作成中ではないので、停止するものがありません。",
    "still_running": "この回答はまだ作成中です。終わるのを待つか、先に停止してください。",
    "no_sources": "この回答はファイルを引用していません。",
    "working": "処理しています…",
    "unknown_button": "このボタンはもう使えません。もう一度質問してください。",
}
