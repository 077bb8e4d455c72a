  // Begins.
  document.documentElement.classList.add("scripted");
  document.querySelectorAll("table.sortable:not(#all-methods, #context-methods)").forEach(sortableTable);
  const tellElsewhere = allMethods();
  wire(document);
  for (const method of document.querySelectorAll("details.method")) {
    method.addEventListener("toggle", () => method.open && fill(method));
  }

  // Chooses the path that a link is about, or else the branch in its line.
  const pick = (method, { path, line }) => {
    const row = path && method.querySelector(`.path[role=button][data-path="${path}"]`);
    const place = line && method.querySelector(`.branches .place[data-at="${line}"]`);
    if (row) {
      choose(row);
    } else if (place) {
      at(method, place);
    }
    const shown = row || place;
    if (shown) {
      shown.scrollIntoView({ behavior: "instant", block: "center" });
      shown.focus({ preventScroll: true });
    }
  };

  // A link to a method opens it, or says what is known of it.
  let followed = null;
  const reveal = () => {
    const link = followed;
    followed = null;
    const given = location.hash.slice(1);
    const target = given && (document.getElementById(given) || document.getElementById(decoded(given)));
    const method = target && target.closest("details.method");
    const elsewhere = document.getElementById("elsewhere");
    if (elsewhere) {
      elsewhere.hidden = true;
    }
    if (method) {
      fill(method);
      method.open = true;
      method.scrollIntoView({ behavior: "instant" });
      method.querySelector("summary").focus({ preventScroll: true });
      if (link) {
        pick(method, link.dataset);
      }
    } else if (given && !target && tellElsewhere) {
      tellElsewhere(given) || tellElsewhere(decoded(given));
    }
  };
  const goTo = (link) => {
    if (decoded(location.hash) === decoded(link)) {
      reveal();
    } else {
      location.hash = link;
    }
  };
  addEventListener("hashchange", reveal);
  // A second click on the same link is no change, but the reader may have closed the method.
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    followed = link;
    if (link && link.hash === location.hash) {
      reveal();
    }
  });
  reveal();
