"use strict";
(() => {
  // Sorting: a button in every header cell of the method table.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const text = head.dataset.type === "text";
        const now = head.getAttribute("aria-sort");
        const next = now === "descending" || (text && now !== "ascending") ? "ascending" : "descending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", next);
        const value = (row) => row.cells[column].dataset.value;
        const order = text
          ? (a, b) => value(a).localeCompare(value(b))
          : (a, b) => Number(value(a)) - Number(value(b));
        const rows = [...body.rows].sort(next === "ascending" ? order : (a, b) => order(b, a));
        body.append(...rows);
      });
    });
  }
  // Choosing a path marks its lines, blocks and edges within its method.
  const choose = (path) => {
    const method = path.closest(".method");
    const words = (name) => new Set((path.dataset[name] || "").split(" ").filter(Boolean));
    for (const other of method.querySelectorAll(".path[role=button]")) {
      other.classList.toggle("selected", other === path);
      other.setAttribute("aria-pressed", String(other === path));
    }
    const mark = (key, on) => {
      for (const item of method.querySelectorAll(`[data-${key}]`)) {
        item.classList.toggle("on-path", on.has(item.dataset[key]));
      }
    };
    for (const step of method.querySelectorAll("[data-goto]")) {
      step.classList.toggle("on", step.dataset.goto === path.dataset.path);
    }
    mark("line", words("lines"));
    mark("block", words("blocks"));
    const edges = words("edges");
    mark("edge", edges);
    for (const edge of method.querySelectorAll("[data-edge]")) {
      const line = edge.querySelector("path");
      for (const end of ["marker-start", "marker-end"]) {
        const marker = line.getAttribute(end);
        if (marker) {
          const look = edges.has(edge.dataset.edge) ? "hot" : "plain";
          line.setAttribute(end, marker.replace(/(hot|plain)\)$/, `${look})`));
        }
      }
    }
  };
  for (const path of document.querySelectorAll(".path[role=button]")) {
    path.addEventListener("click", () => choose(path));
    path.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(path);
      }
    });
  }
  // A path's number in a tree chooses that path, if the method's list has it.
  for (const step of document.querySelectorAll("[data-goto]")) {
    const number = step.dataset.goto;
    const path = step.closest(".method").querySelector(`.path[role=button][data-path="${number}"]`);
    if (path) {
      step.setAttribute("role", "button");
      step.tabIndex = 0;
      const go = (event) => {
        // Not for the line's own open and close.
        event.preventDefault();
        event.stopPropagation();
        choose(path);
      };
      step.addEventListener("click", go);
      step.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          go(event);
        }
      });
    }
  }
  // A link to a method opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const method = target && target.closest("details.method");
    if (method) {
      method.open = true;
      method.scrollIntoView();
    }
  };
  // The search keeps rows whose name has all the words.
  const search = document.getElementById("search");
  if (search) {
    const rows = [...document.querySelectorAll("#methods tbody tr")];
    const names = rows.map((row) => row.cells[0].dataset.value.toLowerCase());
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => names[i].includes(word));
        found += row.hidden ? 0 : 1;
      });
      document.getElementById("found").textContent = words.length ? `${found} of ${rows.length}` : "";
    });
    addEventListener("keydown", (event) => {
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    });
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
