  // A method's section: choosing a path marks its lines, blocks and edges, and brings its lines into view.
  const choose = (path, quietly) => {
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
    at(method, null);
    const first = method.querySelector(".source .on-path");
    if (first && !quietly) {
      scrollWithin(first.closest(".lines"), first);
    }
  };

  // Marks one step of a path, and its line in the source.
  const at = (method, hop) => {
    method.querySelectorAll(".at").forEach((item) => item.classList.remove("at"));
    const line = hop && hop.dataset.at && method.querySelector(`.source [data-line="${hop.dataset.at}"]`);
    if (hop) {
      hop.classList.add("at");
    }
    if (line) {
      line.classList.add("at");
      scrollWithin(line.closest(".lines"), line);
    }
  };

  // Left and right go along the steps of the chosen path.
  const walk = (path, forward) => {
    const hops = [...path.querySelectorAll(".hop")];
    const now = hops.findIndex((hop) => hop.classList.contains("at"));
    const next = forward ? Math.min(now + 1, hops.length - 1) : Math.max(now - 1, 0);
    if (hops[next]) {
      at(path.closest(".method"), hops[next]);
      document.getElementById("said").textContent = hops[next].textContent;
    }
  };

  const paths = (root) => {
    for (const path of root.querySelectorAll(".path[role=button]")) {
      onPress(path, (event) => {
        choose(path);
        const hop = event.target.closest(".hop");
        if (hop) {
          at(path.closest(".method"), hop);
        }
      });
      path.addEventListener("keydown", (event) => {
        if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
          event.preventDefault();
          if (!path.classList.contains("selected")) {
            choose(path);
          }
          walk(path, event.key === "ArrowRight");
        }
      });
    }
    // Where a branch is: its line.
    for (const place of root.querySelectorAll(".branches .place[data-at]")) {
      place.setAttribute("role", "button");
      place.tabIndex = 0;
      onPress(place, () => at(place.closest(".method"), place));
    }
    // A path's number in a tree chooses that path, if the method's list has it.
    for (const step of root.querySelectorAll("[data-goto]")) {
      const number = step.dataset.goto;
      const path = step.closest(".method").querySelector(`.path[role=button][data-path="${number}"]`);
      if (path) {
        step.setAttribute("role", "button");
        step.tabIndex = 0;
        onPress(step, (event) => {
          // Not for the line's own open and close.
          event.preventDefault();
          event.stopPropagation();
          choose(path);
        });
      }
    }
  };

  // What a reader can do in a method, or in all that are there.
  const wire = (root) => {
    paths(root);
    root.querySelectorAll(".graph").forEach((box) => box.querySelector("svg") && zoomable(box));
  };

  // The elements of a method that was closed at first: our own markup, which the browser kept as text.
  const fill = (method) => {
    const kept = method.querySelector(":scope > noscript");
    if (kept) {
      const holder = make("div", {});
      holder.innerHTML = kept.textContent;
      kept.replaceWith(holder);
      wire(holder);
    }
  };
