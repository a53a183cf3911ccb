// The interface's texts, each in English and Vietnamese. {name} is filled in.

const WORDS = {
  // The frame
  "app": ["Eyeline: attention you can look into", "Eyeline: nhìn vào cơ chế chú ý"],
  "view": ["View", "Góc nhìn"],
  "view.sentence": ["Sentence", "Câu"],
  "view.overview": ["Overview", "Tổng quan"],
  "view.matrix": ["Matrix", "Ma trận"],
  "view.steps": ["Steps", "Từng bước"],
  "view.compare": ["Compare", "So sánh"],
  "trace": ["Text", "Văn bản"],
  "trace.named": ["{text} ({name})", "{text} ({name})"],
  "layer": ["Layer", "Tầng"],
  "layer.of": ["{layer} of {count}", "{layer} trên {count}"],
  "layer.before": ["The layer before", "Tầng trước"],
  "layer.after": ["The layer after", "Tầng sau"],
  "head": ["Head", "Đầu chú ý"],
  "head.mean": ["mean of all {count}", "trung bình của {count} đầu"],
  "head.max": ["largest of all {count}", "lớn nhất của {count} đầu"],
  "head.one": ["head {head}", "đầu {head}"],
  "head.before": ["The head before", "Đầu trước"],
  "head.after": ["The head after", "Đầu sau"],
  "unit.pieces": ["word pieces", "mảnh từ"],
  "special": ["show what is set aside", "hiện phần để riêng"],
  "special.why": [
    "Set aside: special tokens such as [CLS] and, in a decoder, the first token, which take weight that a head has no other use for.",
    "Phần để riêng: các token đặc biệt như [CLS] và, ở mô hình giải mã, token đầu tiên, nơi nhận trọng số mà đầu chú ý không cần dùng vào việc khác.",
  ],
  "language": ["Language", "Ngôn ngữ"],
  "theme": ["Colours", "Màu sắc"],
  "theme.own": ["as your system", "theo hệ thống"],
  "theme.light": ["light", "sáng"],
  "theme.dark": ["dark", "tối"],
  "failed": ["This can't be shown: {reason}", "Không hiển thị được: {reason}"],
  "loading": ["Loading…", "Đang tải…"],

  // Sentence

  // Overview

  // Matrix

  // Steps

  // Compare

  // Taking it away

  // Asking for new texts
  "asking.text": ["Type a sentence", "Gõ một câu"],
  "asking.run": ["Run", "Chạy"],
  "asking.keys": ["Ctrl+Enter", "Ctrl+Enter"],
  "asking.cancel": ["Cancel", "Hủy"],
  "asking.model": ["Model", "Mô hình"],
  "asking.causal": ["no looking ahead", "không nhìn về sau"],
  "asking.unscaled": ["without ÷ √d", "không chia cho √d"],
  "asking.file": ["File", "Tệp"],
  "asking.open": ["Open", "Mở"],
  "asking.begun": ["{model}: getting ready · {seconds} s", "{model}: đang chuẩn bị · {seconds} giây"],
  "asking.line": ["{model}: {line} · {seconds} s", "{model}: {line} · {seconds} giây"],
  "asking.layer": [
    "{model}: layer {layer} of {count} · {seconds} s",
    "{model}: tầng {layer} trên {count} · {seconds} giây",
  ],
  "asking.done": ["The new text is shown.", "Đã hiện văn bản mới."],
  "asking.cancelled": ["Cancelled.", "Đã hủy."],
  "asking.failed": ["Not run: {reason}", "Không chạy được: {reason}"],
  "asking.other": ["Cancel that one", "Hủy văn bản đó"],
  "server.gone": [
    "the server doesn't answer. Run eyeline view again, and open the address that it prints.",
    "máy chủ không trả lời. Hãy chạy lại eyeline view và mở địa chỉ được in ra.",
  ],

  // Keys
  "keys": ["Keys", "Phím tắt"],
  "close": ["Close", "Đóng"],
};

/** The languages, by their codes and own names. */
export const LANGUAGES = [["en", "English"], ["vi", "Tiếng Việt"]];

/** The text of `key` in a language, {names} filled in. */
export const worded = (language, key, values = {}) => {
  const texts = WORDS[key];
  if (!texts) throw new Error(`words.js has no text "${key}"`);
  const text = texts[language === "vi" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
};
