// page.js - the page: asks the service, shows the answer, and lets a person read and correct it.
//
// Whatever comes from a text, a model or the service is put in as text, never as markup.
import * as api from './api.js';
import * as corrections from './corrections.js';
import * as queue from './queue.js';
import { drawWords, element, hue, percent, setTypes } from './sentence.js';
import { replace, schemeOf, toLabels, typesOf } from './spans.js';

const $ = (id) => document.getElementById(id);
const EXAMPLES = [
  'The ferry may book a record light in the harbour of Ghent.',
  'Maria Lopez of the University of Leuven met the minister in Brussels on Monday.',
  'Confidence in the pound is expected to take another sharp dive if trade figures fail to show an improvement.',
];
const NBEST = 5;

let models = [];
let sentences = []; // as drawn: the answer, `sent`, `rank`, and `view`: labels, spans and whether they were corrected
let others = []; // of the model to compare with
let scored = []; // sentences of a file
let selection = null; // {sentence, start, end, focus}
let asked = 0; // the last request; answers to earlier ones are dropped

const model = () => models.find((item) => item.name === $('model').value);

function say(text, problem = false) {
  $('status').textContent = text;
  $('status').classList.toggle('problem', problem);
}

// Runs something that asks the service; a failure is told.
async function attempt(work) {
  try {
    await work();
  } catch (problem) {
    say(problem.message, true);
  }
}

// ---- models and input ----------------------------------------------------------------------------

async function listModels() {
  models = await api.models();
  $('model').replaceChildren(...models.map((item) => new Option(item.name)));
  $('other').replaceChildren(new Option('nothing', ''), ...models.map((item) => new Option(item.name)));
  chooseModel();
}

// Models that use more than words cannot tag running text.
function chooseModel() {
  const chosen = model();
  if (!chosen) return;
  const used = chosen.columns.filter((column) => column.used).length;
  $('kind').value = chosen.attributes ? 'json' : used > 1 ? 'columns' : 'text';
  chooseKind();
  $('about').textContent = `${chosen.name}: ${chosen.type || 'model'}, ${chosen.labels.length} labels. Paste a text and see how it is labelled.`;
}

function chooseKind() {
  const kind = $('kind').value;
  if (kind === 'text' && !$('text').value) $('text').value = EXAMPLES[0];
  if (kind !== 'text' && EXAMPLES.includes($('text').value)) $('text').value = '';
  const names = (model()?.columns || []).map((column, i) => column.name || `column ${i + 1}`).join(', ');
  $('text').placeholder = kind === 'columns' ? `A token a line: ${names || 'its columns'}; a blank line after a sentence.`
    : kind === 'json' ? '{"tokens": ["The", "dog"]} or {"attributes": [["w=The"], ["w=dog"]]}' : 'Type or paste a text.';
  $('examples').hidden = kind !== 'text';
}

// ---- tagging -------------------------------------------------------------------------------------

function request(chosen, sequences) {
  return { model: chosen.name, sequences, nbest: NBEST, ...(chosen.probabilities ? { marginals: true } : {}) };
}

// The labelling to show: a correction, or one of the n best.
function view(sentence, chosen) {
  const kept = sentence.correctable ? corrections.find(sentence, chosen.name) : null;
  if (kept) return { labels: kept.labels, spans: sentence.spans ? spansOf(kept.labels) : null, corrected: true };
  const labelling = sentence.rank ? sentence.nbest[sentence.rank] : sentence;
  return { labels: labelling.labels, spans: labelling.spans || null, corrected: false };
}

// Spans of corrected labels: a new one begins at B, S or U, or where the type changes.
function spansOf(labels) {
  const spans = [];
  labels.forEach((label, i) => {
    const open = spans[spans.length - 1];
    if (label === 'O') return;
    const extends_ = open && open.end === i && open.type === label.slice(2) && !'BSU'.includes(label[0]) && !'ESLU'.includes(labels[i - 1][0]);
    if (extends_) open.end = i + 1;
    else spans.push({ type: label.slice(2), start: i, end: i + 1, corrected: true });
  });
  return spans;
}

