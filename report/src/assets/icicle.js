  // An icicle: boxes below those that called them. A chain has `parent`, `children` and `inclusive`, which is its width;
  // `words` is all there is to say of it, `fill` makes its box. The search marks boxes whose `name` has all its words;
  // `found` says what share of all they and what they called have.
  const icicle = ({ box, told, all, search, root, words, name, fill, found }) => {
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
    let wanted = [];
    const matches = (chain) => chain !== root && wanted.every((word) => name(chain).toLowerCase().includes(word));
    // A chain counts once, with all that it called.
    const sum = (chain) => (matches(chain) ? chain.inclusive : chain.children.reduce((all, child) => all + sum(child), 0));
    const mark = () => {
      box.classList.toggle("searched", wanted.length > 0);
      for (const [element, chain] of boxes) {
        element.classList.toggle("match", wanted.length > 0 && matches(chain));
      }
    };
    const find = (text) => {
      wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
      document.getElementById(search.getAttribute("aria-controls")).textContent = wanted.length ? found(sum(root)) : "";
      mark();
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
      mark();
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
    const say = (event) => {
      const element = event.target.closest(".call");
      told.textContent = element ? words(boxes.get(element)) : "";
    };
    box.addEventListener("focusin", say);
    box.addEventListener("mouseover", say);
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
    search.addEventListener("input", () => find(search.value));
    draw(root, false);
    // A browser that comes back to the page fills the search in.
    if (search.value) {
      find(search.value);
    }
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
