// spans.js - labels to spans and back, in the scheme of a model.

const letter = (label) => label[0];
const type = (label) => label.slice(2);

export function typesOf(model) {
  const names = model.spans ? model.labels.filter((label) => label !== 'O').map(type) : model.labels;
  return [...new Set(names)].sort();
}

// iob1, iob2, iobes or bilou, by the letters that occur.
export function schemeOf(model) {
  const letters = new Set(model.labels.map(letter));
  if (letters.has('S') || letters.has('E')) return 'iobes';
  if (letters.has('U') || letters.has('L')) return 'bilou';
  return letters.has('B') && !onlyBetween(model) ? 'iob2' : 'iob1';
}

// In IOB1, B- is rare: some types have none.
function onlyBetween(model) {
  const types = typesOf(model);
  return types.some((name) => model.labels.includes(`I-${name}`) && !model.labels.includes(`B-${name}`));
}

// Labels [length] for spans {type, start, end} that do not overlap.
export function toLabels(spans, length, scheme) {
  const labels = new Array(length).fill('O');
  const single = { iobes: 'S', bilou: 'U', iob2: 'B', iob1: 'I' }[scheme];
  const first = scheme === 'iob1' ? 'I' : 'B';
  const last = { iobes: 'E', bilou: 'L' }[scheme] || 'I';
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  sorted.forEach((span, k) => {
    const before = sorted[k - 1];
    const adjacent = scheme === 'iob1' && before && before.end === span.start && before.type === span.type;
    const name = (part) => (span.type ? `${part}-${span.type}` : part);
    for (let i = span.start; i < span.end; i++) {
      const part = span.end - span.start === 1 ? single : i === span.start ? first : i === span.end - 1 ? last : 'I';
      labels[i] = name(adjacent && i === span.start ? 'B' : part);
    }
  });
  return labels;
}

// The spans after tokens start .. end-1 became one span of a type, or none where that is null: what overlaps it is cut.
export function replace(spans, start, end, name) {
  const kept = [];
  for (const span of spans) {
    if (span.end <= start || span.start >= end) kept.push(span);
    else {
      if (span.start < start) kept.push({ type: span.type, start: span.start, end: start });
      if (span.end > end) kept.push({ type: span.type, start: end, end: span.end });
    }
  }
  if (name !== null) kept.push({ type: name, start, end, corrected: true });
  return kept.sort((a, b) => a.start - b.start);
}
