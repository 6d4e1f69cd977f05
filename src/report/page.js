// page.js - the sections of the report, drawn from the data in the page; the last part of its script.
"use strict";

var data = JSON.parse(document.getElementById("data").textContent);
var evaluation = data.evaluation, notes = data.model.notes;
// Mean probability, accuracy and number of tokens in ten bins; empty without probabilities.
var bins = (evaluation.by_confidence || []).map(function (row) { return [row.confidence, row.precision, row.gold]; });

// ---- summary ---------------------------------------------------------------------------------------

function summary() {
  var cards = section("summary").querySelector("dl");
  function card(name, value, small, measure) {
    var range = measure && (evaluation.intervals || {})[measure];
    cards.appendChild(el("div", {}, el("dt", {}, name), el("dd", {}, value,
      small ? el("small", {}, small) : null,
      range ? el("small", {}, "95 %: " + (100 * range[0]).toFixed(2) + "–" + (100 * range[1]).toFixed(2)) : null)));
  }
  if (evaluation.has_spans) {
    card("Span F1", percent(evaluation.f1), whole(evaluation.spans_correct) + " of " + whole(evaluation.spans_gold) + " spans", "f1");
    card("Precision", percent(evaluation.precision), whole(evaluation.spans_predicted) + " predicted", "precision");
    card("Recall", percent(evaluation.recall), whole(evaluation.spans_gold) + " gold", "recall");
  }
  card("Token accuracy", percent(evaluation.accuracy), whole(evaluation.tokens_correct) + " of " + whole(evaluation.tokens), "accuracy");
  card("Sequence accuracy", percent(evaluation.sequence_accuracy),
    whole(evaluation.sequences_correct) + " of " + whole(evaluation.sequences), "sequence_accuracy");
  (evaluation.by_vocabulary || []).forEach(function (row) {
    card(row.words === "OOV" ? "Accuracy out of vocabulary (OOV)" : "Accuracy in vocabulary", percent(row.precision), whole(row.gold) + " tokens");
  });
  if (typeof evaluation.log_likelihood === "number") {
    card("Log-likelihood", (evaluation.log_likelihood / evaluation.tokens).toFixed(4), "per token");
  }
  if (bins.length) {
    card("Calibration error", percent(evaluation.calibration_error), "expected, over ten bins");
  }
  if (evaluation.intervals) {
    cards.insertAdjacentElement("afterend", el("p", {class: "note"}, "95 % confidence intervals, by " +
      whole(evaluation.bootstrap) + " bootstrap samples of the sequences."));
  }
  card("Weights", whole(data.model.weights + data.model.transition_weights), whole(data.model.labels.length) + " labels");
  var rows = section("summary").querySelector("tbody");
  Object.keys(notes).forEach(function (key) {
    rows.appendChild(el("tr", {}, el("th", {scope: "row"}, key), el("td", {class: "text wrap"}, notes[key])));
  });
  section("subtitle").textContent = [notes.type, notes.algorithm && "by " + notes.algorithm,
    notes.features && "features " + notes.features, "order " + data.model.order,
    notes.sequences && "trained on " + whole(notes.sequences) + " sequences"].filter(Boolean).join(" · ");
  section("made").textContent = "Written by trellis " + (notes.version || "") + " report.";
}

// ---- training curves ------------------------------------------------------------------------

function nice(x) {
  var a = Math.abs(x);
  return a >= 1e7 ? x.toPrecision(3).replace("e+", "e") : a >= 1000 ? whole(Math.round(x)) : String(Number(x.toPrecision(4)));
}

// One figure over the iterations. Its axis need not begin at 0: the marks say where it does.
function curve(name, points, show) {
  var xs = points.map(function (p) { return p[0]; }), last = points[points.length - 1];
  var x = {range: [xs[0], Math.max(xs[xs.length - 1], xs[0] + 1)], show: String, name: "iteration"};
  var y = {range: roundRange(points.map(function (p) { return p[1]; })), show: show};
  x.marks = ticks(x.range[0], x.range[1], 6).filter(function (v) { return v === Math.round(v); });
  y.marks = ticks(y.range[0], y.range[1], 5);
  var chart = plot(name + " from " + show(points[0][1]) + " to " + show(last[1]) + " over " + points.length + " iterations", 420, 240, x, y);
  line(chart, points);
  var kept = points.filter(function (p) { return p[0] === Number(notes.iterations); })[0] || last;
  dot(chart, kept, "this model, iteration " + kept[0] + ": " + show(kept[1]));
  return el("figure", {}, chart.picture, el("figcaption", {}, name));
}

