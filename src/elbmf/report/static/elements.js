// Elements made in code. Text of any origin becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";
// What is shown of attributes is in the words of the field, as text is.
const SPOKEN_ATTRIBUTES = ["title", "aria-label", "placeholder"];
// In these, text is of the data or of a program.
const VERBATIM = new Set(["bdi", "code", "kbd"]);

/** Find an element of the page. */
function byId(id) {
  return document.getElementById(id);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : said(name, String(value)));
  }
  const verbatim = VERBATIM.has(node.localName) || node.namespaceURI === SVG;
  node.append(...children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined)
    .map((child) => (verbatim || typeof child !== "string" ? child : spoken(child))));
  return node;
}

function said(name, value) {
  return SPOKEN_ATTRIBUTES.includes(name) ? spoken(value) : value;
}

/**
 * Make an element. Text is put into the words of the field: names from the data come as `nameText`,
 * and as titles that are set afterwards.
 * @param {string} tag with classes, such as "p.note"
 * @param {object | null} attributes those that begin with "on" are listeners
 * @param {...any} children elements and text
 */
function make(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  return filled(node, attributes, children);
}

/** Make an element of a drawing; what it says is as it is given. */
function draw(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Replace what is in an element. */
function put(node, ...children) {
  node.replaceChildren();
  filled(node, null, children);
}

/** A name from the data: kept apart from the direction of the text around it. */
function nameText(name, longest) {
  if (name.trim() === "") return make("bdi.nameless", null, name === "" ? "no name" : "blank name");
  return make("bdi.name", null, visibleName(name, longest));
}

/** Things with commas between them. */
function listed(things) {
  return things.map((each, i) => (i ? [", ", each] : each));
}

function componentLink(component, text = `component ${component}`) {
  return make("a", { href: `#component-${component}` }, text);
}

/** The head of a table. */
function tableHead(titles) {
  const cells = titles.map((each) => make("th", { scope: "col" }, each));
  return make("thead", null, make("tr", null, cells));
}

/** A bar that fills a share of its width. */
function bar(share) {
  const node = make("span.share", { "aria-hidden": "true" });
  node.style.setProperty("--share", String(Math.max(0, Math.min(1, share ?? 0))));
  return node;
}

/** A button that copies text. */
function copyButton(text) {
  const button = make("button.copy.controls", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copied = copySelected(text);
    }
    button.textContent = copied ? "Copied" : "Select and copy";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return button;
}

/** Copy where the clipboard is not open to pages. */
function copySelected(text) {
  const area = make("textarea.hidden-text", null);
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
