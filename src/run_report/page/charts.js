// Charts: uPlot on the page; SVG and CSV of the same data to save.
"use strict";

report.charts = {
  drawn: 0,

  seriesColor(place) {
    return report.color(`series-${(place % 6) + 1}`);
  },

  // A figure element with its chart.
  figure(figure) {
    const place = report.element("div", {
      class: "chart",
      role: "img",
      "aria-label": report.charts.describe(figure),
    });
    const name = figure.id;
    const made = report.element(
      "figure",
      { id: `figure-${name}` },
      report.caption(
        figure.title,
        figure.note,
        report.saveButton("SVG", figure.title, () =>
          report.save(`${name}.svg`, "image/svg+xml", report.svgText(report.charts.svg(figure))),
        ),
        report.saveButton("CSV", figure.title, () =>
          report.save(`${name}.csv`, "text/csv", report.charts.csv(figure)),
        ),
      ),
      place,
    );
    report.charts.whenSeen(made, () => report.charts.draw(figure, place));
    return made;
  },

  // Draws when a figure comes near the window: a page of many figures opens at once.
  whenSeen(made, draw) {
    let drawn = false;
    const once = () => {
      if (drawn) return;
      drawn = true;
      watch.disconnect();
      draw();
    };
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) once();
      },
      { rootMargin: "600px" },
    );
    watch.observe(made);
    addEventListener("beforeprint", once, { once: true });
  },

  // Whether the ends of a range are equal up to rounding.
  isPoint(lower, upper) {
    return upper - lower <= 1e-12 * Math.max(Math.abs(lower), Math.abs(upper));
  },

  describe(figure) {
    const parts = figure.series.map((series) => {
      const values = series.y.filter((value) => value !== null);
      if (!values.length) return `${series.name}: no values`;
      const least = values.reduce((a, b) => Math.min(a, b)),
        most = values.reduce((a, b) => Math.max(a, b));
      const last = values[values.length - 1];
      const [from, to, end] = [least, most, last].map((value) => report.number(value));
      return `${series.name} from ${from} to ${to}, last ${end}`;
    });
    const [y, x] = [figure.y, figure.x].map((axis) => report.labelled(axis.label, axis.unit));
    const axes = `${y} over ${x}`;
    return `${figure.title}: ${axes}. ${parts.join("; ")}.`;
  },

  draw(figure, place) {
    let chart = null;
    const size = () => ({
      width: Math.max(220, place.clientWidth),
      height: Math.round(Math.min(340, Math.max(240, place.clientWidth * 0.55))),
    });
    const build = () => {
      if (chart) chart.destroy();
      chart = new uPlot(
        { ...size(), ...report.charts.options(figure) },
        report.charts.aligned(figure),
        place,
      );
      // a series without a name has no place in the legend
      const rows = chart.root.querySelectorAll(".u-legend .u-series");
      figure.series.forEach((series, k) => rows[k + 1]?.toggleAttribute("hidden", !series.name));
    };
    build();
    report.charts.drawn += 1;
    document.documentElement.dataset.charts = report.charts.drawn;
    // after the layout: a new size within the notification would be reported as a loop
    new ResizeObserver(() =>
      requestAnimationFrame(() => {
        if (chart.width !== size().width) chart.setSize(size());
      }),
    ).observe(place);
    report.themed.push(build);
  },

  // One abscissa for all series, as uPlot needs it. A logarithmic axis has positive values only.
  aligned(figure) {
    const tables = figure.series.map((series) => {
      const rows = [];
      series.x.forEach((x, k) => {
        const y = series.y[k];
        if (x === null || (figure.x.logarithmic && x <= 0)) return;
        rows.push([x, y === null || (figure.y.logarithmic && y <= 0) ? null : y]);
      });
      rows.sort((one, other) => one[0] - other[0]);
      return rows;
    });
    const same = tables.every(
      (rows) => rows.length === tables[0].length && rows.every((row, k) => row[0] === tables[0][k][0]),
    );
    if (same) return [tables[0].map((row) => row[0]), ...tables.map((rows) => rows.map((row) => row[1]))];
    // dots share abscissas among themselves: every point has a place of its own
    const total = tables.reduce((sum, rows) => sum + rows.length, 0);
    const order = tables
      .flatMap((rows, series) => rows.map((row) => [row[0], series, row[1]]))
      .sort((a, b) => a[0] - b[0]);
    const data = [new Array(total), ...tables.map(() => new Array(total).fill(undefined))];
    order.forEach(([x, series, y], k) => {
      data[0][k] = x;
      data[series + 1][k] = y;
    });
    return data;
  },

  options(figure) {
    const ink = report.color("quiet"),
      line = report.color("line");
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const axis = (shape, extra) => ({
      stroke: ink,
      font,
      labelFont: font,
      labelGap: 2,
      label: report.labelled(shape.label, shape.unit),
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 5 },
      ...(shape.logarithmic
        ? {
            splits: (u, _, lower, upper) => report.logarithmicTicks(lower, upper),
            filter: (u, splits) => splits,
          }
        : {}),
      values: (u, splits) => report.charts.tickLabels(splits, shape.logarithmic),
      ...extra,
    });
    const range = (shape) => (u, lower, upper) => report.charts.range(lower, upper, shape.logarithmic);
    return {
      scales: {
        x: {
          time: false,
          distr: figure.x.logarithmic ? 3 : 1,
          range: (u, lower, upper) => report.charts.range(lower, upper, figure.x.logarithmic, 0),
        },
        y: { distr: figure.y.logarithmic ? 3 : 1, range: range(figure.y) },
      },
      axes: [
        axis(figure.x, { space: 60, size: 34, labelSize: 20 }),
        axis(figure.y, {
          space: 34,
          labelSize: 20,
          size: (u, values) => 16 + 7 * Math.max(3, ...(values ?? []).map((text) => (text ?? "").length)),
        }),
      ],
      series: [
        { label: figure.x.label, value: report.charts.legendValue },
        ...figure.series.map((series, place) => report.charts.seriesOptions(series, place)),
      ],
      cursor: { points: { size: 7 }, drag: { x: true, y: false }, dataIdx: report.charts.nearest },
      legend: { live: true, markers: { width: 2 } },
    };
  },

  // Index of the nearest point of a series that has a value.
  nearest(u, place, index) {
    const values = u.data[place];
    if (values[index] !== undefined && values[index] !== null) return index;
    for (let k = 1; k < 400; k++) {
      for (const other of [index - k, index + k])
        if (values[other] !== undefined && values[other] !== null) return other;
    }
    return index;
  },

  seriesOptions(series, place) {
    const stroke = report.charts.seriesColor(place);
    const points = {
      dots: { show: true, size: 3, width: 0, fill: stroke + "66" },
      markers: { show: true, size: 8, width: 1.5, fill: stroke, stroke: report.color("surface") },
    }[series.mark];
    return {
      label: series.name,
      stroke: series.mark === "dots" ? stroke + "66" : stroke,
      width: points ? 0 : 1.8,
      dash: series.mark === "dashes" ? [7, 5] : undefined,
      paths: points ? () => null : undefined,
      points: points ?? { show: series.x.length < 3, size: 6, fill: stroke },
      value: series.mark === "dots" ? () => "" : report.charts.legendValue,
    };
  },

  // Value at the cursor, without one the last value.
  legendValue(u, value, series) {
    const shown = value ?? u.data[series].findLast((last) => last !== null && last !== undefined);
    return report.number(shown, 5);
  },

  // Ends of an axis with a margin; a constant gets an interval around it.
  range(lower, upper, logarithmic, margin = 0.06) {
    if (lower === null || upper === null || lower === undefined) return logarithmic ? [0.1, 1] : [0, 1];
    if (logarithmic) {
      const wide = report.charts.isPoint(lower, upper) ? 2 : (upper / lower) ** margin;
      return [lower / wide, upper * wide];
    }
    if (report.charts.isPoint(lower, upper)) {
      const half = Math.abs(lower) * 1e-3 || 1;
      return [lower - half, upper + half];
    }
    const extra = margin * (upper - lower);
    return [lower - extra, upper + extra];
  },

  // Labels of ticks: the same decimals for all, powers of ten for very large or small ones. On a logarithmic
  // axis each has its own decimals.
  tickLabels(ticks, logarithmic = false) {
    if (logarithmic) {
      return ticks.map((tick) => {
        if (tick === null || tick === undefined) return null;
        if (tick >= 0.999e-3 && tick < 1.001e4) return String(Number(tick.toPrecision(3)));
        return report.charts.tickLabels([tick])[0];
      });
    }
    const known = ticks.filter((tick) => tick !== null && tick !== undefined);
    const largest = Math.max(...known.map(Math.abs), 0);
    const gaps = known
      .slice(1)
      .map((tick, k) => Math.abs(tick - known[k]))
      .filter((gap) => gap > 0);
    const step = gaps.length ? Math.min(...gaps) : largest || 1;
    const plain = largest === 0 || (largest < 1e5 && step >= 1e-4 * 0.999);
    return ticks.map((tick) => {
      if (tick === null || tick === undefined) return null;
      if (Math.abs(tick) < step * 1e-6) return "0";
      if (plain) return tick.toFixed(report.charts.decimals(step)).replace("-", "−");
      const power = Math.floor(Math.log10(Math.abs(tick)) + 1e-9);
      const mantissa = (tick / 10 ** power).toFixed(report.charts.decimals(step / 10 ** power));
      const raised = `10${report.superscript(power)}`;
      return known.length === 1 && mantissa === "1" ? raised : `${mantissa.replace("-", "−")}·${raised}`;
    });
  },

  // Fewest decimals that show a step between ticks.
  decimals(step) {
    for (let count = 0; count < 6; count++) {
      const shifted = step * 10 ** count;
      if (Math.abs(shifted - Math.round(shifted)) < 1e-6 * shifted) return count;
    }
    return 6;
  },

  // Columns side by side if all series share their abscissas, else below each other.
  csv(figure) {
    const head = (axis) => report.labelled(axis.label, axis.unit);
    const [first] = figure.series;
    const same = figure.series.every(
      (series) => series.x.length === first.x.length && series.x.every((x, k) => x === first.x[k]),
    );
    const lines = same
      ? [
          [head(figure.x), ...figure.series.map((series) => `${series.name}: ${head(figure.y)}`)],
          ...first.x.map((x, k) => [x, ...figure.series.map((series) => series.y[k])]),
        ]
      : [
          ["series", head(figure.x), head(figure.y)],
          ...figure.series.flatMap((series) => series.x.map((x, k) => [series.name, x, series.y[k]])),
        ];
    return lines.map((line) => line.map(report.cell).join(",")).join("\n") + "\n";
  },

  // The chart as an SVG drawing with the colors of the page.
  svg(figure) {
    const [width, height] = [720, 440],
      [left, right, top, bottom] = [90, 20, 46, 60 + 18 * Math.ceil(figure.series.length / 4)];
    const data = report.charts.aligned(figure);
    const ends = (values, axis, margin) => {
      const known = values.filter((value) => value !== null && value !== undefined);
      return known.length
        ? report.charts.range(
            known.reduce((a, b) => Math.min(a, b)),
            known.reduce((a, b) => Math.max(a, b)),
            axis.logarithmic,
            margin,
          )
        : [0, 1];
    };
    const xEnds = ends(data[0], figure.x, 0),
      yEnds = ends(data.slice(1).flat(), figure.y, 0.06);
    const scale = (value, [lower, upper], logarithmic) =>
      logarithmic ? Math.log(value / lower) / Math.log(upper / lower) : (value - lower) / (upper - lower);
    const px = (x) => left + scale(x, xEnds, figure.x.logarithmic) * (width - left - right);
    const py = (y) => height - bottom - scale(y, yEnds, figure.y.logarithmic) * (height - top - bottom);
    const ink = report.color("ink"),
      quiet = report.color("quiet"),
      line = report.color("line");
    const root = report.svg("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      "font-family": "sans-serif",
      "font-size": 13,
    });
    const text = (x, y, content, more = {}) =>
      root.append(report.svg("text", { x, y, fill: quiet, "text-anchor": "middle", ...more }, content));
    root.append(report.svg("rect", { width, height, fill: report.color("surface") }));
    text(width / 2, 24, figure.title, { fill: ink, "font-size": 16, "font-weight": 600 });
    const ticks = (axis, [lower, upper], count) =>
      axis.logarithmic ? report.logarithmicTicks(lower, upper) : report.ticks(lower, upper, count);
    const xTicks = ticks(figure.x, xEnds, 7),
      yTicks = ticks(figure.y, yEnds, 6);
    report.charts.tickLabels(xTicks, figure.x.logarithmic).forEach((label, k) => {
      const x = px(xTicks[k]);
      root.append(report.svg("line", { x1: x, x2: x, y1: top, y2: height - bottom, stroke: line }));
      text(x, height - bottom + 18, label);
    });
    report.charts.tickLabels(yTicks, figure.y.logarithmic).forEach((label, k) => {
      const y = py(yTicks[k]);
      root.append(report.svg("line", { x1: left, x2: width - right, y1: y, y2: y, stroke: line }));
      text(left - 8, y + 4, label, { "text-anchor": "end" });
    });
    text((left + width - right) / 2, height - bottom + 38, report.labelled(figure.x.label, figure.x.unit));
    const middle = (top + height - bottom) / 2;
    text(20, middle, report.labelled(figure.y.label, figure.y.unit), {
      transform: `rotate(-90 20 ${middle})`,
    });
    figure.series.forEach((series, place) => {
      const stroke = report.charts.seriesColor(place);
      const points = data[0].map((x, k) => [x, data[place + 1][k]]).filter(([, y]) => y !== undefined);
      const radius = { dots: 1.4, markers: 3.2 }[series.mark];
      if (radius) {
        for (const [x, y] of points.filter((point) => point[1] !== null)) {
          const [cx, cy] = [px(x).toFixed(1), py(y).toFixed(1)];
          const opacity = series.mark === "dots" ? 0.4 : 1;
          root.append(report.svg("circle", { cx, cy, r: radius, fill: stroke, "fill-opacity": opacity }));
        }
      } else {
        let pen = "M";
        const path = points
          .map(([x, y]) => {
            if (y === null) {
              pen = "M";
              return "";
            }
            const move = `${pen}${px(x).toFixed(1)} ${py(y).toFixed(1)}`;
            pen = "L";
            return move;
          })
          .join("");
        root.append(
          report.svg("path", {
            d: path,
            fill: "none",
            stroke,
            "stroke-width": 1.8,
            ...(series.mark === "dashes" ? { "stroke-dasharray": "7 5" } : {}),
          }),
        );
      }
      const column = place % 4,
        row = Math.floor(place / 4);
      const x = left + column * ((width - left - right) / 4),
        y = height - 14 - 18 * (Math.ceil(figure.series.length / 4) - 1 - row);
      root.append(report.svg("rect", { x, y: y - 9, width: 14, height: 4, fill: stroke }));
      text(x + 20, y - 2, series.name, { "text-anchor": "start" });
    });
    return root;
  },
};