function training() {
  var figures = [["Objective", nice], ["Error rate on the training data", percent],
    ["Accuracy on the dev data", percent], ["F1 on the dev data", percent]];
  var charts = el("div", {class: "charts"});
  figures.forEach(function (figure, k) {
    var points = data.model.curve.map(function (row) { return [row[0], row[k + 1]]; })
      .filter(function (p) { return typeof p[1] === "number"; });
    if (points.length > 1) charts.appendChild(curve(figure[0], points, figure[1]));
  });
  if (!charts.children.length) {
    section("training").appendChild(el("p", {class: "note"}, "The model was trained in one pass, or does not record its training curve."));
    return;
  }
  if (notes["stopped-because"]) {
    section("training").appendChild(el("p", {class: "note"}, "Training ended (" + notes["stopped-because"] + ")."));
  }
  section("training").appendChild(charts);
}

// ---- labels ----------------------------------------------------------------------------------------

function rowsOf(list, key) {
  return list.slice().sort(function (a, b) { return b.gold - a.gold; }).map(function (row) {
    return [row[key], whole(row.gold), whole(row.predicted), whole(row.correct), percent(row.precision),
      percent(row.recall), percent(row.f1), bar(row.f1)];
  });
}

function labels() {
  var headings = ["", "gold", "predicted", "correct", "precision", "recall", "F1", ""];
  if (evaluation.has_spans && evaluation.types) {
    section("labels").appendChild(table("Spans by type", headings, rowsOf(evaluation.types, "type"), []));
  }
  section("labels").appendChild(table("Tokens by label", headings, rowsOf(evaluation.by_label, "label"), []));
}

// ---- spans -----------------------------------------------------------------------------------------

// How spans are wrong, and what a threshold leaves; the second also for tokens.
function spans() {
  var outcomes = evaluation.spans_by_outcome || [], thresholds = evaluation.by_threshold || [], place = section("spans");
  if (!outcomes.length && !thresholds.length) {
    place.remove();
    return;
  }
  if (outcomes.length) {
    place.appendChild(el("p", {class: "note"}, "What became of the gold spans, and of the predicted ones: the same span in both, a span with the " +
      "same boundaries or of the same type, one that merely overlaps, or none."));
    place.appendChild(table("Spans by outcome", ["", "gold", "", "predicted", ""], outcomes.map(function (row) {
      var less = row.outcome !== "correct";
      return [row.outcome, row.gold ? whole(row.gold) : "–", bar(row.gold / Math.max(1, evaluation.spans_gold), less),
        row.predicted ? whole(row.predicted) : "–", bar(row.predicted / Math.max(1, evaluation.spans_predicted), less)];
    }), []));
  }
  if (thresholds.length) {
    place.appendChild(el("h3", {}, "Precision and recall by threshold"));
    place.appendChild(el("p", {class: "note"}, "With 'trellis tag --threshold P', only predicted " + (outcomes.length ? "spans" : "labels") +
      " with a probability of at least P are kept."));
    place.appendChild(el("div", {class: "charts"}, thresholdChart(thresholds), table("By threshold",
      ["threshold", "kept", "precision", "recall", "F1"], thresholds.map(function (row) {
        return [row.threshold, whole(row.predicted), percent(row.precision), percent(row.recall), percent(row.f1)];
      }), [])));
  }
}

