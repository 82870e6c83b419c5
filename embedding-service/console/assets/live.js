// Keeps a page up to date. The service says over one stream that something has changed; the page is then fetched again, at most once a
// second, and morphed, so that what is open, chosen or typed stays. A hidden page has no stream: browsers allow six to one address.
"use strict";
(() => {
  const live = document.querySelector("main[data-live]");
  const connection = document.getElementById("connection");
  if (!live || !window.EventSource) return;

  const PAUSE = 1000;
  let stream = null;
  let retry = null;
  let lastFetch = 0;
  let isFetching = false;
  let isStale = false;
  let failures = 0;

  const say = (state, text) => {
    if (connection.dataset.state === state) return;
    connection.dataset.state = state;
    connection.textContent = text;
  };

  const keep = {
    ignoreActiveValue: true,
    callbacks: {
      // What the reader has opened or chosen stays so.
      beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
      beforeNodeMorphed: (node) => !(node.nodeType === 1 && node.matches(":popover-open")),
      // A dialog that is being filled in does not go with its row.
      beforeNodeRemoved: (node) => !(node.nodeType === 1 && (node.matches(":popover-open") || node.querySelector(":popover-open"))),
    },
  };

  const chosen = () => new Set([...live.querySelectorAll("input[name=run]:checked")].map((box) => box.value));

  async function refresh() {
    if (isFetching) { isStale = true; return; }
    const wait = lastFetch + PAUSE - Date.now();
    if (wait > 0) {
      isFetching = true;
      await new Promise((done) => setTimeout(done, wait));
      isFetching = false;
    }
    isFetching = true;
    isStale = false;
    lastFetch = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "manual" });
      // To the login, or as a gateway refuses whoever is not signed in.
      if (answer.type === "opaqueredirect" || answer.status === 401) {
        close();
        say("lost", "logged out: load the page again");
        return;
      }
      if (!answer.ok && answer.status !== 404) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.querySelector("main");
      const boxes = chosen();
      if (next) Idiomorph.morph(live, next.innerHTML, { morphStyle: "innerHTML", ...keep });
      for (const box of live.querySelectorAll("input[name=run]")) box.checked = boxes.has(box.value);
      document.dispatchEvent(new Event("morphed"));
      failures = 0;
      open();
    } catch {
      lost();
    } finally {
      isFetching = false;
    }
    if (isStale) refresh();
  }

  function lost() {
    close();
    failures += 1;
    say("lost", "connection lost, trying again");
    clearTimeout(retry);
    retry = setTimeout(refresh, Math.min(500 * 2 ** failures, 10000));
  }

  function open() {
    if (stream || document.hidden) return;
    stream = new EventSource("/console/live");
    stream.addEventListener("open", () => {
      say("live", "live");
      // Whatever happened in between is seen now.
      refresh();
    });
    stream.addEventListener("changed", refresh);
    stream.addEventListener("error", lost);
  }

  function close() {
    if (stream) stream.close();
    stream = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); clearTimeout(retry); } else open();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();

  // Times are told from now. The same steps as in figure.rs.
  const told = (seconds) =>
    seconds < 3 ? "just now"
      : seconds < 60 ? `${seconds} s ago`
        : seconds < 3600 ? `${Math.floor(seconds / 60)} min ago`
          : seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago`
            : seconds < 172800 ? "1 day ago" : `${Math.floor(seconds / 86400)} days ago`;
  setInterval(() => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const text = told(Math.max(0, Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000)));
      if (time.textContent !== text) time.textContent = text;
    }
  }, 5000);
})();
