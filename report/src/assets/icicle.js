  // An icicle: boxes below those that called them. A chain has `parent`, `children` and `inclusive`, which is its width;
  // `words` tells all of it, `fill` what its box looks like.
  const icicle = ({ box, told, all, root, words, fill }) => {
    const height = 22;
    const narrowest = 0.0012;
    const boxes = new Map();

    const place = (chain, level, left, width) => {
      const text = words(chain);
      const element = make("div", { role: "treeitem", tabindex: "-1", "aria-level": level + 1, "aria-label": text, title: text, class: "call" });
      element.style.cssText = `left:${(left * 100).toFixed(4)}%;width:${(width * 100).toFixed(4)}%;top:${level * height}px`;
      fill(element, chain);
      boxes.set(element, chain);
      box.append(element);
      return element;
    };
    const below = (chain, level, left, width) => {
      let at = left;
      for (const child of chain.children) {
        const part = chain.inclusive > 0 ? (width * child.inclusive) / chain.inclusive : 0;
        if (part >= narrowest) {
          place(child, level, at, part);
          below(child, level + 1, at, part);
        }
        at += part;
      }
    };
    const draw = (chain, focused) => {
      box.replaceChildren();
      boxes.clear();
      const above = [];
      for (let caller = chain.parent; caller; caller = caller.parent) {
        above.unshift(caller);
      }
      above.forEach((caller, level) => place(caller, level, 0, 1).classList.add("above"));
      const itself = place(chain, above.length, 0, 1);
      below(chain, above.length + 1, 0, 1);
      const levels = Math.max(...[...boxes.keys()].map((element) => Number(element.getAttribute("aria-level"))));
      box.style.height = `${levels * height}px`;
      itself.tabIndex = 0;
      if (focused) {
        itself.focus({ preventScroll: true });
      }
    };
    const focus = (element) => {
      if (element) {
        box.querySelectorAll("[tabindex='0']").forEach((other) => (other.tabIndex = -1));
        element.tabIndex = 0;
        element.focus();
      }
    };
    box.addEventListener("click", (event) => {
      const element = event.target.closest(".call");
      if (element) {
        draw(boxes.get(element), true);
      }
    });
    const tell = (event) => {
      const element = event.target.closest(".call");
      told.textContent = element ? words(boxes.get(element)) : "";
    };
    box.addEventListener("focusin", tell);
    box.addEventListener("mouseover", tell);
    box.addEventListener("keydown", (event) => {
      const chain = boxes.get(event.target);
      if (!chain || event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      const element = (wanted) => [...boxes].find(([, other]) => other === wanted)?.[0];
      const beside = (step) => {
        const siblings = chain.parent ? chain.parent.children : [];
        return element(siblings[siblings.indexOf(chain) + step]);
      };
      const acts = {
        ArrowDown: () => focus(element(chain.children[0])),
        ArrowUp: () => focus(element(chain.parent)),
        ArrowRight: () => focus(beside(1)),
        ArrowLeft: () => focus(beside(-1)),
        Enter: () => draw(chain, true),
        " ": () => draw(chain, true),
        Escape: () => draw(root, true),
        Home: () => focus(element(root)),
      };
      if (acts[event.key]) {
        event.preventDefault();
        acts[event.key]();
      }
    });
    all.addEventListener("click", () => draw(root, false));
    draw(root, false);
    return { boxes, draw };
  };

  // `a.b.C.m(int)` as `C.m`.
  const shortName = (name) => name.split("(")[0].split(".").slice(-2).join(".");
  // The same colour for the same class in every run.
  const classHue = (name) => {
    const cls = name.split("(")[0].split(".").slice(0, -1).join(".");
    let hash = 7;
    for (const c of cls) {
      hash = (hash * 31 + c.codePointAt(0)) % 65521;
    }
    return 15 + (hash % 45);
  };
