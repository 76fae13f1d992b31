// Three-dimensional view of a sample of the particles, by WebGL 2: turned, zoomed, played over the snapshots.
"use strict";

report.ParticleView = class {
  constructor(view) {
    this.view = view;
    this.frames = view.frames.map((frame) => ({
      ...frame,
      positions: new Uint16Array(report.bytesOf(frame.positions).buffer),
      values: frame.values.map((text) => new Uint16Array(report.bytesOf(text).buffer)),
      buffers: null,
    }));
    this.frame = this.frames.length - 1;
    this.quantity = 0;
    this.size = 1;
    [this.playing, this.turning] = [false, false];
    [this.center, this.radius] = this.extent();
    this.camera = new report.Camera(this.center, this.radius);
    this.counter = { since: 0, drawn: 0 };
    this.build();
    this.start();
  }

  // Center and radius of what is shown: the box if it is periodic, else nearly all particles of all
  // snapshots.
  extent() {
    const last = this.frames[this.frames.length - 1];
    const corner = [0, 1, 2].map((d) => last.box_upper[d] - last.box_lower[d]);
    if (this.view.periodic) {
      return [corner.map((edge, d) => last.box_lower[d] + edge / 2), Math.hypot(...corner) / 2 || 1];
    }
    const stride = Math.ceil(this.view.shown / 4000);
    const [first] = this.frames;
    const center = [0, 1, 2].map((d) => (first.lower[d] + first.upper[d]) / 2);
    let radius = 0;
    for (const frame of this.frames) {
      const distances = [];
      for (let k = 0; k < this.view.shown; k += stride) {
        distances.push(Math.hypot(...this.position(frame, k).map((x, d) => x - center[d])));
      }
      distances.sort((one, other) => one - other);
      radius = Math.max(radius, distances[Math.floor(0.97 * (distances.length - 1))]);
    }
    return [center, radius || 1];
  }

  position(frame, k) {
    return [0, 1, 2].map(
      (d) => frame.lower[d] + ((frame.upper[d] - frame.lower[d]) * frame.positions[3 * k + d]) / 65534,
    );
  }

  // Value of a quantity; null if it is no number.
  value(frame, place, k) {
    const { lower, upper, logarithmic } = this.view.quantities[place];
    const number = frame.values[place][k];
    if (number === 65535) return null;
    const value = lower + ((upper - lower) * number) / 65534;
    return logarithmic ? 10 ** value : value;
  }

  build() {
    const { element } = report;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        "Three-dimensional view of particles. Arrow keys turn it, plus and minus zoom, space plays, " +
        "comma and period step, Home resets.",
    });
    this.when = element("div", { class: "when", "aria-live": "polite" });
    this.colors = element("div", { class: "colors" });
    this.axes = ["x", "y", "z"].map((name) =>
      element("span", { class: "axis", "aria-hidden": "true" }, name),
    );
    this.stage = element("div", { class: "stage" }, this.canvas, this.when, ...this.axes, this.colors);
    const button = (text, label, act, pressed) =>
      element("button", { type: "button", "aria-label": label, "aria-pressed": pressed, onclick: act }, text);
    this.playButton = button("▶ Play", "Play the snapshots", () => this.play(!this.playing), "false");
    this.turnButton = button("Turn", "Turn slowly", () => this.setTurning(!this.turning), "false");
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: this.frames.length - 1,
      value: this.frame,
      "aria-label": "Snapshot",
      oninput: () => {
        this.play(false);
        this.show(Number(this.slider.value));
      },
    });
    const quantities = this.view.quantities.map((quantity, k) =>
      element("option", { value: k }, quantity.name),
    );
    this.select = element(
      "select",
      { onchange: () => this.colorBy(Number(this.select.value)) },
      ...quantities,
    );
    this.sizeSlider = element("input", {
      type: "range",
      min: -1.5,
      max: 1.5,
      step: 0.1,
      value: 0,
      oninput: () => {
        this.size = 2 ** Number(this.sizeSlider.value);
        this.draw();
      },
    });
    const several = this.frames.length > 1;
    this.controls = element(
      "div",
      { class: "controls" },
      several ? [this.playButton, this.slider] : [],
      this.turnButton,
      button("−", "Zoom out", () => this.zoom(1 / 1.25)),
      button("+", "Zoom in", () => this.zoom(1.25)),
      button("Reset", "Reset the view", () => this.reset()),
      quantities.length > 1 ? element("label", {}, "color", this.select) : null,
      element("label", { class: "size" }, "size", this.sizeSlider),
    );
    const shown =
      this.view.shown === this.view.particles
        ? `All ${report.number(this.view.particles)} particles`
        : `A sample of ${report.number(this.view.shown)} of ${report.number(this.view.particles)} particles, ` +
          "chosen by id, the same in every snapshot";
    const chosen =
      this.frames.length === this.view.snapshots
        ? `${this.view.snapshots === 1 ? "one snapshot" : `all ${this.view.snapshots} snapshots`}`
        : `${this.frames.length} of ${this.view.snapshots} snapshots, evenly spaced`;
    this.figure = element(
      "figure",
      { id: "figure-particles" },
      report.caption(
        "Particles",
        `${shown}; ${chosen}.`,
        report.saveButton("PNG", "the view", () => this.savePicture()),
        report.saveButton("CSV", "the particles of this snapshot", () =>
          report.save(`particles-${this.frames[this.frame].snapshot}.csv`, "text/csv", this.csv()),
        ),
      ),
      this.stage,
      this.controls,
    );
    this.listen();
  }

  listen() {
    const pointers = new Map();
    this.canvas.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    const gap = () => {
      const [one, other] = [...pointers.values()];
      return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const wide = pointers.size === 2 ? gap() : 0;
      pointers.set(event.pointerId, event);
      if (pointers.size === 2) {
        this.zoom(gap() / Math.max(1, wide));
      } else {
        const scale = 3.6 / this.canvas.clientHeight;
        this.turn((before.clientX - event.clientX) * scale, (event.clientY - before.clientY) * scale);
      }
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
    }
    this.interacting = () => pointers.size > 0;
    // the wheel scrolls the page until the view has been clicked or reached by keyboard
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (document.activeElement !== this.canvas) return;
        event.preventDefault();
        this.zoom(Math.exp(-0.0012 * event.deltaY));
      },
      { passive: false },
    );
    const keys = {
      ArrowLeft: () => this.turn(0.1, 0),
      ArrowRight: () => this.turn(-0.1, 0),
      ArrowUp: () => this.turn(0, 0.08),
      ArrowDown: () => this.turn(0, -0.08),
      "+": () => this.zoom(1.15),
      "=": () => this.zoom(1.15),
      "-": () => this.zoom(1 / 1.15),
      " ": () => this.play(!this.playing),
      Home: () => this.reset(),
      ",": () => this.step(-1),
      ".": () => this.step(1),
    };
    this.canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  turn(yaw, pitch) {
    this.camera.turn(yaw, pitch);
    this.draw();
  }
  zoom(factor) {
    this.camera.scale(factor);
    this.draw();
  }
  reset() {
    this.camera.reset();
    this.draw();
  }
  step(by) {
    this.play(false);
    this.show((this.frame + by + this.frames.length) % this.frames.length);
  }

  play(on) {
    this.playing = on && this.frames.length > 1;
    this.playButton.setAttribute("aria-pressed", this.playing);
    this.playButton.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    this.nextFrame = performance.now() + 250;
    this.draw();
  }

  setTurning(on) {
    this.turning = on;
    this.turnButton.setAttribute("aria-pressed", on);
    this.draw();
  }

  show(frame) {
    this.frame = frame;
    this.slider.value = frame;
    this.describe();
    this.draw();
  }

  colorBy(quantity) {
    this.quantity = quantity;
    this.select.value = quantity;
    this.describe();
    this.draw();
  }

  describe() {
    const frame = this.frames[this.frame];
    this.when.textContent = `t = ${report.quantity(frame.time, this.view.time_unit)}`;
    this.slider.setAttribute(
      "aria-valuetext",
      `time ${report.number(frame.time)}, ${this.frame + 1} of ${this.frames.length}`,
    );
    const quantity = this.view.quantities[this.quantity];
    if (!quantity) return this.colors.replaceChildren();
    const { element } = report;
    if (quantity.names.length) {
      const names = quantity.names.map((name, k) => {
        const fraction = (k - quantity.lower) / Math.max(1e-9, quantity.upper - quantity.lower);
        const color = `rgb(${report.colorMaps.onStage(fraction).join(" ")})`;
        return element("span", {}, element("i", { style: `background: ${color}` }), name);
      });
      return this.colors.replaceChildren(element("div", { class: "species" }, ...names));
    }
    const ends = quantity.colors.map((value) => report.number(quantity.logarithmic ? 10 ** value : value, 3));
    return this.colors.replaceChildren(
      element(
        "div",
        {},
        report.labelled(quantity.name, quantity.unit) + (quantity.logarithmic ? ", logarithmic" : ""),
      ),
      element("div", { class: "ramp", style: `background: ${report.colorMaps.stageGradient()}` }),
      element("div", { class: "ends" }, element("span", {}, ends[0]), element("span", {}, ends[1])),
    );
  }

  start() {
    this.drawing = new report.Stage(this.canvas, this.view, this.frames, this.radius);
    if (!this.drawing.gl) {
      this.stage.replaceChildren(
        report.element(
          "p",
          { class: "when" },
          "This browser has no WebGL 2: the particles cannot be drawn. Save them as CSV instead.",
        ),
      );
      this.figure.dataset.webgl = "missing";
      return;
    }
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.drawing.prepare();
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.describe();
  }

  // Draws with the next refresh of the screen.
  draw() {
    if (!this.drawing?.gl || this.requested) return;
    this.requested = true;
    requestAnimationFrame((now) => {
      this.requested = false;
      this.render(now);
    });
  }

  render(now) {
    if (this.drawing.gl.isContextLost() || !this.canvas.clientWidth) return;
    if (this.turning) this.camera.turn(Math.min(0.05, (now - (this.before ?? now)) * 3e-4), 0);
    this.before = now;
    if (this.playing && now >= this.nextFrame) {
      this.nextFrame = now + 250;
      this.frame = (this.frame + 1) % this.frames.length;
      this.slider.value = this.frame;
      this.describe();
    }
    const frame = this.frames[this.frame];
    this.placeLabels(frame, this.drawing.draw(this.camera, frame, this.quantity, this.size));
    this.count(now);
    if (this.playing || this.turning) this.draw();
  }

  // Letters at the ends of the box's edges.
  placeLabels(frame, matrix) {
    this.axes.forEach((label, d) => {
      const end = frame.box_lower.map((lower, k) =>
        k === d ? lower + 1.06 * (frame.box_upper[k] - lower) : lower,
      );
      const at = this.camera.project(matrix, end);
      const seen = at && at.every((fraction) => fraction > 0.01 && fraction < 0.99);
      label.style.display = seen ? "" : "none";
      if (seen) [label.style.left, label.style.top] = at.map((fraction) => `${100 * fraction}%`);
    });
  }

  // Counts pictures a second while the view moves by itself.
  count(now) {
    this.counter.drawn += 1;
    this.figure.dataset.pictures = Number(this.figure.dataset.pictures ?? 0) + 1;
    if (!this.playing && !this.turning) {
      this.counter = { since: 0, drawn: 0 };
    } else if (!this.counter.since) {
      this.counter = { since: now, drawn: 0 };
    } else if (now - this.counter.since >= 1000) {
      this.figure.dataset.picturesPerSecond = (
        (1000 * this.counter.drawn) /
        (now - this.counter.since)
      ).toFixed(1);
      this.counter = { since: now, drawn: 0 };
    }
  }

  savePicture() {
    if (!this.drawing.gl) return;
    this.render(performance.now());
    this.canvas.toBlob((blob) => report.save("particles.png", "image/png", blob));
  }

  csv() {
    const frame = this.frames[this.frame];
    const head = [
      "id",
      ...["x", "y", "z"].map((name) => report.labelled(name, this.view.length_unit)),
      ...this.view.quantities.map((quantity) => report.labelled(quantity.name, quantity.unit)),
    ];
    const lines = this.view.ids.map((id, k) => {
      const values = this.view.quantities.map((_, place) => this.value(frame, place, k));
      return [
        id,
        ...[...this.position(frame, k), ...values].map((value) =>
          value === null ? null : Number(value.toPrecision(6)),
        ),
      ];
    });
    return [head, ...lines].map((line) => line.map(report.cell).join(",")).join("\n") + "\n";
  }

  get state() {
    const { frame, quantity, playing, turning, size } = this;
    return {
      camera: this.camera.state,
      frame: this.frames[frame].snapshot,
      last: frame === this.frames.length - 1,
      quantity,
      playing,
      turning,
      size,
    };
  }

  // The last snapshot stays the last; another one is found by its number.
  set state(state) {
    this.camera.state = state.camera;
    const place = this.frames.findIndex((frame) => frame.snapshot === state.frame);
    this.frame = state.last || place < 0 ? this.frames.length - 1 : place;
    this.slider.value = this.frame;
    if (state.quantity < this.view.quantities.length) this.colorBy(state.quantity);
    this.size = state.size;
    this.sizeSlider.value = Math.log2(state.size);
    this.play(state.playing);
    this.setTurning(state.turning);
    this.describe();
  }
};