async function tagWith(chosen, sequences, correctable) {
  const answers = await api.tag(request(chosen, sequences));
  return answers.map((answer, i) => {
    const sent = sequences.length === answers.length ? sequences[i] : sequences[0];
    const tokens = answer.tokens || (sent.attributes || []).map((_, k) => `#${k + 1}`);
    const sentence = { ...answer, tokens, sent, rank: 0, correctable };
    sentence.view = view(sentence, chosen);
    return sentence;
  });
}

async function show(sequences) {
  const mine = ++asked;
  const chosen = model();
  const second = models.find((item) => item.name === $('other').value);
  if (!chosen) {
    await listModels();
    return;
  }
  say('Tagging …');
  setTypes([...new Set([...typesOf(chosen), ...(second ? typesOf(second) : [])])]);
  const [first, compared] = await Promise.all([tagWith(chosen, sequences, true), second ? tagWith(second, sequences, false) : []]);
  if (mine !== asked) return;
  sentences = first;
  others = compared;
  selection = null;
  redraw();
  $('why').hidden = $('picture').hidden = true;
  $('result').hidden = false;
  const tokens = sentences.reduce((sum, sentence) => sum + sentence.tokens.length, 0);
  say(`${sentences.length} sentence${sentences.length === 1 ? '' : 's'}, ${tokens} token${tokens === 1 ? '' : 's'}${second ? differences() : ''}.`);
}

function differences() {
  let count = 0;
  sentences.forEach((sentence, i) => sentence.labels.forEach((label, k) => { count += others[i]?.labels[k] !== label; }));
  return `, ${count} label${count === 1 ? '' : 's'} differ`;
}

// ---- drawing -------------------------------------------------------------------------------------

function rankBar(sentence) {
  const bar = element('div', { class: 'bar' });
  const all = sentence.nbest || [];
  if (all.length > 1) {
    const move = (step, label, sign) => {
      const button = element('button', { type: 'button', 'aria-label': label, disabled: sentence.rank + step < 0 || sentence.rank + step >= all.length }, sign);
      button.addEventListener('click', () => {
        sentence.rank += step;
        sentence.view = view(sentence, model());
        redraw();
        $('sentences').children[sentences.indexOf(sentence)].querySelector(`button[aria-label="${label}"]`)?.focus();
      });
      return button;
    };
    const p = all[sentence.rank].probability;
    bar.append(move(-1, 'Better labelling', '◀'), `labelling ${sentence.rank + 1} of ${all.length}${typeof p === 'number' ? `, probability ${percent(p)}` : ''}`, move(1, 'Next best labelling', '▶'));
  }
  const picture = element('button', { type: 'button' }, 'Draw the trellis');
  picture.disabled = sentence.tokens.length > 60;
  picture.addEventListener('click', () => attempt(() => drawTrellis(sentence)));
  bar.append(picture);
  if (sentence.view.corrected) {
    bar.append(element('span', {}, 'corrected'));
  }
  return bar;
}

function sentenceNode(sentence, i) {
  const other = others[i];
  const node = element('div', { class: 'sentence', 'data-sentence': i });
  if (other) node.append(element('span', { class: 'who' }, $('model').value));
  node.append(drawWords(sentence, other && other.labels));
  if (other) {
    const theirs = drawWords(other, sentence.view.labels);
    theirs.classList.add('other');
    theirs.removeAttribute('role');
    theirs.querySelectorAll('[role=option]').forEach((word) => { word.removeAttribute('role'); word.removeAttribute('tabindex'); word.removeAttribute('aria-selected'); });
    node.append(element('span', { class: 'who' }, $('other').value), theirs);
  }
  node.append(rankBar(sentence));
  return node;
}

