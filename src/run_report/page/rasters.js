// Slices and projections: an SVG drawing of a field on a grid, with axes and a color bar; and color maps.
"use strict";

report.colorMaps = {
  // Polynomials of degree 6 in the fraction, fitted to the maps of matplotlib (van der Walt and Smith 2015)
  // by M. Zucker, public domain.
  coefficients: {
    viridis: [
      [0.2777273272, 0.0054073445, 0.3340998053],
      [0.1050930431, 1.4046135299, 1.3845901629],
      [-0.3308618287, 0.2148475595, 0.095095163],
      [-4.634230499, -5.7991009734, -19.3324409563],
      [6.2282699332, 14.1799333668, 56.6905526007],
      [4.7763849984, -13.7451453774, -65.3530326334],
      [-5.4354558559, 4.6458526122, 26.3124352496],
    ],
    inferno: [
      [0.0002189403, 0.0016510046, -0.0194808984],
      [0.1065134195, 0.5639564368, 3.9327123889],
      [11.6024930825, -3.9728539657, -15.9423941063],
      [-41.7039961314, 17.4363988821, 44.3541451987],
      [77.1629356994, -33.4023589421, -81.8073092574],
      [-71.319428245, 32.626064264, 73.209519858],
      [25.1311262248, -12.2426689524, -23.0703250003],
    ],
  },

  // Red, green and blue from 0 to 255 at a fraction from 0 to 1.
  at(name, fraction) {
    const x = Math.min(1, Math.max(0, fraction));
    return [0, 1, 2].map((channel) => {
      const value = report.colorMaps.coefficients[name].reduceRight((sum, row) => sum * x + row[channel], 0);
      return Math.round(255 * Math.min(1, Math.max(0, value)));
    });
  },

  // The colors of particles: those of viridis that stand out from the dark stage.
  onStage(fraction) {
    return report.colorMaps.at("viridis", 0.22 + 0.78 * fraction);
  },

  stageGradient() {
    const stops = Array.from({ length: 17 }, (_, k) => `rgb(${report.colorMaps.onStage(k / 16).join(" ")})`);
    return `linear-gradient(to right, ${stops.join(", ")})`;
  },
};

