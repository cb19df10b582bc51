// What is open, told by the address: #component-3, #row-17, #column-5, or a section.

const routeListeners = [];
let followed = null;
let route = { kind: "section", number: null };

/** Call back with what is open, now and when that changes. */
function onRoute(listener) {
  routeListeners.push(listener);
  if (followed !== null) listener(route);
}

function routeOf(hash) {
  const match = /^#(component|row|column)-(\d{1,10})$/.exec(hash);
  return match ? { kind: match[1], number: Number(match[2]) } : { kind: "section", number: null };
}

/** Open a component or a line. */
function go(kind, number) {
  location.hash = `${kind}-${number}`;
}

/** Close what is open, without moving the page. */
function closeDetail() {
  if (route.kind === "section") return;
  history.pushState(null, "", "#");
  followAddress();
}

function followAddress() {
  // Moving through the history fires two events.
  if (location.hash === followed) return;
  followed = location.hash;
  route = routeOf(followed);
  for (const listener of routeListeners) listener(route);
}

function startRoutes() {
  addEventListener("hashchange", followAddress);
  addEventListener("popstate", followAddress);
  followAddress();
}
