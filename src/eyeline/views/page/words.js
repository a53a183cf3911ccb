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
  "steps.token": ["Token whose query is walked through", "Token có truy vấn được xem từng bước"],
  "steps.piece": ["Piece of the word", "Mảnh của từ"],
  "steps.pieces": ["in {count} pieces, each with vectors of its own:", "gồm {count} mảnh, mỗi mảnh có vectơ riêng:"],
  "steps.title": ["How {word} is rewritten", "{word} được viết lại thế nào"],
  "steps.where": ["layer {layer}, head {head}", "tầng {layer}, đầu {head}"],
  "steps.hardest": [
    "Steps are of one head. Of layer {layer}, this is head {head}, which looks hardest at one word (elsewhere you see the {chosen}).",
    "Mỗi bước là của một đầu. Ở tầng {layer}, đây là đầu {head}, đầu nhìn tập trung nhất vào một từ (nơi khác đang hiện {chosen}).",
  ],
  "steps.choose.head": ["Stay with head {head}", "Chọn hẳn đầu {head}"],
  "steps.shared": [
    "Heads {first} to {last} share their keys and values: key head {key} of {count}.",
    "Các đầu {first} đến {last} dùng chung khóa và giá trị: đầu khóa {key} trên {count}.",
  ],
  "steps.turned": [
    "q and k are as they are compared: turned by their places (rotary positions).",
    "q và k là các vectơ lúc được so sánh: đã xoay theo vị trí (mã hóa vị trí quay).",
  ],
  "steps.cross": [
    "Cross-attention: {queries} queries of one line look at {keys} keys of the other.",
    "Chú ý chéo: {queries} truy vấn của dòng này nhìn vào {keys} khóa của dòng kia.",
  ],
  "steps.what.if": ["What if", "Thử đổi"],
  "steps.no.ahead": ["looking ahead is forbidden", "che các token đứng sau"],
  "steps.no.scale": ["scores aren't divided by √{d}", "không chia điểm cho √{d}"],
  "steps.removed": ["taken out: {count}", "đã bỏ ra: {count}"],
  "steps.as.trained": ["Back to how it was", "Trở lại ban đầu"],
  "steps.query": ["The query", "Truy vấn (query)"],
  "steps.query.of": ["query of {word}", "truy vấn của {word}"],
  "steps.query.why": ["What {word} is looking for, in {count} numbers.", "Điều {word} đang tìm, viết bằng {count} số."],
  "steps.keys": ["The keys", "Các khóa (key)"],
  "steps.key.of": ["key of {word}", "khóa của {word}"],
  "steps.keys.why": [
    "What each token can be found by. Choose one to see its products; untick one to take it out.",
    "Dấu hiệu để mỗi token được tìm thấy. Chọn một token để xem các tích; bỏ đánh dấu để lấy nó ra.",
  ],
  "steps.takes.part": ["{word} takes part", "{word} tham gia"],
  "steps.products": ["Query times key, coordinate by coordinate", "Truy vấn nhân khóa, theo từng tọa độ"],
  "steps.products.why": [
    "Where {query} and {key} have the same sign the score grows, where they differ it falls.",
    "Nơi {query} và {key} cùng dấu thì điểm tăng, trái dấu thì điểm giảm.",
  ],
  "steps.product": ["product", "tích"],
  "steps.so.far": ["sum so far", "tổng dồn"],
  "steps.products.most": [
    "All of them add up to {score}, the score of {key}. The largest: coordinates {list}.",
    "Cộng tất cả được {score}, điểm của {key}. Lớn nhất: các tọa độ {list}.",
  ],
  "steps.coordinate": ["coordinate", "tọa độ"],
  "steps.which": ["no. {coordinate}", "số {coordinate}"],
  "steps.coordinate.is": ["coordinate {coordinate}: {value}", "tọa độ {coordinate}: {value}"],
  "steps.numbers": ["All these numbers", "Tất cả các số này"],
  "steps.scores": ["From scores to weights", "Từ điểm đến trọng số chú ý"],
  "steps.scores.why": ["Each key of {word} has a score; the scores become shares of 1.", "Mỗi khóa có một điểm đối với {word}; các điểm trở thành các phần của 1."],
  "steps.score.why": ["The products added up: how well the key answers the query.", "Tổng các tích: khóa hợp với truy vấn đến đâu."],
  "steps.scale.divided": ["Divided by √{d} = {root}, since sums of {d} products grow large.", "Chia cho √{d} = {root}, vì tổng của {d} tích thường lớn."],
  "steps.scale.times": ["Times {scale}, the scale of this model.", "Nhân với {scale}, hệ số của mô hình này."],
  "steps.scale.plain": ["Not divided now: differences stay large, so softmax grows sharper.", "Giờ không chia: chênh lệch vẫn lớn nên softmax nhọn hơn."],
  "steps.scale.never": ["This run does not divide.", "Lần chạy này không chia."],
  "steps.mask": ["mask", "mặt nạ"],
  "steps.mask.why": ["Where the query may not look, the score becomes −∞.", "Nơi truy vấn không được nhìn, điểm thành −∞."],
  "steps.mask.none": ["Nothing is hidden from this query.", "Không có gì bị che với truy vấn này."],
  "steps.exp.why": ["e to the power of x − {top}: the largest is taken off, so that numbers stay small.", "e mũ (x − {top}): trừ đi số lớn nhất để các số không quá lớn."],
  "steps.exp.none": ["Nothing is left, so there is nothing to add up.", "Không còn gì để cộng lại."],
  "steps.softmax": ["÷ sum: weight", "÷ tổng: trọng số"],
  "steps.softmax.why": ["Each as a share of their sum.", "Mỗi số là một phần của tổng."],
  "steps.taken.out": ["taken out", "đã bỏ ra"],
  "steps.is.ahead": ["it is ahead", "đứng sau"],
  "steps.not.allowed": ["not allowed", "không được phép"],
  "steps.was": ["{before} → {now}", "{before} → {now}"],
  "steps.sum": ["sum", "tổng"],
  "steps.more": ["and {count} more keys", "và {count} khóa nữa"],
  "steps.more.share": ["and {count} more keys, together {share} of the weight", "và {count} khóa nữa, tất cả chiếm {share} trọng số"],
  "steps.nothing": [
    "Nothing is left for {word} to look at: all weights are 0, and nothing is taken from any token.",
    "Không còn gì để {word} nhìn: mọi trọng số bằng 0, không lấy gì từ token nào.",
  ],
  "steps.values": ["The values, mixed", "Trộn các giá trị (value)"],
  "steps.values.why": ["What each token passes on, times its weight; the sum is what this head makes of {word}.", "Điều mỗi token truyền đi, nhân với trọng số; tổng là điều đầu này tạo ra cho {word}."],
  "steps.values.none": [
    "This page was made without values, so what the weights mix can't be shown. Make it with values=True to see it.",
    "Trang này được tạo không kèm giá trị nên không thể hiện phép trộn. Hãy tạo lại với values=True để xem.",
  ],
  "steps.value": ["value", "giá trị"],
  "steps.value.of": ["value of {word}", "giá trị của {word}"],
  "steps.weight": ["weight", "trọng số"],
  "steps.taken": ["weight × value", "trọng số × giá trị"],
  "steps.taken.of": ["weight times value of {word}", "trọng số nhân giá trị của {word}"],
  "steps.output": ["new vector", "vectơ mới"],
  "steps.output.of": ["new vector of {word}", "vectơ mới của {word}"],
  "steps.output.length": ["The new vector of {word} in this head has length {length}.", "Vectơ mới của {word} ở đầu này có độ dài {length}."],
  "steps.output.moved": ["It has moved by {moved}; before, its length was {length}.", "Nó đã dời đi {moved}; trước đó độ dài là {length}."],
  "steps.output.nothing": ["The new vector is {count} zeros, since nothing is looked at.", "Vectơ mới gồm {count} số 0, vì không nhìn vào đâu cả."],
  "steps.before": ["before", "trước đó"],

  // Compare
  "compare.first": ["First", "Thứ nhất"],
  "compare.second": ["Second", "Thứ hai"],
  "compare.second.less": ["Second − first", "Thứ hai − thứ nhất"],
  "compare.word": ["{side}: the word whose looks are compared", "{side}: từ được so sánh"],
  "compare.itself": ["itself", "chính nó"],
  "compare.nothing": ["nothing", "không từ nào"],
  "compare.taken": ["{word} ({share})", "{word} ({share})"],
  "compare.and": ["{first} and {second}", "{first} và {second}"],
  "compare.said": [
    "In the first, {word} takes most from {first}; in the second, from {second}.",
    "Ở bên thứ nhất, {word} lấy nhiều nhất từ {first}; ở bên thứ hai, từ {second}.",
  ],
  "compare.said.two": [
    "In the first, {word} takes most from {first}; in the second, {other} takes most from {second}.",
    "Ở bên thứ nhất, {word} lấy nhiều nhất từ {first}; ở bên thứ hai, {other} lấy nhiều nhất từ {second}.",
  ],
  "compare.unmatched": ["The second text is compared at another word than {word}; any can be chosen.", "Văn bản thứ hai được so ở một từ khác {word}; có thể chọn từ bất kỳ."],
  "compare.furthest": ["The largest difference is at {word}: {points} percentage points from the first to the second.", "Chênh lệch lớn nhất là ở {word}: {points} điểm phần trăm từ bên thứ nhất sang bên thứ hai."],
  "compare.shares": ["Whom the word looks at on either side, as shares of what it gives to the words shown", "Từ này nhìn vào đâu ở mỗi bên, tính theo phần dành cho các từ được hiện"],
  "compare.looked.at": ["looks at", "nhìn vào"],
  "compare.difference": ["difference", "chênh lệch"],
  "compare.more": ["And {count} more, with less.", "Và {count} từ nữa, ít hơn."],
  "compare.aside": [
    "Shares of what is given to the words shown, which is {first} of all in the first and {second} in the second; the rest goes to what is set aside.",
    "Tính trên phần dành cho các từ được hiện: {first} của tất cả ở bên thứ nhất, {second} ở bên thứ hai; phần còn lại thuộc về phần để riêng.",
  ],
  "compare.pictures": ["From every word to every word", "Từ mọi từ đến mọi từ"],
  "compare.scale": ["Weights, in both from 0 to {most}; a row looks at the columns.", "Trọng số, cả hai từ 0 đến {most}; hàng nhìn vào cột."],
  "compare.cut": ["Long texts are drawn around the chosen word.", "Văn bản dài được vẽ quanh từ đã chọn."],
  "compare.no.difference": ["The texts differ, so there is no difference of their pictures.", "Hai văn bản khác nhau nên không có hình chênh lệch."],
  "compare.grid": ["{name}: weights of {rows} rows on {columns} columns. Arrow keys read them.", "{name}: trọng số của {rows} hàng trên {columns} cột. Dùng phím mũi tên để đọc."],
  "compare.hover": ["Point at a cell, or go along with arrow keys, to read its weight.", "Trỏ vào một ô, hoặc dùng phím mũi tên, để đọc trọng số."],
  "compare.cell": ["{side}: {query} → {key}: {value}", "{side}: {query} → {key}: {value}"],
  "compare.cell.both": ["{query} → {key}: first {first}, second {second}, difference {difference}", "{query} → {key}: thứ nhất {first}, thứ hai {second}, chênh lệch {difference}"],
  "compare.hidden": ["not allowed", "không được phép"],

  // Taking it away

  // Asking for new texts

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
