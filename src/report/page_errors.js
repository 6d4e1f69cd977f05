// page_errors.js - the sequences with errors: filters, order, and one or two labellings; a part of the script.
"use strict";

var at_once = 25, shown = 0, matching = [], choice_gold, choice_predicted, choice_order, choice_who, list_node, more, status_node;

function tokenNode(error, i, hit) {
  var gold = data.error_labels[error[2][i]], predicted = data.error_labels[error[3][i]], p = error[4][i];
  var other = error[5] ? data.error_labels[error[5][i]] : gold;
  var bad = gold !== predicted, other_bad = gold !== other;
  var node = el("span", {class: "token" + (bad || other_bad ? " bad" : "") + (hit ? " hit" : "")}, error[1][i]);
  if (p !== undefined) node.style.setProperty("--doubt", (1 - p / 100).toFixed(2));
  node.title = (bad ? predicted + " instead of " + gold : gold) + (p === undefined ? "" : ", probability " + p + " %") +
    (error[5] ? "; " + data.against.name + ": " + other : "");
  if (bad || other_bad) {
    node.appendChild(el("small", {class: bad ? "predicted" : "same"}, error[5] ? "1 " : "", predicted));
    if (error[5]) node.appendChild(el("small", {class: other_bad ? "predicted" : "same"}, "2 ", other));
    node.appendChild(el("small", {class: "gold"}, el("span", {"aria-label": "gold: "}, "✓ "), gold));
  } else {
    node.appendChild(el("small", {}, gold));
  }
  return node;
}

// Whether a token is wrong, by the model or models chosen.
function wrongFor(error, i) {
  var bad = error[2][i] !== error[3][i], other_bad = error[5] ? error[2][i] !== error[5][i] : false;
  var who = choice_who ? choice_who.value : "first";
  return who === "first" ? bad : who === "second" ? other_bad : who === "only first" ? bad && !other_bad
    : who === "only second" ? other_bad && !bad : who === "both" ? bad && other_bad : bad || other_bad;
}

function hits(error, i) {
  var gold = data.error_labels[error[2][i]], predicted = data.error_labels[error[3][i]];
  return wrongFor(error, i) && (choice_gold.value === "" || gold === choice_gold.value) &&
    (choice_predicted.value === "" || predicted === choice_predicted.value);
}

function showMore() {
  var any = choice_gold.value !== "" || choice_predicted.value !== "" || (choice_who !== undefined && choice_who.value !== "either");
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

// The probability of the wrong label that the model is surest of, and of the label it is least sure of.
function surest(error) {
  return Math.max.apply(null, error[4].filter(function (_, i) { return hits(error, i); }).concat([0]));
}
function leastSure(error) { return Math.min.apply(null, error[4]); }

function filter() {
  matching = data.errors.filter(function (error) {
    return error[1].some(function (_, i) { return hits(error, i); });
  });
  var order = choice_order ? choice_order.value : "line";
  if (order !== "line") {
    matching = matching.map(function (error) { return [order === "surest" ? -surest(error) : leastSure(error), error]; })
      .sort(function (a, b) { return a[0] - b[0] || a[1][0] - b[1][0]; }).map(function (pair) { return pair[1]; });
  }
  shown = 0;
  list_node.textContent = "";
  showMore();
}

function browse(gold, predicted, jump) {
  choice_gold.value = gold;
  choice_predicted.value = predicted;
  if (choice_who) choice_who.value = jump ? "first" : "either";
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
      error[2].forEach(function (g, i) { if (g !== error[3][i] || (error[5] && g !== error[5][i])) seen[data.error_labels[error[column][i]]] = true; });
    });
    Object.keys(seen).sort().forEach(function (name) { node.appendChild(el("option", {value: name}, name)); });
    node.addEventListener("change", filter);
    return node;
  }
  function options(id, list) {
    var node = el("select", {id: id});
    list.forEach(function (pair) { node.appendChild(el("option", {value: pair[0]}, pair[1])); });
    node.addEventListener("change", filter);
    return node;
  }
  if (bins.length) {
    choice_order = options("order", [["line", "as in the file"], ["surest", "most confident errors first"], ["least", "least confident first"]]);
  }
  if (data.against) {
    choice_who = options("who", [["either", "either model"], ["only first", "the first only"], ["only second", data.against.name + " only"],
      ["both", "both"], ["first", "the first"], ["second", data.against.name]]);
  }
  choice_gold = choice("gold", 2);
  choice_predicted = choice("predicted", 3);
  status_node = el("p", {class: "note", role: "status"});
  list_node = el("ul", {class: "sentences"});
  more = el("button", {type: "button", class: "more"});
  var reset = el("button", {type: "button", class: "reset"}, "All errors");
  more.addEventListener("click", showMore);
  reset.addEventListener("click", function () { browse("", "", false); });
  place.appendChild(el("p", {class: "note"}, "Each word has its label below it; where that is wrong, the predicted label" +
    (data.against ? " of the first (1) and of the second model (2)" : "") + " and, after ✓, the gold label." +
    (bins.length ? " The darker the background of a word, the lower the probability of its label." : "")));
  place.appendChild(el("div", {class: "filters"}, el("label", {for: "gold"}, "Gold label", choice_gold),
    el("label", {for: "predicted"}, "Predicted label", choice_predicted),
    choice_who ? el("label", {for: "who"}, "Wrong in", choice_who) : null,
    choice_order ? el("label", {for: "order"}, "Order", choice_order) : null, reset));
  [status_node, list_node, more].forEach(function (node) { place.appendChild(node); });
  filter();
}