function thresholdChart(rows) {
  var kept = rows.filter(function (row) { return row.predicted > 0; });
  var low = Math.floor(10 * Math.min.apply(null, kept.map(function (row) { return Math.min(row.precision, row.recall); }))) / 10;
  var percents = {range: [Math.min(low, 0.9), 1], show: function (v) { return Math.round(100 * v); }};
  var recall = {range: percents.range, marks: ticks(percents.range[0], 1, 5), show: percents.show, name: "recall, %"};
  var precision = {range: roundRange(kept.map(function (row) { return row.precision; }).concat([1])), show: function (v) { return Number((100 * v).toFixed(1)); }, name: "precision, %"};
  precision.marks = ticks(precision.range[0], precision.range[1], 5);
  var chart = plot("Precision against recall at ten thresholds; the figures are in the table", 420, 300, recall, precision);
  line(chart, kept.map(function (row) { return [row.recall, row.precision]; }));
  kept.forEach(function (row) {
    dot(chart, [row.recall, row.precision], "threshold " + row.threshold + ": precision " + percent(row.precision) + ", recall " + percent(row.recall));
  });
  return el("figure", {}, chart.picture, el("figcaption", {}, "A dot for each threshold, the lowest on the right."));
}

// ---- two models ------------------------------------------------------------------------------------

function comparison() {
  var place = section("comparison"), other = data.against;
  if (!other) {
    place.remove();
    return;
  }
  var names = {accuracy: "token accuracy", sequence_accuracy: "sequence accuracy", precision: "precision", recall: "recall", f1: "F1"};
  function signed(x) { return (x < 0 ? "−" : "+") + (100 * Math.abs(x)).toFixed(2); }
  var rows = Object.keys(names).filter(function (key) { return other.comparison[key]; }).map(function (key) {
    var c = other.comparison[key];
    return [names[key], percent(c.first), percent(c.second), signed(c.second - c.first),
      signed(c.interval[0]) + " to " + signed(c.interval[1]), c.p < 0.0001 ? "< 0.0001" : c.p.toFixed(4)];
  });
  place.appendChild(el("p", {class: "note"}, "First: the model of this page. Second: " + other.name + ". The interval (95 %) is of the difference, by the " +
    "bootstrap; p is that of a randomisation test: how often a difference as large would appear if both were equally good."));
  place.appendChild(table("Both models", ["", "first", "second", "difference", "interval", "p"], rows, []));
  var key = evaluation.types && evaluation.has_spans ? ["types", "type"] : ["by_label", "label"], theirs = {};
  (other.evaluation[key[0]] || []).forEach(function (row) { theirs[row[key[1]]] = row; });
  var pairs = evaluation[key[0]].map(function (row) { return [row, theirs[row[key[1]]] || {f1: 0, gold: row.gold}]; });
  pairs.sort(function (a, b) { return b[0].gold - a[0].gold; });
  var most = Math.max.apply(null, pairs.map(function (p) { return Math.abs(p[1].f1 - p[0].f1); }).concat([1e-9]));
  place.appendChild(table("F1 by " + key[1], ["", "gold", "first", "second", "difference", ""], pairs.map(function (p) {
    var difference = p[1].f1 - p[0].f1;
    return [p[0][key[1]], whole(p[0].gold), percent(p[0].f1), percent(p[1].f1), signed(difference), bar(Math.abs(difference) / most, difference < 0)];
  }), []));
}

// ---- confusion matrix ------------------------------------------------------------------------------------

