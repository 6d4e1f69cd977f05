// api.js - requests to the service, and the parsing of what a person types.

const token = () => document.getElementById('token').value;

async function request(path, body) {
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body) headers['Content-Type'] = 'application/json';
  const answer = await fetch(path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  if (answer.status === 401) document.getElementById('token-field').hidden = false;
  if (answer.ok) return answer;
  let detail = `${answer.status} ${answer.statusText}`;
  try {
    detail = (await answer.json()).detail || detail;
  } catch {
    // not a problem in JSON: a proxy in between
  }
  throw new Error(detail);
}

export const models = async () => (await (await request('v1/models')).json()).models;
export const tag = async (body) => (await (await request('v1/tag', body)).json()).sequences;
export const explain = async (body) => (await (await request('v1/explain', body)).json()).sequences;
export const draw = async (body) => (await request('v1/trellis', body)).blob();

// Blank lines separate sequences; a line is a token, its cells separated by tabs, or by blanks where there is no tab.
// With a model whose columns are known, cells beyond them (a label at the end) are dropped.
export function parseColumns(text, model) {
  const sequences = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      if (sequences[sequences.length - 1].length) sequences.push([]);
    } else if (!line.startsWith('-DOCSTART-')) {
      sequences[sequences.length - 1].push(line.includes('\t') ? line.split('\t') : line.trim().split(/ +/));
    }
  }
  const width = model.columns.length;
  return sequences.filter((rows) => rows.length).map((rows) => ({ tokens: rows.map((row) => (width ? row.slice(0, width) : row)) }));
}

function parseJson(text) {
  const value = JSON.parse(text);
  const list = Array.isArray(value) ? value : value.sequences || [value];
  return list.map((item) => (typeof item === 'string' ? { text: item } : item));
}

// What to send for the text in the box: an array of sequences, each as the service takes it.
export function parseInput(kind, text, model) {
  if (kind === 'columns') return parseColumns(text, model);
  if (kind === 'json') return parseJson(text);
  return [{ text }];
}

// A tagged sequence as the service takes it: its words and columns, without labels.
export function again(sentence) {
  const { labels, ...rest } = sentence.sent;
  if (rest.text === undefined) return rest;
  return { tokens: sentence.tokens };
}
