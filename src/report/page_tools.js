// page_tools.js - elements, tables and axes of the report; the first part of its script.
//
// Everything that comes from a corpus or a model is put in as text (textContent, setAttribute), never as markup.
"use strict";

// Errors are shown on the page.
window.addEventListener("error", function (event) {
  var problem = document.getElementById("problem");
  problem.hidden = false;
  problem.textContent = "Part of this page could not be drawn: " + event.message;
});

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
  if (share === 0) return "";
  var node = el("span", {class: less ? "bar less" : "bar", "aria-hidden": "true"});
  node.style.width = Math.max(0, 100 * share).toFixed(1) + "%";
  return node;
}

// ---- axes ------------------------------------------------------------------------------------------

// Multiples of 1, 2 or 5 times a power of ten that cut a range into at most `parts`.
function ticks(low, high, parts) {
  var power = Math.pow(10, Math.floor(Math.log10((high - low) / parts))), times = (high - low) / parts / power, list = [];
  var step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
  for (var k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}

// The range of some values, widened to round numbers.
function roundRange(values) {
  var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
  if (low === high) {
    var room = Math.abs(low) * 0.01 || 1;
    low -= room;
    high += room;
  }
  var marks = ticks(low, high, 4), step = marks.length > 1 ? marks[1] - marks[0] : high - low;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

// A drawing of W x H with grid lines and labels: x and y have a `range`, `marks`, and a `show` for the marks.
// Returns the picture and the places of values.
function plot(label, W, H, x, y) {
  var left = 58, right = 14, top = 12, bottom = 42;
  function X(v) { return left + (v - x.range[0]) / (x.range[1] - x.range[0]) * (W - left - right); }
  function Y(v) { return H - bottom - (v - y.range[0]) / (y.range[1] - y.range[0]) * (H - top - bottom); }
  var picture = svg("svg", {viewBox: "0 0 " + W + " " + H, class: "chart", role: "img", "aria-label": label});
  y.marks.forEach(function (v) {
    picture.appendChild(svg("path", {class: "axis", d: "M" + left + " " + Y(v) + "H" + (W - right)}));
    picture.appendChild(svg("text", {x: left - 8, y: Y(v) + 4, "text-anchor": "end"}, y.show(v)));
  });
  x.marks.forEach(function (v) {
    picture.appendChild(svg("text", {x: X(v), y: H - bottom + 18, "text-anchor": "middle"}, x.show(v)));
  });
  picture.appendChild(svg("text", {x: (left + W - right) / 2, y: H - 4, "text-anchor": "middle"}, x.name));
  if (y.name) {
    var middle = (top + H - bottom) / 2;
    picture.appendChild(svg("text", {x: 12, y: middle, "text-anchor": "middle", transform: "rotate(-90 12 " + middle + ")"}, y.name));
  }
  return {picture: picture, X: X, Y: Y};
}

// A line through points [x, y].
function line(chart, points, kind) {
  chart.picture.appendChild(svg("path", {class: "curve" + (kind ? " " + kind : ""), d: points.map(function (p, i) {
    return (i ? "L" : "M") + chart.X(p[0]).toFixed(1) + " " + chart.Y(p[1]).toFixed(1); }).join("")}));
}

function dot(chart, point, title, kind, radius) {
  chart.picture.appendChild(svg("circle", {class: "dot" + (kind ? " " + kind : ""), cx: chart.X(point[0]).toFixed(1),
    cy: chart.Y(point[1]).toFixed(1), r: radius || 3.5}, svg("title", {}, title)));
}
