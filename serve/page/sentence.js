// sentence.js - draws a tagged sentence: spans coloured by type, tokens that can be selected.

// Hues of the types, as far apart from those before as can be.
let types = [];
export function setTypes(names) { types = names; }
export const hue = (name) => Math.round((210 + 137.508 * Math.max(0, types.indexOf(name))) % 360);

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const percent = (p) => `${(100 * p).toFixed(1)} %`;

// What stands between two tokens in the text, or a blank.
function gap(sentence, i) {
  if (i === 0) return '';
  if (!sentence.offsets) return ' ';
  return [...sentence.sent.text].slice(sentence.offsets[i - 1][1], sentence.offsets[i][0]).join('').replace(/\s+/g, ' ');
}

function title(sentence, i) {
  const p = sentence.marginals ? `, probability ${percent(sentence.marginals[i])}` : '';
  return `${sentence.view.labels[i]}${sentence.view.corrected || sentence.rank ? '' : p}`;
}

function word(sentence, i, differs) {
  const doubtful = !sentence.view.corrected && sentence.marginals && sentence.marginals[i] < 0.5;
  return element('span', {
    class: `word${differs ? ' differs' : ''}${doubtful ? ' doubtful' : ''}`, role: 'option', tabindex: i === 0 ? 0 : -1, 'aria-selected': 'false',
    'data-token': i, title: title(sentence, i), 'aria-label': `${sentence.tokens[i]}, ${sentence.view.labels[i]}`,
  }, sentence.tokens[i]);
}

// The pieces to draw: spans, and for models without spans every token with its label.
function pieces(sentence) {
  if (sentence.view.spans) return sentence.view.spans;
  return sentence.view.labels.map((label, i) => ({
    type: label, start: i, end: i + 1, corrected: sentence.view.changed && sentence.view.changed.has(i),
    probability: sentence.marginals && !sentence.rank ? sentence.marginals[i] : undefined,
  }));
}

function spanNode(sentence, span, other) {
  const node = element('span', { class: `span${span.corrected ? ' corrected' : ''}` });
  const known = typeof span.probability === 'number';
  node.style.setProperty('--hue', hue(span.type));
  if (known) node.style.setProperty('--p', span.probability.toFixed(3));
  for (let i = span.start; i < span.end; i++) node.append(i > span.start ? gap(sentence, i) : '', word(sentence, i, other && other[i] !== sentence.view.labels[i]));
  node.append(element('span', { class: 'type', 'aria-hidden': 'true' }, span.type, known ? element('small', {}, percent(span.probability)) : null));
  if (known) node.title = `${span.type}, probability ${percent(span.probability)}`;
  return node;
}

// The words of a sentence; `other` are the labels of a second model, to mark where they differ.
export function drawWords(sentence, other) {
  const words = element('div', { class: 'words', role: 'listbox', 'aria-multiselectable': 'true', 'aria-label': 'Words and labels' });
  let at = 0;
  for (const span of pieces(sentence)) {
    for (; at < span.start; at++) words.append(gap(sentence, at), word(sentence, at, other && other[at] !== sentence.view.labels[at]));
    words.append(gap(sentence, at), spanNode(sentence, span, other));
    at = span.end;
  }
  for (; at < sentence.tokens.length; at++) words.append(gap(sentence, at), word(sentence, at, other && other[at] !== sentence.view.labels[at]));
  return words;
}
