// Keys: through the rows of a page, to its filter, to the other pages. `?` shows them.
"use strict";
(() => {
  const PAGES = { n: "/console", r: "/console/runs", a: "/console/agents", b: "/console/budgets", s: "/console/settings", p: "/console/replay" };
  let isGoing = false;

  const isTyping = (node) => node.closest("input:not([type=checkbox]), select, textarea") !== null;
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const target = (row) => row.querySelector("a[href]") ?? row;

  function move(by) {
    const all = rows();
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (!next) return;
    target(next).focus();
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    const { key } = event;
    if (isGoing) {
      isGoing = false;
      const link = PAGES[key] && document.querySelector(`nav a[href="${PAGES[key]}"]`);
      if (link) link.click();
    } else if (key === "g") isGoing = true;
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "?") document.getElementById("keys").togglePopover();
    else if (key === "/") {
      const filter = document.querySelector("[data-filter]");
      if (!filter) return;
      filter.focus();
      event.preventDefault();
    }
  });

  // A button for what is chosen says how many that are.
  function count() {
    for (const button of document.querySelectorAll("[data-chosen]")) {
      const number = document.querySelectorAll("input[name=run]:checked").length;
      button.textContent = number === 0 ? `${button.dataset.chosen} those chosen…` : `${button.dataset.chosen} ${number}…`;
      button.disabled = number === 0;
    }
  }
  document.addEventListener("change", count);
  document.addEventListener("morphed", count);
  count();
})();
