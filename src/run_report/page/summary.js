// Header, key figures, and tables: phases, lists, verdicts, diffusion, what could not be read.
"use strict";

report.summary = {
  // Value of a column of the record in its first or last line.
  observable(name, which = "last") {
    const record = report.data.observables;
    const place = record ? record.names.indexOf(name) : -1;
    return place < 0 || !record[which].length ? null : record[which][place];
  },

  observableUnit(name) {
    const record = report.data.observables;
    const place = record ? record.names.indexOf(name) : -1;
    return place < 0 ? "" : record.units[place];
  },

  step() {
    return (
      report.data.status?.step ?? report.summary.observable("step") ?? report.data.last_snapshot?.step ?? null
    );
  },

  time() {
    return (
      report.data.status?.time ?? report.summary.observable("time") ?? report.data.last_snapshot?.time ?? null
    );
  },

  timeUnit() {
    return report.data.status?.time_unit ?? report.summary.observableUnit("time");
  },

  particles() {
    return (
      report.data.status?.particles ||
      report.data.last_snapshot?.particles ||
      report.summary.observable("particles")
    );
  },

  header() {
    const { element } = report;
    const { data } = report,
      { status } = data;
    const title = data.title || data.folder;
    document.title = `${title} – hilbrium`;
    const words = {
      running: "running",
      done: "done",
      stopped: "stopped after a checkpoint",
      failed: "failed",
      killed: "killed: it recorded no end",
      unknown: "state unknown",
    };
    const state = element("span", { class: `state ${data.condition}`, id: "state" }, words[data.condition]);
    const particles = report.summary.particles();
    const parts = [state];
    const add = (text, id) => parts.push(element("span", { class: "quiet", id }, text));
    if (particles) add(`${report.number(particles)} particles`);
    const step = report.summary.step();
    if (step !== null)
      add(
        `step ${report.number(step)}${status?.end.steps ? ` of ${report.number(status.end.steps)}` : ""}`,
        "step",
      );
    const time = report.summary.time();
    if (time !== null) {
      const end = status?.end.time ? ` of ${report.number(status.end.time, 6)}` : "";
      const unit = report.unit(report.summary.timeUnit());
      add(`t = ${report.number(time, 6)}${end}${unit ? ` ${unit}` : ""}`, "time");
    }
    const made = [element("h1", {}, title), element("div", { class: "facts" }, ...parts)];
    if (status && data.condition !== "done" && status.fraction > 0) {
      const percent = `${report.number(100 * status.fraction, 3)} %`;
      made.push(
        element("progress", { max: 1, value: status.fraction, "aria-label": `${percent} done` }, percent),
      );
      const left =
        data.condition === "running" && status.seconds_left
          ? `, about ${report.duration(status.seconds_left)} left`
          : "";
      made.push(element("p", { class: "quiet small", id: "progress" }, `${percent} done${left}`));
    }
    document.getElementById("header").replaceChildren(...made, ...report.summary.notices());
  },

  notices() {
    const { element } = report;
    const { data } = report;
    const made = [];
    const notice = (kind, id, ...children) =>
      made.push(element("div", { class: `notice ${kind}`, id, role: "note" }, ...children));
    if (data.status?.state === "failed" && data.condition === "failed") {
      const kept =
        data.status.checkpoint === null
          ? ""
          : ` Its last checkpoint is that of step ${report.number(data.status.checkpoint)}.`;
      notice(
        "bad",
        "failure",
        element("strong", {}, "The run failed."),
        kept,
        element("pre", {}, data.status.message ?? ""),
      );
    }
    if (data.condition === "killed") {
      notice(
        "bad",
        "killed",
        element("strong", {}, "The run ended without a record of its end."),
        ` It was killed, or its host went down, after ${report.date(data.status.updated)}. ` +
          "hilbrium run DECK --restart FOLDER continues from its newest checkpoint.",
      );
    }
    if (data.condition === "running" && data.status) {
      const age = Date.now() / 1000 - data.written;
      if (data.interval && age > Math.max(600, 3 * data.interval)) {
        notice(
          "",
          "stale",
          `This page is ${report.duration(age)} old: a run that goes on would have written it again. ` +
            "It may have been killed.",
        );
      }
    }
    if (data.lock_unknown && data.status) {
      notice("", "lock", "The lock of the folder could not be read: whether the run goes on is not known.");
    }
    if (data.problems.length) {
      notice(
        "",
        "problems",
        element("strong", {}, "Some parts of this report are missing:"),
        ...data.problems.map((problem) => element("pre", {}, `${problem.file}: ${problem.message}`)),
      );
    }
    return made;
  },

  // Relative drift of the conserved energy, of the whole record.
  drift() {
    const { conserved } = report.data.observables ?? {};
    if (!conserved) return null;
    const first = report.summary.observable(conserved, "first"),
      last = report.summary.observable(conserved);
    if (first === null || last === null) return null;
    // the program's own words where the first energy is near zero
    const energy = report.data.status?.energy;
    if (energy && energy.relative_drift === null && energy.drift) return { text: energy.drift };
    return report.data.observables.relative
      ? { value: (last - first) / Math.abs(first), unit: "" }
      : { value: last - first, unit: report.summary.observableUnit(conserved) };
  },

  tiles() {
    const { element } = report;
    const { data } = report,
      { status } = data;
    const made = [];
    const tile = (label, value, detail = "", id = null) => {
      if (value === null || value === undefined || value === "–") return;
      made.push(
        element(
          "div",
          { class: "tile" },
          element("dt", {}, label),
          element(
            "dd",
            {},
            element("span", { class: "value", id }, value),
            detail ? element("span", { class: "detail" }, detail) : null,
          ),
        ),
      );
    };
    const drift = report.summary.drift();
    if (drift) {
      const detail = drift.text || drift.unit ? "change since the start" : "relative, since the start";
      tile("energy drift", drift.text ?? report.quantity(drift.value, drift.unit, 3), detail, "drift");
    }
    const energy = report.summary.observable("total_energy");
    if (energy !== null)
      tile(
        "total energy",
        report.number(energy, 6),
        report.unit(report.summary.observableUnit("total_energy")),
        "total-energy",
      );
    for (const [name, label] of [
      ["temperature", "temperature"],
      ["pressure", "pressure"],
    ]) {
      const value = report.summary.observable(name);
      if (value !== null)
        tile(label, report.number(value, 5), report.unit(report.summary.observableUnit(name)), label);
    }
    if (status) {
      tile(
        "wall time",
        report.duration(status.elapsed),
        status.first_step
          ? `since step ${report.number(status.first_step)}`
          : `since ${report.date(status.started)}`,
      );
      const rates = data.condition === "running" ? status.recent : status.mean;
      tile(
        "steps per second",
        report.number(rates.steps_per_second, 3),
        data.condition === "running" ? "in the last seconds" : "mean of the run",
      );
      tile("particle updates per second", report.large(rates.updates_per_second));
      const ranks = status.ranks === 1 ? "one rank" : `${report.number(status.ranks)} ranks`;
      tile(
        "runs on",
        status.device === "cpu" ? "processors" : status.device,
        `${ranks}, ${report.number(status.threads)} threads, ${status.host}`,
      );
      const [least, , most] = status.memory.peak;
      if (most > 0) {
        const spread = status.ranks > 1 ? `largest of a rank; least ${report.bytes(least)}` : "";
        const estimate = status.memory.estimate
          ? `estimate ${report.bytes(status.memory.estimate)}${status.ranks > 1 ? " for all" : ""}`
          : "";
        tile("peak memory", report.bytes(most), [spread, estimate].filter(Boolean).join("; "));
      }
    }
    tile(
      "snapshots",
      report.number(data.snapshots),
      data.last_snapshot ? `last at t = ${report.number(data.last_snapshot.time, 5)}` : "",
    );
    return element("dl", { class: "tiles" }, ...made);
  },

  table(head, rows, foot = null) {
    const { element } = report;
    const cell = (content, kind, place) => {
      if (content instanceof Node) return content;
      return element(kind, place === 0 && kind === "th" ? { scope: "col" } : {}, content);
    };
    const line = (cells, kind) =>
      element("tr", {}, ...cells.map((content, place) => cell(content, kind, place)));
    return element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" },
      element(
        "table",
        {},
        element("thead", {}, line(head, "th")),
        element("tbody", {}, ...rows.map((row) => line(row, "td"))),
        foot ? element("tfoot", {}, line(foot, "td")) : null,
      ),
    );
  },

  phases() {
    const { status } = report.data;
    if (!status || !status.phases.length || !status.total) return null;
    const { element, number } = report;
    const rows = [...status.phases].sort((one, other) => other.mean - one.mean);
    const total = status.total.mean || 1,
      longest = Math.max(...rows.map((row) => row.max)) || 1;
    const cells = (row) => [
      row.name,
      number(row.mean, 3),
      ...(status.ranks > 1 ? [number(row.max, 3), number(row.imbalance, 3)] : []),
      `${number((100 * row.mean) / total, 3)} %`,
    ];
    const bar = (row) =>
      element(
        "td",
        { class: "bar" },
        element(
          "div",
          { title: `mean ${number(row.mean, 3)} s, longest ${number(row.max, 3)} s` },
          element("span", { style: `width: ${(100 * row.mean) / longest}%` }),
          element("span", { class: "wait", style: `width: ${(100 * (row.max - row.mean)) / longest}%` }),
        ),
      );
    const head = [
      "phase",
      status.ranks > 1 ? "mean (s)" : "seconds",
      ...(status.ranks > 1 ? ["longest rank (s)", "imbalance"] : []),
      "share",
    ];
    const note =
      status.ranks > 1
        ? "Wall time over the ranks. Imbalance is the longest over the mean: 1 is perfect balance. " +
          "Pale bars: the longest rank beyond the mean."
        : "Wall time by phase of the step.";
    return element(
      "div",
      { class: "card", id: "phases" },
      element("h3", {}, "Phases and load balance"),
      element("p", { class: "quiet small" }, note),
      report.summary.table(
        [...head, ""],
        rows.map((row) => [...cells(row), bar(row)]),
        [...cells({ ...status.total, name: "total" }), element("td", { class: "bar" })],
      ),
    );
  },

  neighbors() {
    const list = report.data.status?.neighbors;
    if (!list) return null;
    const { element, number } = report;
    const { status } = report.data;
    const steps = status.step - status.first_step;
    const inner = list.inner_skin ? `, inner ${number(list.inner_skin, 3)}` : "";
    const interval = list.builds && steps ? `, one in ${number(steps / list.builds, 3)} steps` : "";
    const each = status.particles ? `, ${number(list.bytes / status.particles, 3)} bytes a particle` : "";
    const rows = [
      ["method", `${list.method}, each pair ${list.symmetric ? "once" : "from both sides"}`],
      ["skin", list.skin ? `${number(list.skin, 3)} of the range${inner}` : "none"],
      ["lists built", `${number(list.builds)}${interval}`],
      ["size", `${report.bytes(list.bytes)}${each}`],
    ];
    const cells = rows.map(([name, value]) => [name, element("td", { class: "text" }, value)]);
    return element(
      "div",
      { class: "card", id: "neighbors" },
      element("h3", {}, "Pairs of particles"),
      report.summary.table(["", ""], cells),
    );
  },

  verdicts() {
    const { element, number } = report;
    return report.data.verdicts.map(({ file, verdict }) => {
      const outcome = (check) => {
        const words = { passed: "passed", failed: "failed", reported: "reported", skipped: "skipped" };
        return element(
          "td",
          { class: words[check.outcome] ?? "" },
          words[check.outcome] ?? String(check.outcome),
        );
      };
      const rows = verdict.checks.map((check) => [
        String(check.name),
        number(check.measured, 3),
        number(check.gate, 3),
        outcome(check),
        element("td", { class: "text quiet" }, String(check.note ?? "")),
      ]);
      const result = element(
        "span",
        { class: verdict.passed ? "passed" : "failed" },
        verdict.passed ? "passed" : "failed",
      );
      const source = file ? `from ${file}` : verdict.snapshot;
      const from = `Compared with ${verdict.against}, t = ${number(verdict.time, 5)}, ${source}.`;
      return element(
        "div",
        { class: "card verdict", "data-passed": String(Boolean(verdict.passed)) },
        element("h3", {}, "Verdict: ", result),
        element(
          "p",
          { class: "quiet small" },
          `${from} Measured: deviation from the solution. A check passes if it is at most the gate.`,
        ),
        report.summary.table(
          ["check", "measured", "gate", "outcome", element("th", { class: "text" }, "note")],
          rows,
        ),
      );
    });
  },

  diffusion() {
    const table = report.data.diffusion;
    if (!table || !table.rows.length) return null;
    const { element } = report;
    const head = table.header.map((name) => {
      const [, label, unit] = name.match(/^([^[]*?)(?: \[(.*)\])?$/) ?? [null, name, ""];
      return report.labelled(label.replaceAll("_", " "), unit);
    });
    const show = (text) =>
      text !== "" && !Number.isNaN(Number(text))
        ? report.number(Number(text), 4)
        : text === "NaN"
          ? "–"
          : text;
    return element(
      "div",
      { class: "card", id: "diffusion" },
      element("h3", {}, "Diffusion"),
      report.summary.table(
        head,
        table.rows.map((row) => row.map(show)),
      ),
    );
  },
};