function redraw() {
  $('sentences').replaceChildren(...sentences.map(sentenceNode));
  markSelection();
  const count = corrections.count();
  $('corrected').textContent = count ? `${count} corrected sentence${count === 1 ? '' : 's'}, kept in this browser until discarded.`
    : 'None yet. Corrected sentences are collected here, to be downloaded for the next training.';
  for (const id of ['save-columns', 'save-jsonl', 'forget']) $(id).disabled = count === 0;
}

async function drawTrellis(sentence) {
  const image = element('img', { alt: `The trellis of: ${sentence.tokens.join(' ')}` });
  image.src = URL.createObjectURL(await api.draw({ model: model().name, sequences: [api.again(sentence)] }));
  image.addEventListener('load', () => URL.revokeObjectURL(image.src));
  $('drawing').replaceChildren(image);
  $('picture').hidden = false;
}

// ---- why -----------------------------------------------------------------------------------------

// The other labelling may differ at several tokens, so a feature is told with its word.
function contributionRow(item, words) {
  const difference = (item.predicted || 0) - (item.runner_up || 0);
  const name = item.attribute !== undefined ? item.attribute : (item.transition || []).join(' → ');
  const after = item.labels ? ` (after ${item.labels.slice(0, -1).join(' ')})` : '';
  return element('tr', {}, element('td', {}, name + after), element('td', {}, words[item.token - 1] ?? ''), element('td', {}, (item.predicted ?? 0).toFixed(3)), element('td', {}, (item.runner_up ?? 0).toFixed(3)),
    element('td', { class: difference < 0 ? 'minus' : 'plus' }, `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(3)}`));
}

function explanationNode(token, words) {
  const known = typeof token.probability === 'number';
  const rival = token.runner_up ? `, rather than ${token.runner_up}${typeof token.runner_up_probability === 'number' ? ` (${percent(token.runner_up_probability)})` : ''}` : '';
  const table = element('table', {}, element('caption', {}, 'The weights that separate the two labels, largest difference first'),
    element('thead', {}, element('tr', {}, ...['feature or transition', 'at', token.label, token.runner_up || 'runner-up', 'difference'].map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...token.contributions.map((item) => contributionRow(item, words))));
  return [element('p', {}, element('strong', {}, token.word), ` is ${token.label}${known ? ` (${percent(token.probability)})` : ''}${rival}.`),
    element('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Contributions' }, table),
    token.omitted ? element('p', { class: 'note' }, `${token.omitted} smaller contribution${token.omitted === 1 ? '' : 's'} not shown.`) : null].filter(Boolean);
}

async function explainToken(sentence, i) {
  const answer = await api.explain({ model: model().name, sequences: [api.again(sentence)], top: 12 });
  if (!selection || sentences[selection.sentence] !== sentence || selection.focus !== i) return;
  $('explanation').replaceChildren(...explanationNode(answer[0].tokens[i], sentence.tokens));
  $('why').hidden = false;
}

// ---- selecting and correcting --------------------------------------------------------------------

const wordNode = (sentence, token) => $('sentences').querySelector(`[data-sentence="${sentence}"] [role=option][data-token="${token}"]`);

function markSelection() {
  document.querySelectorAll('.word[aria-selected=true]').forEach((word) => word.setAttribute('aria-selected', 'false'));
  $('toolbar').hidden = !selection;
  if (!selection) return;
  for (let i = selection.start; i < selection.end; i++) wordNode(selection.sentence, i)?.setAttribute('aria-selected', 'true');
}

// Selects from the anchor to a token of the same sentence.
function select(sentence, token, extend) {
  const anchor = extend && selection && selection.sentence === sentence ? selection.anchor : token;
  selection = { sentence, anchor, start: Math.min(anchor, token), end: Math.max(anchor, token) + 1, focus: token };
  document.querySelectorAll('.word[tabindex="0"]').forEach((word) => { word.tabIndex = -1; });
  const word = wordNode(sentence, token);
  word.tabIndex = 0;
  word.focus();
  drawToolbar();
  markSelection();
}

