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
  "matrix.aria": ["Matrix of weights: rows are queries, columns are keys", "Ma trận trọng số: hàng là query, cột là key"],
  "matrix.how": [
    "Drag to move; pinch, or turn the wheel with Ctrl, to zoom. Press a row to pin its query, a column's label to leave the column out of the scale. Arrow keys go from cell to cell.",
    "Kéo để di chuyển; chụm hai ngón hoặc giữ Ctrl và lăn chuột để phóng to, thu nhỏ. Bấm vào một hàng để ghim query của hàng đó, bấm vào nhãn cột để không tính cột vào thang màu. Các phím mũi tên đi từng ô.",
  ],
  "matrix.hint": ["Point at a cell to read its weight.", "Trỏ vào một ô để đọc trọng số."],
  "matrix.query": ["query", "query"],
  "matrix.key": ["key", "key"],
  "matrix.weight": ["weight", "trọng số"],
  "matrix.share": ["of what it gives to what is shown", "trong phần dành cho những gì đang hiện"],
  "matrix.none": ["none: this query may not look there", "không có: query này không được nhìn tới đó"],
  "matrix.capped": ["left out of the scale", "không tính vào thang màu"],
  "matrix.said": [
    "{query} to {key}: {weight}, {share} of what it gives to what is shown",
    "{query} tới {key}: {weight}, {share} trong phần dành cho những gì đang hiện",
  ],
  "matrix.said.none": ["{query} may not look at {key}", "{query} không được nhìn tới {key}"],
  "matrix.scale": ["Scale", "Thang màu"],
  "matrix.scale.linear": ["linear", "tuyến tính"],
  "matrix.scale.log": ["logarithmic", "lôgarit"],
  "matrix.scale.rank": ["by rank", "theo thứ hạng"],
  "matrix.legend": ["Weight", "Trọng số"],
  "matrix.legend.mean": ["Weight, mean of {count} × {count} cells", "Trọng số, trung bình của {count} × {count} ô"],
  "matrix.legend.rank": ["as many cells in each colour", "mỗi màu có số ô như nhau"],
  "matrix.hidden": ["a query may not look there", "query không được nhìn tới đó"],
  "matrix.dots": [
    "Each dot is the mean of {count} × {count} cells. Zoom in to see every weight.",
    "Mỗi chấm là trung bình của {count} × {count} ô. Phóng to để thấy từng trọng số.",
  ],
  "matrix.far": [
    "A coarse picture of the whole. Zoom in: weights are computed where you look.",
    "Hình thô của toàn bộ ma trận. Hãy phóng to: trọng số được tính ở nơi bạn nhìn.",
  ],
  "matrix.closer": ["Zoom in", "Phóng to"],
  "matrix.farther": ["Zoom out", "Thu nhỏ"],
  "matrix.all": ["All", "Tất cả"],
  "matrix.whole": ["{rows} queries × {columns} keys", "{rows} query × {columns} key"],
  "matrix.place": [
    "Queries {queries} and keys {keys} of {rows} × {columns}",
    "Query {queries} và key {keys} trong {rows} × {columns}",
  ],
  "matrix.sink": [
    "“{key}” takes {share} of what is given here, and the others look pale beside it.",
    "“{key}” nhận {share} trọng số ở đây, nên các cột khác trông nhạt hẳn.",
  ],
  "matrix.sink.clip": ["Clip this column", "Cắt cột này"],
  "matrix.clips": ["Left out of the scale", "Không tính vào thang màu"],
  "matrix.clipped": ["{key} is left out of the scale", "{key} không được tính vào thang màu"],
  "matrix.unclipped": ["{key} counts for the scale again", "{key} lại được tính vào thang màu"],
  "matrix.unclip": ["Count {key} again", "Tính lại {key}"],
  "matrix.many": [
    "these are too many cells for a table; zoom in to fewer than four million",
    "có quá nhiều ô cho một bảng; hãy phóng to tới khi còn dưới bốn triệu ô",
  ],

  // Steps

  // Compare

  // Taking it away
  "keeping": ["Take it away", "Lưu và chia sẻ"],
  "keeping.open": ["Take it away", "Lưu, chia sẻ"],
  "keeping.picture": ["Picture", "Hình ảnh"],
  "keeping.numbers": ["Numbers", "Số liệu"],
  "keeping.png": ["Save the picture as PNG", "Lưu hình dạng PNG"],
  "keeping.svg": ["Save the picture as SVG", "Lưu hình dạng SVG"],
  "keeping.csv": ["Save the numbers as CSV", "Lưu số liệu dạng CSV"],
  "keeping.json": ["Save the numbers as JSON", "Lưu số liệu dạng JSON"],
  "keeping.state": ["This very state", "Đúng trạng thái này"],
  "keeping.words.why": [
    "A few words bring back all that you have chosen. Paste them below, also on another page of the same text.",
    "Vài từ này khôi phục mọi lựa chọn của bạn. Dán chúng vào ô bên dưới, kể cả ở một trang khác của cùng văn bản.",
  ],
  "keeping.words": ["Words", "Từ khôi phục"],
  "keeping.link": ["Link", "Liên kết"],
  "keeping.copy": ["Copy", "Sao chép"],
  "keeping.paste": ["Paste words or a link", "Dán từ khôi phục hoặc liên kết"],
  "keeping.restore": ["Restore", "Khôi phục"],
  "keeping.making": ["One moment…", "Chờ một chút…"],
  "keeping.kept": ["Saved as {name}", "Đã lưu thành {name}"],
  "keeping.copied": ["Copied", "Đã sao chép"],
  "keeping.refused": [
    "The browser refused to copy. The words are selected: press Ctrl+C (on a Mac, ⌘C).",
    "Trình duyệt không cho sao chép. Nội dung đã được chọn: hãy bấm Ctrl+C (trên máy Mac: ⌘C).",
  ],
  "keeping.nothing": ["These words name no setting of this page.", "Những từ này không chứa thiết lập nào của trang."],
  "keeping.restored": ["The state is restored", "Đã khôi phục trạng thái"],

  // Asking for new texts

  // Keys: "keys.VIEW.NAME", or "keys.page.NAME" for those of all views; before the colon the keys, with spaces between.
  "keys": ["Keys", "Phím tắt"],
  "keys.everywhere": ["Everywhere", "Ở mọi nơi"],
  "keys.page.layer": ["[ ]: the layer before, the layer after", "[ ]: tầng trước, tầng sau"],
  "keys.page.head": ["{ }: the head before, the head after", "{ }: đầu chú ý trước, đầu chú ý sau"],
  "keys.page.view": ["1 2 3 4 5: the views, from left to right", "1 2 3 4 5: các góc nhìn, từ trái sang phải"],
  "keys.page.help": ["?: this list", "?: danh sách này"],
  "keys.matrix.cell": ["← ↑ ↓ →: from cell to cell; with Shift, ten at once", "← ↑ ↓ →: đi từng ô; giữ Shift: mười ô một lần"],
  "keys.matrix.page": ["PageUp PageDown: a window up or down", "PageUp PageDown: lên hoặc xuống một khung nhìn"],
  "keys.matrix.ends": [
    "Home End: the first and last key; with Ctrl, also the first and last query",
    "Home End: key đầu và key cuối; giữ Ctrl: cả query đầu và query cuối",
  ],
  "keys.matrix.zoom": ["+ − 0: zoom in, zoom out, all", "+ − 0: phóng to, thu nhỏ, tất cả"],
  "keys.matrix.pin": ["Enter Space: pin the query, or let it go", "Enter Space: ghim hoặc bỏ ghim query"],
  "keys.matrix.clip": ["C: leave the key's column out of the scale", "C: không tính cột của key vào thang màu"],
  "keys.matrix.leave": ["Esc: point at nothing", "Esc: không trỏ vào ô nào"],
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

/** The keys and what they do, in a language: [{view, keys, text}], those of all views as of the view "page". */
export const keyTexts = (language) =>
  Object.keys(WORDS)
    .filter((name) => /^keys\.\w+\./.test(name))
    .map((name) => {
      const [, keys, text] = /^(\S.*?): (.*)$/s.exec(WORDS[name][language === "vi" ? 1 : 0]);
      return { view: name.split(".")[1], keys: keys.split(" "), text };
    });
