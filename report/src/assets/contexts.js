  // Chains of calls: an icicle with the first callers on top, methods with their sums, and who called one of them.
  const contexts = () => {
    const data = embedded("contexts-data");
    if (!data) {
      return;
    }
    const total = Math.max(Number(data.total), 1);
    const share = (value) => value / total;
    // With its parameters, where overloads stand one below the other.
    const signed = (name) => shortName(name) + name.slice(name.split("(")[0].length);
    const root = { parent: null, name: null, own: 0, children: [] };
    const chains = data.chains.map(([parent, name, own, rest]) => ({ parent, name, own: Number(own), rest: Number(rest), children: [] }));
    chains.forEach((chain) => {
      chain.parent = chain.parent < 0 ? root : chains[chain.parent];
      chain.parent.children.push(chain);
    });
    // Who is called stands behind who calls.
    for (const chain of [...chains].reverse()) {
      chain.inclusive = chain.children.reduce((sum, child) => sum + child.inclusive, chain.own + chain.rest);
    }
    root.inclusive = root.children.reduce((sum, child) => sum + child.inclusive, 0);
    for (const chain of [root, ...chains]) {
      chain.children.sort((a, b) => b.inclusive - a.inclusive || a.name - b.name);
    }

    // A chain without a counter has no number: that is not 0.
    const known = (own) => own > 0 || data.whole;
    const words = (chain) =>
      chain === root
        ? `all: ${thousands(root.inclusive)} ${data.unit}`
        : `${data.names[chain.name]}: ${thousands(chain.inclusive)} ${data.unit} (${percent(share(chain.inclusive))}), ` +
          (known(chain.own) ? `${thousands(chain.own)} of its own (${percent(share(chain.own))})` : "how many of its own is not known");
    let chosen = null;
    const fill = (element, chain) => {
      element.append(make("span", {}, chain === root ? "all" : shortName(data.names[chain.name])));
      if (chain !== root) {
        element.style.setProperty("--hue", classHue(data.names[chain.name]));
      }
      element.classList.toggle("chosen", chosen !== null && chain.name === chosen);
    };
    const picture = icicle({
      box: document.getElementById("icicle"),
      told: document.getElementById("icicle-told"),
      all: document.getElementById("icicle-all"),
      search: document.getElementById("icicle-search"),
      root,
      words,
      name: (chain) => data.names[chain.name],
      fill,
      found: (value) => `${percent(share(value))} of the ${data.unit}`,
    });

    // Who called a method: from it upwards. Of a recursion the outermost call counts.
    const callers = new Tree(document.getElementById("callers"));
    const nested = (chain) => {
      for (let caller = chain.parent; caller && caller !== root; caller = caller.parent) {
        if (caller.name === chain.name) {
          return true;
        }
      }
      return false;
    };
    const line = (text, full, value, children) => ({
      name: `${full}, ${thousands(value)} ${data.unit}, ${percent(share(value))}`,
      label: () => [
        make("span", { class: "label", title: full }, text),
        make("span", { class: "soft" }, bar(share(value)), percent(share(value))),
      ],
      children,
    });
    // `parts`: chains that lead to the method, each with what the method had done there.
    const above = (parts) => {
      const groups = new Map();
      for (const { chain, value } of parts) {
        const caller = chain.parent;
        const group = groups.get(caller.name) || { value: 0, parts: [] };
        group.value += value;
        group.parts.push({ chain: caller, value });
        groups.set(caller.name, group);
      }
      return [...groups]
        .sort(([a, first], [b, second]) => second.value - first.value || a - b)
        .map(([name, group]) =>
          name === null
            ? line("(begins here)", "no caller: where a thread’s chain begins", group.value)
            : line(signed(data.names[name]), data.names[name], group.value, () => above(group.parts)),
        );
    };
    const showCallers = (method) => {
      chosen = method.name;
      for (const [element, chain] of picture.boxes) {
        element.classList.toggle("chosen", chain.name === chosen);
      }
      const parts = chains
        .filter((chain) => chain.name === method.name && !nested(chain))
        .map((chain) => ({ chain, value: chain.inclusive }));
      const known = parts.reduce((sum, part) => sum + part.value, 0);
      const rest = method.inclusive - known;
      const items = above(parts);
      if (rest > 0) {
        items.push(line("in small chains", "in chains that are too small for this page", rest));
      }
      document.getElementById("callers-title").textContent = `Who called ${signed(data.names[method.name])}`;
      document.getElementById("callers-box").hidden = false;
      callers.show(items, false);
      for (const button of table.table.querySelectorAll("tbody button")) {
        button.setAttribute("aria-pressed", String(button.dataset.name === String(chosen)));
      }
    };

    const methods = data.methods.map(([name, own, inclusive]) => ({
      name,
      own: Number(own),
      inclusive: Number(inclusive),
      lower: data.names[name].toLowerCase(),
    }));
    const nameCell = (method) => {
      const full = data.names[method.name];
      const button = make(
        "button",
        { type: "button", class: "link", title: full, "data-name": method.name, "aria-pressed": String(method.name === chosen) },
        signed(full),
      );
      button.addEventListener("click", () => showCallers(method));
      return [button];
    };
    const table = new LazyTable(
      document.getElementById("context-methods"),
      [
        { class: "name", value: (method) => data.names[method.name], cell: nameCell },
        {
          class: "num",
          value: (method) => method.inclusive,
          cell: (method) => [bar(share(method.inclusive)), make("span", { title: thousands(method.inclusive) }, percent(share(method.inclusive)))],
        },
        { class: "num", value: (method) => method.own, cell: (method) => [known(method.own) ? thousands(method.own) : "not known"] },
        { class: "num", value: (method) => method.own, cell: (method) => [known(method.own) ? percent(share(method.own)) : ""] },
      ],
      methods,
    );
    searchBox(document.getElementById("context-search"), methods, table);
    if (methods.length) {
      showCallers(methods.reduce((best, method) => (method.own > best.own ? method : best)));
    }
  };
  contexts();