function confusion() {
  var max = 30, gold = {}, wrong = {}, pairs = {}, names;
  evaluation.by_label.forEach(function (row) { gold[row.label] = row; wrong[row.label] = 0; });
  evaluation.confusion.forEach(function (c) {
    if (c.gold === c.predicted) return;
    wrong[c.gold] = (wrong[c.gold] || 0) + c.count;
    wrong[c.predicted] = (wrong[c.predicted] || 0) + c.count;
    pairs[JSON.stringify([c.gold, c.predicted])] = c.count;
  });
  names = Object.keys(wrong).filter(function (name) { return wrong[name] > 0; })
    .sort(function (a, b) { return wrong[b] - wrong[a]; });
  if (!names.length) {
    section("confusion").appendChild(el("p", {class: "note"}, "All labels are correct."));
    return;
  }
  var omitted = names.length - max, all = Object.keys(wrong).length;
  names = names.slice(0, max);
  names.sort(function (a, b) { return (gold[b] ? gold[b].gold : 0) - (gold[a] ? gold[a].gold : 0); });
  var head = el("tr", {}, el("th", {scope: "col", class: "text"}, "gold \\ predicted"));
  names.forEach(function (name) { head.appendChild(el("th", {scope: "col"}, el("span", {}, name))); });
  var body = el("tbody");
  names.forEach(function (truth) {
    var total = gold[truth] ? gold[truth].gold : 0, row = el("tr", {}, el("th", {scope: "row"}, truth));
    names.forEach(function (guess) {
      var count = truth === guess ? (gold[truth] ? gold[truth].correct : 0) : pairs[JSON.stringify([truth, guess])] || 0;
      var share = total ? count / total : 0, cell = el("td");
      if (count && truth === guess) {
        cell.className = "correct";
        cell.textContent = whole(count);
      } else if (count) {
        var button = el("button", {type: "button", "aria-label": whole(count) + " times " + guess + " instead of " + truth + ": show them"}, whole(count));
        button.addEventListener("click", function () { browse(truth, guess, true); });
        cell.className = "wrong";
        cell.appendChild(button);
        share = Math.sqrt(share); // so that rare errors are visible
      }
      cell.style.setProperty("--share", share.toFixed(3));
      row.appendChild(cell);
    });
    body.appendChild(row);
  });
  section("confusion").appendChild(el("p", {class: "note"},
    "Rows are gold labels, columns predicted labels. Labels without errors are omitted (" +
    (all - names.length - Math.max(0, omitted)) + ")" +
    (omitted > 0 ? ", and so are the " + omitted + " with the fewest errors" : "") +
    ". Click a number to see its sentences."));
  section("confusion").appendChild(el("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Confusion matrix"},
    el("table", {class: "heat"}, el("thead", {}, head), body)));
}

// ---- calibration -----------------------------------------------------------------------------------

function calibration() {
  if (!bins.length) {
    section("calibration").appendChild(el("p", {class: "note"}, "A model of this type has no probabilities."));
    return;
  }
  var S = 300, pad = 44, total = 0;
  bins.forEach(function (bin) { total += bin[2]; });
  function P(x) { return pad + x * (S - pad - 14); }
  function Q(y) { return S - pad - y * (S - pad - 14); }
  var picture = svg("svg", {viewBox: "0 0 " + S + " " + S, class: "chart", role: "img",
    "aria-label": "Accuracy against probability; the figures are in the table"});
  [0, 0.25, 0.5, 0.75, 1].forEach(function (v) {
    picture.appendChild(svg("path", {class: "axis", d: "M" + P(0) + " " + Q(v) + "H" + P(1)}));
    picture.appendChild(svg("text", {x: P(0) - 6, y: Q(v) + 4, "text-anchor": "end"}, v * 100));
    picture.appendChild(svg("text", {x: P(v), y: Q(0) + 17, "text-anchor": "middle"}, v * 100));
  });
  picture.appendChild(svg("path", {class: "ideal", d: "M" + P(0) + " " + Q(0) + "L" + P(1) + " " + Q(1)}));
  picture.appendChild(svg("path", {class: "curve", d: bins.map(function (bin, i) {
    return (i ? "L" : "M") + P(bin[0]).toFixed(1) + " " + Q(bin[1]).toFixed(1); }).join("")}));
  bins.forEach(function (bin) {
    picture.appendChild(svg("circle", {class: "dot", cx: P(bin[0]), cy: Q(bin[1]), r: 3 + 7 * Math.sqrt(bin[2] / total)},
      svg("title", {}, whole(bin[2]) + " tokens: probability " + percent(bin[0]) + ", accuracy " + percent(bin[1]))));
  });
  picture.appendChild(svg("text", {x: P(0.5), y: S - 8, "text-anchor": "middle"}, "probability of the predicted label, %"));
  picture.appendChild(svg("text", {x: 12, y: Q(0.5), "text-anchor": "middle", transform: "rotate(-90 12 " + Q(0.5) + ")"}, "accuracy, %"));
  var rows = bins.map(function (bin) { return [percent(bin[0]), percent(bin[1]), whole(bin[2])]; });
  section("calibration").appendChild(el("p", {class: "note"}, "Of the labels with a probability of p %, p % should be correct: the dashed line. " +
    "Below it the model is over-confident, above it under-confident."));
  section("calibration").appendChild(el("div", {class: "charts"}, el("figure", {}, picture),
    table("By probability of the predicted label", ["mean probability", "accuracy", "tokens"], rows, [])));
}

// ---- features and transitions ----------------------------------------------------------------------------