function drawToolbar() {
  const types = typesOf(model());
  const button = (text, key, action, kind) => {
    const node = element('button', { type: 'button', class: kind }, text, key ? element('kbd', {}, ` ${key}`) : null);
    if (kind === 'type') node.style.setProperty('--hue', hue(text));
    node.addEventListener('click', action);
    return node;
  };
  const grow = (step) => () => {
    const sentence = sentences[selection.sentence];
    const token = Math.max(0, Math.min(sentence.tokens.length - 1, selection.focus + step));
    select(selection.sentence, token, true);
  };
  $('toolbar').replaceChildren(...types.slice(0, 60).map((name, i) => button(name, i < 9 ? String(i + 1) : '', () => correct(name), 'type')),
    model().spans ? button('outside', 'Del', () => correct(null)) : '',
    button('◀', '', grow(-1)), button('▶', '', grow(1)), button('why?', '', () => attempt(() => explainToken(sentences[selection.sentence], selection.focus))),
    button('done', 'Esc', () => { selection = null; markSelection(); }));
}

function correct(name) {
  const chosen = model();
  const sentence = sentences[selection.sentence];
  const { start, end } = selection;
  const spans = chosen.spans ? replace(sentence.view.spans, start, end, name) : null;
  let labels;
  if (spans) {
    labels = toLabels(spans, sentence.tokens.length, schemeOf(chosen));
  } else if (name !== null) {
    labels = sentence.view.labels.map((label, i) => (i >= start && i < end ? name : label));
  } else {
    return;
  }
  const changed = new Set(labels.map((label, i) => i).filter((i) => labels[i] !== sentence.labels[i]));
  sentence.view = { labels, spans, corrected: true, changed };
  corrections.keep(sentence, chosen.name);
  redraw();
  select(selection.sentence, end - 1, false);
  if (scored.length) listFile();
  say('Corrected; see Corrections below to download.');
}

function onWordKey(event, sentence, token) {
  const last = sentences[sentence].tokens.length - 1;
  const moves = { ArrowLeft: token - 1, ArrowRight: token + 1, Home: 0, End: last };
  const types = typesOf(model());
  if (event.key in moves) {
    select(sentence, Math.max(0, Math.min(last, moves[event.key])), event.shiftKey);
  } else if (/^[1-9]$/.test(event.key) && types[event.key - 1] !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (!selection) select(sentence, token, false);
    correct(types[event.key - 1]);
  } else if ((event.key === 'Delete' || event.key === 'Backspace') && selection) {
    correct(null);
  } else if (event.key === 'Enter' || event.key === ' ') {
    if (!selection) select(sentence, token, false);
    attempt(() => explainToken(sentences[sentence], token));
  } else if (event.key === 'Escape') {
    selection = null;
    markSelection();
  } else {
    return;
  }
  event.preventDefault();
}

function place(event) {
  const word = event.target.closest?.('[role=option]');
  return word && { sentence: Number(word.closest('.sentence').dataset.sentence), token: Number(word.dataset.token) };
}

function watchWords() {
  const area = $('sentences');
  let dragging = false;
  area.addEventListener('mousedown', (event) => {
    const at = place(event);
    if (!at) return;
    event.preventDefault();
    dragging = true;
    select(at.sentence, at.token, event.shiftKey);
  });
  area.addEventListener('mouseover', (event) => {
    const at = dragging && event.buttons ? place(event) : null;
    if (at && selection && at.sentence === selection.sentence && at.token !== selection.focus) select(at.sentence, at.token, true);
  });
  document.addEventListener('mouseup', () => {
    if (dragging && selection && selection.end - selection.start === 1) {
      attempt(() => explainToken(sentences[selection.sentence], selection.focus));
    }
    dragging = false;
  });
  area.addEventListener('keydown', (event) => {
    const at = place(event);
    if (at) onWordKey(event, at.sentence, at.token);
  });
}

// ---- files ---------------------------------------------------------------------------------------

