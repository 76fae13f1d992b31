// Puts the page together, and loads it again while the run goes on.
"use strict";

report.page = {
  view: null,

  build() {
    const { data, element, charts, summary } = report;
    summary.header();
    const main = document.getElementById("main"),
      contents = [];
    main.replaceChildren();
    const section = (id, title, ...children) => {
      const made = children.flat().filter(Boolean);
      if (!made.length) return;
      contents.push([id, title]);
      main.append(
        element(
          "section",
          { id, "aria-labelledby": `${id}-title` },
          element("h2", { id: `${id}-title` }, title),
          ...made,
        ),
      );
    };
    const figures = (name) => data.figures.filter((figure) => figure.section === name).map(charts.figure);
    const grid = (made) => (made.length ? element("div", { class: "grid" }, ...made) : null);
    const notes = [];
    if (data.observables?.thinned) {
      notes.push(
        element(
          "p",
          { class: "quiet small", id: "thinned" },
          `The record has ${report.number(data.observables.rows)} lines. Charts and their CSV files show the ` +
            "first and the last, and the smallest and the largest value of each of about a thousand intervals.",
        ),
      );
    }
    section("overview", "Overview", summary.tiles());
    if (data.particles) report.page.view = new report.ParticleView(data.particles);
    section("particles", "Particles", report.page.view?.figure);
    section("fields", "Fields", grid(data.rasters.map(report.rasters.figure)));
    section("conservation", "Conservation", ...notes, grid(figures("conservation")));
    section("state", "State", grid(figures("state")));
    section("measurements", "Measurements", grid(figures("measurements")), summary.diffusion());
    section("solution", "Comparison with the solution", ...summary.verdicts(), grid(figures("profiles")));
    section("performance", "Performance", summary.phases(), summary.neighbors());
    document
      .getElementById("contents")
      .append(
        element(
          "ul",
          {},
          ...contents.map(([id, title]) => element("li", {}, element("a", { href: `#${id}` }, title))),
        ),
      );
    const status = data.status;
    document
      .getElementById("footer")
      .replaceChildren(
        element(
          "p",
          {},
          `Written on ${report.date(data.written)} by hilbrium ${data.version}` +
            (status && status.version !== data.version ? `; the run is of hilbrium ${status.version}` : "") +
            `. Folder: ${data.folder}.`,
        ),
        element("p", {}, "Charts: uPlot, MIT license, © Leon Sorokin."),
      );
    document.documentElement.dataset.figures = data.figures.length;
  },

  // The view stays as it is when the page loads itself again; the browser keeps the place of the page.
  restore() {
    const { view } = report.page;
    if (!view) return;
    if (history.state?.view) view.state = history.state.view;
    else if (location.hash === "#turn") view.setTurning(true);
  },

  keep() {
    const { view } = report.page;
    if (view) history.replaceState({ ...history.state, view: view.state }, "");
  },

  reloadLater(seconds) {
    if (!seconds) return;
    setTimeout(() => {
      const busy =
        document.hidden ||
        report.page.view?.interacting?.() ||
        document.activeElement?.matches("select");
      if (busy) return report.page.reloadLater(2);
      report.page.keep();
      location.reload();
    }, 1000 * seconds);
  },
};

report.page.build();
report.page.restore();
addEventListener("pagehide", report.page.keep);
report.page.reloadLater(report.data.reload);
document.documentElement.dataset.ready = "true";
