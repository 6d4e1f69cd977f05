// corrections.js - the corrected sentences: kept in the browser, downloaded for the next training.

const KEY = 'trellis-corrections';
let list = load();

function load() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) || '[]');
    return Array.isArray(stored) ? stored.filter((item) => item && Array.isArray(item.tokens) && Array.isArray(item.labels)) : [];
  } catch {
    return [];
  }
}

function store() {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // full or forbidden: they last as long as the page
  }
}

const same = (a, b) => a.model === b.model && JSON.stringify(a.tokens) === JSON.stringify(b.tokens);

// Adds a corrected sentence, or replaces an earlier correction of it.
export function keep(sentence, model) {
  const item = { model, tokens: sentence.tokens, columns: sentence.sent.text === undefined ? sentence.sent.tokens : null, labels: sentence.view.labels };
  list = list.filter((other) => !same(other, item));
  list.push(item);
  store();
}

export function find(sentence, model) {
  return list.find((item) => same(item, { model, tokens: sentence.tokens }));
}

export const count = () => list.length;

export function discard() {
  list = [];
  store();
}

// The cells of a token, its label last; a token of several columns keeps them.
const cells = (item, i) => (item.columns && Array.isArray(item.columns[i]) ? item.columns[i] : [item.tokens[i]]).concat([item.labels[i]]);

export const asColumns = () => list.map((item) => item.tokens.map((_, i) => `${cells(item, i).join('\t')}\n`).join('')).join('\n');

export const asJsonLines = () => list.map((item) => `${JSON.stringify({ tokens: item.tokens, labels: item.labels })}\n`).join('');