function featureTable(caption, list, less, max) {
  return table(caption, ["weight", list[0].attribute === undefined ? "transition" : "feature", ""], list.map(function (item) {
    var text = item.attribute !== undefined ? item.attribute + (item.labels ? "  (after " + item.labels.slice(0, -1).join(" ") + ")" : "")
      : item.labels.join(" → ");
    return [item.weight.toFixed(3), text, bar(Math.abs(item.weight) / max, less)];
  }), [1]);
}

function features() {
  var place = el("div"), choice = el("select", {id: "which"}), list = data.inspection.labels;
  list.forEach(function (label, i) { choice.appendChild(el("option", {value: i}, label.label)); });
  function draw() {
    var label = list[choice.value], max = 1e-9;
    [label.positive, label.negative, label.transitions_highest, label.transitions_lowest].forEach(function (items) {
      items.forEach(function (item) { max = Math.max(max, Math.abs(item.weight)); });
    });
    place.textContent = "";
    [["Positive weights for " + label.label, label.positive, false], ["Negative weights for " + label.label, label.negative, true],
      ["Transitions to " + label.label + ", highest weights", label.transitions_highest, false],
      ["Transitions to " + label.label + ", lowest weights", label.transitions_lowest, true]].forEach(function (part) {
      if (part[1].length) place.appendChild(featureTable(part[0], part[1], part[2], max));
    });
  }
  choice.addEventListener("change", draw);
  section("features").appendChild(el("div", {class: "filters"}, el("label", {for: "which"}, "Label", choice)));
  place.className = "charts";
  section("features").appendChild(place);
  draw();
  var used = data.inspection.templates.filter(function (t) { return t.weights > 0; });
  section("features").appendChild(el("details", {}, el("summary", {}, "Weights by template"),
    table("Templates of the model", ["weights", "attributes", "mean |w|", "template"], used.map(function (t) {
      return [whole(t.weights), whole(t.attributes), (t.absolute / t.weights).toFixed(4), (t.edge ? "edge " : "") + (t.template || "(given attributes)")];
    }), [3])));
}

// Labels on a circle, the transitions with the highest weights as arrows between them.
function diagram(names, weights, strongest) {
  var S = 460, C = S / 2, R = S / 2 - 62, max = strongest[0].weight;
  var picture = svg("svg", {viewBox: "0 0 " + S + " " + S, class: "chart", role: "img",
    "aria-label": "The " + strongest.length + " transitions with the highest weights; the figures are in the table"});
  var shown = names.map(function (name, i) { return i; }).filter(function (i) {
    return strongest.some(function (s) { return s.from === i || s.to === i; }); });
  function at(i) {
    var angle = 2 * Math.PI * shown.indexOf(i) / shown.length - Math.PI / 2;
    return [C + R * Math.cos(angle), C + R * Math.sin(angle), angle];
  }
  strongest.slice().reverse().forEach(function (s) {
    var a = at(s.from), b = at(s.to), width = 0.8 + 4.5 * s.weight / max, path, title, end, before;
    if (s.from === s.to) {
      var ox = Math.cos(a[2]), oy = Math.sin(a[2]);
      before = [a[0] + 46 * ox + 20 * oy, a[1] + 46 * oy - 20 * ox];
      path = "M" + (a[0] + 14 * ox - 8 * oy) + " " + (a[1] + 14 * oy + 8 * ox) + "C" + (a[0] + 46 * ox - 20 * oy) + " " +
        (a[1] + 46 * oy + 20 * ox) + " " + before[0] + " " + before[1] + " " + (a[0] + 15 * ox + 8 * oy) + " " + (a[1] + 15 * oy - 8 * ox);
      end = [a[0] + 15 * ox + 8 * oy, a[1] + 15 * oy - 8 * ox];
    } else {
      // curved towards the centre, so that the two directions do not overlap
      before = [C + 0.35 * ((a[0] + b[0]) / 2 - C) + 0.12 * (b[1] - a[1]), C + 0.35 * ((a[1] + b[1]) / 2 - C) - 0.12 * (b[0] - a[0])];
      var dx = before[0] - b[0], dy = before[1] - b[1], d = Math.sqrt(dx * dx + dy * dy) || 1;
      end = [b[0] + 20 * dx / d, b[1] + 20 * dy / d];
      path = "M" + a[0] + " " + a[1] + "Q" + before[0] + " " + before[1] + " " + end[0] + " " + end[1];
    }
    title = svg("title", {}, names[s.from] + " → " + names[s.to] + ": " + s.weight.toFixed(3));
    picture.appendChild(svg("path", {class: "arrow", d: path, "stroke-width": width.toFixed(2), "stroke-opacity": (0.35 + 0.6 * s.weight / max).toFixed(2)}, title));
    var tx = end[0] - before[0], ty = end[1] - before[1], t = Math.sqrt(tx * tx + ty * ty) || 1, size = 4 + width;
    tx /= t; ty /= t;
    picture.appendChild(svg("path", {class: "tip", "fill-opacity": (0.45 + 0.5 * s.weight / max).toFixed(2),
      d: "M" + (end[0] + size * tx) + " " + (end[1] + size * ty) + "L" + (end[0] - size * 0.6 * ty) + " " + (end[1] + size * 0.6 * tx) +
      "L" + (end[0] + size * 0.6 * ty) + " " + (end[1] - size * 0.6 * tx) + "Z"}));
  });
  shown.forEach(function (i) {
    var p = at(i);
    picture.appendChild(svg("circle", {class: "disc", cx: p[0], cy: p[1], r: 15}));
    picture.appendChild(svg("text", {class: "name", x: p[0], y: p[1]}, names[i]));
  });
  return el("figure", {}, picture, el("figcaption", {}, "The " + strongest.length + " transitions with the highest weights; wider is higher."));
}

