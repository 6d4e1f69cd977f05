// page.js - draws the report from the data in the page.
//
// Everything that comes from a corpus or a model is put in as text (textContent, setAttribute), never as markup.
"use strict";

// Errors are shown on the page.
window.addEventListener("error", function (event) {
  var problem = document.getElementById("problem");
  problem.hidden = false;
  problem.textContent = "Part of this page could not be drawn: " + event.message;
});

(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var evaluation = data.evaluation, notes = data.model.notes;
  // Mean probability, accuracy and number of tokens in ten bins; empty without probabilities.
  var bins = (evaluation.by_confidence || []).map(function (row) { return [row.confidence, row.precision, row.gold]; });

  // ---- small tools -----------------------------------------------------------------------------------

  // el("td", {class: "text"}, child, ...): children are nodes or texts.
  function fill(node, attributes, children) {
    for (var name in attributes || {}) {
      if (attributes[name] !== null && attributes[name] !== undefined) node.setAttribute(name, attributes[name]);
    }
    children.forEach(function (child) {
      if (child !== null && child !== undefined) {
        node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
      }
    });
    return node;
  }
  function el(tag, attributes) {
    return fill(document.createElement(tag), attributes, Array.prototype.slice.call(arguments, 2));
  }
  function svg(tag, attributes) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes,
      Array.prototype.slice.call(arguments, 2));
  }
  function section(id) { return document.getElementById(id); }
  function percent(x) { return x === null || x === undefined ? "–" : (100 * x).toFixed(2) + " %"; }
  function whole(n) { return Number(n).toLocaleString("en"); }

  // A table with headings; cells are texts, numbers or nodes, and text columns are named by their places.
  function table(caption, headings, rows, textual) {
    var body = el("tbody");
    rows.forEach(function (cells) {
      var row = el("tr");
      cells.forEach(function (cell, i) {
        row.appendChild(i === 0 ? el("th", {scope: "row"}, cell)
          : el("td", {class: cell instanceof HTMLElement && cell.className.indexOf("bar") === 0 ? "bars"
            : textual.indexOf(i) >= 0 ? "text wrap" : null}, cell));
      });
      body.appendChild(row);
    });
    var head = el("tr");
    headings.forEach(function (heading, i) {
      head.appendChild(el("th", {scope: "col", class: i === 0 || textual.indexOf(i) >= 0 ? "text" : null}, heading));
    });
    return el("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": caption},
      el("table", {class: "plain"}, el("caption", {}, caption), el("thead", {}, head), body));
  }

  function bar(share, less) {
    var node = el("span", {class: less ? "bar less" : "bar", "aria-hidden": "true"});
    node.style.width = Math.max(0, 100 * share).toFixed(1) + "%";
    return node;
  }

  // ---- summary ---------------------------------------------------------------------------------------

  function summary() {
    var cards = section("summary").querySelector("dl");
    function card(name, value, small) {
      cards.appendChild(el("div", {}, el("dt", {}, name), el("dd", {}, value, small ? el("small", {}, small) : null)));
    }
    if (evaluation.has_spans) {
      card("Span F1", percent(evaluation.f1), whole(evaluation.spans_correct) + " of " + whole(evaluation.spans_gold) + " spans");
      card("Precision", percent(evaluation.precision), whole(evaluation.spans_predicted) + " predicted");
      card("Recall", percent(evaluation.recall));
    }
    card("Token accuracy", percent(evaluation.accuracy), whole(evaluation.tokens_correct) + " of " + whole(evaluation.tokens));
    card("Sequence accuracy", percent(evaluation.sequence_accuracy),
      whole(evaluation.sequences_correct) + " of " + whole(evaluation.sequences));
    (evaluation.by_vocabulary || []).forEach(function (row) {
      card(row.words === "OOV" ? "Accuracy out of vocabulary (OOV)" : "Accuracy in vocabulary", percent(row.precision), whole(row.gold) + " tokens");
    });
    if (typeof evaluation.log_likelihood === "number") {
      card("Log-likelihood", (evaluation.log_likelihood / evaluation.tokens).toFixed(4), "per token");
    }
    if (bins.length) {
      card("Calibration error", percent(evaluation.calibration_error), "expected, over ten bins");
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
    return a >= 10000 ? x.toPrecision(3).replace("e+", "e") : a >= 100 ? x.toFixed(0) : a >= 1 ? x.toFixed(2) : x.toFixed(4);
  }

  // One figure over the iterations.
  function curve(name, points, show) {
    var W = 420, H = 230, left = 58, right = 12, top = 12, bottom = 34;
    var xs = points.map(function (p) { return p[0]; }), ys = points.map(function (p) { return p[1]; });
    var x0 = Math.min.apply(null, xs), x1 = Math.max.apply(null, xs);
    var y0 = Math.min.apply(null, ys), y1 = Math.max.apply(null, ys);
    if (y1 === y0) { y1 += Math.abs(y1) * 0.01 || 1; y0 -= Math.abs(y0) * 0.01 || 1; }
    function X(x) { return left + (x1 === x0 ? 0.5 : (x - x0) / (x1 - x0)) * (W - left - right); }
    function Y(y) { return H - bottom - (y - y0) / (y1 - y0) * (H - top - bottom); }
    var last = points[points.length - 1];
    var picture = svg("svg", {viewBox: "0 0 " + W + " " + H, class: "chart", role: "img",
      "aria-label": name + " from " + show(points[0][1]) + " to " + show(last[1]) + " over " + points.length + " iterations"});
    [0, 0.5, 1].forEach(function (share) {
      var y = y0 + share * (y1 - y0);
      picture.appendChild(svg("path", {class: "axis", d: "M" + left + " " + Y(y) + "H" + (W - right)}));
      picture.appendChild(svg("text", {x: left - 8, y: Y(y) + 4, "text-anchor": "end"}, show(y)));
    });
    [x0, x1].forEach(function (x, i) {
      if (i === 0 || x1 > x0) {
        picture.appendChild(svg("text", {x: X(x), y: H - bottom + 18, "text-anchor": i ? "end" : "start"}, x));
      }
    });
    picture.appendChild(svg("text", {x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle"}, "iteration"));
    picture.appendChild(svg("path", {class: "curve", d: points.map(function (p, i) {
      return (i ? "L" : "M") + X(p[0]).toFixed(1) + " " + Y(p[1]).toFixed(1); }).join("")}));
    var kept = points.filter(function (p) { return p[0] === Number(notes.iterations); })[0] || last;
    picture.appendChild(svg("circle", {class: "dot", cx: X(kept[0]), cy: Y(kept[1]), r: 4},
      svg("title", {}, "this model, iteration " + kept[0] + ": " + show(kept[1]))));
    return el("figure", {}, picture, el("figcaption", {}, name));
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

  // ---- errors ----------------------------------------------------------------------------------------

  var at_once = 25, shown = 0, matching = [], choice_gold, choice_predicted, list_node, more, status_node;

  function tokenNode(error, i, hit) {
    var gold = data.error_labels[error[2][i]], predicted = data.error_labels[error[3][i]], p = error[4][i];
    var bad = gold !== predicted;
    var node = el("span", {class: "token" + (bad ? " bad" : "") + (hit ? " hit" : "")}, error[1][i]);
    if (p !== undefined) node.style.setProperty("--doubt", (1 - p / 100).toFixed(2));
    node.title = (bad ? predicted + " instead of " + gold : gold) + (p === undefined ? "" : ", probability " + p + " %");
    if (bad) {
      node.appendChild(el("small", {class: "predicted"}, predicted));
      node.appendChild(el("small", {class: "gold"}, el("span", {"aria-label": "gold: "}, "✓ "), gold));
    } else {
      node.appendChild(el("small", {}, gold));
    }
    return node;
  }

  function hits(error, i) {
    var gold = data.error_labels[error[2][i]], predicted = data.error_labels[error[3][i]];
    return gold !== predicted && (choice_gold.value === "" || gold === choice_gold.value) &&
      (choice_predicted.value === "" || predicted === choice_predicted.value);
  }

  function showMore() {
    var any = choice_gold.value !== "" || choice_predicted.value !== "";
    matching.slice(shown, shown + at_once).forEach(function (error) {
      var item = el("li", {}, el("span", {class: "line"}, "line " + whole(error[0])));
      error[1].forEach(function (_, i) { item.appendChild(tokenNode(error, i, any && hits(error, i))); });
      list_node.appendChild(item);
    });
    shown = Math.min(matching.length, shown + at_once);
    more.hidden = shown >= matching.length;
    more.textContent = "Show " + Math.min(at_once, matching.length - shown) + " more";
    status_node.textContent = whole(matching.length) + (any ? " sentences match" : " sentences with errors") + ", " + whole(shown) + " of them shown." +
      (data.shown < data.wrong ? " The page holds " + whole(data.shown) + " of the " + whole(data.wrong) + " sentences with errors." : "");
  }

  function filter() {
    matching = data.errors.filter(function (error) {
      return error[1].some(function (_, i) { return hits(error, i); });
    });
    shown = 0;
    list_node.textContent = "";
    showMore();
  }

  function browse(gold, predicted, jump) {
    choice_gold.value = gold;
    choice_predicted.value = predicted;
    filter();
    if (jump) {
      section("errors").scrollIntoView();
      choice_gold.focus({preventScroll: true});
    }
  }

  function errors() {
    var place = section("errors");
    if (!data.errors.length) {
      place.appendChild(el("p", {class: "note"}, data.wrong ? "There are " + whole(data.wrong) + " sentences with errors; none is on this page." : "There are none."));
      return;
    }
    function choice(id, column) {
      var node = el("select", {id: id}, el("option", {value: ""}, "any")), seen = {};
      data.errors.forEach(function (error) {
        error[2].forEach(function (g, i) { if (g !== error[3][i]) seen[data.error_labels[error[column][i]]] = true; });
      });
      Object.keys(seen).sort().forEach(function (name) { node.appendChild(el("option", {value: name}, name)); });
      node.addEventListener("change", filter);
      return node;
    }
    choice_gold = choice("gold", 2);
    choice_predicted = choice("predicted", 3);
    status_node = el("p", {class: "note", role: "status"});
    list_node = el("ul", {class: "sentences"});
    more = el("button", {type: "button", class: "more"});
    var reset = el("button", {type: "button", class: "reset"}, "All errors");
    more.addEventListener("click", showMore);
    reset.addEventListener("click", function () { browse("", "", false); });
    place.appendChild(el("p", {class: "note"}, "Each word has its label below it; where that is wrong, the predicted label and, after ✓, the gold label." +
      (bins.length ? " The darker the background of a word, the lower the probability of its label." : "")));
    place.appendChild(el("div", {class: "filters"}, el("label", {for: "gold"}, "Gold label", choice_gold),
      el("label", {for: "predicted"}, "Predicted label", choice_predicted), reset));
    [status_node, list_node, more].forEach(function (node) { place.appendChild(node); });
    filter();
  }

  summary();
  training();
  labels();
  confusion();
  calibration();
  features();
  transitions();
  errors();
  Array.prototype.forEach.call(document.querySelectorAll("section"), function (part) {
    section("contents").appendChild(el("li", {}, el("a", {href: "#" + part.id}, part.querySelector("h2").textContent)));
  });
  document.documentElement.setAttribute("data-drawn", "yes");
})();