// A file of columns has cells; one of JSON lines objects; anything else is a text, a line a sequence.
function sequencesOf(name, text, chosen) {
  if (/\.jsonl?$/i.test(name)) return text.split('\n').filter((line) => line.trim()).map((line) => JSON.parse(line));
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const columns = lines.length > 0 && lines.every((line) => line.includes('\t') || line.trim().split(' ').length <= Math.max(2, chosen.columns.length + 1));
  return columns ? api.parseColumns(text, chosen) : lines.map((line) => ({ text: line }));
}

async function openFile(file) {
  const chosen = model();
  if (file.size > 20e6) throw new Error('The file is larger than 20 MB; use trellis tag for large files.');
  const sequences = sequencesOf(file.name, await file.text(), chosen);
  if (!sequences.length) throw new Error('The file has no sequences.');
  scored = await queue.score(chosen, sequences, (share) => say(`Tagging the file: ${Math.round(100 * share)} %`));
  $('queue').hidden = false;
  listFile();
  say(`${scored.length} sentence${scored.length === 1 ? '' : 's'} of ${file.name}; the most uncertain first.`);
}

function listFile() {
  queue.show($('list'), $('more'), scored, $('order').value, (item) => attempt(async () => {
    await show([item.sent]);
    $('result').scrollIntoView();
    wordNode(0, 0)?.focus({ preventScroll: true });
  }), (item) => Boolean(corrections.find(item, model().name)));
}

function save(name, text, type) {
  const link = element('a', { download: name });
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- copying -------------------------------------------------------------------------------------

const asColumns = () => sentences.map((sentence) => sentence.tokens.map((token, i) => {
  const row = sentence.sent.tokens?.[i];
  return `${(Array.isArray(row) ? row : [token]).concat([sentence.view.labels[i]]).join('\t')}\n`;
}).join('')).join('\n');

const asJson = () => JSON.stringify(sentences.map(({ tokens, offsets, view: shown }) => (
  { tokens, ...(offsets ? { offsets } : {}), labels: shown.labels, ...(shown.spans ? { spans: shown.spans } : {}) })), null, 2);

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    // not allowed, or not a secure page: selected in the text box instead
    $('text').value = text;
    $('text').select();
    say('The browser does not allow copying; the result is selected in the text box.');
  }
}

// ---- start ---------------------------------------------------------------------------------------

function start() {
  EXAMPLES.forEach((text, i) => {
    const button = element('button', { type: 'button' }, `Example ${i + 1}`);
    button.addEventListener('click', () => { $('text').value = text; $('form').requestSubmit(); });
    $('examples').append(button);
  });
  $('model').addEventListener('change', chooseModel);
  $('kind').addEventListener('change', chooseKind);
  $('form').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(async () => {
      if (!model()) await listModels();
      await show(api.parseInput($('kind').value, $('text').value, model()));
    });
  });
  $('file').addEventListener('change', () => attempt(() => openFile($('file').files[0])));
  $('order').addEventListener('change', listFile);
  $('copy-columns').addEventListener('click', () => copy(asColumns()));
  $('copy-json').addEventListener('click', () => copy(asJson()));
  $('save-columns').addEventListener('click', () => save('corrections.conll', corrections.asColumns(), 'text/plain'));
  $('save-jsonl').addEventListener('click', () => save('corrections.jsonl', corrections.asJsonLines(), 'application/x-ndjson'));
  $('forget').addEventListener('click', () => { corrections.discard(); sentences.forEach((sentence) => { sentence.view = view(sentence, model()); }); redraw(); });
  document.addEventListener('dragover', (event) => { event.preventDefault(); $('text').classList.add('over'); });
  document.addEventListener('dragleave', () => $('text').classList.remove('over'));
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    $('text').classList.remove('over');
    if (event.dataTransfer.files.length) attempt(() => openFile(event.dataTransfer.files[0]));
  });
  watchWords();
  redraw();
  attempt(listModels);
}

start();