function transitions() {
  var weights = data.inspection.transitions, names = data.model.labels, all = [], max = 0, max_labels = 40;
  if (weights) {
    names.forEach(function (a, i) {
      names.forEach(function (b, j) {
        var w = weights[i][j];
        if (w) { all.push({from: i, to: j, weight: w}); max = Math.max(max, Math.abs(w)); }
      });
    });
  }
  if (!all.length) {
    section("transitions").appendChild(el("p", {class: "note"}, "The model has no transition weights, or too many labels to show them."));
    return;
  }
  // Log probabilities (an HMM) are never above 0: probabilities are drawn instead.
  var logs = all.every(function (s) { return s.weight <= 0; });
  var strongest = all.map(function (s) { return {from: s.from, to: s.to, weight: logs ? Math.exp(s.weight) : s.weight}; })
    .filter(function (s) { return s.weight > 0; }).sort(function (a, b) { return b.weight - a.weight; }).slice(0, 30);
  if (strongest.length) section("transitions").appendChild(diagram(names, weights, strongest));
  if (names.length > max_labels) {
    section("transitions").appendChild(el("p", {class: "note"}, "The transition table of " + names.length + " labels is too large for this page; 'trellis inspect --json' has it."));
    return;
  }
  var columns = names.concat(["<end>"]), lines = names.concat(["<start>"]);
  var head = el("tr", {}, el("th", {scope: "col", class: "text"}, "from \\ to")), body = el("tbody");
  columns.forEach(function (name) { head.appendChild(el("th", {scope: "col"}, el("span", {}, name))); });
  lines.forEach(function (name, i) {
    var row = el("tr", {}, el("th", {scope: "row"}, name));
    columns.forEach(function (_, j) {
      var w = weights[i][j], cell = el("td", {class: w === null ? "never" : w < 0 ? "minus" : "plus"},
        w === null ? "never" : w === 0 ? "" : w.toFixed(1));
      cell.style.setProperty("--share", w ? Math.min(1, Math.abs(w) / max).toFixed(3) : 0);
      row.appendChild(cell);
    });
    body.appendChild(row);
  });
  section("transitions").appendChild(el("details", {}, el("summary", {}, "All transition weights"),
    el("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Transition weights"},
      el("table", {class: "heat"}, el("thead", {}, head), body))));
}

summary();
comparison();
training();
labels();
spans();
confusion();
calibration();
features();
transitions();
errors();
Array.prototype.forEach.call(document.querySelectorAll("section"), function (part) {
  section("contents").appendChild(el("li", {}, el("a", {href: "#" + part.id}, part.querySelector("h2").textContent)));
});
document.documentElement.setAttribute("data-drawn", "yes");
