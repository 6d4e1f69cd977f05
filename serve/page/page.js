'use strict';
// Tags the text with the chosen model and shows tokens and labels.

const element = (id) => document.getElementById(id);

async function ask(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (element('token').value) headers.Authorization = `Bearer ${element('token').value}`;
  const answer = await fetch(path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  const data = await answer.json();
  if (answer.status === 401) element('token-line').hidden = false;
  if (!answer.ok) throw new Error(data.detail);
  return data;
}

function table(sequence) {
  const rows = document.createElement('table');
  sequence.tokens.forEach((token, i) => {
    const row = rows.insertRow();
    row.insertCell().textContent = token;
    row.insertCell().textContent = sequence.labels[i];
  });
  return rows;
}

async function tag(event) {
  event.preventDefault();
  element('status').textContent = '';
  try {
    if (!element('model').value) await list();
    const answer = await ask('v1/tag', { model: element('model').value, text: element('text').value });
    element('result').replaceChildren(...answer.sequences.map(table));
  } catch (problem) {
    element('status').textContent = problem.message;
  }
}

async function list() {
  const { models } = await ask('v1/models');
  element('model').replaceChildren(...models.map((model) => new Option(model.name)));
}

element('form').addEventListener('submit', tag);
list().catch((problem) => { element('status').textContent = problem.message; });
