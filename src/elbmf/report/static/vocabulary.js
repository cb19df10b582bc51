// The words of the field: the page is written with rows, columns and components, and speaks of what
// these are called, in the way of elbmf.utils.vocabulary.

let vocabulary = null;

/** Take the words in which to speak: a pattern, and what is said in place of what it finds. */
function speak({ pattern, table }) {
  vocabulary = pattern ? { pattern: new RegExp(pattern, "gi"), table: new Map(table) } : null;
}

/** A text of the page's own, in the words of the field. Names from the data must not be in it. */
function spoken(text) {
  if (!vocabulary) return text;
  return text.replace(vocabulary.pattern, (_, article, said) => {
    let word = vocabulary.table.get(said.toLowerCase());
    if (said[0] === said[0].toUpperCase()) word = word[0].toUpperCase() + word.slice(1);
    if (!article) return word;
    return `${article[0]}${/^([aeio]|u(?!ni|s))/i.test(word) ? "n" : ""} ${word}`;
  });
}

/** Put what the page has from the beginning into the words of the field. */
function speakStatic(root) {
  if (!vocabulary) return;
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = spoken(texts.currentNode.data);
  for (const name of SPOKEN_ATTRIBUTES) {
    for (const each of root.querySelectorAll(`[${name}]`)) {
      each.setAttribute(name, spoken(each.getAttribute(name)));
    }
  }
}
