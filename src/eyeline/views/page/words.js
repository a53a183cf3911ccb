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
  "and": ["{before} and {last}", "{before} và {last}"],
  "itself": ["itself", "chính nó"],
  "nothing": ["nothing", "không từ nào"],
  "words": ["words", "từ"],
  "pieces": ["pieces", "mảnh từ"],
  "toward": ["Direction", "Chiều nhìn"],
  "toward.from": ["whom it looks at", "nó nhìn vào đâu"],
  "toward.to": ["who looks at it", "từ nào nhìn vào nó"],
  "toward.key": ["F switches between the two", "Phím F để đổi chiều"],
  "threshold": ["Links from", "Vẽ liên kết từ"],
  "threshold.all": ["any share", "mọi tỉ lệ"],
  "sentence.line": ["The text, token by token", "Văn bản, từng token"],
  "sentence.queries": ["Who looks (queries)", "Bên nhìn (query)"],
  "sentence.keys": ["Who is looked at (keys)", "Bên được nhìn (key)"],
  "sentence.word": ["{word}, word {number} of {count}", "{word}, từ {number} trên {count}"],
  "sentence.piece": ["{word}, piece {number} of {count}", "{word}, mảnh {number} trên {count}"],
  "sentence.special": ["{word}, a special token", "{word}, token đặc biệt"],
  "sentence.bare": ["{word}, bare space", "{word}, khoảng trắng"],
  "sentence.label.from": ["{name}: looks at {names}", "{name}: nhìn vào {names}"],
  "sentence.label.to": ["{name}: looked at by {names}", "{name}: được nhìn bởi {names}"],
  "sentence.label.share": ["{name}: {share}", "{name}: {share}"],
  "sentence.label.hidden": ["{name}: not allowed", "{name}: không được phép"],
  "sentence.hint": [
    "Point at a word to see whom it looks at; click, and it stays.",
    "Trỏ vào một từ để xem nó nhìn vào đâu; bấm để giữ lại.",
  ],
  "sentence.received": [
    "{word} is looked at most, {share} of a row on average.",
    "{word} được nhìn nhiều nhất, trung bình {share} của mỗi hàng.",
  ],
  "sentence.found.from": ["{word} takes most from {names}.", "{word} lấy nhiều nhất từ {names}."],
  "sentence.found.to": ["{word} is looked at most by {names}.", "{word} được nhìn nhiều nhất bởi {names}."],
  "sentence.basis.none": [
    "% of what each word gives to the {units}, on average over all of them.",
    "% của phần mỗi từ dành cho các {units}, tính trung bình trên tất cả.",
  ],
  "sentence.basis.from": ["% of what {word} gives to the {units}.", "% của phần {word} dành cho các {units}."],
  "sentence.basis.all": ["% of all that {word} gives.", "% của toàn bộ những gì {word} dành ra."],
  "sentence.basis.to": [
    "Each % is of what that word gives to the {units}, {word} among them.",
    "Mỗi % tính trên phần từ ấy dành cho các {units}, trong đó có {word}.",
  ],
  "sentence.took": ["{names}, set aside, took {share} of it all.", "{names}, để riêng, chiếm {share} của toàn bộ."],
  "sentence.aside": ["Set aside: {names}.", "Để riêng: {names}."],
  "aside.spaces": ["bare spaces", "các khoảng trắng"],
  "aside.first": ["{word} (the first)", "{word} (từ đầu tiên)"],
  "sentence.rest": ["{count} more share {share}.", "{count} từ còn lại chia nhau {share}."],
  "sentence.place": ["no. {number}", "số {number}"],
  "sentence.hidden.from": ["Hatched: where it may not look.", "Gạch chéo: nơi nó không được phép nhìn."],
  "sentence.hidden.to": ["Hatched: what may not look at it.", "Gạch chéo: những từ không được phép nhìn nó."],
  "sentence.joined": [
    "Pieces of a word: added up where looked at, averaged where looking.",
    "Các mảnh của một từ: cộng lại khi được nhìn, lấy trung bình khi nhìn.",
  ],
  "sentence.generated": ["Underlined: what the model went on with.", "Gạch chân: phần mô hình tự viết tiếp."],
  "window.words": ["words {first} to {last} of {count}", "từ {first} đến {last} trên {count}"],
  "window.pieces": ["pieces {first} to {last} of {count}", "mảnh {first} đến {last} trên {count}"],
  "window.before": ["Back in the text", "Lùi lại trong văn bản"],
  "window.after": ["On in the text", "Tiếp theo trong văn bản"],
  "find": ["Find a word", "Tìm một từ"],
  "find.how": ["Find a word: Enter for the next, Shift and Enter for the last", "Tìm một từ: Enter để đến từ kế tiếp, Shift và Enter để lùi lại"],
  "find.none": ["not there", "không có"],

  // Overview
  "order": ["Order", "Thứ tự"],
  "order.place": ["by layer and head", "theo tầng và đầu chú ý"],
  "order.entropy": ["entropy, sharpest first", "entropy, tập trung nhất trước"],
  "order.distance": ["distance, farthest first", "khoảng cách, xa nhất trước"],
  "order.aside": ["share set aside, largest first", "phần để riêng, nhiều nhất trước"],
  "overview.corner": ["", ""],
  "overview.layer": ["layer {layer}", "tầng {layer}"],
  "overview.head": [
    "Layer {layer}, head {head}: entropy {entropy} nats, distance {distance} tokens, {aside} on what is set aside",
    "Tầng {layer}, đầu chú ý {head}: entropy {entropy} nat, khoảng cách {distance} token, {aside} cho phần để riêng",
  ],
  "overview.head.cross": [
    "Layer {layer}, head {head}: entropy {entropy} nats, {aside} on what is set aside",
    "Tầng {layer}, đầu chú ý {head}: entropy {entropy} nat, {aside} cho phần để riêng",
  ],
  "overview.hint": [
    "Every head is a small picture: its rows look, its columns are looked at. Click one to open it.",
    "Mỗi đầu chú ý là một hình nhỏ: hàng là bên nhìn, cột là bên được nhìn. Bấm vào để mở.",
  ],
  "overview.basis": [
    "Each picture has its own scale, from nothing to its largest weight.",
    "Mỗi hình có thang màu riêng, từ không đến trọng số lớn nhất của nó.",
  ],
  "overview.below.entropy": ["Below each: its entropy in nats; at 0 a token looks at one token only.", "Bên dưới: entropy, tính bằng nat; ở mức 0, mỗi token chỉ nhìn một token."],
  "overview.below.distance": ["Below each: layer.head, and how far it looks on average, in tokens.", "Bên dưới: tầng.đầu, và khoảng cách nhìn trung bình, tính bằng token."],
  "overview.below.aside": ["Below each: layer.head, and the share that goes to what is set aside.", "Bên dưới: tầng.đầu, và tỉ lệ dành cho phần để riêng."],
  "overview.before": ["The heads before", "Các đầu chú ý trước"],
  "overview.after": ["The heads after", "Các đầu chú ý sau"],

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
  "asking.layer": ["{model}: layer {layer} of {count} · {seconds} s", "{model}: tầng {layer} trên {count} · {seconds} giây"],
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
