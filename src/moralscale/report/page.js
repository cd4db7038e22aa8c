"use strict";
// Filters of the two parts of the report that can be searched. Nothing is loaded from anywhere.
(() => {
  const byId = (id) => document.getElementById(id);
  const INK = "#222", MUTED = "#6b6b6b", FAINT = "#a3a3a3", GREEN = "#009e73";
  const CONTRAST = { "+2/-1": "#d55e00", "+1/+1": "#0072b2" };

  // Plotly reads a few tags in its texts: names must not be read so.
  const plain = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const signed = (text) => text.replaceAll("-", "\u2212");
  const number = (value, digits) => signed(value.toFixed(digits));
  const interval = (low, high, digits) => `[${number(low, digits)}, ${number(high, digits)}]`;
  const count = (shown, all, what) => `${shown} of ${all} ${what} shown`;

  async function loadPlotly() {
    const packed = Uint8Array.from(atob(byId("plotly").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  async function explorer() {
    const source = byId("composites-data");
    if (!source) return;
    await loadPlotly();
    byId("composites").hidden = false;
    byId("composites-instead").hidden = true;
    const data = JSON.parse(source.textContent);
    const plot = byId("composites-plot");
    const pick = Object.fromEntries(
      ["fit", "judge", "foundation", "config"].map((name) => [name, byId(`composites-${name}`)]));

    const wanted = (composite) =>
      (!pick.foundation.value || composite.foundations.includes(pick.foundation.value)) &&
      (!pick.config.value || composite.config === pick.config.value);

    function hover(composite, k, points) {
      const [sum, sumLow, sumHigh, rating, low, high] = points.map((values) => values[k]);
      return [
        `<b>${plain(composite.id)}</b>`,
        `profile ${plain(composite.profile)}, configuration ${plain(composite.config)}`,
        `rating ${number(rating, 1)} ${interval(low, high, 1)}`,
        `component sum ${number(sum, 1)} ${interval(sumLow, sumHigh, 1)}`,
      ].join("<br>");
    }

    function group(name, colour, members, points) {
      const [sums, , , ratings, low, high] = points;
      const take = (values) => members.map((k) => values[k]);
      const mean = take(ratings);
      return {
        type: "scatter", mode: "markers", name, hoverinfo: "text", customdata: members,
        x: take(sums), y: mean,
        text: members.map((k) => hover(data.composites[k], k, points)),
        marker: { color: colour, size: 8, line: { color: "#fff", width: 0.7 } },
        error_y: {
          type: "data", symmetric: false, width: 0, thickness: 1, color: `${colour}66`,
          array: take(high).map((value, n) => value - mean[n]),
          arrayminus: take(low).map((value, n) => mean[n] - value),
        },
      };
    }

    function line(name, slope, centre, ends, style) {
      return {
        type: "scatter", mode: "lines", name, hoverinfo: "skip", line: style,
        x: ends, y: ends.map((x) => 1000 + slope * (x - centre)),
      };
    }

    function range(values, ...others) {
      const all = [values, ...others].flat();
      const low = Math.min(...all), high = Math.max(...all);
      return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
    }

    function draw() {
      const fit = data.fits[pick.fit.value];
      const points = fit.points[pick.judge.value];
      const known = data.composites.map((_, k) => k).filter((k) => points && points[0][k] !== null);
      const shown = known.filter((k) => wanted(data.composites[k]));
      byId("composites-count").textContent = known.length
        ? count(shown.length, known.length, "composites") : "No estimates of this judge in this fit";
      const traces = [];
      const axes = [{}, {}];
      if (known.length) {
        const sums = known.map((k) => points[0][k]);
        const centre = sums.reduce((a, b) => a + b, 0) / sums.length;
        axes[0].range = range(sums);
        axes[1].range = range(known.map((k) => points[4][k]), known.map((k) => points[5][k]));
        const slope = fit.slopes[pick.judge.value];
        traces.push(line("adding: slope 1", 1, centre, axes[0].range,
          { color: MUTED, width: 1.2, dash: "dash" }));
        if (slope) {
          const [mean, low, high] = slope;
          traces.push(line(`fitted: slope ${number(mean, 3)} ${interval(low, high, 3)}`,
            mean, centre, axes[0].range, { color: GREEN, width: 2 }));
        }
        const others = shown.filter((k) => !(data.composites[k].config in CONTRAST));
        if (others.length) traces.push(group("other composites", FAINT, others, points));
        for (const [name, colour] of Object.entries(CONTRAST)) {
          const members = shown.filter((k) => data.composites[k].config === name);
          if (members.length) traces.push(group(signed(name), colour, members, points));
        }
      }
      const unit = fit.unit ? `<br>${fit.unit}` : "";
      const titles = ["sum of component strengths (Elo points)",
        `composite rating (Elo, mean 1000)${unit}`];
      const [x, y] = axes.map((axis, n) => ({
        ...axis, title: { text: titles[n], font: { size: 12 } }, zeroline: false,
        gridcolor: "#eee", linecolor: INK, ticks: "outside", automargin: true,
      }));
      Plotly.react(plot, traces, {
        xaxis: x, yaxis: y, height: 560, margin: { l: 20, r: 14, t: 14, b: 20 },
        font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: INK },
        legend: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom" },
        hovermode: "closest", hoverlabel: { bgcolor: "#fff", font: { color: INK }, align: "left" },
        dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
        annotations: data.simulated ? [{
          text: "<i>simulated data</i>", xref: "paper", yref: "paper", x: 1, y: 0,
          xanchor: "right", yanchor: "bottom", showarrow: false, font: { size: 11, color: MUTED },
        }] : [],
      }, {
        responsive: true, displaylogo: false,
        modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
      });
    }

    function tell(event) {
      const place = event.points[0].customdata;
      if (place === undefined) return;
      const composite = data.composites[place];
      byId("composites-acts").textContent = `${composite.id}: ${composite.acts.join(" + ")}`;
    }

    for (const list of Object.values(pick)) list.addEventListener("change", draw);
    draw();
    plot.on("plotly_hover", tell);
    plot.on("plotly_click", tell);
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const headers = [...table.tHead.rows[0].cells];
    const key = (row, column, numeric) => {
      const cell = row.cells[column];
      const value = cell.dataset.value ?? cell.textContent.trim();
      return numeric ? (value === "" ? -Infinity : Number(value)) : value;
    };
    headers.forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const numeric = header.dataset.sort === "number";
        const down = header.getAttribute("aria-sort") === "ascending";
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = [...body.rows].map((row) => [key(row, column, numeric), row]);
        keyed.sort(([a], [b]) =>
          (down ? -1 : 1) * (numeric ? (a === b ? 0 : a - b) : a.localeCompare(b, "en")));
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  function scenes() {
    const table = byId("scenes-table");
    if (!table) return;
    const rows = [...table.tBodies[0].rows];
    const foundation = byId("scenes-foundation"), intensity = byId("scenes-intensity");
    const words = byId("scenes-words");
    function filter() {
      const sought = words.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const keep = (!foundation.value || row.dataset.foundation === foundation.value) &&
          (!intensity.value || row.dataset.intensity === intensity.value) &&
          row.dataset.words.toLowerCase().includes(sought);
        row.hidden = !keep;
        shown += keep;
      }
      byId("scenes-count").textContent = count(shown, rows.length, "scenes");
    }
    foundation.addEventListener("change", filter);
    intensity.addEventListener("change", filter);
    words.addEventListener("input", filter);
    sortable(table);
    filter();
  }

  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;
  scenes();
  explorer();
})();
