  // Graphs fit their box, and can be zoomed: buttons, keys, or Ctrl and the wheel.
  const zoomable = (box) => {
    const svg = box.querySelector("svg");
    const natural = { width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
    const most = 4;
    let scale = null;
    const fitting = () =>
      Math.min((box.clientWidth - 14) / natural.width, (box.clientHeight - 14) / natural.height, 1.5);
    // `x`, `y`: what of the box stays where it is; its middle unless told.
    const set = (next, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
      const before = svg.getBoundingClientRect().width / natural.width || 1;
      const least = Math.min(fitting(), 1);
      const now = Math.min(Math.max(next, least), most);
      const left = ((box.scrollLeft + x) / before) * now - x;
      const top = ((box.scrollTop + y) / before) * now - y;
      scale = next <= least ? null : now;
      svg.style.width = `${natural.width * now}px`;
      svg.style.height = `${natural.height * now}px`;
      box.scrollTo({ left, top, behavior: "instant" });
      box.dataset.zoom = now.toFixed(3);
    };
    const current = () => Number(box.dataset.zoom) || 1;
    const fit = () => set(0);
    const acts = {
      "+": () => set(current() * 1.25),
      "-": () => set(current() / 1.25),
      0: fit,
      1: () => set(1),
    };
    acts["="] = acts["+"];
    const button = (text, label, act) => {
      const made = make("button", { type: "button", "aria-label": label, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    const head = box.parentElement.querySelector(".picture-head");
    head.append(
      make(
        "div",
        { class: "zoom", role: "group", "aria-label": "Zoom" },
        button("+", "Larger", acts["+"]),
        button("−", "Smaller", acts["-"]),
        button("Fit", "Fit into the box", fit),
        button("1:1", "Natural size", acts[1]),
      ),
    );
    box.addEventListener("keydown", (event) => {
      if (acts[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        acts[event.key]();
      }
    });
    box.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey) {
          event.preventDefault();
          const place = box.getBoundingClientRect();
          set(current() * (event.deltaY < 0 ? 1.25 : 0.8), event.clientX - place.left, event.clientY - place.top);
        }
      },
      { passive: false },
    );
    // A box in a closed section has no size yet; one that the reader zoomed stays so.
    const refit = () => {
      if (scale === null && box.clientWidth > 0) {
        fit();
      }
    };
    // In a frame of its own: what it does to the page's size must not call it again in this one.
    new ResizeObserver(() => requestAnimationFrame(refit)).observe(box);
  };