report.rasters = {
  figure(raster, place) {
    const bytes = report.bytesOf(raster.values);
    const values = new Float32Array(bytes.buffer);
    const name =
      raster.title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "") || `raster-${place + 1}`;
    const holder = report.element("div", { class: "raster" });
    const draw = () => holder.replaceChildren(report.rasters.svg(raster, values));
    report.themed.push(draw);
    draw();
    document.documentElement.dataset.rasters = place + 1;
    return report.element(
      "figure",
      { id: `raster-${place + 1}` },
      report.caption(
        raster.title,
        "",
        report.saveButton("SVG", raster.title, () =>
          report.save(`${name}.svg`, "image/svg+xml", report.svgText(holder.firstChild)),
        ),
        report.saveButton("CSV", raster.title, () =>
          report.save(`${name}.csv`, "text/csv", report.rasters.csv(raster, values)),
        ),
      ),
      holder,
    );
  },

  csv(raster, values) {
    const [x0, x1, y0, y1] = raster.extent;
    const lines = [[...raster.axes, report.labelled(raster.label, raster.unit)].map(report.cell).join(",")];
    for (let row = 0; row < raster.height; row++) {
      const y = y0 + ((row + 0.5) / raster.height) * (y1 - y0);
      for (let column = 0; column < raster.width; column++) {
        const x = x0 + ((column + 0.5) / raster.width) * (x1 - x0);
        lines.push(`${x},${y},${values[row * raster.width + column]}`);
      }
    }
    return lines.join("\n") + "\n";
  },

  // Ends of the colors: those of the raster, else all values that can be shown.
  ends(raster, values) {
    if (raster.range) return raster.range;
    let lower = Infinity,
      upper = -Infinity;
    for (const value of values) {
      if (!Number.isFinite(value) || (raster.logarithmic && value <= 0)) continue;
      if (value < lower) lower = value;
      if (value > upper) upper = value;
    }
    if (lower > upper) return [raster.logarithmic ? 0.1 : 0, 1];
    return lower === upper ? [lower, lower + Math.max(Math.abs(lower) * 1e-6, 1e-30)] : [lower, upper];
  },

  // The cells as a PNG, upper row first.
  image(raster, values, [lower, upper]) {
    const canvas = report.element("canvas", { width: raster.width, height: raster.height });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(raster.width, raster.height);
    const colors = Array.from({ length: 256 }, (_, k) => report.colorMaps.at(raster.color_map, k / 255));
    const measure = raster.logarithmic ? Math.log : (value) => value;
    const from = measure(lower),
      width = measure(upper) - from;
    for (let row = 0; row < raster.height; row++) {
      for (let column = 0; column < raster.width; column++) {
        const value = values[row * raster.width + column];
        if (!Number.isFinite(value) || (raster.logarithmic && value <= 0)) continue;
        const color = colors[Math.round(255 * Math.min(1, Math.max(0, (measure(value) - from) / width)))];
        const at = 4 * ((raster.height - 1 - row) * raster.width + column);
        pixels.data.set([...color, 255], at);
      }
    }
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL("image/png");
  },

  svg(raster, values) {
    const [x0, x1, y0, y1] = raster.extent;
    const ends = report.rasters.ends(raster, values);
    const [left, right, top, bottom] = [66, 92, 10, 52];
    const plotWidth = 380;
    const plotHeight = Math.round(Math.min(520, Math.max(100, (plotWidth * (y1 - y0)) / (x1 - x0))));
    const [width, height] = [left + plotWidth + right, top + plotHeight + bottom];
    const ink = report.color("quiet");
    const root = report.svg("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "font-family": "sans-serif",
      "font-size": 13.5,
      "aria-label":
        `${raster.title}: ${report.labelled(raster.label, raster.unit)} ` +
        `from ${report.number(ends[0])} to ${report.number(ends[1])}`,
    });
    const text = (x, y, content, more = {}) =>
      root.append(report.svg("text", { x, y, fill: ink, "text-anchor": "middle", ...more }, content));
    const lineAt = (x1, y1, x2, y2) => root.append(report.svg("line", { x1, y1, x2, y2, stroke: ink }));
    root.append(
      report.svg("image", {
        x: left,
        y: top,
        width: plotWidth,
        height: plotHeight,
        preserveAspectRatio: "none",
        href: report.rasters.image(raster, values, ends),
      }),
    );
    root.append(
      report.svg("rect", {
        x: left,
        y: top,
        width: plotWidth,
        height: plotHeight,
        fill: "none",
        stroke: ink,
      }),
    );
    const xTicks = report.ticks(x0, x1, 6),
      yTicks = report.ticks(y0, y1, 6);
    report.charts.tickLabels(xTicks).forEach((label, k) => {
      const x = left + ((xTicks[k] - x0) / (x1 - x0)) * plotWidth;
      lineAt(x, top + plotHeight, x, top + plotHeight + 5);
      text(x, top + plotHeight + 20, label);
    });
    report.charts.tickLabels(yTicks).forEach((label, k) => {
      const y = top + plotHeight - ((yTicks[k] - y0) / (y1 - y0)) * plotHeight;
      lineAt(left - 5, y, left, y);
      text(left - 9, y + 4, label, { "text-anchor": "end" });
    });
    text(left + plotWidth / 2, height - 10, raster.axes[0]);
    text(16, top + plotHeight / 2, raster.axes[1], { transform: `rotate(-90 16 ${top + plotHeight / 2})` });
    const bar = left + plotWidth + 16;
    const steps = 64;
    for (let k = 0; k < steps; k++) {
      const color = report.colorMaps.at(raster.color_map, (k + 0.5) / steps);
      root.append(
        report.svg("rect", {
          x: bar,
          y: top + plotHeight * (1 - (k + 1) / steps),
          width: 13,
          height: plotHeight / steps + 0.6,
          fill: `rgb(${color.join(",")})`,
        }),
      );
    }
    const place = (value) =>
      raster.logarithmic
        ? Math.log(value / ends[0]) / Math.log(ends[1] / ends[0])
        : (value - ends[0]) / (ends[1] - ends[0]);
    const ticks = raster.logarithmic ? report.logarithmicTicks(...ends) : report.ticks(...ends, 6);
    report.charts.tickLabels(ticks, raster.logarithmic).forEach((label, k) => {
      const y = top + plotHeight * (1 - place(ticks[k]));
      lineAt(bar + 13, y, bar + 17, y);
      text(bar + 20, y + 4, label, { "text-anchor": "start" });
    });
    const middle = top + plotHeight / 2;
    text(width - 8, middle, report.labelled(raster.label, raster.unit), {
      transform: `rotate(-90 ${width - 8} ${middle})`,
    });
    return root;
  },
};
