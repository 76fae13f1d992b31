// Tools of the page: elements, numbers, files to save.
"use strict";

const report = {
  data: JSON.parse(document.getElementById("data").textContent),

  // Creates an element. Texts become text nodes: no text of a deck or file is ever read as HTML.
  element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false)
        made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  },

  svg(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.flat());
    return made;
  },

  // Value of a color of the style sheet.
  color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  },

  superscript(text) {
    return [...String(text)]
      .map((letter) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[letter] ?? (letter === "-" ? "⁻" : letter))
      .join("");
  },

  // "U_L^2 U_t^-2" becomes "U_L² U_t⁻²"; "1" is no unit.
  unit(text) {
    return !text || text === "1" ? "" : text.replace(/\^(-?\d+)/g, (_, power) => report.superscript(power));
  },

  // "energy (kJ mol⁻¹)"
  labelled(label, unit) {
    const name = report.unit(unit);
    return name ? `${label} (${name})` : label;
  },

  // A number with so many significant digits: 65,465; 0.0312; 1.2 × 10⁻⁷.
  number(value, digits = 4) {
    if (typeof value !== "number" || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return value.toLocaleString("en-US").replace("-", "−");
    if (size >= 1e6 || size < 1e-3) {
      const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
      return `${mantissa.replace("-", "−")} × 10${report.superscript(Number(exponent))}`;
    }
    const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    return value
      .toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: decimals })
      .replace("-", "−");
  },

  // A number with its unit.
  quantity(value, unit, digits = 4) {
    const name = report.unit(unit);
    return report.number(value, digits) + (name ? ` ${name}` : "");
  },

  // 950; 41.2 thousand; 3.41 million.
  large(value) {
    if (value === null || value === undefined) return "–";
    for (const [size, name] of [
      [1e9, "billion"],
      [1e6, "million"],
      [1e4, "thousand"],
    ]) {
      if (value >= size) return `${report.number(value / (size === 1e4 ? 1e3 : size), 3)} ${name}`;
    }
    return report.number(value, 3);
  },

  bytes(value) {
    for (const [size, name] of [
      [1e12, "TB"],
      [1e9, "GB"],
      [1e6, "MB"],
      [1e3, "kB"],
    ]) {
      if (value >= size) return `${report.number(value / size, 3)} ${name}`;
    }
    return `${report.number(value, 3)} B`;
  },

  // 0.42 s; 42 s; 7 min 5 s; 3 h 12 min; 2 d 5 h.
  duration(seconds) {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
    if (seconds < 10) return `${report.number(seconds, seconds < 1 ? 2 : 3)} s`;
    const whole = Math.round(seconds);
    if (whole < 120) return `${whole} s`;
    if (whole < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    if (whole < 172800) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
    return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
  },

  date(seconds) {
    return new Date(1000 * seconds).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  },

  // Bytes of a base64 text.
  bytesOf(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
    return bytes;
  },

  // Offers a text or blob as a file.
  save(name, type, content) {
    const link = report.element("a", {
      href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })),
      download: name,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  },

  // Caption of a figure: title, buttons that save it, and a note.
  caption(title, note, ...buttons) {
    return report.element(
      "figcaption",
      {},
      report.element("h3", {}, title),
      report.element("span", {}, ...buttons),
      note ? report.element("span", { class: "note" }, note) : null,
    );
  },

  saveButton(label, what, make) {
    return report.element(
      "button",
      { type: "button", class: "save", "aria-label": `Save ${what} as ${label}`, onclick: make },
      label,
    );
  },

  svgText(root) {
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(root) + "\n";
  },

  // A cell of a CSV file.
  cell(value) {
    if (value === null || value === undefined) return "NaN";
    const text = String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  },

  // Round numbers between two ends, about `count` of them.
  ticks(lower, upper, count) {
    // ends that differ by rounding have no round numbers between them
    if (!(upper - lower > 1e-12 * Math.max(Math.abs(lower), Math.abs(upper)))) return [lower];
    const rough = (upper - lower) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
    const ticks = [];
    for (let k = Math.ceil(lower / step - 1e-9); k * step <= upper + 1e-9 * step; k++) ticks.push(k * step);
    return ticks;
  },

  // Powers of ten between two ends; with fewer than two of them also 2 and 5 times these, else round numbers.
  logarithmicTicks(lower, upper) {
    const from = Math.floor(Math.log10(lower)),
      to = Math.ceil(Math.log10(upper));
    const skip = Math.ceil((to - from) / 8);
    const powers = [];
    for (let k = from; k <= to; k++) if (k % skip === 0) powers.push(10 ** k);
    const within = (values) => values.filter((value) => value >= lower * 0.999 && value <= upper * 1.001);
    if (within(powers).length >= 2) return within(powers);
    const more = within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
    return more.length >= 2 ? more : report.ticks(lower, upper, 4);
  },

  // Views that are drawn anew when the reader's color scheme changes.
  themed: [],
};

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  report.themed.forEach((draw) => draw()),
);
