// queue.js - the sentences of a dropped file, the most uncertain first (active learning).
import { element } from './sentence.js';
import * as api from './api.js';

const BATCH = 50;
const SHOWN = 20;

// The difference between the probabilities of the two best labellings; small where the model hesitates.
function margin(tagged) {
  const [best, second] = tagged.nbest || [];
  if (!best || typeof best.probability !== 'number') return best && second ? best.score - second.score : 1;
  return best.probability - (second ? second.probability : 0);
}

// The sum over tokens of -p log p, of all labels; in nats.
function entropy(tagged) {
  let sum = 0;
  for (const labels of tagged.all_marginals || []) {
    for (const p of Object.values(labels)) sum -= p > 0 ? p * Math.log(p) : 0;
  }
  return sum;
}

const one = (tagged) => ({ tokens: tagged.tokens, margin: margin(tagged), entropy: entropy(tagged), probability: (tagged.nbest || [])[0]?.probability });

// Tags all sequences of a file in batches; `progress` is told the share that is done.
export async function score(model, sequences, progress) {
  const scored = [];
  for (let i = 0; i < sequences.length; i += BATCH) {
    const part = sequences.slice(i, i + BATCH);
    const answers = await api.tag({ model: model.name, sequences: part, nbest: 2, ...(model.probabilities ? { all_marginals: true } : {}) });
    const lined = answers.length === part.length;
    answers.forEach((tagged, k) => {
      scored.push({ ...one(tagged), number: scored.length + 1, sent: lined && part[k].text === undefined ? part[k] : { tokens: tagged.tokens } });
    });
    progress(Math.min(1, (i + BATCH) / sequences.length));
  }
  return scored;
}

const orders = {
  margin: (a, b) => a.margin - b.margin,
  entropy: (a, b) => b.entropy - a.entropy,
  file: (a, b) => a.number - b.number,
};

// Shows the sentences in an order; `open` is called with the one chosen.
export function show(list, more, scored, order, open, isDone) {
  const sorted = [...scored].sort((a, b) => orders[order](a, b) || a.number - b.number);
  let shown = 0;
  const next = () => {
    for (const item of sorted.slice(shown, shown + SHOWN)) {
      const figure = order === 'entropy' ? `entropy ${item.entropy.toFixed(2)}` : `margin ${item.margin.toFixed(3)}`;
      const button = element('button', { type: 'button', class: isDone(item) ? 'done' : null }, item.tokens.join(' '), element('small', {}, ` ${figure}${isDone(item) ? ', corrected' : ''}`));
      button.addEventListener('click', () => open(item));
      list.append(element('li', { value: item.number }, button));
    }
    shown = Math.min(sorted.length, shown + SHOWN);
    more.hidden = shown >= sorted.length;
    more.textContent = `Show ${Math.min(SHOWN, sorted.length - shown)} more of ${sorted.length}`;
  };
  list.replaceChildren();
  more.onclick = next;
  next();
}
